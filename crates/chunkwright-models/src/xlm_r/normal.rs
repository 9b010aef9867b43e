//! Normal forms of characters, and which of them are blanks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::once;
use std::sync::Arc;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::char_set::CharSet;

/// Normal forms of characters.
pub(super) struct Normal {
    forms: Arc<HashMap<char, Box<str>>>,
    /// Common characters that are their own form, whatever their neighbours are.
    stable: CharSet,
    blanks: CharSet,
    /// Whether a blank may begin with this byte.
    begins_blank: [bool; 256],
}

impl Normal {
    /// `common` are characters that deserve a faster lookup.
    pub(super) fn new(forms: Arc<HashMap<char, Box<str>>>, common: impl Iterator<Item = char>) -> Self {
        let inert =
            |c: char| canonical_combining_class(c) == 0 && matches!(is_nfc_quick(once(c)), IsNormalized::Yes);
        let stable = common.filter(|c| !forms.contains_key(c) && inert(*c)).collect();
        let mapped = forms.iter().filter(|(_, form)| ***form == *" ").map(|(&c, _)| c);
        let own = ('\0'..='\u{ffff}').filter(|c| c.is_whitespace() && !forms.contains_key(c));
        let blanks: Vec<char> = mapped.chain(own).collect();
        let mut begins_blank = [false; 256];
        for blank in &blanks {
            begins_blank[usize::from(blank.encode_utf8(&mut [0; 4]).as_bytes()[0])] = true;
        }
        Self { forms, stable, blanks: blanks.into_iter().collect(), begins_blank }
    }

    /// The stretches of a text between blanks.
    pub(super) fn words<'a>(&'a self, mut text: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::from_fn(move || {
            text = text.trim_start_matches(|c| self.blanks.contains(c));
            let (word, rest) = text.split_at(self.word_len(text));
            text = rest;
            Some(word).filter(|word| !word.is_empty())
        })
    }

    /// Length of a text up to its first blank.
    fn word_len(&self, text: &str) -> usize {
        let mut len = 0;
        let begins_blank = |&byte: &u8| self.begins_blank[usize::from(byte)];
        while let Some(plain) = text.as_bytes()[len..].iter().position(begins_blank) {
            len += plain;
            match text[len..].chars().next() {
                Some(c) if !self.blanks.contains(c) => len += c.len_utf8(),
                _ => return len,
            }
        }
        text.len()
    }

    /// The normal form of a word.
    pub(super) fn apply<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if self.is_stable(word) {
            return Cow::Borrowed(word);
        }
        let mut normal = String::with_capacity(word.len());
        for c in word.chars() {
            match self.form(c) {
                Some(form) => normal.push_str(form),
                None => normal.push(c),
            }
        }
        // The map is of single characters; a letter and the marks after it are composed here.
        if self.is_stable(&normal) || matches!(is_nfc_quick(normal.chars()), IsNormalized::Yes) {
            return Cow::Owned(normal);
        }
        Cow::Owned(normal.nfc().collect())
    }

    /// The form of a character that is not its own.
    fn form(&self, c: char) -> Option<&str> {
        if self.stable.contains(c) { None } else { self.forms.get(&c).map(|form| &**form) }
    }

    fn is_stable(&self, word: &str) -> bool {
        word.chars().all(|c| self.stable.contains(c))
    }
}
