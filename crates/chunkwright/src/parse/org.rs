//! Org mode: headlines, blocks, drawers, tables, lists.
//!
//! One pass over the lines. A headline is a star in the first column wherever it stands, even in a block,
//! as in Org itself.

use super::Parser;
use super::lines::{Columns, Lines};
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;

/// Org mode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Org;

impl Parser for Org {
    fn name(&self) -> &'static str {
        "org"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["org"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        let mut reader = Reader { lines, out, todo: Vec::new(), lead: None, at_top: true, open_until: 0 };
        let mut at = 0;
        while at < reader.lines.len() {
            at = if reader.lines.is_blank(at) { at + 1 } else { reader.block(at) };
        }
        reader.flush(at);
    }
}

/// Words before a title that give the state of its task, in addition to those that the document declares.
const TODO: &[&str] = &[
    "TODO",
    "DONE",
    "NEXT",
    "WAITING",
    "WAIT",
    "HOLD",
    "STARTED",
    "INPROGRESS",
    "SOMEDAY",
    "CANCELLED",
    "CANCELED",
];

struct Reader<'a, 'o> {
    lines: Lines<'a>,
    out: &'o mut DocumentBuilder,
    /// Task words that the document declares.
    todo: Vec<&'a str>,
    /// The first of the keywords right above a block, which say something about it.
    lead: Option<usize>,
    at_top: bool,
    /// Up to this line nothing closes a drawer.
    open_until: usize,
}

