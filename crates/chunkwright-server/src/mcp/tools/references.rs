//! The tool `references`: where a symbol is defined, what is inside it and what uses it, or what is related to a
//! document.

use std::sync::Arc;

use chunkwright_engine::{Filter, RelatedAnswer, Snapshot, SymbolPlace, SymbolPlaces};
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

pub(super) struct References;

/// Maximum number of rows per page, before tokens are counted.
const PAGE: usize = 200;

/// Documents in each list of related ones.
const RELATED: usize = 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A name from the code, such as `Router::route`; or a document, to list related ones
    symbol: String,
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

/// The lines of a symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ReferencesAnswer {
    /// A note on the texts below.
    untrusted: String,
    /// The collection.
    collection: String,
    /// The lines: those that define the symbol, then those that define what is inside it, then those that document and
    /// use it.
    rows: Vec<Row>,
    /// Number of rows of all pages.
    total: usize,
    /// What to do next.
    next_step: String,
    #[serde(skip)]
    offset: usize,
}

/// A line, or a related document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Row {
    /// What `fetch` takes to read the chunk around it.
    id: String,
    /// The line, 1-based; absent for a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// `definition`, `declaration`, `member`, `documentation`, `use`, `test`, `example`, `related` or `sibling`.
    role: &'static str,
    /// The line.
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
}

impl Tool for References {
    const NAME: &'static str = "references";
    const TITLE: &'static str = "List where a symbol is defined and used";
    const DESCRIPTION: &'static str = "List the lines that define a symbol, its members, and the lines that document and use it. With the id of a \
document, list related documents.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = ReferencesAnswer;

    fn output() -> Option<Arc<JsonObject>> {
        Some(output::<ReferencesAnswer>())
    }

    fn format(arguments: &Arguments) -> Option<Format> {
        arguments.format
    }

    fn work(server: &McpServer, arguments: &Arguments) -> Result<ReferencesAnswer, CallError> {
        let named = arguments.collection.as_deref();
        logged::<Self>(server, &arguments.symbol, named, || references(server, arguments))
    }
}

/// Lists the lines of a symbol, or the documents related to one.
fn references(server: &McpServer, call: &Arguments) -> Result<ReferencesAnswer, CallError> {
    let engine = server.engine();
    let usual = scope::collection(engine, None)?;
    let collection = scope::collection(engine, call.collection.as_deref())?;
    let is_usual = collection == usual;
    let id = |reference: String| {
        if is_usual { reference } else { Uri::new(&collection, reference).to_string() }
    };
    let rows = engine.collection(&collection).read(|snapshot: &Snapshot| {
        if snapshot.document(&call.symbol).is_ok() {
            return Ok(documents(snapshot.related(&call.symbol, RELATED)?, &id));
        }
        Ok(lines(snapshot.references(&call.symbol, &Filter::default())?, &id))
    })?;
    let total = rows.len();
    let rows = rows.into_iter().skip(call.offset).take(PAGE).collect();
    Ok(ReferencesAnswer::new(collection, rows, total, call.offset))
}

fn lines(places: SymbolPlaces, id: &dyn Fn(String) -> String) -> Vec<Row> {
    let row = |role: Option<&'static str>| {
        move |place: SymbolPlace| {
            let SymbolPlace { doc_id, start_line, end_line, line, text, .. } = place;
            let id = id(format!("{doc_id}#L{start_line}-L{end_line}"));
            Row { id, line: Some(line), role: role.unwrap_or(place.role.as_str()), text }
        }
    };
    let SymbolPlaces { definitions, members, references, .. } = places;
    let rows = definitions.into_iter().map(row(None)).chain(members.into_iter().map(row(Some("member"))));
    rows.chain(references.into_iter().map(row(None))).collect()
}

fn documents(related: RelatedAnswer, id: &dyn Fn(String) -> String) -> Vec<Row> {
    let row = |role| move |doc_id: String| Row { id: id(doc_id), line: None, role, text: String::new() };
    let about = related.related.into_iter().map(|related| related.doc_id).map(row("related"));
    about.chain(related.siblings.nearest.into_iter().map(row("sibling"))).collect()
}

impl Row {
    /// The row on a line, as `ripgrep` prints places.
    fn line(&self) -> String {
        let Self { id, line, role, text } = self;
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        let path = id.rsplit_once("#L").map_or(&**id, |(path, _)| path);
        format!("{}{line} {role} {}\n", name(path), name(text))
    }
}

impl ReferencesAnswer {
    fn new(collection: String, rows: Vec<Row>, total: usize, offset: usize) -> Self {
        let (untrusted, next_step) = (UNTRUSTED.to_owned(), String::new());
        Self { untrusted, collection, rows, total, next_step, offset }.with_next_step()
    }

    fn with_next_step(mut self) -> Self {
        let next = self.offset + self.rows.len();
        self.next_step = match self.total {
            0 => "Nothing has this name. `search` finds similar ones.".to_owned(),
            total if next < total => format!(
                "Call `references` with \"offset\": {next} for further rows of {total}, or `fetch` with the id of a row."
            ),
            _ => "Call `fetch` with the id of a row to read it.".to_owned(),
        };
        self
    }
}

impl Answer for ReferencesAnswer {
    fn steps(&self) -> usize {
        self.rows.len()
    }

    fn reduced(&self, steps: usize) -> Self {
        let mut reduced = self.clone();
        reduced.rows.truncate(self.rows.len().saturating_sub(steps));
        reduced.with_next_step()
    }

    fn markdown(&self) -> String {
        let lines: String = self.rows.iter().map(Row::line).collect();
        format!("{UNTRUSTED}\n\n{}{}", fenced("", &lines), self.next_step)
    }
}
