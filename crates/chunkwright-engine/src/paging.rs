//! Lists in pages, continued by cursors.
//!
//! A cursor names the last entry of a page and the list it belongs to. It needs no state on the server, and is refused
//! for any other list. [`page`] is for lists short enough to be built whole; stores page the others themselves.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chunkwright_index::{Cursor, MAX_PAGE};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The contents of a cursor.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    /// Hash of the list's parameters.
    #[serde(rename = "l")]
    list: String,
    /// The last entry of the page.
    #[serde(rename = "k")]
    key: String,
}

/// A page of `all`, which is in ascending order of its keys: at most `limit` entries behind `after`, and the cursor of
/// the next page. `list` identifies the list.
///
/// # Errors
///
/// A cursor that is none, or of another list.
pub fn page<T>(
    mut all: Vec<T>,
    key: impl Fn(&T) -> String,
    list: &impl Serialize,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<(Vec<T>, Option<Cursor>), Error> {
    if let Some(cursor) = after {
        let before = entry_before(list, cursor)?;
        all.retain(|entry| key(entry) > before);
    }
    let limit = limit.clamp(1, MAX_PAGE);
    let is_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| is_more).map(|entry| cursor(list, &key(entry))).transpose()?;
    Ok((all, next))
}

/// The cursor behind the entry with this key.
///
/// # Errors
///
/// What `list` cannot be said by.
pub fn cursor(list: &impl Serialize, key: &str) -> Result<Cursor, Error> {
    let position = serde_json::to_vec(&Position { list: hash(list)?, key: key.to_owned() })?;
    Ok(Cursor::new(URL_SAFE_NO_PAD.encode(position)))
}

/// The key of the entry before the cursor.
///
/// # Errors
///
/// A cursor that is none, or of another list.
pub fn entry_before(list: &impl Serialize, cursor: &Cursor) -> Result<String, Error> {
    let list = hash(list)?;
    let bytes = URL_SAFE_NO_PAD.decode(cursor.as_str()).ok();
    let position: Option<Position> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let position = position.filter(|position| position.list == list);
    Ok(position.ok_or_else(|| Error::Cursor { cursor: cursor.as_str().to_owned() })?.key)
}

/// The hash that identifies a list in its cursors.
fn hash(list: &impl Serialize) -> Result<String, Error> {
    Ok(blake3::hash(&serde_json::to_vec(list)?).to_hex()[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_every_entry_once_and_a_cursor_of_another_list_is_refused() {
        let all = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let key = |entry: &String| entry.clone();
        let (first, next) = page(all(), key, &"list", None, 2).expect("a page");
        assert_eq!(first, ["a", "b"]);
        let (second, end) = page(all(), key, &"list", next.as_ref(), 2).expect("a page");
        assert_eq!((second, end), (vec!["c".to_owned()], None));
        assert!(matches!(page(all(), key, &"other", next.as_ref(), 2), Err(Error::Cursor { .. })));
        let cursor = Cursor::new("bm9uc2Vuc2U");
        assert!(matches!(page(all(), key, &"list", Some(&cursor), 2), Err(Error::Cursor { .. })));
    }
}
