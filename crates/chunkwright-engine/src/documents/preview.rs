//! What would the chunks of a document be, without any store?

use chunkwright::Record;
use chunkwright_source::{FormatHint, Input, NewSource};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ChunkRequest, DocumentStatistics, DocumentsRequest, ExplainRequest, ExplainedChunk};
use crate::engine::Engine;
use crate::error::Error;
use crate::notice::Notice;
use crate::put::{Base64, GivenDocument};

/// A document to be cut for a look: exactly one of `text` and `bytes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PreviewRequest {
    /// Its name, which tells its format; without one it is Markdown.
    pub doc_id: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// Its bytes, in base64: a file of any format, such as PDF.
    pub bytes: Option<Base64>,
    /// What tells its format, if its name does not.
    pub hint: Option<FormatHint>,
    /// How it is cut: keys of the settings, over those in force.
    pub settings: Map<String, Value>,
    /// Whether the answer says of every chunk why it begins and ends where it does.
    pub explain: bool,
    /// Whether source code gets summaries of its files, classes and functions.
    pub summaries: bool,
}

/// The chunks of a document, and what they are together.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreviewAnswer {
    /// The document.
    pub doc_id: String,
    /// Its chunks, in order.
    pub chunks: Vec<Record>,
    /// Summaries of source code, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<Record>,
    /// Why the chunks are as they are, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<ExplainedChunk>,
    /// Sizes, promises and lines.
    pub statistics: DocumentStatistics,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl Engine {
    /// Cuts a document by any settings, and stores nothing.
    ///
    /// # Errors
    ///
    /// A document that is malformed or cannot be read, settings that a request may not set or that cannot be used.
    pub fn preview(&self, request: PreviewRequest) -> Result<PreviewAnswer, Error> {
        let PreviewRequest { doc_id, text, bytes, hint, settings, explain, summaries } = request;
        let engine = self.with(self.settings().requested(settings)?, self.cancel_flag());
        let doc_id = doc_id.unwrap_or_else(|| "document.md".to_owned());
        let document = GivenDocument { doc_id, text, bytes, hint, ..GivenDocument::default() }.source()?;
        let doc_id = document.doc_id.clone();
        let input = input(document);
        let request = DocumentsRequest { inputs: vec![input.clone()], ..DocumentsRequest::default() };
        let mut documents = engine.documents(&request)?;
        let mut cut = None;
        documents.chunk(
            ChunkRequest { summaries },
            |document| document,
            |_| 0,
            |document| {
                cut = document;
                Ok::<(), Error>(())
            },
        )?;
        let report = documents.report();
        let unread = || {
            let skipped = report.skipped.first().map(|entry| entry.reason.sentence().to_owned());
            let reason = report.errors.first().cloned().or(skipped).unwrap_or_default();
            Error::RefusedDocument { doc_id: doc_id.clone(), reason }
        };
        let cut = cut.ok_or_else(unread)?;
        let explanations =
            if explain { engine.explain(&input, ExplainRequest::default())?.chunks } else { Vec::new() };
        let statistics = engine.documents(&request)?.statistics(|| {})?;
        let (chunks, summaries, notices) = (cut.chunks, cut.summaries, report.notices);
        Ok(PreviewAnswer { doc_id, chunks, summaries, explanations, statistics, notices })
    }
}

fn input(document: NewSource) -> Input {
    Input::Memory { place: document.doc_id.clone(), document }
}
