//! Which collections does a search read, and what becomes of one that cannot be searched?

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use chunkwright_index::{
    Answer, DocumentInfo, Explained, Metadata, SearchError, StoreError, normalized_name,
};

use tracing::field::Empty;

use super::passages::passages;
use super::translations;
use super::{Budget, Found, Hit, SearchAnswer, SearchRequest, SearchedCollection, Snapshot, merge};
use crate::collection::is_gone;
use crate::engine::Engine;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::observe::{SearchCall, TRACE};

impl Engine {
    /// Searches the collections that the request names, or the one of the settings if it names none.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::search`], and a collection that does not exist. Where several are searched, one of which a stage
    /// cannot run is left out with a notice, unless no other one can be searched.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        let mut last = None;
        loop {
            let (snapshots, mut notices) = self.searched(request)?;
            let numbers: Vec<i64> = snapshots.iter().map(|snapshot| snapshot.generation().number).collect();
            match search_in(&snapshots.iter().collect::<Vec<_>>(), request) {
                // Another generation was switched to meanwhile.
                Err(error) if is_gone(&error) && last.as_ref() != Some(&numbers) => last = Some(numbers),
                Err(error) => return Err(error),
                Ok(mut answer) => {
                    notices.append(&mut answer.notices);
                    return Ok(SearchAnswer { notices, ..answer });
                }
            }
        }
    }

    /// Says why a chunk is or is not in the answer to a search of one collection: the one that the request names, or that
    /// of the settings.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::explain_search`], and a request that names several collections.
    pub fn explain_search(&self, request: &SearchRequest, chunk: &str) -> Result<Explained, Error> {
        if request.all_collections || request.collections.len() > 1 {
            return Err(Error::OneCollection);
        }
        let usual = &self.settings().collection;
        let collection = self.collection(request.collections.first().unwrap_or(usual));
        collection.read(|snapshot| snapshot.explain_search(request, chunk))
    }

    /// The collections that a request means, each once, and what to know of those that are left out.
    fn searched(&self, request: &SearchRequest) -> Result<(Vec<Snapshot>, Vec<Notice>), Error> {
        let mut snapshots: Vec<Snapshot> = Vec::new();
        let mut notices = Vec::new();
        if !request.all_collections {
            let usual = std::slice::from_ref(&self.settings().collection);
            let names = if request.collections.is_empty() { usual } else { &request.collections };
            for name in names {
                let snapshot = Snapshot::open(self, &normalized_name(name))?;
                if snapshots.iter().all(|known| known.generation() != snapshot.generation()) {
                    snapshots.push(snapshot);
                }
            }
        } else if !request.collections.is_empty() {
            return Err(Error::NamedAndAll);
        } else {
            for listed in self.list_collections()? {
                let generation = listed.status.generation;
                match Snapshot::open(self, &generation.collection) {
                    Ok(snapshot) => snapshots.push(snapshot),
                    // It was deleted meanwhile.
                    Err(Error::Store(StoreError::UnknownCollection { .. })) => {}
                    Err(error) if is_of_one_collection(&error) => {
                        notices.push(left_out(&generation.collection, &error));
                    }
                    Err(error) => return Err(error),
                }
            }
            if snapshots.is_empty() && notices.is_empty() {
                return Err(Error::NoCollections);
            }
        }
        for at in 1..snapshots.len() {
            let (before, rest) = snapshots.split_at_mut(at);
            for other in before {
                rest[0].share_embedder(other);
            }
        }
        Ok((snapshots, notices))
    }
}

/// Whether an error says something of one collection, and nothing of the others in the store.
fn is_of_one_collection(error: &Error) -> bool {
    matches!(error.code().name, "model_unavailable" | "service_failed")
        || matches!(
            error,
            Error::Search(SearchError::Store(StoreError::Analysis { .. }))
                | Error::Store(StoreError::Analysis { .. })
        )
}

fn left_out(collection: &str, error: &Error) -> Notice {
    Notice::new(NoticeCode::CollectionSkipped, format!("collection `{collection}` was not searched: {error}"))
}

