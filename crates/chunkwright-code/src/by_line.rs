//! Symbols that lines plainly begin, for source that its grammar does not take.
//!
//! One construct that a grammar does not know can cost the names of everything around it. Most lines that begin a symbol
//! say so by their first words (`class`, `fun`, `def`, `CREATE PROCEDURE`), and indentation says where it ends.

mod declaration;
mod routine;

pub(crate) use declaration::{defined_name, is_macro};

use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, SectionKind, SymbolKind};

use crate::language::Language;
use crate::lexer::{Lexer, Line};
use crate::lines;

/// A symbol by the lines that it takes.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) kind: SymbolKind,
    pub(crate) title: String,
    /// From the comments above it.
    pub(crate) start: usize,
    /// The line that announces it.
    head: Range<usize>,
    pub(crate) end: usize,
}

/// The symbols of `source` in order, one before those inside it. Linear in its length.
pub(crate) fn symbols(source: &str, language: &Language) -> Vec<Symbol> {
    let mut lexer = Lexer::new(source, language);
    let lines: Vec<Line> = std::iter::from_fn(|| lexer.next_line()).filter(|line| !line.continues).collect();
    if language.name == "sql" { routine::symbols(source, &lines) } else { nested(source, &lines, language) }
}

/// Words at the start of a line that go on with what begins at the same column.
const GOES_ON: &[&str] = &[
    "else", "elif", "elsif", "elseif", "except", "rescue", "ensure", "catch", "finally", "after", "where",
    "then",
];

fn nested(source: &str, lines: &[Line], language: &Language) -> Vec<Symbol> {
    let mut found: Vec<Symbol> = Vec::new();
    // Symbols that are open, by index, with their columns.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let text = &source[line.visible_start..line.code_end];
        while open.pop_if(|(_, indent)| *indent > line.indent).is_some() {}
        if let Some(&(symbol, _)) = open.last().filter(|(_, indent)| *indent == line.indent) {
            let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let goes_on = text.starts_with(['{', ')', ']', '}']) || word == "end" || GOES_ON.contains(&word);
            if goes_on {
                for &(around, _) in &open {
                    found[around].end = line.end;
                }
                let ends = word == "end" || text.starts_with('}') && !text.ends_with(['{', '(']);
                if ends || text.starts_with('{') && text.ends_with('}') && found[symbol].end > line.end {
                    open.pop();
                }
                continue;
            }
            open.pop();
        }
        let around = open.last().map(|&(symbol, _)| found[symbol].kind);
        let opens_below = || {
            let next = lines.get(index + 1).filter(|next| next.indent == line.indent);
            next.is_some_and(|next| source[next.visible_start..].starts_with('{'))
        };
        if let Some((kind, title)) = declaration::of(text, language.name, around, &opens_below) {
            open.push((found.len(), line.indent));
            let start = announced_from(source, lines, index);
            found.push(Symbol { kind, title, start, head: line.start..line.end, end: line.end });
        }
        for &(around, _) in &open {
            found[around].end = line.end;
        }
    }
    found
}

/// Lines of attributes above a symbol that are looked at.
const MOST_ATTRIBUTES: usize = 16;

/// Start of the comments and attributes directly above the line `index`.
fn announced_from(source: &str, lines: &[Line], mut index: usize) -> usize {
    let line = &lines[index];
    let last = index.saturating_sub(MOST_ATTRIBUTES);
    while let Some(above) = index.checked_sub(1).filter(|&above| above >= last).map(|above| &lines[above]) {
        let text = &source[above.visible_start..above.code_end];
        let is_attribute =
            text.starts_with('@') || text.starts_with("#[") || text.starts_with('[') && text.ends_with(']');
        if !is_attribute
            || above.indent != line.indent
            || lines::breaks(source, above.end, lines[index].start) > 1
        {
            break;
        }
        index -= 1;
    }
    let start = lines[index].start;
    let floor = index.checked_sub(1).map_or(0, |above| lines[above].end);
    // Between two lines of code are only comments, blank lines and directives.
    let between = &source[floor..start];
    let from = if index == 0 { 0 } else { between.find('\n').map_or(between.len(), |at| at + 1) };
    let comments = &between[from..];
    let blank = comments.rfind("\n\n").map_or(0, |at| at + 2);
    let lead = &comments
        [if comments.trim_end_matches([' ', '\t']).ends_with("\n\n") { comments.len() } else { blank }..];
    let directive =
        lead.rmatch_indices('\n').find(|(at, _)| lead[at + 1..].starts_with('#')).map_or(0, |(at, _)| at);
    start - lead[directive..].trim_start_matches(['\n', '\r']).len()
}

/// Reports `symbols` and the text between them to `out`.
pub(crate) fn report(symbols: &[Symbol], out: &mut DocumentBuilder) {
    let source = out.source();
    let mut open: Vec<(SymbolKind, usize)> = Vec::new();
    let mut at = 0;
    for symbol in symbols {
        let start = symbol.start.max(at.min(symbol.head.start));
        while let Some((_, end)) = open.pop_if(|(_, end)| *end <= start) {
            out.close_section(end);
        }
        if open.is_empty() {
            statements(&source, at, start, out);
            at = symbol.end;
        }
        let around = open.last().map(|&(kind, _)| kind);
        let in_type = around.is_some_and(SymbolKind::is_type);
        let is_function = matches!(symbol.kind, SymbolKind::Function | SymbolKind::Macro);
        let kind =
            if in_type && symbol.kind == SymbolKind::Function { SymbolKind::Method } else { symbol.kind };
        out.open_section(SectionKind::Symbol(kind), &symbol.title, start);
        out.set_signature(symbol.head.start, symbol.head.end);
        if start < symbol.head.start {
            out.set_documentation(start, symbol.head.start);
        }
        let is_inside = open
            .iter()
            .any(|(kind, _)| matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro));
        if !is_inside {
            let (kind, end) = if is_function {
                (BlockKind::Function, symbol.end)
            } else {
                (BlockKind::ClassBody, symbol.head.end)
            };
            out.block(kind, start, end);
        }
        open.push((kind, symbol.end));
    }
    while let Some((_, end)) = open.pop() {
        out.close_section(end);
    }
    statements(&source, at, source.len(), out);
}

/// Reports the paragraphs between two symbols.
fn statements(source: &str, start: usize, end: usize, out: &mut DocumentBuilder) {
    for paragraph in lines::paragraphs(source, start, end) {
        out.block(BlockKind::Statement, paragraph.start, paragraph.end);
    }
}
