//! The byte-pair encodings of `OpenAI`.

mod words;

use std::sync::LazyLock;

use chunkwright::TokenCounter;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use self::words::{Letters, plain_word};
use super::word_cache::{Table, WordCache};
use crate::bpe::Merges;

/// One of `OpenAI`'s encodings: how a text is split into words, and what merges in a word.
pub(crate) struct Encoding {
    name: &'static str,
    letters: Letters,
    pub(crate) merges: Merges,
    /// Made at the first word that is not plain.
    split: LazyLock<Split>,
}

/// The expressions that words match, the first that matches first.
struct Split(Regex);

/// The expression whose matches end with a character that belongs to the next word: blanks before something else.
const LOOKS_AHEAD: usize = 1;

impl Split {
    fn new(words: &str) -> Self {
        let patterns = Regex::new_many(&[words, r"\s+\s", r"\s+"]);
        Self(patterns.expect("the expressions are valid and small"))
    }

    /// Length in bytes of the first word of a text.
    fn first(&self, text: &str) -> usize {
        let found = self.0.find(Input::new(text).anchored(Anchored::Yes));
        let Some(found) = found else { return text.len() };
        let word = &text[found.range()];
        let ahead = word.chars().next_back().filter(|_| found.pattern().as_usize() == LOOKS_AHEAD);
        word.len() - ahead.map_or(0, char::len_utf8)
    }
}

impl Encoding {
    /// The encoding of GPT-4o and later models.
    pub(crate) fn o200k() -> &'static Self {
        static ENCODING: LazyLock<Encoding> = LazyLock::new(|| Encoding {
            name: "o200k",
            letters: Letters::ByCase,
            merges: Merges::new(include_bytes!(concat!(env!("OUT_DIR"), "/o200k"))),
            split: LazyLock::new(|| {
                let words = [
                    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                    r"\p{N}{1,3}",
                    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                    r"\s*[\r\n]+",
                    r"\s+$",
                ];
                Split::new(&words.join("|"))
            }),
        });
        &ENCODING
    }

    /// The encoding of GPT-4 and of the `text-embedding-*` models.
    pub(crate) fn cl100k() -> &'static Self {
        static ENCODING: LazyLock<Encoding> = LazyLock::new(|| Encoding {
            name: "cl100k",
            letters: Letters::Together,
            merges: Merges::new(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k"))),
            split: LazyLock::new(|| {
                let words = [
                    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
                    r"[^\r\n\p{L}\p{N}]?\p{L}+",
                    r"\p{N}{1,3}",
                    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
                    r"\s*[\r\n]+",
                    r"\s+$",
                ];
                Split::new(&words.join("|"))
            }),
        });
        &ENCODING
    }

    /// Number of tokens of a text.
    fn count(&self, text: &str, known: &mut Table) -> usize {
        self.words(text).map(|word| self.count_word(word, known)).sum()
    }

    fn count_word(&self, (word, is_plain): (&str, bool), known: &mut Table) -> usize {
        let count = |word: &str| self.merges.count(word.as_bytes()) as u32;
        if is_plain || word.is_ascii() {
            return known.get(word, count) as usize;
        }
        // Without blanks a word is a clause, which does not recur; its parts do.
        self.merges.parts(word).map(|part| known.get(part, count) as usize).sum()
    }

    /// The words of a text, which are encoded each alone, and whether each is plain; together they are the text.
    fn words<'a>(&self, mut text: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
        std::iter::from_fn(move || {
            if text.is_empty() {
                return None;
            }
            let plain = plain_word(text.as_bytes(), self.letters);
            let len = if plain == 0 { self.split.first(text) } else { plain };
            let (word, rest) = text.split_at(len);
            text = rest;
            Some((word, plain > 0))
        })
    }
}

/// Counts the tokens of one of `OpenAI`'s encodings, with remembered word counts.
///
/// The vocabularies are part of the program, in the form in which they are used: a counter is ready when it is made. Time
/// is linear in the text, whatever it holds.
pub struct OpenAi {
    encoding: &'static Encoding,
    counts: WordCache,
}

impl OpenAi {
    /// The encoding of GPT-4o and later models.
    pub fn o200k() -> Self {
        Self { encoding: Encoding::o200k(), counts: WordCache::default() }
    }

    /// The encoding of GPT-4 and of the `text-embedding-*` models.
    pub fn cl100k() -> Self {
        Self { encoding: Encoding::cl100k(), counts: WordCache::default() }
    }
}

impl TokenCounter for OpenAi {
    fn name(&self) -> &str {
        self.encoding.name
    }

    fn count(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        self.counts.with(|known| self.encoding.count(text, known))
    }

    /// Words up to a visible character depend on nothing after it, except for the one that it is in.
    fn count_to(&self, text: &str, end: usize) -> (usize, Option<usize>) {
        self.counts.with(|known| {
            let (mut count, mut counted, mut at) = (0, (end == 0).then_some(0), 0);
            for word in self.encoding.words(text) {
                let after = at + word.0.len();
                if counted.is_none() && after > end {
                    counted = Some(count + self.encoding.count(&text[at..end], known));
                }
                count += self.encoding.count_word(word, known);
                if counted.is_none() && after == end {
                    counted = Some(count);
                }
                at = after;
            }
            (count, counted)
        })
    }

    /// No word continues after a line break except one of blanks, and `/` after marks.
    fn adds_up(&self, before: &str, after: &str) -> bool {
        before.ends_with('\n') && after.starts_with(|c: char| c != '/' && !c.is_whitespace())
    }
}
