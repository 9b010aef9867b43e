//! Related documents: neighbours of a document in its folder, and documents about the same.
//!
//! Both are computed on request from what is stored: there is no graph to keep up to date.

use std::collections::HashSet;

use chunkwright::ChunkId;
use chunkwright_models::text_hash;
use serde::Serialize;

use chunkwright_store::{Condition, Field, Filter, Generation, Store, StoreError};

/// Documents of the folder that a document is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Siblings {
    /// The folder: the document's id up to its last `/`.
    pub folder: String,
    /// How many other documents are in it, not counting folders inside.
    pub count: usize,
    /// Those before and after it by id, as many as were wanted, in order.
    pub nearest: Vec<String>,
}

/// A document about the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Related {
    /// The document.
    pub doc_id: String,
    /// Dot product of the mean of the given document's vectors with the nearest chunk of this one.
    pub score: f64,
    /// That chunk.
    pub chunk_id: ChunkId,
}

/// The siblings of a document, with at most `nearest` of them by name.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn siblings(
    store: &dyn Store,
    generation: &Generation,
    doc_id: &str,
    nearest: usize,
) -> Result<Siblings, StoreError> {
    let folder =
        |doc_id: &str| doc_id.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let own = folder(doc_id);
    let listed = store.documents(generation)?;
    let mut ids: Vec<String> =
        listed.into_iter().map(|info| info.doc_id).filter(|id| folder(id) == own).collect();
    ids.sort_unstable();
    let at = ids.partition_point(|id| id.as_str() < doc_id);
    ids.retain(|id| id != doc_id);
    // As many on both sides; if one side has fewer, the other has more.
    let start = at.saturating_sub(nearest / 2).min(ids.len().saturating_sub(nearest));
    let end = (start + nearest).min(ids.len());
    Ok(Siblings { folder: own, count: ids.len(), nearest: ids[start..end].to_vec() })
}

/// The documents whose chunks are nearest to the mean of a document's vectors, best first; empty if it has no vectors.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn related(
    store: &dyn Store,
    generation: &Generation,
    doc_id: &str,
    limit: usize,
) -> Result<Vec<Related>, StoreError> {
    let Some(model) = &generation.spec.model else { return Ok(Vec::new()) };
    let records = store.records(generation, doc_id)?;
    let hashes: Vec<_> = records.iter().map(|record| text_hash(&record.text)).collect();
    let vectors = store.cache().vectors(&model.name, &hashes)?;
    let mut mean = vec![0.0_f32; model.dimension];
    for vector in vectors.iter().flatten() {
        mean.iter_mut().zip(&vector.dense).for_each(|(sum, value)| *sum += value);
    }
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length == 0.0 {
        return Ok(Vec::new());
    }
    for value in &mut mean {
        *value /= length;
    }
    let others = Filter::new(Condition::Not(Box::new(Condition::is(Field::DOC_ID, doc_id))));
    let mut found: Vec<Related> = Vec::new();
    let mut wanted = limit.saturating_mul(4).max(32);
    loop {
        let ranked = store.dense(generation, &mean, &others, wanted)?;
        let ids: Vec<_> = ranked.iter().map(|scored| scored.id).collect();
        let chunks = store.chunks(generation, &ids)?;
        let mut seen = HashSet::new();
        found.clear();
        for (scored, chunk) in ranked.iter().zip(chunks) {
            let Some(chunk) = chunk else { continue };
            let (doc_id, chunk_id) = (chunk.record.doc_id.clone(), chunk.record.chunk_id);
            if found.len() < limit && seen.insert(doc_id.clone()) {
                found.push(Related { doc_id, score: scored.score, chunk_id });
            }
        }
        if found.len() == limit || ranked.len() < wanted {
            return Ok(found);
        }
        wanted = wanted.saturating_mul(4);
    }
}
