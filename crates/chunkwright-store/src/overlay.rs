//! Overlays: manual changes to chunks and to where chunks begin. They are kept apart from chunks, which every indexing
//! replaces: [`placing`] finds the chunk of each overlay, [`applied`] records what is stored with that chunk, and
//! [`boundary`] divides and joins chunks.

mod applied;
mod boundary;
mod likeness;
mod placing;

use std::collections::{BTreeMap, BTreeSet};

use chunkwright::{Chunker, Record};
use chunkwright_models::text_hash;
use serde::{Deserialize, Serialize};

use crate::document::NewChunk;

pub use applied::write as write_applied;
pub use applied::{Applied, OriginalText};
pub use boundary::is_same_place;
pub use boundary::{AppliedBoundary, SetBoundary};
pub use likeness::{LEAST_LEAD, LEAST_LIKENESS};
pub use placing::{Elsewhere, Search as OverlaySearch, place_in};

/// What was changed by hand of one chunk, or a boundary that was set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Overlay {
    /// Id of the chunk it was made for; of a boundary, what names it, 32 hex digits as well.
    pub chunk_id: String,
    /// Document of that chunk.
    pub doc_id: String,
    /// Hash of the content of that chunk, 32 hex digits.
    pub content_hash: String,
    /// The content of that chunk, by which an edited one is recognized.
    pub content: String,
    /// The heading path of that chunk.
    pub header_path: String,
    /// Searches do not find it.
    pub disabled: bool,
    /// What is embedded and searched instead of its text. What it owns stays what it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// The text of the chunk when `text` was given: what `text` replaces.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub original: Option<String>,
    /// Words that it is found by too, though it does not say them: names, aliases.
    pub keywords: Vec<String>,
    /// Queries that it is the first answer to.
    pub pins: Vec<String>,
    /// The boundary that it sets; all that is said of a chunk is empty then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boundary: Option<SetBoundary>,
    /// When it was made or changed last, ISO 8601.
    pub changed_at: String,
}

/// How an overlay stands to the chunks of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OverlayState {
    /// In force, on the chunk that it was made for or the one with the same content.
    On,
    /// In force, on the only chunk that is like the one it was made for; to be reviewed.
    Carried,
    /// The text it gives is not in force, because what it was given for changed; all else is. Of a merge: the chunk
    /// would be over the limit.
    Conflict,
    /// On no chunk; of a boundary: at no place of the document.
    Orphaned,
}

impl OverlayState {
    /// The name that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Carried => "carried",
            Self::Conflict => "conflict",
            Self::Orphaned => "orphaned",
        }
    }
}

