//! The tool `search`: the best chunks for a question.
//!
//! A result has the fields that agents expect from us (`chunk_id`, `content`, `metadata`) and those that `OpenAI`'s
//! clients read (`id`, `title`, `url`, `text`). Only `content` holds the text of a chunk.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use chunkwright_engine::{
    Code, Filter, Found, Hit, IndexState, MAX_QUERY_CHARS, Metadata, NoticeCode, SearchRequest,
};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::mcp::McpServer;
use crate::mcp::answer::{Answer, Format, UNTRUSTED};
use crate::mcp::arguments::{option, output};
use crate::mcp::scope::{self, CallError};
use crate::mcp::tool::{Effect, Tool};
use crate::mcp::uri::Uri;

pub(super) struct Search;

/// Maximum number of results per page.
const MAX_LIMIT: usize = 50;

/// Divisor of an answer's tokens that gives the room for outlines of documents.
const SHARE_OF_OUTLINES: usize = 4;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A question, or names from the code. May hold conditions such as `path:docs/ lang:rust`.
    #[schemars(length(max = MAX_QUERY_CHARS))]
    query: String,
    /// Number of results.
    #[serde(default = "usual_limit")]
    #[schemars(schema_with = "limit", range(max = MAX_LIMIT))]
    limit: usize,
    /// Number of results before the first, to continue an earlier search.
    #[serde(default)]
    #[schemars(schema_with = "offset")]
    offset: usize,
    /// The collection to search; `status` lists them.
    #[serde(default)]
    #[schemars(with = "String")]
    collection: Option<String>,
    /// Only chunks that pass, such as `language=rust and path=src/`.
    #[serde(default)]
    #[schemars(with = "String")]
    filter: Option<String>,
    /// Where the texts of the answer are; `text` if you cannot see `structuredContent`.
    #[serde(default)]
    #[schemars(with = "Format")]
    format: Option<Format>,
}

/// What was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct SearchAnswer {
    /// A note on the texts below.
    untrusted: String,
    /// The results, best first.
    pub(super) results: Vec<SearchResult>,
    /// What to know of the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
    /// What to do next.
    next_step: String,
    #[serde(skip)]
    page: Page,
}

/// A chunk that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct SearchResult {
    /// What `fetch` takes to read it.
    pub(super) id: String,
    /// Position in the answer, from 1.
    rank: usize,
    /// Its sections, or the name of its file.
    pub(super) title: String,
    /// Its place: `chunk://COLLECTION/DOC_ID#L10-L80`.
    pub(super) url: String,
    /// The collection.
    collection: String,
    /// The document.
    doc_id: String,
    /// The chunk.
    chunk_id: String,
    /// First line, 1-based.
    start_line: u32,
    /// Last line, 1-based, inclusive.
    end_line: u32,
    /// What the results are ordered by.
    score: f64,
    /// How well it answers the query, from 0 to 1, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    /// What stands above the chunk: titles, or the lines that announce its class.
    #[serde(skip_serializing_if = "String::is_empty")]
    context: String,
    /// The text of the chunk, exactly as in its source; absent where it did not fit into the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The beginning of the text on one line.
    content_preview: String,
    /// As the preview; or the text that is searched, where that is not the source's.
    pub(super) text: String,
    /// What is known of its file and its place there.
    metadata: Metadata,
}

/// The position of an answer within all results.
#[derive(Clone, Debug, Default)]
struct Page {
    offset: usize,
    /// Whether the page is full, so that there may be more.
    is_full: bool,
    max_tokens: usize,
    unfinished: Option<IndexState>,
    /// Whether the results probably do not answer.
    is_weak: bool,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search the index";
    const DESCRIPTION: &'static str = "Search the index of documents and source code. Answers the best chunks with their texts, documents and lines, \
best first. Use it first; then `fetch` to read more.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = SearchAnswer;

    fn output() -> Option<Arc<JsonObject>> {
        Some(output::<SearchAnswer>())
    }

    fn format(arguments: &Arguments) -> Option<Format> {
        arguments.format
    }

    fn work(server: &McpServer, arguments: &Arguments) -> Result<SearchAnswer, CallError> {
        search(server, arguments)
    }
}

fn usual_limit() -> usize {
    SearchRequest::default().top_k
}

fn limit(_: &mut SchemaGenerator) -> Schema {
    option("top_k")
}

fn offset(_: &mut SchemaGenerator) -> Schema {
    option("offset")
}

impl Arguments {
    /// Arguments for the first `limit` results.
    pub(super) fn new(query: String, limit: usize) -> Self {
        Self { query, limit, offset: 0, collection: None, filter: None, format: None }
    }
}

