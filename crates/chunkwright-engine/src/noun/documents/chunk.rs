//! Cuts documents into chunks without an index.

use chunkwright::{ChunkIn, Chunker, Document, Record, RecordContext, RecordLines};
use chunkwright_index::TokensByKind;
use chunkwright_source::{ReadSource, prose_language};
use parking_lot::Mutex;
use serde::Serialize;

use crate::error::Error;
use crate::json_lines::add_line;
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
    /// Hash of its bytes.
    #[serde(skip)]
    pub(crate) file_hash: String,
}

/// Some records of a document, written.
#[derive(Clone, Debug)]
pub struct Written {
    /// What was written.
    pub bytes: Vec<u8>,
    /// Number of chunks among the records.
    pub chunks: usize,
    /// Whether these are the last of their document.
    pub is_last: bool,
}

/// Bytes of records that are passed on at once. The records of most documents are fewer.
const PART: usize = 1 << 18;

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
        let cutting = Cutting::of(self, request);
        let cut = |source: ReadSource| {
            let (mut chunks, mut summaries) = (Vec::new(), Vec::new());
            let file_hash = source.source.file_hash.clone();
            let document = cutting.cut(source, |made| {
                let (record, to) = match made {
                    Made::Chunk(lines, chunk) => (lines.record(chunk), &mut chunks),
                    Made::Summary(record) => (*record, &mut summaries),
                };
                let tokens = record.token_count as usize;
                to.push(record);
                Some(tokens)
            });
            let doc_id = document.id().to_owned();
            render(ChunkedDocument { doc_id, chunks, summaries, document, file_hash })
        };
        let result = self.each(cut, size, emit);
        self.tokens = cutting.tokens;
        result
    }

    /// Cuts all documents and writes their records, each as soon as it is made, so that the records of a document are
    /// never in memory together. `write` adds a record to bytes, on the thread that cut the document; without it they
    /// are lines of JSON. `emit` gets the bytes in order, and `None` for a document that could not be read.
    ///
    /// # Errors
    ///
    /// Those of `emit`, and [`Error::Cancelled`].
    #[expect(clippy::missing_panics_doc, reason = "a record is of plain values, which are JSON")]
    pub fn write_chunks<E: From<Error>>(
        &mut self,
        request: ChunkRequest,
        write: Option<&(impl Fn(&Record, &mut Vec<u8>) + Sync)>,
        emit: impl FnMut(Option<Written>) -> Result<(), E>,
    ) -> Result<(), E> {
        let cutting = Cutting::of(self, request);
        let cut = |source: ReadSource, part: &mut dyn FnMut(Written) -> bool| {
            // Content and text, and about as much for all else.
            let room = || Vec::with_capacity(PART + PART / 8);
            let mut bytes = Vec::with_capacity((3 * source.source.text.len()).min(PART));
            let mut chunks = 0;
            cutting.cut(source, |made| {
                chunks += usize::from(matches!(made, Made::Chunk(..)));
                let tokens = match (made, write) {
                    (Made::Chunk(lines, chunk), None) => lines.add(chunk, &mut bytes),
                    (made, write) => {
                        let record = match made {
                            Made::Chunk(lines, chunk) => lines.record(chunk),
                            Made::Summary(record) => *record,
                        };
                        match write {
                            Some(write) => write(&record, &mut bytes),
                            None => add_line(&record, &mut bytes).expect("a record of plain values is JSON"),
                        }
                        record.token_count as usize
                    }
                };
                if bytes.len() < PART {
                    return Some(tokens);
                }
                let bytes = std::mem::replace(&mut bytes, room());
                let chunks = std::mem::take(&mut chunks);
                part(Written { bytes, chunks, is_last: false }).then_some(tokens)
            });
            part(Written { bytes, chunks, is_last: true });
        };
        let result = self.each_in_parts(cut, |written| written.bytes.capacity(), emit);
        self.tokens = cutting.tokens;
        result
    }
}

/// How documents are cut.
struct Cutting {
    chunker: Chunker,
    preset: String,
    request: ChunkRequest,
    tokens: Mutex<TokensByKind>,
}

impl Cutting {
    /// That of `documents`, whose count of tokens it continues.
    fn of(documents: &mut Documents, request: ChunkRequest) -> Self {
        let tokens = std::mem::take(&mut documents.tokens);
        Self { chunker: documents.chunker.clone(), preset: documents.preset().to_owned(), request, tokens }
    }

    /// Cuts a document, and passes on what is made of it: `take` returns the tokens of it, or `None` where it wants no more.
    /// Returns the document.
    fn cut(&self, source: ReadSource, mut take: impl FnMut(Made<'_>) -> Option<usize>) -> Document {
        let file_hash = source.source.file_hash.clone();
        let document = source.parse();
        let context = context(&self.preset, file_hash, &document);
        let chunked = self.chunker.chunk(&document);
        let lines = chunked.record_lines(&context);
        let tokens: Option<usize> = chunked.iter().map(|chunk| take(Made::Chunk(&lines, chunk))).sum();
        if let Some(tokens) = tokens {
            self.tokens.lock().add(document.id(), tokens);
            if self.request.summaries {
                let summaries = self.chunker.summaries(&document);
                let records = self.chunker.summary_records(&document, &summaries, &context);
                records.into_iter().map_while(|record| take(Made::Summary(Box::new(record)))).for_each(drop);
            }
        }
        drop(lines);
        drop(chunked);
        document
    }
}

/// What is made of a document.
enum Made<'a> {
    /// A chunk, and what writes its record.
    Chunk(&'a RecordLines<'a>, ChunkIn<'a>),
    Summary(Box<Record>),
}
