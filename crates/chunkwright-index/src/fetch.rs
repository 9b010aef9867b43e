//! Fetch: the source again, exactly.

use chunkwright::{ChunkId, LineIndex, Record, Span};

use crate::store::{DocumentInfo, Store, StoreError, StoredDocument};

/// How to fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchOptions {
    /// Number of neighbours on each side of a chunk that come with it.
    pub window: usize,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    /// The document it is of.
    pub document: DocumentInfo,
    /// Outline of the document.
    pub doc_toc: String,
    /// What part of the document it is.
    pub extent: Extent,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive; one less than `start_line` for a document without a byte.
    pub end_line: u32,
    /// The decoded text: the exact slice of the decoded source.
    pub text: String,
    /// The raw file, where the whole document was fetched and its bytes are not those of `text`.
    pub raw: Option<Vec<u8>>,
    /// The chunks of this part, in order; for lines those that touch them.
    pub records: Vec<Record>,
}

/// What part of a document was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Document,
    /// A chunk, with neighbours if they were asked for.
    Chunk,
    /// A range of lines.
    Lines,
}

impl Fetched {
    /// The exact bytes: of the raw file for a whole document, else of the decoded text.
    pub fn bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.text.as_bytes())
    }
}

/// Why nothing was fetched.
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
        /// What was asked for.
        reference: String,
    },
    /// Lines that the document does not have.
    #[error("`{doc_id}` has lines 1 to {last}; `{start}` to `{end}` is not a range of them")]
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
    #[error("`{doc_id}` has {total} chunks, numbered from 0; there is no `{index}`")]
    Index {
        /// The document.
        doc_id: String,
        /// Number of its chunks.
        total: usize,
        /// Index asked for.
        index: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches what `reference` names in `collection`: a document's id, a chunk's id, `DOC_ID#INDEX` or
/// `DOC_ID#L10-L80` (lines, both included). A document's id wins over every other reading.
///
/// # Errors
///
/// An unknown reference or collection; lines or an index that the document does not have.
pub fn fetch(
    store: &dyn Store,
    collection: &str,
    reference: &str,
    options: FetchOptions,
) -> Result<Fetched, FetchError> {
    if let Some(document) = store.document(collection, reference)? {
        // Storage engines do not notice a bit that flips inside a text.
        if !document.is_intact() {
            let problem = format!("the stored text of `{reference}` is not that of the file it was made of");
            return Err(StoreError::Damaged { problem }.into());
        }
        let records = store.records(collection, reference)?;
        let last = lines(&document.source).len();
        return Ok(Fetched {
            document: document.info,
            doc_toc: document.doc_toc,
            extent: Extent::Document,
            start_line: 1,
            end_line: last as u32,
            text: document.source,
            raw: document.raw,
            records,
        });
    }
    let unknown = || FetchError::Unknown { collection: collection.into(), reference: reference.into() };
    if let Ok(id) = reference.parse::<ChunkId>()
        && let Some(chunk) = store.chunk(collection, id)?
    {
        let index = chunk.record.chunk_index as usize;
        let document = store.document(collection, &chunk.record.doc_id)?.ok_or_else(unknown)?;
        return fetch_chunks(store, collection, document, index, options);
    }
    let (doc_id, place) = reference.rsplit_once('#').ok_or_else(unknown)?;
    let place = Place::parse(place).ok_or_else(unknown)?;
    let document = store.document(collection, doc_id)?.ok_or_else(unknown)?;
    match place {
        Place::Index(index) => fetch_chunks(store, collection, document, index, options),
        Place::Lines(start, end) => fetch_lines(store, collection, document, start, end),
    }
}

/// What stands behind the last `#` of a reference.
enum Place {
    Index(usize),
    Lines(usize, usize),
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        // `parse` alone would take a sign.
        let number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let Some(lines) = text.strip_prefix('L') else { return number(text).map(Self::Index) };
        let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
        Some(Self::Lines(number(start)?, number(end.strip_prefix('L').unwrap_or(end))?))
    }
}

fn fetch_chunks(
    store: &dyn Store,
    collection: &str,
    document: StoredDocument,
    index: usize,
    options: FetchOptions,
) -> Result<Fetched, FetchError> {
    let doc_id = &document.info.doc_id;
    let mut records = store.records(collection, doc_id)?;
    if index >= records.len() {
        return Err(FetchError::Index { doc_id: doc_id.clone(), total: records.len(), index });
    }
    records.truncate(index.saturating_add(options.window).saturating_add(1));
    records.drain(..index.saturating_sub(options.window));
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Err(FetchError::Index { doc_id: doc_id.clone(), total: 0, index });
    };
    let span = first.start_byte as usize..last.end_byte as usize;
    // The document may have been replaced between two readings.
    let text = document
        .source
        .get(span)
        .ok_or_else(|| FetchError::Unknown { collection: collection.into(), reference: doc_id.clone() })?;
    Ok(Fetched {
        text: text.to_owned(),
        raw: None,
        extent: Extent::Chunk,
        start_line: first.start_line,
        end_line: last.end_line,
        document: document.info,
        doc_toc: document.doc_toc,
        records,
    })
}

fn fetch_lines(
    store: &dyn Store,
    collection: &str,
    document: StoredDocument,
    start: usize,
    end: usize,
) -> Result<Fetched, FetchError> {
    let doc_id = &document.info.doc_id;
    let lines = lines(&document.source);
    let last = lines.len();
    if start == 0 || start > end || start > last {
        return Err(FetchError::Lines { doc_id: doc_id.clone(), last, start, end });
    }
    // A range may reach over the end, as `sed -n` allows.
    let end = end.min(last);
    let span = lines[start - 1].start as usize..lines[end - 1].end as usize;
    let mut records = store.records(collection, doc_id)?;
    records.retain(|record| record.start_line as usize <= end && record.end_line as usize >= start);
    Ok(Fetched {
        text: document.source[span].to_owned(),
        raw: None,
        extent: Extent::Lines,
        start_line: start as u32,
        end_line: end as u32,
        document: document.info,
        doc_toc: document.doc_toc,
        records,
    })
}

/// The lines of a source, as editors count them: nothing stands after a final line break.
fn lines(source: &str) -> Vec<Span> {
    LineIndex::new(source).spans(source.len()).filter(|line| !line.is_empty()).collect()
}
