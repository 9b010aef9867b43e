//! `chunkwright chunk`

use std::fmt::Write;

use anyhow::{Result, anyhow};
use chunkwright::Record;
use chunkwright_engine::{
    Access, ChunkRequest, ChunkedDocument, Documents, DocumentsRequest, Engine, RecordTable, Shard, ShardState,
    TableFormat, page,
};
use clap::ValueEnum;

use crate::app::{CutFlags, Global, Outcome};
use crate::input::{InputFlags, ended};
use crate::output::{Destination, FieldFlags, Format, Output, OutputPath, TargetFlags, add_json_line};
use crate::progress::Progress;
use crate::text::{Table, bold, count, dim, plain, preview, terminal_width};

/// Cut documents into chunks
///
/// Prints one record per chunk: its id, its text, its position and why it begins there. Needs no index and writes
/// none. The output is identical on every run, with any number of threads.
///
/// A PATH that does not exist or cannot be read is reported, the rest is chunked, and the exit status is 2. If there
/// are no documents, it is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("output", |output| output.required_if_eq("format", "parquet")))]
pub(crate) struct Chunk {
    #[command(flatten)]
    input: InputFlags,
    /// Cut only the documents of shard I of N, such as 2/8
    ///
    /// A hash of its id decides a document's shard, and nothing else. The shards 1/N to N/N together hold every
    /// document. As Parquet, each says what it was cut of and by what, and `chunkwright join` puts them together.
    #[arg(long, value_name = "I/N", help_heading = "Input")]
    shard: Option<Shard>,
    /// Keep the shard's Parquet file if it is complete and its documents, the settings and the program are the same
    #[arg(long, requires = "shard", requires = "output", help_heading = "Input")]
    resume: bool,
    #[command(flatten)]
    cut: CutFlags,
    /// Add summaries of files, classes and functions after the chunks of source code: records with `artifact`
    #[arg(long)]
    summaries: bool,
    /// Format of the results; by default `text` on a terminal, `jsonl` in a pipe, in a file what its extension says
    #[arg(short, long, help_heading = "Output")]
    format: Option<ChunkFormat>,
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten, next_help_heading = "Output")]
    fields: FieldFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright chunk docs -o chunks.jsonl
  chunkwright chunk docs -o chunks.parquet
  chunkwright chunk docs -o chunks.html
  chunkwright chunk docs --fields chunk_id,text
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
    /// One page for a browser: sources beside their chunks, reasons and sizes; needs no network
    Html,
    /// One JSON object with two lists: `chunks`, and `summaries` of source code
    Lists,
    /// A table of typed columns, compressed
    Parquet,
    /// A table of text; lists and objects are JSON
    Csv,
}

impl ChunkFormat {
    /// The format implied by the extension of a file.
    fn of(path: &OutputPath) -> Option<Self> {
        Self::from_str(&path.extension()?, false).ok().filter(|format| *format != Self::Text)
    }
}

