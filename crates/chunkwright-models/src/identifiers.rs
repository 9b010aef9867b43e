//! Identifiers of code, and the words that they are made of.

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
