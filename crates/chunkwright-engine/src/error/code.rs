//! Error codes: one table of what each front end returns, and the code of every error.

use std::io::{self, ErrorKind};

use super::Error;
use chunkwright_eval::EvalError;
use chunkwright_index::transfer::ImportError;
use chunkwright_index::{AmendError, FetchError, IndexError, QueryError, SearchError, StoreError};
use chunkwright_mirror::MirrorError;
use chunkwright_models::{CounterError, EmbedError, InstallError, ModelError, RerankError, ServiceError};

/// A kind of failure, as front ends report it.
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
        impl Code {
            $(#[doc = $summary] pub const $constant: Self = Self {
                name: $name, summary: $summary, exit: $exit, http: $http, mcp: $mcp, python: $python,
            };)*
        }

        /// All codes.
        pub static CODES: &[Code] = &[$(Code::$constant),*];
    };
}

codes! {
    INVALID_SETTINGS: "invalid_settings", 2, 400, -32602, "SettingsError", "The settings are invalid.";
    INVALID_REQUEST: "invalid_request", 2, 400, -32602, "RequestError", "The request has an invalid value.";
    UNKNOWN_COLLECTION: "unknown_collection", 2, 404, -32002, "UnknownCollectionError", "The collection or generation does not exist.";
    NOT_FOUND: "not_found", 2, 404, -32002, "NotFoundError", "The document, chunk or overlay does not exist.";
    CHANGED: "changed", 2, 412, -32000, "ChangedError", "What was to be changed is not what the caller saw any more.";
    CONFLICT: "conflict", 2, 409, -32000, "ConflictError", "The request contradicts what is stored.";
    LOCKED: "locked", 2, 423, -32000, "LockedError", "Another process is writing to the store.";
    FORBIDDEN: "forbidden", 2, 403, -32000, "AccessError", "The store was opened with less access, or a key may not be used.";
    TOO_LARGE: "too_large", 2, 413, -32602, "TooLargeError", "A text is over the limit.";
    MODEL_UNAVAILABLE: "model_unavailable", 2, 503, -32000, "ModelError", "A model is not installed or cannot be used.";
    SERVICE_FAILED: "service_failed", 2, 502, -32000, "ServiceError", "A service failed or returned an unusable answer.";
    DISK_FULL: "disk_full", 2, 507, -32000, "DiskFullError", "The disk is full; what is stored is intact.";
    STORE_FAILED: "store_failed", 2, 500, -32603, "StoreError", "The store is missing or damaged, or could not be read or written.";
    INTERNAL: "internal", 2, 500, -32603, "ChunkwrightError", "The operating system refused a resource.";
    CANCELLED: "cancelled", 130, 499, -32000, "CancelledError", "The caller cancelled the request.";
}

impl Error {
    /// Returns whether something could not be stored because the disk is full.
    pub fn is_disk_full(&self) -> bool {
        self.code() == Code::DISK_FULL
    }