impl<'a> Reader<'a, '_> {
    /// Reads the block that begins at line `at`; gives the line after it.
    fn block(&mut self, at: usize) -> usize {
        let lines = &self.lines;
        let (text, bare) = (lines.text(at), lines.trimmed(at));
        if let Some((level, title)) = headline(text) {
            self.flush(at);
            self.at_top = false;
            // Its planning line and its properties belong to it.
            let mut end = at + 1;
            let plans = ["SCHEDULED:", "DEADLINE:", "CLOSED:"];
            if plans.iter().any(|plan| self.lines.trimmed(end).starts_with(plan)) {
                end += 1;
            }
            if self.lines.trimmed(end).eq_ignore_ascii_case(":PROPERTIES:") {
                end = self.drawer(end).unwrap_or(end);
            }
            let title = self.title(title).to_owned();
            self.lines.heading(self.out, level, &title, at, end);
            return end;
        }
        if let Some((key, value)) = keyword(bare) {
            return self.keyword(at, key, value);
        }
        let from = self.lead.take().unwrap_or(at);
        let (kind, end) = if let Some(name) = block_name(bare) {
            self.delimited(from, at, name)
        } else if let Some(end) = is_drawer(bare).then(|| self.drawer(at)).flatten() {
            (BlockKind::Definition, end)
        } else if bare.starts_with('|') {
            (BlockKind::Table, self.table(from, at))
        } else if is_item(text) {
            (BlockKind::List, self.list(at))
        } else if bare == ":" || bare.starts_with(": ") {
            (BlockKind::Code, self.run(at, |text| text == ":" || text.starts_with(": ")))
        } else if bare == "#" || bare.starts_with("# ") {
            (BlockKind::Definition, self.run(at, |text| text == "#" || text.starts_with("# ")))
        } else if text.starts_with("[fn:") {
            (BlockKind::Definition, self.paragraph(at))
        } else {
            (BlockKind::Paragraph, self.paragraph(at))
        };
        self.at_top = false;
        self.lines.block(self.out, kind, from, end);
        end
    }

    /// A line `#+KEY: value`.
    fn keyword(&mut self, at: usize, key: &str, value: &'a str) -> usize {
        if matches!(key.to_ascii_uppercase().as_str(), "TODO" | "SEQ_TODO" | "TYP_TODO") {
            let words = value.split_whitespace().map(|word| word.split('(').next().unwrap_or(word));
            self.todo.extend(words.filter(|word| *word != "|"));
        }
        let key = key.to_ascii_uppercase();
        if matches!(key.as_str(), "NAME" | "CAPTION" | "HEADER" | "HEADERS" | "PLOT" | "RESULTS")
            || key.starts_with("ATTR_")
        {
            self.lead.get_or_insert(at);
            return at + 1;
        }
        self.flush(at);
        let is_other =
            |text: &str| keyword(text).is_some_and(|(key, _)| !key.eq_ignore_ascii_case("CAPTION"));
        let end = self.run(at, is_other);
        let kind = if self.at_top { BlockKind::FrontMatter } else { BlockKind::Definition };
        self.lines.block(self.out, kind, at, end);
        end
    }

    /// Keywords that stood above something that is not theirs.
    fn flush(&mut self, at: usize) {
        if let Some(from) = self.lead.take() {
            self.lines.block(self.out, BlockKind::Definition, from, self.lines.trim_end(from, at));
        }
    }

    /// A headline's title without its task, priority and tags.
    fn title(&self, title: &'a str) -> &'a str {
        let mut title = title.trim();
        let (first, rest) = title.split_once(' ').unwrap_or((title, ""));
        if TODO.contains(&first) || self.todo.contains(&first) {
            title = rest.trim_start();
        }
        if title.starts_with("[#")
            && let Some((priority, rest)) = title.split_once(']')
            && priority.len() <= 4
        {
            title = rest.trim_start();
        }
        let tags = title.rfind(' ').map_or(0, |at| at + 1);
        let last = &title[tags..];
        let is_tags = last.len() > 2
            && last.starts_with(':')
            && last.ends_with(':')
            && last.chars().all(|c| c.is_alphanumeric() || "_@#%:".contains(c));
        if is_tags { title[..tags].trim_end() } else { title }
    }

    /// The line after the drawer at line `at`, if something closes it before the next headline.
    fn drawer(&mut self, at: usize) -> Option<usize> {
        let lines = &self.lines;
        for line in at.max(self.open_until) + 1..lines.len() {
            if headline(lines.text(line)).is_some() {
                self.open_until = line;
                return None;
            }
            if at >= self.open_until && lines.trimmed(line).eq_ignore_ascii_case(":END:") {
                return Some(line + 1);
            }
        }
        self.open_until = lines.len();
        None
    }

    /// The block `#+BEGIN_NAME` at line `at`: its kind and the line after it.
    fn delimited(&mut self, from: usize, at: usize, name: &str) -> (BlockKind, usize) {
        let lines = &self.lines;
        let closes = |line: usize| {
            let text = lines.trimmed(line);
            let rest = text.get(.."#+END_".len()).filter(|mark| mark.eq_ignore_ascii_case("#+END_"));
            rest.is_some_and(|mark| text[mark.len()..].eq_ignore_ascii_case(name))
        };
        let stop = (at + 1..lines.len()).find(|&line| closes(line) || headline(lines.text(line)).is_some());
        let last = stop.filter(|&line| closes(line));
        let end = last.map_or_else(|| lines.trim_end(at, stop.unwrap_or(lines.len())), |line| line + 1);
        let is_code =
            ["src", "example", "export", "comment"].iter().any(|code| name.eq_ignore_ascii_case(code));
        let begin = &lines.trimmed(at)[.."#+BEGIN_".len()];
        let close = match last {
            Some(line) => lines.text(line).to_owned(),
            None => format!("{}{name}", if begin.starts_with("#+b") { "#+end_" } else { "#+END_" }),
        };
        let open = Span::new(lines.start(from), lines.end(at));
        let mut span = Span::new(lines.start(from), lines.end(end - 1));
        // An unclosed block extends past its last line.
        span.end += u32::from(last.is_none());
        let kind = if is_code { EnclosureKind::Fence } else { EnclosureKind::Quote };
        self.out.enclosure(Enclosure { kind, span, open, close: close.into() });
        if !is_code {
            self.inside(at + 1, end);
        }
        (if is_code { BlockKind::Code } else { BlockKind::Quote }, end)
    }

    /// The line after the table at line `at`.
    fn table(&mut self, from: usize, at: usize) -> usize {
        let is_row = |text: &str| text.starts_with('|');
        let rows = self.run(at, is_row);
        let end =
            self.run(rows, |text| text.get(..8).is_some_and(|key| key.eq_ignore_ascii_case("#+TBLFM:")));
        let is_rule = |line: &usize| self.lines.trimmed(*line).starts_with("|-");
        // A rule at the top does not mark a header; the one under the first rows does.
        let header = (at + 1..rows).find(is_rule).filter(|&rule| rule + 1 < rows);
        if let Some(rule) = header {
            let open = Span::new(self.lines.start(from), self.lines.end(rule));
            let span = Span::new(self.lines.start(from), self.lines.end(end - 1));
            self.out.enclosure(Enclosure { kind: EnclosureKind::Table, span, open, close: "".into() });
        }
        // The first row stays with the header.
        for line in header.map_or(at, |rule| rule + 1) + 1..rows {
            self.out.seam(self.lines.start(line), 0);
        }
        end
    }

    /// Reports the items of the list at line `at`; returns the line after it.
    fn list(&mut self, at: usize) -> usize {
        let base = self.lines.indent(at);
        let mut end = at + 1;
        let mut blanks = 0;
        while end < self.lines.len() {
            let text = self.lines.text(end);
            if text.is_empty() {
                blanks += 1;
            } else {
                let indent = self.lines.indent(end);
                // Two blank lines end a list, and so does a line that is no deeper than its items.
                if blanks > 1
                    || headline(text).is_some()
                    || indent <= base && !(is_item(text) && indent == base)
                {
                    break;
                }
                blanks = 0;
            }
            end += 1;
        }
        let end = self.lines.trim_end(at, end);
        self.inside(at, end);
        end
    }

    /// Reports where items and paragraphs inside the lines `from..to` begin, and blocks of code.
    fn inside(&mut self, from: usize, to: usize) {
        let mut depths = Columns::default();
        let mut after_blank = true;
        // Until there is an unclosed block: everything after it is text.
        let mut closes = true;
        let mut at = from;
        while at < to {
            let text = self.lines.text(at);
            if text.is_empty() {
                after_blank = true;
                at += 1;
                continue;
            }
            let indent = self.lines.indent(at);
            let name = block_name(self.lines.trimmed(at));
            let depth = if is_item(text) {
                Some(depths.item(indent))
            } else {
                (after_blank || name.is_some()).then(|| depths.inner(indent))
            };
            if let Some(depth) = depth.filter(|_| at > from) {
                self.out.seam(self.lines.start(at), depth);
            }
            after_blank = false;
            let end = name.filter(|_| closes).map(|name| self.delimited_inside(at, to, name));
            closes &= end != Some(None);
            at = end.flatten().unwrap_or(at + 1);
        }
    }

    /// The line after the block at line `at`, if it is closed before line `to`.
    fn delimited_inside(&mut self, at: usize, to: usize, name: &str) -> Option<usize> {
        let end = format!("#+END_{name}");
        let stop = (at + 1..to).find(|&line| self.lines.trimmed(line).eq_ignore_ascii_case(&end))?;
        let open = Span::new(self.lines.start(at), self.lines.end(at));
        let span = Span::new(self.lines.start(at), self.lines.end(stop));
        let close = self.lines.text(stop).into();
        self.out.enclosure(Enclosure { kind: EnclosureKind::Fence, span, open, close });
        Some(stop + 1)
    }

    /// The line after the lines from `at` on for which `goes_on` holds.
    fn run(&self, at: usize, goes_on: impl Fn(&str) -> bool) -> usize {
        at + (at..self.lines.len()).take_while(|&line| goes_on(self.lines.trimmed(line))).count()
    }

    /// The line after the paragraph at line `at`.
    fn paragraph(&self, at: usize) -> usize {
        let ends = |line: &usize| {
            let (text, bare) = (self.lines.text(*line), self.lines.trimmed(*line));
            text.is_empty()
                || headline(text).is_some()
                || bare.starts_with('|')
                || bare.starts_with("#+")
                || is_item(text)
                || text.starts_with("[fn:")
        };
        (at + 1..self.lines.len()).find(ends).unwrap_or(self.lines.len())
    }
}

