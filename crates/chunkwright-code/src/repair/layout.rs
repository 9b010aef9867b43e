//! Finds where brackets and indentation disagree, and the changes that make them agree.

use crate::language::Language;
use crate::lexer::{Lexer, Line, Token};

/// Bytes written into the copy, all for one disagreement.
pub(super) type Repair = Vec<(usize, u8)>;

/// A bracket, or a word that `end` closes, that is not closed yet.
struct Open {
    bracket: u8,
    at: usize,
    /// Indentation of the line on which its statement begins.
    indent: usize,
    /// End of its line.
    line_end: usize,
}

/// Brackets that may stand inside the one that a line closes.
const MOST_OPEN: usize = 64;

/// Represents a word closed by `end` among brackets.
const WORD: u8 = b'e';

/// The token that closes `bracket`.
fn closing(bracket: u8) -> &'static str {
    match bracket {
        b'{' => "}",
        b'(' => ")",
        b'[' => "]",
        _ => " end",
    }
}

/// The bracket that `closer` closes.
fn opening(closer: u8) -> u8 {
    match closer {
        b'}' => b'{',
        b')' => b'(',
        b']' => b'[',
        _ => WORD,
    }
}

/// Repairs that make brackets and indentation of `source` agree, and of marks that open a text or comment which nothing
/// closes: those next to byte `at` first. Linear in the length of `source`.
pub(super) fn repairs(source: &str, language: &Language, at: usize) -> Vec<Repair> {
    let mut layout =
        Layout { source, language, open: Vec::new(), heads: Vec::new(), last: None, repairs: Vec::new() };
    let mut lexer = Lexer::new(source, language);
    while let Some(line) = lexer.next_line() {
        layout.line(line);
    }
    layout.close_from(0, source.len());
    let mut repairs = layout.repairs;
    repairs.extend(lexer.stray_marks().into_iter().map(|mark| mark.map(|at| (at, b' ')).collect()));
    repairs.sort_by_key(|repair: &Repair| repair.first().map_or(0, |&(start, _)| start.abs_diff(at)));
    repairs
}

/// Repairs that leave out the line of byte `at` of `source`, and the line before, unless they open something.
pub(super) fn lines_of_error(source: &str, at: usize, language: &Language) -> Vec<Repair> {
    let mut end = source.floor_char_boundary(at);
    end += source[end..].find('\n').unwrap_or(source.len() - end);
    let mut repairs = Vec::new();
    for _ in 0..2 {
        let start = source[..end].rfind('\n').map_or(0, |at| at + 1);
        let line = &source[start..end];
        let visible = end - line.trim_start().len();
        let word = language.lines.indentation.map_or("", |words| words.nothing);
        let opens = line.trim_end().ends_with(['{', '(', '[', ':']);
        if line.trim().len() > word.len() && !opens {
            repairs.push((visible..end).zip(word.bytes().chain(std::iter::repeat(b' '))).collect());
        }
        end = start.saturating_sub(1);
    }
    repairs
}

/// `source` with `repair` made.
pub(super) fn made(source: &str, repair: &Repair) -> String {
    let mut bytes = source.as_bytes().to_owned();
    for &(at, byte) in repair {
        bytes[at] = byte;
    }
    // Blanking a character blanks all of its bytes.
    String::from_utf8(bytes).unwrap_or_else(|_| source.to_owned())
}

struct Layout<'a> {
    source: &'a str,
    language: &'a Language,
    open: Vec<Open>,
    /// Indentation and end of the code of the lines around the next one, outermost first.
    heads: Vec<(usize, usize)>,
    last: Option<Line>,
    repairs: Vec<Repair>,
}

