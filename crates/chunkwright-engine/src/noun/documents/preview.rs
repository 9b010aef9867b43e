//! Previews the chunks of a document without a store.

use chunkwright_source::{Input, ReadSource};

use crate::core::engine::Engine;
use crate::error::{Error, Within};
use crate::noun::documents::Documents;
use crate::noun::documents::chunk::context;
use crate::noun::documents::measure::measure;
use crate::noun::documents::statistics::Sum;
use crate::request::diff::MOST_CHUNKS;
use crate::request::documents::{DocumentsRequest, ExplainedChunk};
use crate::request::preview::{PreviewAnswer, PreviewRequest};
use crate::request::put::GivenDocument;

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
            let summaries = summaries.then(|| chunker.summaries(&document));
            if let Some(many) = summaries.as_ref().filter(|summaries| summaries.len() > most) {
                return Err(refuse(many.len()));
            }
            let summaries = summaries.map(|summaries| {
                let mut summaries = chunker.summary_records(&document, &summaries, &context);
                summaries.truncate(page.end);
                summaries.drain(..page.start.min(summaries.len()));
                summaries
            });
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
