//! A result of a search: a chunk, or a passage around chunks, as a model reads it.

use std::collections::HashSet;
use std::fmt::Write as _;

use chunkwright::TokenCounter;
use chunkwright_engine::{FoundPassage, Hit, Metadata, RelatedAnswer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mcp::markdown::{fenced, name};
use crate::mcp::uri::Uri;

/// Number of places of duplicates that a result names.
const PLACES: usize = 2;

/// A chunk, or a passage around chunks, that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct SearchResult {
    /// What `fetch` takes to read it.
    pub(in crate::mcp::tools) id: String,
    /// The document.
    doc_id: String,
    /// First line, 1-based.
    start_line: u32,
    /// Last line, 1-based, inclusive.
    end_line: u32,
    /// Titles of the sections around it; absent outside every section.
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// How well it answers the query, from 0 to 1, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    /// The number of the query that found it, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<usize>,
    /// Lines above it that it is read with: those that announce its class, the header of its table.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) context: String,
    /// Its text: exactly as in its source, or as that renders.
    pub(super) content: String,
    /// Whether only the beginning of the text fits into the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) shortened: bool,
    /// Places that say the same, the first few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) same: Vec<String>,
    /// Number of places that say the same.
    #[serde(skip_serializing_if = "is_zero")]
    same_count: usize,
    /// Documents of its folder, and about the same, where these were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related: Vec<String>,
    #[serde(flatten)]
    pub(in crate::mcp::tools) full: Option<Full>,
    #[serde(skip)]
    language: Option<String>,
    /// The `offset` of a search that begins with it.
    #[serde(skip)]
    pub(super) offset: usize,
}

/// What else is known of a result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Full {
    /// Position in the answer, from 1.
    rank: usize,
    /// The collection.
    collection: String,
    /// The best chunk.
    chunk_id: String,
    /// Its id by its position, with folders joined: `docs_bindingPath_chunk2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    joined_id: String,
    /// Its place: `chunk://COLLECTION/DOC_ID#L10-L80`.
    pub(in crate::mcp::tools) url: String,
    /// What the results are ordered by.
    score: f64,
    /// The beginning of the text on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::mcp::tools) content_preview: String,
    /// The text that is searched, where that is not the source's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::mcp::tools) text: Option<String>,
    /// What is known of its file and its place there; the outline of a document with its first result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Metadata")]
    pub(in crate::mcp::tools) metadata: Option<Metadata>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The documents of the same folder, then those about the same, each once.
fn documents_of(related: RelatedAnswer) -> Vec<String> {
    let mut named = related.siblings.nearest;
    for other in related.related {
        if !named.contains(&other.doc_id) {
            named.push(other.doc_id);
        }
    }
    named
}

/// Keeps the outline of a document only with its best result, as far as there is room.
pub(in crate::mcp::tools) fn keep_outlines(
    results: &mut [SearchResult],
    room: usize,
    counter: &dyn TokenCounter,
) {
    let mut known = HashSet::new();
    let mut left = room;
    for result in results {
        let Some(full) = &mut result.full else { continue };
        let Some(metadata) = &mut full.metadata else { continue };
        let is_first = known.insert((full.collection.clone(), result.doc_id.clone()));
        match left.checked_sub(counter.count(&metadata.doc_toc)) {
            Some(rest) if is_first => left = rest,
            _ => metadata.doc_toc.clear(),
        }
    }
}

impl SearchResult {
    pub(super) fn of_hit(hit: Hit, usual: &str) -> Self {
        let offset = hit.offset();
        let Hit {
            collection,
            joined_id,
            found,
            content_preview,
            metadata,
            text,
            of_query,
            related,
            copies,
            translations,
        } = hit;
        let record = found.record;
        let chunk_id = record.chunk_id.to_string();
        let lines = format!("{}#L{}-L{}", record.doc_id, record.start_line, record.end_line);
        let copies =
            copies.iter().map(|copy| Uri::new(&copy.collection, copy.chunk_id.to_string()).to_string());
        let translations_of = translations.iter().map(|translation| translation.doc_id.clone());
        let same_count = found.duplicates.len() + copies.len() + translations.len();
        let same =
            found.duplicates_at.into_iter().chain(copies).chain(translations_of).take(PLACES).collect();
        let borrowed = record.borrowed().to_owned();
        // A text that was edited by hand stands for its source.
        let shown = record.shown().to_owned();
        let url = Uri::new(&collection, lines).to_string();
        let full = Full {
            rank: found.rank,
            collection: collection.clone(),
            chunk_id: chunk_id.clone(),
            joined_id,
            url,
            score: found.score,
            content_preview,
            text,
            metadata: Some(metadata),
        };
        Self {
            title: record.section_path.join(" > "),
            doc_id: record.doc_id,
            start_line: record.start_line,
            end_line: record.end_line,
            relevance: found.relevance,
            query: of_query,
            context: borrowed,
            content: shown,
            shortened: false,
            same,
            same_count,
            related: related.map(documents_of).unwrap_or_default(),
            full: Some(full),
            language: record.language,
            offset,
            ..Self::placed(&collection, chunk_id, usual)
        }
    }

