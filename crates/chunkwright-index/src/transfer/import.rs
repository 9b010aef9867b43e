//! Imports records into a collection. A file that contradicts itself is rejected whole.
//!
//! A file is read twice. The first reading verifies every document (see [`verify`](chunkwright_store::verify)) and
//! finds what the import would hide; a rejected file has written nothing. The second writes the documents one by one,
//! each whole. An interruption leaves consistent documents, and the same import resumes.
//!
//! Manual changes are imported with their documents. An existing change of the same chunk is kept: the one in the file
//! is counted and left out, since replacing it would go unnoticed.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chunkwright::verify::Finding;
use chunkwright::{ChunkId, Record, TokenCounter as _, Words};
use chunkwright_models::{TextHash, text_hash};
use serde::{Deserialize, Serialize};

use super::rebuild::rebuilt;
use super::{MovedDocument, Row, RowAt};
use crate::pipeline::{IndexError, IndexOptions, Pipeline};
use crate::settle::{Tools, settle, settle_all};
use chunkwright_store::overlay::write_applied;
use chunkwright_store::verify::{self, Counters, is_doc_id};
use chunkwright_store::{
    Applied, Change, Generation, GenerationSpec, Model, NewChunk, NewDocument, OriginalText, Outcome,
    Overlay, OverlayState, Overlays, Store, StoreError, StoredDocument, Vector,
};

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// Documents written.
    pub documents: usize,
    /// Documents that were there as they are.
    pub unchanged: usize,
    /// Chunks of the documents written.
    pub chunks: usize,
    /// Documents whose source was put together from their chunks.
    pub rebuilt: usize,
    /// Changes by hand that came in.
    pub overlays: usize,
    /// Ids of chunks that were changed by hand here and otherwise in the file: they stay as they are here.
    pub kept_overlays: Vec<String>,
    /// Documents of the collection that were cut again, as those of the file are.
    pub carried: usize,
}

/// Tools of an import.
pub struct ImportOptions<'a> {
    /// The token counters.
    pub counters: &'a Counters,
    /// A pipeline that cuts by a specification, if available: other documents of the collection are then cut again
    /// rather than hidden.
    pub pipeline: &'a dyn Fn(&GenerationSpec) -> Option<Pipeline>,
    /// The time of the import, ISO 8601.
    pub now: &'a str,
}

/// Errors of imports.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A row that is not a record.
    #[error("{}not a chunk record: {reason}", .at.map(|at| format!("{at} is ")).unwrap_or_default())]
    Unreadable {
        /// The row, if one is at fault.
        at: Option<RowAt>,
        /// What is wrong.
        reason: String,
    },
    /// A record that contradicts itself or its document.
    #[error("{at}, `{doc_id}`: {finding}{}", and_more(*.more))]
    Untrue {
        /// Where the record is.
        at: RowAt,
        /// Its document.
        doc_id: String,
        /// The finding.
        finding: Box<Finding>,
        /// Number of further findings in its document.
        more: usize,
    },
    /// Records of a document that are not together and in order.
    #[error(
        "{at}: the records of `{doc_id}` are not together and in order; sort them by `doc_id` and `chunk_index`"
    )]
    Order {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
    },
    /// A file that is not base64.
    #[error("{at}: `raw_base64` of `{doc_id}` is not base64: {error}")]
    Base64 {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
        /// What is wrong.
        error: base64::DecodeError,
    },
    /// Records cut in two ways, which cannot be in one generation.
    #[error(
        "{at}: `{doc_id}` was cut by `{found}`, those before by `{expected}`; records of one strategy version and configuration make a collection"
    )]
    Mixed {
        /// Where.
        at: RowAt,
        /// The document.
        doc_id: String,
        /// Strategy version and configuration found.
        found: String,
        /// Those of the first record.
        expected: String,
    },
    /// A chunk id that a chunk of another document has.
    #[error("{at}: chunk `{chunk_id}` of `{doc_id}` has the id of a chunk of `{other}`; ids must be unique")]
    SameId {
        /// Where.
        at: RowAt,
        /// The id.
        chunk_id: ChunkId,
        /// Its document.
        doc_id: String,
        /// The document that has it too.
        other: String,
    },
    /// Documents of the collection that searches would no longer find.
    #[error(
        "these records were cut by `{found}`, and collection `{collection}` by `{stored}`: importing them would hide {hidden} of its documents ({names}); import into another collection, or index this one with the configuration of the records first"
    )]
    Hides {
        /// The collection.
        collection: String,
        /// Number of documents.
        hidden: usize,
        /// The first of them.
        names: String,
        /// The configuration of the collection.
        stored: String,
        /// The configuration of the records.
        found: String,
    },
    /// Documents of the collection could not be cut again, so that searches still see the previous generation.
    #[error(
        "the other documents of the collection could not be carried over, so searches see it as it was: {reason}"
    )]
    Withheld {
        /// Why.
        reason: String,
    },
    /// Another run keeps writing the document.
    #[error("`{doc_id}` is being written by another run; import again when that is done")]
    Busy {
        /// The document.
        doc_id: String,
    },
    /// The pipeline failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more findings in this document)") }
}

