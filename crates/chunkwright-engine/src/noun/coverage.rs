//! Line coverage of a collection: checks that every line of its documents is in a chunk, and counts what was left out.

use chunkwright::{LineIndex, Span};
use chunkwright_index::MAX_PAGE;

use crate::error::Error;
use crate::noun::documents::measure::{cover, lost};
use crate::noun::snapshot::Snapshot;
use crate::request::collections::CollectionCoverage;
use crate::request::documents::{Promise, Violation};

/// Maximum number of violations listed.
const MOST: usize = 100;

impl Snapshot {
    /// Compares the chunks of every document with its source, line by line. This reads all documents, so it takes about
    /// as long as an export; `on_progress` is called after each.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails, [`Error::Cancelled`].
    pub fn coverage(&self, mut on_progress: impl FnMut()) -> Result<CollectionCoverage, Error> {
        let mut answer = CollectionCoverage::default();
        let runs = self.store().runs(&self.generation().collection)?;
        let left_out = runs.into_iter().find(|run| !run.skipped.is_empty());
        answer.coverage.skipped = left_out.map(|run| run.skipped).unwrap_or_default();
        let mut after: Option<String> = None;
        loop {
            let page = self.documents_behind(after.as_deref(), MAX_PAGE)?;
            let Some(last) = page.last() else { return Ok(answer) };
            after = Some(last.doc_id.clone());
            for info in &page {
                self.engine().check_cancelled()?;
                self.cover(&info.doc_id, &mut answer)?;
                on_progress();
            }
        }
    }

    /// Adds a document, unless it was replaced or removed meanwhile.
    fn cover(&self, doc_id: &str, answer: &mut CollectionCoverage) -> Result<(), Error> {
        let Some(document) = self.store().document(self.generation(), doc_id)? else { return Ok(()) };
        let records = self.store().records(self.generation(), doc_id)?;
        if self.store().document_info(self.generation(), doc_id)?.map(|info| info.version)
            != Some(document.info.version)
        {
            return Ok(());
        }
        let source = &document.source;
        let mut found = Vec::new();
        let own = records.iter().filter(|record| record.artifact.is_none());
        let spans = own.map(|record| {
            let Span { start, end } = Span { start: record.start_byte, end: record.end_byte };
            if source.get(start as usize..end as usize).is_none() {
                found.push(Violation {
                    rule: Promise::ContentIsSource,
                    doc_id: doc_id.to_owned(),
                    chunk_id: Some(record.chunk_id),
                    line: record.start_line as usize,
                    found: "its bytes are not in the source".into(),
                });
                return Span { start: 0, end: 0 };
            }
            Span { start, end }
        });
        let spans: Vec<Span> = spans.collect();
        let lines = LineIndex::new(source);
        let [all, held] = cover(source, &lines, spans.into_iter(), |line| found.push(lost(doc_id, line)));
        answer.documents += 1;
        answer.coverage.lines += all;
        answer.coverage.lines_in_chunks += held;
        found.truncate(MOST - answer.violations.len());
        answer.violations.append(&mut found);
        Ok(())
    }
}
