//! The overlays that are applied to the chunks of a stored document.
//!
//! They are stored with the document, in the same commit as the chunks that carry them. The list that `overlays`
//! returns is read from here, so that it agrees with what searches do even after an interruption.

use chunkwright::stats::TokenLevel;
use chunkwright::{Chunker, Record, TokenCounter, Words};
use chunkwright_models::text_hash;
use serde::{Deserialize, Serialize};

use super::boundary::AppliedBoundary;
use super::{Overlay, OverlayState, content_hash};
use crate::bm25::TermCounts;
use crate::document::{DocumentInfo, NewChunk};

/// An overlay on a chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The chunk that it is on.
    #[serde(rename = "on")]
    pub chunk_id: String,
    /// The id of the overlay: the chunk that it was made for.
    #[serde(rename = "of")]
    pub overlay: String,
    /// How the chunk was found: never [`OverlayState::Orphaned`].
    pub state: OverlayState,
    /// Hash of what the overlay changes of the chunk.
    pub effect: String,
    /// The record's original text fields, if the overlay replaces the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub original: Option<OriginalText>,
}

/// The text fields of a record before an overlay replaced its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalText {
    /// The text.
    pub text: String,
    /// As in the record.
    pub char_count: u32,
    /// As in the record.
    pub word_count: u32,
    /// As in the record.
    pub token_count: u32,
    /// As in the record.
    pub tokenizer: String,
    /// As in the record.
    pub token_level: TokenLevel,
    /// As in the record.
    pub oversize: bool,
}

impl Applied {
    /// Returns whether it is this overlay in its present form.
    pub fn is_of(&self, overlay: &Overlay, state: OverlayState) -> bool {
        self.overlay == overlay.chunk_id && self.state == state && self.effect == overlay.effect(state)
    }
}

impl From<&Record> for OriginalText {
    fn from(record: &Record) -> Self {
        Self {
            text: record.text.clone(),
            char_count: record.char_count,
            word_count: record.word_count,
            token_count: record.token_count,
            tokenizer: record.tokenizer.clone(),
            token_level: record.token_level,
            oversize: record.oversize,
        }
    }
}

impl OriginalText {
    /// Restores the original text fields of a record.
    pub fn restore(self, record: &mut Record) {
        let Self { text, char_count, word_count, token_count, tokenizer, token_level, oversize } = self;
        (record.text, record.tokenizer, record.token_level) = (text, tokenizer, token_level);
        (record.char_count, record.word_count, record.token_count) = (char_count, word_count, token_count);
        record.oversize = oversize;
    }
}

impl Overlay {
    /// Its text, unless it is in conflict.
    fn text_in_force(&self, state: OverlayState) -> Option<&String> {
        self.text.as_ref().filter(|_| state != OverlayState::Conflict)
    }

    /// Hash of its effect on a chunk.
    pub fn effect(&self, state: OverlayState) -> String {
        let Self { disabled, keywords, .. } = self;
        content_hash(&format!("{disabled} {:?} {keywords:?}", self.text_in_force(state)))[..16].to_owned()
    }

    /// The terms of a chunk, its keywords included.
    pub(crate) fn terms(&self, chunk: &Record) -> TermCounts {
        let mut words = chunk.text.clone();
        for keyword in &self.keywords {
            words.push('\n');
            words.push_str(keyword);
        }
        TermCounts::of_chunk(&words, chunk)
    }

    /// Applies it to a chunk that has no overlay. Tokens are counted as `chunker` counts; without one, as `words`.
    pub fn put_on(&self, state: OverlayState, chunk: &mut NewChunk, chunker: Option<&Chunker>) -> Applied {
        let record = &mut chunk.record;
        let mut original = None;
        chunk.enabled = !self.disabled;
        if let Some(text) = self.text_in_force(state) {
            original = Some(OriginalText::from(&*record));
            let counter: &dyn TokenCounter = chunker.map_or(&Words, Chunker::counter);
            text.clone_into(&mut record.text);
            record.char_count = text.chars().count() as u32;
            record.word_count = Words.count(text) as u32;
            record.token_count = counter.count(text) as u32;
            counter.name().clone_into(&mut record.tokenizer);
            record.token_level = TokenLevel::of(record.token_count as usize);
            record.oversize = chunker.is_some_and(|chunker| !chunker.fits(text));
            chunk.text_hash = text_hash(text);
        }
        if original.is_some() || !self.keywords.is_empty() {
            chunk.terms = self.terms(record);
        }
        Applied {
            chunk_id: record.chunk_id.to_string(),
            overlay: self.chunk_id.clone(),
            state,
            effect: self.effect(state),
            original,
        }
    }
}

/// An overlay as it is stored with a document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Stored {
    /// On a chunk.
    Chunk(Applied),
    /// On a boundary that the document was cut by.
    Boundary(AppliedBoundary),
}

/// Serializes for [`DocumentInfo::overlays`]: empty for nothing.
pub fn write(applied: &[Applied], boundaries: &[AppliedBoundary]) -> String {
    if applied.is_empty() && boundaries.is_empty() {
        return String::new();
    }
    let (mut applied, mut boundaries) = (applied.to_vec(), boundaries.to_vec());
    applied.sort_by(|a, b| a.chunk_id.cmp(&b.chunk_id));
    boundaries.sort_by(|a, b| a.id.cmp(&b.id));
    let all = applied.into_iter().map(Stored::Chunk).chain(boundaries.into_iter().map(Stored::Boundary));
    // Plain data with string keys always serializes.
    serde_json::to_string(&all.collect::<Vec<_>>()).unwrap_or_default()
}

/// Reads what [`write`] wrote; empty if it is malformed, which a check finds by the chunks.
pub(super) fn read(overlays: &str) -> Vec<Stored> {
    let overlays = overlays.strip_prefix(DocumentInfo::OUTDATED).unwrap_or(overlays);
    if overlays.is_empty() { Vec::new() } else { serde_json::from_str(overlays).unwrap_or_default() }
}

impl DocumentInfo {
    /// The overlays applied to its chunks, by chunk id.
    pub fn applied(&self) -> Vec<Applied> {
        let on_chunk = |stored| if let Stored::Chunk(applied) = stored { Some(applied) } else { None };
        read(&self.overlays).into_iter().filter_map(on_chunk).collect()
    }

    /// Sets the overlays applied to its chunks; the boundaries that it was cut by, and whether it must be cut again,
    /// stay unchanged.
    pub fn set_applied(&mut self, applied: &[Applied]) {
        let mark = if self.is_outdated() { Self::OUTDATED } else { "" };
        self.overlays = format!("{mark}{}", write(applied, &self.boundaries()));
    }
}
