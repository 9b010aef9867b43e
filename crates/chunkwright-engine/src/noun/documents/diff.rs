//! Compares the chunks of two versions of documents.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use chunkwright::diff::{Change, ChangeKind, Diff};
use chunkwright::{ChunkId, Record};
use chunkwright_source::memory::printable;
use chunkwright_source::{Input, InputError, NewSource, ReadSource};

use crate::core::engine::Engine;
use crate::error::Error;
use crate::json_lines::to_line;
use crate::notice::{Notice, NoticeCode};
use crate::noun::documents::Documents;
use crate::noun::documents::chunk::context;
use crate::noun::documents::revision::Revision;
use crate::noun::records;
use crate::request::diff::{DiffAnswer, Operation};
use crate::request::documents::{DocumentsRequest, ReadReport};
use crate::table::{RecordTable, TableFormat};

/// Records that are written at once.
const ROWS: usize = 1024;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub enum DiffSide {
    /// A file or a folder as it is now, or a document from memory.
    Documents(Input),
    /// A file of records that `chunk` or `export` wrote, JSON Lines or Parquet.
    Records(PathBuf),
    /// A file or folder in a revision of its git repository.
    Revision(Revision),
    /// No chunks: an empty file of records, or a state that does not exist yet.
    Nothing,
}

impl DiffAnswer {
    /// Compares the chunks `old` with `new`.
    pub(super) fn of(old: Vec<Record>, new: Vec<Record>) -> Self {
        let diff = Diff::of(&old, &new);
        let sides = old.first().zip(new.first());
        let notices = sides.and_then(|(old, new)| other_settings(old, new)).into_iter().collect();
        Self { diff, notices, reports: Vec::new(), old, new, others: Vec::new() }
    }

    /// An answer with changes only, without operations.
    pub(super) fn of_changes(diff: Diff, notices: Vec<Notice>) -> Self {
        Self { diff, notices, reports: Vec::new(), old: Vec::new(), new: Vec::new(), others: Vec::new() }
    }

    /// The records in a vector database once the [`operations`](Self::operations) are applied: the old side of the next
    /// comparison.
    pub fn state(&self) -> impl Iterator<Item = &Record> {
        self.others.iter().chain(&self.new)
    }

    /// The records in a vector database before the [`operations`](Self::operations): the old side.
    pub fn before(&self) -> impl Iterator<Item = &Record> {
        self.others.iter().chain(&self.old)
    }

    /// Writes the [`state`](Self::state) to `sink`: as Parquet, or as JSON Lines.
    ///
    /// # Errors
    ///
    /// A sink that cannot be written.
    pub fn write_state<W: Write + Send>(&self, mut sink: W, is_table: bool) -> Result<W, Error> {
        if is_table {
            let records: Vec<&Record> = self.state().collect();
            let mut table = RecordTable::new(sink, TableFormat::Parquet, None)?;
            for some in records.chunks(ROWS) {
                table.write(some.iter().copied().cloned().collect())?;
            }
            return table.finish();
        }
        self.state().try_for_each(|record| sink.write_all(&to_line(record)?).map_err(Error::Unwritten))?;
        Ok(sink)
    }

