//! Expands the hits of several collections into passages.

use std::collections::HashMap;

use chunkwright_index::{Answer, Expansion, Mode, expand};

use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::snapshot::Snapshot;
use crate::request::search::Found;
use crate::request::search::hit::{FoundPassage, Hit};
use crate::request::search::options::ExpandRequest;

/// The passages that contain `hits`, in the order of the best hit in each.
///
/// Within a budget, the ranking is kept: passages are made smaller, down to the hits alone, until as many hits fit as
/// without expansion.
pub(super) fn passages(
    snapshots: &[&Snapshot],
    hits: &[Hit],
    expand: ExpandRequest,
    budget: Option<usize>,
    notices: &mut Vec<Notice>,
) -> Result<Found, Error> {
    let mut expand = expand.within(budget);
    if let (Some(budget), Some(snapshot)) = (budget, snapshots.first()) {
        let counter = snapshot.engine().counter()?;
        let own: usize = hits.iter().map(|hit| counter.count(hit.record.shown())).sum();
        if own >= budget {
            expand.max_tokens = Some(1);
        }
    }
    let passages = loop {
        let passages = expanded(snapshots, hits, expand)?;
        let tokens: usize = passages.iter().map(|passage| passage.passage.token_count).sum();
        match (budget, expand.max_tokens) {
            (Some(budget), Some(most)) if tokens > budget && most > 1 => {
                expand.max_tokens = Some(most / 2);
            }
            _ => break passages,
        }
    };
    for passage in &passages {
        if let Some(why) = &passage.unexpanded {
            let message = format!("`{}` could not be expanded: {why}", passage.passage.reference);
            notices.push(Notice::new(NoticeCode::NotExpanded, message));
        }
    }
    Ok(Found::Passages { passages })
}

/// The passages with this limit of each.
fn expanded(
    snapshots: &[&Snapshot],
    hits: &[Hit],
    ExpandRequest { with, max_tokens }: ExpandRequest,
) -> Result<Vec<FoundPassage>, Error> {
    let mut passages: Vec<FoundPassage> = Vec::new();
    let mut by_collection: HashMap<&str, Vec<chunkwright_index::Hit>> = HashMap::new();
    for hit in hits {
        by_collection.entry(&hit.collection).or_default().push(hit.found.clone());
    }
    for snapshot in snapshots {
        let generation = snapshot.generation();
        // For two generations of one collection, the first gets all hits: later code reads each hit in its own
        // generation.
        let Some(hits) = by_collection.remove(&*generation.collection) else { continue };
        let counter = snapshot.engine().counter()?;
        let expansion = Expansion { expand: with, max_tokens, counter: &*counter };
        let answer = Answer {
            hits,
            mode: Mode::default(),
            degraded: None,
            translated: None,
            rerank_used: false,
            rerank_error: None,
            min_relevance: None,
            below: None,
        };
        let collection = &generation.collection;
        let expanded = expand(snapshot.store(), generation, &answer, expansion)?.passages;
        passages
            .extend(expanded.into_iter().map(|found| FoundPassage { collection: collection.clone(), found }));
    }
    passages.sort_by_key(|passage| passage.hits.first().map(|hit| hit.rank));
    for (index, passage) in passages.iter_mut().enumerate() {
        passage.found.rank = index + 1;
    }
    Ok(passages)
}
