//! Commands of LaTeX: what a line begins with, and titles without their markup.

use crate::parse::lines::MAX_TITLE;

/// Sectioning commands, the highest first, with those of other classes that stand for the same.
const SECTIONS: &[&[&str]] = &[
    &["part", "addpart"],
    &["chapter", "addchap"],
    &["section", "addsec"],
    &["subsection"],
    &["subsubsection"],
    &["paragraph"],
    &["subparagraph"],
];

/// The rank of the sectioning command that `text` begins with: 0 is a part.
pub(super) fn rank(text: &str) -> Option<usize> {
    let is_one = |names: &&[&str]| names.iter().any(|name| command(text, name).is_some());
    text.starts_with('\\').then(|| SECTIONS.iter().position(is_one))?
}

/// The rest of `text` after the command `\name` or `\name*` that it begins with, if it takes an argument.
pub(super) fn command<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix('\\')?.strip_prefix(name)?;
    let rest = rest.strip_prefix('*').unwrap_or(rest);
    rest.trim_start().starts_with(['[', '{']).then_some(rest)
}

/// The name of the environment that `text` begins.
pub(super) fn begin(text: &str) -> Option<&str> {
    name(text.strip_prefix("\\begin{")?)
}

/// The name of the environment that `text` ends.
pub(super) fn end(text: &str) -> Option<&str> {
    name(text.trim_start().strip_prefix("\\end{")?)
}

/// Longest name of an environment.
const MAX_NAME: usize = 64;

fn name(text: &str) -> Option<&str> {
    let near = &text.as_bytes()[..text.len().min(MAX_NAME)];
    let end = memchr::memchr(b'}', near)?;
    Some(text[..end].trim())
}

/// A line without its comment: from a `%` on that no backslash stands before.
pub(super) fn uncommented(line: &str) -> &str {
    let is_comment = |at: &usize| {
        let before = line[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        before % 2 == 0
    };
    let at = line.match_indices('%').map(|(at, _)| at).take(MAX_TITLE).find(is_comment);
    &line[..at.unwrap_or(line.len())]
}

/// The first argument in braces of the command at byte `at`, options in brackets left out, and the byte after it.
pub(super) fn group(source: &str, at: usize) -> Option<(&str, usize)> {
    let near = &source.as_bytes()[at..source.len().min(at + MAX_TITLE)];
    let (mut depth, mut options, mut open) = (0_usize, 0_usize, None);
    let mut bytes = near.iter().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'[' if open.is_none() => options += 1,
            b']' if open.is_none() => options = options.saturating_sub(1),
            b'{' if options == 0 || open.is_some() => {
                depth += 1;
                open.get_or_insert(index + 1);
            }
            b'}' if open.is_some() => {
                depth -= 1;
                if depth == 0 {
                    return Some((&source[at + open?..at + index], at + index + 1));
                }
            }
            // A paragraph ends what nothing closed.
            b'\n' if near.get(index + 1) == Some(&b'\n') => return None,
            _ => {}
        }
    }
    None
}

/// Commands whose argument is not shown.
const HIDDEN: &[&str] =
    &["label", "index", "footnote", "thanks", "vspace", "hspace", "cite", "ref", "protect", "color"];

/// A title without commands and braces; `\texorpdfstring{$x$}{x}` is its second argument.
pub(super) fn plain(title: &str) -> String {
    let mut out = String::new();
    let mut rest = title;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                let name = &rest[..length];
                rest = rest[length..].trim_start_matches('*');
                if length == 0 {
                    // An escaped character, a line break, an accent.
                    let mark = rest.chars().next().unwrap_or(' ');
                    rest = &rest[mark.len_utf8().min(rest.len())..];
                    if "%&#_${}".contains(mark) {
                        out.push(mark);
                    } else if mark == '\\' || mark == ' ' || mark == ',' {
                        out.push(' ');
                    }
                } else if HIDDEN.contains(&name) || name == "texorpdfstring" {
                    if let Some((_, end)) =
                        group(rest, 0).filter(|_| rest.trim_start().starts_with(['{', '[']))
                    {
                        rest = &rest[end..];
                    }
                } else if rest.starts_with('[') {
                    rest = rest.split_once(']').map_or("", |(_, after)| after);
                } else {
                    match name {
                        "LaTeX" | "TeX" | "BibTeX" => out.push_str(name),
                        "ss" => out.push('ß'),
                        "newline" | "quad" | "qquad" => out.push(' '),
                        _ => rest = rest.trim_start(),
                    }
                }
            }
            '{' | '}' => {}
            '~' => out.push(' '),
            '%' => rest = rest.split_once('\n').map_or("", |(_, after)| after),
            c => out.push(c),
        }
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    words.join(" ")
}
