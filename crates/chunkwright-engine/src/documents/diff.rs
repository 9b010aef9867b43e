//! Which chunks survive the step from one version of documents to another?

use chunkwright::diff::Diff;
use chunkwright::{Record, RecordContext};
use chunkwright_source::memory::printable;
use chunkwright_source::{Input, NewSource, ReadSource};
use serde::Serialize;

use super::{Documents, DocumentsRequest, ReadReport};
use crate::engine::Engine;
use crate::error::Error;

/// What became of chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffAnswer {
    /// Every chunk of either side, and the sums.
    #[serde(flatten)]
    pub diff: Diff,
    /// What of folders was not read, of the old side and the new one.
    #[serde(skip)]
    pub reports: Vec<ReadReport>,
}

impl Engine {
    /// Compares the chunks of two files, taken as versions of one document called as the new one is, or of two folders,
    /// whose documents are the same if their paths in them are. `on_progress` gets the number of documents of a folder
    /// that are done, and of all of them.
    ///
    /// # Errors
    ///
    /// A file beside a folder, what cannot be read, and [`Error::Cancelled`].
    pub fn diff(
        &self,
        old: &Input,
        new: &Input,
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Result<DiffAnswer, Error> {
        let sides = [old, new];
        let is_folder = |input: &&Input| matches!(input, Input::Path(path) if path.is_dir());
        let mut records = Vec::new();
        let mut reports = Vec::new();
        match sides.iter().copied().filter(is_folder).count() {
            2 => {
                for side in sides {
                    let request =
                        DocumentsRequest { inputs: vec![side.clone()], ..DocumentsRequest::default() };
                    let mut documents = self.documents(&request)?;
                    records.push(documents.records(on_progress)?);
                    reports.push(documents.report());
                }
            }
            0 => {
                let chunker = self.chunker()?;
                let name = name_of(if matches!(new, Input::Stream { .. }) { old } else { new });
                for side in sides {
                    let read = self.read_one(&renamed(side, &name))?;
                    let document = ReadSource { doc_id: name.clone(), ..read }.parse();
                    records.push(chunker.chunk(&document).records(&RecordContext::default()));
                }
            }
            _ => return Err(Error::FileAndFolder { old: place(old), new: place(new) }),
        }
        let (new, old) = (records.pop().unwrap_or_default(), records.pop().unwrap_or_default());
        Ok(DiffAnswer { diff: Diff::of(&old, &new), reports })
    }
}

impl Documents {
    /// The records of all documents.
    fn records(&mut self, on_progress: &mut dyn FnMut(usize, usize)) -> Result<Vec<Record>, Error> {
        let (total, chunker) = (self.len(), self.chunker.clone());
        let (mut done, mut all) = (0, Vec::new());
        let cut = |source: ReadSource| {
            let document = source.parse();
            chunker.chunk(&document).records(&RecordContext::default())
        };
        self.each(
            cut,
            |_| 0,
            |records| {
                done += 1;
                on_progress(done, total);
                all.extend(records.into_iter().flatten());
                Ok::<(), Error>(())
            },
        )?;
        match self.errors.first() {
            Some(sentence) => Err(Error::Unread(sentence.clone())),
            None => Ok(all),
        }
    }
}

/// Where an input is, for messages.
fn place(input: &Input) -> String {
    match input {
        Input::Path(path) => path.display().to_string(),
        Input::Memory { place, .. } | Input::Stream { place, .. } => place.clone(),
    }
}

/// What a document is called that was only one file.
fn name_of(input: &Input) -> String {
    match input {
        Input::Path(path) => {
            path.file_name().map_or_else(|| "stdin".into(), |name| printable(&name.to_string_lossy()))
        }
        Input::Memory { document, .. } => document.doc_id.clone(),
        Input::Stream { doc_id, .. } => doc_id.clone(),
    }
}

/// A document that is not a file under another name, which tells its format; files tell it by their own.
fn renamed(input: &Input, name: &str) -> Input {
    match input {
        Input::Path(_) => input.clone(),
        Input::Memory { document, place } => {
            let document = NewSource { doc_id: name.to_owned(), ..document.clone() };
            Input::Memory { document, place: place.clone() }
        }
        Input::Stream { place, stream, .. } => {
            Input::Stream { doc_id: name.to_owned(), place: place.clone(), stream: stream.clone() }
        }
    }
}
