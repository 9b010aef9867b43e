//! Changes by hand: a chunk is hidden, said otherwise, found by other words, or put first.

use chunkwright::{ChunkId, TokenCounter};
use chunkwright_models::{EmbedError, Embedder, Role};

use crate::store::{Change, Generation, NewChunk, Outcome, Overlay, Store, StoreError};

/// The limit of the texts of a generation.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// What counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Most of them.
    pub max_tokens: usize,
}

/// Why a chunk could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AmendError {
    /// There is no such chunk.
    #[error("there is no chunk `{id}` in `{generation}`")]
    Unknown {
        /// The id.
        id: String,
        /// `COLLECTION@N`.
        generation: String,
    },
    /// A text that is over the limit.
    #[error("the text has {tokens} tokens; the limit of what is embedded is {max_tokens}")]
    TooLong {
        /// Its tokens.
        tokens: usize,
        /// The limit.
        max_tokens: usize,
    },
    /// A text without a visible character.
    #[error("the text is empty; disable the chunk instead")]
    Empty,
    /// The document was written by another run at the same time, again and again.
    #[error("`{doc_id}` is being written by another run; try again when that is done")]
    Busy {
        /// The document.
        doc_id: String,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How often a chunk is changed anew because its document was written meanwhile.
const ATTEMPTS: usize = 8;

/// Changes what was changed by hand of the chunk `id`: `change` is given what there is, or an overlay that
/// changes nothing, and what it makes of that is kept and put on the chunk at once. A text that was never
/// embedded is, by `embedder`; without one, or if it fails, the chunk is found by words until the next run.
///
/// # Errors
///
/// An unknown chunk, a text that is empty or over `limit`.
pub fn amend(
    store: &dyn Store,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    limit: Option<Limit<'_>>,
    id: ChunkId,
    change: &dyn Fn(&mut Overlay),
) -> Result<Overlay, AmendError> {
    let mut doc_id = String::new();
    for _ in 0..ATTEMPTS {
        let chunk = store.chunks(generation, &[id])?.pop().flatten();
        let unknown = || AmendError::Unknown { id: id.to_string(), generation: generation.to_string() };
        let mut record = chunk.ok_or_else(unknown)?.record;
        doc_id.clone_from(&record.doc_id);
        let base = store.documents(generation)?.into_iter().find(|info| info.doc_id == doc_id);
        let base = base.map_or(0, |info| info.version);
        let records = store.records(generation, &doc_id)?;
        let mut overlays = store.overlays(&generation.collection)?;
        let placed = overlays.place(records.iter());
        let at = records.iter().position(|record| record.chunk_id == id.to_string());
        let known = at.and_then(|at| placed[at]).or_else(|| overlays.get(&record.chunk_id));
        let before = known.cloned().unwrap_or_else(|| Overlay::of(&record));
        let mut overlay = before.clone();
        change(&mut overlay);
        if let Some(original) = &before.original {
            record.text.clone_from(original);
        }
        overlay.original = overlay.text.is_some().then(|| record.text.clone());
        if let (Some(text), Some(limit)) = (&overlay.text, limit) {
            let tokens = limit.counter.count(text);
            if tokens > limit.max_tokens {
                return Err(AmendError::TooLong { tokens, max_tokens: limit.max_tokens });
            }
        }
        if overlay.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(AmendError::Empty);
        }
        let mut new = NewChunk::new(record);
        overlay.put_on(&mut new);
        embed(store, generation, embedder, &new)?;
        store.put_overlay(&generation.collection, &overlay)?;
        overlays.put(overlay.clone());
        let change = Change::Amend { chunk: Box::new(new), base, overlays: overlays.hash(records.iter()) };
        if store.write(generation, &[change])? != [Outcome::Stale] {
            return Ok(overlay);
        }
    }
    Err(AmendError::Busy { doc_id })
}

/// Sees to it that the text of `chunk` has a vector, where that can be had.
fn embed(
    store: &dyn Store,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    chunk: &NewChunk,
) -> Result<(), AmendError> {
    let (Some(model), Some(embedder)) = (&generation.spec.model, embedder) else { return Ok(()) };
    let known = store.cache().vectors(&model.name, &[chunk.text_hash])?;
    if known.iter().all(Option::is_some) || embedder.model().name != model.name {
        return Ok(());
    }
    // What fails now is tried again by the next run.
    if let Ok(embeddings) = embedder.embed(&[&chunk.record.text], Role::Passage) {
        let vectors = embeddings.into_iter().map(|embedding| (chunk.text_hash, embedding.into()));
        store.cache().put_vectors(&model.name, &vectors.collect::<Vec<_>>())?;
    }
    Ok(())
}