/// Imports records into `collection`. `open` starts reading them, and is called twice.
///
/// # Errors
///
/// [`ImportError`]; nothing of a rejected file is written.
pub fn import<I: Iterator<Item = Result<(RowAt, Row), ImportError>>>(
    store: &dyn Store,
    collection: &str,
    options: &ImportOptions<'_>,
    open: &mut dyn FnMut() -> Result<I, ImportError>,
) -> Result<Imported, ImportError> {
    let mut proof = Proof::default();
    each_document(open()?, &mut |document| proof.document(document, options.counters))?;
    let Some((strategy_version, config_hash)) = proof.cut.clone() else { return Ok(Imported::default()) };
    let current = store.lookup(collection)?;
    let mut spec = GenerationSpec { strategy_version, config_hash, model: proof.model.clone() };
    if let Some(current) = &current
        && spec.model.is_none()
        && (&current.spec.strategy_version, &current.spec.config_hash)
            == (&spec.strategy_version, &spec.config_hash)
    {
        // The next run embeds texts that came without vectors.
        spec.model.clone_from(&current.spec.model);
    }
    let pipeline = not_hiding(store, current.as_ref(), &spec, &proof, options)?;
    let mut taker = Taker::begin(store, collection, &spec, proof)?;
    each_document(open()?, &mut |document| taker.document(document, options.counters))?;
    taker.finish(pipeline, options)
}

/// The pipeline that carries over documents that would be hidden; `None` if there are none.
fn not_hiding(
    store: &dyn Store,
    current: Option<&Generation>,
    spec: &GenerationSpec,
    proof: &Proof,
    options: &ImportOptions<'_>,
) -> Result<Option<Pipeline>, ImportError> {
    let Some(current) = current.filter(|current| current.spec != *spec) else { return Ok(None) };
    let mut hidden = store.documents(current)?;
    hidden.retain(|info| !proof.doc_ids.contains(&info.doc_id));
    if hidden.is_empty() {
        return Ok(None);
    }
    if let Some(pipeline) = (options.pipeline)(spec).filter(|pipeline| pipeline.spec() == *spec) {
        return Ok(Some(pipeline));
    }
    let shown = |spec: &GenerationSpec| {
        let model = spec.model.as_ref().map_or("no vectors", |model| &model.name);
        format!("{} {}, {model}", spec.strategy_version, spec.config_hash)
    };
    let mut names: Vec<String> = hidden.iter().take(3).map(|info| format!("`{}`", info.doc_id)).collect();
    names.extend((hidden.len() > names.len()).then(|| "...".into()));
    Err(ImportError::Hides {
        collection: current.collection.clone(),
        hidden: hidden.len(),
        names: names.join(", "),
        stored: shown(&current.spec),
        found: shown(spec),
    })
}

/// The rows of one document, in order.
type Rows = Vec<(RowAt, Row)>;

/// Calls `each` with the rows of every document.
fn each_document(
    rows: impl Iterator<Item = Result<(RowAt, Row), ImportError>>,
    each: &mut dyn FnMut(Rows) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut document: Rows = Vec::new();
    for row in rows {
        let (at, row) = row?;
        if document.first().is_some_and(|(_, first)| first.record.doc_id != row.record.doc_id) {
            each(std::mem::take(&mut document))?;
        }
        if row.record.chunk_index as usize != document.len() {
            return Err(ImportError::Order { at, doc_id: row.record.doc_id });
        }
        document.push((at, row));
    }
    if document.is_empty() { Ok(()) } else { each(document) }
}

