//! Documents and chunks as stores list, keep and change them.

use std::collections::BTreeMap;
use std::sync::Arc;

use chunkwright::{ChunkId, Record};
use chunkwright_models::{TextHash, text_hash};
use chunkwright_source::format::file_hash;
use chunkwright_source::{Format, language_named};
use serde::{Deserialize, Serialize};

use crate::bm25::TermCounts;

/// A document as a store lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentInfo {
    /// Key in the collection.
    pub doc_id: String,
    /// Number of the stored version, greater than that of any version before it. 0 in a document that
    /// was not stored yet.
    pub version: i64,
    /// The folder that its id is relative to, or the file where a single file was given; absolute, part of no
    /// identity.
    pub root: String,
    /// What stands before the path relative to `root` in its id; empty for nothing. Of a single file that was
    /// given, all of its id.
    #[serde(default)]
    pub prefix: String,
    /// BLAKE3 of the raw file, hex.
    pub file_hash: String,
    /// Length of the raw file, in bytes.
    pub bytes: u64,
    /// When the file was modified, in nanoseconds since 1970, where that and its length tell an unchanged
    /// file: 0 if it was modified so shortly before it was read that they do not.
    pub modified: i64,
    /// Name of the preset.
    pub preset: String,
    /// Name of the format's parser.
    pub format: String,
    /// Encoding of the raw file, by its name on the web.
    pub encoding: String,
    /// Whether the encoding is a guess from little text.
    pub low_confidence: bool,
    /// Number of malformed byte sequences that were replaced by U+FFFD.
    pub replacements: u32,
    /// Number of chunks; 0 for a document without a visible character.
    pub chunks: u32,
    /// Chunks without a vector although the generation has a model.
    pub pending: u32,
    /// What of the overlays is on its chunks (see [`applied`](Self::applied)); empty for nothing.
    pub overlays: String,
    /// When it was stored, ISO 8601.
    pub indexed_at: String,
    /// What the caller said of it, such as `course_id`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, String>,
}

impl DocumentInfo {
    /// Returns whether its text is shown as it renders, not as its source: HTML and notebooks.
    pub fn is_rendered(&self) -> bool {
        Format::renders(&self.format)
    }

    /// Returns whether both were made from the same file in the same way, apart from manual changes.
    pub fn is_same_file(&self, other: &Self) -> bool {
        let file = |info: &Self| {
            [&info.file_hash, &info.format, &info.preset, &info.root, &info.prefix].map(String::clone)
        };
        !self.is_outdated() && file(self) == file(other) && self.meta == other.meta
    }

    /// Start of `overlays` in a document that must be cut again even if its file is unchanged.
    pub(crate) const OUTDATED: &str = "outdated";

    /// Makes the next run cut the document again, even if its file is unchanged.
    pub fn set_outdated(&mut self) {
        if !self.is_outdated() {
            self.overlays.insert_str(0, Self::OUTDATED);
        }
    }

    /// Returns whether the document must be cut again even if its file is unchanged.
    pub(crate) fn is_outdated(&self) -> bool {
        self.overlays.starts_with(Self::OUTDATED)
    }

    /// Returns whether both were made from the same bytes in the same way, so that replacing one by the other would
    /// change nothing.
    pub fn is_same_input(&self, other: &Self) -> bool {
        self.is_same_file(other) && self.overlays == other.overlays
    }
}

/// A document with its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDocument {
    /// Metadata of the document.
    pub info: DocumentInfo,
    /// The decoded text: what spans point into.
    pub source: Arc<str>,
    /// The raw file, if its bytes differ from `source`.
    pub raw: Option<Vec<u8>>,
    /// The indented outline of the document, capped.
    pub doc_toc: String,
    /// Summary by a chat model; empty for none.
    pub summary: String,
}

impl StoredDocument {
    /// The raw file.
    pub fn bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.source.as_bytes())
    }

    /// Whether the raw file is still the one that was stored.
    pub fn is_intact(&self) -> bool {
        file_hash(self.bytes()) == self.info.file_hash
    }
}

