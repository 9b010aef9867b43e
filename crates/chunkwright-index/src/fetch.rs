//! Fetch: returns the source, byte for byte.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use chunkwright::{ChunkId, Document, LineIndex, Record, Span};
use chunkwright_source::decode;

use crate::expand::{Expansion, Shown};
use crate::joined::resolve_joined;
use chunkwright_store::parsed::parse_again;
use chunkwright_store::{DocumentInfo, Generation, Store, StoreError, StoredDocument};

/// How to fetch.
#[derive(Clone, Copy, Default)]
pub struct FetchOptions<'a> {
    /// Expansion of a fetched chunk. Documents and lines are not expanded.
    pub expansion: Option<Expansion<'a>>,
    /// Whether its chunks are read too. Those of a whole document are as large as the document.
    pub beside: Beside,
}

/// Data that is read beside a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beside {
    /// The records of its chunks.
    #[default]
    Chunks,
    /// Nothing that is not needed.
    Nothing,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    /// The document that it is part of.
    pub document: DocumentInfo,
    /// Outline of the document.
    pub doc_toc: String,
    /// The part of the document.
    pub extent: Extent,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive; one less than `start_line` for a document without a byte.
    pub end_line: u32,
    /// The decoded text: the exact slice of the decoded source.
    pub text: String,
    /// The bytes of the raw file, if they differ from those of `text`.
    pub raw: Raw,
    /// The chunks of this part, in order: those that touch it.
    pub records: Vec<Record>,
    /// Id of the requested chunk, if one was requested; it is part of `text`.
    pub found: Option<ChunkId>,
    /// Tokens of what is shown by the expansion's counter, if an expansion was requested.
    pub token_count: Option<usize>,
    /// How the text renders, if its format is markup.
    pub rendering: Option<Rendering>,
}

/// A part of a document of markup, as it renders.
#[derive(Clone, Debug)]
pub struct Rendering {
    document: Arc<Document>,
    span: Span,
}

impl Rendering {
    fn of(document: &StoredDocument, span: Span) -> Option<Self> {
        document.info.is_rendered().then(|| Self { document: Arc::new(parse_again(document)), span })
    }

    /// How a range of the fetched text renders. The renderings of adjacent ranges are that of both.
    pub fn read(&self, range: Range<usize>) -> Cow<'_, str> {
        let start = self.span.start as usize;
        self.document.read(Span::new(start + range.start, start + range.end))
    }

    /// How the whole text renders.
    pub fn text(&self) -> Cow<'_, str> {
        self.document.read(self.span)
    }
}

impl PartialEq for Rendering {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// The bytes of the file that were fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// Those of the text.
    Text,
    /// Other bytes: the file has another encoding, or was converted.
    Bytes(Vec<u8>),
    /// None: a part of a converted text does not exist in the file.
    Converted,
}

/// The extent of what was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Document,
    /// A chunk, with its expansion.
    Chunk,
    /// A range of lines.
    Lines,
}

impl Fetched {
    /// The reference that fetches the same lines: `DOC_ID#L10-L80`, or the document's id for all of it.
    pub fn reference(&self) -> String {
        let doc_id = &self.document.doc_id;
        match self.extent {
            Extent::Document => doc_id.clone(),
            _ => format!("{doc_id}#L{}-L{}", self.start_line, self.end_line),
        }
    }

    /// The exact bytes of the file, in its own encoding.
    ///
    /// # Errors
    ///
    /// A part of a converted document.
    pub fn bytes(&self) -> Result<&[u8], FetchError> {
        match &self.raw {
            Raw::Text => Ok(self.text.as_bytes()),
            Raw::Bytes(bytes) => Ok(bytes),
            Raw::Converted => Err(FetchError::Converted {
                doc_id: self.document.doc_id.clone(),
                format: self.document.format.clone(),
            }),
        }
    }
}

