//! Collections out of a store and into one: every record, with what makes its document whole.
//!
//! The first record of each document carries the document: its source, its file where that is not its
//! source, what is known of it. So a file of records is all that another store needs, and one without the
//! documents (of `chunkwright chunk`, or of another program) can still be read: the chunks of a document tile
//! what is visible in it, so the source is put together from them with blanks between.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chunkwright::Record;
use chunkwright_models::{TextHash, text_hash};
use serde::{Deserialize, Serialize};

use crate::format::file_hash;
use crate::store::{
    Change, DocumentInfo, Generation, GenerationSpec, Model, NewChunk, NewDocument, Outcome, Store,
    StoreError, StoredDocument, Vector,
};

/// A record that is moved, and what comes with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The chunk.
    #[serde(flatten)]
    pub record: Record,
    /// Its document, on the first of its records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub document: Option<MovedDocument>,
    /// Its vector, where there is one and vectors are moved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vector: Option<Vec<f32>>,
    /// Its sparse vector, pairs of token and weight, where its model gives such and vectors are moved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sparse: Option<Vec<(u32, f32)>>,
}

/// A document that is moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedDocument {
    /// What is known about it.
    #[serde(flatten)]
    pub info: DocumentInfo,
    /// The decoded text.
    pub source: String,
    /// The file in base64, where it is not the same bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub raw_base64: Option<String>,
    /// The outline.
    pub doc_toc: String,
    /// What a chat model said it is about.
    #[serde(default)]
    pub summary: String,
    /// The model of the vectors that are moved with its chunks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Documents written.
    pub documents: usize,
    /// Documents that were there as they are.
    pub unchanged: usize,
    /// Chunks of the documents written.
    pub chunks: usize,
    /// Documents whose source was put together from their chunks.
    pub rebuilt: usize,
}

/// Why records could not be taken in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A record that does not fit its document.
    #[error(
        "chunk {index} of `{doc_id}` is not at bytes {start} to {end} of its document; the file was changed"
    )]
    Span {
        /// The document.
        doc_id: String,
        /// Position of the chunk.
        index: u32,
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
    /// Records of a document that do not stand together and in order.
    #[error(
        "the records of `{doc_id}` are not together and in order; sort them by `doc_id` and `chunk_index`"
    )]
    Order {
        /// The document.
        doc_id: String,
    },
    /// A file in base64 that is none.
    #[error("the file of `{doc_id}` is no base64: {error}")]
    Base64 {
        /// The document.
        doc_id: String,
        /// What is wrong.
        error: base64::DecodeError,
    },
    /// Records cut in two ways, which cannot be one generation.
    #[error(
        "`{doc_id}` was cut by `{found}`, those before by `{expected}`; records of one strategy version and configuration make a collection"
    )]
    Mixed {
        /// The document.
        doc_id: String,
        /// Strategy version and configuration found.
        found: String,
        /// Those of the first record.
        expected: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Gives every record of a generation to `each`, by document and in order, summaries of code left out; with
/// vectors if that is asked for.
///
/// # Errors
///
/// A generation that is gone, a store that fails, and what `each` fails with.
pub fn export<E: From<StoreError>>(
    store: &dyn Store,
    generation: &Generation,
    vectors: Vectors,
    each: &mut dyn FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    for info in store.documents(generation)? {
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
            source: document.source,
            raw_base64: document.raw.map(|raw| BASE64.encode(raw)),
            doc_toc: document.doc_toc,
            summary: document.summary,
            model: model.map(|model| model.name.clone()),
        });
        for (record, vector) in records.into_iter().zip(known) {
            let (vector, sparse) = vector.map(|vector| (vector.dense, vector.sparse)).unzip();
            each(Row { record, document: moved.take(), vector, sparse: sparse.flatten() })?;
        }
    }
    Ok(())
}

/// Whether vectors are moved with their chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// They are.
    Moved,
    /// They are made again where the records arrive.
    Left,
}

/// Takes records into a collection, document by document.
pub struct Importer<'a> {
    store: &'a dyn Store,
    collection: String,
    generation: Option<Generation>,
    /// Records of the document under way.
    rows: Vec<Row>,
    /// Documents that are done.
    seen: HashSet<String>,
    imported: Imported,
}

impl<'a> Importer<'a> {
    /// Begins to take records into `collection`, as the generation that the first record is of.
    pub fn new(store: &'a dyn Store, collection: impl Into<String>) -> Self {
        Self {
            store,
            collection: collection.into(),
            generation: None,
            rows: Vec::new(),
            seen: HashSet::new(),
            imported: Imported::default(),
        }
    }

    /// Takes a record. Those of a document must come together and in order.
    ///
    /// # Errors
    ///
    /// [`ImportError`]; documents before stay.
    pub fn push(&mut self, row: Row) -> Result<(), ImportError> {
        let doc_id = &row.record.doc_id;
        if self.rows.first().is_some_and(|first| first.record.doc_id != *doc_id) {
            self.flush()?;
        }
        if self.seen.contains(doc_id) || row.record.chunk_index as usize != self.rows.len() {
            return Err(ImportError::Order { doc_id: doc_id.clone() });
        }
        self.rows.push(row);
        Ok(())
    }

