//! The tokenizer of XLM-RoBERTa, which multilingual-e5 and BGE-M3 share.
//!
//! A text is normalized character by character (NFKC with every blank a space), split at blanks,
//! each word gets a `▁` before it, and the Unigram model splits the words. Words are independent,
//! so a word's tokens can be remembered.

use std::collections::HashMap;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

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
        Self { unigram: Unigram::new(&pieces, Self::UNKNOWN), normal: Normal::new(normal) }
    }

    pub(crate) const BEGIN: u32 = 0;
    pub(crate) const END: u32 = 2;
    pub(crate) const UNKNOWN: u32 = 3;

    /// The words of a text, as written: [`Self::count_word`] and [`Self::word_ids`] take one each.
    pub(crate) fn words<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        text.split(|c| self.normal.is_blank(c)).filter(|word| !word.is_empty())
    }

    /// Number of tokens of a word.
    pub(crate) fn count_word(&self, word: &str) -> usize {
        let mut count = 0;
        self.each_marked(word, |marked| count += self.unigram.count(marked));
        count
    }

    /// Appends the token ids of a word.
    pub(crate) fn word_ids(&self, word: &str, ids: &mut Vec<u32>) {
        self.each_marked(word, |marked| self.unigram.ids(marked, ids));
    }

    /// Normalizes a word and calls `visit` with what the model reads of it: usually one marked word,
    /// but normal forms may hold blanks or marks, and may be empty.
    fn each_marked(&self, word: &str, mut visit: impl FnMut(&str)) {
        let mut marked = String::with_capacity(word.len() + WORD.len_utf8());
        for word in self.normal.apply(word).split_whitespace() {
            marked.clear();
            for c in word.chars() {
                if c == WORD && !marked.is_empty() {
                    visit(&marked);
                    marked.clear();
                }
                if marked.is_empty() {
                    marked.push(WORD);
                    if c == WORD {
                        continue;
                    }
                }
                marked.push(c);
            }
            visit(&marked);
        }
    }
}

/// Normal forms of characters.
struct Normal {
    forms: HashMap<char, Box<str>>,
    /// One bit a character: whether `forms` has it. Most characters have no other form.
    mapped: Box<[u64]>,
}

impl Normal {
    fn new(forms: HashMap<char, Box<str>>) -> Self {
        let mut mapped = vec![0_u64; (char::MAX as usize + 1) / 64].into_boxed_slice();
        for &c in forms.keys() {
            mapped[c as usize / 64] |= 1 << (c as usize % 64);
        }
        Self { forms, mapped }
    }

    /// The form of a character that is not its own.
    fn form(&self, c: char) -> Option<&str> {
        let bit = self.mapped[c as usize / 64] >> (c as usize % 64) & 1;
        if bit == 0 { None } else { self.forms.get(&c).map(|form| &**form) }
    }

    fn is_blank(&self, c: char) -> bool {
        match c {
            ' ' | '\n' | '\t' => true,
            '!'..='~' => false,
            _ => match self.form(c) {
                Some(form) => form == " ",
                None => c.is_whitespace(),
            },
        }
    }

    fn apply(&self, word: &str) -> String {
        let mut normal = String::with_capacity(word.len());
        for c in word.chars() {
            match self.form(c) {
                Some(form) => normal.push_str(form),
                None => normal.push(c),
            }
        }
        // The map is of single characters; a letter and the marks after it are composed here.
        match is_nfc_quick(normal.chars()) {
            IsNormalized::Yes => normal,
            _ => normal.nfc().collect(),
        }
    }
}
