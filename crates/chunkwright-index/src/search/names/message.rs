//! Messages that programs print: finds the string literal that a message in a query was made of.
//!
//! `'--count': 150 is not in the range 0<=x<=100.` was made of `"{value} is not in the range {range}."`: values take the
//! places of placeholders, so the words of a message are rarer in the code that prints it than in tests and documentation
//! that show it. A literal is the origin of a message if all its fixed words are there in its order, without gaps between
//! placeholders.

use chunkwright_store::analysis;

use crate::function_words::FUNCTION_WORDS;

/// Longest query, in bytes, that is compared with literals.
const MAX_MESSAGE: usize = 1_000;

/// Fewest fixed words of a literal that tell where a message comes from.
const LEAST_WORDS: usize = 3;

/// The words of a query that reads like a message: with a colon before a blank, or a quoted value; `None` for others.
pub(super) fn message(query: &str) -> Option<Vec<String>> {
    // After a letter it is an apostrophe: `can't`, `users' data`.
    let is_quotation = |(at, _): (usize, &str)| !query[..at].ends_with(char::is_alphanumeric);
    let is_message = query.contains(": ")
        || query.contains(['：', '"', '“', '«', '['])
        || query.match_indices('\'').any(is_quotation);
    let words = if is_message && query.len() <= MAX_MESSAGE { words(query) } else { Vec::new() };
    (words.len() >= LEAST_WORDS).then_some(words)
}

/// The literal in `content` that has the most words of the message that was made of it, and their share of its words.
pub(super) fn origin<'a>(content: &'a str, message: &[String]) -> Option<(&'a str, f64)> {
    let is_function = |word: &str| FUNCTION_WORDS.split_whitespace().any(|known| known == word);
    let of_message = |literal: &'a str| {
        let parts = fixed(literal);
        let count = parts.iter().map(Vec::len).sum::<usize>();
        let is_telling = |word: &String| {
            word.contains(analysis::is_unspaced) || word.chars().count() > 1 && !is_function(word)
        };
        let is_origin = (LEAST_WORDS..=message.len()).contains(&count)
            && are_in(&parts, message)
            && parts.iter().flatten().any(is_telling);
        is_origin.then(|| (literal, count as f64 / message.len() as f64))
    };
    literals(content).filter_map(of_message).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The words of a text in lower case; each character of a script without spaces is one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for c in text.chars() {
        let is_part = c.is_alphanumeric() || c == '_';
        let is_single = analysis::is_unspaced(c);
        if is_part {
            if !is_open || is_single {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        is_open = is_part && !is_single;
    }
    words
}

/// The literals of source code: what stands between two equal quotation marks on a line, or three of them or two backticks
/// on any.
fn literals(content: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + content[at..].find(['"', '\'', '`'])?;
            let mark = content.as_bytes()[start];
            let rest = &content[start + 1..];
            let is_triple = mark != b'`' && rest.as_bytes().starts_with(&[mark, mark]);
            let (open, length) = if is_triple { (start + 3, 3) } else { (start + 1, 1) };
            let bytes = &content.as_bytes()[open..];
            let mut end = 0;
            let is_closed = loop {
                match bytes.get(end) {
                    None => break false,
                    Some(b'\n') if !is_triple && mark != b'`' => break false,
                    Some(b'\\') => end += 2,
                    Some(byte) if *byte == mark && bytes[end..].starts_with(&[mark; 3][..length]) => {
                        break true;
                    }
                    Some(_) => end += 1,
                }
            };
            // A mark without its like is an apostrophe.
            if is_closed {
                at = open + end + length;
                return Some(&content[open..open + end]);
            }
            at = start + 1;
        }
    })
}

/// The fixed words of a literal, between placeholders: `{name}`, `${name}`, `#{name}`, `%s`, `%(name)d`, `$name`.
fn fixed(literal: &str) -> Vec<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut rest = literal;
    while let Some(c) = rest.chars().next() {
        let length = placeholder(rest);
        if length > 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        rest = &rest[length.max(c.len_utf8())..];
    }
    parts.iter().map(|part| words(part)).filter(|words| !words.is_empty()).collect()
}

