//! Cuts documents into chunks without an index.

use chunkwright::{Document, Record, RecordContext};
use chunkwright_source::prose_language;
use serde::Serialize;

use crate::error::Error;
use crate::noun::documents::Documents;
use crate::request::documents::ChunkRequest;

/// The fields of records that come from the run and not from the document.
pub(super) fn context(preset: &str, file_hash: String, document: &Document) -> RecordContext {
    let prose_language = prose_language(document).map(str::to_owned);
    RecordContext { preset: preset.to_owned(), file_hash, prose_language, ..RecordContext::default() }
}

/// A document and its chunks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChunkedDocument {
    /// Its key.
    pub doc_id: String,
    /// Its chunks, in order.
    pub chunks: Vec<Record>,
    /// Summaries of its file and symbols, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<Record>,
    /// The document itself, for front ends that show its source.
    #[serde(skip)]
    pub document: Document,
}

impl Documents {
    /// Cuts all documents. `render` converts each on the thread that cut it, and `emit` gets the results in order; for
    /// a document that could not be read, it gets `None`. `size` returns the bytes that a result holds: only a few
    /// megabytes of results wait at any time.
    ///
    /// # Errors
    ///
    /// Those of `emit`, and [`Error::Cancelled`].
    pub fn chunk<T: Send, E: From<Error>>(
        &mut self,
        request: ChunkRequest,
        render: impl Fn(ChunkedDocument) -> T + Sync,
        size: impl Fn(&T) -> usize + Sync,
        emit: impl FnMut(Option<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let chunker = self.chunker.clone();
        let preset = self.preset().to_owned();
        let tokens = std::mem::take(&mut self.tokens);
        let cut = |source: chunkwright_source::ReadSource| {
            let file_hash = source.source.file_hash.clone();
            let document = source.parse();
            let context = context(&preset, file_hash, &document);
            let (chunks, summaries) = if request.summaries {
                let result = chunker.process(&document, &context);
                (result.chunks, result.summaries)
            } else {
                (chunker.chunk(&document).records(&context), Vec::new())
            };
            let number = chunks.iter().map(|chunk| chunk.token_count as usize).sum();
            Self::count_tokens(&tokens, document.id(), number);
            render(ChunkedDocument { doc_id: document.id().to_owned(), chunks, summaries, document })
        };
        let result = self.each(cut, size, emit);
        self.tokens = tokens;
        result
    }
}
