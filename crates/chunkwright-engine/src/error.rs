//! The errors of the engine.

mod code;
mod member;
mod shards;

use std::io;

use chunkwright::{ConfigError, OptionsError};
use chunkwright_eval::EvalError;
use chunkwright_http::SecretError;
use chunkwright_index::transfer::ImportError;
use chunkwright_index::{
    AmendError, FetchError, FilterError, IndexError, MetaError, SearchError, StoreError,
};
use chunkwright_mirror::MirrorError;
use chunkwright_models::{
    CounterError, EMBEDDERS, EmbedError, InstallError, ModelError, RerankError, ServiceError,
};
use chunkwright_source::{InputError, SkipReason};

use crate::settings::SettingsError;

pub use code::{CODES, Code};
pub(crate) use member::Within;
pub use member::{FieldError, pointer_to};
pub use shards::ShardsError;

/// Why a request failed. Its [`code`](Self::code) determines how front ends report it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of one member of a request.
    #[error("{error}")]
    Member {
        /// The member, as a JSON pointer into the request.
        pointer: String,
        /// The error.
        error: Box<Self>,
    },
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
    /// An address was not fetched.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
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
    #[error("this program was built without the page that shows chunks; {}", crate::web::HOW_TO_BUILD)]
    NoPage,
    /// An evaluation of neither questions nor edits.
    #[error(
        "there are no questions; give some, such as a file `QUESTIONS.jsonl`, or measure stability, or let `tune` make some"
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
        /// The system error.
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
        /// The system error.
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
        /// The system error.
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
    /// A comparison of more chunks than an answer is about.
    #[error(
        "`{collection}` has {chunks} chunks on one side of the comparison, and an answer has at most {most}; name fewer documents by `doc_id` or `source`, or submit a job of the kind `diff`"
    )]
    LargeDiff {
        /// The collection.
        collection: String,
        /// Number of chunks.
        chunks: usize,
        /// Most chunks.
        most: usize,
    },
    /// A preview of more chunks than an answer has.
    #[error(
        "document `{doc_id}` has {chunks} chunks by these settings, and an answer has at most {most}; raise `max_size`, send a part of the document, or ask for pages by `offset` and `limit`"
    )]
    LargePreview {
        /// The document.
        doc_id: String,
        /// Number of chunks.
        chunks: usize,
        /// Most chunks.
        most: usize,
    },
    /// A file given as a state that is not one.
    #[error(
        "`{path}` is not a state: it holds no chunks; name a file that does not exist yet, or one that `diff --state` or `chunk` wrote"
    )]
    NoState {
        /// The file.
        path: String,
    },
    /// A git revision that cannot be read.
    #[error("`{path}` in the revision `{revision}` could not be read: {reason}")]
    Revision {
        /// The revision.
        revision: String,
        /// The file or folder.
        path: String,
        /// The message of git.
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
        /// The system error.
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
    /// Files that are not the shards of one whole.
    #[error(transparent)]
    Shards(#[from] ShardsError),
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
    /// A chunk that was changed after the caller saw it.
    #[error("chunk `{chunk}` is not what was expected any more, and nothing was changed; read it again")]
    Changed {
        /// The chunk.
        chunk: String,
    },
    /// A change by hand of no chunk.
    #[error("no chunk was named; give chunk ids, or a filter of one condition at least")]
    NoChunk,
    /// A filter that no chunk passes.
    #[error("no chunk of collection `{collection}` passes the filter; nothing was changed")]
    NothingMatches {
        /// The collection.
        collection: String,
    },
    /// A place that is not inside the chunk that is to be divided.
    #[error(
        "chunk `{chunk}` has lines {first} to {last}; it is divided at one of those after the first, or at a byte inside of it"
    )]
    NotInChunk {
        /// The chunk.
        chunk: String,
        /// Its first line.
        first: u32,
        /// Its last line.
        last: u32,
    },
    /// A chunk that is to be joined to one that is not there.
    #[error("chunk `{chunk}` is the first or last of its document; there is none to join it to on that side")]
    NoNeighbour {
        /// The chunk.
        chunk: String,
    },
    /// A change that only applies to chunks, requested for a boundary.
    #[error(
        "`{boundary}` is a boundary set by hand; it can be taken back with `reset` or accepted with `accept`"
    )]
    NotForBoundary {
        /// The id of the boundary.
        boundary: String,
    },
    /// One text for many chunks.
    #[error("a text belongs to one chunk; give its id instead of a filter")]
    TextByFilter,
    /// An operation that needs a whole collection.
    #[error("`{name}` names one generation; `{action}` is for whole collections")]
    OneGeneration {
        /// The name.
        name: String,
        /// The operation.
        action: &'static str,
    },
    /// A collection that cannot be renamed now.
    #[error("a run over collection `{collection}` is in progress or waits; rename it when that has ended")]
    RunInProgress {
        /// The collection.
        collection: String,
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
        "`{path}` is not below a folder that requests may name files in; who runs the server names such folders"
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
    /// A document of a request that a collection cannot store.
    #[error("document `{doc_id}` cannot be stored: {reason}")]
    RefusedDocument {
        /// The document.
        doc_id: String,
        /// Why.
        reason: String,
    },
    /// An invalid cursor, or one of another list.
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
    /// An option of a search that does not take a value.
    #[error("`{option}` is `{value}`; it must be {expected}")]
    OptionValue {
        /// Its name.
        option: &'static str,
        /// Where it stands in a request.
        pointer: &'static str,
        /// The value.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// An option of a search that has no effect without another.
    #[error("`{option}` needs `{needed}`; give both, or leave it out")]
    OptionNeeds {
        /// Its name.
        option: &'static str,
        /// Where it stands in a request.
        pointer: &'static str,
        /// What it needs.
        needed: String,
    },
    /// An option that searches do not have.
    #[error("searches have no option `{name}`; {right}")]
    UnknownOption {
        /// The name.
        name: String,
        /// What would be right.
        right: String,
    },
    /// A page size out of range.
    #[error("`limit` is `{limit}`; it must be from 1 to {most}")]
    PageSize {
        /// Its size.
        limit: usize,
        /// Most chunks.
        most: usize,
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
    /// An operation that needs a store in a folder.
    #[error(
        "the store is `{store}`; this command works on stores in folders only. `chunkwright export` writes a collection to a file, and `chunkwright import` reads it back, with any store"
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
        "collection `{collection}` has vectors of `{model}`, which is not installed; {}or name another model by `--embedder`",
        installing(model)
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
    /// A configuration file that the user did not name says where a key is.
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
    /// The socket for other processes cannot be opened.
    #[error("a socket beside the store could not be opened: {0}")]
    Owner(io::Error),
    /// Jobs cannot be read or written.
    #[error("the jobs could not be read or written: {0}")]
    Jobs(io::Error),
    /// Another process runs the jobs.
    #[error("another server runs the jobs of this store; stop it, or use another store")]
    JobsElsewhere,
    /// A job that does not exist or is no longer kept.
    #[error("there is no job {id}; the list of jobs says which there are")]
    UnknownJob {
        /// Its number.
        id: u64,
    },
    /// A job without a result of its own.
    #[error(
        "job {id} has no result to fetch; a job of the kind `diff` has one when it has succeeded, and the last {kept} are kept"
    )]
    NoResult {
        /// Its number.
        id: u64,
        /// How many results are kept.
        kept: usize,
    },
    /// A question that does not exist.
    #[error("collection `{collection}` has no question {id}")]
    UnknownQuestion {
        /// The collection.
        collection: String,
        /// Its number.
        id: u64,
    },
    /// More queries than one search takes.
    #[error("a search takes at most {most} queries; these are {given}")]
    TooManyQueries {
        /// How many were given.
        given: usize,
        /// How many are taken.
        most: usize,
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

/// How to install the model with these vectors; nothing if it is none of ours.
fn installing(vectors: &str) -> String {
    let ours = EMBEDDERS.iter().find(|info| info.vectors == vectors);
    ours.map(|info| format!("run `chunkwright models install {}`, ", info.name)).unwrap_or_default()
}

impl From<InstallError> for Error {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Cancelled => Self::Cancelled,
            error => Self::Install(error),
        }
    }
}
