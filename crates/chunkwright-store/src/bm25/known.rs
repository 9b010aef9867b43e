//! Terms of words that were met before.
//!
//! A text's terms are those of its runs, each as if it stood alone, and texts repeat their words: folding, dividing
//! and stemming one is done once while it is remembered. What is remembered is bounded and exact, so that it changes
//! no answer.

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64;

use super::{TermId, term_id};
use crate::analysis;

/// Entries of a thread. Of 10 MB of documentation, 1 to 4 % of the runs that may be remembered miss.
const ENTRIES: usize = 1 << 15;

/// Longest run that is remembered, in bytes. What is longer is a sentence without spaces, or rare.
const MAX_RUN: usize = 48;

/// What a run is to a search by words.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    text: Box<str>,
    /// Its terms, but for characters that were added to be found alone.
    pub(super) length: u32,
    /// Its terms, each as often as it is there.
    pub(super) ids: Vec<TermId>,
}

impl Run {
    fn of(text: &str) -> Self {
        let mut run = Self::default();
        analysis::terms_and_singles(text, &mut |term, is_single| {
            run.length += u32::from(!is_single);
            run.ids.push(term_id(term));
        });
        run
    }
}

thread_local! {
    /// Each run has one place, where the next that belongs there takes it over.
    static KNOWN: RefCell<Vec<Run>> = const { RefCell::new(Vec::new()) };
}

/// Calls `each` with every run of `text`, in order.
pub(super) fn each_run(text: &str, each: &mut dyn FnMut(&Run)) {
    KNOWN.with_borrow_mut(|known| {
        known.resize_with(ENTRIES, Run::default);
        for (_, text) in analysis::runs(text) {
            // Scripts without spaces make runs of whole clauses, which do not come back.
            if text.len() > MAX_RUN || text.starts_with(analysis::is_unspaced) {
                each(&Run::of(text));
                continue;
            }
            let place = &mut known[xxh3_64(text.as_bytes()) as usize % ENTRIES];
            if *place.text != *text {
                *place = Run { text: text.into(), ..Run::of(text) };
            }
            each(place);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_remembered_has_the_terms_that_it_has_alone() {
        let words: Vec<String> =
            (0..3 * ENTRIES).map(|number| format!("maxSize{number} слово{number} 数据库{number}")).collect();
        for _ in 0..2 {
            for word in &words {
                let mut ids = Vec::new();
                each_run(word, &mut |run| ids.extend_from_slice(&run.ids));
                assert_eq!(ids, Run::of(word).ids, "{word}");
            }
        }
    }
}
