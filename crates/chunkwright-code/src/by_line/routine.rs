//! Routines, tables and views of SQL in the dialects that the grammar does not know: those of Microsoft, `MySQL` and Oracle.

use chunkwright::SymbolKind;

use super::{Symbol, announced_from};
use crate::lexer::Line;

/// What `CREATE` makes.
const KINDS: &[(&str, SymbolKind)] = &[
    ("procedure", SymbolKind::Function),
    ("proc", SymbolKind::Function),
    ("function", SymbolKind::Function),
    ("trigger", SymbolKind::Function),
    ("event", SymbolKind::Function),
    ("package", SymbolKind::Module),
    ("type", SymbolKind::Struct),
    ("table", SymbolKind::Struct),
    ("view", SymbolKind::Struct),
    ("index", SymbolKind::Struct),
    ("sequence", SymbolKind::Struct),
];

/// Most words between `CREATE` and its kind: `OR REPLACE EDITIONABLE`, `DEFINER = 'a'@'b'`.
const MOST_WORDS: usize = 10;

/// The symbols that statements create, each up to the next or to what ends a batch; in a package the routines of it.
pub(super) fn symbols(source: &str, lines: &[Line]) -> Vec<Symbol> {
    let mut found: Vec<Symbol> = Vec::new();
    // The statement and the routine in it whose lines are read, by index.
    let (mut open, mut inner): (Option<usize>, Option<usize>) = (None, None);
    let mut indent = 0;
    for (index, line) in lines.iter().enumerate() {
        let text = &source[line.visible_start..line.code_end];
        let next = lines.get(index + 1).map_or("", |next| &source[next.visible_start..next.code_end]);
        let symbol = |(kind, title)| {
            let start = announced_from(source, lines, index);
            Symbol { kind, title, start, head: line.start..line.end, end: line.end }
        };
        let ends = |kind: SymbolKind| kind == SymbolKind::Struct && text.ends_with(';');
        if let Some(created) = created(text, next) {
            open = Some(found.len()).filter(|_| !ends(created.0));
            (inner, indent) = (None, line.indent);
            found.push(symbol(created));
            continue;
        }
        let first = text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
        if ["go", "delimiter", "/", "//", "$$", "use"].contains(&first.to_ascii_lowercase().as_str()) {
            open = None;
        }
        let Some(around) = open else { continue };
        if found[around].kind == SymbolKind::Module {
            if line.indent <= indent {
                inner = None;
            } else if let Some(routine) = routine(text) {
                inner = Some(found.len());
                found.push(symbol(routine));
            }
        }
        for symbol in [open, inner].into_iter().flatten() {
            found[symbol].end = line.end;
        }
        open = open.filter(|&around| !ends(found[around].kind));
    }
    found
}

/// The kind and name of a routine that a line of a package begins.
fn routine(text: &str) -> Option<(SymbolKind, String)> {
    let (word, rest) = text.split_once(char::is_whitespace)?;
    let is_routine = word.eq_ignore_ascii_case("procedure") || word.eq_ignore_ascii_case("function");
    let name = rest.split(|c: char| c.is_whitespace() || "(;".contains(c)).next()?.replace('"', "");
    (is_routine && name.starts_with(char::is_alphabetic)).then_some((SymbolKind::Function, name))
}

/// The kind and name of what a statement creates.
/// `next` is the line below: the kind or the name may stand there.
fn created(text: &str, next: &str) -> Option<(SymbolKind, String)> {
    let mut words = text.split_whitespace().chain(next.split_whitespace());
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
