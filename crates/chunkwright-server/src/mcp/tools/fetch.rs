//! The tool `fetch`: the exact source of a document, a chunk or lines.
//!
//! It returns the exact slice of the source; HTML and notebooks come as they render, unless the source is asked for. If
//! that is larger than an answer may be, it returns a page, cut at the end of a line, and `next`, which names the next
//! page. All pages together are the source, byte for byte. Of several ids, the last ones are shortened first.

mod part;

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use chunkwright::{LineIndex, Span};
use chunkwright_engine::{
    DocumentInfo, Expand, ExpandRequest, FetchForm, FetchRequest, Rendering, SOURCE_PART,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::mcp::McpServer;
use crate::mcp::answer::{Answer, Format, UNTRUSTED};
use crate::mcp::arguments::output;
use crate::mcp::markdown::{fenced, name};
use crate::mcp::scope::{self, CallError};
use crate::mcp::tool::{Effect, Tool, logged};
use crate::mcp::uri::Uri;
use part::{Part, ends};

pub(super) struct Fetch;

/// Maximum number of bytes per token in natural text. The search for the end of a page covers no more than that.
const BYTES_OF_TOKEN: usize = 6;

/// Divisor of an answer's size, in bytes, that gives the room for the outline of the document.
const SHARE_OF_OUTLINE: usize = 8;

/// The beginning of an id that names a symbol.
const SYMBOL: &str = "symbol:";

/// Maximum number of definitions that a symbol stands for.
const MAX_DEFINITIONS: usize = 5;

/// Maximum number of ids in a call.
const MAX_IDS: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Of a hit, `PATH`, `PATH:10-80`, `symbol:NAME`, or `next` of an earlier answer
    id: String,
    /// Further ids
    #[serde(default)]
    ids: Vec<String>,
    /// Read the whole section around a hit
    #[serde(default)]
    section: bool,
    /// Chunks to read before and after a hit
    #[serde(default)]
    #[schemars(range(max = 50))]
    window: u32,
    /// HTML and notebooks as their source, not rendered
    #[serde(default)]
    raw: bool,
    /// See `status`
    #[serde(default)]
    #[schemars(with = "String")]
    collection: Option<String>,
    #[serde(default)]
    #[schemars(with = "Format")]
    format: Option<Format>,
}

/// How a reference is read.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mcp) struct Way {
    /// What a chunk is read with.
    with: Option<Expand>,
    form: FetchForm,
}

/// A source, or a page of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct FetchAnswer {
    /// A note on the texts below.
    untrusted: String,
    /// What was asked for.
    pub(super) id: String,
    /// The name of the document.
    pub(super) title: String,
    /// The place of the text: `chunk://COLLECTION/DOC_ID#L10-L80`.
    pub(super) url: String,
    /// The collection.
    collection: String,
    /// The document.
    doc_id: String,
    /// Its first line, 1-based.
    start_line: usize,
    /// Its last line, 1-based, inclusive.
    end_line: usize,
    /// The exact slice of the source, or how that renders.
    pub(super) text: String,
    /// What is known of the document.
    pub(super) metadata: Map<String, Value>,
    /// What `fetch` takes to read on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "String::is_empty")]
    next_step: String,
    /// What the further ids name, if there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<FetchAnswer>,
    /// Ids that could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<String>,
    #[serde(skip)]
    source: Source,
}

/// The source of a page.
#[derive(Clone, Debug)]
struct Source {
    uri: Uri,
    file_hash: String,
    /// The source from the beginning of the page, as much as may fit.
    text: String,
    /// How the requested range renders, if it does.
    rendering: Option<Rendering>,
    /// The offset of the text in the requested range, in bytes.
    offset: usize,
    /// Length of the requested range, in bytes.
    length: usize,
    /// The line where the text begins.
    line: usize,
    /// Possible ends of the page, in bytes of `text`, in order.
    ends: Vec<usize>,
}

