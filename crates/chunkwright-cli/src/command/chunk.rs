//! `chunkwright chunk`

use std::fmt::Write;
use std::str::FromStr;

use anyhow::Result;
use chunkwright::{Chunker, Record, RecordContext};

use crate::app::{self, CutFlags, Global, Outcome};
use crate::input::{InputFlags, Inputs, Item, Unread};
use crate::ordered::ordered;
use crate::output::{Format, OutputFlags, json_line};
use crate::progress::Progress;
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
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright chunk docs -o chunks.jsonl
  chunkwright chunk --max-size 512 README.md
  curl -s URL | chunkwright chunk --stdin-filename page.md -";

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
        let mut inputs = Inputs::gather(&self.input.paths, &self.input.stdin_filename);
        if let Some(output) = self.output.output.as_ref().and_then(|path| path.canonicalize().ok()) {
            // The results of an earlier run are no document.
            inputs.items.retain(|item| !matches!(item, Item::File { file, .. } if file.path.canonicalize().is_ok_and(|path| path == output)));
        }
        let found = inputs.items.len();
        if let Some(shard) = self.shard {
            inputs.items.retain(|item| shard.holds(item.doc_id()));
        }
        let items = std::mem::take(&mut inputs.items);
        let mut output = self.output.open()?;
        let format = output.format();
        let progress = Progress::new(global, items.len(), "documents").hidden_if(output.is_on_terminal());
        let (mut documents, mut chunks) = (0, 0);
        let result = ordered(
            self.input.threads.get(),
            &items,
            |item| cut(&chunker, &settings.preset, item, format),
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
        output.end_list()?;
        output.finish()?;
        inputs.report(global);
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

/// Reads, cuts and prints one document.
fn cut(chunker: &Chunker, preset: &str, item: &Item, format: Format) -> Cut {
    let source = match item.read() {
        Ok(source) => source,
        Err(unread) => return Cut { output: Vec::new(), chunks: 0, unread: Some(unread) },
    };
    let context =
        RecordContext { preset: preset.to_owned(), file_hash: source.file_hash.clone(), category: String::new() };
    let document = source.parse();
    let chunks = chunker.chunk(&document);
    let records = chunker.records(&document, &chunks, &context);
    let output = if format == Format::Text {
        table(document.id(), &records).into_bytes()
    } else {
        records.iter().flat_map(|record| json_line(record).expect("a record of plain values is JSON")).collect()
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
            record.cut.clone(),
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