impl Layout<'_> {
    fn line(&mut self, line: Line) {
        let mut indent = line.indent;
        if !line.continues && !line.is_label && !line.tokens.first().is_some_and(Token::leads) {
            let around = self.open.iter().rposition(|open| open.indent < indent);
            self.close_from(around.map_or(0, |index| index + 1), line.start);
        }
        if self.language.lines.indentation.is_some() && self.open.is_empty() && !line.continues {
            self.indentation(&line);
        }
        for token in &line.tokens {
            if token.opens {
                self.open.push(Open { bracket: token.bracket, at: token.at, indent, line_end: line.end });
            } else if token.leads {
                self.close_leading(&line, token);
            } else if self.open.last().is_some_and(|open| open.bracket == opening(token.bracket)) {
                // Text after the end of a statement that began further up belongs to that statement.
                if let Some(open) = self.open.pop().filter(|open| open.line_end != line.end) {
                    indent = open.indent;
                }
            } else if token.is_certain {
                self.repairs.push(vec![(token.at, b' ')]);
            }
        }
        if !line.continues {
            while self.heads.pop_if(|(head, _)| *head >= line.indent).is_some() {}
            self.heads.push((line.indent, line.code_end));
            self.last = Some(line);
        }
    }

    /// Moves the first word of a line that stands too deep: of `next`, if nothing above opens a block, or of the line
    /// before, if that opens one and `next` does not stand deeper.
    fn indentation(&mut self, next: &Line) {
        let Some(last) = &self.last else { return };
        let opens = |line: &Line| self.source[..line.code_end].ends_with(':');
        let repair = if opens(last) && next.indent <= last.indent {
            let around = self.heads.iter().rev().find(|(indent, _)| *indent < next.indent);
            around.and_then(|&(indent, _)| self.moved(last, indent))
        } else if !opens(last) && next.indent > last.indent && !last.continues {
            self.moved(next, last.indent)
        } else {
            None
        };
        self.repairs.extend(repair);
    }

    /// The first word of `line` at column `indent`, further left; what follows it stays where it is.
    fn moved(&self, line: &Line, indent: usize) -> Option<Repair> {
        let text = &self.source[line.visible_start..line.code_end];
        let word = &text[..text.find([' ', '(', '[', ':', '=']).unwrap_or(text.len())];
        let is_simple = self.source[line.start..line.visible_start].bytes().all(|blank| blank == b' ');
        if word.is_empty() || word.contains(['"', '\'']) || !is_simple || indent >= line.indent {
            return None;
        }
        let from = line.start + indent;
        Some(
            (from..line.visible_start + word.len())
                .zip(word.bytes().chain(std::iter::repeat(b' ')))
                .collect(),
        )
    }

    /// Closes the bracket that `token` closes at the start of `line`, and the brackets open inside it.
    fn close_leading(&mut self, line: &Line, token: &Token) {
        let bracket = opening(token.bracket);
        let is_it = |open: &Open| open.indent == line.indent && open.bracket == bracket;
        if let Some(inner) = self.open.iter().rev().take(MOST_OPEN).position(is_it) {
            self.close_from(self.open.len() - inner, line.start);
            self.open.pop();
            return;
        }
        match self.open.last() {
            // It stands further out than what it closes: a matter of style.
            Some(open) if open.bracket == bracket && open.indent > line.indent => {
                self.open.pop();
            }
            _ => self.stray(line, token),
        }
    }

    /// Handles a `token` at the start of `line` that closes no open bracket: either its line, which is above deeper
    /// ones, has lost its bracket, or the token is one too many.
    fn stray(&mut self, line: &Line, token: &Token) {
        let is_below = self.last.as_ref().is_some_and(|last| last.indent > line.indent);
        let head = self.heads.iter().rev().find(|(indent, _)| *indent <= line.indent);
        let head = head.filter(|(indent, _)| is_below && *indent == line.indent).map(|&(_, end)| end);
        let may_open = |end: usize| {
            let (text, after) = self.source.split_at(end);
            token.bracket != WORD
                && after.starts_with(char::is_whitespace)
                && !text.ends_with([';', '}', ',', '{', '(', '['])
        };
        let repair = match head.filter(|&end| may_open(end)) {
            Some(end) => vec![(end, opening(token.bracket))],
            None => (token.at..token.end).map(|at| (at, b' ')).collect(),
        };
        self.repairs.push(repair);
    }

    /// Closes the open brackets from index `from` on, before the line that starts at `next`.
    fn close_from(&mut self, from: usize, next: usize) {
        if from >= self.open.len() {
            return;
        }
        let unclosed: Vec<Open> = self.open.drain(from..).collect();
        let Some(last) = &self.last else { return };
        let mut repair = Repair::new();
        let mut closers = String::new();
        for open in unclosed.iter().rev() {
            let has_lines = last.end > open.line_end;
            if !has_lines && open.bracket == WORD {
                continue;
            }
            if !has_lines && open.at + 1 == last.code_end {
                repair.push((open.at, b' '));
            } else {
                closers.push_str(closing(open.bracket));
            }
        }
        if !closers.is_empty() {
            repair.extend(self.written(last, next, &closers));
        }
        if !repair.is_empty() {
            self.repairs.push(repair);
        }
    }

    /// Writes `closers` after the code of the line `last`; the line after it starts at `next`. They replace blanks if
    /// there are enough, so that a line break is left.
    fn written(&self, last: &Line, next: usize, closers: &str) -> Repair {
        let bytes = self.source.as_bytes();
        let count = closers.len();
        let write = |at: usize| (at..).zip(closers.bytes());
        let blank = |from: usize, to: usize| (from..to).map(|at| (at, b' '));
        let line = &self.source[last.visible_start..last.code_end];
        // `f(a, b;`: before what ends the line.
        if closers.bytes().all(|closer| matches!(closer, b')' | b']'))
            && line.ends_with([';', '{', ':', ','])
            && line.len() > count + 1
        {
            let end = last.code_end - 1;
            let may_go = |byte: &u8| byte.is_ascii() && !b"()[]{}\"'`".contains(byte);
            if bytes[end - count..end].iter().all(may_go) {
                return write(end - count).collect();
            }
        }
        // In place of a comment.
        if last.end - last.code_end > count {
            return blank(last.code_end, last.end - count).chain(write(last.end - count)).collect();
        }
        if last.end > last.code_end {
            return Repair::new();
        }
        let gap = &self.source[last.end..next.max(last.end)];
        let gap = &gap[..gap.len() - gap.trim_start().len()];
        // To a shell a brace right behind a word is part of it.
        let is_shell = self.language.lines.is_shell;
        if !is_shell && gap.rfind('\n').is_some_and(|room| room >= count) {
            return write(last.end).collect();
        }
        let is_closing = !last.tokens.is_empty() && last.tokens.iter().all(Token::leads);
        if is_closing && last.visible_start - last.start >= count {
            let moved = (last.visible_start - count..).zip(line.bytes());
            return moved.chain(write(last.end - count)).collect();
        }
        if last.is_balanced() && line.len() > count {
            return blank(last.visible_start, last.end - count).chain(write(last.end - count)).collect();
        }
        if !is_shell && gap.len() >= count { write(last.end).collect() } else { Repair::new() }
    }
}