impl Tool for Fetch {
    const NAME: &'static str = "fetch";
    const TITLE: &'static str = "Read a source";
    const DESCRIPTION: &'static str = "Read hits, documents, lines or symbols exactly. A long text comes in pages: fetch `next` to read on.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = FetchAnswer;

    fn output() -> Option<Arc<JsonObject>> {
        Some(output::<FetchAnswer>())
    }

    fn format(arguments: &Arguments) -> Option<Format> {
        arguments.format
    }

    fn work(server: &McpServer, arguments: &Arguments) -> Result<FetchAnswer, CallError> {
        logged::<Self>(server, &arguments.id, arguments.collection.as_deref(), || fetch(server, arguments))
    }
}

impl Arguments {
    /// The arguments for `id` alone.
    pub(super) fn new(id: String) -> Self {
        Self { id, ids: Vec::new(), section: false, window: 0, raw: false, collection: None, format: None }
    }

    fn way(&self) -> Way {
        let form = if self.raw { FetchForm::Source } else { FetchForm::Shown };
        let with = match (self.section, self.window) {
            (true, _) => Some(Expand::Parent),
            (false, 0) => None,
            (false, window) => Some(Expand::Neighbours(window as usize)),
        };
        Way { with, form }
    }
}

/// Fetches everything that a call names. What cannot be read fails the call only if nothing can.
fn fetch(server: &McpServer, call: &Arguments) -> Result<FetchAnswer, CallError> {
    if call.ids.len() >= MAX_IDS {
        return Err(CallError::Ids(MAX_IDS));
    }
    let mut found: Vec<FetchAnswer> = Vec::new();
    let mut failed: Vec<(&String, CallError)> = Vec::new();
    for id in [&call.id].into_iter().chain(&call.ids) {
        match named(server, id, call.collection.as_deref()) {
            Ok(uris) => {
                for (id, uri) in uris {
                    match fetch_uri(server, &id, uri, call.way()) {
                        Ok(answer) => found.push(answer),
                        Err(error) => failed.push((&call.id, error)),
                    }
                }
            }
            Err(error) => failed.push((id, error)),
        }
    }
    let mut found = found.into_iter();
    let Some(first) = found.next() else {
        return Err(failed.swap_remove(0).1);
    };
    let failed = failed.into_iter().map(|(_, error)| server.said(&error.to_string())).collect();
    Ok(FetchAnswer { more: found.collect(), failed, ..first })
}

/// What an id names: one place, or the definitions of a symbol.
fn named(server: &McpServer, id: &str, collection: Option<&str>) -> Result<Vec<(String, Uri)>, CallError> {
    let engine = server.engine();
    let Some(symbol) = id.strip_prefix(SYMBOL) else {
        return Ok(vec![(id.to_owned(), scope::target(engine, id, collection)?)]);
    };
    let collection = scope::collection(engine, collection)?;
    let definitions =
        engine.collection(&collection).read(|snapshot| snapshot.definitions(symbol, MAX_DEFINITIONS))?;
    if definitions.is_empty() {
        return Err(CallError::Symbol(symbol.to_owned()));
    }
    let uri = |reference: String| (reference.clone(), Uri::new(&collection, reference));
    Ok(definitions.into_iter().map(uri).collect())
}

