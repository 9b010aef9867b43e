//! Searches several collections, and skips those that cannot be searched.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chunkwright_index::{
    Answer, Below, DocumentInfo, Explained, Generation, Kept, Metadata, SearchError, Store, StoreError, WEAK,
};
use tracing::field::Empty;

use crate::core::engine::Engine;
use crate::core::observe::{SearchCall, TRACE};
use crate::error::{Code, Error, Within};
use crate::notice::{Notice, NoticeCode};
use crate::noun::collection::read_current;
use crate::noun::search::passages::passages;
use crate::noun::search::{merge, translations};
use crate::noun::snapshot::Snapshot;
use crate::noun::vectors;
use crate::request::collections::ListCollectionsRequest;
use crate::request::list::RelatedAnswer;
use crate::request::search::hit::Hit;
use crate::request::search::options::SearchRequest;
use crate::request::search::{Budget, Found, SearchAnswer, SearchedCollection};

impl Engine {
    /// Searches the collections that the request names. Without a name, searches the collection of the settings; if the
    /// settings name none either and the default one does not exist, the only collection of the store.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::search`], and a collection that does not exist. Where several are searched, one of which a stage
    /// cannot run is left out with a notice, unless no other one can be searched.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        let search = |snapshots: &Vec<Snapshot>| search_in(&snapshots.iter().collect::<Vec<_>>(), request);
        read_current(|| self.searched(request), search)
    }

    /// Explains why a chunk is or is not in the answer to a search of one collection: the one that the request names,
    /// or that of the settings.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::explain_search`], and a request that names several collections.
    pub fn explain_search(&self, request: &SearchRequest, chunk: &str) -> Result<Explained, Error> {
        if request.all_collections || request.collections.len() > 1 {
            return Err(Error::OneCollection);
        }
        let collection = match request.collections.first() {
            Some(name) => self.collection(name),
            None => self.collection(self.usual_collection()?),
        };
        collection.read(|snapshot| snapshot.explain_search(request, chunk))
    }

    /// The collection of a search that names none.
    fn usual_collection(&self) -> Result<String, Error> {
        let usual = self.default_name();
        if self.settings().is_set("collection") || self.store()?.open(&usual).is_ok() {
            return Ok(usual);
        }
        let page =
            self.list_collections(&ListCollectionsRequest { limit: 1, ..ListCollectionsRequest::default() })?;
        Ok(match page.collections.first() {
            Some(only) if page.total == 1 => only.name().to_owned(),
            _ => usual,
        })
    }

    /// The generation of a collection that answers a request, where searches see `visible`.
    fn answering(
        &self,
        store: &dyn Store,
        visible: Generation,
        request: &SearchRequest,
    ) -> Result<Generation, Error> {
        if request.all_versions {
            return Ok(visible);
        }
        vectors::answering(self, store, visible, &request.query, request.mode)
    }

    /// The collections of a request, each once. Those with vectors of the same model share its embedder.
    fn searched(&self, request: &SearchRequest) -> Result<Vec<Snapshot>, Error> {
        let store = self.store()?;
        let generations: Vec<Generation> = if !request.all_collections {
            let mut known = HashSet::new();
            let named = request.collections.iter().enumerate();
            let opened = named.map(|(at, name)| {
                let opened = store.open(name).within(at).within("collections")?;
                if name.contains('@') { Ok(opened) } else { self.answering(&*store, opened, request) }
            });
            let mut opened = opened.collect::<Result<Vec<_>, Error>>()?;
            if opened.is_empty() {
                let usual = store.open(&self.usual_collection()?)?;
                opened.push(self.answering(&*store, usual, request)?);
            }
            opened.into_iter().filter(|generation| known.insert(generation.clone())).collect()
        } else if !request.collections.is_empty() {
            return Err(Error::NamedAndAll);
        } else {
            let visible = store.visible()?.into_iter();
            visible.map(|visible| self.answering(&*store, visible, request)).collect::<Result<_, _>>()?
        };
        if generations.is_empty() {
            return Err(Error::NoCollections);
        }
        let mut embedders = HashMap::new();
        let snapshot = |generation: Generation| {
            let embedder = embedders.entry(generation.spec.model.clone()).or_default();
            Snapshot::of(self, Arc::clone(&store), generation).sharing(embedder)
        };
        Ok(generations.into_iter().map(snapshot).collect())
    }
}

/// Returns whether an error concerns only one collection and not the others of the store.
fn is_of_one_collection(error: &Error) -> bool {
    matches!(error.code(), Code::MODEL_UNAVAILABLE | Code::SERVICE_FAILED)
        || matches!(
            error,
            Error::Search(SearchError::Store(StoreError::Analysis { .. }))
                | Error::Store(StoreError::Analysis { .. })
        )
}

