//! `chunkwright fetch`

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;
use chunkwright::Record;
use chunkwright_index::{Access, DocumentInfo, FetchOptions, Fetched, fetch};
use clap::ValueEnum;
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::{Format, OutputFlags};
use crate::text::{bold, dim, plain, plain_lines};

/// Get a document, a chunk or lines back out of a collection
///
/// REFERENCE is a document's id, a chunk's id, DOC_ID#INDEX for a chunk by its position from 0, or
/// DOC_ID#L10-L80 for lines. An unknown one is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fetch {
    /// What to fetch
    reference: String,
    /// Number of neighbours on each side that come with a chunk
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    window: usize,
    /// Format of the result; by default `text` on a terminal, `raw` when piped
    #[arg(short, long, help_heading = "Output")]
    format: Option<FetchFormat>,
    /// Write the result to this file instead of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    collection: CollectionFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright fetch guide/install.md > install.md
  chunkwright fetch guide/install.md#L10-L80
  chunkwright fetch 9bcff36484d0b14c2b8d1c8f3104e68e --window 1";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FetchFormat {
    /// The exact bytes of the source
    Raw,
    /// One JSON document: the text, where it is from, its chunks
    Json,
    /// For people: control characters are shown, not sent
    Text,
}

/// What was fetched, as JSON.
#[derive(Serialize)]
struct Row<'a> {
    document: &'a DocumentInfo,
    doc_toc: &'a str,
    start_line: u32,
    end_line: u32,
    text: &'a str,
    chunks: &'a [Record],
}

impl Fetch {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let store = app::store(&settings, Access::Read)?;
        let options = FetchOptions { window: self.window };
        let fetched = fetch(&*store, &settings.collection, &self.reference, options)?;
        let to_terminal = self.output.is_none() && io::stdout().is_terminal();
        let default = if to_terminal { FetchFormat::Text } else { FetchFormat::Raw };
        let format = self.format.unwrap_or(default);
        let flags = OutputFlags::new(
            match format {
                FetchFormat::Text => Format::Text,
                FetchFormat::Json => Format::Json,
                FetchFormat::Raw => Format::Jsonl,
            },
            self.output.clone(),
        );
        let mut output = flags.open()?;
        match format {
            FetchFormat::Raw => output.bytes(fetched.bytes())?,
            FetchFormat::Json => output.only(&Row {
                document: &fetched.document,
                doc_toc: &fetched.doc_toc,
                start_line: fetched.start_line,
                end_line: fetched.end_line,
                text: &fetched.text,
                chunks: &fetched.records,
            })?,
            FetchFormat::Text => output.text(&describe(&fetched))?,
        }
        output.finish()?;
        Ok(Outcome::Success)
    }
}

fn describe(fetched: &Fetched) -> String {
    let place = format!("{}:{}-{}", plain(&fetched.document.doc_id), fetched.start_line, fetched.end_line);
    let chunks = crate::text::count(fetched.records.len(), "chunk");
    let text = plain_lines(&fetched.text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{}  {}\n{text}{end}", bold(&place), dim(&chunks))
}
