//! Imports records into a collection, from one file or many. Files that contradict themselves or each other are refused whole.
//!
//! A file is read twice, and several side by side. The [first reading](proof) verifies every document (see
//! [`verify`](chunkwright_store::verify)) and finds what the import would hide; refused files have written nothing. The
//! [second](writing) writes the documents in groups, each document whole. Searches see another generation only when all
//! documents are in it with all their chunks, and a sample of their records was read back. An interruption leaves
//! consistent documents, and the same import resumes.
//!
//! Manual changes are imported with their documents. An existing change of the same chunk is kept: the one in the file
//! is counted and left out, since replacing it would go unnoticed.

mod proof;
mod rows;
mod writing;

use std::sync::Arc;

use chunkwright::ChunkId;
use chunkwright::verify::Finding;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::proof::Proof;
use self::rows::each_document;
use self::writing::{Writing, Written};
use super::rebuild::rebuilt;
use super::{MovedDocument, Row, RowAt};
use crate::pipeline::{IndexError, IndexOptions, Pipeline};
use crate::settle::{Tools, settle, settle_all};
use chunkwright_store::threads::on_pool;
use chunkwright_store::verify::Counters;
use chunkwright_store::{Change, Generation, GenerationSpec, Store, StoreError};

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// Documents written.
    pub documents: usize,
    /// Documents that were there as they are.
    pub unchanged: usize,
    /// Chunks of the documents written.
    pub chunks: usize,
    /// Documents whose source was put together from their chunks.
    pub rebuilt: usize,
    /// Changes by hand that came in.
    pub overlays: usize,
    /// Ids of chunks that were changed by hand here and otherwise in the file: they stay as they are here.
    pub kept_overlays: Vec<String>,
    /// Documents of the collection that were cut again, as those of the file are.
    pub carried: usize,
}

/// Tools of an import.
pub struct ImportOptions<'a> {
    /// The token counters.
    pub counters: &'a Counters,
    /// A pipeline that cuts by a specification, if available: other documents of the collection are then cut again
    /// rather than hidden.
    pub pipeline: &'a dyn Fn(&GenerationSpec) -> Option<Pipeline>,
    /// The time of the import, ISO 8601.
    pub now: &'a str,
    /// The threads that read and write files; `None` means rayon's global pool.
    pub threads: Option<Arc<ThreadPool>>,
}

/// A file of records.
pub trait RowFile: Sync {
    /// Starts reading it, which is done twice.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or holds something else.
    fn rows(&self) -> Result<FileRows<'_>, ImportError>;
}

/// The rows of a file, read one after the other.
pub type FileRows<'a> = Box<dyn Iterator<Item = Result<(RowAt, Row), ImportError>> + 'a>;

/// An import that failed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ImportFailure {
    /// The file at fault, by its position among those given; `None` if that is the collection or the store.
    pub file: Option<usize>,
    /// Why.
    pub error: ImportError,
}

impl<E: Into<ImportError>> From<E> for ImportFailure {
    fn from(error: E) -> Self {
        Self { file: None, error: error.into() }
    }
}

/// Errors of imports.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A row that is not a record.
    #[error("{}not a chunk record: {reason}", .at.map(|at| format!("{at} is ")).unwrap_or_default())]
    Unreadable {
        /// The row, if one is at fault.
        at: Option<RowAt>,
        /// What is wrong.
        reason: String,
    },
    /// A record that contradicts itself or its document.
    #[error("{at}, `{doc_id}`: {finding}{}", and_more(*.more))]
    Untrue {
        /// Where the record is.
        at: RowAt,
        /// Its document.
        doc_id: String,
        /// The finding.
        finding: Box<Finding>,
        /// Number of further findings in its document.
        more: usize,
    },
    /// Records of a document that are not together and in order.
    #[error(
        "{at}: the records of `{doc_id}` are not together and in order; sort them by `doc_id` and `chunk_index`"
    )]
    Order {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
    },
    /// A document that is in two files.
    #[error("{at}: `{doc_id}` is in another of the files too; all records of a document are in one")]
    Twice {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
    },
    /// What was written is not what is stored.
    #[error("`{doc_id}` is not stored as it was read: {found}; import again")]
    Unproved {
        /// The document.
        doc_id: String,
        /// What is stored.
        found: String,
    },
    /// A file that is not base64.
    #[error("{at}: `raw_base64` of `{doc_id}` is not base64: {error}")]
    Base64 {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
        /// What is wrong.
        error: base64::DecodeError,
    },
    /// Records cut in two ways, which cannot be in one generation.
    #[error(
        "{at}: `{doc_id}` was cut by `{found}`, those before by `{expected}`; records of one strategy version and configuration make a collection"
    )]
    Mixed {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
        /// Strategy version and configuration found.
        found: String,
        /// Those of the first record.
        expected: String,
    },
    /// A chunk id that a chunk of another document has.
    #[error("{at}: chunk `{chunk_id}` of `{doc_id}` has the id of a chunk of `{other}`; ids must be unique")]
    SameId {
        /// Where.
        at: RowAt,
        /// The id.
        chunk_id: ChunkId,
        /// Its document.
        doc_id: String,
        /// The document that has it too.
        other: String,
    },
    /// Documents of the collection that searches would no longer find.
    #[error(
        "these records were cut by `{found}`, and collection `{collection}` by `{stored}`: importing them would hide {hidden} of its documents ({names}); import into another collection, or index this one with the configuration of the records first"
    )]
    Hides {
        /// The collection.
        collection: String,
        /// Number of documents.
        hidden: usize,
        /// The first of them.
        names: String,
        /// The configuration of the collection.
        stored: String,
        /// The configuration of the records.
        found: String,
    },
    /// Documents of the collection could not be cut again, so that searches still see the previous generation.
    #[error(
        "the other documents of the collection could not be carried over, so searches see it as it was: {reason}"
    )]
    Withheld {
        /// Why.
        reason: String,
    },
    /// Another run keeps writing the document.
    #[error("`{doc_id}` is being written by another run; import again when that is done")]
    Busy {
        /// The document.
        doc_id: String,
    },
    /// The pipeline failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more findings in this document)") }
}

