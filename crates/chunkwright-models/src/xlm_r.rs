//! The tokenizer of XLM-RoBERTa, which multilingual-e5 and BGE-M3 share.
//!
//! A text is normalized character by character (NFKC with every blank a space), split at blanks,
//! each word gets a `▁` before it, and the Unigram model splits the words. Words are independent,
//! and so are the parts of a word that no piece of the vocabulary joins; the tokens of both can be
//! remembered. Parts matter where words are long: Chinese has no blanks.

mod normal;

use std::collections::HashMap;

use self::normal::Normal;
use crate::unigram::{Piece, Unigram};

/// The mark of a word's beginning.
const WORD: char = '\u{2581}';

/// Pieces with their scores, and the normal forms of characters.
pub(crate) struct XlmR {
    unigram: Unigram,
    normal: Normal,
}

impl XlmR {
    /// Pieces in the order of their ids. The first four are control symbols and never match text.
    pub(crate) fn new(pieces: &[(&str, f32)], normal: HashMap<char, Box<str>>) -> Self {
        let last = pieces.len().saturating_sub(1);
        let pieces: Vec<Piece<'_>> = pieces
            .iter()
            .enumerate()
            .filter(|&(id, _)| id > Self::UNKNOWN as usize && id < last)
            .map(|(id, &(text, score))| Piece { text, id: id as u32, score })
            .collect();
        let normal = Normal::new(normal, pieces.iter().filter_map(Piece::single));
        Self { unigram: Unigram::new(&pieces, Self::UNKNOWN), normal }
    }

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
