//! Routines, tables and views of SQL in the dialects that the grammar does not know: those of Microsoft, `MySQL` and Oracle.

use chunkwright::SymbolKind;

use super::{Symbol, announced_from};
use crate::repair::line::Line;

/// What `CREATE` makes.
const KINDS: &[(&str, SymbolKind)] = &[
    ("procedure", SymbolKind::Function),
    ("proc", SymbolKind::Function),
    ("function", SymbolKind::Function),
    ("trigger", SymbolKind::Function),
    ("event", SymbolKind::Function),
    ("package", SymbolKind::Function),
    ("type", SymbolKind::Struct),
    ("table", SymbolKind::Struct),
    ("view", SymbolKind::Struct),
    ("index", SymbolKind::Struct),
    ("sequence", SymbolKind::Struct),
];

/// Most words between `CREATE` and its kind: `OR REPLACE EDITIONABLE`, `DEFINER = 'a'@'b'`.
const MOST_WORDS: usize = 10;

/// The symbols that statements create, each up to the next or to what ends a batch.
pub(super) fn symbols(source: &str, lines: &[Line]) -> Vec<Symbol> {
    let mut found: Vec<Symbol> = Vec::new();
    let mut is_open = false;
    for (index, line) in lines.iter().enumerate() {
        let text = &source[line.visible_start..line.code_end];
        let below = || lines.get(index + 1).map_or("", |next| &source[next.visible_start..next.code_end]);
        if let Some((kind, title)) = created(text).or_else(|| created(&format!("{text} {}", below()))) {
            let start = announced_from(source, lines, index);
            found.push(Symbol { kind, title, start, head: line.start..line.end, end: line.end });
            is_open = !(kind == SymbolKind::Struct && text.ends_with(';'));
            continue;
        }
        let first = text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
        let ends_batch =
            ["go", "delimiter", "/", "//", "$$", "use"].contains(&first.to_ascii_lowercase().as_str());
        if ends_batch {
            is_open = false;
        }
        let Some(last) = found.last_mut().filter(|_| is_open) else { continue };
        last.end = line.end;
        is_open = !(last.kind == SymbolKind::Struct && text.ends_with(';'));
    }
    found
}

/// The kind and name of what a statement creates.
fn created(text: &str) -> Option<(SymbolKind, String)> {
    let near = text.char_indices().nth(400).map_or(text, |(at, _)| &text[..at]);
    let mut words = near.split_whitespace();
    let first = words.next()?;
    if !first.eq_ignore_ascii_case("create") && !first.eq_ignore_ascii_case("alter") {
        return None;
    }
    let is_kind =
        |word: &str| KINDS.iter().find(|(kind, _)| word.eq_ignore_ascii_case(kind)).map(|&(_, kind)| kind);
    let kind = words.by_ref().take(MOST_WORDS).find_map(is_kind)?;
    // An altered table is a statement like others.
    if kind == SymbolKind::Struct && !first.eq_ignore_ascii_case("create") {
        return None;
    }
    let is_filler = |word: &&str| {
        ["if", "not", "exists", "body", "concurrently"].iter().any(|filler| word.eq_ignore_ascii_case(filler))
    };
    let name = words.find(|word| !is_filler(word))?;
    let name = name.split(['(', ';']).next()?.replace(['[', ']', '`', '"'], "");
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || "_#@$".contains(c));
    is_name.then_some((kind, name))
}