fn left_out(collection: &str, error: &Error) -> Notice {
    Notice::new(NoticeCode::CollectionSkipped, format!("collection `{collection}` was not searched: {error}"))
}

/// Searches each generation separately, and merges the hits.
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
    let answer = span.in_scope(|| engine.stoppable(|| merged(snapshots, request)));
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
    let Ranked { mut hits, searched, mut notices } = match &request.queries[..] {
        [] => ranked(snapshots, request, page.end)?,
        others => {
            let queries = [&request.query].into_iter().chain(others);
            let each = queries.map(|query| ranked(snapshots, &request.asking(query), page.end));
            Ranked::in_turn(each.collect::<Result<_, _>>()?)
        }
    };
    // If some collections have hits, empty ones need no notice.
    if !hits.is_empty() {
        notices.retain(|notice| notice.code != NoticeCode::NothingRelevant);
    }
    // Who sets a threshold judges by it.
    notices.extend(weakness(&hits).filter(|_| request.min_relevance.is_none()));
    hits.truncate(page.end);
    hits.drain(..page.start.min(hits.len()));
    let with_hits: HashSet<&str> = hits.iter().map(|hit| hit.collection.as_str()).collect();
    let collections = SearchedCollection::listed(&searched, &with_hits);
    let below = searched.iter().fold(None, |sum, (_, answer)| Below::sum(sum, answer.below));
    if let Some((snapshot, _)) = searched.first() {
        let asked = snapshot.engine().asked();
        for hit in &hits {
            asked.add(&hit.collection, &hit.found.record.doc_id, 1);
        }
    }
    let mut notices = bounded(notices);
    let snapshots: Vec<&Snapshot> = searched.iter().map(|(snapshot, _)| *snapshot).collect();
    let mut found = match request.expand {
        None => Found::Hits { hits: described(&snapshots, hits, request)? },
        Some(expand) => passages(&snapshots, &hits, expand.check()?, request.max_tokens, &mut notices)?,
    };
    let mut budget = None;
    if let (Some(max_tokens), Some(snapshot)) = (request.max_tokens, snapshots.first()) {
        let kept = Budget::keep(&mut found, max_tokens, &*snapshot.engine().counter()?);
        notices.extend(kept.notice(&found));
        budget = Some(kept);
    }
    Ok(SearchAnswer { found, searched: searched.len(), below, collections, budget, notices })
}

/// The hits of one query or several, best first, and how each collection was searched.
struct Ranked<'a> {
    hits: Vec<Hit>,
    searched: Vec<(&'a Snapshot, Answer)>,
    notices: Vec<Notice>,
}