/// A document that was read, and its records as they were originally rendered.
struct Read {
    document: StoredDocument,
    records: Vec<Record>,
    is_rebuilt: bool,
}

/// Reads the document of `rows`, and takes `document` out of them.
fn read(rows: &mut Rows) -> Result<Read, ImportError> {
    let moved = rows.first_mut().and_then(|(at, row)| Some((*at, row.document.take()?)));
    let records: Vec<Record> = rows.iter().map(|(_, row)| row.record.clone()).collect();
    let is_rebuilt = moved.is_none();
    let document = if let Some((at, moved)) = moved {
        whole(at, moved)?
    } else {
        let overlays: Overlays = rows.iter().flat_map(|(_, row)| row.overlays.clone()).collect();
        let mut document = rebuilt(&records);
        document.info.overlays = write_applied(&replaced(&records, &overlays), &[]);
        document
    };
    Ok(Read { document, records, is_rebuilt })
}

fn whole(at: RowAt, moved: MovedDocument) -> Result<StoredDocument, ImportError> {
    let MovedDocument { info, source, raw_base64, doc_toc, summary, .. } = moved;
    let decode = |raw: String| {
        let doc_id = info.doc_id.clone();
        BASE64.decode(raw).map_err(|error| ImportError::Base64 { at, doc_id, error })
    };
    let raw = raw_base64.map(decode).transpose()?;
    Ok(StoredDocument { info, source: source.into(), raw, doc_toc, summary })
}

/// The result of the first reading.
#[derive(Default)]
struct Proof {
    /// Strategy version and configuration of all records.
    cut: Option<(String, String)>,
    /// The model of their vectors.
    model: Option<Model>,
    doc_ids: HashSet<String>,
    /// The document of each chunk id, as an index into `order`.
    ids: HashMap<ChunkId, usize>,
    /// The documents in order.
    order: Vec<String>,
    overlays: Overlays,
}

