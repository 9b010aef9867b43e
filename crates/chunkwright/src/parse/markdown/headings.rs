//! Headings that are written as HTML: `<h1 align="center">Brightly</h1>`.
//!
//! The first lines of many a page are HTML, so that they can be centred. A heading in a block of HTML becomes a block of
//! its own, with the tags that open around it; the rest of the block stands before or after it.

use super::Top;
use crate::document::BlockKind;

/// Splits the blocks of HTML among `tops` at their headings.
pub(super) fn split(source: &str, tops: Vec<Top>) -> Vec<Top> {
    if !tops.iter().any(|top| top.kind == BlockKind::Html) {
        return tops;
    }
    let mut all = Vec::with_capacity(tops.len());
    for top in tops {
        if top.kind != BlockKind::Html {
            all.push(top);
            continue;
        }
        let mut from = top.range.start;
        for Heading { level, title, start, end } in headings(&source[top.range.clone()]) {
            let (start, end) = (top.range.start + start, top.range.start + end);
            // Tags that open around the heading belong to it.
            if text(&source[from..start]).contains(char::is_alphanumeric) {
                all.push(Top { kind: BlockKind::Html, range: from..start, heading: None });
                from = start;
            }
            all.push(Top { kind: BlockKind::Heading, range: from..end, heading: Some((level, title)) });
            from = end;
        }
        all.push(Top { range: from..top.range.end, ..top });
    }
    all
}

struct Heading {
    level: u8,
    title: String,
    start: usize,
    end: usize,
}

/// Elements that show what they hold as it is, and tables, whose cells are data.
const OPAQUE: &[&str] = &["pre", "script", "style", "svg", "table", "textarea"];

/// The headings of a block.
fn headings(html: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|tag| at + tag) {
        let tag = &html[start + 1..];
        at = start + 1;
        if tag.starts_with("!--") {
            let Some(end) = tag.find("-->") else { break };
            at += end;
        } else if let Some(name) = OPAQUE.iter().find(|name| is_named(tag, name)) {
            let Some((_, end)) = close(html, at, name) else { break };
            at = end;
        } else if let Some(level) = level(tag) {
            let Some((inner, end)) = close(html, at, &tag[..2]) else { break };
            let opening = html[at..inner].find('>').map_or(inner, |end| at + end + 1);
            let title = text(&html[opening..inner]);
            let title = if title.trim().is_empty() { alternative(&html[opening..inner]) } else { title };
            if !title.trim().is_empty() {
                found.push(Heading { level, title, start, end });
            }
            at = end;
        }
    }
    found
}

/// Whether a tag, without its `<`, has this name.
fn is_named(tag: &str, name: &str) -> bool {
    let named = tag.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name));
    named && tag[name.len()..].starts_with(|c: char| c.is_ascii_whitespace() || c == '>')
}

fn level(tag: &str) -> Option<u8> {
    (1..=6).find(|level| is_named(tag, &format!("h{level}")))
}

/// Where the tag that closes the element `name` begins and ends.
fn close(html: &str, from: usize, name: &str) -> Option<(usize, usize)> {
    html[from..].match_indices("</").map(|(at, _)| from + at).find_map(|at| {
        let end = html[at..].find('>').filter(|_| is_named(&html[at + 2..], name))?;
        Some((at, at + end + 1))
    })
}

/// The text of HTML, without tags and comments.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push_str(if is_named(tag, "br") || tag.starts_with("br/") { " " } else { "" });
        let end = if tag.starts_with("!--") { tag.find("-->").map(|end| end + 2) } else { tag.find('>') };
        rest = end.map_or("", |end| &tag[end + 1..]);
    }
    text.push_str(rest);
    for (name, c) in
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        if text.contains(name) {
            text = text.replace(name, c);
        }
    }
    text
}

/// The alternative text of the first picture.
fn alternative(html: &str) -> String {
    let named = html.split_once("alt=\"").or_else(|| html.split_once("alt='"));
    named.and_then(|(_, alt)| alt.split(['"', '\'']).next()).unwrap_or_default().to_owned()
}
