//! A store that is gone with its process.
/// A store that is gone with its process.
#[derive(Debug, Default)]
pub struct MemoryStore;