/// Fetches the target of `uri`, which was requested as `id`.
pub(in crate::mcp) fn fetch_uri(
    server: &McpServer,
    id: &str,
    uri: Uri,
    way: Way,
) -> Result<FetchAnswer, CallError> {
    let collection = server.engine().collection(&uri.collection);
    let mut reference = uri.reference.clone();
    let max_tokens = server.options().max_tokens;
    let most = max_tokens * BYTES_OF_TOKEN;
    let read = collection.read(|snapshot| {
        reference.clone_from(&uri.reference);
        if let Ok(info) = snapshot.document(&uri.reference)
            && info.bytes > SOURCE_PART as u64
            && (way.form == FetchForm::Source || !info.is_rendered())
        {
            return Part::read(snapshot, &uri, most);
        }
        if let Some(with) = way.with {
            // The whole lines of a chunk and what it is read with, so that their pages have a URI.
            // Of a section that is too large for an answer, what stands around the chunk.
            let room = (with == Expand::Parent).then_some(max_tokens * 3 / 4);
            let expand = Some(ExpandRequest { with, max_tokens: room });
            let request = |reference: &str| FetchRequest { expand, ..FetchRequest::new(reference) };
            let mut expanded = snapshot.fetch(&request(&reference))?;
            // Of lines, the first chunk is read so.
            if expanded.found.is_none()
                && expanded.reference != expanded.document.doc_id
                && let Some(first) = expanded.chunks.first()
            {
                expanded = snapshot.fetch(&request(&first.chunk_id.to_string()))?;
            }
            reference = expanded.reference;
        }
        let fetched = snapshot.fetch_text(&reference, way.form)?;
        Ok(Part::of(fetched, uri.page.as_ref(), most))
    })?;
    let uri = Uri { reference, ..uri };
    let info = &read.document;
    let offset = match &uri.page {
        None => 0,
        Some(page) if !page.is_of(&info.file_hash) => return Err(CallError::Changed(first(&uri))),
        Some(page) => page.offset,
    };
    let is_page = |text: &String| offset == 0 || !text.is_empty();
    let mut text = read.text.filter(is_page).ok_or_else(|| CallError::Page(id.to_owned()))?;
    let mut ends = ends(&text, offset + text.len() == read.length);
    if let Some(rendering) = &read.rendering {
        // What renders as nothing costs nothing.
        let (mut from, mut length) = (0, 0);
        let mut fits = |&end: &usize| {
            length += rendering.read(offset + from..offset + end).len();
            from = end;
            length <= most
        };
        let kept = ends.iter().take_while(|end| fits(end)).count().max(1);
        ends.truncate(kept);
        text.truncate(ends[kept - 1]);
    }
    let source = Source {
        ends,
        file_hash: info.file_hash.clone(),
        text,
        rendering: read.rendering,
        offset,
        length: read.length,
        line: read.line,
        uri: Uri { page: None, ..uri },
    };
    let mut metadata = metadata(info);
    if let Some(chunk) = read.found {
        metadata.insert("chunk_id".into(), json!(chunk));
    }
    let toc = &read.doc_toc;
    if offset == 0 && !toc.is_empty() && toc.len() <= most / SHARE_OF_OUTLINE {
        metadata.insert("doc_toc".into(), json!(toc));
    }
    let answer = FetchAnswer {
        untrusted: UNTRUSTED.to_owned(),
        id: id.to_owned(),
        title: info.doc_id.rsplit('/').next().unwrap_or_default().to_owned(),
        url: String::new(),
        collection: source.uri.collection.clone(),
        doc_id: info.doc_id.clone(),
        start_line: source.line,
        end_line: source.line,
        text: String::new(),
        metadata,
        next: None,
        next_step: String::new(),
        more: Vec::new(),
        failed: Vec::new(),
        source,
    };
    Ok(answer.with_text_to(answer.source.text.len()))
}

/// The same URI without its page.
fn first(uri: &Uri) -> String {
    Uri { page: None, ..uri.clone() }.to_string()
}

/// Metadata of a document, for readers that read no further.
fn metadata(info: &DocumentInfo) -> Map<String, Value> {
    let DocumentInfo { format, bytes, chunks, indexed_at, file_hash, meta, .. } = info;
    let known = json!({
        "format": format, "bytes": bytes, "chunks": chunks, "indexed_at": indexed_at, "file_hash": file_hash,
    });
    let mut known = known.as_object().cloned().unwrap_or_default();
    known.extend(meta.iter().map(|(name, text)| (format!("meta.{name}"), json!(text))));
    known
}

