//! The kinds of stores that these tests run over: those that need no server.

use chunkwright_index::STORES;

use crate::fixture::DOUBLE;

/// All of them: those of this machine, and what stores on servers have in common.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    local().chain([DOUBLE])
}

/// Those of [`STORES`] that are on this machine.
fn local() -> impl Iterator<Item = &'static str> {
    STORES.iter().filter(|kind| kind.schemes.is_empty()).map(|kind| kind.name)
}

/// Where a new store is, if it is not in a folder.
pub(crate) fn location(_kind: &str) -> Option<String> {
    None
}

/// Runs `body` over the stores of this machine: where a test asks thousands of questions of what no store decides.
pub(crate) fn for_each_local_store(body: impl Fn(&str)) {
    local().for_each(body);
}
