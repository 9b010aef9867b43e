//! How many of a great many cases a test tries: one in a few, or all.

/// Set to `full`, every case is tried: each system call, request, byte, step, kill, random document.
const SWEEP: &str = "CHUNKWRIGHT_SWEEP";

/// The step from one case to the next: `coarse`, or 1 in a full sweep. One that shares no factor with the number of
/// kinds that take turns reaches each of them.
pub(crate) fn one_in(coarse: usize) -> usize {
    if std::env::var_os(SWEEP).is_some_and(|sweep| sweep == "full") { 1 } else { coarse }
}
