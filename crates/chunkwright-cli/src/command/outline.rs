//! `chunkwright outline`

use std::fmt::Write as _;

use anyhow::Result;
use chunkwright_engine::{Access, OutlineAnswer, OutlineRow};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::input::{InputFlags, ended};
use crate::output::{Output, OutputFlags};
use crate::text::{bold, count, dim, plain, preview, terminal_width};

/// Show the sections of documents: headings, or the symbols of source code
///
/// Each section is shown with its lines and the number of its tokens, including the sections inside it. For source
/// code, the output also says which language was detected, and how: by name, extension or content.
///
/// With --collection, PATHs are ids of documents that are stored there; without any, all of its documents are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Outline {
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright outline src/main.rs
  chunkwright outline src --format jsonl
  chunkwright outline -c docs guide/install.md";

impl Outline {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        if self.collection.is_named() {
            return self.stored(global);
        }
        let results = self.output.check(global, &[&self.input, &self.cut])?;
        let engine = global.engine_on(Some(self.input.threads), &[&self.cut, &self.input.files], Access::NoStore)?;
        let mut documents = engine.documents(&self.input.request(&results, None))?;
        let mut output = results.open()?;
        documents.outline(|answer| answer.map_or(Ok(()), |answer| write(&mut output, &answer)))?;
        output.end_list()?;
        output.finish()?;
        Ok(ended(global, &documents))
    }

    /// Shows stored documents of the collection in force.
    fn stored(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.cut, &self.collection], Access::Read)?;
        let answers = engine.default_collection().read(|snapshot| {
            let ids: Vec<String> = match self.input.paths.as_slice() {
                [] => {
                    snapshot.documents()?.into_iter().map(|document| document.doc_id).collect()
                }
                paths => paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            };
            ids.iter().map(|id| snapshot.outline(id)).collect::<Result<Vec<_>, _>>()
        })?;
        let mut output = results.open()?;
        answers.iter().try_for_each(|answer| write(&mut output, answer))?;
        output.end_list()?;
        output.finish()?;
        Ok(if answers.is_empty() { Outcome::Nothing } else { Outcome::Success })
    }
}

fn write(output: &mut Output, answer: &OutlineAnswer) -> Result<()> {
    if output.is_text() {
        return output.text(&describe(&answer.sections));
    }
    output.objects(&answer.sections)
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
