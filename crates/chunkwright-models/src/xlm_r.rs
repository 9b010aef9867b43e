//! The tokenizer of XLM-RoBERTa, which multilingual-e5 and BGE-M3 share.
//!
//! A text is normalized character by character (NFKC with every blank a space), split at blanks,
//! each word gets a `▁` before it, and the Unigram model splits the words. Words are independent,
//! and so are the parts of a word that no piece of the vocabulary joins; the tokens of both can be
//! remembered. Parts matter where words are long: Chinese has no blanks.

mod normal;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use self::normal::Normal;
use crate::unigram::{Piece, Unigram};

/// The mark of a word's beginning.
const WORD: char = '\u{2581}';

/// Longest text, in bytes, that a table of its own is made for, and how many such tables are made.
const SHORT: usize = 600;
const FEW: usize = 8;

/// All pieces with their scores, and the normal forms of characters; the tables are made when they are needed.
///
/// Those of the whole vocabulary take longer than a question takes to be embedded. So the first short texts get tables of
/// the pieces that can be in them.
pub(crate) struct Vocabulary {
    /// The pieces one after the other.
    text: Vec<u8>,
    /// Where they end.
    ends: Vec<u32>,
    scores: Vec<f32>,
    forms: Arc<HashMap<char, Box<str>>>,
    whole: OnceLock<XlmR>,
    short_texts: AtomicUsize,
}

impl Vocabulary {
    /// Pieces in the order of their ids. The first four and the last are control symbols and never match text.
    ///
    /// Returns `None` if an end is not in the text.
    pub(crate) fn new(
        text: Vec<u8>,
        ends: Vec<u32>,
        scores: Vec<f32>,
        forms: HashMap<char, Box<str>>,
    ) -> Option<Self> {
        if !ends.is_sorted() || ends.last().is_some_and(|&last| last as usize > text.len()) {
            return None;
        }
        let (whole, short_texts) = (OnceLock::new(), AtomicUsize::new(0));
        Some(Self { text, ends, scores, forms: Arc::new(forms), whole, short_texts })
    }

    /// The tokenizer of any text.
    pub(crate) fn whole(&self) -> &XlmR {
        self.whole.get_or_init(|| {
            let pieces: Vec<Piece<'_>> = self.pieces(|_| true).collect();
            let normal = Normal::new(Arc::clone(&self.forms), pieces.iter().filter_map(Piece::single));
            XlmR { unigram: Unigram::new(&pieces, self.lowest(), XlmR::UNKNOWN), normal }
        })
    }

    /// What `read` makes of a tokenizer that gives `text` the same tokens as that of [any text](Self::whole).
    pub(crate) fn with<T>(&self, text: &str, read: impl FnOnce(&XlmR) -> T) -> T {
        let is_short = text.len() <= SHORT && self.whole.get().is_none();
        if is_short && self.short_texts.fetch_add(1, Ordering::Relaxed) < FEW {
            return read(&self.of(text));
        }
        read(self.whole())
    }

    /// The tokenizer with the pieces that have no byte which `text` has not.
    fn of(&self, text: &str) -> XlmR {
        let normal = Normal::new(Arc::clone(&self.forms), std::iter::empty());
        let mut bytes = [false; 256];
        let mut add = |text: &str| text.bytes().for_each(|byte| bytes[usize::from(byte)] = true);
        normal.words(text).for_each(|word| add(&normal.apply(word)));
        add(WORD.encode_utf8(&mut [0; 4]));
        let can_be = |piece: &[u8]| piece.iter().all(|&byte| bytes[usize::from(byte)]);
        let pieces: Vec<Piece<'_>> = self.pieces(can_be).collect();
        XlmR { unigram: Unigram::new(&pieces, self.lowest(), XlmR::UNKNOWN), normal }
    }

    /// The pieces that `are_wanted`.
    fn pieces(&self, are_wanted: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = Piece<'_>> {
        Self::matching(self.ends.len()).filter_map(move |id| {
            let text = &self.text[self.ends[id - 1] as usize..self.ends[id] as usize];
            let text = are_wanted(text).then(|| std::str::from_utf8(text).ok())??;
            Some(Piece { text, id: id as u32, score: self.scores.get(id).copied().unwrap_or_default() })
        })
    }

    /// The ids of pieces that match text, of so many.
    fn matching(pieces: usize) -> Range<usize> {
        XlmR::UNKNOWN as usize + 1..pieces.saturating_sub(1)
    }

    /// The lowest score of all pieces.
    fn lowest(&self) -> f32 {
        let scores = self.scores.get(Self::matching(self.scores.len())).unwrap_or_default();
        scores.iter().copied().fold(f32::INFINITY, f32::min)
    }
}

/// The tables of a vocabulary.
pub(crate) struct XlmR {
    unigram: Unigram,
    normal: Normal,
}

impl XlmR {
    pub(crate) const BEGIN: u32 = 0;
    pub(crate) const END: u32 = 2;
    pub(crate) const UNKNOWN: u32 = 3;

    /// The words of a text, as written: [`Self::each_part`] and [`Self::word_ids`] take one each.
    pub(crate) fn words<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        self.normal.words(text)
    }

    /// Calls `visit` with the parts of a word, whose tokens together are the word's.
    ///
    /// Parts are in normal form and marked where a word begins. Usually the parts are of one word,
    /// but normal forms may hold blanks or marks, and may be empty.
    pub(crate) fn each_part(&self, word: &str, mut visit: impl FnMut(&str)) {
        let mut marked = String::with_capacity(word.len() + WORD.len_utf8());
        for word in self.normal.apply(word).split_whitespace() {
            for word in word.strip_prefix(WORD).unwrap_or(word).split(WORD) {
                marked.clear();
                marked.push(WORD);
                marked.push_str(word);
                self.unigram.parts(&marked).for_each(&mut visit);
            }
        }
    }

    /// Number of tokens of a part.
    pub(crate) fn count_part(&self, part: &str) -> usize {
        self.unigram.count(part)
    }

    /// Appends the token ids of a word.
    pub(crate) fn word_ids(&self, word: &str, ids: &mut Vec<u32>) {
        self.each_part(word, |part| self.unigram.ids(part, ids));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::e5_file::Head;
    use crate::test_models::data_dir_with;

    #[test]
    fn the_tables_of_a_short_text_give_it_the_tokens_that_those_of_any_text_do() {
        let Some(dir) = data_dir_with("e5") else { return };
        let file = crate::data::model("e5").unwrap().open(&dir, 0).unwrap();
        let vocabulary = Head::read(&file).unwrap().vocabulary;
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
        let mut texts: Vec<String> =
            ["", "\u{fb01}n ﾊﾟ ① e\u{301} \u{1112}\u{1161}\u{11ab}", "▁a\u{a0}b  👩‍👩‍👧 \u{e000}\u{e000}x ☃"]
                .map(String::from)
                .to_vec();
        for name in ["en/bread.md", "zh/parcel-api.md", "ru/stove.md", "code/tides.py"] {
            let text = std::fs::read_to_string(corpus.join(name)).unwrap();
            texts.extend(text.lines().step_by(9).map(str::to_owned));
        }
        assert!(texts.len() > 30);
        let whole = vocabulary.whole();
        for text in &texts {
            let of = vocabulary.of(text);
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            of.words(text).for_each(|word| of.word_ids(word, &mut found));
            whole.words(text).for_each(|word| whole.word_ids(word, &mut expected));
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
