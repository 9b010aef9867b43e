//! Folding: letters that read the same become equal.

use std::borrow::Cow;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::is_plain_unspaced;

/// Folds to lower case, and unifies letters that lower case leaves different although they read the same.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    let is_folded = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | 'а'..='я') || is_plain_unspaced(c);
    if text.chars().all(is_folded) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            'ё' => folded.push('е'),
            // The rest of the dotted capital I.
            '\u{0307}' => {}
            c => folded.push(c),
        }
    }
    Cow::Owned(folded)
}

/// A [folded](fold) text in normal form without what people leave out when they type: accents of Latin and Greek,
/// stress of Cyrillic, points of Hebrew and Arabic, tatweel, the forms of alef and yeh. Marks that make another letter
/// stay: `й`, the dakuten of Japanese, vowel signs of Indic scripts and Thai.
pub(super) fn unmarked(folded: &str) -> Cow<'_, str> {
    if !folded.contains(has_marks) {
        return Cow::Borrowed(folded);
    }
    let mut plain = String::with_capacity(folded.len());
    for c in folded.chars() {
        match c {
            _ if !has_marks(c) => plain.push(c),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' | 'ð' => plain.push('d'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            'ŧ' => plain.push('t'),
            '\u{0622}' | '\u{0623}' | '\u{0625}' | '\u{0671}' => plain.push('\u{0627}'),
            '\u{0649}' | '\u{06CC}' => plain.push('\u{064A}'),
            '\u{0629}' => plain.push('\u{0647}'),
            '\u{06A9}' => plain.push('\u{0643}'),
            '\u{0660}'..='\u{0669}' => plain.push((b'0' + (c as u32 - 0x0660) as u8) as char),
            '\u{06F0}'..='\u{06F9}' => plain.push((b'0' + (c as u32 - 0x06F0) as u8) as char),
            c if is_left_out(c) => {}
            c => decompose_canonical(c, |c| plain.extend(Some(c).filter(|c| !is_combining_mark(*c)))),
        }
    }
    Cow::Owned(plain)
}

/// Returns whether [`unmarked`] changes the character, or may.
fn has_marks(c: char) -> bool {
    c >= '\u{00C0}'
        && (matches!(c,
            // Latin and Greek.
            '\u{00C0}'..='\u{024F}' | '\u{0370}'..='\u{03FF}' | '\u{1E00}'..='\u{1FFF}'
            | '\u{0622}'..='\u{0625}' | '\u{0629}' | '\u{0649}' | '\u{0660}'..='\u{0669}'
            | '\u{0671}' | '\u{06A9}' | '\u{06CC}' | '\u{06F0}'..='\u{06F9}')
            && !matches!(c, '\u{0624}')
            || is_left_out(c))
}

/// Marks and signs that a text reads the same without.
fn is_left_out(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}'
        // Hebrew.
        | '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}' | '\u{05C2}' | '\u{05C4}' | '\u{05C5}' | '\u{05C7}'
        // Arabic.
        | '\u{0610}'..='\u{061A}' | '\u{0640}' | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{06D6}'..='\u{06DC}'
        | '\u{06DF}'..='\u{06E8}' | '\u{06EA}'..='\u{06ED}')
}
