//! Recognizes the marks at the start of reStructuredText lines, and strips the markup of titles.

use crate::document::BlockKind;
use crate::parse::lines::MAX_TITLE;

/// The start of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Bullet,
    Number,
    Field,
    Option,
    Line,
    Term,
}

/// The mark that all of `line` consists of.
pub(super) fn adornment(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    line.bytes().all(|byte| byte == mark as u8).then_some(mark)
}

/// Columns that `text` takes: two for each wide character.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| if c >= '\u{1100}' { 2 } else { 1 }).sum()
}

/// The kind of item that `text` begins, if it has a mark.
pub(super) fn item_mark(text: &str) -> Option<Item> {
    let rest =
        |mark: &str| text.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if ["*", "+", "-", "•", "‣", "⁃"].into_iter().any(rest) {
        return Some(Item::Bullet);
    }
    if rest("|") {
        return Some(Item::Line);
    }
    if is_field(text) {
        return Some(Item::Field);
    }
    if is_option(text) {
        return Some(Item::Option);
    }
    is_number(text).then_some(Item::Number)
}

/// `:name: value`, but not a role such as `:ref:` before its text.
fn is_field(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(':').filter(|rest| !rest.starts_with([':', ' '])) else {
        return false;
    };
    for (at, _) in rest.match_indices(':').take(8) {
        match rest[at + 1..].chars().next() {
            None | Some(' ') => return !rest[..at].ends_with(' '),
            Some('`') => return false,
            Some(_) => {}
        }
    }
    false
}

/// `-a`, `--all`, `/V`, with a description after two blanks.
fn is_option(text: &str) -> bool {
    let name = text.trim_start_matches(['-', '/']);
    let marks = text.len() - name.len();
    (1..=2).contains(&marks)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.split_once("  ").is_some_and(|(options, _)| options.len() <= 60)
}

/// `1.`, `(a)`, `iv)`, `#.` with text after it.
fn is_number(text: &str) -> bool {
    let (text, closes): (_, &[char]) = match text.strip_prefix('(') {
        Some(rest) => (rest, &[')']),
        None => (text, &['.', ')']),
    };
    let Some(at) = text.bytes().take(12).position(|byte| !byte.is_ascii_alphanumeric() && byte != b'#')
    else {
        return false;
    };
    let (number, rest) = text.split_at(at);
    let roman = number.bytes().all(|byte| b"ivxlcdmIVXLCDM".contains(&byte));
    let is_number = number == "#" || number.bytes().all(|byte| byte.is_ascii_digit()) || at == 1 || roman;
    at > 0 && is_number && rest.strip_prefix(closes).is_some_and(|rest| rest.starts_with(' '))
}

/// The name of the directive that `.. name::` begins.
pub(super) fn directive(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("..")?.trim_start();
    let (name, _) = rest.split_once("::")?;
    let is_name = |c: char| c.is_alphanumeric() || "-_+.:".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// The kind of block that the directive `name` makes: code, a table, or else text that stays together.
pub(super) fn directive_kind(name: &str) -> BlockKind {
    match name {
        "code" | "code-block" | "sourcecode" | "parsed-literal" | "literalinclude" | "math" | "prompt"
        | "raw" | "productionlist" | "graphviz" | "digraph" | "doctest" | "testcode" | "testoutput"
        | "testsetup" | "testcleanup" | "ipython" | "mermaid" | "uml" | "highlight" => BlockKind::Code,
        "table" | "list-table" | "csv-table" | "flat-table" => BlockKind::Table,
        "meta" | "role" | "default-role" | "index" | "module" | "currentmodule" => BlockKind::Definition,
        _ => BlockKind::Quote,
    }
}

/// Whether an explicit line names what stands below it: a target without an address, or a directive
/// that only registers a name.
pub(super) fn is_label(text: &str) -> bool {
    let target = text.strip_prefix(".. _").is_some_and(|name| name.ends_with(':'));
    target
        || directive(text).is_some_and(|name| {
            matches!(name, "index" | "module" | "py:module" | "currentmodule" | "rst-class")
        })
}

/// A title without inline markup: roles, emphasis, literals, links, escapes.
pub(super) fn plain(title: &str) -> String {
    if title.len() > MAX_TITLE {
        return title.trim().to_owned();
    }
    let mut out = String::new();
    let mut rest = title.trim();
    while let Some(c) = rest.chars().next() {
        if let Some((text, after)) = literal(rest) {
            out.push_str(text);
            rest = after;
        } else if let Some((text, after)) = interpreted(rest) {
            out.push_str(text);
            rest = after;
        } else {
            let marks = rest.len() - rest.trim_start_matches('*').len();
            // Emphasis stands at words; a star between blanks is a star.
            let is_markup = marks > 0
                && (!rest[marks..].starts_with(' ') || !out.ends_with(' ') && !out.is_empty())
                && title.matches('*').nth(1).is_some();
            if is_markup {
                rest = &rest[marks..];
            } else if c == '\\' {
                rest = &rest[1..];
                let escaped = rest.chars().next();
                out.extend(escaped.filter(|&c| c != ' '));
                rest = &rest[escaped.map_or(0, char::len_utf8)..];
            } else {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// A text in double backticks at the start of `text`, and what follows.
fn literal(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("``")?.split_once("``")
}

/// Text in backticks at the start of `text`, with or without a role, as it is shown; and what follows.
fn interpreted(text: &str) -> Option<(&str, &str)> {
    let role = match text.strip_prefix(':') {
        Some(rest) => {
            let at = rest.find(":`").filter(|&at| {
                at <= 40 && rest[..at].chars().all(|c| c.is_alphanumeric() || "-_+.:".contains(c))
            })?;
            at + 2
        }
        None => 0,
    };
    let (shown, after) = text[role..].strip_prefix('`')?.split_once('`')?;
    let after = after.strip_prefix("__").or_else(|| after.strip_prefix('_')).unwrap_or(after);
    // `text <target>` shows its text, `~a.b.Name` its last part.
    let shown = match shown.split_once('<') {
        Some((text, target)) if !text.trim().is_empty() && target.ends_with('>') => text.trim_end(),
        _ => shown,
    };
    let last = |name: &str| name.rfind('.').map_or(0, |at| at + 1);
    let shown = shown.strip_prefix('~').map_or(shown, |name| &name[last(name)..]);
    Some((shown, after))
}