    /// The operations that bring a vector database from the old side to the new one. Deletions come last.
    pub fn operations(&self) -> Vec<Operation<'_>> {
        let by_id = |records: &'_ [Record]| -> HashMap<ChunkId, usize> {
            records.iter().enumerate().map(|(at, record)| (record.chunk_id, at)).collect()
        };
        let (old_by_id, new_by_id) = (by_id(&self.old), by_id(&self.new));
        let old = |id: ChunkId| old_by_id.get(&id).map(|&at| &self.old[at]);
        let new = |id: ChunkId| new_by_id.get(&id).map(|&at| &self.new[at]);
        // The chunk that has the vector of a text at this point.
        let mut vectors: HashMap<&str, ChunkId> =
            self.old.iter().map(|record| (record.text.as_str(), record.chunk_id)).collect();
        let mut operations = Vec::new();
        for change in &self.diff.changes {
            let Some(record) = change.new.as_ref().and_then(|place| new(place.chunk_id)) else { continue };
            let chunk_id = record.chunk_id;
            let before = change.old.as_ref().and_then(|place| old(place.chunk_id));
            let operation = match (change.kind, before) {
                (ChangeKind::Kept | ChangeKind::Moved, Some(before)) if is_same(before, record) => continue,
                (ChangeKind::Kept | ChangeKind::Moved, _) => Operation::Update { chunk_id, record },
                (ChangeKind::Renamed, Some(before)) => {
                    Operation::Rename { chunk_id, old_chunk_id: before.chunk_id, record }
                }
                _ => {
                    let vector_of = vectors.get(record.text.as_str()).copied();
                    Operation::Upsert { chunk_id, vector_of, record }
                }
            };
            vectors.insert(&record.text, chunk_id);
            operations.push(operation);
        }
        let is_gone = |change: &&Change| matches!(change.kind, ChangeKind::Changed | ChangeKind::Removed);
        let gone = self.diff.changes.iter().filter(is_gone).filter_map(|change| change.old.as_ref());
        operations.extend(gone.map(|place| Operation::Delete { chunk_id: place.chunk_id }));
        operations
    }
}

/// Returns whether nothing of a chunk changed except the time it was stored.
fn is_same(old: &Record, new: &Record) -> bool {
    let undated = |record: &Record| Record { indexed_at: None, ..record.clone() };
    undated(old) == undated(new)
}

/// A side after its files were looked up.
enum Found {
    Folder(Input),
    File(Input),
    Records(Vec<Record>),
}

impl DiffSide {
    /// Resolves the name of a side: a file or folder; a file of records, recognised by its first line or bytes, or by
    /// its name if it is empty, as `/dev/null` is; if no such file exists, a revision of the git repository around the
    /// working folder: `HEAD~1`, `v1.0:docs`.
    pub fn named(name: impl Into<PathBuf>) -> Self {
        let path = name.into();
        if records::is_empty_state(&path) {
            return Self::Nothing;
        }
        if path.is_file() && records::holds_records(&path) {
            return Self::Records(path);
        }
        let revision = path.to_str().filter(|_| !path.exists()).and_then(Revision::named);
        revision.map_or(Self::Documents(Input::Path(path)), Self::Revision)
    }

    /// The records that an earlier run wrote as its state; no records if the file does not exist.
    ///
    /// # Errors
    ///
    /// A file that holds something else.
    pub fn state(path: &Path) -> Result<Self, Error> {
        match Self::named(path) {
            _ if !path.exists() => Ok(Self::Nothing),
            side @ (Self::Records(_) | Self::Nothing) => Ok(side),
            _ if path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) => {
                Ok(Self::Nothing)
            }
            _ => Err(Error::NoState { path: path.display().to_string() }),
        }
    }

    /// The path of the side, if it names one.
    fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Documents(Input::Path(path)) => Some(path),
            Self::Documents(_) | Self::Records(_) | Self::Nothing => None,
            Self::Revision(revision) => revision.path.as_ref(),
        }
    }
}