    /// The code of the error, which determines how front ends report it.
    pub fn code(&self) -> Code {
        match self {
            Self::Member { error, .. } => error.code(),
            Self::Counter(CounterError::Model(_))
            | Self::Model(_)
            | Self::MissingModel { .. }
            | Self::NoEmbedder
            | Self::NoSparseEmbedder
            | Self::UnconfiguredService { .. } => Code::MODEL_UNAVAILABLE,
            Self::Counter(_)
            | Self::Settings(_)
            | Self::Options(_)
            | Self::Config(_)
            | Self::Secret(_)
            | Self::SparseKeyWithoutService
            | Self::TwoKeys { .. }
            | Self::EmptyVariable { .. } => Code::INVALID_SETTINGS,
            Self::Install(error) => of_installation(error),
            Self::Embed(error) => of_embedder(error),
            Self::Rerank(error) => of_reranker(error),
            Self::Service(error) => of_service(error),
            Self::Store(error) => of_store(error),
            Self::Index(error) => match error {
                IndexError::Store(error) => of_store(error),
                IndexError::Source(_) => Code::INVALID_REQUEST,
                _ => Code::CONFLICT,
            },
            Self::Search(error) => of_search(error),
            Self::Eval(error) => match error {
                EvalError::Store(error) | EvalError::Index(IndexError::Store(error)) => of_store(error),
                EvalError::Embed(error) => of_embedder(error),
                EvalError::Search(error) => of_search(error),
                EvalError::Unembedded(_) => Code::SERVICE_FAILED,
                _ => Code::INTERNAL,
            },
            Self::Fetch(error) => match error {
                FetchError::Store(error) => of_store(error),
                FetchError::Converted { .. } => Code::INVALID_REQUEST,
                _ => Code::NOT_FOUND,
            },
            Self::Amend(error) => match error {
                AmendError::Store(error) => of_store(error),
                AmendError::Embed(error) => of_embedder(error),
                AmendError::Unknown { .. } => Code::NOT_FOUND,
                AmendError::TooLong { .. } | AmendError::MergeTooLong { .. } => Code::TOO_LARGE,
                AmendError::Orphaned { .. } => Code::CONFLICT,
                _ => Code::INVALID_REQUEST,
            },
            Self::Import { error, .. } => match &**error {
                ImportError::Store(error) => of_store(error),
                ImportError::Hides { .. }
                | ImportError::SameId { .. }
                | ImportError::Twice { .. }
                | ImportError::Busy { .. }
                | ImportError::Unproved { .. } => Code::CONFLICT,
                _ => Code::INVALID_REQUEST,
            },
            Self::Changed { .. } => Code::CHANGED,
            Self::LargeDiff { .. } | Self::LargePreview { .. } => Code::TOO_LARGE,
            Self::Filter(_)
            | Self::TooSmall { .. }
            | Self::TooManyQueries { .. }
            | Self::OptionValue { .. }
            | Self::OptionNeeds { .. }
            | Self::UnknownOption { .. }
            | Self::Offset { .. }
            | Self::PageSize { .. }
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
            | Self::NoState { .. }
            | Self::Revision { .. }
            | Self::UnknownField { .. }
            | Self::NotAFolder { .. }
            | Self::Unreadable { .. }
            | Self::NotARegularFile { .. }
            | Self::Compressed { .. }
            | Self::Shards(_)
            | Self::NoVectors { .. }
            | Self::LongVectors
            | Self::NoWriter
            | Self::NothingToChange
            | Self::NoChunk
            | Self::NotInChunk { .. }
            | Self::NoNeighbour { .. }
            | Self::NotForBoundary { .. }
            | Self::TextOrBytes { .. }
            | Self::RefusedDocument { .. }
            | Self::Cursor { .. }
            | Self::TextByFilter
            | Self::OneGeneration { .. } => Code::INVALID_REQUEST,
            Self::UnknownConfiguration { .. }
            | Self::OtherConfiguration { .. }
            | Self::NotPrunable { .. }
            | Self::NoResult { .. }
            | Self::RunInProgress { .. }
            | Self::TooManyQuestions { .. } => Code::CONFLICT,
            Self::NoCollections => Code::UNKNOWN_COLLECTION,
            Self::UnknownDocument { .. }
            | Self::NothingMatches { .. }
            | Self::UnknownJob { .. }
            | Self::UnknownQuestion { .. } => Code::NOT_FOUND,
            Self::NoAccess { .. } | Self::OutsideRoots { .. } | Self::UntrustedKey => Code::FORBIDDEN,
            Self::Mirror(error) => of_mirror(error),
            Self::ByOwner { code, .. } => *code,
            Self::OwnerGone | Self::JobsElsewhere => Code::LOCKED,
            Self::Unwritten(error) | Self::Owner(error) | Self::Jobs(error) | Self::Log(error)
                if is_full(error) =>
            {
                Code::DISK_FULL
            }
            Self::Columns(_)
            | Self::Json(_)
            | Self::Unwritten(_)
            | Self::Threads(_)
            | Self::Owner(_)
            | Self::Jobs(_)
            | Self::Log(_) => Code::INTERNAL,
            Self::Cancelled => Code::CANCELLED,
        }
    }
}