    /// Takes in the last document and makes what was taken in what searches see.
    ///
    /// # Errors
    ///
    /// [`ImportError`].
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        self.flush()?;
        if let Some(generation) = &self.generation {
            self.store.switch(generation)?;
        }
        Ok(self.imported)
    }

    fn flush(&mut self) -> Result<(), ImportError> {
        let mut rows = std::mem::take(&mut self.rows);
        let Some(first) = rows.first_mut() else { return Ok(()) };
        let doc_id = first.record.doc_id.clone();
        let moved = first.document.take();
        let model = moved.as_ref().and_then(|moved| moved.model.clone());
        let model = model.zip(first.vector.as_ref()).map(|(name, vector)| Model {
            name,
            dimension: vector.len(),
            sparse: first.sparse.is_some(),
        });
        let generation = self.generation(&first.record, model)?;
        let mut document = if let Some(moved) = moved {
            whole(moved)?
        } else {
            self.imported.rebuilt += 1;
            rebuilt(&rows)
        };
        for row in &rows {
            let Record { start_byte: start, end_byte: end, content, chunk_index: index, .. } = &row.record;
            if document.source.get(*start as usize..*end as usize) != Some(content) {
                return Err(ImportError::Span { doc_id, index: *index, start: *start, end: *end });
            }
        }
        let vector = |row: &mut Row| Some(Vector { dense: row.vector.take()?, sparse: row.sparse.take() });
        let known: Vec<(TextHash, Vector)> =
            rows.iter_mut().filter_map(|row| Some((text_hash(&row.record.text), vector(row)?))).collect();
        if let Some(model) = &generation.spec.model {
            self.store.cache().put_vectors(&model.name, &known)?;
        }
        let stored = self.store.document(&generation, &doc_id)?;
        let overlays = self.store.overlays(&self.collection)?;
        let mut chunks: Vec<NewChunk> = rows.into_iter().map(|row| NewChunk::new(row.record)).collect();
        document.info.overlays = overlays.put_on(&mut chunks);
        let new = NewDocument { base: stored.map_or(0, |stored| stored.info.version), document, chunks };
        let count = new.chunks.len();
        let outcome = self.store.write(&generation, &[Change::Replace(Box::new(new))])?;
        if outcome == [Outcome::Written] {
            self.imported.documents += 1;
            self.imported.chunks += count;
        } else {
            self.imported.unchanged += 1;
        }
        self.seen.insert(doc_id);
        Ok(())
    }

    /// The generation of all records, by the first.
    fn generation(&mut self, record: &Record, model: Option<Model>) -> Result<Generation, ImportError> {
        if let Some(generation) = &self.generation {
            let spec = &generation.spec;
            let said = |version: &str, config: &str| format!("{version} {config}");
            let (found, expected) = (
                said(&record.strategy_version, &record.config_hash),
                said(&spec.strategy_version, &spec.config_hash),
            );
            if found != expected {
                return Err(ImportError::Mixed { doc_id: record.doc_id.clone(), found, expected });
            }
            return Ok(generation.clone());
        }
        let spec = GenerationSpec {
            strategy_version: record.strategy_version.clone(),
            config_hash: record.config_hash.clone(),
            model,
        };
        let generation = self.store.begin(&self.collection, &spec)?;
        self.generation = Some(generation.clone());
        Ok(generation)
    }
}

fn whole(moved: MovedDocument) -> Result<StoredDocument, ImportError> {
    let raw = match &moved.raw_base64 {
        Some(raw) => Some(
            BASE64
                .decode(raw)
                .map_err(|error| ImportError::Base64 { doc_id: moved.info.doc_id.clone(), error })?,
        ),
        None => None,
    };
    Ok(StoredDocument {
        info: moved.info,
        source: moved.source,
        raw,
        doc_toc: moved.doc_toc,
        summary: moved.summary,
    })
}

/// A document as its chunks tell of it: between them are blanks, with a line break where a line ends.
fn rebuilt(rows: &[Row]) -> StoredDocument {
    let mut source = String::new();
    let mut line = 1;
    for Row { record, .. } in rows {
        let gap = (record.start_byte as usize).saturating_sub(source.len());
        let breaks = (record.start_line.saturating_sub(line) as usize).min(gap);
        source.push_str(&"\n".repeat(breaks));
        source.push_str(&" ".repeat(gap - breaks));
        source.push_str(&record.content);
        line = record.end_line;
    }
    let first = &rows[0].record;
    let info = DocumentInfo {
        doc_id: first.doc_id.clone(),
        file_hash: file_hash(source.as_bytes()),
        bytes: source.len() as u64,
        preset: first.preset.clone(),
        indexed_at: first.indexed_at.clone().unwrap_or_default(),
        ..DocumentInfo::default()
    };
    StoredDocument { info, source, ..StoredDocument::default() }
}
