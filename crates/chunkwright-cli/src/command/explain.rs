//! `chunkwright explain`

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use chunkwright::explain::{Candidate, End, Explanation, Level};
use chunkwright::{Cut, Unit};
use serde::Serialize;

use crate::app::{self, CutFlags, Global, Outcome};
use crate::input::read_one;
use crate::output::OutputFlags;
use crate::text::{bold, dim, plain, preview, terminal_width, yellow};

/// Say why a document is cut where it is
///
/// For each chunk, or the one that holds LINE: the rule by which it begins, why it ends, how large it is
/// and would have become, what it borrows, and which other places the structure would have allowed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// The document, and a line if only its chunk is asked for; `-` is standard input
    #[arg(value_name = "FILE[:LINE]")]
    target: PathBuf,
    /// Name of what is read from standard input: by its extension its format
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

/// An explanation and whose it is.
#[derive(Serialize)]
struct Row<'a> {
    doc_id: &'a str,
    #[serde(flatten)]
    explanation: &'a Explanation,
}

impl Explain {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.cut])?;
        let chunker = app::chunker(&settings)?;
        let (path, line) = target(&self.target);
        let document = read_one(global, &path, &self.stdin_filename)?.parse();
        let chunks = chunker.chunk(&document);
        let asked = match line {
            None => 0..chunks.len(),
            Some(line) => {
                // Without the empty "line" after a final line break, as editors count.
                let last = document.lines().count() - usize::from(document.source().ends_with(['\n', '\r']));
                if line == 0 || line > last {
                    bail!("`{}` has lines 1 to {last}; there is no `{line}`", document.id());
                }
                let (start, end) = (document.lines().start(line), document.lines().start(line + 1).max(document.lines().start(line) + 1));
                let end = if line == last { document.source().len() as u32 } else { end };
                let first = chunks.partition_point(|chunk| chunk.span.end <= start);
                let after = chunks.partition_point(|chunk| chunk.span.start < end);
                first..after.max(first)
            }
        };
        let mut output = self.output.open()?;
        let found = !asked.is_empty();
        for index in asked {
            let explanation = chunker.explain_one(&document, &chunks, index);
            if output.is_text() {
                let content = chunks[index].content(&document);
                output.text(&describe(document.id(), &explanation, chunks.len(), content))?;
            } else {
                output.object(&Row { doc_id: document.id(), explanation: &explanation })?;
            }
        }
        output.end_list()?;
        output.finish()?;
        if !found {
            global.say(match line {
                Some(_) => "the line is blank and in no chunk",
                None => "the document has no visible character and so no chunk",
            });
            return Ok(Outcome::Nothing);
        }
        Ok(Outcome::Success)
    }
}

/// `FILE:LINE` apart, where no file is called that.
fn target(target: &Path) -> (PathBuf, Option<usize>) {
    let whole = (target.to_owned(), None);
    if target.symlink_metadata().is_ok() {
        return whole;
    }
    let Some((path, line)) = target.to_str().and_then(|text| text.rsplit_once(':')) else { return whole };
    match line.parse() {
        Ok(line) => (path.into(), Some(line)),
        Err(_) => whole,
    }
}

/// One explanation, in words.
fn describe(doc_id: &str, it: &Explanation, total: usize, content: &str) -> String {
    let unit = match it.unit {
        Unit::Tokens => "tokens",
        Unit::Chars => "characters",
    };
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
    let over = if it.oversize { yellow(", over the limit: it is kept whole or cannot be divided") } else { String::new() };
    line("size", &format!("{} of at most {} {unit}{over}", it.size, it.max_size));
    if let Some(part) = it.part {
        line("part", &format!("{} of {} of a block too large for one chunk", part.index + 1, part.total));
    }
    if it.is_unparsed {
        line("read", "by its layout: its syntax is not known here, too broken, or too costly to read");
    }
    line("begins", &begins(it));
    line("ends", &ends(it, unit));
    for borrowed in &it.borrows {
        let what = match borrowed.kind {
            "document" => "the document's name",
            "path" => "the titles above it",
            "signature" => "the signature around it",
            "fence" => "the fence's opening line",
            "table_header" => "the table's header",
            "overlap" => "text before it",
            "close" => "the fence's closing line",
            other => other,
        };
        line("borrows", &format!("{what} ({} {unit}): {}", borrowed.size, preview(&borrowed.text, width / 2)));
    }
    if !it.rejected.is_empty() {
        line("rejected", &rejected(&it.rejected));
    }
    let lines = if it.start_line == it.end_line {
        format!("line {}", it.start_line)
    } else {
        format!("lines {}-{}", it.start_line, it.end_line)
    };
    let title = format!("{}: chunk {} of {total}, {lines}", plain(doc_id), it.chunk_index + 1);
    format!("{}  {}\n{out}\n", bold(&title), dim(&it.chunk_id.to_string()))
}

