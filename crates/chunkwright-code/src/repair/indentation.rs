//! Blocks by indentation: lines that cannot stand where they do.
//!
//! A line that lost its indentation ends every block around it, and what follows is no longer part of its class. The
//! grammar takes that for another program; people see one wrong line. No line of a correct file is changed.

use super::layout::Repair;
use crate::language::{Indentation, Language};
use crate::lexer::{Lexer, Line};

/// A block that is not ended yet.
struct Level {
    indent: usize,
    /// Its first line.
    first: Line,
    /// The first line of its last statement.
    line: Line,
    /// Whether that statement is no longer than the line.
    is_whole: bool,
    /// Whether that statement opens a block.
    opens: bool,
    /// Indentation of the blocks that the line ended, outermost first.
    ended: Vec<usize>,
}

/// The changes that indent wrong lines of `source` as the lines around them require, all together; empty if none is
/// wrong.
pub(super) fn repair(source: &str, language: &Language) -> Repair {
    let mut repair = Repair::new();
    let Some(words) = language.lines.indentation else { return repair };
    // The width of a tab among blanks is unknown.
    if source.contains("\n\t") {
        return repair;
    }
    let mut lexer = Lexer::new(source, language);
    let mut levels: Vec<Level> = Vec::new();
    let (mut open, mut goes_on) = (0_usize, false);
    while let Some(line) = lexer.next_line() {
        let is_first = open == 0 && !goes_on && !line.continues;
        for token in &line.tokens {
            open = if token.opens { open + 1 } else { open.saturating_sub(1) };
        }
        let code = &source[..line.code_end];
        goes_on = code.ends_with('\\');
        if is_first {
            enter(&mut levels, line, words, &mut repair);
        }
        if let Some(level) = levels.last_mut() {
            level.opens = open == 0 && code.ends_with(':');
            level.is_whole = is_first && open == 0 && !goes_on && !lexer.is_inside();
        }
    }
    repair
}

/// Enters the block that the statement stands in which `line` begins.
fn enter(levels: &mut Vec<Level>, line: Line, words: Indentation, repair: &mut Repair) {
    let indent = line.indent;
    if let Some(last) = levels.last().filter(|last| last.opens && last.is_whole && indent <= last.indent) {
        repair.extend(without_body(&last.line, words));
    }
    let kept = levels.partition_point(|level| level.indent <= indent);
    let body = levels.get(kept).map(|level| level.first.clone());
    let ended: Vec<usize> = levels.drain(kept..).map(|level| level.indent).collect();
    let level = |indent, line: Line, ended| Level {
        indent,
        first: line.clone(),
        line,
        is_whole: false,
        opens: false,
        ended,
    };
    match levels.last_mut() {
        Some(same) if same.indent == indent => {
            *same = Level { first: same.first.clone(), ..level(indent, line, ended) };
        }
        // The line above that ended this block stands too far out: it opened none, or one that stands deeper.
        Some(outer) if outer.is_whole && outer.ended.contains(&indent) && outer.opens != ended.is_empty() => {
            let body = ended.first();
            let stood = outer.ended.iter().rev().find(|&indent| body.is_none_or(|body| indent < body));
            repair.extend(outdented(&outer.line, body.and(stood).copied(), words));
            let around: Vec<usize> = outer.ended.iter().copied().filter(|&around| around < indent).collect();
            levels.extend(around.into_iter().map(|around| level(around, line.clone(), Vec::new())));
            levels.push(level(indent, line, Vec::new()));
        }
        // The block that the line above opened began too deep.
        Some(outer) if outer.opens && body.as_ref().is_some_and(Line::is_balanced) => {
            let body = body.unwrap_or_else(|| line.clone());
            repair.extend(written(body.start, body.code_end, Some((body.start + indent, words.nothing))));
            levels.push(level(indent, line, ended));
        }
        _ => levels.push(level(indent, line, ended)),
    }
}

/// In place of a line that stands too far out: nothing, or what opens a block at `indent` if it opened one.
fn outdented(line: &Line, indent: Option<usize>, words: Indentation) -> Repair {
    written(line.start, line.code_end, indent.map(|indent| (line.start + indent, words.opening)))
}

/// Replaces a line that opens a block without a line in it by one with an empty block, if there is room for that.
fn without_body(line: &Line, words: Indentation) -> Repair {
    written(line.visible_start, line.code_end, Some((line.visible_start, words.empty)))
}

/// Blanks from `start` to `end`, and a word among them if it fits.
fn written(start: usize, end: usize, word: Option<(usize, &str)>) -> Repair {
    let mut repair: Repair = (start..end).map(|at| (at, b' ')).collect();
    if let Some((at, word)) = word.filter(|(at, word)| at + word.len() <= end) {
        repair.extend((at..).zip(word.bytes()));
    }
    repair
}
