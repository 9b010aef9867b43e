//! Identifiers as words, for models that know prose.

use std::borrow::Cow;

use crate::identifiers::identifier_parts;

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
