//! Chooses the hits among ranked chunks: applies the reranker, pins and the limit per document, and drops duplicates.

use std::collections::HashMap;

use chunkwright::{ChunkId, Record};
use chunkwright_models::Reranker;

use super::duplicates::Seen;
use super::judge::{Judge, Judged};
use super::rank::Asked;
use super::{Below, Hit, SearchError, SearchOptions};
use crate::pipeline::{file_of, is_missing};
use chunkwright_store::analysis;
use chunkwright_store::bm25::query_ids;
use chunkwright_store::cancel;
use chunkwright_store::{DocumentInfo, Generation, Overlay, Scored, Store, StoreError, StoredChunk};

/// Reorders the best of `order` by `reranker`; returns their scores, best first. The others follow in their old order,
/// with scores capped at the reranker's least.
pub(super) fn rerank(
    store: &dyn Store,
    generation: &Generation,
    reranker: &dyn Reranker,
    query: &str,
    options: &SearchOptions,
    order: &mut Vec<Scored>,
) -> Result<Vec<Scored>, SearchError> {
    cancel::check()?;
    let asked = options.rerank.max(1).min(order.len());
    let ids: Vec<ChunkId> = order[..asked].iter().map(|scored| scored.id).collect();
    let chunks = store.chunks(generation, &ids)?;
    let texts: Vec<(ChunkId, String)> = ids
        .into_iter()
        .zip(chunks)
        .filter_map(|(id, chunk)| Some((id, chunk?.record.text.clone())))
        .collect();
    let read: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    let given = if read.is_empty() { Vec::new() } else { reranker.rerank(query, &read)? };
    let pairs = texts.iter().zip(given);
    let mut best: Vec<Scored> =
        pairs.map(|((id, _), score)| Scored { id: *id, score: f64::from(score) }).collect();
    // Stable: equal scores stay in the order of the stages.
    best.sort_by(|a, b| b.score.total_cmp(&a.score));
    let least = best.last().map_or(0.0, |last| last.score);
    let rest = order.drain(asked..).map(|scored| Scored { score: scored.score.min(least), ..scored });
    let rest: Vec<Scored> = rest.collect();
    *order = best.iter().copied().chain(rest).collect();
    Ok(best)
}

/// The hits chosen from an order.
pub(super) struct Choice {
    pub(super) hits: Vec<Hit>,
    /// The chunks above the last chosen one that are not relevant enough.
    pub(super) below: Option<Below>,
    /// Whether all examined chunks exist, and are of documents as they are now: one may have been replaced since it was ranked.
    pub(super) is_whole: bool,
}

