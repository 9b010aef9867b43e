//! Explains why a document is cut where it is.

use chunkwright_source::Input;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::request::documents::{ExplainAnswer, ExplainRequest, ExplainedChunk};

impl Engine {
    /// Cuts one document and explains why each of its chunks begins and ends where it does.
    ///
    /// # Errors
    ///
    /// Those of [`chunker`](Self::chunker) and [`document`](Self::document), and a line that the document does not have.
    pub fn explain(&self, input: &Input, request: ExplainRequest) -> Result<ExplainAnswer, Error> {
        let chunker = self.chunker()?;
        let document = self.document(input)?;
        let chunks = chunker.chunk(&document);
        let asked = match request.line {
            None => 0..chunks.len(),
            Some(line) => {
                let lines = document.lines();
                // Editors do not count the empty "line" after a final line break.
                let last = lines.count() - usize::from(document.source().ends_with(['\n', '\r']));
                if line == 0 || line > last {
                    return Err(Error::NoSuchLine { doc_id: document.id().to_owned(), last, line });
                }
                let start = lines.start(line);
                let next = if line == last {
                    document.source().len() as u32
                } else {
                    lines.start(line + 1).max(start + 1)
                };
                let first = chunks.partition_point(|chunk| chunk.span.end <= start);
                let after = chunks.partition_point(|chunk| chunk.span.start < next);
                first..after.max(first)
            }
        };
        let explained = asked.filter_map(|index| chunks.nth(index)).map(ExplainedChunk::from);
        Ok(ExplainAnswer { total_chunks: chunks.len(), chunks: explained.collect() })
    }
}