impl Chunk {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let format = self.format.or_else(|| ChunkFormat::of(self.target.output.as_ref()?));
        let results = self.results(global, format)?;
        let engine = global.engine_on(Some(self.input.threads), &[&self.cut, &self.input.files], Access::NoStore)?;
        let request = self.input.request(&results, self.shard);
        if self.resume && self.is_there(global, format, &engine, &request)? {
            return Ok(Outcome::Success);
        }
        let mut documents = engine.documents(&request)?;
        let output = results.open()?;
        let progress = Progress::new(global, documents.len(), "documents").hidden_if(output.is_on_terminal());
        let written = match format {
            Some(ChunkFormat::Parquet) => self.table(&mut documents, output, TableFormat::Parquet, &progress),
            Some(ChunkFormat::Csv) => self.table(&mut documents, output, TableFormat::Csv, &progress),
            _ => self.lines(&mut documents, output, format, &progress),
        };
        progress.finish();
        let (read, chunks) = written?;
        let outcome = ended(global, &documents);
        if global.verbose {
            global.say(&format!("{} of {}", count(chunks, "chunk"), count(read, "document")));
        }
        Ok(outcome)
    }

    /// Writes the lines of each document. Returns the numbers of documents and chunks.
    fn lines(
        &self,
        documents: &mut Documents,
        mut output: Output,
        format: Option<ChunkFormat>,
        progress: &Progress,
    ) -> Result<(usize, usize)> {
        let look = match output.format() {
            _ if format == Some(ChunkFormat::Html) => Look::Page,
            _ if format == Some(ChunkFormat::Lists) => Look::Lists,
            Format::Text => Look::Table,
            Format::Jsonl | Format::Json => Look::Lines,
        };
        if look == Look::Page {
            output.bytes(page::head(documents)?.as_bytes())?;
        }
        let fields = output.fields().cloned();
        let (mut read, mut chunks) = (0, 0);
        if look == Look::Lists {
            return lists(documents, output, progress);
        }
        if look == Look::Lines {
            let request = self.how();
            let write = fields.as_ref().map(|fields| {
                |record: &Record, lines: &mut Vec<u8>| {
                    add_json_line(record, Some(fields), lines).expect("a record of plain values is JSON");
                }
            });
            documents.write_chunks(request, write.as_ref(), |written| {
                let is_last = written.as_ref().is_none_or(|written| written.is_last);
                progress.advance(usize::from(is_last));
                let Some(written) = written else { return Ok(()) };
                read += usize::from(is_last);
                chunks += written.chunks;
                output.lines(&written.bytes)
            })?;
        } else {
            let render = |cut: ChunkedDocument| match look {
                Look::Page => page::document(&cut),
                Look::Lines | Look::Lists | Look::Table => table(&cut.doc_id, &cut.chunks),
            };
            documents.chunk(
                ChunkRequest::default(),
                |cut| (cut.chunks.len(), render(cut)),
                |(_, text)| text.len(),
                |cut| {
                    progress.advance(1);
                    let Some((number, text)) = cut else { return Ok(()) };
                    read += 1;
                    chunks += number;
                    output.bytes(text.as_bytes())
                },
            )?;
        }
        if look == Look::Page {
            output.bytes(page::foot()?.as_bytes())?;
        }
        output.end_list()?;
        output.finish()?;
        Ok((read, chunks))
    }

    /// Writes a table of all records. Returns the numbers of documents and chunks.
    fn table(
        &self,
        documents: &mut Documents,
        output: Output,
        format: TableFormat,
        progress: &Progress,
    ) -> Result<(usize, usize)> {
        let table = RecordTable::new(output, format, self.fields.fields.as_ref())?;
        let (mut read, mut chunks) = (0, 0);
        let output = documents.write_table(self.how(), table, |cut| {
            progress.advance(1);
            read += usize::from(cut.is_some());
            chunks += cut.unwrap_or(0);
        })?;
        output.finish()?;
        Ok((read, chunks))
    }

    fn how(&self) -> ChunkRequest {
        ChunkRequest { summaries: self.summaries }
    }

    /// Whether the shard is in its file already; says so, or why it is cut again.
    fn is_there(
        &self,
        global: &Global,
        format: Option<ChunkFormat>,
        engine: &Engine,
        request: &DocumentsRequest,
    ) -> Result<bool> {
        let file = self.target.file().filter(|_| format == Some(ChunkFormat::Parquet));
        let Some(file) = file.filter(|_| self.fields.fields.is_none()) else {
            return Err(anyhow!("`--resume` needs a Parquet file with all fields, such as `-o shard-1.parquet`"));
        };
        match engine.shard_state(file.path(), request, self.how())? {
            ShardState::Missing => Ok(false),
            ShardState::Complete { documents, rows } => {
                let (rows, documents) = (count(rows, "row"), count(documents, "document"));
                global.say(&format!("`{file}` is complete: {rows} of {documents}"));
                Ok(true)
            }
            ShardState::Stale(why) => {
                global.say(&format!("`{file}` is cut again: {why}"));
                Ok(false)
            }
        }
    }

    fn results(&self, global: &Global, format: Option<ChunkFormat>) -> Result<Destination> {
        let (general, fields) = match format {
            None => (None, self.fields.clone()),
            Some(ChunkFormat::Jsonl | ChunkFormat::Lists) => (Some(Format::Jsonl), self.fields.clone()),
            Some(ChunkFormat::Json) => (Some(Format::Json), self.fields.clone()),
            Some(ChunkFormat::Text) => (Some(Format::Text), self.fields.clone()),
            Some(ChunkFormat::Html) if self.fields.fields.is_some() => {
                return Err(anyhow!("`--fields` picks columns; the page shows all of a chunk"));
            }
            // These formats have their own bytes; the table selects the fields.
            Some(ChunkFormat::Html | ChunkFormat::Parquet | ChunkFormat::Csv) => {
                (Some(Format::Jsonl), FieldFlags::default())
            }
        };
        // What is there is looked at before it is replaced.
        let target = TargetFlags { force: self.target.force || self.resume, ..self.target.clone() };
        target.check(global, &[&self.input, &self.cut], general, fields)
    }
}

/// The rendering of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// JSON, one object per line.
    Lines,
    /// One JSON object of two lists.
    Lists,
    /// A table.
    Table,
    /// A part of the page.
    Page,
}

/// Writes the chunks of all documents, then their summaries. Returns the numbers of documents and chunks.
fn lists(
    documents: &mut Documents,
    mut output: Output,
    progress: &Progress,
) -> Result<(usize, usize)> {
    let fields = output.fields().cloned();
    let lines = |records: &[Record]| {
        let mut bytes = Vec::new();
        for record in records {
            add_json_line(record, fields.as_ref(), &mut bytes).expect("a record of plain values is JSON");
        }
        bytes
    };
    let (mut read, mut chunks, mut begun, mut summaries) = (0, 0, false, Vec::new());
    output.bytes(b"{\"chunks\":[\n")?;
    documents.chunk(
        ChunkRequest { summaries: true },
        |cut| (cut.chunks.len(), lines(&cut.chunks), lines(&cut.summaries)),
        |(_, chunks, summaries)| chunks.len() + summaries.len(),
        |cut| {
            progress.advance(1);
            let Some((number, records, of_code)) = cut else { return Ok(()) };
            read += 1;
            chunks += number;
            summaries.extend(of_code);
            listed(&mut output, &records, &mut begun)
        },
    )?;
    output.bytes(b"],\"summaries\":[\n")?;
    listed(&mut output, &summaries, &mut false)?;
    output.bytes(b"]}\n")?;
    output.finish()?;
    Ok((read, chunks))
}

/// Writes lines of JSON as elements of a list, which `begun` says has some.
fn listed(output: &mut Output, lines: &[u8], begun: &mut bool) -> Result<()> {
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        if std::mem::replace(begun, true) {
            output.bytes(b",")?;
        }
        output.bytes(line)?;
    }
    Ok(())
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
            preview(record.shown(), width.saturating_sub(path_width + 40).max(20)),
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
