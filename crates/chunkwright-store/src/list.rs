//! Pages of chunks: the request, the order and the cursor.
//!
//! A cursor is the place of the last chunk of a page in the order, not a number of chunks to skip, so a page costs the
//! same wherever it is, and a write between two pages does not shift the chunks of other documents. It also names the
//! last chunks before that place: if their document was rewritten meanwhile, the page continues after the last of them
//! that still exists.
//!
//! A page in the middle of a long list is found by [`ListRequest::skip`] instead, which passes over chunks in the columns
//! and reads none of them.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chunkwright::{ChunkId, Record};
use serde::{Deserialize, Serialize};

use crate::document::StoredChunk;
use crate::error::StoreError;
use crate::filter::Filter;
use crate::generation::Generation;

/// Most chunks of one page; greater limits are reduced to it.
pub const MAX_PAGE: usize = 1_000;

/// Which chunks are listed, in which order, and from where on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListRequest {
    /// Which chunks are listed. As in a search, summaries are only where it speaks of `artifact`.
    pub filter: Filter,
    /// Whether searches may find them.
    pub visibility: Visibility,
    /// What they are ordered by.
    pub sort: SortKey,
    /// From which end.
    pub direction: Direction,
    /// Where the page before ended; none for the first page.
    pub after: Option<Cursor>,
    /// Number of chunks to pass over before the page. To read a whole list, continue by cursors.
    pub skip: usize,
    /// Most chunks of the page, from 1 to [`MAX_PAGE`].
    pub limit: usize,
}

/// All chunks in the order of documents, 100 a page.
impl Default for ListRequest {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            visibility: Visibility::default(),
            sort: SortKey::default(),
            direction: Direction::default(),
            after: None,
            skip: 0,
            limit: 100,
        }
    }
}

/// Which chunks are listed by whether searches may find them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Enabled and disabled ones.
    #[default]
    All,
    /// Only those that searches may find.
    Enabled,
    /// Only those that were disabled by hand.
    Disabled,
}

impl Visibility {
    /// Returns whether chunks with this value of `enabled` are listed.
    pub fn shows(self, enabled: bool) -> bool {
        match self {
            Self::All => true,
            Self::Enabled => enabled,
            Self::Disabled => !enabled,
        }
    }
}

/// What chunks are ordered by. Equal ones are in the order of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SortKey {
    /// The document's id by its bytes, then the place in the document; summaries stand behind the chunks of theirs.
    #[default]
    Document,
    /// `token_count`.
    TokenCount,
    /// Position in the document, across documents: all first chunks, all second ones, ...
    ChunkIndex,
}

/// From which end chunks are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The least first.
    #[default]
    Ascending,
    /// Greatest first.
    Descending,
}

/// Where a page ended: opaque text that a request for the next page gives back unchanged.
///
/// It needs no state on the side of the store and never expires. It belongs to the generation, filter, visibility and order
/// that it was returned for, and is refused with others; the limit may differ. Whatever is written between two pages, a
/// chunk that was there all the time, on the same side of the chunks listed before, is listed exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// The cursor with this text, which is validated when it is used.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its text: letters, digits, `-` and `_`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Some chunks of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChunkPage {
    /// The chunks, in order.
    pub chunks: Vec<ListedChunk>,
    /// Where the next page begins; none after the last chunk.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<Cursor>,
}

/// A chunk of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedChunk {
    /// The chunk.
    #[serde(flatten)]
    pub record: Record,
    /// Whether searches may find it.
    pub enabled: bool,
    /// Whether it has a vector of the generation's model.
    pub embedded: bool,
}

impl From<&StoredChunk> for ListedChunk {
    fn from(StoredChunk { record, enabled, embedded, .. }: &StoredChunk) -> Self {
        Self { record: record.clone(), enabled: *enabled, embedded: *embedded }
    }
}

/// The sort key of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OrderKey<'a> {
    /// The number that is sorted by; unused in document order.
    pub(super) key: u32,
    pub(super) doc_id: &'a str,
    /// The place in the document.
    pub(super) place: i64,
}

/// Number of last chunks that a cursor names: up to so many may have been removed.
const ANCHORS: usize = 4;

/// The content of a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Hash of everything that the list depends on.
    #[serde(rename = "l")]
    list: String,
    #[serde(rename = "k")]
    pub(super) key: u32,
    #[serde(rename = "d")]
    /// Document.
    pub doc_id: String,
    #[serde(rename = "p")]
    /// Place in the document.
    pub place: i64,
    /// Version of the document: while it is the same, so is the place.
    #[serde(rename = "v")]
    pub(super) version: i64,
    /// The last chunks listed that have this key and document, latest first.
    #[serde(rename = "a")]
    anchors: Vec<String>,
}

impl Position {
    pub(super) fn order_key(&self) -> OrderKey<'_> {
        OrderKey { key: self.key, doc_id: &self.doc_id, place: self.place }
    }

    /// Translates the position to `version` of the document; `place_of` returns the place of a chunk in it, if the
    /// chunk has this key.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    pub fn at<E>(
        mut self,
        request: &ListRequest,
        version: i64,
        mut place_of: impl FnMut(ChunkId) -> Result<Option<u32>, E>,
    ) -> Result<Self, E> {
        if self.version == version || request.sort == SortKey::ChunkIndex {
            return Ok(self);
        }
        for id in self.anchors.iter().filter_map(|id| id.parse().ok()) {
            if let Some(place) = place_of(id)? {
                self.place = i64::from(place);
                return Ok(self);
            }
        }
        // All of them are gone, so the chunk after them is now at their place.
        let gone = i64::try_from(self.anchors.len()).unwrap_or(i64::MAX);
        self.place += if request.is_reversed() { gone } else { -gone };
        Ok(self)
    }
}