/// A chunk as a store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// The chunk.
    pub record: Record,
    /// Outline of its document.
    pub doc_toc: String,
    /// Summary of its document; empty for none.
    pub doc_summary: String,
    /// Terms that lexical searches find it by.
    pub terms: TermCounts,
    /// Whether it has a vector of the generation's model.
    pub embedded: bool,
    /// Whether searches may find it.
    pub enabled: bool,
}

/// What an index has of a chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexedChunk {
    /// Those of its terms that were asked for.
    pub terms: TermCounts,
    /// The dot product of its vector and the query's; none without either.
    pub product: Option<f64>,
}

/// Where a chunk comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its document.
    pub doc_id: String,
    /// What that consists of; prose in a collection that another program made.
    pub kind: DocumentKind,
}

/// What a document consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Source code.
    Code,
    /// Configuration and the like.
    Data,
    /// Text for people.
    Prose,
}

/// The formats whose chunks have the content type `data`.
const DATA: &[&str] = &["json", "jsonl", "toml", "yaml"];

impl DocumentKind {
    /// That of a chunk's document, by the chunk's [language](Record::language) and [content type](Record::content_type).
    pub fn of_chunk(language: Option<&str>, content_type: &str) -> Self {
        match language {
            Some(_) => Self::Code,
            None if content_type == "data" => Self::Data,
            None => Self::Prose,
        }
    }

    /// That of a document, by the name of its [format](DocumentInfo::format).
    pub fn of_format(format: &str) -> Self {
        match format {
            format if language_named(format).is_some() => Self::Code,
            format if DATA.contains(&format) => Self::Data,
            _ => Self::Prose,
        }
    }
}

/// A document to be stored, whole.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// The document; `version`, `chunks` and `pending` of its `info` are set by the store.
    pub document: StoredDocument,
    /// The version that this one replaces, as listed when the file was read; 0 for none. If another writer was faster,
    /// the change is rejected as [`Outcome::Stale`], so that older content of a file never replaces newer content.
    pub base: i64,
    /// Its chunks, in order.
    pub chunks: Vec<NewChunk>,
}

/// A chunk to be stored. Its vector is the one that the store's [`Cache`] knows for its text.
#[derive(Clone, Debug)]
pub struct NewChunk {
    /// The chunk.
    pub record: Record,
    /// Key of its vector.
    pub text_hash: TextHash,
    /// Terms that lexical searches find it by.
    pub terms: TermCounts,
    /// Whether searches may find it.
    pub enabled: bool,
}

impl NewChunk {
    /// Prepares `record` for storing: hashes and analyses its text.
    pub fn new(record: Record) -> Self {
        Self {
            text_hash: text_hash(&record.text),
            terms: TermCounts::of_chunk(&record.text, &record),
            enabled: true,
            record,
        }
    }

    /// Its id.
    pub fn id(&self) -> ChunkId {
        self.record.chunk_id
    }
}

/// One change to a generation.
#[derive(Clone, Debug)]
pub enum Change {
    /// Stores a document, replacing its earlier version if there is one.
    Replace(Box<NewDocument>),
    /// Removes a document.
    Remove {
        /// The document.
        doc_id: String,
    },
    /// Replaces the chunks of a document that have the same ids. If the document no longer has the version `base`, or
    /// lacks such a chunk, the change is [`Outcome::Stale`].
    Amend {
        /// The document.
        doc_id: String,
        /// The chunks.
        chunks: Vec<NewChunk>,
        /// Version of the document.
        base: i64,
        /// As [`DocumentInfo::overlays`] from now on.
        overlays: String,
    },
    /// Records that a document's file was modified without changing its content; readers see no difference.
    Touch {
        /// The document.
        doc_id: String,
        /// As [`DocumentInfo::modified`].
        modified: i64,
    },
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Applied.
    Written,
    /// Nothing to do; nothing was written.
    Unchanged,
    /// Rejected: another writer changed the document since it was listed.
    Stale,
}
