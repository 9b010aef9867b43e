//! Finds the documents in paths and bytes, and processes them in parallel, in order and in bounded memory.

pub(crate) mod chunk;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod measure;
pub(crate) mod outline;
pub(crate) mod planned;
pub(crate) mod preview;
pub(crate) mod revision;
pub(crate) mod shards;
pub(crate) mod statistics;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use chunkwright::{Chunker, Document};
use chunkwright_index::TokensByKind;
use chunkwright_source::convert::Omission;
use chunkwright_source::{Input, Inputs, Item, ReadSource, Skipped, Unread, ordered_parts};
use parking_lot::Mutex;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::share::Share;
use crate::noun::skipped::{notices_of_files, notices_of_unread, omitted};
use crate::request::documents::{DocumentsRequest, ReadReport};
use crate::words::count;

/// Documents that were found but not read yet.
#[derive(Debug)]
pub struct Documents {
    engine: Engine,
    chunker: Chunker,
    items: Vec<Item>,
    /// Where they stand among all, if they are a shard.
    share: Option<Share>,
    found: usize,
    /// Files that were given by name.
    given: Vec<PathBuf>,
    skipped: Vec<Skipped>,
    errors: Vec<String>,
    nuls: Mutex<BTreeMap<String, usize>>,
    omissions: Mutex<BTreeMap<String, Vec<Omission>>>,
    tokens: Mutex<TokensByKind>,
}

impl Engine {
    /// Finds documents: walks folders and notes what is left out. Documents are read when they are processed.
    ///
    /// # Errors
    ///
    /// A counter that does not exist, or whose model is not installed; a configuration that cannot be used. What cannot
    /// be read is no error: the report lists it.
    pub fn documents(&self, request: &DocumentsRequest) -> Result<Documents, Error> {
        let chunker = self.chunker()?;
        let mut inputs = self.on_threads(|| Inputs::gather(&request.inputs, &self.settings().walk));
        let exclude: HashSet<&PathBuf> = request.exclude.iter().collect();
        if !exclude.is_empty() {
            let is_out = |item: &Item| {
                item.file().is_some_and(|path| path.canonicalize().is_ok_and(|path| exclude.contains(&path)))
            };
            inputs.items.retain(|item| !is_out(item));
        }
        let found = inputs.items.len();
        let share = request.shard.map(|shard| Share::take(shard, &mut inputs.items));
        Ok(Documents {
            engine: self.clone(),
            chunker,
            items: inputs.items,
            share,
            found,
            given: request.inputs.iter().filter_map(Input::file).map(Path::to_owned).collect(),
            skipped: inputs.skipped,
            errors: inputs.errors.iter().map(ToString::to_string).collect(),
            nuls: Mutex::default(),
            omissions: Mutex::default(),
            tokens: Mutex::default(),
        })
    }

    /// Reads and parses the one document of an input.
    ///
    /// # Errors
    ///
    /// A folder, a file that is left out of folders, and one that cannot be read.
    pub fn document(&self, input: &Input) -> Result<Document, Error> {
        self.read_one(input).map(ReadSource::parse)
    }

    /// Reads the one document of an input.
    fn read_one(&self, input: &Input) -> Result<ReadSource, Error> {
        let path = match input {
            Input::Path(path) => path.display().to_string(),
            Input::Memory { place, .. } | Input::Stream { place, .. } => place.clone(),
        };
        if let Input::Path(path) = input
            && path.is_dir()
        {
            return Err(Error::IsFolder { path: path.display().to_string() });
        }
        let options = &self.settings().walk;
        let inputs = self.on_threads(|| Inputs::gather(std::slice::from_ref(input), options));
        if let Some(error) = inputs.errors.into_iter().next() {
            return Err(error.into());
        }
        let left_out = |skipped: &Skipped| Error::LeftOut { path: path.clone(), reason: skipped.reason };
        if let Some(skipped) = inputs.skipped.first() {
            return Err(left_out(skipped));
        }
        let item = inputs.items.first().ok_or_else(|| Error::NoDocument { path: path.clone() })?;
        item.read().map_err(|unread| match unread {
            Unread::Failed(error) => error.into(),
            Unread::Skipped(skipped) => left_out(&skipped),
        })
    }
}

