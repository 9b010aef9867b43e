//! Export and import of collections: every record, with what is needed to restore its document.
//!
//! The first record of each document carries the document (its source, its file if that differs from the source, and
//! its metadata) and its manual changes. So a file of records is all that another store needs: an amended text comes
//! with the text that it replaces. Changes whose document is not in the file come with the first record.
//!
//! A file without documents, from `chunkwright chunk` or another program, can be read too: the chunks of a document
//! cover all its visible text, so the source is put together from them with blanks between.

mod import;
mod lines;
mod rebuild;

use std::collections::HashSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chunkwright::Record;
use chunkwright_models::{TextHash, text_hash};
use serde::{Deserialize, Serialize};

pub use import::{FileRows, ImportError, ImportFailure, ImportOptions, Imported, RowFile, import};
pub use lines::{MAX_LINE, lines};

use chunkwright_store::StoreError;
use chunkwright_store::Vector;
use chunkwright_store::{DocumentInfo, Generation, Overlay, Store};

/// A record in transfer, with what comes with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The chunk.
    #[serde(flatten)]
    pub record: Record,
    /// Its document, on the first of its records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub document: Option<MovedDocument>,
    /// Manual changes in its document, on the first of its records.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub overlays: Vec<Overlay>,
    /// Its vector, if it has one and vectors are moved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vector: Option<Vec<f32>>,
    /// Its sparse vector, as pairs of token and weight, if its model gives one and vectors are moved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sparse: Option<Vec<(u32, f32)>>,
    /// The codes of its tokens, in base64 where they are text, if its model gives them and vectors are moved.
    #[serde(with = "base64_codes", skip_serializing_if = "Option::is_none", default)]
    pub codes: Option<Vec<u8>>,
    /// The model of its vector, where no document says it.
    #[serde(rename = "vector_model", skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
}

mod base64_codes {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD as BASE64;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "the form that `serde` asks for")]
    pub(super) fn serialize<S: Serializer>(codes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        codes.as_ref().map(|codes| BASE64.encode(codes)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| BASE64.decode(text).map_err(D::Error::custom)).transpose()
    }
}

/// A document in transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedDocument {
    /// Its metadata.
    #[serde(flatten)]
    pub info: DocumentInfo,
    /// The decoded text.
    pub source: String,
    /// The file in base64, if its bytes differ from the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub raw_base64: Option<String>,
    /// The outline.
    pub doc_toc: String,
    /// Summary by a chat model.
    #[serde(default)]
    pub summary: String,
    /// The notes of its generation, as in the specification after the first `+`; empty for none. Summaries of code are
    /// not moved.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub notes: String,
    /// The model of the vectors that are moved with its chunks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
}

/// Position of a row in a file, from 1: `line 12`, `row 12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowAt {
    /// The unit that is counted.
    pub unit: &'static str,
    /// Its number.
    pub number: usize,
}

impl fmt::Display for RowAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit, self.number)
    }
}

/// Passes every record of a generation to `each`, by document and in order, without summaries of code, and with vectors
/// if requested.
///
/// # Errors
///
/// A removed generation, a failing store, and errors of `each`.
pub fn export<E: From<StoreError>>(
    store: &dyn Store,
    generation: &Generation,
    vectors: Vectors,
    each: &mut dyn FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    let overlays = store.overlays(&generation.collection)?;
    let documents = store.documents(generation)?;
    let exported: HashSet<&str> =
        documents.iter().filter(|info| info.chunks > 0).map(|info| info.doc_id.as_str()).collect();
    let is_elsewhere = |overlay: &&Overlay| !exported.contains(overlay.doc_id.as_str());
    let mut elsewhere: Vec<Overlay> = overlays.all().filter(is_elsewhere).cloned().collect();
    for info in &documents {
        let Some(document) = store.document(generation, &info.doc_id)? else { continue };
        let records = store.records(generation, &info.doc_id)?;
        let model = generation.spec.model.as_ref().filter(|_| vectors == Vectors::Moved);
        let known = match model {
            Some(model) => {
                let hashes: Vec<TextHash> = records.iter().map(|record| text_hash(&record.text)).collect();
                store.cache().vectors(&model.name, &hashes)?
            }
            None => vec![None; records.len()],
        };
        let mut moved = Some(MovedDocument {
            info: document.info,
            source: document.source.to_string(),
            raw_base64: document.raw.map(|raw| BASE64.encode(raw)),
            doc_toc: document.doc_toc,
            summary: document.summary,
            notes: notes_of(&generation.spec.config_hash),
            model: model.map(|model| model.name.clone()),
        });
        for (record, vector) in records.into_iter().zip(known) {
            let (vector, sparse, codes) = match vector {
                Some(Vector { dense, sparse, codes }) => (Some(dense), sparse, codes),
                None => (None, None, None),
            };
            let mut by_hand = Vec::new();
            if moved.is_some() {
                by_hand.append(&mut elsewhere);
                by_hand.extend(overlays.all().filter(|overlay| overlay.doc_id == info.doc_id).cloned());
            }
            each(Row {
                record,
                document: moved.take(),
                overlays: by_hand,
                vector,
                sparse,
                codes,
                model: None,
            })?;
        }
    }
    Ok(())
}

/// The part of a configuration hash about notes: what follows the first `+`, without summaries of code.
fn notes_of(config_hash: &str) -> String {
    let parts = config_hash.split('+').skip(1).filter(|part| *part != "summaries");
    parts.map(|part| format!("+{part}")).collect()
}

/// Whether vectors are moved with their chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// They are moved.
    Moved,
    /// They are left out, and made again after the import.
    Left,
}