impl FetchAnswer {
    /// The answer with the text of its source up to `end`.
    fn with_text_to(&self, end: usize) -> Self {
        let Source { uri, file_hash, text, rendering, offset, length, line, .. } = &self.source;
        let source = &text[..end];
        let lines = LineIndex::new(source);
        let last = line + lines.lines(Span::new(0, source.len())).1 - 1;
        let text = match rendering {
            Some(rendering) => rendering.read(*offset..offset + end).into_owned(),
            None => source.to_owned(),
        };
        let place = format!("{}#L{line}-L{last}", self.doc_id);
        let next = offset + end;
        let next_line = || line + lines.line(end as u32) - 1;
        let next = (next < *length).then(|| uri.at(next, next_line(), file_hash).to_string());
        let next_step = match &next {
            Some(_) => format!(
                "This is a page: bytes {offset} to {} of {length}. Call `fetch` with `next` to read on.",
                offset + end
            ),
            None if *offset > 0 => "This is the last page.".to_owned(),
            None => String::new(),
        };
        let url = Uri::new(&self.collection, place).to_string();
        Self { url, end_line: last, text, next, next_step, ..self.clone() }
    }

    /// The format of the document.
    pub(in crate::mcp) fn format(&self) -> &str {
        self.metadata.get("format").and_then(Value::as_str).unwrap_or_default()
    }
}

impl FetchAnswer {
    /// Number of steps by which this text alone can be reduced.
    fn own_steps(&self) -> usize {
        self.source.ends.len()
    }

    /// This text alone, reduced: the outline of the document is dropped first, then the text is shortened.
    fn reduced_alone(&self, steps: usize) -> Self {
        let Some(step) = steps.checked_sub(1) else { return self.clone() };
        let ends = &self.source.ends;
        let mut reduced = self.with_text_to(ends[ends.len() - 1 - step.min(ends.len() - 1)]);
        reduced.metadata.shift_remove("doc_toc");
        reduced
    }

    fn write(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}:{}-{}", name(&self.doc_id), self.start_line, self.end_line);
        let end = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { NO_LINE_BREAK };
        out.push_str(&fenced("", &self.text));
        out.push_str(end);
        if let Some(next) = &self.next {
            let _ = writeln!(out, "next: {next}\n{}", self.next_step);
        }
    }
}

/// What is said below a text that ends inside a line.
const NO_LINE_BREAK: &str = "(no line break at the end)\n";

impl Answer for FetchAnswer {
    /// The last texts are reduced first.
    fn steps(&self) -> usize {
        self.own_steps() + self.more.iter().map(Self::own_steps).sum::<usize>()
    }

    fn reduced(&self, steps: usize) -> Self {
        let mut left = steps;
        let mut more = self.more.clone();
        for (reduced, whole) in more.iter_mut().zip(&self.more).rev() {
            let own = left.min(whole.own_steps());
            left -= own;
            if own > 0 {
                *reduced = whole.reduced_alone(own);
            }
        }
        Self { more, failed: self.failed.clone(), ..self.reduced_alone(left) }
    }

    fn markdown(&self) -> String {
        let mut out = format!("{UNTRUSTED}\n");
        for part in [self].into_iter().chain(&self.more) {
            out.push('\n');
            part.write(&mut out);
        }
        for failed in &self.failed {
            let _ = write!(out, "\n{failed}");
        }
        out
    }
}

impl FetchAnswer {
    /// The text of the largest page within `max_tokens`, its URI, and the URI of the next page, for resources.
    pub(in crate::mcp) fn into_page(
        self,
        max_tokens: usize,
        counter: &dyn chunkwright::TokenCounter,
    ) -> (String, Option<String>) {
        let steps: Range<usize> = 0..self.steps();
        let fits = |step: usize| counter.count(&self.reduced(step).text) <= max_tokens;
        let (mut below, mut enough) = (steps.start, steps.end);
        if fits(0) {
            return (self.text, self.next);
        }
        while below + 1 < enough {
            let middle = below.midpoint(enough);
            if fits(middle) { enough = middle } else { below = middle }
        }
        let Self { text, next, .. } = self.reduced(enough);
        (text, next)
    }
}
