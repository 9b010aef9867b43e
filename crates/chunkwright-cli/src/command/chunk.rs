//! `chunkwright chunk`

use std::fmt::Write;
use std::str::FromStr;

use anyhow::Result;
use chunkwright::{Chunker, Record, RecordContext};
use chunkwright_source::{Item, Unread};
use clap::ValueEnum;

use crate::app::{self, CutFlags, Global, Outcome};
use crate::input::{InputFlags, gather, ordered, read, report};
use crate::output::{Format, Output, OutputFlags, OutputPath, json_line};
use crate::progress::Progress;
use crate::report_page;
use crate::text::{Table, bold, count, dim, plain, preview, terminal_width};

/// Cut documents into chunks
///
/// Prints one record for each chunk: its id, its text, where it stands and why it begins there. Needs no
/// index and writes none. The output is the same bytes on every run, with any number of threads.
///
/// A PATH that does not exist or cannot be read is reported, the rest is chunked, and the exit status
/// is 2. If there is no document at all it is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Chunk {
    #[command(flatten)]
    input: InputFlags,
    /// Cut only the documents of shard I of N, such as 2/8
    ///
    /// Documents are dealt out by a hash of their id: a document's shard depends on nothing else, and the
    /// shards 1/N to N/N together are the whole.
    #[arg(long, value_name = "I/N", help_heading = "Input")]
    shard: Option<Shard>,
    #[command(flatten)]
    cut: CutFlags,
    /// After the chunks of source code, summaries of its file, classes and functions: records with `artifact`
    #[arg(long)]
    summaries: bool,
    /// Format of the results; by default `text` on a terminal, `jsonl` when piped or in a file
    #[arg(short, long, help_heading = "Output")]
    format: Option<ChunkFormat>,
    /// Write the results to this file instead of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<OutputPath>,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright chunk docs -o chunks.jsonl
  chunkwright chunk docs --format html -o chunks.html
  chunkwright chunk --max-size 512 README.md
  curl -s URL | chunkwright chunk --stdin-filename page.md -";

/// Format of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ChunkFormat {
    /// One JSON object a line
    Jsonl,
    /// One JSON document
    Json,
    /// For people
    Text,
    /// One page for a browser: the source beside its chunks, why it is cut there, sizes; needs no network
    Html,
}

/// One of several shares of the documents.
#[derive(Clone, Copy, Debug)]
struct Shard {
    /// From 0.
    index: u64,
    of: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index: index - 1, of }),
            _ => Err("a shard is I/N with I from 1 to N, such as 2/8".into()),
        }
    }
}

impl Shard {
    fn holds(self, doc_id: &str) -> bool {
        let hash = blake3::hash(doc_id.as_bytes());
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        u64::from_le_bytes(*first) % self.of == self.index
    }
}

/// What became of one document.
struct Cut {
    /// What is printed.
    output: Vec<u8>,
    chunks: usize,
    unread: Option<Unread>,
}

impl Chunk {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.cut])?;
        let chunker = app::chunker(&settings)?;
        // Before anything is read, which may wait for standard input.
        let mut output = self.open()?;
        let mut inputs = gather(global, &self.input.paths, &self.input.stdin_filename)?;
        let found = inputs.items.len();
        if let Some(shard) = self.shard {
            inputs.items.retain(|item| shard.holds(item.doc_id()));
        }
        let items = std::mem::take(&mut inputs.items);
        let look = match output.format() {
            _ if self.format == Some(ChunkFormat::Html) => Look::Page,
            Format::Text => Look::Table,
            Format::Jsonl | Format::Json => Look::Lines,
        };
        if look == Look::Page {
            output.bytes(report_page::head(&chunker, &settings.preset).as_bytes())?;
        }
        let progress = Progress::new(global, items.len(), "documents").hidden_if(output.is_on_terminal());
        let (mut documents, mut chunks) = (0, 0);
        let result = ordered(
            self.input.threads.get(),
            &items,
            |item| cut(&chunker, &settings.preset, item, look, self.summaries),
            |cut| cut.output.len(),
            |cut| {
                progress.advance(1);
                match cut.unread {
                    Some(Unread::Skipped(skipped)) => inputs.skipped.push(skipped),
                    Some(Unread::Failed(sentence)) => inputs.errors.push(sentence),
                    None => documents += 1,
                }
                chunks += cut.chunks;
                output.lines(&cut.output)
            },
        );
        progress.finish();
        result?;
        if look == Look::Page {
            output.bytes(report_page::foot().as_bytes())?;
        }
        output.end_list()?;
        output.finish()?;
        report(&inputs, global);
        if global.verbose {
            global.say(&format!("{} of {}", count(chunks, "chunk"), count(documents, "document")));
        }
        Ok(match (inputs.errors.is_empty(), found) {
            (false, _) => Outcome::Failed,
            (true, 0) => {
                global.say("no document was found at the paths given");
                Outcome::Nothing
            }
            (true, _) => Outcome::Success,
        })
    }
}

impl Chunk {
    fn open(&self) -> Result<Output> {
        let general = self.format.map(|format| match format {
            // A page is bytes of its own.
            ChunkFormat::Jsonl | ChunkFormat::Html => Format::Jsonl,
            ChunkFormat::Json => Format::Json,
            ChunkFormat::Text => Format::Text,
        });
        OutputFlags::new(general, self.output.clone()).open()
    }
}

/// What chunks become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// JSON, one a line.
    Lines,
    /// A table.
    Table,
    /// A part of the page.
    Page,
}

/// Reads, cuts and prints one document.
fn cut(chunker: &Chunker, preset: &str, item: &Item, look: Look, summaries: bool) -> Cut {
    let source = match read(item) {
        Ok(source) => source,
        Err(unread) => return Cut { output: Vec::new(), chunks: 0, unread: Some(unread) },
    };
    let context =
        RecordContext { preset: preset.to_owned(), file_hash: source.source.file_hash.clone(), category: String::new() };
    let document = source.parse();
    let chunks = chunker.chunk(&document);
    let records = chunker.records(&document, &chunks, &context);
    let line = |record| json_line(record).expect("a record of plain values is JSON");
    let output = match look {
        Look::Lines if summaries => {
            let result = chunker.process(&document, &context);
            result.chunks.iter().chain(&result.summaries).flat_map(line).collect()
        }
        Look::Lines => records.iter().flat_map(line).collect(),
        Look::Table => table(document.id(), &records).into_bytes(),
        Look::Page => report_page::document(&document, &records).into_bytes(),
    };
    Cut { output, chunks: records.len(), unread: None }
}

/// The records of one document, for people.
fn table(doc_id: &str, records: &[Record]) -> String {
    let tokens: usize = records.iter().map(|record| record.token_count as usize).sum();
    let mut table = Table::new(["#", "lines", "tokens", "cut", "path", "content"]);
    let width = terminal_width();
    let path_width = width / 4;
    for record in records {
        table.row([
            record.chunk_index.to_string(),
            format!("{}-{}", record.start_line, record.end_line),
            record.token_count.to_string(),
            record.cut.to_string(),
            preview(&record.section_path.join(" > "), path_width),
            preview(&record.content, width.saturating_sub(path_width + 40).max(20)),
        ]);
    }
    let mut out = String::new();
    let summary = format!("{}, {}", count(records.len(), "chunk"), count(tokens, "token"));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}  {}", bold(&plain(doc_id)), dim(&summary));
    if !table.is_empty() {
        let _ = writeln!(out, "{table}");
    }
    out
}
