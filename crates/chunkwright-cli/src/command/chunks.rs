//! `chunkwright chunks`

use anyhow::Result;
use chunkwright_engine::{
    Access, ChunkPage, Cursor, Direction, Filter, ListRequest, ListedChunk, MAX_PAGE, SortKey, Visibility,
};
use clap::builder::TypedValueParser;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::choice::choice;
use crate::output::{Format, Output, OutputFlags};
use crate::text::{Table, bold, dim, grouped, plain, preview, terminal_width};

/// List the chunks of a collection, page by page
///
/// Lists enabled and disabled chunks as records. If more follow, the cursor of the next page is printed to standard
/// error, and is `next` in JSON; it stays valid whatever is indexed in between. The exit status is 1 if no chunk was
/// found.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Chunks {
    /// Only chunks that match: conditions as in `chunkwright search --filter`; if given twice, both must hold
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    /// Only enabled chunks, or only disabled ones
    #[arg(long, value_parser = only())]
    only: Option<Visibility>,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "document", value_parser = sort())]
    sort: SortKey,
    /// Greatest first
    #[arg(long)]
    descending: bool,
    /// Chunks per page, at most 1000
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = page_size)]
    limit: usize,
    /// Continue after the page that ended with this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Pass over so many chunks first
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: usize,
    /// List all pages
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright chunks --filter doc_id=docs/guide.md
  chunkwright chunks --sort token_count --descending --limit 20
  chunkwright chunks --only disabled --all --format jsonl";

fn only() -> impl TypedValueParser<Value = Visibility> {
    let hidden = "Chunks that were disabled by hand";
    choice(&[("enabled", "Chunks that searches may find"), ("disabled", hidden)])
}

fn sort() -> impl TypedValueParser<Value = SortKey> {
    choice(&[
        ("document", "Document, then position in it"),
        ("token_count", "The number of tokens"),
        ("chunk_index", "Position in the document, across documents"),
    ])
}

pub(super) fn page_size(text: &str) -> Result<usize, String> {
    let limit = text.parse().ok().filter(|limit| (1..=MAX_PAGE).contains(limit));
    limit.ok_or_else(|| format!("it must be a number from 1 to {MAX_PAGE}"))
}

impl Chunks {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let snapshot = engine.default_collection().snapshot()?;
        let mut request = self.request();
        let mut output = results.open()?;
        output.of_collection(&snapshot.generation().collection);
        let (mut found, mut whole) = (0, ChunkPage::default());
        loop {
            let page = snapshot.chunks(&request)?;
            found += page.chunks.len();
            request.after.clone_from(&page.next);
            request.skip = 0;
            match output.format() {
                Format::Json => whole.chunks.extend(page.chunks),
                _ => write(&mut output, &page.chunks)?,
            }
            if request.after.is_none() || !self.all {
                break;
            }
        }
        whole.next = request.after;
        if output.format() == Format::Json {
            output.only(&whole)?;
        }
        output.finish()?;
        if let Some(next) = &whole.next {
            global.say(&format!("more chunks follow; continue with `--after {}`", next.as_str()));
        }
        Ok(global.found(found, "no chunk was found"))
    }

    fn request(&self) -> ListRequest {
        ListRequest {
            filter: self.filter.iter().cloned().fold(Filter::default(), Filter::and),
            visibility: self.only.unwrap_or_default(),
            sort: self.sort,
            direction: if self.descending { Direction::Descending } else { Direction::Ascending },
            after: self.after.clone().map(Cursor::new),
            skip: self.skip,
            limit: self.limit,
        }
    }
}

fn write(output: &mut Output, chunks: &[ListedChunk]) -> Result<()> {
    if !output.is_text() {
        return output.objects(chunks);
    }
    if chunks.is_empty() {
        return Ok(());
    }
    let width = terminal_width().saturating_sub(60).max(20);
    let mut table = Table::new(["document", "chunk", "lines", "tokens", "state", "text"]);
    for ListedChunk { record, enabled, .. } in chunks {
        table.row([
            bold(&plain(&record.doc_id)),
            record.chunk_index.to_string(),
            format!("{}-{}", record.start_line, record.end_line),
            grouped(record.token_count as usize),
            if *enabled { dim("enabled") } else { "disabled".into() },
            preview(record.shown(), width),
        ]);
    }
    output.text(&table.to_string())
}
