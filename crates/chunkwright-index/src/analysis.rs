//! Text to terms: what BM25 sees, of chunks and of queries alike.

use std::ops::Range;

/// The terms of `text`, in order, repeated as often as they occur.
pub fn terms(text: &str) -> Vec<String> {
    unimplemented!()
}

/// Calls `each` with every term of `text` and the bytes it stands for.
pub fn analyze(text: &str, each: &mut dyn FnMut(&str, Range<usize>)) {
    unimplemented!()
}
