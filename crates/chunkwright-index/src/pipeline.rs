//! The one place where all stages meet.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chunkwright::Chunker;
use chunkwright_models::Embedder;

use crate::report::IndexReport;
use crate::source::{SourceError, WalkOptions};
use crate::store::{Store, StoreError};

/// Brings a collection to the state of the files it is given.
pub struct Pipeline {
    store: Arc<dyn Store>,
    collection: String,
    chunker: Chunker,
    preset: String,
    embedder: Option<Arc<dyn Embedder>>,
}

/// How to index.
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    /// What files are taken.
    pub walk: WalkOptions,
    /// When, ISO 8601: what records say as `indexed_at`.
    pub indexed_at: String,
    /// What happens to documents whose files are gone.
    pub prune: Prune,
    /// Count what would be done, and write nothing.
    pub dry_run: bool,
    /// Set to true by whoever wants the run to stop; what is committed stays.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// What happens to documents whose files are gone from the paths that were scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// They stay.
    #[default]
    Keep,
    /// They are removed, unless that is more than half of the documents of the paths scanned: then
    /// the run is refused, because a folder that was not mounted looks just like that.
    Remove,
    /// They are removed however many they are.
    Force,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The paths were walked; `files` are to be read.
    Found {
        /// Number of files.
        files: usize,
    },
    /// Files were read and cut.
    Read {
        /// Number of files done so far in this run.
        files: usize,
    },
    /// Texts were embedded.
    Embedded {
        /// Number of texts embedded so far in this run.
        texts: usize,
    },
    /// Documents were stored, durably.
    Committed {
        /// Their ids.
        doc_ids: &'a [&'a str],
    },
}

/// Why a run could not start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A path that cannot be walked.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Too many documents would be removed.
    #[error(
        "{vanished} of {known} documents are gone from the paths scanned; if that is right, force the removal"
    )]
    MassDelete {
        /// Documents whose files are gone.
        vanished: usize,
        /// Documents known of the paths scanned.
        known: usize,
    },
}

impl Pipeline {
    /// A pipeline without vectors: `chunker` cuts, `preset` is the name of its configuration.
    pub fn new(
        store: Arc<dyn Store>,
        collection: impl Into<String>,
        chunker: Chunker,
        preset: impl Into<String>,
    ) -> Self {
        Self { store, collection: collection.into(), chunker, preset: preset.into(), embedder: None }
    }

    /// Adds vectors by `embedder`; its window becomes a second limit of every chunk.
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        unimplemented!()
    }

    /// Indexes `paths`, files or folders.
    ///
    /// `on_progress` is called from this thread.
    ///
    /// # Errors
    ///
    /// Paths that cannot be walked, a store that fails, a removal that was refused. A file that
    /// cannot be indexed is no error: the report lists it.
    pub fn index(
        &self,
        paths: &[PathBuf],
        options: &IndexOptions,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexReport, IndexError> {
        unimplemented!()
    }
}
