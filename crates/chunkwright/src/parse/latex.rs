//! LaTeX: sections, environments and paragraphs.
//!
//! Nothing is expanded. A sectioning command is one where it begins a line, and an environment is a block with all that
//! it holds; one that holds sections, such as `appendices`, only stands around them. The level of a section is its
//! distance from the highest command of the file, so that those of an article begin where those of a book do; the title
//! of the document is above them.

mod markup;

use std::collections::HashMap;

use super::Parser;
use super::lines::Lines;
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;
use markup::{begin, command, end, group, plain, rank, uncommented};

/// LaTeX.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latex;

impl Parser for Latex {
    fn name(&self) -> &'static str {
        "latex"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["tex", "ltx", "latex", "sty"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        let shape = Shape::of(&lines);
        let mut reader = Reader { source: &source, lines, shape, out };
        let mut at = 0;
        while at < reader.lines.len() {
            at = if reader.lines.is_blank(at) { at + 1 } else { reader.block(at) };
        }
    }
}

/// Most environments open at a line: what is nested deeper is not matched.
const MAX_NESTING: usize = 64;

/// The rank of slides, and most lines of one above its title.
const SLIDE: usize = 4;
const MAX_SLIDE_HEAD: usize = 4;

/// What one pass over the lines finds.
#[derive(Default)]
struct Shape {
    /// The last line of each environment, by its first.
    ends: HashMap<usize, usize>,
    /// Number of sectioning commands before each line.
    sections: Vec<usize>,
    /// The highest rank of one.
    top: usize,
    /// Whether the document has a title.
    titled: bool,
    /// The line of `\begin{document}`.
    body: Option<usize>,
}

impl Shape {
    fn of(lines: &Lines<'_>) -> Self {
        let mut shape = Self { top: usize::MAX, ..Self::default() };
        let mut open: Vec<(&str, usize)> = Vec::new();
        let mut count = 0;
        for line in 0..lines.len() {
            shape.sections.push(count);
            // What is verbatim ends with its own line and nothing else.
            if let Some(&(name, first)) = open.last().filter(|(name, _)| is_verbatim(name)) {
                if end(lines.text(line)).is_some_and(|ended| ended == name) {
                    open.pop();
                    shape.ends.insert(first, line);
                }
                continue;
            }
            let text = uncommented(lines.trimmed(line));
            if let Some(rank) = rank(text) {
                count += 1;
                shape.top = shape.top.min(rank);
            }
            shape.titled |= command(text, "title").is_some();
            for (at, _) in text.match_indices('\\') {
                let rest = &text[at..];
                if let Some(name) = begin(rest) {
                    if name == "document" {
                        shape.body.get_or_insert(line);
                    } else if open.len() < MAX_NESTING {
                        open.push((name, line));
                    }
                } else if let Some(name) = end(rest)
                    && let Some(at) = open.iter().rposition(|(open, _)| *open == name)
                {
                    shape.ends.entry(open[at].1).and_modify(|last| *last = line.max(*last)).or_insert(line);
                    open.truncate(at);
                }
                if let Some((name, _)) = open.last().filter(|(name, _)| is_verbatim(name)) {
                    if rest.contains(&format!("\\end{{{name}}}")) {
                        open.pop();
                        shape.ends.insert(line, line);
                    }
                    break;
                }
            }
        }
        shape.sections.push(count);
        shape
    }
}

fn is_verbatim(name: &str) -> bool {
    matches!(
        name.trim_end_matches('*'),
        "verbatim"
            | "Verbatim"
            | "BVerbatim"
            | "lstlisting"
            | "minted"
            | "alltt"
            | "comment"
            | "filecontents"
            | "tikzpicture"
    )
}

/// The kind of block that an environment is.
fn kind(name: &str) -> BlockKind {
    match name.trim_end_matches('*') {
        "comment" => BlockKind::Definition,
        "table" | "tabular" | "tabularx" | "longtable" | "tabu" | "longtabu" | "supertabular" | "tblr"
        | "sidewaystable" => BlockKind::Table,
        "itemize" | "enumerate" | "description" | "list" | "compactitem" | "compactenum"
        | "thebibliography" => BlockKind::List,
        "equation" | "align" | "alignat" | "gather" | "multline" | "eqnarray" | "displaymath" | "math"
        | "flalign" | "algorithm" | "algorithmic" | "split" | "subequations" | "dmath" => BlockKind::Code,
        name if is_verbatim(name) => BlockKind::Code,
        _ => BlockKind::Quote,
    }
}

struct Reader<'a, 'o> {
    source: &'a str,
    lines: Lines<'a>,
    shape: Shape,
    out: &'o mut DocumentBuilder,
}

impl Reader<'_, '_> {
    /// Reads the block that begins at line `at`; gives the line after it.
    fn block(&mut self, at: usize) -> usize {
        let text = self.lines.trimmed(at);
        if text.starts_with('%') {
            let goes_on = |line: &usize| self.lines.trimmed(*line).starts_with('%');
            let end = at + (at..self.lines.len()).take_while(goes_on).count();
            self.lines.block(self.out, BlockKind::Definition, at, end);
            return end;
        }
        let rank = rank(text);
        if rank.is_some() || command(text, "title").is_some() {
            return self.heading(at, rank);
        }
        if begin(text) == Some("document") {
            self.lines.block(self.out, BlockKind::FrontMatter, at, at + 1);
            return at + 1;
        }
        if let Some(end) = self.slide(at).or_else(|| self.environment(at)) {
            return end;
        }
        self.paragraph(at, self.lines.start(at), at + 1)
    }

