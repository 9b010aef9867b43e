//! Terms of more than one run of word characters: words that are also written as one, and names with symbols.
//!
//! * *Joined*: `e-mail` is `email` as well, `time-out` and `time out` `timeout`, which a vocabulary has as a word, `U.S.A.` `usa`, `node.js` `nodejs`, `TCP/IP` `tcpip`,
//!   `10,000` and `10 000` `10000`; a version such as `6.2.8` is a term, as written.
//! * *Symbols*: `C++`, `C#`, `Disney+`; `.NET`, `.gitignore`, `@types`, `$PATH`, `#tag`, `-v`, `--no-cache`.

use std::ops::Range;

use chunkwright_models::is_common;

use super::fold::{fold, unmarked};
use super::{TermKind, is_pictograph, is_unspaced, runs, shorten};

/// Longest compound, in bytes: longer ones are slugs, and addresses.
const MAX_COMPOUND: usize = 48;

/// Most words that are also written as one.
const MAX_WORDS: usize = 6;

/// Most words joined by dots, unless each is a letter: more are names of domains and packages.
const MAX_DOTTED: usize = 3;

/// What a stretch of a text is, for analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A run of word characters.
    Run,
    /// Runs that may be joined, or a run with the symbols of its name; its runs come before it.
    Compound,
}

/// What joins two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    Hyphen,
    Dot,
    /// `/` or `&`.
    Pair(char),
    /// What separates the thousands of a number.
    Thousands(char),
    /// A blank between words that a vocabulary has as one.
    Blank,
}

/// Runs joined in the same way.
struct Compound {
    range: Range<usize>,
    joint: Joint,
    words: usize,
}

/// Calls `each` with the pieces of `text`, each with the byte it begins at. The terms of a text are those of its pieces:
/// each is analysed as if it stood alone.
pub(crate) fn each_piece(text: &str, each: &mut dyn FnMut(usize, &str, Piece)) {
    let mut compound: Option<Compound> = None;
    let mut before = 0..0;
    let mut flag = None;
    for (at, run) in runs(text) {
        let here = at..at + run.len();
        let joint = joint(text, &before, &here);
        match (&mut compound, joint) {
            (Some(known), Some(joint)) if known.joint == joint && joint != Joint::Blank => {
                known.range.end = here.end;
                known.words += 1;
            }
            (known, joint) => {
                // The words of a flag are joined by hyphens.
                let begins = known.is_none() && joint == Some(Joint::Hyphen);
                end(text, known.take(), flag.take_if(|_| !begins), &before, each);
                *known = joint.map(|joint| Compound { range: before.start..here.end, joint, words: 2 });
            }
        }
        each(at, run, Piece::Run);
        if let Some(start) = prefix(text, &here) {
            if text[start..].starts_with('-') {
                flag = Some(start);
            } else {
                each(start, &text[start..here.end], Piece::Compound);
            }
        }
        if let Some(end) = suffix(text, &here) {
            each(at, &text[at..end], Piece::Compound);
        }
        before = here;
    }
    end(text, compound, flag, &before, each);
}

/// Ends a compound, and a flag of a command that begins at `flag`; the last run is `last`.
fn end(
    text: &str,
    compound: Option<Compound>,
    flag: Option<usize>,
    last: &Range<usize>,
    each: &mut dyn FnMut(usize, &str, Piece),
) {
    if let Some(Compound { range, joint, words }) = &compound {
        let most = match joint {
            Joint::Hyphen | Joint::Thousands(_) => MAX_WORDS,
            Joint::Dot if range.len() < 2 * words => MAX_WORDS,
            Joint::Dot => MAX_DOTTED,
            Joint::Pair(_) | Joint::Blank => 2,
        };
        if *words <= most && range.len() <= MAX_COMPOUND {
            each(range.start, &text[range.clone()], Piece::Compound);
        }
    }
    if let Some(start) = flag {
        let hyphened = compound.filter(|compound| compound.joint == Joint::Hyphen);
        let end = hyphened.map_or(last.end, |compound| compound.range.end);
        if end - start <= MAX_COMPOUND {
            each(start, &text[start..end], Piece::Compound);
        }
    }
}

