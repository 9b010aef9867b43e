//! Errors of stores.

use chunkwright::ChunkId;
use chunkwright_http::HttpError;

use chunkwright_models::late::{CODE_BYTES, MOST_CODES};

/// Errors of stores.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process is writing to the store.
    #[error(
        "the store at `{path}` is being written by {holder}; wait until it is done, or use another store"
    )]
    Locked {
        /// The store's folder.
        path: String,
        /// `process 123`, or what is known.
        holder: String,
    },
    /// There is no store.
    #[error("there is no store at `{path}`; index something into it first")]
    Missing {
        /// The folder that was searched.
        path: String,
    },
    /// The caller no longer waits.
    #[error("the caller cancelled the request")]
    Cancelled,
    /// The store was opened for reading, or cannot be written.
    #[error("the store can only be read here; write to it where its folder can be written")]
    ReadOnly,
    /// Changes that only a process with write access to the folder can read.
    #[error(
        "the store at `{path}` has changes in a log, which cannot be read in a folder that cannot be written; copy the store by `chunkwright backup`, or open it once where it can be written"
    )]
    UnreadableLog {
        /// The folder.
        path: String,
    },
    /// Another file replaced the store, or it changed in a way that readers cannot follow.
    #[error("the store was replaced while it was read; ask again")]
    Replaced,
    /// The collection does not exist.
    #[error("unknown collection `{name}`; known are {known}")]
    UnknownCollection {
        /// The name that was asked for.
        name: String,
        /// The names of those that exist.
        known: String,
    },
    /// An invalid collection name.
    #[error(
        "`{name}` is not a valid collection name: expected letters and digits of any script, `-`, `_` and `.`, a letter or digit first, \
         at most {most} bytes in UTF-8, and not `{reserved}`"
    )]
    CollectionName {
        /// The name that was asked for: its beginning, with invisible characters escaped.
        name: String,
        /// Most bytes of a name.
        most: usize,
        /// The name that no collection may have.
        reserved: &'static str,
    },
    /// A collection with the name exists.
    #[error("there is a collection `{name}` already; use another name, or delete that one first")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The generation does not exist.
    #[error("unknown generation `{name}`; it may have been removed; `versions` lists the existing ones")]
    UnknownGeneration {
        /// `COLLECTION@N`.
        name: String,
    },
    /// The vectors of a generation are of another model.
    #[error(
        "collection `{collection}` holds vectors of `{stored}` ({stored_dimension} dimensions), not of `{given}` ({given_dimension}); use that model, or index the collection with this one"
    )]
    OtherModel {
        /// The collection.
        collection: String,
        /// Its model.
        stored: String,
        /// Dimension of its vectors.
        stored_dimension: usize,
        /// The model that was offered.
        given: String,
        /// Its dimension.
        given_dimension: usize,
    },
    /// A model whose vectors have another dimension than those stored.
    #[error(
        "`{model}` returns vectors of {given} numbers, but its stored vectors have {stored}; a different model needs a different name"
    )]
    OtherDimension {
        /// The model.
        model: String,
        /// Dimension of its vectors that are stored.
        stored: usize,
        /// The dimension given.
        given: usize,
    },
    /// A model that gives sparse vectors while none are stored for it, or the reverse.
    #[error(
        "`{model}` returns {given}, but {stored} are stored for it; a different model needs a different name"
    )]
    OtherVectors {
        /// The model.
        model: String,
        /// Which of its vectors are stored.
        stored: &'static str,
        /// Which are given.
        given: &'static str,
    },
    /// A sparse vector that cannot be compared.
    #[error(
        "invalid sparse vector: expected at most {most} tokens in ascending order, each with a finite weight above 0"
    )]
    BadSparseVector {
        /// Most tokens of a sparse vector.
        most: usize,
    },
    /// Codes of tokens that cannot be compared.
    #[error("invalid codes of tokens: expected 1 to {most} codes of {CODE_BYTES} bytes", most = MOST_CODES)]
    BadCodes,
    /// A vector that cannot be compared.
    #[error("a vector {problem}; it must have {dimension} finite numbers that are not all 0")]
    BadVector {
        /// What is wrong with it.
        problem: &'static str,
        /// Dimension of the collection's model.
        dimension: usize,
    },
    /// Two chunks of a collection would have the same id.
    #[error("chunk `{id}` of `{doc_id}` has the id of a chunk of another document; nothing was written")]
    IdCollision {
        /// The id.
        id: ChunkId,
        /// The document that was to be stored.
        doc_id: String,
    },
    /// The store was written by another version of the program.
    #[error(
        "the store has layout {found}, this program reads layout {expected}; {}",
        if .found < .expected {
            "index again into another folder, or `export` with that version and `import` with this one"
        } else {
            "use a newer version of this program"
        }
    )]
    Layout {
        /// Layout found.
        found: i64,
        /// Layout that this program reads.
        expected: i64,
    },
    /// Stored data cannot be read back.
    #[error(
        "the store is damaged: {problem}; `chunkwright check` lists what is damaged, and indexing these documents again or restoring a backup repairs it"
    )]
    Damaged {
        /// What is wrong.
        problem: String,
    },
    /// The file of a store is empty.
    #[error(
        "the store at `{path}` is damaged: `{file}` is empty, though a store was made there; move that file away and restore a backup, or index again"
    )]
    Empty {
        /// The store's folder.
        path: String,
        /// The file.
        file: &'static str,
    },
    /// A file that is not a backup.
    #[error("`{path}` is not a sound backup: {reason}; use another backup, or index the documents again")]
    NotABackup {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A backup with damaged documents.
    #[error(
        "{count} documents in `{path}` are damaged: {problems}; `--without-damaged` leaves them out and restores the rest"
    )]
    DamagedBackup {
        /// The file.
        path: String,
        /// Number of documents.
        count: usize,
        /// What is wrong with each.
        problems: String,
    },
    /// Data that a store cannot hold. The store is unchanged.
    #[error("it cannot be stored: {reason}; nothing was written")]
    Unwritable {
        /// What is wrong with it.
        reason: String,
    },
    /// The terms of the store were made by another version of the text analysis.
    #[error(
        "the search terms in `{path}` were made by another version of the program; run `index` once to rebuild them"
    )]
    Analysis {
        /// The store's folder; of a store on a server, the generation.
        path: String,
    },
    /// The disk is full.
    #[error("the disk is full; stored data is intact: free space and run again")]
    DiskFull,
    /// A malformed cursor.
    #[error("invalid cursor `{cursor}`: expected `next` of the page before, unchanged")]
    MalformedCursor {
        /// What was given.
        cursor: String,
    },
    /// A cursor of another list.
    #[error(
        "the cursor belongs to another list; pass it with the filter, order and generation it was returned for (this is `{generation}`), or start without a cursor"
    )]
    OtherCursor {
        /// The generation that it was given for.
        generation: String,
    },
    /// The storage engine or a server failed in a way that no other variant covers, or a store of another crate failed.
    #[error("the store failed: {0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
    /// A store on a server cannot be reached.
    #[error("the store at `{url}` does not answer: {reason}; is it running?")]
    Unreachable {
        /// The server's address.
        url: String,
        /// The cause.
        reason: String,
    },
    /// An invalid store location.
    #[error("`{location}` cannot be a store: {reason}")]
    Location {
        /// What was given.
        location: String,
        /// What would be right.
        reason: String,
    },
    /// A collection that another program made in the store's engine.
    #[error(
        "collection `{name}` was made by another program; it can be searched but not written: index into another collection"
    )]
    Foreign {
        /// The collection.
        name: String,
    },
    /// Two collections would have the same name in the store's engine.
    #[error(
        "collection `{name}` would be stored as `{physical}`, which belongs to collection `{holder}`; choose a name that differs in its ASCII letters or digits"
    )]
    SameName {
        /// The collection that was to be created.
        name: String,
        /// The name in the engine.
        physical: String,
        /// The collection that has it.
        holder: String,
    },
    /// The file system failed.
    #[error("`{path}` cannot be used: {error}")]
    Io {
        /// The file or folder.
        path: String,
        /// The error of the system.
        error: std::io::Error,
    },
}

