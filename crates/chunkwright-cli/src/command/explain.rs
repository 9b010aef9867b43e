//! `chunkwright explain`

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use chunkwright::explain::{Candidate, Explanation, Level};
use chunkwright_engine::{Access, ExplainRequest, ExplainedChunk};

use crate::app::{CutFlags, Global, Outcome};
use crate::input::{file_and_line, input};
use crate::output::OutputFlags;
use crate::text::{bold, dim, plain, preview, terminal_width, yellow};

/// Explain why a document is cut where it is
///
/// For each chunk, or the one that contains LINE: the rule by which it begins, why it ends, its size and the size it
/// would have had, what it borrows, and which other boundaries the structure allowed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// The document, and a line to explain only its chunk; `-` is standard input
    #[arg(value_name = "FILE[:LINE]")]
    target: PathBuf,
    /// Name of the document on standard input; its extension decides the format
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    stdin_filename: String,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright explain README.md
  chunkwright explain README.md:120";

impl Explain {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[&self.target, &self.cut])?;
        let engine = global.engine(&[&self.cut], Access::NoStore)?;
        let (path, line) = match file_and_line(&self.target) {
            Some((path, line)) => (path, Some(line)),
            None => (self.target.clone(), None),
        };
        let answer = engine.explain(&input(&path, &self.stdin_filename), ExplainRequest { line })?;
        let mut output = results.open()?;
        for chunk in &answer.chunks {
            if output.is_text() {
                output.text(&describe(chunk, answer.total_chunks))?;
            } else {
                output.object(chunk)?;
            }
        }
        output.end_list()?;
        output.finish()?;
        let none = match line {
            Some(_) => "the line is blank and not in a chunk",
            None => "the document has no visible character, so it has no chunks",
        };
        Ok(global.found(answer.chunks.len(), none))
    }
}

/// One explanation in words.
fn describe(chunk: &ExplainedChunk, total: usize) -> String {
    let ExplainedChunk { doc_id, explanation: it, content } = chunk;
    let unit = it.unit.noun();
    let width = terminal_width();
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {} {text}", dim(&format!("{label:<9}")));
    };
    line("text", &preview(content, width - 13));
    if !it.section_path.is_empty() {
        line("path", &plain(&it.section_path.join(" > ")));
    }
    let over = if it.oversize { yellow(", over the limit: it is kept whole or cannot be split") } else { String::new() };
    line("size", &format!("{} of at most {} {unit}{over}", it.size, it.max_size));
    if let Some(part) = it.part {
        line("part", &format!("{} of {} of a block too large for one chunk", part.index + 1, part.total));
    }
    if it.is_unparsed {
        line("read", "by its layout: its language has no grammar here, or its syntax is too broken or too costly to parse");
    }
    line("begins", &plain(&it.begins()));
    line("ends", &plain(&it.ends()));
    for borrowed in &it.borrows {
        let what = borrowed.in_words();
        line("borrows", &format!("{what} ({} {unit}): {}", borrowed.size, preview(&borrowed.text, width / 2)));
    }
    if !it.rejected.is_empty() {
        line("rejected", &rejected(it));
    }
    let lines = if it.start_line == it.end_line {
        format!("line {}", it.start_line)
    } else {
        format!("lines {}-{}", it.start_line, it.end_line)
    };
    let title = format!("{}: chunk {} of {total}, {lines}", plain(doc_id), it.chunk_index + 1);
    format!("{}  {}\n{out}\n", bold(&title), dim(&it.chunk_id.to_string()))
}

/// Maximum number of boundaries listed for people.
const LISTED: usize = 6;

/// The best boundaries that were not used, in order.
fn rejected(it: &Explanation) -> String {
    let say = |candidate: &&Candidate| {
        let what = match &candidate.level {
            Level::Section { title, .. } => format!("section `{}`", preview(title, 30)),
            Level::Block { block } => block.as_str().replace('_', " "),
            Level::Inside { depth } => format!("inside a block, depth {depth}"),
            _ => "another place".into(),
        };
        format!("line {} ({what})", candidate.line)
    };
    let mut said: Vec<String> = it.best_rejected(LISTED).iter().map(say).collect();
    if it.rejected.len() > LISTED {
        said.push(format!("and {} more", it.rejected.len() - LISTED));
    }
    said.join(", ")
}
