//! Requests and answers: plain data that serde reads and writes, and what can be said of it alone.

pub(crate) mod amend;
pub(crate) mod boundary;
pub(crate) mod cache;
pub(crate) mod chunk_use;
pub(crate) mod collections;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod evaluate;
pub(crate) mod fetch;
pub(crate) mod generations;
pub(crate) mod index;
pub(crate) mod job;
pub(crate) mod list;
pub(crate) mod models;
pub(crate) mod preview;
pub(crate) mod put;
pub(crate) mod questions;
pub(crate) mod registries;
pub(crate) mod resolve;
pub(crate) mod search;
pub(crate) mod shard;
pub(crate) mod task;
pub(crate) mod transfer;
