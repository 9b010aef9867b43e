//! Similarity of a chunk's text to that of the chunk that an overlay was made for.
//!
//! Texts are compared as sets of short runs of words, so that an insertion, a deletion or a moved sentence lowers the
//! similarity only by what it touches. A word is a run of letters and digits; in scripts without spaces each character
//! is one, so that the measure is the same for every language.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::Overlay;

/// Least similarity, from 0 to 1, of a chunk to the one that an overlay was made for.
///
/// Measured with `cargo run -p chunkwright-eval --example overlays -- EDITS.jsonl`, one overlay for each chunk of each
/// document before the edit. Over 180 real one-line commits, 98.4 to 98.9 % of the overlays that neither id nor content
/// finds are carried, 99.9 % of all are in force and no overlay is on a wrong chunk (presets `auto`, `docs`, `stable`
/// and `code`); over 90 commits of up to 20 lines 98.3 to 98.9 %, and at most 0.05 % of all are wrong. If the preset
/// changes at the same time, 84 to 99 % are in force and at most 0.2 % wrong over the one-line commits: a chunk cut in
/// half has no single successor.
pub const LEAST_LIKENESS: f64 = 0.5;

/// The similarity of the second-best chunk must be lower by this much, since the choice would otherwise be a guess.
pub const LEAST_LEAD: f64 = 0.2;

/// Words in a run.
const RUN: usize = 2;

/// A run that more overlays than this share does not distinguish them and is not compared. This bounds the work for
/// each run of a chunk.
const COMMON: usize = 16;

/// Fewest runs that are compared.
const LEAST_RUNS: usize = 4;

/// Hashes of runs are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Runs = HashSet<u64, BuildHasherDefault<Same>>;

/// The runs of words of a text.
fn runs(text: &str) -> Runs {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let step = |hash: u64, value: u64| {
        let mixed = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    };
    let mut runs = Runs::default();
    let mut last = [START; RUN];
    let mut words = 0;
    let mut word: Option<u64> = None;
    let mut end = |word: u64, runs: &mut Runs| {
        last.rotate_left(1);
        last[RUN - 1] = word;
        words += 1;
        if words >= RUN {
            runs.insert(last.iter().fold(START, |hash, word| step(hash, *word)));
        }
    };
    for c in text.chars() {
        let stands_alone = matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x2e80..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff);
        if c.is_alphanumeric() && !stands_alone {
            word = Some(step(word.unwrap_or(START), u64::from(u32::from(c))));
            continue;
        }
        if let Some(word) = word.take() {
            end(word, &mut runs);
        }
        if c.is_alphanumeric() {
            end(step(START, u64::from(u32::from(c))), &mut runs);
        }
    }
    if let Some(word) = word {
        end(word, &mut runs);
    }
    runs
}

/// Overlays, by the runs of the contents that they were made for.
pub(super) struct Likenesses<'o> {
    overlays: Vec<&'o Overlay>,
    /// The overlays that have a run; empty if too many do.
    postings: HashMap<u64, Vec<usize>, BuildHasherDefault<Same>>,
    /// Number of compared runs of each overlay.
    sizes: Vec<usize>,
}

impl<'o> Likenesses<'o> {
    pub(super) fn new(overlays: Vec<&'o Overlay>) -> Self {
        let mut postings: HashMap<u64, Vec<usize>, _> = HashMap::default();
        for (at, overlay) in overlays.iter().enumerate() {
            for run in runs(&overlay.content) {
                postings.entry(run).or_default().push(at);
            }
        }
        let mut sizes = vec![0; overlays.len()];
        for overlays in postings.values_mut() {
            if overlays.len() > COMMON {
                overlays.clear();
            }
            for at in overlays {
                sizes[*at] += 1;
            }
        }
        Self { overlays, postings, sizes }
    }

    pub(super) fn overlays(&self) -> &[&'o Overlay] {
        &self.overlays
    }

    /// Returns whether the content that an overlay was made for is distinctive enough to be recognized.
    pub(super) fn is_telling(&self, at: usize) -> bool {
        self.sizes[at] >= LEAST_RUNS
    }

    /// The overlays similar to a content, with the similarity: the share of the runs of both that both have.
    pub(super) fn of(&self, content: &str) -> Vec<(usize, f64)> {
        let mut size = 0;
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for run in runs(content) {
            let Some(overlays) = self.postings.get(&run) else {
                size += 1;
                continue;
            };
            size += usize::from(!overlays.is_empty());
            for at in overlays {
                #[cfg(test)]
                WORK.with(|work| work.set(work.get() + 1));
                *shared.entry(*at).or_default() += 1;
            }
        }
        let likeness =
            |(at, shared): (usize, usize)| (at, 2.0 * shared as f64 / (self.sizes[at] + size) as f64);
        let mut like: Vec<(usize, f64)> = shared.into_iter().map(likeness).collect();
        like.retain(|(at, likeness)| self.is_telling(*at) && *likeness >= LEAST_LIKENESS - LEAST_LEAD);
        like.sort_unstable_by_key(|(at, _)| *at);
        like
    }
}

#[cfg(test)]
thread_local! {
    /// Runs of chunks compared with overlays.
    pub(super) static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