impl Proof {
    fn document(&mut self, mut rows: Rows, counters: &Counters) -> Result<(), ImportError> {
        let Some((at, first)) = rows.first() else { return Ok(()) };
        let (at, doc_id) = (*at, first.record.doc_id.clone());
        if !is_doc_id(&doc_id) {
            let finding = Finding::new(None, "doc_id", &doc_id, verify::DOC_ID);
            return Err(ImportError::Untrue {
                at,
                doc_id: doc_id.escape_debug().to_string(),
                finding: finding.into(),
                more: 0,
            });
        }
        if !self.doc_ids.insert(doc_id.clone()) {
            return Err(ImportError::Order { at, doc_id });
        }
        let notes = first.document.as_ref().map_or("", |document| &document.notes);
        let cut = (first.record.strategy_version.clone(), [&first.record.config_hash, notes].concat());
        let expected = self.cut.get_or_insert_with(|| cut.clone());
        if cut != *expected {
            let [found, expected] = [&cut, &*expected].map(|(version, config)| format!("{version} {config}"));
            return Err(ImportError::Mixed { at, doc_id, found, expected });
        }
        for overlay in rows.iter().flat_map(|(_, row)| row.overlays.clone()) {
            let is_named = overlay.chunk_id.parse::<ChunkId>().is_ok()
                && (overlay.doc_id.is_empty() || is_doc_id(&overlay.doc_id));
            if !is_named || overlay.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                let shown = serde_json::to_string(&overlay).unwrap_or_default();
                let expected = "the id and document of a chunk, and a text that is not blank";
                let finding = Finding::new(None, "overlays", shown, expected);
                return Err(ImportError::Untrue { at, doc_id, finding: finding.into(), more: 0 });
            }
            self.overlays.put(overlay);
        }
        self.vectors(&rows, &doc_id)?;
        let Read { document, records, .. } = read(&mut rows)?;
        let cut = self.cut.clone().unwrap_or_default();
        let spec = GenerationSpec { strategy_version: cut.0, config_hash: cut.1, model: None };
        let mut findings = verify::records(&spec, &document, &records, counters);
        let rest = findings.len().saturating_sub(1);
        if !findings.is_empty() {
            let finding = findings.swap_remove(0);
            let at = finding.record.and_then(|index| rows.get(index)).map_or(at, |(at, _)| *at);
            return Err(ImportError::Untrue { at, doc_id, finding: finding.into(), more: rest });
        }
        let number = self.order.len();
        for ((at, _), record) in rows.iter().zip(&records) {
            if let Some(other) = self.ids.insert(record.chunk_id, number) {
                let other = self.order.get(other).cloned().unwrap_or_default();
                return Err(ImportError::SameId { at: *at, chunk_id: record.chunk_id, doc_id, other });
            }
        }
        self.order.push(doc_id);
        Ok(())
    }

    /// Checks that all vectors are of one model.
    fn vectors(&mut self, rows: &Rows, doc_id: &str) -> Result<(), ImportError> {
        let name = rows.first().and_then(|(_, row)| row.document.as_ref()?.model.clone());
        for (at, row) in rows {
            let refuse = |field, expected: String| {
                let finding = Finding::new(None, field, "what it is", expected);
                Err(ImportError::Untrue { at: *at, doc_id: doc_id.into(), finding: finding.into(), more: 0 })
            };
            let Some(dense) = &row.vector else {
                if row.sparse.is_some() {
                    return refuse("sparse", "a `vector` beside it".into());
                }
                continue;
            };
            let vector =
                Vector { dense: dense.clone(), sparse: row.sparse.clone(), codes: row.codes.clone() };
            let model = Model {
                name: name.clone().unwrap_or_default(),
                dimension: vector.dense.len(),
                sparse: vector.sparse.is_some(),
            };
            let expected = match &self.model {
                None => &model,
                Some(known) if name.is_some() && known.name != model.name => {
                    return refuse("model", format!("`{}`, as that of the vectors before", known.name));
                }
                Some(known) => known,
            };
            if let Err(problem) = verify::of_vector(&vector, expected) {
                return refuse("vector", format!("what can be compared: {problem}"));
            }
            if self.model.is_none() && name.is_some() {
                self.model = Some(model);
            }
        }
        Ok(())
    }
}

/// Most attempts to write a document that another run writes too.
const ATTEMPTS: usize = 8;

/// The second reading.
struct Taker<'a> {
    store: &'a dyn Store,
    generation: Generation,
    /// The overlays after the import.
    overlays: Overlays,
    doc_ids: HashSet<String>,
    imported: Imported,
}

impl<'a> Taker<'a> {
    fn begin(
        store: &'a dyn Store,
        collection: &str,
        spec: &GenerationSpec,
        proof: Proof,
    ) -> Result<Self, ImportError> {
        let generation = store.begin(collection, spec)?;
        let mut overlays = store.overlays(collection)?;
        let mut imported = Imported::default();
        for overlay in proof.overlays.all() {
            match overlays.get(&overlay.chunk_id) {
                None => {
                    store.put_overlay(collection, overlay)?;
                    overlays.put(overlay.clone());
                    imported.overlays += 1;
                }
                Some(here) if is_same_change(here, overlay) => {}
                Some(_) => imported.kept_overlays.push(overlay.chunk_id.clone()),
            }
        }
        let Proof { doc_ids, .. } = proof;
        Ok(Self { store, generation, overlays, doc_ids, imported })
    }

