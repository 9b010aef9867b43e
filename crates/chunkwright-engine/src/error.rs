//! What can fail, and what does each front end make of it?

use std::io;

use chunkwright::{ConfigError, OptionsError};
use chunkwright_eval::EvalError;
use chunkwright_http::SecretError;
use chunkwright_index::transfer::ImportError;
use chunkwright_index::{
    AmendError, FetchError, FilterError, IndexError, MetaError, SearchError, StoreError,
};
use chunkwright_models::{CounterError, EmbedError, InstallError, ModelError, RerankError, ServiceError};
use chunkwright_source::{InputError, SkipReason};

use crate::settings::SettingsError;

/// Why a request failed. Its [`code`](Self::code) says what front ends answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Options of cutting that cannot be used.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A configuration of cutting that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A counter of tokens that cannot be made.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// A model that cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model that could not be installed or removed.
    #[error(transparent)]
    Install(InstallError),
    /// A key that cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The reranker failed.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// A service failed.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Indexing failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A filter, or conditions of a query, that cannot be read or can never match.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Nothing was fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A change by hand that was refused.
    #[error(transparent)]
    Amend(#[from] AmendError),
    /// An evaluation failed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A page for a browser, from a program that was built without it.
    #[error("this program was built without the page that shows chunks; {}", chunkwright_page::HOW_TO_BUILD)]
    NoPage,
    /// An evaluation of neither questions nor edits.
    #[error(
        "there are no questions; give a file `QUESTIONS.jsonl` before the documents, or --stability, or let \
         `chunkwright tune` make some"
    )]
    NothingToMeasure,
    /// A measure of no chunk or no token.
    #[error("`-k` and `--budget` must be at least 1")]
    ZeroMeasure,
    /// A file of questions that cannot be read.
    #[error("the questions `{path}` could not be read: {error}")]
    Questions {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A file of questions in another encoding.
    #[error("the questions `{path}` are not UTF-8; save them as UTF-8 with one JSON object per line")]
    NotUtf8 {
        /// The file.
        path: String,
    },
    /// A file without a question that can be asked.
    #[error("no question of `{path}` can be asked: {why}")]
    NoQuestion {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// A file of edits that cannot be read.
    #[error(
        "the edits `{path}` could not be read; they must be UTF-8 with one JSON object per line: {error}"
    )]
    Edits {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A file without an edit.
    #[error(
        "`{path}` has no edits; expected lines such as {{\"doc_id\": .., \"old\": .., \"new\": .., \"kind\": ..}}"
    )]
    NoEdit {
        /// The file.
        path: String,
    },
    /// Metadata that cannot be used.
    #[error(transparent)]
    Meta(#[from] MetaError),
    /// A file of chunks that cannot be read.
    #[error(
        "the chunks `{path}` could not be read; they must be UTF-8 with one JSON object per line: {error}"
    )]
    Chunks {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A file without a chunk.
    #[error(
        "`{path}` has no chunks of these documents; expected lines such as {{\"doc_id\": .., \"text\": ..}}"
    )]
    NoForeignChunk {
        /// The file.
        path: String,
    },
    /// A mode that needs an embedder, and there is none.
    #[error("mode `dense` needs an embedder; install one (`chunkwright doctor` says how) or use `lexical`")]
    NoEmbedder,
    /// A mode that needs sparse vectors, and the embedder gives none.
    #[error("mode `sparse` needs an embedder with sparse vectors; configure `sparse` or `sparse_url`")]
    NoSparseEmbedder,
    /// Something that was asked for and cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A document that was asked for and could not be read, in one sentence.
    #[error("{0}")]
    Unread(String),
    /// A folder where one file is expected.
    #[error("`{path}` is a folder; give one file")]
    IsFolder {
        /// The folder.
        path: String,
    },
    /// A file where a folder is expected.
    #[error("`{path}` is a file; give the folder that holds it")]
    IsFile {
        /// The file.
        path: String,
    },
    /// A file that is left out, though it alone was asked for.
    #[error("`{path}` was not read: {}", reason.sentence())]
    LeftOut {
        /// The file.
        path: String,
        /// Why.
        reason: SkipReason,
    },
    /// A path without a document.
    #[error("`{path}` has no documents")]
    NoDocument {
        /// The path.
        path: String,
    },
    /// A line that a document does not have.
    #[error("`{doc_id}` has lines 1 to {last}; line {line} is out of range")]
    NoSuchLine {
        /// The document.
        doc_id: String,
        /// Its last line.
        last: usize,
        /// The line asked for.
        line: usize,
    },
    /// A file that is compared with a folder.
    #[error("one of `{old}` and `{new}` is a folder; give two files or two folders")]
    FileAndFolder {
        /// The old side.
        old: String,
        /// The new side.
        new: String,
    },
    /// A git revision that cannot be read.
    #[error("`{path}` in the revision `{revision}` could not be read: {reason}")]
    Revision {
        /// The revision.
        revision: String,
        /// The file or folder.
        path: String,
        /// What git says.
        reason: String,
    },
    /// Records that could not be imported.
    #[error("`{path}` was not imported: {error}")]
    Import {
        /// The file.
        path: String,
        /// Why.
        error: Box<ImportError>,
    },
    /// Records that could not be written as columns.
    #[error(transparent)]
    Columns(#[from] chunkwright_arrow::Error),
    /// A field that records do not have.
    #[error("records have no field `{field}`; their fields are {known}")]
    UnknownField {
        /// The name.
        field: String,
        /// The fields that they have.
        known: String,
    },
    /// A result that could not be written.
    #[error("the results could not be written: {0}")]
    Unwritten(io::Error),
    /// A value that could not be written as JSON.
    #[error("a value could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A file that cannot be read.
    #[error("`{path}` cannot be read: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A file of records that can be read only once.
    #[error("`{path}` is not a regular file; records are read twice, so write them to a file first")]
    NotARegularFile {
        /// The file.
        path: String,
    },
    /// A file of records that is compressed.
    #[error("`{path}` is compressed by gzip; unpack it first")]
    Compressed {
        /// The file.
        path: String,
    },
    /// Vectors of a collection that has none.
    #[error("collection `{collection}` has no vectors; leave out `--vectors`")]
    NoVectors {
        /// The collection.
        collection: String,
    },
    /// Vectors that are too long for a column.
    #[error("the vectors are too long for a column; the limit is {} numbers", u16::MAX)]
    LongVectors,
    /// Notes without a chat model.
    #[error("notes need a chat model; set `--writer`, for example `--writer ollama:llama3.2`")]
    NoWriter,
    /// A change by hand that changes nothing.
    #[error(
        "nothing to change; give `--text`, `--text-file`, `--keywords`, `--pin`, `--accept` or `--reset`"
    )]
    NothingToChange,
    /// A change by hand of no chunk.
    #[error("no chunk was named; give chunk ids, or a filter of one condition at least")]
    NoChunk,
    /// A filter that no chunk passes.
    #[error("no chunk of collection `{collection}` passes the filter; nothing was changed")]
    NothingMatches {
        /// The collection.
        collection: String,
    },
    /// One text for many chunks.
    #[error("a text belongs to one chunk; give its id instead of a filter")]
    TextByFilter,
    /// What is only possible for a whole collection.
    #[error("`{name}` names one generation; `delete` is for whole collections")]
    OneGeneration {
        /// The name.
        name: String,
    },
    /// A document that the collection does not have.
    #[error(
        "`{doc_id}` is not in collection `{collection}`; `chunkwright status --documents` lists its documents"
    )]
    UnknownDocument {
        /// The document.
        doc_id: String,
        /// The collection.
        collection: String,
    },
    /// A collection that none of the known settings cut.
    #[error(
        "it is not known by which settings collection `{collection}` was cut; cut it again by settings of your choice (`reindex`)"
    )]
    UnknownConfiguration {
        /// The collection.
        collection: String,
    },
    /// Documents that are cut otherwise than their collection.
    #[error(
        "collection `{collection}` is cut by other settings than the request names; leave them out, or reindex the collection by them"
    )]
    OtherConfiguration {
        /// The collection.
        collection: String,
    },
    /// A generation that is not there, or that searches see.
    #[error(
        "`{collection}@{generation}` does not exist or is what searches use; `versions` lists those that can be removed"
    )]
    NotPrunable {
        /// The collection.
        collection: String,
        /// The number of the generation.
        generation: i64,
    },
    /// A path that a request may not name.
    #[error(
        "`{path}` is not below a folder that requests may name files in; the server is given such folders by `--root`"
    )]
    OutsideRoots {
        /// The path.
        path: String,
    },
    /// A document of a request that has neither text nor bytes, or both.
    #[error("document `{doc_id}` needs exactly one of `text` and `bytes`")]
    TextOrBytes {
        /// The document.
        doc_id: String,
    },
    /// A document of a request that cannot be one of a collection.
    #[error("document `{doc_id}` cannot be stored: {reason}")]
    RefusedDocument {
        /// The document.
        doc_id: String,
        /// Why.
        reason: String,
    },
    /// A cursor of a list of documents that is none, or of another list.
    #[error(
        "invalid cursor `{cursor}`; give back `next` of the page before, with the same collection and pattern"
    )]
    Cursor {
        /// The cursor.
        cursor: String,
    },
    /// A number of a request that is out of range.
    #[error("`{field}` is `{value}`; it must be at least {least}")]
    TooSmall {
        /// The field.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The least value.
        least: usize,
    },
    /// A page of hits that ends behind the last candidate.
    #[error(
        "`offset` is `{offset}` and `top_k` is `{top_k}`: a page must end at hit {most}, the number of `candidates` (at most 1000); narrow the query or the filter, or ask for more candidates"
    )]
    Offset {
        /// Number of hits before the page.
        offset: usize,
        /// Number of hits of the page.
        top_k: usize,
        /// Where a page ends at the latest.
        most: usize,
    },
    /// Some collections and all of them.
    #[error("collections are named, and all are asked for; give either `collections` or `all_collections`")]
    NamedAndAll,
    /// Several collections where one is expected.
    #[error("several collections are named; name one")]
    OneCollection,
    /// All collections of a store that has none.
    #[error("the store has no collections; `chunkwright index` makes one")]
    NoCollections,
    /// What is only possible with a store in a folder.
    #[error(
        "the store is `{store}`; this command works on stores in folders only; use the server's own tools"
    )]
    NotAFolder {
        /// The store.
        store: String,
    },
    /// The engine was opened without a store, or to read only.
    #[error("the engine was opened without access to {access} its store")]
    NoAccess {
        /// `read` or `write`.
        access: &'static str,
    },
    /// Vectors of a service, and no service is configured.
    #[error(
        "the collection has vectors of the service `{name}`, which is not configured; set `--embedder`, or `embedder` in `chunkwright.toml`"
    )]
    UnconfiguredService {
        /// The service.
        name: String,
    },
    /// A collection's model is not installed.
    #[error(
        "collection `{collection}` has vectors of `{model}`, which is not installed; run `chunkwright models install` (`models list` \
         says which), or name another model by `--embedder`"
    )]
    MissingModel {
        /// The collection.
        collection: String,
        /// The model.
        model: String,
    },
    /// The key of a service of sparse vectors, and no such service.
    #[error("a key for sparse vectors is configured, but no service; set `sparse` and `sparse_url`")]
    SparseKeyWithoutService,
    /// A configuration file that nobody named says where a key is.
    #[error(
        "a `chunkwright.toml` that was not passed with `--config` may not name a key, because any repository could send it anywhere; pass the file with `--config`"
    )]
    UntrustedKey,
    /// Two keys for one service.
    #[error("`{}` and `{}` are both set; a service has one key", .names[0], .names[1])]
    TwoKeys {
        /// The keys of the configuration.
        names: [&'static str; 2],
    },
    /// A variable that should hold a key.
    #[error("the variable `{name}` is empty; it must hold the key")]
    EmptyVariable {
        /// The variable.
        name: String,
    },
    /// Threads cannot be started.
    #[error("threads could not be started: {0}")]
    Threads(io::Error),
    /// The owner of the store refused or failed to do what was asked.
    #[error("{message}")]
    ByOwner {
        /// Its code.
        code: Code,
        /// Its sentence.
        message: String,
    },
    /// The owner of the store ended while it was asked something.
    #[error(
        "the process that was writing to the store has ended; stored data is intact: run the command again"
    )]
    OwnerGone,
    /// Other processes cannot be let write through this one.
    #[error("a socket beside the store could not be opened: {0}")]
    Owner(io::Error),
    /// Jobs cannot be read or written.
    #[error("the jobs could not be read or written: {0}")]
    Jobs(io::Error),
    /// Another process runs the jobs.
    #[error("another server runs the jobs of this store; stop it, or use another store")]
    JobsElsewhere,
    /// A job that is not remembered.
    #[error("there is no job {id}; the list of jobs says which there are")]
    UnknownJob {
        /// Its number.
        id: u64,
    },
    /// A question that is not kept.
    #[error("collection `{collection}` has no question {id}")]
    UnknownQuestion {
        /// The collection.
        collection: String,
        /// Its number.
        id: u64,
    },
    /// More questions than are kept.
    #[error("collection `{collection}` has {most} questions already; delete some first")]
    TooManyQuestions {
        /// The collection.
        collection: String,
        /// How many are kept.
        most: usize,
    },
    /// The log of queries cannot be read or written.
    #[error("the log of queries could not be read or written: {0}")]
    Log(io::Error),
    /// The caller cancelled the request.
    #[error("interrupted")]
    Cancelled,
}