    /// Reads the section or title whose command begins line `at`.
    fn heading(&mut self, at: usize, rank: Option<usize>) -> usize {
        let start = self.lines.start(at);
        let Some((title, end)) = group(self.source, start) else {
            return self.paragraph(at, start, at + 1);
        };
        let level = match rank {
            Some(rank) => 1 + rank.saturating_sub(self.shape.top) + usize::from(self.shape.titled),
            None => 1,
        };
        // A label on the same line is part of the heading.
        let mut end = end;
        let rest = |end: usize| self.source[end..].split('\n').next().unwrap_or_default();
        while rest(end).trim_start().starts_with("\\label{")
            && let Some((_, after)) = group(self.source, end)
        {
            end = after;
        }
        let is_whole = uncommented(rest(end)).trim().is_empty();
        end += if is_whole { rest(end).len() } else { 0 };
        let title = plain(title);
        let last = self.out.lines().line(end as u32);
        if title.trim().is_empty() {
            self.out.block(BlockKind::Paragraph, start, end);
        } else {
            Lines::heading_at(self.out, level, &title, start, end);
        }
        if is_whole { last } else { self.paragraph(last - 1, end, last) }
    }

    /// Reads the environment that begins at line `at`, if one does that is a block; gives the line after it.
    fn environment(&mut self, at: usize) -> Option<usize> {
        let name = begin(self.lines.trimmed(at))?;
        let last = *self.shape.ends.get(&at)?;
        let next = last + 1;
        let has_sections = self.shape.sections[next] > self.shape.sections[at];
        if has_sections {
            return None;
        }
        let kind = kind(name);
        self.lines.block(self.out, kind, at, next);
        if is_verbatim(name) {
            let span = Span::new(self.lines.start(at), self.lines.end(last));
            let open = Span::new(self.lines.start(at), self.lines.end(at));
            let close = format!("\\end{{{name}}}").into();
            self.out.enclosure(Enclosure { kind: EnclosureKind::Fence, span, open, close });
            return Some(next);
        }
        self.seams(kind, at, last);
        Some(next)
    }

    /// Reads the slide of a presentation that begins at line `at`, if it has a title: it is a section.
    fn slide(&mut self, at: usize) -> Option<usize> {
        let last = *self.shape.ends.get(&at).filter(|_| begin(self.lines.trimmed(at)) == Some("frame"))?;
        let rest = self.lines.trimmed(at).strip_prefix("\\begin{frame}")?;
        let opening = self.lines.end(at) - rest.len();
        let is_titled = |line: &usize| self.lines.trimmed(*line).starts_with("\\frametitle");
        let (title, head) = match (at + 1..last).take(MAX_SLIDE_HEAD).find(is_titled) {
            Some(line) => (group(self.source, self.lines.start(line))?.0, line),
            None if rest.contains('{') => (group(self.source, opening)?.0, at),
            None => return None,
        };
        let title = Some(plain(title)).filter(|title| !title.is_empty())?;
        let level = 1 + SLIDE.saturating_sub(self.shape.top) + usize::from(self.shape.titled);
        self.lines.heading(self.out, level, &title, at, head + 1);
        self.lines.block(self.out, BlockKind::Quote, head + 1, last + 1);
        self.seams(BlockKind::Quote, head + 1, last);
        Some(last + 1)
    }

    /// Reports where the environment of the lines `at..=last` may be cut.
    fn seams(&mut self, kind: BlockKind, at: usize, last: usize) {
        let mut depth: usize = 0;
        for line in at + 1..last {
            let text = self.lines.trimmed(line);
            let is_row = kind == BlockKind::Table
                && uncommented(self.lines.trimmed(line - 1)).trim_end().ends_with("\\\\");
            let is_item = text.starts_with("\\item") || text.starts_with("\\bibitem");
            let begins = begin(text).is_some();
            if is_row || is_item || begins || self.lines.is_blank(line - 1) && !text.is_empty() {
                self.out.seam(self.lines.start(line), depth + usize::from(begins));
            }
            depth = match end(text) {
                _ if begins => depth + 1,
                Some(_) => depth.saturating_sub(1),
                None => depth,
            };
        }
    }

    /// Reads the paragraph that begins at byte `start` of line `at`, and whose next line is `next`.
    fn paragraph(&mut self, at: usize, start: usize, next: usize) -> usize {
        let ends = |line: &usize| {
            let text = self.lines.trimmed(*line);
            text.is_empty()
                || rank(text).is_some()
                || command(text, "title").is_some()
                || begin(text).is_some_and(|name| name == "document" || self.shape.ends.contains_key(line))
        };
        let end = (next..self.lines.len()).find(ends).unwrap_or(self.lines.len());
        let is_preamble = self.shape.body.is_some_and(|body| at <= body);
        let kind = if is_preamble { BlockKind::FrontMatter } else { BlockKind::Paragraph };
        self.out.block(kind, start, self.lines.end(end - 1).max(start));
        end
    }
}