    pub(super) fn of_passage(passage: FoundPassage, usual: &str) -> Option<Self> {
        let offset = passage.offset();
        let FoundPassage { collection, found } = passage;
        let best = found.hits.first()?;
        let chunk_id = best.chunk_id.to_string();
        let passage = found.passage;
        let full = Full {
            rank: found.rank,
            collection: collection.clone(),
            chunk_id: chunk_id.clone(),
            joined_id: String::new(),
            url: Uri::new(&collection, &passage.reference).to_string(),
            score: best.score,
            content_preview: String::new(),
            text: None,
            metadata: None,
        };
        Some(Self {
            title: best.section_path.join(" > "),
            relevance: best.relevance,
            doc_id: passage.doc_id,
            start_line: passage.start_line,
            end_line: passage.end_line,
            content: passage.text,
            full: Some(full),
            offset,
            ..Self::placed(&collection, chunk_id, usual)
        })
    }

    /// A result without a text, in its collection.
    fn placed(collection: &str, chunk_id: String, usual: &str) -> Self {
        Self {
            id: if collection == usual { chunk_id } else { Uri::new(collection, &chunk_id).to_string() },
            doc_id: String::new(),
            start_line: 0,
            end_line: 0,
            title: String::new(),
            relevance: None,
            query: None,
            context: String::new(),
            content: String::new(),
            shortened: false,
            same: Vec::new(),
            same_count: 0,
            related: Vec::new(),
            full: None,
            language: None,
            offset: 0,
        }
    }

    /// The title, or the name of the file.
    pub(in crate::mcp::tools) fn title(&self) -> &str {
        if self.title.is_empty() { self.doc_id.rsplit('/').next().unwrap_or_default() } else { &self.title }
    }

    /// The title without its last part, where the text begins with that.
    fn title_above(&self) -> &str {
        let first = self.content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let (above, last) = self.title.rsplit_once(" > ").unwrap_or(("", &self.title));
        if first.contains(last) { above } else { &self.title }
    }

    pub(super) fn markdown(&self, above: &[Self], out: &mut String) {
        let place = format!("{}:{}-{}", name(&self.doc_id), self.start_line, self.end_line);
        let mut parts = vec![place];
        parts.extend(Some(name(self.title_above())).filter(|title| !title.is_empty()));
        parts.extend(self.relevance.map(|relevance| format!("{relevance:.2}")));
        parts.push(self.id.clone());
        parts.extend(self.query.map(|query| format!("query {query}")));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", parts.join(" | "));
        let text = match self.context_after(above) {
            "" => self.content.clone(),
            context => format!("{context}\n{}", self.content),
        };
        out.push_str(&fenced(self.language.as_deref().unwrap_or_default(), text.trim_end_matches('\n')));
        if self.shortened {
            out.push_str("(shortened: `fetch` reads the rest)\n");
        }
        if self.same_count > 0 {
            let named: Vec<String> = self.same.iter().map(|place| name(place)).collect();
            let rest = self.same_count - self.same.len().min(self.same_count);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            let _ = writeln!(out, "same: {}{more}", named.join(", "));
        }
        if !self.related.is_empty() {
            let named: Vec<String> = self.related.iter().map(|doc_id| name(doc_id)).collect();
            let _ = writeln!(out, "related: {}", named.join(", "));
        }
        if let Some(full) = &self.full {
            let mut known = serde_json::to_value(full).unwrap_or_default();
            if let Some(metadata) = known["metadata"].as_object_mut() {
                metadata.remove("doc_toc");
            }
            let _ = writeln!(out, "{known}");
            let toc = full.metadata.as_ref().map_or("", |metadata| metadata.doc_toc.as_str());
            if !toc.is_empty() {
                let _ = write!(out, "outline of the document:\n{}", fenced("", toc));
            }
        }
    }

    /// The lines of its context that follow those which a result above shows already, such as the class of both.
    fn context_after(&self, above: &[Self]) -> &str {
        let context = self.context.trim_end_matches('\n');
        let is_shown = |lines: &str| {
            let same = above.iter().filter(|it| it.doc_id == self.doc_id);
            // Whole lines: `class Pier` is not in `class PierHead`.
            same.flat_map(|it| [&it.context, &it.content])
                .any(|text| format!("\n{text}\n").contains(&format!("\n{lines}\n")))
        };
        let ends = context.match_indices('\n').map(|(at, _)| at).chain([context.len()]);
        let shown = ends.take_while(|end| is_shown(&context[..*end])).last().unwrap_or(0);
        context[shown..].trim_start_matches('\n')
    }
}
