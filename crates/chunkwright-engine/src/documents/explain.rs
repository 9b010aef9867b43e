//! Explains why a document is cut where it is.

use chunkwright::chunk::ChunkIn;
use chunkwright::explain::Explanation;
use chunkwright_source::Input;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::Error;

/// Which chunks of a document are explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExplainRequest {
    /// Only those that hold this line, 1-based; all without it.
    pub line: Option<usize>,
}

/// Explanations of the chunks of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainAnswer {
    /// Number of chunks that the document has.
    pub total_chunks: usize,
    /// The explanations asked for, in order; none where a blank line or an empty document was asked for.
    pub chunks: Vec<ExplainedChunk>,
}

/// An explanation, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedChunk {
    /// The document.
    pub doc_id: String,
    /// Why the chunk is as it is.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// Its own text.
    #[serde(skip)]
    pub content: String,
}

impl From<ChunkIn<'_>> for ExplainedChunk {
    fn from(chunk: ChunkIn<'_>) -> Self {
        Self {
            doc_id: chunk.chunks().document().id().to_owned(),
            explanation: chunk.explain(),
            content: chunk.content().to_owned(),
        }
    }
}

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
