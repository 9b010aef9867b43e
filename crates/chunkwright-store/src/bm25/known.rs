//! A cache of the terms of words seen before.
//!
//! A text's terms are those of its runs, each analysed on its own, and texts repeat their words: a cached run is not
//! folded, split and stemmed again. The cache is bounded and exact, so it never changes a result.

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64;

use super::{TermId, term_id};
use crate::analysis::{self, Piece, TermKind};

/// Entries per thread. In 10 MB of documentation, 1 to 4 % of the runs that can be cached miss.
const ENTRIES: usize = 1 << 15;

/// Longest cached run, in bytes. Longer ones are sentences without spaces, or rare.
const MAX_RUN: usize = 48;

/// The terms of a run, as a lexical search sees them.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    text: Box<str>,
    /// Number of its terms, without the single characters added.
    pub(super) length: u32,
    /// Its terms, with repetitions: first its words, in order.
    pub(super) ids: Vec<TermId>,
    /// How many of them are words.
    words: usize,
}

impl Run {
    fn of(text: &str, kind: Piece) -> Self {
        let mut run = Self::default();
        let mut others = Vec::new();
        analysis::stored_terms(text, kind, &mut |term, kind| {
            run.length += u32::from(kind.counts());
            let is_pair = || term.starts_with(analysis::is_unspaced) && term.chars().nth(1).is_some();
            let is_word = kind == TermKind::Single || kind == TermKind::Word && !is_pair();
            if is_word { &mut run.ids } else { &mut others }.push(term_id(term));
        });
        run.words = run.ids.len();
        run.ids.append(&mut others);
        run
    }
}

/// A direct-mapped cache: each piece has one slot, where a later one with the same slot replaces it. A run and a compound
/// are never the same text.
struct Known(Vec<Run>);

impl Known {
    /// Calls `each` with the terms of a piece.
    fn with(&mut self, text: &str, kind: Piece, each: &mut dyn FnMut(&Run)) {
        // Scripts without spaces make runs of whole clauses, which do not recur.
        if text.len() > MAX_RUN || text.starts_with(analysis::is_unspaced) {
            each(&Run::of(text, kind));
            return;
        }
        let place = &mut self.0[xxh3_64(text.as_bytes()) as usize % ENTRIES];
        if *place.text != *text {
            *place = Run { text: text.into(), ..Run::of(text, kind) };
        }
        each(place);
    }
}

/// Calls `read` with the cache of this thread.
fn with_known(read: impl FnOnce(&mut Known)) {
    thread_local!(static KNOWN: RefCell<Known> = const { RefCell::new(Known(Vec::new())) });
    KNOWN.with_borrow_mut(|known| {
        known.0.resize_with(ENTRIES, Run::default);
        read(known);
    });
}

/// Calls `each` with the terms of every piece of `text`, in order.
pub(super) fn each_run(text: &str, each: &mut dyn FnMut(&Run)) {
    with_known(|known| analysis::each_piece(text, &mut |_, text, kind| known.with(text, kind, each)));
}

/// The term of every word of `text`, in order. A character of a script without spaces is a word, and so is each part of an
/// identifier.
pub fn words(text: &str) -> Vec<TermId> {
    let mut words = Vec::with_capacity(text.len() / 4);
    let mut add = |run: &Run| words.extend_from_slice(&run.ids[..run.words]);
    with_known(|known| analysis::runs(text).for_each(|(_, text)| known.with(text, Piece::Run, &mut add)));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_remembered_has_the_terms_that_it_has_alone() {
        let words: Vec<String> =
            // Each is three runs: more than there are entries, so that some share one.
            (0..ENTRIES / 2).map(|number| format!("maxSize{number} слово{number} 数据库{number}")).collect();
        for _ in 0..2 {
            for word in &words {
                let mut ids = Vec::new();
                each_run(word, &mut |run| ids.extend_from_slice(&run.ids));
                let mut alone = Vec::new();
                analysis::each_piece(word, &mut |_, piece, kind| alone.extend(Run::of(piece, kind).ids));
                assert_eq!(ids, alone, "{word}");
            }
        }
    }
}
