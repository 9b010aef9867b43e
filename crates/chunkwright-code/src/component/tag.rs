//! Tags of HTML: their names, attributes and ends.

/// An opening tag.
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    /// Names and values; of an attribute without one, nothing.
    attributes: Vec<(&'a str, &'a str)>,
    /// Its end in the source.
    pub(super) end: usize,
    /// Whether it closes itself: `<Foo />`.
    pub(super) is_empty: bool,
}

impl<'a> Tag<'a> {
    /// The tag that begins at byte `at`, if it ends.
    pub(super) fn opening(source: &'a str, at: usize) -> Option<Self> {
        let name = name(&source[at + 1..]);
        let mut tag = Self { name, attributes: Vec::new(), end: 0, is_empty: false };
        let mut rest = &source[at + 1 + name.len()..];
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                tag.end = source.len() - after.len();
                return Some(tag);
            }
            tag.is_empty = rest.starts_with("/>");
            if let Some(after) = rest.strip_prefix(['/', '=', '"', '\'']) {
                rest = after;
                continue;
            }
            let ends = |c: char| c.is_whitespace() || "=>/".contains(c);
            let (attribute, after) = rest.split_at(rest.find(ends)?);
            rest = after;
            let mut value = "";
            if let Some(after) = rest.trim_start().strip_prefix('=') {
                let after = after.trim_start();
                let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
                (value, rest) = match quote {
                    Some(quote) => after[1..].split_once(quote)?,
                    None => after.split_at(after.find(|c: char| c.is_whitespace() || c == '>')?),
                };
            }
            tag.attributes.push((attribute, value));
        }
    }

    /// The value of an attribute; empty if it has no value, `None` if there is no such attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(attribute, _)| *attribute == name).map(|&(_, value)| value)
    }
}

/// The name at the start of `text`, which follows a `<`.
pub(super) fn name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || "-_:.".contains(c))).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { &text[..end] } else { "" }
}

/// Start and end of the closing tag of an `element` whose content begins at byte `from`, if it has one. If it `nests`,
/// elements of its name inside have their own.
pub(super) fn closing(source: &str, from: usize, element: &str, nests: bool) -> Option<(usize, usize)> {
    let is_named = |text: &str| name(text).eq_ignore_ascii_case(element);
    let (mut at, mut depth) = (from, 1);
    loop {
        at += source[at..].find('<')?;
        let rest = &source[at + 1..];
        if let Some(closed) = rest.strip_prefix('/').filter(|closed| is_named(closed)) {
            depth -= 1;
            if depth == 0 {
                let end = closed.find('>').map_or(source.len(), |end| source.len() - closed.len() + end + 1);
                return Some((at, end));
            }
        } else if nests && rest.starts_with("!--") {
            at += rest.find("-->")?;
        } else if nests && is_named(rest) && !Tag::opening(source, at)?.is_empty {
            depth += 1;
        }
        at += 1;
    }
}