impl Documents {
    /// Number of documents.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The chunker of the documents.
    pub fn chunker(&self) -> &Chunker {
        &self.chunker
    }

    /// Name of the preset in force.
    pub fn preset(&self) -> &str {
        &self.engine.settings().preset
    }

    /// The report so far: what was read, and what was not.
    pub fn report(&self) -> ReadReport {
        let nuls = self.nuls.lock();
        let notice = |(doc_id, nuls): (&String, &usize)| {
            let message = format!("`{doc_id}` has {}, kept in its text", count(*nuls, "NUL character"));
            Notice::new(NoticeCode::ControlCharacters, message)
        };
        let mut notices: Vec<Notice> = nuls.iter().map(notice).collect();
        for (doc_id, omissions) in self.omissions.lock().iter() {
            notices.extend(omissions.iter().map(|omission| omitted(doc_id, &omission.to_string())));
        }
        let dominant = self.tokens.lock().dominant();
        let mut say = |code, message: String| notices.push(Notice::new(code, message));
        notices_of_unread(&self.skipped, self.given.iter().map(PathBuf::as_path), &mut say);
        notices_of_files(&self.skipped, &[], dominant.as_ref(), &mut say);
        ReadReport { found: self.found, skipped: self.skipped.clone(), errors: self.errors.clone(), notices }
    }

    /// Reads and parses all documents, and passes them to `emit` in order. For a document that could not be read,
    /// `emit` gets `None`, so that it can count.
    ///
    /// # Errors
    ///
    /// Those of `emit`, and [`Error::Cancelled`].
    pub fn parse<E: From<Error>>(
        &mut self,
        mut emit: impl FnMut(Option<Document>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each(ReadSource::parse, |_| 0, &mut emit)
    }

    /// Calls `work` on every readable document, on all threads, and `emit` on each result in order. `size` returns the
    /// bytes of memory that a result holds while it waits.
    fn each<T: Send, E: From<Error>>(
        &mut self,
        work: impl Fn(ReadSource) -> T + Sync,
        size: impl Fn(&T) -> usize + Sync,
        emit: impl FnMut(Option<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let work = |source, part: &mut dyn FnMut(T) -> bool| {
            part(work(source));
        };
        self.each_in_parts(work, size, emit)
    }

    /// As [`Self::each`], with results in parts: `work` passes them on one by one, while it is told that more are
    /// wanted.
    fn each_in_parts<T: Send, E: From<Error>>(
        &mut self,
        work: impl Fn(ReadSource, &mut dyn FnMut(T) -> bool) + Sync,
        size: impl Fn(&T) -> usize + Sync,
        mut emit: impl FnMut(Option<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { engine, items, found, skipped, errors, nuls, omissions, .. } = self;
        let (nuls, omissions) = (&*nuls, &*omissions);
        let read = |item: &Item, part: &mut dyn FnMut(Result<T, Unread>) -> bool| match item.read() {
            Ok(mut read) => {
                if !read.source.omissions.is_empty() {
                    let left_out = std::mem::take(&mut read.source.omissions);
                    omissions.lock().insert(read.doc_id.clone(), left_out);
                }
                if read.source.nuls > 0 {
                    let mut nuls = nuls.lock();
                    nuls.insert(read.doc_id.clone(), read.source.nuls);
                }
                work(read, &mut |result| part(Ok(result)));
            }
            Err(unread) => {
                part(Err(unread));
            }
        };
        let size = |result: &Result<T, Unread>| result.as_ref().map_or(0, &size);
        ordered_parts(engine.thread_count(), items, read, size, |result| {
            engine.check_cancelled()?;
            match result {
                Ok(result) => emit(Some(result)),
                Err(unread) => {
                    *found = found.saturating_sub(1);
                    match unread {
                        Unread::Skipped(entry) => skipped.push(entry),
                        Unread::Failed(error) => errors.push(error.to_string()),
                    }
                    emit(None)
                }
            }
        })
    }
}
