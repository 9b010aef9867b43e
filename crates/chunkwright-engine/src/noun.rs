//! What an engine has: collections, snapshots of them, documents, models, and questions about them that change nothing in a store.

pub(crate) mod chunk_use;
pub(crate) mod collection;
pub(crate) mod collections;
pub(crate) mod configured;
pub(crate) mod coverage;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod embed;
pub(crate) mod evaluate;
pub(crate) mod fetch;
pub(crate) mod installed;
pub(crate) mod list;
pub(crate) mod metrics;
pub(crate) mod query_log;
pub(crate) mod questions;
pub(crate) mod records;
pub(crate) mod registries;
pub(crate) mod renamed;
pub(crate) mod resolve;
pub(crate) mod search;
pub(crate) mod share;
pub(crate) mod skipped;
pub(crate) mod snapshot;
pub(crate) mod source;
pub(crate) mod symbol;
pub(crate) mod vectors;