/// The first `end` hits of one query.
fn ranked<'a>(snapshots: &[&'a Snapshot], request: &SearchRequest, end: usize) -> Result<Ranked<'a>, Error> {
    let mut notices = Vec::new();
    let mut searched: Vec<(&Snapshot, Answer)> = Vec::new();
    let mut failed = None;
    // Collapsing translations makes room for further hits.
    let wanted = if request.collapse_translations { end.max(request.last_page_end()) } else { end };
    for &snapshot in snapshots {
        snapshot.engine().check_cancelled()?;
        match snapshot.find(request, wanted) {
            Ok((answer, unused)) => {
                notices.extend(unused);
                notices.extend(snapshot.notices(&answer, request, snapshots.len() > 1)?);
                searched.push((snapshot, answer));
            }
            Err(error) if snapshots.len() > 1 && is_of_one_collection(&error) => {
                notices.push(left_out(&snapshot.generation().collection, &error));
                failed.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(error) = failed.filter(|_| searched.is_empty()) {
        return Err(error);
    }
    let mut hits = merge::merged(&searched, request.duplicates);
    // One collection in the language of the question is enough, and what holds for several is said once.
    let across = notices.iter().filter(|notice| notice.code == NoticeCode::OtherLanguage).count();
    let mut said = HashSet::new();
    notices.retain(|notice| {
        let is_news = across == searched.len() && said.insert(notice.message.clone());
        notice.code != NoticeCode::OtherLanguage || is_news
    });
    // What one of the collections could use was used.
    let mut unused: HashMap<String, usize> = HashMap::new();
    for notice in notices.iter().filter(|notice| notice.code == NoticeCode::PartlyUsed) {
        *unused.entry(notice.message.clone()).or_default() += 1;
    }
    notices.retain(|notice| {
        notice.code != NoticeCode::PartlyUsed || unused.remove(&notice.message) == Some(searched.len())
    });
    if request.collapse_translations {
        hits = translations::collapsed(hits);
    }
    Ok(Ranked { hits, searched, notices })
}

impl Ranked<'_> {
    /// The hits of several queries in turn, by rank, each chunk once.
    fn in_turn(each: Vec<Self>) -> Self {
        let mut known = HashSet::new();
        let mut hits = Vec::new();
        let mut lists = Vec::with_capacity(each.len());
        let (mut searched, mut notices) = (Vec::new(), Vec::<Notice>::new());
        for ranked in each {
            lists.push(ranked.hits.into_iter());
            notices.extend(ranked.notices);
            searched = ranked.searched;
        }
        let mut said = HashSet::new();
        notices.retain(|notice| said.insert(notice.message.clone()));
        loop {
            let turn: Vec<Option<Hit>> = lists.iter_mut().map(Iterator::next).collect();
            if turn.iter().all(Option::is_none) {
                return Self { hits, searched, notices };
            }
            for (at, hit) in turn.into_iter().enumerate() {
                let Some(mut hit) = hit else { continue };
                if known.insert((hit.collection.clone(), hit.generation, hit.record.chunk_id)) {
                    known.extend(
                        hit.duplicates.iter().map(|id| (hit.collection.clone(), hit.generation, *id)),
                    );
                    hit.of_query = Some(at + 1);
                    hit.found.rank = hits.len() + 1;
                    hits.push(hit);
                }
            }
        }
    }
}

/// A notice if the relevance of all hits is low, of those in the language of the documents where others are unknown.
fn weakness(hits: &[Hit]) -> Option<Notice> {
    let known = || hits.iter().filter_map(|hit| hit.found.relevance);
    let is_pinned = hits.iter().any(|hit| hit.found.kept == Kept::Pinned);
    let best = known().reduce(f64::max).filter(|_| !is_pinned && known().count() * 2 >= hits.len())?;
    let message = format!("probably no answer here: the best hit has a relevance of {best}, below {WEAK}");
    (best < WEAK).then(|| Notice::new(NoticeCode::ProbablyNoAnswer, message))
}

/// Maximum number of notices of one kind in an answer.
const ALIKE: usize = 5;

/// The first notices of each kind, and the number of further ones.
fn bounded(notices: Vec<Notice>) -> Vec<Notice> {
    let mut counts: BTreeMap<NoticeCode, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for notice in notices {
        let count = counts.entry(notice.code).or_default();
        *count += 1;
        if *count <= ALIKE {
            kept.push(notice);
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > ALIKE) {
        let message = format!("the same holds for {} more collections", count - ALIKE);
        let last = kept.iter().rposition(|notice| notice.code == code).map_or(kept.len(), |last| last + 1);
        kept.insert(last, Notice::new(code, message));
    }
    kept
}

/// Adds the metadata of their documents to hits.
fn described(
    snapshots: &[&Snapshot],
    mut hits: Vec<Hit>,
    request: &SearchRequest,
) -> Result<Vec<Hit>, Error> {
    let mut infos: HashMap<&str, HashMap<String, DocumentInfo>> = HashMap::new();
    for snapshot in snapshots {
        let generation = snapshot.generation();
        let of = hits.iter().filter(|hit| hit.collection == generation.collection);
        let mut doc_ids: Vec<&str> = of.map(|hit| hit.record.doc_id.as_str()).collect();
        doc_ids.sort_unstable();
        doc_ids.dedup();
        if doc_ids.is_empty() {
            continue;
        }
        let found = snapshot.store().document_infos(generation, &doc_ids)?.into_iter().flatten();
        infos.insert(&generation.collection, found.map(|info| (info.doc_id.clone(), info)).collect());
    }
    let mut related: HashMap<(String, String), Option<RelatedAnswer>> = HashMap::new();
    let of = snapshots.iter().map(|snapshot| (snapshot.generation().collection.as_str(), *snapshot));
    let of: HashMap<&str, &Snapshot> = of.collect();
    let hides_places = snapshots.iter().any(|snapshot| snapshot.engine().hides_places());
    for hit in &mut hits {
        let info = infos.get(hit.collection.as_str()).and_then(|of| of.get(&hit.record.doc_id));
        if info.is_some_and(DocumentInfo::is_rendered) {
            hit.show_rendered();
        }
        let info = info.filter(|_| !hides_places);
        hit.metadata = Metadata::new(&hit.record, info, &hit.doc_toc);
        if let Some(snapshot) = of.get(hit.collection.as_str()).filter(|_| request.related > 0) {
            hit.related = match related.entry((hit.collection.clone(), hit.record.doc_id.clone())) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(new) => {
                    let found = match snapshot.related(&hit.record.doc_id, request.related) {
                        // Of another generation, where these are searched too.
                        Err(Error::UnknownDocument { .. }) => None,
                        found => Some(found?),
                    };
                    new.insert(found).clone()
                }
            };
        }
        if request.text {
            hit.text = Some(hit.record.text.clone());
        }
    }
    Ok(hits)
}