impl ListRequest {
    /// Returns whether the page is read in document order straight from the documents, without columns.
    pub fn is_in_document_order(&self) -> bool {
        self.sort == SortKey::Document && self.skip == 0
    }

    /// Number of chunks of a full page.
    pub(super) fn page_size(&self) -> usize {
        self.limit.clamp(1, MAX_PAGE)
    }

    /// Compares two sort keys.
    pub(super) fn compare(&self, a: OrderKey<'_>, b: OrderKey<'_>) -> Ordering {
        let by_place = a.doc_id.cmp(b.doc_id).then(a.place.cmp(&b.place));
        match (self.sort, self.direction) {
            (SortKey::Document, Direction::Ascending) => by_place,
            (SortKey::Document, Direction::Descending) => by_place.reverse(),
            (_, Direction::Ascending) => a.key.cmp(&b.key).then(by_place),
            (_, Direction::Descending) => b.key.cmp(&a.key).then(by_place),
        }
    }

    /// Returns whether the chunks of a document are listed from last to first.
    pub(super) fn is_reversed(&self) -> bool {
        (self.sort, self.direction) == (SortKey::Document, Direction::Descending)
    }

    /// The number that a chunk is sorted by.
    pub(super) fn key(&self, token_count: u32, place: u32) -> u32 {
        match self.sort {
            SortKey::Document => 0,
            SortKey::TokenCount => token_count,
            SortKey::ChunkIndex => place,
        }
    }

    /// Where the page begins.
    ///
    /// # Errors
    ///
    /// A cursor that is malformed or of another list.
    pub fn position(&self, generation: &Generation) -> Result<Option<Position>, StoreError> {
        let Some(Cursor(text)) = &self.after else { return Ok(None) };
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let position: Option<Position> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let position = position.ok_or_else(|| StoreError::MalformedCursor { cursor: text.clone() })?;
        if position.list != self.list_hash(generation)? {
            return Err(StoreError::OtherCursor { generation: generation.to_string() });
        }
        Ok(Some(position))
    }

    /// Hash of everything that a cursor must agree with.
    fn list_hash(&self, generation: &Generation) -> Result<String, StoreError> {
        let list = (generation.to_string(), &self.filter, self.visibility, self.sort, self.direction);
        let json = serde_json::to_vec(&list)
            .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
        Ok(blake3::hash(&json).to_hex()[..16].to_owned())
    }
}

/// A page while it is filled.
#[derive(Debug)]
pub struct PageBuilder<'a> {
    request: &'a ListRequest,
    list: String,
    after: Option<Position>,
    page: ChunkPage,
    /// Key, place and version of the document of each chunk.
    places: Vec<(u32, u32, i64)>,
    is_full: bool,
}

impl<'a> PageBuilder<'a> {
    /// An empty page of a request.
    ///
    /// # Errors
    ///
    /// A cursor of another request or generation.
    pub fn new(request: &'a ListRequest, generation: &Generation) -> Result<Self, StoreError> {
        let (list, after) = (request.list_hash(generation)?, request.position(generation)?);
        Ok(Self { request, list, after, page: ChunkPage::default(), places: Vec::new(), is_full: false })
    }

    /// Number of chunks that it takes before it breaks: one more than fits, which shows that there is a next page.
    pub fn wanted(&self) -> usize {
        self.request.page_size() + 1 - self.page.chunks.len()
    }

    /// Adds the next chunk, at `place` in `version` of its document; breaks when the page is full.
    pub fn push(&mut self, place: u32, version: i64, chunk: ListedChunk) -> ControlFlow<()> {
        if self.page.chunks.len() == self.request.page_size() {
            self.is_full = true;
            return ControlFlow::Break(());
        }
        self.places.push((self.request.key(chunk.record.token_count, place), place, version));
        self.page.chunks.push(chunk);
        ControlFlow::Continue(())
    }

    /// The page.
    pub fn finish(mut self) -> ChunkPage {
        if let (true, Some(last), Some(&(key, place, version))) =
            (self.is_full, self.page.chunks.last(), self.places.last())
        {
            let doc_id = last.record.doc_id.clone();
            let listed = self.page.chunks.iter().zip(&self.places).rev();
            let beside = listed.take_while(|(chunk, at)| chunk.record.doc_id == doc_id && at.0 == key);
            let ids = beside.map(|(chunk, _)| chunk.record.chunk_id.to_string());
            // If this page has few chunks, those of earlier pages are named too.
            let is_next =
                |after: &Position| self.request.skip == 0 && after.key == key && after.doc_id == doc_id;
            let before = self.after.filter(is_next);
            let anchors = ids.chain(before.into_iter().flat_map(|after| after.anchors));
            let anchors = anchors.take(ANCHORS).collect();
            let place = i64::from(place);
            let position = Position { list: self.list, key, doc_id, place, version, anchors };
            // Strings and numbers always serialize.
            let json = serde_json::to_vec(&position).unwrap_or_default();
            self.page.next = Some(Cursor(URL_SAFE_NO_PAD.encode(json)));
        }
        self.page
    }
}