/// Imports the records of `files` into `collection`.
///
/// # Errors
///
/// [`ImportFailure`]; if a file is refused, nothing of any file is written.
pub fn import(
    store: &dyn Store,
    collection: &str,
    options: &ImportOptions<'_>,
    files: &[&dyn RowFile],
) -> Result<Imported, ImportFailure> {
    let counters = options.counters;
    let verify = |file: &dyn RowFile| {
        let mut proof = Proof::default();
        each_document(file, &mut |document| proof.document(document, counters))?;
        Ok(proof)
    };
    let mut proof = Proof::default();
    for (index, other) in side_by_side(options, files, verify)?.into_iter().enumerate() {
        proof.join(other).map_err(|error| ImportFailure { file: Some(index), error })?;
    }
    let Some((strategy_version, config_hash)) = proof.cut.clone() else { return Ok(Imported::default()) };
    let current = store.lookup(collection)?;
    let mut spec = GenerationSpec { strategy_version, config_hash, model: proof.model.clone() };
    if let Some(current) = &current
        && spec.model.is_none()
        && (&current.spec.strategy_version, &current.spec.config_hash)
            == (&spec.strategy_version, &spec.config_hash)
    {
        // The next run embeds texts that came without vectors.
        spec.model.clone_from(&current.spec.model);
    }
    let pipeline = not_hiding(store, current.as_ref(), &spec, &proof, options)?;
    let (writing, by_hand) = Writing::begin(store, collection, &spec, &proof, counters)?;
    let written = side_by_side(options, files, |file| writing.file(file))?;
    let written = written.into_iter().fold(by_hand, Written::and);
    writing.prove(&proof, &written)?;
    let mut imported = written.imported;
    imported.carried = show(store, &writing.generation, &proof, pipeline, options)?;
    Ok(imported)
}

/// Does `work` with every file, on as many threads as there are.
fn side_by_side<T: Send>(
    options: &ImportOptions<'_>,
    files: &[&dyn RowFile],
    work: impl Fn(&dyn RowFile) -> Result<T, ImportError> + Sync,
) -> Result<Vec<T>, ImportFailure> {
    let all = || -> Vec<Result<T, ImportError>> { files.par_iter().map(|file| work(*file)).collect() };
    let done = match &options.threads {
        Some(threads) => on_pool(threads, all),
        None => all(),
    };
    let failed = |(index, result): (usize, Result<T, ImportError>)| {
        result.map_err(|error| ImportFailure { file: Some(index), error })
    };
    done.into_iter().enumerate().map(failed).collect()
}

/// The pipeline that carries over documents that would be hidden; `None` if there are none.
fn not_hiding(
    store: &dyn Store,
    current: Option<&Generation>,
    spec: &GenerationSpec,
    proof: &Proof,
    options: &ImportOptions<'_>,
) -> Result<Option<Pipeline>, ImportError> {
    let Some(current) = current.filter(|current| current.spec != *spec) else { return Ok(None) };
    let mut hidden = store.documents(current)?;
    hidden.retain(|info| !proof.doc_ids.contains_key(&info.doc_id));
    if hidden.is_empty() {
        return Ok(None);
    }
    if let Some(pipeline) = (options.pipeline)(spec).filter(|pipeline| pipeline.spec() == *spec) {
        return Ok(Some(pipeline));
    }
    let shown = |spec: &GenerationSpec| {
        let model = spec.model.as_ref().map_or("no vectors", |model| &model.name);
        format!("{} {}, {model}", spec.strategy_version, spec.config_hash)
    };
    let mut names: Vec<String> = hidden.iter().take(3).map(|info| format!("`{}`", info.doc_id)).collect();
    names.extend((hidden.len() > names.len()).then(|| "...".into()));
    Err(ImportError::Hides {
        collection: current.collection.clone(),
        hidden: hidden.len(),
        names: names.join(", "),
        stored: shown(&current.spec),
        found: shown(spec),
    })
}

/// Makes the imported documents visible to searches, together with those that were visible. Returns the number of documents
/// that were cut again.
fn show(
    store: &dyn Store,
    generation: &Generation,
    proof: &Proof,
    pipeline: Option<Pipeline>,
    options: &ImportOptions<'_>,
) -> Result<usize, ImportError> {
    if let Some(pipeline) = pipeline {
        let now = IndexOptions { indexed_at: options.now.into(), ..IndexOptions::default() };
        let imported = proof.doc_ids.keys().cloned().collect();
        let report = pipeline.carry_over(&imported, &now)?;
        return match report.withheld {
            Some(reason) => Err(ImportError::Withheld { reason }),
            None => Ok(report.carried),
        };
    }
    settle(store, generation, Tools::default())?;
    let current = store.open(&generation.collection)?;
    if current != *generation {
        // Documents that an old generation has but searches no longer see were removed since.
        let over = store.documents(generation)?.into_iter().map(|info| info.doc_id);
        let over = over.filter(|doc_id| !proof.doc_ids.contains_key(doc_id));
        let changes: Vec<Change> = over.map(|doc_id| Change::Remove { doc_id }).collect();
        if !changes.is_empty() {
            store.write(generation, &changes)?;
        }
    }
    if current != *generation || !store.is_complete(generation)? {
        store.switch(generation)?;
    }
    settle_all(store, &generation.collection, Tools::default())?;
    Ok(0)
}