/// Errors of fetching.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No document or chunk has this name.
    #[error(
        "`{reference}` is not in collection `{collection}`; a reference is a document's id, a chunk's id, `DOC_ID#INDEX` or `DOC_ID#L10-L80`"
    )]
    Unknown {
        /// The collection.
        collection: String,
        /// The reference.
        reference: String,
    },
    /// Lines that the document does not have.
    #[error("`{doc_id}` has lines 1 to {last}; lines {start} to {end} are out of range")]
    Lines {
        /// The document.
        doc_id: String,
        /// Its last line.
        last: usize,
        /// First line asked for.
        start: usize,
        /// Last line asked for.
        end: usize,
    },
    /// A chunk index that the document does not have.
    #[error("`{doc_id}` has {total} chunks, numbered from 0; `{index}` is out of range")]
    Index {
        /// The document.
        doc_id: String,
        /// Number of its chunks.
        total: usize,
        /// Index asked for.
        index: usize,
    },
    /// A document that was replaced while its source was read.
    #[error("`{doc_id}` was replaced while it was read; fetch it again")]
    Replaced {
        /// The document.
        doc_id: String,
    },
    /// The raw bytes of a part of a converted document.
    #[error(
        "`{doc_id}` was converted from {format}, so a part of its text has no bytes in the file; fetch the whole document as `raw`, or this part as `text` or `json`"
    )]
    Converted {
        /// The document.
        doc_id: String,
        /// Its format.
        format: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches what `reference` names in `generation`: a document's id, a chunk's id, `DOC_ID#INDEX` (also written
/// `DOC_ID_chunkINDEX`) or `DOC_ID#L10-L80` (lines, both included; also written `DOC_ID:10-80`). A document's id takes precedence over every other
/// reading. What is none of these may be a [joined id](crate::joined), with `_chunkINDEX` or without.
///
/// # Errors
///
/// An unknown reference, a removed generation; lines or an index that the document does not have.
pub fn fetch(
    store: &dyn Store,
    generation: &Generation,
    reference: &str,
    options: FetchOptions<'_>,
) -> Result<Fetched, FetchError> {
    match fetch_named(store, generation, reference, options) {
        Err(unknown @ FetchError::Unknown { .. }) => match resolve_joined(store, generation, reference)? {
            Some(reference) => fetch_named(store, generation, &reference, options),
            None => Err(unknown),
        },
        fetched => fetched,
    }
}

fn fetch_named(
    store: &dyn Store,
    generation: &Generation,
    reference: &str,
    options: FetchOptions<'_>,
) -> Result<Fetched, FetchError> {
    if let Some(document) = store.document(generation, reference)? {
        require_intact(&document)?;
        let records = match options.beside {
            Beside::Chunks => store.records(generation, reference)?,
            Beside::Nothing => Vec::new(),
        };
        let last = lines(&document.source).len();
        let rendering = Rendering::of(&document, Span::new(0, document.source.len()));
        return Ok(Fetched {
            rendering,
            document: document.info,
            doc_toc: document.doc_toc,
            extent: Extent::Document,
            start_line: 1,
            end_line: last as u32,
            text: document.source.to_string(),
            raw: document.raw.map_or(Raw::Text, Raw::Bytes),
            records,
            found: None,
            token_count: None,
        });
    }
    let unknown =
        || FetchError::Unknown { collection: generation.collection.clone(), reference: reference.into() };
    let load = |doc_id: &str| Shown::load(store, generation, doc_id)?.ok_or_else(unknown);
    if let Ok(id) = reference.parse::<ChunkId>()
        && let Some(Some(chunk)) = store.chunks(generation, &[id])?.pop()
    {
        let shown = load(&chunk.record.doc_id)?;
        // The document may have been replaced between two readings.
        let index = shown.records.iter().position(|record| record.chunk_id == chunk.record.chunk_id);
        return fetch_chunk(shown, index.ok_or_else(unknown)?, options);
    }
    let (doc_id, place) = Place::split(reference).ok_or_else(unknown)?;
    match place {
        Place::Index(index) => fetch_chunk(load(doc_id)?, index, options),
        Place::Lines(start, end) if options.beside == Beside::Nothing => {
            let document = store.document(generation, doc_id)?.ok_or_else(unknown)?;
            fetch_lines(Shown::without_chunks(document), start, end)
        }
        Place::Lines(start, end) => fetch_lines(load(doc_id)?, start, end),
    }
}

/// The id of the chunk that `reference` names: itself, or that of `DOC_ID#INDEX` (also written `DOC_ID_chunkINDEX`).
///
/// # Errors
///
/// A reference to anything else, a document or an index that the generation does not have.
pub fn chunk_id(store: &dyn Store, generation: &Generation, reference: &str) -> Result<ChunkId, FetchError> {
    if let Ok(id) = reference.parse() {
        return Ok(id);
    }
    let unknown =
        || FetchError::Unknown { collection: generation.collection.clone(), reference: reference.into() };
    let Some((doc_id, Place::Index(index))) = Place::split(reference) else { return Err(unknown()) };
    let records = store.records(generation, doc_id)?;
    match records.get(index) {
        Some(record) => Ok(record.chunk_id),
        None if records.is_empty() => resolve_joined(store, generation, reference)?
            .map_or_else(|| Err(unknown()), |reference| chunk_id(store, generation, &reference)),
        None => Err(FetchError::Index { doc_id: doc_id.to_owned(), total: records.len(), index }),
    }
}

/// The part of a reference after the id of a document.
pub(crate) enum Place {
    Index(usize),
    Lines(usize, usize),
}

impl Place {
    /// The id of a document and the place in it: `DOC_ID#PLACE`, `DOC_ID:10-80` or `DOC_ID_chunkINDEX`.
    pub(crate) fn split(reference: &str) -> Option<(&str, Self)> {
        if let Some((doc_id, place)) = reference.rsplit_once('#')
            && let Some(place) = Self::parse(place)
        {
            return Some((doc_id, place));
        }
        // As people and answers write it: `guide.md:10-80`.
        if let Some((doc_id, lines)) = reference.rsplit_once(':')
            && let Some(place) = Self::parse(&format!("L{lines}"))
        {
            return Some((doc_id, place));
        }
        let (doc_id, index) = reference.rsplit_once("_chunk")?;
        let place = Self::parse(index).filter(|place| matches!(place, Self::Index(_)))?;
        Some((doc_id, place))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        // `parse` alone would take a sign.
        let number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let Some(lines) = text.strip_prefix('L') else { return number(text).map(Self::Index) };
        let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
        Some(Self::Lines(number(start)?, number(end.strip_prefix('L').unwrap_or(end))?))
    }
}

fn fetch_chunk(shown: Shown, index: usize, options: FetchOptions<'_>) -> Result<Fetched, FetchError> {
    let Some(record) = shown.records.get(index) else {
        let (doc_id, total) = (shown.document.info.doc_id, shown.records.len());
        return Err(FetchError::Index { doc_id, total, index });
    };
    let found = Some(record.chunk_id);
    let own = Span { start: record.start_byte, end: record.end_byte };
    let span = match options.expansion {
        Some(expansion) => shown.areas(&[index], expansion).first().map_or(own, |area| area.span),
        None => own,
    };
    let mut fetched = part(shown, span, Extent::Chunk)?;
    fetched.found = found;
    let shown = fetched.rendering.as_ref().map(Rendering::text);
    let shown = shown.as_deref().unwrap_or(&fetched.text);
    fetched.token_count = options.expansion.map(|expansion| expansion.counter.count(shown));
    Ok(fetched)
}

fn fetch_lines(shown: Shown, start: usize, end: usize) -> Result<Fetched, FetchError> {
    let lines = lines(&shown.document.source);
    let last = lines.len();
    if start == 0 || start > end || start > last {
        return Err(FetchError::Lines { doc_id: shown.document.info.doc_id, last, start, end });
    }
    // A range may reach past the end, as `sed -n` allows.
    let end = end.min(last);
    let mut fetched =
        part(shown, Span { start: lines[start - 1].start, end: lines[end - 1].end }, Extent::Lines)?;
    (fetched.start_line, fetched.end_line) = (start as u32, end as u32);
    Ok(fetched)
}

/// A range of a document.
fn part(shown: Shown, span: Span, extent: Extent) -> Result<Fetched, StoreError> {
    let (start_line, end_line) = shown.lines(span);
    let Shown { document, mut records, .. } = shown;
    records.retain(|record| record.start_byte < span.end && span.start < record.end_byte);
    let raw = match &document.raw {
        None => Raw::Text,
        Some(bytes) => {
            require_intact(&document)?;
            let stretch = decode::raw_range(bytes, &document.source, span.range());
            stretch.map_or(Raw::Converted, |stretch| Raw::Bytes(bytes[stretch].to_vec()))
        }
    };
    Ok(Fetched {
        rendering: Rendering::of(&document, span),
        text: span.of(&document.source).to_owned(),
        raw,
        extent,
        start_line,
        end_line,
        document: document.info,
        doc_toc: document.doc_toc,
        records,
        found: None,
        token_count: None,
    })
}

/// Checks the hash of a document, since storage engines do not detect a flipped bit inside a text.
fn require_intact(document: &StoredDocument) -> Result<(), StoreError> {
    if document.is_intact() {
        return Ok(());
    }
    let doc_id = &document.info.doc_id;
    let problem = format!("the stored text of `{doc_id}` is not that of the file it was made of");
    Err(StoreError::Damaged { problem })
}

/// The lines of a source, as editors count them: a final line break does not begin another line.
fn lines(source: &str) -> Vec<Span> {
    LineIndex::new(source).spans(source.len()).filter(|line| !line.is_empty()).collect()
}