/// A kind of failure, as front ends answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its name in answers: stable, in lower case.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub summary: &'static str,
    /// Exit status of the command line.
    pub exit: u8,
    /// Status of HTTP.
    pub http: u16,
    /// Code of JSON-RPC, which MCP uses.
    pub mcp: i32,
    /// Class of Python.
    pub python: &'static str,
}

/// Declares each code as a constant and all of them as a table.
macro_rules! codes {
    ($($constant:ident: $name:literal, $exit:literal, $http:literal, $mcp:literal, $python:literal, $summary:literal;)*) => {
        $(#[doc = $summary] const $constant: Code = Code {
            name: $name, summary: $summary, exit: $exit, http: $http, mcp: $mcp, python: $python,
        };)*

        /// All codes.
        pub static CODES: &[Code] = &[$($constant),*];
    };
}

codes! {
    INVALID_SETTINGS: "invalid_settings", 2, 400, -32602, "SettingsError", "The settings are invalid.";
    INVALID_REQUEST: "invalid_request", 2, 400, -32602, "RequestError", "The request has an invalid value.";
    UNKNOWN_COLLECTION: "unknown_collection", 2, 404, -32002, "UnknownCollectionError", "The collection or generation does not exist.";
    NOT_FOUND: "not_found", 2, 404, -32002, "NotFoundError", "The document, chunk or overlay does not exist.";
    CONFLICT: "conflict", 2, 409, -32000, "ConflictError", "The request contradicts what is stored.";
    LOCKED: "locked", 2, 423, -32000, "LockedError", "Another process is writing to the store.";
    FORBIDDEN: "forbidden", 2, 403, -32000, "AccessError", "The store was opened with less access, or a key may not be used.";
    TOO_LARGE: "too_large", 2, 413, -32602, "TooLargeError", "A text is over the limit.";
    MODEL_UNAVAILABLE: "model_unavailable", 2, 503, -32000, "ModelError", "A model is not installed or cannot be used.";
    SERVICE_FAILED: "service_failed", 2, 502, -32000, "ServiceError", "A service failed or returned an unusable answer.";
    STORE_FAILED: "store_failed", 2, 500, -32603, "StoreError", "The store is missing or damaged, or could not be read or written.";
    INTERNAL: "internal", 2, 500, -32603, "ChunkwrightError", "The operating system refused a resource.";
    CANCELLED: "cancelled", 130, 499, -32000, "CancelledError", "The caller cancelled the request.";
}