impl Engine {
    /// Compares the chunks of two files, as versions of one document with the name of the new file, or of two folders,
    /// whose documents are matched by their paths. A revision without a path means the path of the other side. Files in
    /// `exclude` (absolute, links resolved) are skipped. Documents that temporarily cannot be read count as unchanged.
    /// `on_progress` gets the numbers of finished and of all documents of a folder.
    ///
    /// # Errors
    ///
    /// A file beside a folder, what cannot be read, and [`Error::Cancelled`].
    pub fn diff(
        &self,
        old: &DiffSide,
        new: &DiffSide,
        exclude: &[PathBuf],
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Result<DiffAnswer, Error> {
        // Checked-out files must exist until they are read.
        let mut folders = Vec::new();
        let mut find = |side: &DiffSide, other: &DiffSide| -> Result<Found, Error> {
            Ok(match side {
                DiffSide::Nothing => Found::Records(Vec::new()),
                DiffSide::Records(path) => Found::Records(records::records(path)?),
                DiffSide::Documents(input @ Input::Path(path)) if path.is_dir() => {
                    Found::Folder(input.clone())
                }
                DiffSide::Documents(Input::Path(path)) if !path.exists() => {
                    return Err(InputError::Missing { path: path.display().to_string() }.into());
                }
                DiffSide::Documents(input) => Found::File(input.clone()),
                DiffSide::Revision(revision) => match revision.checkout(other.path())? {
                    (input, Some(folder)) => {
                        folders.push(folder);
                        Found::Folder(input)
                    }
                    (input, None) => Found::File(input),
                },
            })
        };
        let (old_found, new_found) = (find(old, new)?, find(new, old)?);
        let (mut reports, mut others) = (Vec::new(), Vec::new());
        let mut cut_folder = |input: Input| -> Result<Vec<Record>, Error> {
            let exclude = exclude.to_vec();
            let request = DocumentsRequest { inputs: vec![input], exclude, ..DocumentsRequest::default() };
            let mut documents = self.documents(&request)?;
            let records = documents.records(on_progress)?;
            reports.push(documents.report());
            Ok(records)
        };
        let (old_records, new_records) = match (old_found, new_found) {
            (Found::File(old), Found::File(new)) => {
                let name = name_of(if matches!(new, Input::Stream { .. }) { &old } else { &new });
                (self.cut_file(&old, &name)?, self.cut_file(&new, &name)?)
            }
            (Found::Records(records), Found::File(file)) => {
                let (name, records, left) = only(records, name_of(&file));
                others = left;
                (records, self.cut_file(&file, &name)?)
            }
            (Found::File(file), Found::Records(records)) => {
                let (name, records, _) = only(records, name_of(&file));
                (self.cut_file(&file, &name)?, records)
            }
            (Found::Folder(_), Found::File(_)) | (Found::File(_), Found::Folder(_)) => {
                return Err(Error::FileAndFolder { old: place(old), new: place(new) });
            }
            (old, new) => {
                let mut read = |side| match side {
                    Found::Records(records) => Ok(records),
                    Found::Folder(input) | Found::File(input) => cut_folder(input),
                };
                let (old, mut new) = (read(old)?, read(new)?);
                keep_unread(&old, &mut new, reports.last());
                (old, new)
            }
        };
        Ok(DiffAnswer { reports, others, ..DiffAnswer::of(old_records, new_records) })
    }

    /// The records of one file, as document `name`.
    fn cut_file(&self, file: &Input, name: &str) -> Result<Vec<Record>, Error> {
        let read = self.read_one(&renamed(file, name))?;
        let file_hash = read.source.file_hash.clone();
        let document = ReadSource { doc_id: name.to_owned(), ..read }.parse();
        let context = context(&self.settings().preset, file_hash, &document);
        Ok(self.chunker()?.chunk(&document).records(&context))
    }
}

/// Copies to the new side the old records of documents that temporarily could not be read: they are not gone.
fn keep_unread(old: &[Record], new: &mut Vec<Record>, report: Option<&ReadReport>) {
    let skipped = report.into_iter().flat_map(|report| &report.skipped);
    let unread: HashSet<&str> =
        skipped.filter(|entry| entry.reason.is_temporary()).map(|entry| entry.path.as_str()).collect();
    if unread.is_empty() {
        return;
    }
    let known: HashSet<ChunkId> = new.iter().map(|record| record.chunk_id).collect();
    // A folder that cannot be read is one entry.
    let is_unread = |record: &&Record| {
        let ends = record.doc_id.match_indices('/').map(|(at, _)| at).chain([record.doc_id.len()]);
        ends.map(|end| &record.doc_id[..end]).any(|path| unread.contains(path))
    };
    new.extend(old.iter().filter(is_unread).filter(|record| !known.contains(&record.chunk_id)).cloned());
}

/// Splits records into those of the document that `file` is a version of, with its id, and the others. The document is
/// the one with that name, or else the only one with that name in some folder.
fn only(records: Vec<Record>, file: String) -> (String, Vec<Record>, Vec<Record>) {
    let in_folder = format!("/{file}");
    let is_meant = |id: &str| id == file || id.ends_with(&in_folder);
    let mut ids: Vec<&str> =
        records.iter().map(|record| record.doc_id.as_str()).filter(|id| is_meant(id)).collect();
    ids.dedup();
    let name = if let [id] = ids.as_slice() { (*id).to_owned() } else { file };
    let (records, others) = records.into_iter().partition(|record| record.doc_id == name);
    (name, records, others)
}

/// A notice if the two sides, represented by these records, were cut by different settings.
pub(super) fn other_settings(old: &Record, new: &Record) -> Option<Notice> {
    let by =
        |record: &Record| format!("{} ({}, {})", record.preset, record.strategy_version, record.config_hash);
    let is_other = old.config_hash != new.config_hash || old.strategy_version != new.strategy_version;
    is_other.then(|| {
        let message = format!(
            "the old side was cut by preset {}, the new one by {}: chunks differ also where no text was edited",
            by(old),
            by(new)
        );
        Notice::new(NoticeCode::OtherSettings, message)
    })
}

impl Documents {
    /// The records of all documents.
    fn records(&mut self, on_progress: &mut dyn FnMut(usize, usize)) -> Result<Vec<Record>, Error> {
        let (total, chunker, preset) = (self.len(), self.chunker.clone(), self.preset().to_owned());
        let (mut done, mut all) = (0, Vec::new());
        let cut = |source: ReadSource| {
            let file_hash = source.source.file_hash.clone();
            let document = source.parse();
            let context = context(&preset, file_hash, &document);
            chunker.chunk(&document).records(&context)
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

/// The location of a side, for messages.
fn place(side: &DiffSide) -> String {
    match side {
        DiffSide::Documents(Input::Path(path)) | DiffSide::Records(path) => path.display().to_string(),
        DiffSide::Documents(Input::Memory { place, .. } | Input::Stream { place, .. }) => place.clone(),
        DiffSide::Revision(revision) => revision.to_string(),
        DiffSide::Nothing => "/dev/null".to_owned(),
    }
}

/// The document name of a side that is a single file.
fn name_of(input: &Input) -> String {
    match input {
        Input::Path(path) => {
            path.file_name().map_or_else(|| "stdin".into(), |name| printable(&name.to_string_lossy()))
        }
        Input::Memory { document, .. } => document.doc_id.clone(),
        Input::Stream { doc_id, .. } => doc_id.clone(),
    }
}

/// Renames a document that is not a file. Its name determines its format; files keep their own name for that.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chunkwright::parse::Markdown;
    use chunkwright::{Chars, ChunkConfig, Chunker, Document, RecordContext};
    use chunkwright_source::{SkipReason, Skipped};

    use super::*;

    #[test]
    fn documents_that_cannot_be_read_for_now_are_not_gone() {
        let record = |doc_id: &str| {
            let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Chars)).unwrap();
            let document = Document::parse(doc_id, "Text.\n", &Markdown);
            chunker.chunk(&document).records(&RecordContext::default()).remove(0)
        };
        let old = ["a.md", "b/c.md", "b/d.md", "bc.md"].map(record);
        let mut new = vec![record("b/d.md")];
        let skipped = [("b", SkipReason::Permission), ("a.md", SkipReason::Vanished)];
        let skipped = skipped.map(|(path, reason)| Skipped { path: path.to_owned(), reason }).to_vec();
        keep_unread(&old, &mut new, Some(&ReadReport { skipped, ..ReadReport::default() }));
        let ids: Vec<&str> = new.iter().map(|record| record.doc_id.as_str()).collect();
        assert_eq!(ids, ["b/d.md", "b/c.md"]);
    }
}
