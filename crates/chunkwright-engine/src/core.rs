//! The engine itself: what all requests share, from the store to the threads, and the owner of the store.

pub(crate) mod asked;
pub(crate) mod embedding;
pub(crate) mod engine;
pub(crate) mod figures;
pub(crate) mod models;
pub(crate) mod observe;
#[cfg_attr(not(unix), path = "core/owner/none.rs")]
pub(crate) mod owner;
pub(crate) mod scripts;
pub(crate) mod state_file;
pub(crate) mod turns;
pub(crate) mod watching;
