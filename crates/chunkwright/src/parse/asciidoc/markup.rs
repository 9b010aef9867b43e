//! Classifies lines of `AsciiDoc`, and strips the markup of titles.

use crate::parse::lines::MAX_TITLE;

/// The kind of block that a delimiter opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// Listing, literal, passthrough: kept as written.
    Verbatim,
    /// Example, sidebar, quotation, open block: holds blocks.
    Compound,
    Table,
    Comment,
}

/// The delimiter that line `text` is.
pub(super) fn delimiter(text: &str) -> Option<Delimiter> {
    if text == "--" {
        return Some(Delimiter::Compound);
    }
    if let Some(info) = text.strip_prefix("```") {
        return (!info.contains('`')).then_some(Delimiter::Verbatim);
    }
    if matches!(text.get(..4), Some("|===" | ",===" | ":===")) {
        return text[1..].bytes().all(|byte| byte == b'=').then_some(Delimiter::Table);
    }
    let mark = *text.as_bytes().first()?;
    let kind = match mark {
        b'-' | b'.' | b'+' => Delimiter::Verbatim,
        b'=' | b'*' | b'_' | b'~' => Delimiter::Compound,
        b'/' => Delimiter::Comment,
        _ => return None,
    };
    (text.len() >= 4 && text.bytes().all(|byte| byte == mark)).then_some(kind)
}

/// The level, from 1, and the text of a title that begins with its marks.
pub(super) fn section_title(text: &str) -> Option<(usize, &str)> {
    let mark = text.chars().next().filter(|&c| c == '=' || c == '#')?;
    let title = text.trim_start_matches(mark);
    let level = text.len() - title.len();
    let title = title.strip_prefix([' ', '\t'])?.trim();
    // The same marks may close it.
    let bare = title.strip_suffix(&text[..level]).filter(|bare| bare.ends_with(' ')).unwrap_or(title);
    (level <= 6 && !title.is_empty()).then_some((level, bare.trim_end()))
}

/// The level, from 1, of the title `text` over the line `under`.
pub(super) fn underline_level(text: &str, under: &str) -> Option<usize> {
    let mark = under.chars().next()?;
    let level = ['=', '-', '~', '^', '+'].iter().position(|&it| it == mark)? + 1;
    let (width, columns) = (under.len(), text.chars().count());
    let fits = width.abs_diff(columns) < 2 && under.bytes().all(|byte| byte == mark as u8);
    let begins = text.starts_with(|c: char| c.is_alphanumeric() || "`*_\"'({<&#«“".contains(c));
    (fits && width > 1 && begins && text.contains(char::is_alphanumeric) && list_mark(text).is_none())
        .then_some(level)
}

/// Whether `text` says something about the block below it: block attributes or an anchor (given), a
/// title or a comment (empty). `below` is the next line.
pub(super) fn lead<'a>(text: &'a str, below: &str) -> Option<&'a str> {
    if is_block_attributes(text) {
        return Some(if text.starts_with("[[") { "" } else { text });
    }
    let is_title =
        text.strip_prefix('.').is_some_and(|rest| !rest.starts_with(['.', ' ', '\t']) && !rest.is_empty());
    let is_comment = text.starts_with("//") && !text.starts_with("///") && !below.is_empty();
    (is_title || is_comment).then_some("")
}

/// Whether the line is a list of block attributes or an anchor.
pub(super) fn is_block_attributes(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| {
        inner.is_empty() || inner.starts_with(|c: char| c.is_alphanumeric() || "[.#%,\"'_{*".contains(c))
    })
}

/// The style that block attributes begin with: `source` in `[source,rust]`.
pub(super) fn style(attributes: &str) -> Option<&str> {
    let inner = attributes.strip_prefix('[')?.trim_end_matches(']');
    let style = inner.split([',', '#', '.', '%', ' ']).next()?;
    (!style.is_empty()).then_some(style)
}