/// What joins the run `after` to the one `before` it.
fn joint(text: &str, before: &Range<usize>, after: &Range<usize>) -> Option<Joint> {
    let mut gap = text[before.end..after.start].chars();
    let (c, None) = (gap.next()?, gap.next()) else { return None };
    let joint = match c {
        '-' | '\u{2010}' | '\u{2011}' => Joint::Hyphen,
        '.' => Joint::Dot,
        '/' | '&' => Joint::Pair(c),
        ' ' | ',' | '\'' | '\u{00A0}' | '\u{2009}' | '\u{2019}' | '\u{202F}' => Joint::Thousands(c),
        _ => return None,
    };
    let (before, after) = (&text[before.clone()], &text[after.clone()]);
    if c == ' ' && is_one_word(before, after) {
        return Some(Joint::Blank);
    }
    let is_joined = match joint {
        Joint::Thousands(_) => before.len() <= 3 && after.len() == 3 && is_number(before) && is_number(after),
        _ => !before.is_empty() && !has_no_case(before) && !has_no_case(after),
    };
    is_joined.then_some(joint)
}

/// Words that stand before any other.
const BEFORE_ANY: &[&str] = &[
    "all", "and", "any", "are", "but", "can", "for", "from", "had", "has", "have", "her", "his", "how",
    "its", "may", "not", "one", "our", "out", "that", "the", "they", "this", "was", "who", "why", "with",
    "you",
];

/// Longest word, in bytes, that is written as two.
const MAX_TWO: usize = 16;

/// Returns whether two words are also written as one: `time out`, `data base`.
fn is_one_word(before: &str, after: &str) -> bool {
    if before.len() < 3 || after.len() < 2 || before.len() + after.len() > MAX_TWO {
        return false;
    }
    let is_lower = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_lowercase);
    let (first, rest) = (before.as_bytes()[0], &before.as_bytes()[1..]);
    if !first.is_ascii_alphabetic() || !is_lower(rest) || !is_lower(after.as_bytes()) {
        return false;
    }
    let mut word = before.to_ascii_lowercase();
    if BEFORE_ANY.contains(&word.as_str()) {
        return false;
    }
    word.push_str(after);
    is_common(&word)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a run has characters that no hyphen joins.
fn has_no_case(run: &str) -> bool {
    !run.is_ascii() && run.contains(|c| is_unspaced(c) || is_pictograph(c))
}

/// The start of the symbols before a run that belong to its name.
fn prefix(text: &str, run: &Range<usize>) -> Option<usize> {
    let before = &text.as_bytes()[..run.start];
    let last = *before.last()?;
    let length = match last {
        b'-' if before.ends_with(b"--") => 2,
        b'.' | b'@' | b'$' | b'#' | b'-' => 1,
        _ => return None,
    };
    let start = run.start - length;
    let is_open = |c: char| c.is_whitespace() || "([{<\"'`“«„,;:|=/>".contains(c);
    let is_name = text[run.clone()].starts_with(char::is_alphabetic) && run.len() < MAX_COMPOUND;
    (is_name && text[..start].chars().next_back().is_none_or(is_open)).then_some(start)
}

/// The end of the symbols after a run that belong to its name.
fn suffix(text: &str, run: &Range<usize>) -> Option<usize> {
    let after = &text.as_bytes()[run.end..];
    let length = match after {
        [b'+', b'+', ..] => 2,
        [b'+' | b'#', ..] => 1,
        _ => return None,
    };
    let next = text[run.end + length..].chars().next();
    let goes_on = |c: char| matches!(c, '+' | '#' | '=' | '!' | '(' | '_') || c.is_alphanumeric();
    let is_end = next.is_none_or(|next| !goes_on(next)) || length == 2 && next != Some('+');
    let is_name = text[run.clone()].starts_with(char::is_alphabetic) && run.len() < MAX_COMPOUND;
    (is_end && is_name).then_some(run.end + length)
}

/// Calls `each` with the terms of a compound, none of which is stemmed yet.
pub(super) fn terms(compound: &str, each: &mut dyn FnMut(&str, TermKind)) {
    let is_of_word = |c: char| c.is_alphanumeric() || super::is_mark(c);
    if !compound.starts_with(is_of_word) || compound.ends_with(['+', '#']) {
        each(shorten(&unmarked(&fold(compound))), TermKind::Symbol);
        return;
    }
    let is_dotted = compound.contains('.');
    let digits = compound.strip_prefix(['v', 'V']).unwrap_or(compound);
    if is_dotted && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        each(digits, TermKind::Symbol);
        // `10.000` is a number in half of Europe.
        let mut groups = digits.split('.');
        let is_number =
            groups.next().is_some_and(|first| first.len() <= 3) && groups.all(|group| group.len() == 3);
        if !is_number {
            return;
        }
    }
    each(&joined(compound), TermKind::Joined);
}

/// Words as one.
pub(super) fn joined(text: &str) -> String {
    let word: String = fold(text).chars().filter(|c| c.is_alphanumeric() || super::is_mark(*c)).collect();
    shorten(&unmarked(&word)).to_owned()
}
