//! `chunkwright outline`

use std::fmt::Write as _;

use anyhow::Result;
use chunkwright_engine::{Access, OutlineAnswer, OutlineRow};

use crate::app::{CutFlags, Global, Outcome};
use crate::input::{InputFlags, ended};
use crate::output::OutputFlags;
use crate::text::{bold, count, dim, plain, preview, terminal_width};

/// Show the sections of documents: headings, or the symbols of source code
///
/// Each section is shown with its lines and the number of its tokens, including the sections inside it. For source
/// code, the output also says which language was detected, and how: by name, extension or content.
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

impl Outline {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine_on(Some(self.input.threads), &[&self.cut], Access::NoStore)?;
        let mut documents = engine.documents(&self.input.request(global, None))?;
        let mut output = self.output.open()?;
        documents.outline(|answer| {
            let Some(OutlineAnswer { sections }) = answer else { return Ok(()) };
            if output.is_text() {
                return output.text(&describe(&sections));
            }
            sections.iter().try_for_each(|section| output.object(section))
        })?;
        output.end_list()?;
        output.finish()?;
        Ok(ended(global, &documents))
    }
}

/// The rows of one document, for people.
fn describe(rows: &[OutlineRow]) -> String {
    let mut out = String::new();
    let width = terminal_width();
    for row in rows {
        let place = format!("{}-{}, {}", row.start_line, row.end_line, count(row.tokens, "token"));
        // Writing to a string cannot fail.
        let _ = match (row.kind, row.language, &row.told_by) {
            ("document", Some(language), Some(told_by)) => {
                writeln!(out, "{}  {}", bold(&plain(&row.doc_id)), dim(&format!("{place}, {language} by its {told_by}")))
            }
            ("document", ..) => writeln!(out, "{}  {}", bold(&plain(&row.doc_id)), dim(&place)),
            _ => {
                let depth = row.section_path.len().max(1);
                let kind = if row.kind == "heading" { String::new() } else { format!("{} ", row.kind) };
                let title = preview(&row.title, width.saturating_sub(2 * depth + 40).max(20));
                writeln!(out, "{}{}{title}  {}", "  ".repeat(depth), dim(&kind), dim(&place))
            }
        };
    }
    out
}