/// Stars and title of a headline.
fn headline(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('*');
    let level = text.len() - rest.len();
    (level > 0 && rest.starts_with(' ')).then_some((level, rest))
}

/// Key and value of `#+KEY: value`, blocks left out.
fn keyword(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.strip_prefix("#+")?.split_once(':')?;
    let key = key.split('[').next().unwrap_or(key);
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    (is_key && block_name(text).is_none()).then_some((key, value.trim()))
}

/// The name of the block that `#+BEGIN_NAME` begins.
fn block_name(text: &str) -> Option<&str> {
    let mark = text.get(.."#+BEGIN_".len())?;
    let name = text[mark.len()..].split([' ', '\t']).next()?;
    (mark.eq_ignore_ascii_case("#+BEGIN_") && !name.is_empty()).then_some(name)
}

fn is_drawer(text: &str) -> bool {
    let name = text.strip_prefix(':').and_then(|rest| rest.strip_suffix(':'));
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    })
}

/// Whether a line begins an item: `- a`, `+ a`, `1. a`, `1) a`, or an indented `* a`.
fn is_item(text: &str) -> bool {
    let bare = text.trim_start();
    let (mark, _) = bare.split_once(' ').unwrap_or((bare, ""));
    let number = mark.strip_suffix(['.', ')']).is_some_and(|number| {
        number.len() <= 9 && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    mark == "-" || mark == "+" || number || mark == "*" && bare.len() < text.len()
}
