//! Identifiers of code, and the words that they are made of.

use std::borrow::Cow;
use std::ops::Range;

/// The parts of an identifier, as byte ranges: `HTTPServer_v2` has `HTTP`, `Server`, `v` and `2`.
pub fn identifier_parts(text: &str) -> Vec<Range<usize>> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Class {
        Upper,
        Lower,
        Digit,
        Underscore,
    }
    let class = |c: char| {
        if c == '_' {
            Class::Underscore
        } else if c.is_numeric() {
            Class::Digit
        } else if c.is_uppercase() {
            Class::Upper
        } else {
            Class::Lower
        }
    };
    let chars: Vec<(usize, Class)> = text.char_indices().map(|(at, c)| (at, class(c))).collect();
    let mut parts = Vec::new();
    let mut start = None;
    for (index, &(at, class)) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| chars[index].1);
        let after = chars.get(index + 1).map(|&(_, class)| class);
        let begins = match (before, class) {
            (_, Class::Underscore) | (Some(Class::Upper), Class::Lower) => false,
            (None | Some(Class::Underscore), _) => true,
            // `HTTPServer`: the last capital begins the next word.
            (Some(Class::Upper), Class::Upper) => after == Some(Class::Lower),
            (Some(before), class) => before != class,
        };
        if (begins || class == Class::Underscore)
            && let Some(start) = start.take()
        {
            parts.push(start..at);
        }
        if begins {
            start = Some(at);
        }
    }
    parts.extend(start.map(|start| start..text.len()));
    parts
}

/// A text whose identifiers are written as words, as models of prose know them: `parseHeader` as `parse header`. Such a
/// model's tokens of an identifier are pieces that say little.
pub(crate) fn with_words(text: &str) -> Cow<'_, str> {
    let (mut out, mut kept, mut start) = (String::new(), 0, 0);
    for piece in text.split_inclusive(|c: char| !is_of_identifier(c)) {
        let word = piece.trim_end_matches(|c: char| !is_of_identifier(c));
        if word.bytes().skip(1).any(|byte| byte == b'_' || byte.is_ascii_uppercase()) {
            let parts = identifier_parts(word);
            if parts.len() > 1 {
                out.push_str(&text[kept..start]);
                for (index, part) in parts.into_iter().enumerate() {
                    out.push_str(if index > 0 { " " } else { "" });
                    out.extend(word[part].chars().flat_map(char::to_lowercase));
                }
                kept = start + word.len();
            }
        }
        start += piece.len();
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

fn is_of_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_written_as_words_and_the_rest_is_kept() {
        for (text, expected) in [
            ("", ""),
            ("fn parseHTTPHeader(x: &str)", "fn parse http header(x: &str)"),
            (
                "trusted_proxies, MAX_CONTENT_LENGTH;\n\tself→_x",
                "trusted proxies, max content length;\n\tself→_x",
            ),
            ("__init__ HTTP URL utf8 I'm Ok", "__init__ HTTP URL utf8 I'm Ok"),
            ("sha256Sum", "sha 256 sum"),
            ("как вызвать urlFor函数?", "как вызвать url for函数?"),
        ] {
            assert_eq!(with_words(text), expected, "{text:?}");
        }
    }
}
