//! Stores on servers: the contract of every store, and what holds for servers alone.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
#![expect(clippy::print_stdout, reason = "what could not be checked is said")]

mod agreement;
mod chroma;
#[path = "../../../chunkwright-index/tests/it/contract.rs"]
mod contract;
#[path = "../../../chunkwright-index/tests/it/fixture.rs"]
#[expect(dead_code, reason = "other tests that have this file use all of it")]
mod fixture;
mod kinds;
#[path = "../../../chunkwright-index/tests/it/meta.rs"]
mod meta;
mod postgres;
mod proxy;
mod remote;
mod requests;
mod servers;
#[path = "../../../chunkwright-index/tests/it/sources.rs"]
mod sources;
#[path = "../../../chunkwright-index/tests/it/sparse_vectors.rs"]
mod sparse_vectors;
#[path = "../../../chunkwright/tests/it/stride.rs"]
mod stride;
mod world;
