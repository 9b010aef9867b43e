//! `chunkwright outline`

use std::fmt::Write as _;

use anyhow::Result;
use chunkwright::{Document, Section, SectionId, SectionKind, Span, TokenCounter};
use chunkwright_source::Unread;
use serde::Serialize;

use crate::app::{self, CutFlags, Global, Outcome};
use crate::input::{InputFlags, gather, read, report};
use crate::output::OutputFlags;
use crate::text::{bold, count, dim, plain, preview, terminal_width};

/// Show the sections of documents: headings, or the symbols of source code
///
/// Each with its lines and the number of its tokens, what is inside it included. Of source code also which
/// language it is taken for, and by what: its name, its extension, its content.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Outline {
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright outline src/main.rs
  chunkwright outline src --format jsonl";

/// A document or one of its sections.
#[derive(Serialize)]
struct Row<'a> {
    doc_id: &'a str,
    /// `document`, `heading`, `key`, or the kind of a symbol.
    kind: &'static str,
    title: &'a str,
    /// Titles from the outermost, its own included.
    section_path: Vec<&'a str>,
    start_line: usize,
    end_line: usize,
    tokens: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    signature: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'static str>,
    /// What the language was told by.
    #[serde(skip_serializing_if = "Option::is_none")]
    told_by: Option<String>,
}

impl Outline {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.cut])?;
        let chunker = app::chunker(&settings)?;
        let mut output = self.output.open()?;
        let mut inputs = gather(global, &self.input.paths, &self.input.stdin_filename)?;
        let items = std::mem::take(&mut inputs.items);
        for item in &items {
            let document = match read(item) {
                Ok(source) => source.parse(),
                Err(Unread::Skipped(skipped)) => {
                    inputs.skipped.push(skipped);
                    continue;
                }
                Err(Unread::Failed(sentence)) => {
                    inputs.errors.push(sentence);
                    continue;
                }
            };
            let rows = rows(&document, chunker.counter());
            if output.is_text() {
                output.text(&describe(&rows))?;
            } else {
                rows.iter().try_for_each(|row| output.object(row))?;
            }
        }
        output.end_list()?;
        output.finish()?;
        report(&inputs, global);
        Ok(match (inputs.errors.is_empty(), items.is_empty()) {
            (false, _) => Outcome::Failed,
            (true, true) => {
                global.say("no document was found at the paths given");
                Outcome::Nothing
            }
            (true, false) => Outcome::Success,
        })
    }
}

/// The document and its sections, in order.
fn rows<'a>(document: &'a Document, counter: &dyn TokenCounter) -> Vec<Row<'a>> {
    let told_by = document.language().and_then(|language| {
        let detected = chunkwright_code::detect(document.id(), document.source())?;
        (detected.parser.name() == language).then(|| detected.reason.to_string())
    });
    let row = |(id, section): (u32, &'a Section)| {
        let is_document = id == 0;
        let text = document.read(section.span);
        // A section reaches to the start of the next: the blanks between belong to nobody.
        let end = section.span.start as usize + section.span.of(document.source()).trim_end().len();
        let (start_line, end_line) = document.lines().lines(Span { end: (end as u32).max(section.span.start + 1), ..section.span });
        Row {
            doc_id: document.id(),
            kind: match section.kind {
                SectionKind::Document => "document",
                SectionKind::Heading(_) => "heading",
                SectionKind::Symbol(kind) => kind.name(),
                SectionKind::Key => "key",
            },
            title: &section.title,
            section_path: document.titles(SectionId(id)),
            start_line,
            end_line,
            tokens: counter.count(&text),
            signature: section.signature.of(document.source()),
            language: document.language().filter(|_| is_document),
            told_by: told_by.clone().filter(|_| is_document),
        }
    };
    (0..).zip(document.sections()).map(row).collect()
}

/// The rows of one document, for people.
fn describe(rows: &[Row<'_>]) -> String {
    let mut out = String::new();
    let width = terminal_width();
    for row in rows {
        let place = format!("{}-{}, {}", row.start_line, row.end_line, count(row.tokens, "token"));
        // Writing to a string cannot fail.
        let _ = match (row.kind, row.language, &row.told_by) {
            ("document", Some(language), Some(told_by)) => {
                writeln!(out, "{}  {}", bold(&plain(row.doc_id)), dim(&format!("{place}, {language} by its {told_by}")))
            }
            ("document", ..) => writeln!(out, "{}  {}", bold(&plain(row.doc_id)), dim(&place)),
            _ => {
                let depth = row.section_path.len().max(1);
                let kind = if row.kind == "heading" { String::new() } else { format!("{} ", row.kind) };
                let title = preview(row.title, width.saturating_sub(2 * depth + 40).max(20));
                writeln!(out, "{}{}{title}  {}", "  ".repeat(depth), dim(&kind), dim(&place))
            }
        };
    }
    out
}
