//! A document with its chunks, as one value: a chunk's text, record and explanation need the document that it was cut
//! from and the chunker that cut it, and this way no caller can pass others.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::chunk::{Chunk, Chunker};
use crate::context::{self, Borrow, Rendered};
use crate::document::Document;
use crate::explain::Explanation;

/// The chunks of a document, in order. Made by [`Chunker::chunk`]; a slice of [`Chunk`]s where only those are needed.
///
/// ```
/// use chunkwright::{Chars, ChunkConfig, Chunker, Document, RecordContext, parse::Markdown};
/// use std::sync::Arc;
///
/// let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Chars))?;
/// let document = Document::parse("guide.md", "# Guide\n\nWelcome.\n", &Markdown);
/// let chunks = chunker.chunk(&document);
/// for chunk in &chunks {
///     assert_eq!(chunk.content(), "# Guide\n\nWelcome.");
///     assert_eq!(chunk.render().text(), chunk.record(&RecordContext::default()).text);
///     println!("lines {}: {:?}", chunk.explain().start_line, chunk.cut);
/// }
/// # Ok::<(), chunkwright::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Chunked<'a> {
    chunker: &'a Chunker,
    document: &'a Document,
    chunks: Vec<Chunk>,
    /// First character of each chunk and the one after its last; computed on first use.
    chars: OnceLock<Vec<(u32, u32)>>,
}

/// A chunk with its document.
#[derive(Clone, Copy)]
pub struct ChunkIn<'a> {
    of: &'a Chunked<'a>,
    index: usize,
}

impl<'a> Chunked<'a> {
    pub(super) fn new(chunker: &'a Chunker, document: &'a Document, chunks: Vec<Chunk>) -> Self {
        Self { chunker, document, chunks, chars: OnceLock::new() }
    }

    /// The chunker that cut the document.
    pub fn chunker(&self) -> &'a Chunker {
        self.chunker
    }

    /// The document.
    pub fn document(&self) -> &'a Document {
        self.document
    }

    /// The chunks with their document.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ChunkIn<'_>> + DoubleEndedIterator {
        (0..self.chunks.len()).map(|index| ChunkIn { of: self, index })
    }

    /// The chunk at `index` with its document.
    pub fn nth(&self, index: usize) -> Option<ChunkIn<'_>> {
        (index < self.chunks.len()).then_some(ChunkIn { of: self, index })
    }

    /// Explains every chunk. Counts the text of each about twice.
    pub fn explain(&self) -> Vec<Explanation> {
        self.iter().map(ChunkIn::explain).collect()
    }

    /// The chunks without their document.
    pub fn into_chunks(self) -> Vec<Chunk> {
        self.chunks
    }

    /// First character of the chunk at `index` and the one after its last: one pass over the source for all.
    pub(crate) fn chars(&self, index: usize) -> (u32, u32) {
        let all = self.chars.get_or_init(|| {
            let source = self.document.source();
            let (mut at, mut chars) = (0, 0);
            let place = |chunk: &Chunk| {
                chars += source[at..chunk.span.start as usize].chars().count() as u32;
                let start = chars;
                chars += chunk.span.of(source).chars().count() as u32;
                at = chunk.span.end as usize;
                (start, chars)
            };
            self.chunks.iter().map(place).collect()
        });
        all[index]
    }
}

impl<'a> ChunkIn<'a> {
    /// Its position in the document, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// The chunks that it is one of.
    pub fn chunks(self) -> &'a Chunked<'a> {
        self.of
    }

    /// The text that it owns, exactly as in the source.
    pub fn content(self) -> &'a str {
        self.of.chunks[self.index].span.of(self.of.document.source())
    }

    /// Its text: what it owns with what it borrows.
    pub fn render(self) -> Rendered {
        context::render(self.of.document, self.span, &self.borrows)
    }

    /// Its text with only those borrows that `keep` wants.
    pub fn render_with(self, keep: impl Fn(&Borrow) -> bool) -> Rendered {
        let borrows: Vec<Borrow> = self.borrows.iter().filter(|borrow| keep(borrow)).cloned().collect();
        context::render(self.of.document, self.span, &borrows)
    }

    /// Explains why it begins and ends where it does.
    pub fn explain(self) -> Explanation {
        self.of.chunker.explain_one(self.of.document, &self.of.chunks, self.index)
    }
}

impl Deref for Chunked<'_> {
    type Target = [Chunk];

    fn deref(&self) -> &[Chunk] {
        &self.chunks
    }
}

impl Deref for ChunkIn<'_> {
    type Target = Chunk;

    fn deref(&self) -> &Chunk {
        &self.of.chunks[self.index]
    }
}

impl<'c> IntoIterator for &'c Chunked<'_> {
    type Item = ChunkIn<'c>;
    type IntoIter = std::vec::IntoIter<ChunkIn<'c>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<Vec<_>>().into_iter()
    }
}

/// Chunks are equal whatever their document is.
impl PartialEq for Chunked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.chunks == other.chunks
    }
}

impl fmt::Debug for Chunked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunked")
            .field("document", &self.document.id())
            .field("chunks", &self.chunks)
            .finish()
    }
}

impl fmt::Debug for ChunkIn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkIn").field("index", &self.index).field("chunk", &**self).finish()
    }
}