/// Whether the line sets an attribute, tests one, or includes a file.
pub(super) fn is_line_macro(text: &str) -> bool {
    let is_entry =
        text.strip_prefix(':').and_then(|rest| rest.split_once(':')).is_some_and(|(name, value)| {
            let bare = name.trim_start_matches('!').trim_end_matches('!');
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            !bare.is_empty() && bare.chars().all(is_name) && (value.is_empty() || value.starts_with(' '))
        });
    let tests = ["ifdef::", "ifndef::", "ifeval::", "endif::"];
    is_entry || text.ends_with(']') && tests.iter().any(|test| text.starts_with(test))
}

/// Whether a paragraph begins with `NOTE: ` or the like.
pub(super) fn is_admonition(text: &str) -> bool {
    let (label, rest) = text.split_once(':').unwrap_or_default();
    matches!(label, "NOTE" | "TIP" | "IMPORTANT" | "WARNING" | "CAUTION") && rest.starts_with(' ')
}

/// The mark of the list item that `text` begins, equal for items of one list.
pub(super) fn list_mark(text: &str) -> Option<&'static str> {
    const STARS: &str = "******";
    const DOTS: &str = "......";
    let (mark, rest) = text.split_once([' ', '\t'])?;
    if rest.trim().is_empty() {
        return None;
    }
    let same =
        |all: &'static str| (mark.len() <= all.len() && all.starts_with(mark)).then(|| &all[..mark.len()]);
    match mark.as_bytes() {
        [b'*', ..] if same(STARS).is_some() => same(STARS),
        [b'.', ..] if same(DOTS).is_some() => same(DOTS),
        _ if mark == "-" || mark == "•" => Some("-"),
        [first, ..] if first.is_ascii_digit() && is_number(mark) => Some("1."),
        [b'<', inner @ .., b'>'] if inner == b"." || is_digits(inner) => Some("<1>"),
        _ => term_mark(text),
    }
}

fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit)
}

fn is_number(mark: &str) -> bool {
    mark.strip_suffix('.').is_some_and(|digits| is_digits(digits.as_bytes()))
}

/// The mark after the term of a description list.
fn term_mark(text: &str) -> Option<&'static str> {
    // A term is short: text further along a long line does not count.
    let near = text.char_indices().take(160).last().map_or(0, |(at, c)| at + c.len_utf8());
    let at = text[..near].find(":: ").or_else(|| text[..near].ends_with("::").then(|| near - 2))?;
    if at == 0 || text.starts_with("//") {
        return None;
    }
    let term = text[..at].trim_end_matches(':');
    Some(match at - term.len() {
        0 => "::",
        1 => ":::",
        _ => "::::",
    })
}

/// A title without inline markup: emphasis, monospace, links, cross references, attributes kept.
pub(super) fn plain(title: &str) -> String {
    if title.len() > MAX_TITLE {
        return title.to_owned();
    }
    let mut out = String::new();
    let mut rest = title;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("[[").and_then(|inner| inner.split_once("]]")) {
            rest = after.1.trim_start();
        } else if let Some((shown, after)) = reference(rest) {
            out.push_str(shown);
            rest = after;
        } else {
            let before = out.chars().next_back();
            let after = rest[c.len_utf8()..].chars().next();
            let outer = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            // A mark stands where a word begins or ends.
            let is_mark =
                "*_`#+".contains(c) && outer(before) != outer(after) && title.matches(c).nth(1).is_some();
            if !is_mark {
                out.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// A link or cross reference at the start of `text` as it is shown, and what follows.
fn reference(text: &str) -> Option<(&str, &str)> {
    if let Some((inner, after)) = text.strip_prefix("<<").and_then(|rest| rest.split_once(">>")) {
        return Some((inner.split_once(',').map_or(inner, |(_, shown)| shown.trim()), after));
    }
    let is_link = ["http://", "https://", "link:", "xref:"].iter().any(|scheme| text.starts_with(scheme));
    let (target, rest) = text.split_once('[').filter(|(target, _)| is_link && !target.contains(' '))?;
    let (shown, after) = rest.split_once(']')?;
    Some((if shown.is_empty() { target } else { shown.trim_end_matches('^') }, after))
}
