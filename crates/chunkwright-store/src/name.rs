//! Collection names: which are valid, and when two of them are the same name.
//!
//! A name is kept in Unicode's normalization form C, so that `й` is one name whether it was typed as one character or
//! as two. It becomes part of server URLs, table columns and `COLLECTION@N`, so it contains no separators and no
//! invisible characters.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::analysis::is_invisible;
use crate::error::StoreError;

/// Most bytes of a name in UTF-8: servers use it in file names, with a prefix and a number added.
pub(super) const MAX_BYTES: usize = 192;

/// The name that stores on servers reserve for their catalog.
pub const CATALOG: &str = "chunkwright-catalog";

/// Normalizes a collection name to normalization form C. The name need not be valid.
///
/// ```
/// use chunkwright_store::normalized_name;
///
/// assert_eq!(normalized_name("и\u{306}"), "\u{439}");
/// ```
pub fn normalized_name(name: &str) -> Cow<'_, str> {
    match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => Cow::Borrowed(name),
        _ => Cow::Owned(name.nfc().collect()),
    }
}

/// Normalizes and checks the name of a collection to be created.
///
/// # Errors
///
/// [`StoreError::CollectionName`].
pub fn checked_name(name: &str) -> Result<Cow<'_, str>, StoreError> {
    let name = normalized_name(name);
    if is_legal(&name) {
        return Ok(name);
    }
    Err(StoreError::CollectionName { name: shown(&name), most: MAX_BYTES, reserved: CATALOG })
}

/// Returns whether a normalized name is valid.
pub(super) fn is_legal(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !is_blank(c);
    let is_legal = |c: char| is_letter(c) || is_combining_mark(c) && !is_blank(c) || "-_.".contains(c);
    name.starts_with(is_letter) && name.len() <= MAX_BYTES && name.chars().all(is_legal) && name != CATALOG
}

/// Returns whether a letter or mark is invisible.
fn is_blank(c: char) -> bool {
    let is_filler = matches!(
        c,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
    );
    is_filler || is_invisible(c)
}

/// An invalid name, for messages: its beginning, with control and invisible characters escaped.
fn shown(name: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for c in name.chars().take(LONGEST) {
        if c.is_control() || is_blank(c) || matches!(c, '\u{2028}' | '\u{2029}') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    if name.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// The error for a missing collection, or for an invalid name.
pub fn unknown_collection<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> StoreError {
    if let Err(error) = checked_name(name) {
        return error;
    }
    StoreError::UnknownCollection { name: name.into(), known: nearest(name, known.collect()) }
}

/// The result of looking up a missing collection: `None` if the name is valid.
///
/// # Errors
///
/// An invalid name.
pub fn no_collection<T>(name: &str) -> Result<Option<T>, StoreError> {
    checked_name(name).map(|_| None)
}

/// Most names that a message lists.
const NAMES_LISTED: usize = 20;

/// Lists names of collections for a message: all if they are few, otherwise those nearest to `name`.
fn nearest(name: &str, mut known: Vec<&str>) -> String {
    let total = known.len();
    if total > NAMES_LISTED {
        known.sort_by_cached_key(|other| strsim::osa_distance(name, other));
        known.truncate(NAMES_LISTED / 4);
    }
    let listed = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match total - known.len() {
        _ if total == 0 => "none".into(),
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// Splits `COLLECTION@N`; without a number, all of it is the collection's name. The name is normalized.
pub fn parse_name(name: &str) -> (Cow<'_, str>, Option<i64>) {
    let parts = name.rsplit_once('@').and_then(|(name, number)| Some((name, number.parse().ok()?)));
    let (name, number) = parts.map_or((name, None), |(name, number)| (name, Some(number)));
    (normalized_name(name), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_any_script() {
        for name in [
            "docs-v1.2_x",
            "13.向量工程和RAG系统",
            "课程",
            "документация",
            "हिन्दी",
            "ไทย",
            "العربية",
            "한국어",
            "1",
            &"a".repeat(MAX_BYTES),
        ] {
            assert_eq!(checked_name(name).expect(name), name);
        }
    }

    #[test]
    fn other_names_are_refused_in_one_sentence() {
        let long = "名".repeat(MAX_BYTES / 3 + 1);
        for name in [
            "",
            "-a",
            ".",
            "..",
            ".hidden",
            "../up",
            "a/b",
            "a\\b",
            "a b",
            "a@b",
            "a@1",
            "a:b",
            "a?b",
            "a%2fb",
            "\u{301}a",
            "a\0b",
            "a\nb",
            "a\u{1b}[31m",
            "a\u{7f}",
            "a\u{85}b",
            "a\u{202e}b",
            "a\u{200b}b",
            "a\u{200d}b",
            "\u{feff}a",
            "a\u{ad}b",
            "a\u{3164}",
            "\u{115f}a",
            "a\u{fe0f}",
            "a\u{2028}b",
            "a\u{a0}b",
            "a\u{3000}b",
            "a\u{e0041}",
            CATALOG,
            &long,
        ] {
            let error = checked_name(name).expect_err(name).to_string();
            assert!(error.contains("is not a valid collection name: expected "), "{error}");
            assert!(
                error.len() < 600 && !error.chars().any(|c| c.is_control() || is_invisible(c)),
                "{error:?}"
            );
        }
    }

    #[test]
    fn two_ways_of_typing_are_one_name() {
        assert_eq!(parse_name("и\u{306}@7"), ("й".into(), Some(7)));
        assert_eq!(checked_name("e\u{301}te\u{301}").expect("a name"), "été");
    }
}