/// The hash by which an overlay finds content again.
pub fn content_hash(content: &str) -> String {
    text_hash(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Overlay {
    /// An overlay of `record` that changes nothing yet.
    pub fn of(record: &Record) -> Self {
        let mut overlay = Self::default();
        overlay.make_for(record);
        overlay
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        let Self { disabled, text, keywords, pins, boundary, .. } = self;
        !disabled && text.is_none() && keywords.is_empty() && pins.is_empty() && boundary.is_none()
    }

    /// Rebinds the overlay to `record`, whose text is the one without overlays.
    pub fn make_for(&mut self, record: &Record) {
        self.chunk_id = record.chunk_id.to_string();
        self.doc_id.clone_from(&record.doc_id);
        (self.content_hash, self.content) = (String::new(), String::new());
        self.remember(record);
        self.original = self.text.is_some().then(|| record.text.clone());
    }

    /// Records the content of the chunk that it was made for. A summary has no content of its own: its overlay is found
    /// by id alone.
    pub fn remember(&mut self, record: &Record) {
        if record.artifact.is_some() {
            return;
        }
        self.content_hash = content_hash(&record.content);
        self.content.clone_from(&record.content);
        self.header_path.clone_from(&record.header_path);
    }
}

/// The overlays of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// By chunk id, or by boundary id.
    by_id: BTreeMap<String, Overlay>,
    /// Ids by document.
    by_document: BTreeMap<String, BTreeSet<String>>,
}

impl Overlays {
    /// All of them, by id.
    pub fn all(&self) -> impl Iterator<Item = &Overlay> {
        self.by_id.values()
    }

    /// Those of chunks, by chunk id.
    pub fn iter(&self) -> impl Iterator<Item = &Overlay> {
        self.all().filter(|overlay| overlay.boundary.is_none())
    }

    /// Those that set boundaries, by boundary id.
    pub fn boundaries(&self) -> impl Iterator<Item = &Overlay> {
        self.all().filter(|overlay| overlay.boundary.is_some())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The overlay made for the chunk with this id, or the one that sets the boundary with this id.
    pub fn get(&self, id: &str) -> Option<&Overlay> {
        self.by_id.get(id)
    }

    /// Those made for chunks of a document.
    pub fn of_document(&self, doc_id: &str) -> impl Iterator<Item = &Overlay> {
        self.all_of(doc_id).filter(|overlay| overlay.boundary.is_none())
    }

    /// Those that set boundaries of a document, by boundary id.
    pub fn boundaries_of(&self, doc_id: &str) -> impl Iterator<Item = &Overlay> {
        self.all_of(doc_id).filter(|overlay| overlay.boundary.is_some())
    }

    fn all_of(&self, doc_id: &str) -> impl Iterator<Item = &Overlay> {
        let ids = self.by_document.get(doc_id).into_iter().flatten();
        ids.filter_map(|id| self.by_id.get(id))
    }

    /// Adds an overlay, or removes it if it is empty.
    pub fn put(&mut self, overlay: Overlay) {
        self.remove(&overlay.chunk_id);
        if !overlay.is_empty() {
            self.by_document.entry(overlay.doc_id.clone()).or_default().insert(overlay.chunk_id.clone());
            self.by_id.insert(overlay.chunk_id.clone(), overlay);
        }
    }

    /// Removes the overlay with this chunk id or boundary id.
    pub fn remove(&mut self, id: &str) {
        if let Some(known) = self.by_id.remove(id)
            && let Some(ids) = self.by_document.get_mut(&known.doc_id)
        {
            ids.remove(id);
        }
    }

    /// The overlay on each of the chunks of one document, and how it was found.
    pub fn place(&self, records: &[&Record]) -> Vec<Option<(&Overlay, OverlayState)>> {
        let Some(first) = records.first() else { return Vec::new() };
        let own: Vec<&Overlay> = self.of_document(&first.doc_id).collect();
        place_in(&own, records)
    }

    /// Applies overlays to the chunks of one document and returns what was applied. `also` names overlays that are on
    /// its chunks although they were made for another document, which is gone.
    pub fn put_on(&self, chunks: &mut [NewChunk], chunker: Option<&Chunker>, also: &[&str]) -> Vec<Applied> {
        let Some(first) = chunks.first() else { return Vec::new() };
        let mut overlays: Vec<&Overlay> = self.of_document(&first.record.doc_id).collect();
        overlays.extend(also.iter().filter_map(|id| self.get(id)));
        if overlays.is_empty() {
            return Vec::new();
        }
        let records: Vec<&Record> = chunks.iter().map(|chunk| &chunk.record).collect();
        let placed = place_in(&overlays, &records);
        let put = |(chunk, placed): (&mut NewChunk, Option<(&Overlay, OverlayState)>)| {
            placed.map(|(overlay, state)| overlay.put_on(state, chunk, chunker))
        };
        chunks.iter_mut().zip(placed).filter_map(put).collect()
    }
}

impl FromIterator<Overlay> for Overlays {
    fn from_iter<I: IntoIterator<Item = Overlay>>(overlays: I) -> Self {
        let mut all = Self::default();
        overlays.into_iter().for_each(|overlay| all.put(overlay));
        all
    }
}