/// Searches generations, each by itself, and merges what they have.
pub(super) fn search_in(snapshots: &[&Snapshot], request: &SearchRequest) -> Result<SearchAnswer, Error> {
    let Some(engine) = snapshots.first().map(|snapshot| snapshot.engine()) else {
        return merged(snapshots, request);
    };
    let span = tracing::info_span!(
        target: TRACE,
        "search",
        search.mode = request.mode.as_str(),
        search.top_k = request.top_k,
        search.collections = snapshots.len(),
        search.outcome = Empty,
        otel.status_code = Empty,
    );
    let started = engine.now_nanos();
    let answer = span.in_scope(|| merged(snapshots, request));
    let outcome = match &answer {
        Ok(answer) if answer.is_empty() => "nothing",
        Ok(_) => "found",
        Err(error) if error.code().http < 500 => "invalid",
        Err(_) => "error",
    };
    span.record("search.outcome", outcome);
    if outcome == "error" {
        span.record("otel.status_code", "ERROR");
    }
    engine.observe(|observer| {
        observer.searched(SearchCall { mode: request.mode, outcome, took: engine.since(started) });
    });
    answer
}

fn merged(snapshots: &[&Snapshot], request: &SearchRequest) -> Result<SearchAnswer, Error> {
    let page = request.page()?;
    let mut notices = Vec::new();
    let mut found: Vec<(&Snapshot, Answer)> = Vec::new();
    let mut failed = None;
    // What is collapsed here leaves room for hits further down.
    let wanted = if request.collapse_translations { page.end.max(request.last_page_end()) } else { page.end };
    for &snapshot in snapshots {
        match snapshot.find(request, wanted) {
            Ok(answer) => {
                notices.extend(snapshot.notices(&answer, snapshots.len() > 1)?);
                found.push((snapshot, answer));
            }
            Err(error) if snapshots.len() > 1 && is_of_one_collection(&error) => {
                notices.push(left_out(&snapshot.generation().collection, &error));
                failed.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(error) = failed.filter(|_| found.is_empty()) {
        return Err(error);
    }
    let mut hits = merge::merged(&found, request.duplicates);
    // Where some collections have an answer, that others have none is no news.
    if !hits.is_empty() {
        notices.retain(|notice| notice.code != NoticeCode::NothingRelevant);
    }
    if request.collapse_translations {
        hits = translations::collapsed(hits);
    }
    hits.truncate(page.end);
    hits.drain(..page.start.min(hits.len()));
    let collections =
        found.iter().map(|(snapshot, answer)| SearchedCollection::new(snapshot, answer)).collect();
    let snapshots: Vec<&Snapshot> = found.iter().map(|(snapshot, _)| *snapshot).collect();
    let mut found = match request.expand {
        None => Found::Hits { hits: described(&snapshots, hits, request)? },
        Some(expand) => {
            passages(&snapshots, &hits, expand.check()?.within(request.max_tokens), &mut notices)?
        }
    };
    let mut budget = None;
    if let (Some(max_tokens), Some(snapshot)) = (request.max_tokens, snapshots.first()) {
        let kept = Budget::keep(&mut found, max_tokens, &*snapshot.engine().counter()?);
        notices.extend(kept.notice(&found));
        budget = Some(kept);
    }
    Ok(SearchAnswer { found, collections, budget, notices })
}

/// Hits with what is known of their documents.
fn described(
    snapshots: &[&Snapshot],
    mut hits: Vec<Hit>,
    request: &SearchRequest,
) -> Result<Vec<Hit>, Error> {
    let mut known: HashMap<(String, String), Option<DocumentInfo>> = HashMap::new();
    let hides_places = snapshots.iter().any(|snapshot| snapshot.engine().hides_places());
    for hit in &mut hits {
        let is_of = |snapshot: &&&Snapshot| snapshot.generation().collection == hit.collection;
        let info = match known.entry((hit.collection.clone(), hit.record.doc_id.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let snapshot = snapshots.iter().find(is_of);
                let read = |of: &&Snapshot| of.store().document_info(of.generation(), &hit.record.doc_id);
                new.insert(snapshot.map(read).transpose()?.flatten())
            }
        };
        let info = info.as_ref().filter(|_| !hides_places);
        hit.metadata = Metadata::new(&hit.record, info, &hit.doc_toc);
        if request.text {
            hit.text = Some(hit.record.text.clone());
        }
    }
    Ok(hits)
}