fn begins(it: &Explanation) -> String {
    let title = it.begin.title.as_deref().map(|title| format!(" `{}`", plain(title))).unwrap_or_default();
    let block = it.begin.block.as_str().replace('_', " ");
    let why = match it.begin.cut {
        Cut::Document => format!("the document begins, with a {block}"),
        Cut::Heading => format!("the section{title} begins"),
        Cut::Symbol => format!("the symbol{title} begins"),
        Cut::Merged if title.is_empty() => "several small sections were joined; the first begins".to_owned(),
        Cut::Merged => format!("several small sections were joined, from{title} on"),
        Cut::Full => format!("the chunk before is full; a {block} begins"),
        Cut::Item => format!("the {block} is too large for one chunk; an item or inner block begins"),
        Cut::BlankLine => format!("the {block} is too large for one chunk; a line after a blank line begins"),
        Cut::Statement => format!("the {block} is too large for one chunk; a statement begins"),
        Cut::Indent => format!("the {block} is too large for one chunk; a line of little indentation begins"),
        Cut::Row => "the table is too large for one chunk; a row begins".to_owned(),
        Cut::Cell => "one row of the table is too large for one chunk; a cell begins".to_owned(),
        Cut::Sentence => format!("the {block} is too large for one chunk; a sentence begins"),
        Cut::Word => "a sentence or line is too large for one chunk; a word begins".to_owned(),
        Cut::Grapheme => "one word is over the limit; a character begins".to_owned(),
        other => format!("the rule `{other}`"),
    };
    format!("{} ({})", why, it.begin.cut)
}

fn ends(it: &Explanation, unit: &str) -> String {
    let limit = it.max_size;
    match &it.end {
        End::Document => "the document ends".into(),
        End::Section { title, size_with_next } => {
            let what = if title.is_empty() {
                "a chunk of several small sections begins".into()
            } else {
                format!("the section `{}` begins", plain(title))
            };
            format!("{what}; with what follows it would have {size_with_next} {unit}")
        }
        End::Full { size_with_next } => {
            format!("the next block would have made it {size_with_next} {unit}, over {limit}")
        }
        End::Balanced { size_with_next } => format!(
            "the next block would have made it {size_with_next} {unit}; cutting here divides the section more evenly"
        ),
        End::Split { cut, size_with_next } if *size_with_next > limit => {
            format!("the block goes on; with more of it it would have {size_with_next} {unit}, over {limit} ({cut})")
        }
        End::Split { cut, .. } => format!("the block goes on; cutting here divides it more evenly ({cut})"),
        _ => "for a reason this version has no words for".into(),
    }
}

/// Most places that are listed for people.
const LISTED: usize = 6;

/// The best places that were not taken, in order.
fn rejected(candidates: &[Candidate]) -> String {
    let mut best: Vec<&Candidate> = candidates.iter().collect();
    best.sort_by_key(|candidate| match candidate.level {
        Level::Section { depth, .. } => (0, depth),
        Level::Block { .. } => (1, 0),
        Level::Inside { depth } => (2, usize::from(depth)),
        _ => (3, 0),
    });
    best.truncate(LISTED);
    best.sort_by_key(|candidate| candidate.byte);
    let say = |candidate: &&Candidate| {
        let what = match &candidate.level {
            Level::Section { title, .. } => format!("section `{}`", preview(title, 30)),
            Level::Block { block } => block.as_str().replace('_', " "),
            Level::Inside { depth } => format!("inside a block, depth {depth}"),
            _ => "another place".into(),
        };
        format!("line {} ({what})", candidate.line)
    };
    let mut said: Vec<String> = best.iter().map(say).collect();
    if candidates.len() > LISTED {
        said.push(format!("and {} more", candidates.len() - LISTED));
    }
    said.join(", ")
}