/// The length of the placeholder or escape at the start of `text`, in bytes; 0 if there is none.
fn placeholder(text: &str) -> usize {
    let bytes = text.as_bytes();
    let group = |from: usize, close: char| text[from..].find(close).map_or(0, |end| from + end + 1);
    match bytes {
        [b'{', ..] => group(1, '}'),
        [b'$' | b'#', b'{', ..] => group(2, '}'),
        [b'%', b'(', ..] => {
            let end = group(2, ')');
            if end > 0 && bytes.get(end).is_some_and(u8::is_ascii_alphabetic) { end + 1 } else { 0 }
        }
        [b'%', rest @ ..] => {
            let flags =
                rest.iter().take_while(|b| matches!(b, b'-' | b'+' | b'#' | b'.' | b'*' | b'0'..=b'9'));
            let flags = flags.count();
            let sizes = rest[flags..].iter().take_while(|b| matches!(b, b'l' | b'h' | b'z')).count();
            let is_verb = rest.get(flags + sizes).is_some_and(u8::is_ascii_alphabetic);
            if is_verb { flags + sizes + 2 } else { 0 }
        }
        [b'$', first, ..] if first.is_ascii_alphabetic() || *first == b'_' => {
            1 + bytes[1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
        }
        [b'\\', b'n' | b'r' | b't', ..] => 2,
        _ => 0,
    }
}

/// Returns whether the parts are in `words` in their order.
fn are_in(parts: &[Vec<String>], words: &[String]) -> bool {
    let mut rest = words;
    parts.iter().all(|part| {
        let found = rest.windows(part.len()).position(|window| window == part);
        found.is_some_and(|at| {
            rest = &rest[at + part.len()..];
            true
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, content: &str, expected: Option<&str>) {
        let found = message(query).and_then(|words| origin(content, &words).map(|(literal, _)| literal));
        assert_eq!(found, expected, "{query}: {content}");
    }

    #[test]
    fn a_message_is_found_by_the_literal_that_it_was_made_of() {
        for (query, content) in [
            (
                "Error: Invalid value for '--count': 150 is not in the range 0<=x<=100.",
                "self.fail(_(\"@{value} is not in the range {range}.@\").format(value=rv))",
            ),
            ("panic: key user does not exist", "panic(fmt.Sprintf(\"@key %v does not exist@\", key))"),
            (
                "Could not open file 'a.txt': No such file",
                "f\"@Could not open file {filename!r}: {message}@\"",
            ),
            (
                "Module \"pug\" does not provide an engine.",
                "'Module \"' + mod + '@\" does not provide an engine.@'",
            ),
            ("RangeError: Invalid status code: 1200.", "`@Invalid status code: ${JSON.stringify(code)}.@`"),
            ("错误：文件 a 不存在", "\"@文件 %s 不存在@\""),
            ("error: it isn't a number: x", "// don't\nx = \"@it isn't a number: {}@\""),
            (
                "key: expected 5 items, got 7",
                "\"\"\"doc\"\"\"\nraise E(\"@expected %(n)d items, got %(m)d@\")",
            ),
        ] {
            let expected = content.split('@').nth(1);
            check(query, &content.replace('@', ""), expected);
        }
    }

    #[test]
    fn other_literals_and_queries_are_not_the_origin_of_a_message() {
        for (query, content) in [
            // A word is missing, or in another place.
            ("panic: key user does exist", "\"key %v does not exist\""),
            ("panic: does not exist key", "\"key %v does not exist\""),
            // Two words, or function words alone.
            ("panic: key user", "\"key user\""),
            ("error: this is not it", "\"this is not it\""),
            // It is not a message.
            ("the key user does not exist", "\"key user does not exist\""),
            ("why the user's key doesn't exist", "\"why the user's key doesn't exist\""),
            ("panic: key user does not exist", "key user does not exist"),
        ] {
            check(query, content, None);
        }
    }
}
