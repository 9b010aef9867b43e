//! Manual changes: hides a chunk, replaces its text, adds keywords, or pins it to queries.

use std::collections::{BTreeSet, HashMap};

use chunkwright::{ChunkId, Chunker, Record, Unit};
use chunkwright_models::{EmbedError, Embedder};

use crate::settle::{FEW, Tools, settle_documents};
use chunkwright_store::{Applied, DocumentInfo, Generation, Overlay, Overlays, Store, StoreError};

/// Why a chunk could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AmendError {
    /// There is no such chunk.
    #[error("there is no chunk `{id}` in `{generation}`, and no overlay was made for one")]
    Unknown {
        /// The id.
        id: String,
        /// `COLLECTION@N`.
        generation: String,
    },
    /// An orphaned overlay cannot be accepted.
    #[error("the overlay of `{id}` is orphaned in `{generation}`; amend the chunk that it should apply to")]
    Orphaned {
        /// The id.
        id: String,
        /// `COLLECTION@N`.
        generation: String,
    },
    /// A text over the limit.
    #[error("the text has {size} {unit}; the limit is {limit}")]
    TooLong {
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
        /// What both are counted in: `tokens` or `chars`.
        unit: &'static str,
    },
    /// A text without a visible character.
    #[error("the text is empty; disable the chunk instead")]
    Empty,
    /// A merge over the limit.
    #[error("the chunk would have {size} {unit}; the limit is {limit}")]
    MergeTooLong {
        /// The size of the merged chunk, without the titles and other context that it is embedded with.
        size: usize,
        /// The limit.
        limit: usize,
        /// What both are counted in: `tokens` or `chars`.
        unit: &'static str,
    },
    /// A place where no chunk can be divided and no two can be joined.
    #[error(
        "a chunk cannot be split or merged at line {line} of `{doc_id}`: a split needs text of the chunk on both sides, and a merge the line where the next chunk begins"
    )]
    NoBoundary {
        /// The document.
        doc_id: String,
        /// The line.
        line: u32,
    },
    /// A place that could not be found again.
    #[error(
        "the text around line {line} of `{doc_id}` stands in other places too, so the boundary could not be found again; choose a place beside text of its own"
    )]
    AmbiguousBoundary {
        /// The document.
        doc_id: String,
        /// The line.
        line: u32,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether to accept a carried or conflicting overlay on its present chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Review {
    /// It stays as it is, unless the change gives it another text, which then applies to the chunk as it is now.
    #[default]
    Leave,
    /// It is bound to that chunk, as if it had been made for it.
    Accept,
}

/// Changes the overlay of one chunk. See [`amend_all`].
///
/// # Errors
///
/// As [`amend_all`].
pub fn amend(
    store: &dyn Store,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    chunker: Option<&Chunker>,
    id: ChunkId,
    change: &dyn Fn(&mut Overlay),
) -> Result<Overlay, AmendError> {
    let tools = Tools { chunker, embedder };
    let overlays = store.overlays(&generation.collection)?;
    let overlay = amend_all(store, (generation, overlays), tools, &[id], Review::Leave, change)?.pop();
    let unknown = || AmendError::Unknown { id: id.to_string(), generation: generation.to_string() };
    overlay.ok_or_else(unknown)
}

/// Changes `overlays`, those of the collection, on chunks: `change` gets the overlay on each chunk, or an empty one; the result is stored and
/// applied to the chunk at once, in every generation that can be searched. An id is that of a chunk, or of the chunk
/// that an overlay was made for.
///
/// The limit is enforced if `tools` has the chunker of the generation. Any other chunker only counts: a text over its
/// limit makes the chunk `oversize`.
///
/// # Errors
///
/// An unknown chunk, a text that is empty or over the limit. Nothing is changed in that case.
pub fn amend_all(
    store: &dyn Store,
    (generation, mut overlays): (&Generation, Overlays),
    tools: Tools<'_>,
    ids: &[ChunkId],
    review: Review,
    change: &dyn Fn(&mut Overlay),
) -> Result<Vec<Overlay>, AmendError> {
    let targets = Targets::read(store, generation, &overlays, ids)?;
    let mut doc_ids = BTreeSet::new();
    let (mut changed, mut taken_back) = (Vec::with_capacity(ids.len()), Vec::new());
    for id in ids {
        let (before, record) = targets.find(&overlays, *id)?;
        let mut overlay = before.clone();
        change(&mut overlay);
        let is_new_text = overlay.text.is_some() && overlay.text != before.text;
        if let Some(text) = overlay.text.as_ref().filter(|_| is_new_text) {
            check_text(text, generation, tools.chunker)?;
        }
        match record {
            Some(record) if is_new_text || review == Review::Accept => overlay.make_for(&record),
            None if review == Review::Accept && !overlay.is_empty() => {
                let (id, generation) = (id.to_string(), generation.to_string());
                return Err(AmendError::Orphaned { id, generation });
            }
            _ if overlay.text.is_none() => overlay.original = None,
            _ => {}
        }
        if overlay.is_empty() || overlay.chunk_id != before.chunk_id {
            overlays.remove(&before.chunk_id);
            taken_back.push(before.chunk_id);
        }
        doc_ids.extend([before.doc_id, overlay.doc_id.clone()]);
        overlays.put(overlay.clone());
        changed.push(overlay);
    }
    // Every overlay on a chunk is stored at any moment, so that a killed run leaves none unlisted: a new overlay is
    // stored before it is applied, and a removed one is deleted after it was taken off its chunk.
    taken_back.retain(|id| overlays.get(id).is_none());
    let kept: Vec<Overlay> = changed.iter().filter(|overlay| !overlay.is_empty()).cloned().collect();
    store.put_overlays(&generation.collection, &kept)?;
    settle_documents(store, &generation.collection, &overlays, &doc_ids, tools)?;
    let gone = taken_back.into_iter().map(|chunk_id| Overlay { chunk_id, ..Overlay::default() });
    store.put_overlays(&generation.collection, &gone.collect::<Vec<_>>())?;
    Ok(changed)
}

fn check_text(text: &str, generation: &Generation, chunker: Option<&Chunker>) -> Result<(), AmendError> {
    if text.trim().is_empty() {
        return Err(AmendError::Empty);
    }
    let config_hash = generation.spec.config_hash.split('+').next().unwrap_or_default();
    let own = chunker.filter(|chunker| chunker.config_hash() == config_hash);
    match own.and_then(|chunker| chunker.excess(text)) {
        Some((size, limit, unit)) => Err(AmendError::TooLong { size, limit, unit: unit_of(unit) }),
        None => Ok(()),
    }
}

/// The name of a unit.
pub(crate) fn unit_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Tokens => "tokens",
        Unit::Chars => "chars",
    }
}

