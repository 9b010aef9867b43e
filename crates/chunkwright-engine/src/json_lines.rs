//! JSON Lines that every reader splits at the same places.
//!
//! JSON allows U+0085, U+2028 and U+2029 unescaped in strings, and readers such as Python's `str.splitlines` end a line
//! there. The other characters that they end lines at are control characters, which JSON always escapes.

use memchr::memchr2_iter;
use serde::Serialize;

/// A value as one line of JSON, with its line break.
///
/// # Errors
///
/// A value that is not JSON.
pub fn to_line(value: &(impl Serialize + ?Sized)) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = Vec::new();
    add_line(value, &mut line)?;
    Ok(line)
}

/// Adds a value as one line of JSON to `lines`.
///
/// # Errors
///
/// A value that is not JSON.
pub fn add_line(value: &(impl Serialize + ?Sized), lines: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let start = lines.len();
    serde_json::to_writer(&mut *lines, value)?;
    escape(lines, start);
    lines.push(b'\n');
    Ok(())
}

/// Escapes the characters in JSON that some readers end lines at; they only occur in strings.
pub fn escaped(mut json: Vec<u8>) -> Vec<u8> {
    escape(&mut json, 0);
    json
}

/// Escapes those characters in the JSON from `start` on.
fn escape(json: &mut Vec<u8>, start: usize) {
    let (mut out, mut done) = (Vec::new(), start);
    for at in memchr2_iter(0xC2, 0xE2, &json[start..]).map(|at| start + at) {
        let (length, escape) = match json[at..] {
            [0xC2, 0x85, ..] => (2, r"\u0085"),
            [0xE2, 0x80, 0xA8, ..] => (3, r"\u2028"),
            [0xE2, 0x80, 0xA9, ..] => (3, r"\u2029"),
            _ => continue,
        };
        out.extend_from_slice(&json[done..at]);
        out.extend_from_slice(escape.as_bytes());
        done = at + length;
    }
    if !out.is_empty() {
        out.extend_from_slice(&json[done..]);
        json.truncate(start);
        json.append(&mut out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_for_every_reader_and_stays_what_it_is() {
        // All characters that Python's `str.splitlines` ends a line at, and characters whose bytes begin alike.
        let text = "a\u{85}b\u{2028}c\u{2029}d\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}é\u{80}”…文\u{2027}\u{202a}";
        let line = String::from_utf8(to_line(text).unwrap()).unwrap();
        let breaks = ['\u{85}', '\u{2028}', '\u{2029}', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}'];
        assert!(!line.contains(breaks), "{line:?}");
        assert_eq!((line.matches('\n').count(), line.ends_with('\n')), (1, true));
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }
}
