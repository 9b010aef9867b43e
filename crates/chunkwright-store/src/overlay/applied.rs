//! What of the overlays is on the chunks of a stored document.
//!
//! It is kept with the document, in the same commit as the chunks that carry it. What `overlays` lists is read from
//! here, so that it cannot differ from what searches do, whatever was interrupted.

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
    /// The chunk that the overlay was made for, which names it.
    #[serde(rename = "of")]
    pub overlay: String,
    /// How the chunk was found: never [`OverlayState::Orphaned`].
    pub state: OverlayState,
    /// Hash of what the overlay changes of the chunk.
    pub effect: String,
    /// What the record said before the overlay gave it another text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub original: Option<OriginalText>,
}

/// What a record said of its text before an overlay gave it another one.
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
    /// Whether it is this overlay as it is now.
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
    /// Makes of a record with another text what it was.
    pub fn restore(self, record: &mut Record) {
        let Self { text, char_count, word_count, token_count, tokenizer, token_level, oversize } = self;
        (record.text, record.tokenizer, record.token_level) = (text, tokenizer, token_level);
        (record.char_count, record.word_count, record.token_count) = (char_count, word_count, token_count);
        record.oversize = oversize;
    }
}

impl Overlay {
    /// Its text, unless what it replaces has changed.
    fn text_in_force(&self, state: OverlayState) -> Option<&String> {
        self.text.as_ref().filter(|_| state != OverlayState::Conflict)
    }

    /// Hash of what it changes of a chunk.
    pub fn effect(&self, state: OverlayState) -> String {
        let Self { disabled, keywords, .. } = self;
        content_hash(&format!("{disabled} {:?} {keywords:?}", self.text_in_force(state)))[..16].to_owned()
    }

    /// What a lexical search sees of a chunk with `text`.
    pub(crate) fn terms(&self, text: &str) -> TermCounts {
        let mut words = text.to_owned();
        for keyword in &self.keywords {
            words.push('\n');
            words.push_str(keyword);
        }
        TermCounts::of(&words)
    }

    /// Puts it on a chunk that has none. Tokens are counted as `chunker` counts; without one, as `words`.
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
            chunk.terms = self.terms(&record.text);
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

/// What of the overlays is kept with a document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Stored {
    /// On a chunk.
    Chunk(Applied),
    /// In how it was cut.
    Boundary(AppliedBoundary),
}

/// As [`DocumentInfo::overlays`]: empty for nothing.
pub fn write(applied: &[Applied], boundaries: &[AppliedBoundary]) -> String {
    if applied.is_empty() && boundaries.is_empty() {
        return String::new();
    }
    let (mut applied, mut boundaries) = (applied.to_vec(), boundaries.to_vec());
    applied.sort_by(|a, b| a.chunk_id.cmp(&b.chunk_id));
    boundaries.sort_by(|a, b| a.id.cmp(&b.id));
    let all = applied.into_iter().map(Stored::Chunk).chain(boundaries.into_iter().map(Stored::Boundary));
    // Plain data with names for keys can always be written.
    serde_json::to_string(&all.collect::<Vec<_>>()).unwrap_or_default()
}

/// What [`write`] wrote; nothing where it cannot be read, which a check finds by what is on the chunks.
pub(super) fn read(overlays: &str) -> Vec<Stored> {
    let overlays = overlays.strip_prefix(DocumentInfo::OUTDATED).unwrap_or(overlays);
    if overlays.is_empty() { Vec::new() } else { serde_json::from_str(overlays).unwrap_or_default() }
}

impl DocumentInfo {
    /// What of the overlays is on its chunks, by chunk id.
    pub fn applied(&self) -> Vec<Applied> {
        let on_chunk = |stored| if let Stored::Chunk(applied) = stored { Some(applied) } else { None };
        read(&self.overlays).into_iter().filter_map(on_chunk).collect()
    }

    /// Sets what of the overlays is on its chunks; how it was cut, and whether it has to be cut again, stays as it is.
    pub fn set_applied(&mut self, applied: &[Applied]) {
        let mark = if self.is_outdated() { Self::OUTDATED } else { "" };
        self.overlays = format!("{mark}{}", write(applied, &self.boundaries()));
    }
}