    fn document(&mut self, mut rows: Rows, counters: &Counters) -> Result<(), ImportError> {
        let mut known: Vec<(TextHash, Vector)> = Vec::new();
        for (_, row) in &mut rows {
            if let Some(dense) = row.vector.take() {
                known.push((
                    text_hash(&row.record.text),
                    Vector { dense, sparse: row.sparse.take(), codes: row.codes.take() },
                ));
            }
        }
        if let Some(model) = &self.generation.spec.model
            && !known.is_empty()
        {
            self.store.cache().put_vectors(&model.name, &known)?;
        }
        let at = rows.first().map(|(at, _)| *at);
        let Read { mut document, mut records, is_rebuilt } = read(&mut rows)?;
        let doc_id = document.info.doc_id.clone();
        // The file may have been replaced since the first reading.
        let found = verify::records(&self.generation.spec, &document, &records, counters);
        if let (Some(finding), Some(at)) = (found.into_iter().next(), at) {
            return Err(ImportError::Untrue { at, doc_id, finding: finding.into(), more: 0 });
        }
        let in_force = records.clone();
        verify::without_by_hand(&document, &mut records);
        let mut chunks: Vec<NewChunk> = records.into_iter().map(NewChunk::new).collect();
        document.info.set_applied(&self.overlays.put_on(&mut chunks, None, &[]));
        for (chunk, record) in
            chunks.iter_mut().zip(in_force).filter(|(chunk, record)| chunk.record.text == record.text)
        {
            // Token counts are those of the file, which were verified.
            chunk.record = record;
        }
        let count = chunks.len();
        let mut new = NewDocument { base: 0, document, chunks };
        for _ in 0..ATTEMPTS {
            let stored = self.store.document(&self.generation, &doc_id)?;
            new.base = stored.map_or(0, |stored| stored.info.version);
            let change = Change::Replace(Box::new(new.clone()));
            match self.store.write(&self.generation, &[change])?.first() {
                Some(Outcome::Stale) => continue,
                Some(Outcome::Written) => {
                    self.imported.documents += 1;
                    self.imported.chunks += count;
                    self.imported.rebuilt += usize::from(is_rebuilt);
                }
                _ => self.imported.unchanged += 1,
            }
            return Ok(());
        }
        Err(ImportError::Busy { doc_id })
    }

    /// Makes the imported documents visible to searches, together with those that were visible.
    fn finish(
        mut self,
        pipeline: Option<Pipeline>,
        options: &ImportOptions<'_>,
    ) -> Result<Imported, ImportError> {
        if let Some(pipeline) = pipeline {
            let now = IndexOptions { indexed_at: options.now.into(), ..IndexOptions::default() };
            let report = pipeline.carry_over(&self.doc_ids, &now)?;
            if let Some(reason) = report.withheld {
                return Err(ImportError::Withheld { reason });
            }
            self.imported.carried = report.carried;
            return Ok(self.imported);
        }
        settle(self.store, &self.generation, Tools::default())?;
        let current = self.store.open(&self.generation.collection)?;
        if current != self.generation {
            // Documents that an old generation has but searches no longer see were removed since.
            let over = self.store.documents(&self.generation)?.into_iter().map(|info| info.doc_id);
            let over = over.filter(|doc_id| !self.doc_ids.contains(doc_id));
            let changes: Vec<Change> = over.map(|doc_id| Change::Remove { doc_id }).collect();
            if !changes.is_empty() {
                self.store.write(&self.generation, &changes)?;
            }
        }
        if current != self.generation || !self.store.is_complete(&self.generation)? {
            self.store.switch(&self.generation)?;
        }
        settle_all(self.store, &self.generation.collection, Tools::default())?;
        Ok(self.imported)
    }
}

/// Returns whether two overlays of a chunk make the same change, whenever they were made.
fn is_same_change(here: &Overlay, moved: &Overlay) -> bool {
    let said = |overlay: &Overlay| {
        (overlay.disabled, overlay.text.clone(), overlay.keywords.clone(), overlay.pins.clone())
    };
    said(here) == said(moved)
}

/// Finds the texts given by hand among records without their document.
fn replaced(records: &[Record], overlays: &Overlays) -> Vec<Applied> {
    let on = |record: &Record| {
        let overlay = overlays.get(&record.chunk_id.to_string())?;
        let text = overlay.original.clone().filter(|_| overlay.text.as_ref() == Some(&record.text))?;
        let original = OriginalText {
            char_count: text.chars().count() as u32,
            word_count: Words.count(&text) as u32,
            text,
            ..OriginalText::from(record)
        };
        Some(Applied {
            chunk_id: record.chunk_id.to_string(),
            overlay: overlay.chunk_id.clone(),
            state: OverlayState::On,
            effect: overlay.effect(OverlayState::On),
            original: Some(original),
        })
    };
    records.iter().filter_map(on).collect()
}