fn of_installation(error: &InstallError) -> Code {
    match error {
        InstallError::Model(ModelError::Unknown { .. }) => Code::INVALID_REQUEST,
        InstallError::DiskFull { .. } => Code::DISK_FULL,
        InstallError::Unwritable { .. } => Code::INTERNAL,
        _ => Code::MODEL_UNAVAILABLE,
    }
}

fn of_search(error: &SearchError) -> Code {
    match error {
        SearchError::Store(error) => of_store(error),
        SearchError::Embed(error) => of_embedder(error),
        SearchError::Rerank(error) => of_reranker(error),
        SearchError::Query(QueryError::OnlyConditions { .. }) => Code::INVALID_REQUEST,
        SearchError::Query(_) => Code::TOO_LARGE,
        SearchError::NoDense(_) | SearchError::NoSparse(_) | SearchError::NoRelevance(_) => {
            Code::MODEL_UNAVAILABLE
        }
        _ => Code::INVALID_REQUEST,
    }
}

fn of_embedder(error: &EmbedError) -> Code {
    match error {
        EmbedError::Service(error) => of_service(error),
        EmbedError::NoSparse { .. } | EmbedError::Other(_) => Code::SERVICE_FAILED,
        _ => Code::INVALID_REQUEST,
    }
}

fn of_reranker(error: &RerankError) -> Code {
    match error {
        RerankError::Service(error) => of_service(error),
        _ => Code::SERVICE_FAILED,
    }
}

fn of_service(error: &ServiceError) -> Code {
    match error {
        ServiceError::Unknown { .. } | ServiceError::NoKey { .. } => Code::INVALID_SETTINGS,
        _ => Code::SERVICE_FAILED,
    }
}

fn of_store(error: &StoreError) -> Code {
    match error {
        StoreError::DiskFull => Code::DISK_FULL,
        StoreError::Io { error, .. } if is_full(error) => Code::DISK_FULL,
        StoreError::Locked { .. } | StoreError::Replaced => Code::LOCKED,
        StoreError::Cancelled => Code::CANCELLED,
        StoreError::ReadOnly => Code::FORBIDDEN,
        StoreError::UnknownCollection { .. } | StoreError::UnknownGeneration { .. } => {
            Code::UNKNOWN_COLLECTION
        }
        StoreError::CollectionName { .. }
        | StoreError::MalformedCursor { .. }
        | StoreError::OtherCursor { .. } => Code::INVALID_REQUEST,
        StoreError::NameTaken { .. }
        | StoreError::OtherModel { .. }
        | StoreError::OtherDimension { .. }
        | StoreError::OtherVectors { .. } => Code::CONFLICT,
        _ => Code::STORE_FAILED,
    }
}

/// Returns whether the error means that the disk or the user's quota is full.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn of_mirror(error: &MirrorError) -> Code {
    match error {
        MirrorError::Io { error, .. } if is_full(error) => Code::DISK_FULL,
        MirrorError::Io { .. } => Code::INTERNAL,
        MirrorError::Remote { .. } => Code::FORBIDDEN,
        MirrorError::Cancelled => Code::CANCELLED,
        MirrorError::Address { .. }
        | MirrorError::Line { .. }
        | MirrorError::EmptyList { .. }
        | MirrorError::Private { .. }
        | MirrorError::Twice { .. }
        | MirrorError::Watched { .. } => Code::INVALID_REQUEST,
        _ => Code::SERVICE_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_full_disk_is_one_kind_of_failure_wherever_it_is_met() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let store = StoreError::Io { path: "store".into(), error: full() };
        for error in [
            Error::Store(StoreError::DiskFull),
            Error::Index(IndexError::Store(StoreError::DiskFull)),
            Error::Store(store),
            Error::Jobs(full()),
            Error::Log(io::Error::from(ErrorKind::QuotaExceeded)),
        ] {
            assert!(error.is_disk_full() && error.code().http == 507, "{error}");
        }
        assert_eq!(Error::Jobs(ErrorKind::PermissionDenied.into()).code(), Code::INTERNAL);
    }

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