impl Error {
    /// What front ends answer.
    pub fn code(&self) -> Code {
        match self {
            Self::Counter(CounterError::Model(_))
            | Self::Model(_)
            | Self::MissingModel { .. }
            | Self::NoEmbedder
            | Self::NoSparseEmbedder
            | Self::UnconfiguredService { .. } => MODEL_UNAVAILABLE,
            Self::Counter(_)
            | Self::Settings(_)
            | Self::Options(_)
            | Self::Config(_)
            | Self::Secret(_)
            | Self::SparseKeyWithoutService
            | Self::TwoKeys { .. }
            | Self::EmptyVariable { .. } => INVALID_SETTINGS,
            Self::Install(error) => of_installation(error),
            Self::Embed(error) => of_embedder(error),
            Self::Rerank(error) => of_reranker(error),
            Self::Service(error) => of_service(error),
            Self::Store(error) => of_store(error),
            Self::Index(error) => match error {
                IndexError::Store(error) => of_store(error),
                IndexError::Source(_) => INVALID_REQUEST,
                _ => CONFLICT,
            },
            Self::Search(error) => of_search(error),
            Self::Eval(error) => match error {
                EvalError::Store(error) | EvalError::Index(IndexError::Store(error)) => of_store(error),
                EvalError::Embed(error) => of_embedder(error),
                EvalError::Search(error) => of_search(error),
                EvalError::Unembedded(_) => SERVICE_FAILED,
                _ => INTERNAL,
            },
            Self::Fetch(error) => match error {
                FetchError::Store(error) => of_store(error),
                FetchError::Converted { .. } => INVALID_REQUEST,
                _ => NOT_FOUND,
            },
            Self::Amend(error) => match error {
                AmendError::Store(error) => of_store(error),
                AmendError::Embed(error) => of_embedder(error),
                AmendError::Unknown { .. } => NOT_FOUND,
                AmendError::TooLong { .. } => TOO_LARGE,
                AmendError::Orphaned { .. } => CONFLICT,
                _ => INVALID_REQUEST,
            },
            Self::Import { error, .. } => match &**error {
                ImportError::Store(error) => of_store(error),
                ImportError::Hides { .. } | ImportError::SameId { .. } => CONFLICT,
                _ => INVALID_REQUEST,
            },
            Self::Filter(_)
            | Self::TooSmall { .. }
            | Self::Offset { .. }
            | Self::NamedAndAll
            | Self::OneCollection
            | Self::Input(_)
            | Self::NoPage
            | Self::NothingToMeasure
            | Self::ZeroMeasure
            | Self::Questions { .. }
            | Self::NotUtf8 { .. }
            | Self::NoQuestion { .. }
            | Self::Edits { .. }
            | Self::NoEdit { .. }
            | Self::Meta(_)
            | Self::Chunks { .. }
            | Self::NoForeignChunk { .. }
            | Self::Unread(_)
            | Self::IsFolder { .. }
            | Self::IsFile { .. }
            | Self::LeftOut { .. }
            | Self::NoDocument { .. }
            | Self::NoSuchLine { .. }
            | Self::FileAndFolder { .. }
            | Self::Revision { .. }
            | Self::UnknownField { .. }
            | Self::NotAFolder { .. }
            | Self::Unreadable { .. }
            | Self::NotARegularFile { .. }
            | Self::Compressed { .. }
            | Self::NoVectors { .. }
            | Self::LongVectors
            | Self::NoWriter
            | Self::NothingToChange
            | Self::NoChunk
            | Self::TextOrBytes { .. }
            | Self::RefusedDocument { .. }
            | Self::Cursor { .. }
            | Self::TextByFilter
            | Self::OneGeneration { .. } => INVALID_REQUEST,
            Self::UnknownConfiguration { .. }
            | Self::OtherConfiguration { .. }
            | Self::NotPrunable { .. }
            | Self::TooManyQuestions { .. } => CONFLICT,
            Self::NoCollections => UNKNOWN_COLLECTION,
            Self::UnknownDocument { .. }
            | Self::NothingMatches { .. }
            | Self::UnknownJob { .. }
            | Self::UnknownQuestion { .. } => NOT_FOUND,
            Self::NoAccess { .. } | Self::OutsideRoots { .. } | Self::UntrustedKey => FORBIDDEN,
            Self::ByOwner { code, .. } => *code,
            Self::OwnerGone | Self::JobsElsewhere => LOCKED,
            Self::Columns(_)
            | Self::Json(_)
            | Self::Unwritten(_)
            | Self::Threads(_)
            | Self::Owner(_)
            | Self::Jobs(_)
            | Self::Log(_) => INTERNAL,
            Self::Cancelled => CANCELLED,
        }
    }
}

