//! Search requests and their answers.

pub(crate) mod budget;
pub(crate) mod languages;
pub(crate) mod merge;
pub(crate) mod passages;
pub(crate) mod several;
pub(crate) mod translations;

use std::collections::HashSet;
use std::sync::Arc;

use chunkwright_index::{
    Answer, Below, Explained, ListRequest, Mode, Models, OtherPath, Query, SearchError, SearchOptions,
    Verdict, check_query, chunk_id, explain, has_unproven_paths, known_paths, parse_query, search,
    search_all_versions,
};
use chunkwright_models::Embedder;

use crate::error::{Code, Error};
use crate::notice::{Notice, NoticeCode};
use crate::noun::search::languages::in_turn;
use crate::noun::snapshot::Snapshot;
use crate::noun::vectors::{Coverage, behind};
use crate::request::search::options::SearchRequest;
use crate::request::search::{SearchAnswer, SearchedCollection};

/// Maximum number of collections whose search is described in an answer.
const COLLECTIONS_LISTED: usize = 100;

/// A notice of a path that no document has.
fn notice_of_path(OtherPath { given, used, in_any_case, excludes }: &OtherPath) -> Notice {
    let case = if *in_any_case { " in small or capital letters" } else { "" };
    let message = match (used, excludes) {
        (Some(used), _) if used.is_empty() => format!("`{given}` is every path"),
        (Some(used), _) => format!("no document is at `{given}`: taken as `{used}`{case}"),
        (None, false) => format!("no document is at `{given}`: paths are those that hits show"),
        (None, true) => format!("no document is at `{given}`, so that nothing is left out by it"),
    };
    Notice::new(NoticeCode::PartlyUsed, message)
}

/// A notice of phrases that no chunk has.
fn notice_of_phrases(phrases: &[String]) -> Notice {
    let listed: Vec<String> = phrases.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    let message = format!("no chunk has {}: searched for the words", listed.join(" and "));
    Notice::new(NoticeCode::PartlyUsed, message)
}

impl SearchedCollection {
    /// How collections were searched: all if there are few, otherwise first those in `first`.
    fn listed(found: &[(&Snapshot, Answer)], first: &HashSet<&str>) -> Vec<Self> {
        let mut listed: Vec<&(&Snapshot, Answer)> = found.iter().collect();
        if listed.len() > COLLECTIONS_LISTED {
            listed.sort_by_key(|(snapshot, _)| !first.contains(snapshot.generation().collection.as_str()));
            listed.truncate(COLLECTIONS_LISTED);
        }
        listed.into_iter().map(|(snapshot, answer)| Self::new(snapshot, answer)).collect()
    }

    fn new(snapshot: &Snapshot, answer: &Answer) -> Self {
        let Answer { mode, degraded, rerank_used, rerank_error, min_relevance, below, .. } = answer.clone();
        let generation = snapshot.generation();
        let (collection, generation) = (generation.collection.clone(), generation.number);
        Self { collection, generation, mode, degraded, rerank_used, rerank_error, min_relevance, below }
    }
}

/// The embedder of queries, if there is one, and otherwise why a hybrid search runs without it.
type EmbedderOrWhy = (Option<Arc<dyn Embedder>>, Option<String>);