/// The first `top_k` of `order` that exist and are relevant enough or kept anyway, within the options' limits on hits per
/// document and duplicates. `hit` makes a hit of a chunk, whose rank and duplicates are set here.
pub(super) fn chosen(
    (store, generation): (&dyn Store, &Generation),
    order: &[Scored],
    is_kept: &dyn Fn(ChunkId) -> bool,
    judge: &Judge<'_>,
    options: &SearchOptions,
    hit: &dyn Fn(Scored, &StoredChunk, Option<f64>) -> Hit,
) -> Result<Choice, SearchError> {
    let is_gone = |record: &Record| -> Result<bool, StoreError> {
        let info = store.document_info(generation, &record.doc_id)?;
        Ok(info.is_some_and(|info| file_of(&info).is_some_and(|file| is_missing(&file))))
    };
    let (mut looked_at, mut next) = (0, (options.top_k + options.top_k / 4 + 2).min(order.len()));
    let mut is_whole = true;
    let mut here: Vec<(Scored, Judged)> = Vec::new();
    loop {
        cancel::check()?;
        let is_first = looked_at == 0;
        let asked = &order[looked_at..next];
        let judged = judge.judge(&asked.iter().map(|scored| scored.id).collect::<Vec<_>>(), is_kept)?;
        is_whole &= judged.iter().all(|judged| !matches!(judged, Judged::Missing));
        here.extend(asked.iter().copied().zip(judged));
        looked_at = next;
        let mut hits: Vec<Hit> = Vec::with_capacity(options.top_k);
        let mut below = None;
        let mut seen = Seen::new(options.duplicates);
        let mut of_document: HashMap<String, usize> = HashMap::new();
        for (scored, judged) in &here {
            let is_full = hits.len() == options.top_k;
            let (scored, chunk, relevance) = match judged {
                Judged::Enough(chunk, relevance) => (*scored, &**chunk, *relevance),
                Judged::Below(relevance) if !is_full => {
                    below = Below::sum(below, Some(Below { count: 1, best: *relevance }));
                    continue;
                }
                Judged::Below(_) | Judged::Missing | Judged::Disabled => continue,
            };
            let saying = seen.saying(&chunk.record);
            if let Some(first) = seen.first(&saying) {
                let first = &mut hits[first];
                // Of equal texts one is shown whose file exists: a moved file may still be known by both places.
                if first.record.content == chunk.record.content
                    && is_gone(&first.record)?
                    && !is_gone(&chunk.record)?
                {
                    let shown = hit(Scored { score: first.score, ..scored }, chunk, relevance);
                    first.give_way(shown);
                } else {
                    first.add_duplicate(&chunk.record);
                }
                continue;
            }
            if is_full {
                continue;
            }
            let count = of_document.entry(chunk.record.doc_id.clone()).or_default();
            *count += 1;
            if options.per_document.is_some_and(|most| *count > most) {
                continue;
            }
            seen.add(saying, hits.len());
            let rank = hits.len() + 1;
            hits.push(Hit { rank, ..hit(scored, chunk, relevance) });
        }
        if hits.len() == options.top_k || looked_at == order.len() {
            is_whole &= is_first || are_current(store, generation, &hits)?;
            return Ok(Choice { hits, below, is_whole });
        }
        next = (4 * looked_at).min(order.len());
    }
}

/// Returns whether no document of these hits was replaced since its chunk was read.
fn are_current(store: &dyn Store, generation: &Generation, hits: &[Hit]) -> Result<bool, StoreError> {
    let doc_ids: Vec<&str> = hits.iter().map(|hit| hit.record.doc_id.as_str()).collect();
    let infos = store.document_infos(generation, &doc_ids)?;
    let is_current = |(hit, info): (&Hit, Option<DocumentInfo>)| {
        // Other programs' documents have no hash.
        info.is_some_and(|info| info.file_hash.is_empty() || info.file_hash == hit.record.file_hash)
    };
    Ok(hits.iter().zip(infos).all(is_current))
}

/// The chunks that are pinned to this query and pass the filter.
pub(super) fn pinned(
    store: &dyn Store,
    generation: &Generation,
    asked: &Asked<'_>,
    options: &SearchOptions,
) -> Result<Vec<ChunkId>, SearchError> {
    let overlays = store.overlays(&generation.collection)?;
    let is_asked = |pin: &String| query_ids(analysis::terms(pin)) == asked.ids;
    let mut pinned = Vec::new();
    for overlay in overlays.iter().filter(|overlay| !overlay.disabled && overlay.pins.iter().any(is_asked)) {
        let Some(id) = place_of(store, generation, overlay)? else { continue };
        let chunk = store.chunks(generation, &[id])?.pop().flatten();
        pinned.extend(chunk.filter(|chunk| options.filter.passes_record(&chunk.record)).map(|_| id));
    }
    Ok(pinned)
}

/// The chunk that an overlay is on: the one it was made for, or where it was carried.
fn place_of(
    store: &dyn Store,
    generation: &Generation,
    overlay: &Overlay,
) -> Result<Option<ChunkId>, StoreError> {
    if let Ok(id) = overlay.chunk_id.parse()
        && store.chunks(generation, &[id])?.iter().all(Option::is_some)
    {
        return Ok(Some(id));
    }
    let infos = store.documents(generation)?;
    let applied = infos.iter().flat_map(DocumentInfo::applied);
    let mut on = applied.filter(|applied| applied.overlay == overlay.chunk_id);
    Ok(on.next().and_then(|applied| applied.chunk_id.parse().ok()))
}