impl From<InstallError> for Error {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Cancelled => Self::Cancelled,
            error => Self::Install(error),
        }
    }
}

fn of_installation(error: &InstallError) -> Code {
    match error {
        InstallError::Model(ModelError::Unknown { .. }) => INVALID_REQUEST,
        InstallError::DiskFull { .. } | InstallError::Unwritable { .. } => INTERNAL,
        _ => MODEL_UNAVAILABLE,
    }
}

fn of_search(error: &SearchError) -> Code {
    match error {
        SearchError::Store(error) => of_store(error),
        SearchError::Embed(error) => of_embedder(error),
        SearchError::Rerank(error) => of_reranker(error),
        SearchError::NoDense(_) | SearchError::NoSparse(_) | SearchError::NoRelevance(_) => MODEL_UNAVAILABLE,
        _ => INVALID_REQUEST,
    }
}

fn of_embedder(error: &EmbedError) -> Code {
    match error {
        EmbedError::Service(error) => of_service(error),
        EmbedError::NoSparse { .. } | EmbedError::Other(_) => SERVICE_FAILED,
        _ => INVALID_REQUEST,
    }
}

fn of_reranker(error: &RerankError) -> Code {
    match error {
        RerankError::Service(error) => of_service(error),
        _ => SERVICE_FAILED,
    }
}