/// Searches, and logs the query with what it found.
fn search(server: &McpServer, call: &Arguments) -> Result<SearchAnswer, CallError> {
    let (engine, started) = (server.engine(), Instant::now());
    let unfinished = server.unfinished();
    let max_tokens = server.options().max_tokens;
    let page = |is_full| Page {
        offset: call.offset,
        is_full,
        max_tokens,
        unfinished: unfinished.clone(),
        is_weak: false,
    };
    let filter = call.filter.as_deref().map(Filter::parse).transpose();
    let filter = filter.map_err(chunkwright_engine::Error::from)?.unwrap_or_default();
    let named = call.collection.as_deref();
    let all_collections = named.is_none() && scope::means_all(engine)?;
    // In the default collection, the id of a chunk is enough.
    let usual = scope::collection(engine, None)?;
    let collections = if all_collections { Vec::new() } else { vec![named.unwrap_or(&usual).to_owned()] };
    let request = SearchRequest {
        query: call.query.clone(),
        collections,
        all_collections,
        top_k: call.limit,
        offset: call.offset,
        filter,
        ..SearchRequest::default()
    };
    let answer = match engine.search(&request) {
        Ok(answer) => answer,
        // A collection that is being indexed for the first time does not exist yet.
        Err(error) if unfinished.is_some() && named.is_none() && error.code() == Code::UNKNOWN_COLLECTION => {
            return Ok(SearchAnswer::new(Vec::new(), Vec::new(), page(false)));
        }
        Err(error) => return Err(error.into()),
    };
    let Found::Hits { hits } = answer.found else {
        return Ok(SearchAnswer::new(Vec::new(), Vec::new(), page(false)));
    };
    server.log(Search::NAME, &call.query, named, started, Some(&hits));
    let is_full = hits.len() == call.limit;
    let mut results: Vec<SearchResult> = hits.into_iter().map(|hit| SearchResult::new(hit, &usual)).collect();
    keep_outlines(&mut results, max_tokens / SHARE_OF_OUTLINES, &*engine.counter()?);
    let is_weak = answer.notices.iter().any(|notice| notice.code == NoticeCode::ProbablyNoAnswer);
    let notices = answer.notices.into_iter().map(|notice| notice.message).collect();
    Ok(SearchAnswer::new(results, notices, Page { is_weak, ..page(is_full) }))
}

/// Keeps the outline of a document only with its best result, as far as there is room.
fn keep_outlines(results: &mut [SearchResult], room: usize, counter: &dyn chunkwright::TokenCounter) {
    let mut known = HashSet::new();
    let mut left = room;
    for result in results {
        let toc = &mut result.metadata.doc_toc;
        let is_first = known.insert((result.collection.clone(), result.doc_id.clone()));
        match left.checked_sub(counter.count(toc)) {
            Some(rest) if is_first => left = rest,
            _ => toc.clear(),
        }
    }
}

impl SearchResult {
    fn new(hit: Hit, usual: &str) -> Self {
        let Hit { collection, found, content_preview, metadata, text, .. } = hit;
        let record = found.record;
        let chunk_id = record.chunk_id.to_string();
        let lines = format!("{}#L{}-L{}", record.doc_id, record.start_line, record.end_line);
        let title = match &record.section_path[..] {
            [] => metadata.file_name.clone(),
            titles => titles.join(" > "),
        };
        let id =
            if collection == usual { chunk_id.clone() } else { Uri::new(&collection, &chunk_id).to_string() };
        Self {
            id,
            rank: found.rank,
            title,
            url: Uri::new(&collection, lines).to_string(),
            collection,
            doc_id: record.doc_id,
            chunk_id,
            start_line: record.start_line,
            end_line: record.end_line,
            score: found.score,
            relevance: found.relevance,
            context: record.context,
            content: Some(record.content),
            text: text.unwrap_or_else(|| content_preview.clone()),
            content_preview,
            metadata,
        }
    }
}

impl SearchAnswer {
    fn new(results: Vec<SearchResult>, notices: Vec<String>, page: Page) -> Self {
        let next_step = page.next_step(&results, results.len());
        Self { untrusted: UNTRUSTED.to_owned(), results, notices, next_step, page }
    }
}

impl Page {
    /// What to do next, when `results` of the `found` ones are in the answer. The text contains only numbers from what
    /// was found.
    fn next_step(&self, results: &[SearchResult], found: usize) -> String {
        let mut said = String::new();
        if let Some(state) = &self.unfinished {
            let _ = match state {
                IndexState::Failed { .. } => write!(said, "The last indexing failed, see `status`. "),
                state => write!(said, "The index is not complete ({state}): search again later for more. "),
            };
        }
        if found == 0 && self.offset > 0 {
            said.push_str("There are no more results.");
            return said;
        }
        if found == 0 {
            said.push_str("Nothing was found: search with other words; `status` lists the collections, `outline` their documents.");
            return said;
        }
        if self.is_weak {
            said.push_str("Probably no answer here: search once more with other words, and say so if nothing better is found. ");
        }
        let without = results.iter().filter(|result| result.content.is_none()).count();
        said.push_str("Call `fetch` with the id of a result to read it in full, or with `DOC_ID#L10-L80` to read what stands around it.");
        if without > 0 {
            let _ = write!(
                said,
                " {without} results have no `content`, to keep within {} tokens: fetch those that matter.",
                self.max_tokens
            );
        }
        if self.is_full || results.len() < found {
            let next = self.offset + results.len();
            let _ = write!(said, " Call `search` with \"offset\": {next} for further results.");
        }
        said
    }
}

impl Answer for SearchAnswer {
    /// Outlines are dropped first, then texts, then results, each from the last result on.
    fn steps(&self) -> usize {
        self.results.len() * 3
    }

    fn reduced(&self, steps: usize) -> Self {
        let found = self.results.len();
        let kept = |phase: usize| found - steps.saturating_sub(phase * found).min(found);
        let (outlines, contents, results) = (kept(0), kept(1), kept(2));
        let mut reduced = self.clone();
        for result in reduced.results.iter_mut().skip(outlines) {
            result.metadata.doc_toc.clear();
        }
        for result in reduced.results.iter_mut().skip(contents) {
            result.content = None;
            result.text.clone_from(&result.content_preview);
        }
        reduced.results.truncate(results);
        if steps > found * 2 {
            reduced.notices.clear();
        }
        reduced.next_step = self.page.next_step(&reduced.results, found);
        reduced
    }

    fn shell(&self, where_it_is: &str) -> Self {
        let untrusted = self.untrusted.clone();
        let next_step = where_it_is.to_owned();
        Self { untrusted, results: Vec::new(), notices: Vec::new(), next_step, page: Page::default() }
    }
}