impl StoreError {
    /// An error in a store of the caller's own: any error, or a sentence.
    ///
    /// ```
    /// let error = chunkwright_store::StoreError::other("the bucket is gone");
    /// assert_eq!(error.to_string(), "the store failed: the bucket is gone");
    /// ```
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(source.into())
    }

    /// Returns whether this process lacks write access to the store.
    pub fn is_unwritable(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self {
            Self::ReadOnly => true,
            Self::Io { error, .. } => matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem),
            _ => false,
        }
    }

    /// Converts the error of a call to the server at `url`.
    pub fn of_call(url: &str, error: HttpError) -> Self {
        match error {
            HttpError::Connection { reason, .. } => Self::Unreachable { url: url.into(), reason },
            HttpError::Timeout { which, .. } => {
                Self::Unreachable { url: url.into(), reason: format!("nothing came in time ({which})") }
            }
            error => Self::other(error),
        }
    }
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase, ReadOnly};
        match (&error, error.sqlite_error_code()) {
            (_, Some(DiskFull)) => Self::DiskFull,
            (_, Some(ReadOnly)) => Self::ReadOnly,
            (_, Some(DatabaseCorrupt | NotADatabase))
            | (
                FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..),
                _,
            ) => Self::Damaged { problem: error.to_string() },
            _ => Self::other(error),
        }
    }
}

/// The error for an unknown generation; `name` is `COLLECTION@N`.
pub fn unknown_generation(name: &impl ToString) -> StoreError {
    StoreError::UnknownGeneration { name: name.to_string() }
}
