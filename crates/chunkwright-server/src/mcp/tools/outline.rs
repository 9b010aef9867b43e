//! The tool `outline`: the sections of a document, or the documents of a collection.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use chunkwright_engine::{FetchRequest, OutlineRow, Snapshot};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::McpServer;
use crate::mcp::answer::{Answer, Format, UNTRUSTED};
use crate::mcp::arguments::output;
use crate::mcp::markdown::{fenced, name};
use crate::mcp::scope::{self, CallError};
use crate::mcp::tool::{Effect, Tool, logged};
use crate::mcp::uri::Uri;

pub(super) struct Outline;

/// Maximum number of rows per page, before tokens are counted.
const PAGE: usize = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A document; without it, documents are listed
    #[serde(default)]
    #[schemars(with = "String")]
    id: Option<String>,
    /// See `status`
    #[serde(default)]
    #[schemars(with = "String")]
    collection: Option<String>,
    /// Rows to skip
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    #[schemars(with = "Format")]
    format: Option<Format>,
}

/// Sections of a document, or documents of a collection.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct OutlineAnswer {
    /// A note on the texts below.
    untrusted: String,
    /// The collection.
    collection: String,
    /// The document whose sections these are; absent for a list of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    doc_id: Option<String>,
    /// The sections or documents, in order.
    rows: Vec<Row>,
    /// Number of rows of all pages.
    total: usize,
    /// What to do next.
    next_step: String,
    #[serde(skip)]
    offset: usize,
}

/// A section, or a document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Row {
    /// What `fetch` takes to read it.
    id: String,
    /// Its title; of a document in a list its id.
    title: String,
    /// `document`, `heading`, `key`, or the kind of a symbol.
    kind: Cow<'static, str>,
    /// Number of sections around it.
    depth: usize,
    /// Tokens of its text; absent in a list of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
    /// The lines that announce a symbol.
    #[serde(skip_serializing_if = "String::is_empty")]
    signature: String,
    /// First and last line.
    #[serde(skip)]
    lines: Option<(usize, usize)>,
}

impl Tool for Outline {
    const NAME: &'static str = "outline";
    const TITLE: &'static str = "List sections or documents";
    const DESCRIPTION: &'static str =
        "List the headings and symbols of a document with their lines; without `id`, the documents.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = OutlineAnswer;

    fn output() -> Option<Arc<JsonObject>> {
        Some(output::<OutlineAnswer>())
    }

    fn format(arguments: &Arguments) -> Option<Format> {
        arguments.format
    }

    fn work(server: &McpServer, arguments: &Arguments) -> Result<OutlineAnswer, CallError> {
        let (id, named) = (arguments.id.as_deref().unwrap_or_default(), arguments.collection.as_deref());
        logged::<Self>(server, id, named, || outline(server, arguments))
    }
}

/// Lists sections or documents.
fn outline(server: &McpServer, call: &Arguments) -> Result<OutlineAnswer, CallError> {
    let engine = server.engine();
    let named = call.collection.as_deref();
    let usual = scope::collection(engine, None)?;
    let Some(id) = &call.id else {
        let collection = scope::collection(engine, named)?;
        let documents = engine.collection(&collection).read(Snapshot::documents)?;
        let total = documents.len();
        let is_usual = collection == usual;
        let page = documents.into_iter().skip(call.offset).take(PAGE);
        let rows = page.map(|document| Row::of_document(is_usual, &collection, document.doc_id)).collect();
        return Ok(OutlineAnswer::new(collection, None, rows, total, call.offset));
    };
    let Uri { collection, reference, .. } = scope::target(engine, id, named)?;
    let answer = engine.collection(&collection).read(|snapshot| {
        // A chunk or lines also belong to a document.
        let doc_id = match snapshot.document(&reference) {
            Ok(document) => document.doc_id,
            Err(_) => snapshot.fetch(&FetchRequest::new(&reference))?.document.doc_id,
        };
        snapshot.outline(&doc_id)
    })?;
    let doc_id = answer.sections.first().map(|row| row.doc_id.clone());
    let total = answer.sections.len();
    let is_usual = collection == usual;
    let page = answer.sections.into_iter().skip(call.offset).take(PAGE);
    let rows = page.map(|row| Row::of_section(is_usual, &collection, row)).collect();
    Ok(OutlineAnswer::new(collection, doc_id, rows, total, call.offset))
}

/// The `id` by which `fetch` reads `reference`.
fn id(is_usual: bool, collection: &str, reference: String) -> String {
    if is_usual { reference } else { Uri::new(collection, reference).to_string() }
}

impl Row {
    fn of_document(is_usual: bool, collection: &str, doc_id: String) -> Self {
        let (kind, title) = (Cow::Borrowed("document"), doc_id.clone());
        Self {
            id: id(is_usual, collection, doc_id),
            title,
            kind,
            depth: 0,
            tokens: None,
            signature: String::new(),
            lines: None,
        }
    }

    fn of_section(is_usual: bool, collection: &str, row: OutlineRow) -> Self {
        let OutlineRow { doc_id, kind, title, section_path, start_line, end_line, tokens, signature, .. } =
            row;
        Self {
            id: id(is_usual, collection, format!("{doc_id}#L{start_line}-L{end_line}")),
            title,
            kind: Cow::Borrowed(kind),
            depth: section_path.len(),
            tokens: Some(tokens),
            signature,
            lines: Some((start_line, end_line)),
        }
    }

    /// A row as a model reads it.
    fn line(&self) -> String {
        let indent = "  ".repeat(self.depth);
        let lines = self.lines.map(|(start, end)| format!("{start}-{end} ")).unwrap_or_default();
        let tokens = self.tokens.map(|tokens| format!(" ({tokens})")).unwrap_or_default();
        format!("{indent}{lines}{}{tokens}\n", name(&self.title))
    }
}

impl OutlineAnswer {
    fn new(collection: String, doc_id: Option<String>, rows: Vec<Row>, total: usize, offset: usize) -> Self {
        let untrusted = UNTRUSTED.to_owned();
        let next_step = String::new();
        let answer = Self { untrusted, collection, doc_id, rows, total, next_step, offset };
        answer.with_next_step()
    }

    fn with_next_step(mut self) -> Self {
        let next = self.offset + self.rows.len();
        let read = if self.doc_id.is_some() {
            "`fetch` reads lines: `PATH:10-80`."
        } else {
            "`outline` with one of these as `id` lists its sections; `fetch` reads it."
        };
        let more = format!(" Call `outline` with \"offset\": {next} for further rows of {}.", self.total);
        self.next_step = if next < self.total { read.to_owned() + &more } else { read.to_owned() };
        self
    }
}

impl Answer for OutlineAnswer {
    fn steps(&self) -> usize {
        self.rows.len()
    }

    fn reduced(&self, steps: usize) -> Self {
        let mut reduced = self.clone();
        reduced.rows.truncate(self.rows.len().saturating_sub(steps));
        reduced.with_next_step()
    }

    fn markdown(&self) -> String {
        let mut out = format!("{UNTRUSTED}\n\n");
        // Writing to a string cannot fail.
        if let Some(doc_id) = &self.doc_id {
            let _ = writeln!(out, "{}: lines, title, tokens", name(doc_id));
        }
        let rows: String = self.rows.iter().map(Row::line).collect();
        out.push_str(&fenced("", &rows));
        out.push_str(&self.next_step);
        out
    }
}
