//! Overlays: what people changed of chunks by hand. They stand apart from chunks, which are made again
//! and again; each is put on the chunk with its id, or, where ids moved, on the one with its content.

use std::collections::{BTreeMap, HashMap, HashSet};

use chunkwright::Record;
use chunkwright_models::text_hash;
use serde::{Deserialize, Serialize};

use super::NewChunk;
use crate::bm25::TermCounts;

/// What was changed by hand of one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overlay {
    /// Id of the chunk it was made for.
    pub chunk_id: String,
    /// Document of that chunk.
    pub doc_id: String,
    /// Hash of the content of that chunk, 32 hex digits.
    pub content_hash: String,
    /// Searches do not find it.
    pub disabled: bool,
    /// What is embedded and searched instead of its text. What it owns stays what it is.
    pub text: Option<String>,
    /// The text that stood there when `text` was given.
    pub original: Option<String>,
    /// Words that it is found by too, though it does not say them: names, aliases.
    pub keywords: Vec<String>,
    /// Queries that it is the first answer to.
    pub pins: Vec<String>,
    /// When it was made or changed last, ISO 8601.
    pub changed_at: String,
}

/// The hash by which an overlay finds content again.
pub(crate) fn content_hash(content: &str) -> String {
    text_hash(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Overlay {
    /// An overlay of `record` that changes nothing yet.
    pub fn of(record: &Record) -> Self {
        Self {
            chunk_id: record.chunk_id.clone(),
            doc_id: record.doc_id.clone(),
            content_hash: content_hash(&record.content),
            ..Self::default()
        }
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        !self.disabled && self.text.is_none() && self.keywords.is_empty() && self.pins.is_empty()
    }

    /// Puts on a chunk what was changed of it.
    pub(crate) fn put_on(&self, chunk: &mut NewChunk) {
        chunk.enabled = !self.disabled;
        if let Some(text) = &self.text {
            text.clone_into(&mut chunk.record.text);
            chunk.text_hash = text_hash(text);
        }
        if self.text.is_some() || !self.keywords.is_empty() {
            let words = [std::slice::from_ref(&chunk.record.text), &self.keywords].concat().join("\n");
            chunk.terms = TermCounts::of(&words);
        }
    }
}

/// The overlays of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// By chunk id.
    by_id: BTreeMap<String, Overlay>,
}

impl Overlays {
    /// All of them, by chunk id.
    pub fn iter(&self) -> impl Iterator<Item = &Overlay> {
        self.by_id.values()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The overlay made for the chunk with this id.
    pub fn get(&self, chunk_id: &str) -> Option<&Overlay> {
        self.by_id.get(chunk_id)
    }

    /// Adds an overlay, or takes it back if it is empty.
    pub fn put(&mut self, overlay: Overlay) {
        if overlay.is_empty() {
            self.by_id.remove(&overlay.chunk_id);
        } else {
            self.by_id.insert(overlay.chunk_id.clone(), overlay);
        }
    }

    /// Which overlay is on each chunk of one document: the one with its id; of those whose id is gone, the
    /// one with its content, on the first chunk that has it.
    pub fn place<'r>(&self, records: impl Iterator<Item = &'r Record> + Clone) -> Vec<Option<&Overlay>> {
        let mut placed: Vec<Option<&Overlay>> =
            records.clone().map(|record| self.get(&record.chunk_id)).collect();
        let Some(doc_id) = records.clone().next().map(|record| record.doc_id.as_str()) else { return placed };
        let ids: HashSet<&str> = records.clone().map(|record| record.chunk_id.as_str()).collect();
        let is_homeless =
            |overlay: &&Overlay| overlay.doc_id == doc_id && !ids.contains(overlay.chunk_id.as_str());
        let mut homeless: HashMap<&str, &Overlay> =
            self.iter().filter(is_homeless).map(|overlay| (overlay.content_hash.as_str(), overlay)).collect();
        if !homeless.is_empty() {
            for (record, place) in records.zip(&mut placed).filter(|(_, place)| place.is_none()) {
                *place = homeless.remove(content_hash(&record.content).as_str());
            }
        }
        placed
    }

    /// Puts on every chunk of one document what was changed of it; answers a hash of all that was, empty
    /// for nothing.
    pub(crate) fn put_on(&self, chunks: &mut [NewChunk]) -> String {
        if self.is_empty() {
            return String::new();
        }
        let placed = self.place(chunks.iter().map(|chunk| &chunk.record));
        let hash = self.hash(chunks.iter().map(|chunk| &chunk.record));
        for (chunk, overlay) in chunks.iter_mut().zip(placed) {
            overlay.inspect(|overlay| overlay.put_on(chunk));
        }
        hash
    }

    /// Hash of what is on the chunks of one document, empty for nothing.
    pub(crate) fn hash<'r>(&self, records: impl Iterator<Item = &'r Record> + Clone) -> String {
        let placed = records.clone().zip(self.place(records));
        let said = placed.filter_map(|(record, overlay)| {
            let Overlay { disabled, text, keywords, .. } = overlay?;
            Some(format!("{} {disabled} {text:?} {keywords:?}\n", record.chunk_id))
        });
        let said: String = said.collect();
        if said.is_empty() { said } else { content_hash(&said)[..16].to_owned() }
    }
}

impl FromIterator<Overlay> for Overlays {
    fn from_iter<I: IntoIterator<Item = Overlay>>(overlays: I) -> Self {
        let mut all = Self::default();
        overlays.into_iter().for_each(|overlay| all.put(overlay));
        all
    }
}
