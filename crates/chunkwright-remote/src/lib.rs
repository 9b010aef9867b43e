//! Stores on servers: Qdrant, Chroma and PostgreSQL, over one protocol.
//!
//! [`RemoteStore`] implements [`Store`](chunkwright_store::Store) once, over any `Database`: a server's HTTP interface
//! (`qdrant`, `chroma`), SQL (`postgres`), or, for tests, a map in memory (`double`).
#![cfg_attr(
    not(all(feature = "chroma", feature = "postgres", feature = "qdrant")),
    allow(dead_code, unused_imports, reason = "stores that are left out share it with those that are not")
)]

#[cfg(feature = "chroma")]
mod chroma;
mod database;
#[cfg(feature = "double")]
mod double;
mod entry;
mod filter;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "qdrant")]
mod qdrant;
mod requests;
mod store;

#[cfg(feature = "chroma")]
pub use chroma::{ChromaOptions, chroma_name};
#[cfg(feature = "double")]
pub use double::{Double, Fault};
#[cfg(feature = "qdrant")]
pub use qdrant::QdrantOptions;
pub use store::RemoteStore;