impl Snapshot {
    /// Searches this generation, or all of them.
    ///
    /// If the embedder is missing or fails, a hybrid search becomes lexical, and a notice says so.
    ///
    /// # Errors
    ///
    /// A query or a value of the request that cannot be used, a dense or sparse search without its vectors, a store
    /// that fails.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        several::search_in(&[self], request)
    }

    /// The best `top_k` hits that are relevant enough, and what of the query could not be used.
    fn find(&self, request: &SearchRequest, top_k: usize) -> Result<(Answer, Vec<Notice>), Error> {
        let mut query = parse_query(&request.query, request.filter.clone())?;
        query.check(&request.query).map_err(SearchError::from)?;
        let (embedder, why) = self.embedder_or_why(request.mode)?;
        let reranker = self.engine().reranker()?;
        let stages = self.engine().stages();
        let watch = stages.as_ref().map(|stages| stages as _);
        let (store, generation) = (self.store(), self.generation());
        let missing = self.missing()?;
        let models = Models { embedder: embedder.as_deref(), reranker: reranker.as_deref(), watch, missing };
        let run_as = |words: &str, options: SearchOptions| {
            if request.all_versions {
                search_all_versions(store, &generation.collection, models, words, &options)
            } else {
                search(store, generation, models, words, &options)
            }
        };
        let run = |words: &str, filter| run_as(words, request.options(filter, top_k));
        let mut notices = Vec::new();
        let mut answer = run(&query.words, query.strict())?;
        if answer.hits.is_empty() || has_unproven_paths(&query.filter) {
            let (filter, others) = known_paths(store, generation, &query.filter)?;
            notices.extend(others.iter().map(notice_of_path));
            if filter != query.filter {
                query.filter = filter;
                answer = run(&query.words, query.strict())?;
            }
        }
        if answer.hits.is_empty() && !query.phrases.is_empty() {
            answer = run(&query.words, query.filter.clone())?;
            if !answer.hits.is_empty() {
                notices.push(notice_of_phrases(&query.phrases));
            }
        }
        if let Some(into) = self.translates(&query.words, &answer)? {
            let options = SearchOptions { translate: Some(into), ..request.options(query.strict(), top_k) };
            answer = in_turn(run_as(&query.words, options)?, answer, request.per_document, top_k);
        }
        if answer.hits.is_empty() && !query.filter.is_empty() && notices.is_empty() {
            notices.extend(self.notice_of_filter(&query)?);
        }
        if why.is_some() {
            answer.degraded = why;
        }
        Ok((answer, notices))
    }

    /// A notice if no chunk passes the conditions of a query.
    fn notice_of_filter(&self, query: &Query) -> Result<Option<Notice>, Error> {
        let request = ListRequest { filter: query.filter.clone(), limit: 1, ..ListRequest::default() };
        let listed = self.store().list(self.generation(), &request)?;
        let excluded = query.excluded.join(" ");
        let message = match (listed.chunks.is_empty(), excluded.is_empty()) {
            (true, _) => {
                "no chunk passes the conditions of the filter and the query, whatever its words".into()
            }
            (false, false) => format!("nothing was found without what `{excluded}` leaves out"),
            (false, true) => return Ok(None),
        };
        Ok(Some(Notice::new(NoticeCode::PartlyUsed, message)))
    }

    /// Explains why a chunk, by its id or as `DOC_ID#INDEX`, is or is not in the answer to a search.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search).
    pub fn explain_search(&self, request: &SearchRequest, chunk: &str) -> Result<Explained, Error> {
        check_query(&request.query).map_err(SearchError::from)?;
        request.check()?;
        let query = parse_query(&request.query, request.filter.clone())?;
        query.check(&request.query).map_err(SearchError::from)?;
        let (embedder, _) = self.embedder_or_why(request.mode)?;
        let reranker = self.engine().reranker()?;
        let models = Models {
            embedder: embedder.as_deref(),
            reranker: reranker.as_deref(),
            watch: None,
            missing: self.missing()?,
        };
        let (store, generation) = (self.store(), self.generation());
        let chunk = chunk_id(store, generation, chunk)?;
        let explain = |options: SearchOptions| {
            self.engine().stoppable(|| Ok(explain(store, generation, models, &query.words, &options, chunk)?))
        };
        let answer = self.find(request, request.top_k)?.0;
        if let Some(into) = answer.translated {
            let options =
                SearchOptions { translate: Some(into), ..request.options(query.strict(), request.top_k) };
            let explained = explain(options)?;
            // The hits are those of two searches in turn.
            let verdict = match answer.hits.iter().find(|hit| hit.record.chunk_id == chunk) {
                Some(hit) => Verdict::Found { rank: hit.rank },
                None if matches!(explained.verdict, Verdict::Found { .. }) => {
                    Verdict::Outranked { top_k: request.top_k }
                }
                None => explained.verdict,
            };
            return Ok(Explained { verdict, ..explained });
        }
        let explain = |filter| explain(request.options(filter, request.top_k));
        let explained = explain(query.strict())?;
        // Where no chunk has the phrases, the answer is that of their words.
        let has_hits = explained.needed.is_some() || query.phrases.is_empty();
        if has_hits { Ok(explained) } else { explain(query.filter.clone()) }
    }

    /// Share of the chunks without a vector, in a generation that searches see while vectors are added. One behind it
    /// answers questions whose words the documents lack, so that its vectors weigh as ever.
    fn missing(&self) -> Result<f64, Error> {
        let (generation, engine) = (self.generation(), self.engine());
        let coverage = Coverage::in_progress(engine, &generation.collection)?;
        Ok(coverage.filter(|it| it.helper.is_none()).map_or(0.0, |coverage| coverage.missing()))
    }

    /// The embedder of queries; if a hybrid search runs without one, the reason.
    fn embedder_or_why(&self, mode: Mode) -> Result<EmbedderOrWhy, Error> {
        let generation = self.generation();
        let error = match (self.embedder_for(mode), &generation.spec.model) {
            (Ok(None), Some(model)) if mode != Mode::Lexical => {
                let (collection, model) = (generation.collection.clone(), model.name.clone());
                Error::MissingModel { collection, model }
            }
            (Ok(embedder), _) => return Ok((embedder, None)),
            (Err(error), _) => error,
        };
        match (mode, error.code()) {
            (Mode::Hybrid, Code::MODEL_UNAVAILABLE | Code::SERVICE_FAILED) => {
                Ok((None, Some(error.to_string())))
            }
            _ => Err(error),
        }
    }

    /// A notice if something is missing in the generation.
    fn notice_of_generation(&self, answer: &Answer) -> Result<Option<Notice>, Error> {
        let (store, generation) = (self.store(), self.generation());
        let is_complete = store.is_complete(generation)?;
        if is_complete && !answer.hits.is_empty() {
            return Ok(None);
        }
        let visible = store.lookup(&generation.collection)?.filter(|visible| visible != generation);
        if let Some(visible) = visible.filter(|_| !is_complete)
            && behind(store, &visible)?.is_some_and(|behind| behind.generation == *generation)
        {
            // It was chosen because it has all documents already.
            return Ok(None);
        }
        let any = ListRequest { limit: 1, ..ListRequest::default() };
        let name = &generation.collection;
        let is_empty = answer.hits.is_empty() && store.list(generation, &any)?.chunks.is_empty();
        Ok(match (is_empty, is_complete) {
            (true, true) => {
                let message =
                    format!("collection `{name}` has no chunks; `chunkwright index` adds documents");
                Some(Notice::new(NoticeCode::EmptyCollection, message))
            }
            (true, false) => {
                let message = format!(
                    "collection `{name}` has no chunks yet: its first `index` is running, was interrupted or found no documents; run it again to resume"
                );
                Some(Notice::new(NoticeCode::Unfinished, message))
            }
            (false, false) => {
                let message = format!(
                    "`{generation}` is not complete, since its first `index` is running or was interrupted: what is stored so far was searched; run it again to resume"
                );
                Some(Notice::new(NoticeCode::Unfinished, message))
            }
            (false, true) => None,
        })
    }

    /// The notices of an answer; they name the collection if there are several.
    fn notices(
        &self,
        answer: &Answer,
        request: &SearchRequest,
        of_several: bool,
    ) -> Result<Vec<Notice>, Error> {
        let mut notices: Vec<Notice> = self.notice_of_generation(answer)?.into_iter().collect();
        if request.mode == Mode::Hybrid || answer.translated.is_some() {
            notices.extend(self.notice_of_languages(request, answer)?);
        }
        let of = if of_several {
            format!("collection `{}`: ", self.generation().collection)
        } else {
            String::new()
        };
        if let (true, Some(Below { count, best }), Some(least)) =
            (answer.hits.is_empty(), answer.below, answer.min_relevance)
        {
            let hits = if count == 1 { "hit is" } else { "hits are" };
            let message = format!(
                "{of}nothing relevant: {count} {hits} below the minimum relevance {least}, the best with {best}; `--min-relevance 0` shows all"
            );
            notices.push(Notice::new(NoticeCode::NothingRelevant, message));
        }
        if let Some(why) = &answer.degraded {
            let what = if answer.mode == Mode::Lexical { "lexical only" } else { "without sparse vectors" };
            // A collection that was indexed without vectors on purpose needs no warning.
            let code = match self.generation().spec.model {
                Some(_) => NoticeCode::StageSkipped,
                None => NoticeCode::NoVectors,
            };
            notices.push(Notice::new(code, format!("{of}searched {what}: {why}")));
        }
        if let Some(why) = &answer.rerank_error {
            notices.push(Notice::new(NoticeCode::NotReranked, format!("{of}not reranked: {why}")));
        }
        Ok(notices)
    }
}