fn of_service(error: &ServiceError) -> Code {
    match error {
        ServiceError::Unknown { .. } | ServiceError::NoKey { .. } => INVALID_SETTINGS,
        _ => SERVICE_FAILED,
    }
}

fn of_store(error: &StoreError) -> Code {
    match error {
        StoreError::Locked { .. } => LOCKED,
        StoreError::ReadOnly => FORBIDDEN,
        StoreError::UnknownCollection { .. } | StoreError::UnknownGeneration { .. } => UNKNOWN_COLLECTION,
        StoreError::CollectionName { .. }
        | StoreError::MalformedCursor { .. }
        | StoreError::OtherCursor { .. } => INVALID_REQUEST,
        StoreError::OtherModel { .. }
        | StoreError::OtherDimension { .. }
        | StoreError::OtherVectors { .. } => CONFLICT,
        _ => STORE_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own_and_statuses_in_range() {
        let names: HashSet<&str> = CODES.iter().map(|code| code.name).collect();
        let classes: HashSet<&str> = CODES.iter().map(|code| code.python).collect();
        assert_eq!((names.len(), classes.len()), (CODES.len(), CODES.len()));
        for code in CODES {
            assert!((400..600).contains(&code.http) && code.exit >= 2 && code.mcp < 0, "{code:?}");
        }
    }
}
