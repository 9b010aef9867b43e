//! Previews the chunks of a document without a store.

use chunkwright::Record;
use chunkwright_source::{FormatHint, Input, ReadSource};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::chunk::context;
use super::measure::measure;
use super::planned::MOST_CHUNKS;
use super::statistics::Sum;
use super::{DocumentStatistics, Documents, DocumentsRequest, ExplainedChunk};
use crate::engine::Engine;
use crate::error::{Error, Within};
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
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
    /// Whether the answer says of every chunk why it begins and ends where it does.
    pub explain: bool,
    /// Whether source code gets summaries of its files, classes and functions.
    pub summaries: bool,
    /// Number of chunks before the first that is answered.
    pub offset: usize,
    /// Most chunks that are answered, from 1 to 20,000; by default all, and a document of more than 20,000 is refused.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 20_000)))]
    pub limit: Option<usize>,
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
    /// Cuts a document by any settings, and stores nothing. Returns at most [`MOST_CHUNKS`] chunks.
    ///
    /// # Errors
    ///
    /// A document that is malformed, cannot be read or has too many chunks, settings that a request may not set or that
    /// cannot be used.
    pub fn preview(&self, request: PreviewRequest) -> Result<PreviewAnswer, Error> {
        let PreviewRequest { doc_id, text, bytes, hint, settings, explain, summaries, offset, limit } =
            request;
        if let Some(limit) = limit.filter(|limit| !(1..=MOST_CHUNKS).contains(limit)) {
            return Err(Error::PageSize { limit, most: MOST_CHUNKS });
        }
        let engine = self.with(self.settings().requested(&settings).within("settings")?, self.cancel_flag());
        let doc_id = doc_id.unwrap_or_else(|| "document.md".to_owned());
        let document = GivenDocument { doc_id, text, bytes, hint, ..GivenDocument::default() }.source()?;
        let doc_id = document.doc_id.clone();
        let place = doc_id.clone();
        let request = DocumentsRequest {
            inputs: vec![Input::Memory { place, document }],
            ..DocumentsRequest::default()
        };
        let mut documents = engine.documents(&request)?;
        let (chunker, preset) = (documents.chunker().clone(), documents.preset().to_owned());
        // Everything in the answer is from one cut.
        let cut = |source: ReadSource| {
            let file_hash = source.source.file_hash.clone();
            let document = source.parse();
            let context = context(&preset, file_hash, &document);
            let chunks = chunker.chunk(&document);
            let most = if limit.is_none() { MOST_CHUNKS } else { usize::MAX };
            let refuse = |chunks: usize| Error::LargePreview {
                doc_id: document.id().to_owned(),
                chunks,
                most: MOST_CHUNKS,
            };
            if chunks.len() > most {
                return Err(refuse(chunks.len()));
            }
            let page = offset..offset.saturating_add(limit.unwrap_or(MOST_CHUNKS));
            let (mut records, mut of_page) = (Vec::new(), 0..);
            // Only the records of the page are kept.
            let measured = measure(&chunks, chunks.iter_records(&context), |record| {
                if of_page.next().is_some_and(|at| page.contains(&at)) {
                    records.push(record);
                }
            });
            let summaries = if summaries { chunker.summaries(&document) } else { Vec::new() };
            if summaries.len() > most {
                return Err(refuse(summaries.len()));
            }
            let mut summaries = chunker.summary_records(&document, &summaries, &context);
            summaries.truncate(page.end);
            summaries.drain(..page.start.min(summaries.len()));
            let explained = if explain { page } else { 0..0 };
            let explained = explained.map_while(|at| chunks.nth(at)).map(ExplainedChunk::from);
            let explanations: Vec<_> = explained.collect();
            Ok((records, summaries, explanations, measured))
        };
        let mut found = None;
        let keep = |result| {
            found = result;
            Ok::<(), Error>(())
        };
        documents.each(cut, |_| 0, keep)?;
        let unread = |documents: &Documents| {
            let report = documents.report();
            let skipped = report.skipped.first().map(|entry| entry.reason.sentence().to_owned());
            let reason = report.errors.first().cloned().or(skipped).unwrap_or_default();
            Error::RefusedDocument { doc_id: doc_id.clone(), reason }
        };
        let (chunks, summaries, explanations, measured) = found.ok_or_else(|| unread(&documents))??;
        let mut sum = Sum::default();
        sum.add(&doc_id, measured);
        let statistics = documents.statistics_of(sum);
        let notices = documents.report().notices;
        Ok(PreviewAnswer { doc_id, chunks, summaries, explanations, statistics, notices })
    }
}