/// Resolves ids of chunks and overlays in a generation.
struct Targets<'a> {
    store: &'a dyn Store,
    generation: &'a Generation,
    /// The chunks that ids name.
    named: HashMap<ChunkId, Record>,
    /// Applied overlays, by chunk.
    applied: HashMap<String, Applied>,
    /// The chunk that each overlay is on.
    places: HashMap<String, String>,
}

impl<'a> Targets<'a> {
    fn read(
        store: &'a dyn Store,
        generation: &'a Generation,
        overlays: &Overlays,
        ids: &[ChunkId],
    ) -> Result<Self, StoreError> {
        let named = store.chunks(generation, ids)?.into_iter().flatten();
        let named: HashMap<ChunkId, Record> =
            named.map(|chunk| (chunk.record.chunk_id, chunk.record.clone())).collect();
        let doc_id_of = |id: &ChunkId| match named.get(id) {
            Some(record) => Some(&record.doc_id),
            None => overlays.get(&id.to_string()).map(|overlay| &overlay.doc_id),
        };
        let doc_ids: BTreeSet<&String> = ids.iter().filter_map(doc_id_of).collect();
        let (mut applied, mut places) = (HashMap::new(), HashMap::new());
        for on in documents(store, generation, &doc_ids)?.iter().flat_map(DocumentInfo::applied) {
            places.insert(on.overlay.clone(), on.chunk_id.clone());
            applied.insert(on.chunk_id.clone(), on);
        }
        Ok(Self { store, generation, named, applied, places })
    }

    /// The overlay that an id refers to, and the record of its chunk as it is without overlays.
    fn find(&self, overlays: &Overlays, id: ChunkId) -> Result<(Overlay, Option<Record>), AmendError> {
        if let Some(record) = self.record(id)? {
            let name = record.chunk_id.to_string();
            let known = self.applied.get(&name).and_then(|applied| overlays.get(&applied.overlay));
            let known = known.or_else(|| overlays.get(&name));
            return Ok((known.cloned().unwrap_or_else(|| Overlay::of(&record)), Some(record)));
        }
        let name = id.to_string();
        let Some(overlay) = overlays.get(&name).filter(|overlay| overlay.boundary.is_none()) else {
            return Err(AmendError::Unknown { id: name, generation: self.generation.to_string() });
        };
        let place = self.places.get(&name).and_then(|on| on.parse().ok());
        let record = place.map(|on| self.record(on)).transpose()?.flatten();
        Ok((overlay.clone(), record))
    }

    fn record(&self, id: ChunkId) -> Result<Option<Record>, StoreError> {
        let record = match self.named.get(&id) {
            Some(record) => Some(record.clone()),
            None => {
                self.store.chunks(self.generation, &[id])?.pop().flatten().map(|chunk| chunk.record.clone())
            }
        };
        Ok(record.map(|mut record| {
            let applied = self.applied.get(&record.chunk_id.to_string());
            if let Some(original) = applied.and_then(|applied| applied.original.clone()) {
                original.restore(&mut record);
            }
            record
        }))
    }
}

/// The documents with these ids; all documents if one of them is not there, since its overlays may be on any, and if
/// they are many.
fn documents(
    store: &dyn Store,
    generation: &Generation,
    doc_ids: &BTreeSet<&String>,
) -> Result<Vec<DocumentInfo>, StoreError> {
    if doc_ids.len() <= FEW {
        let doc_ids: Vec<&str> = doc_ids.iter().map(|doc_id| doc_id.as_str()).collect();
        let infos = store.document_infos(generation, &doc_ids)?;
        if let Some(infos) = infos.into_iter().collect() {
            return Ok(infos);
        }
    }
    store.documents(generation)
}
