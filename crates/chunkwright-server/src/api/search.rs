//! Searches collections, and explains why a chunk was found or not.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{
    Door, Engine, Expand, ExpandRequest, Explained, Found, MAX_QUERY_CHARS, Mode, QueryCall, QueryLog,
    SearchAnswer, SearchRequest,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::Answer;
use super::chunks::filter;
use crate::app::Shared;
use crate::extract::{Body, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::traces;

const PATH: &str = "/api/v1/search";

pub(super) fn add(resources: Resources) -> Resources {
    let by_query = Operation::read(
        Method::Get,
        PATH,
        "search_by_query",
        "Searches one collection, several, or all; what every search needs, in an address.",
    );
    let by_body = Operation::read(Method::Post, PATH, "search", "Searches one collection, several, or all.");
    let explain = Operation::read(
        Method::Post,
        "/api/v1/search/explain",
        "explain_search",
        "Says why a chunk is or is not in the answer to a search of one collection.",
    );
    resources.add("search", &by_query, get).add("search", &by_body, search).add("search", &explain, explained)
}

/// A search in an address.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Asked {
    /// What to look for; may hold conditions such as `path:docs/ lang:rust`.
    #[schemars(length(max = MAX_QUERY_CHARS))]
    q: String,
    /// Name of a collection to search; may be given several times. Without one, that of the server's settings, or the only
    /// one that there is.
    collection: Vec<String>,
    /// Whether every collection is searched.
    all_collections: bool,
    /// Which stages run.
    mode: Mode,
    /// Number of hits, from 1 to 1,000; by default 5.
    #[schemars(range(min = 1, max = 1000))]
    top_k: Option<usize>,
    /// Number of hits before the first of the answer.
    offset: usize,
    /// Only chunks that pass: an expression such as `language=rust and token_count<200`.
    #[schemars(extend("format" = "filter"))]
    filter: String,
    /// The least relevance of a hit, from 0 to 1, where 0 keeps all.
    #[schemars(range(min = 0, max = 1))]
    min_relevance: Option<f64>,
    /// Maximum number of hits per document.
    per_document: Option<usize>,
    /// Whether hits carry `text`, what is embedded and searched.
    text: bool,
    /// What hits are read with: `parent`, `merge` or a number of neighbours.
    expand: Option<Expand>,
    /// Most tokens of the text of the answer.
    #[schemars(range(min = 1))]
    max_tokens: Option<usize>,
    /// Whether every generation is searched, not the current one alone.
    all_versions: bool,
}

/// Why a chunk is or is not among the hits of a search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExplainSearch {
    /// The chunk: its id or `DOC_ID#INDEX`.
    chunk: String,
    /// The search. Of `collections` it names one, or none for that of the server's settings or the only one.
    search: SearchRequest,
}

async fn get(State(app): State<Shared>, Query(asked): Query<Asked>) -> Answer<SearchAnswer> {
    let usual = SearchRequest::new(asked.q);
    let request = SearchRequest {
        collections: asked.collection,
        all_collections: asked.all_collections,
        mode: asked.mode,
        top_k: asked.top_k.unwrap_or(usual.top_k),
        offset: asked.offset,
        filter: filter(&asked.filter)?,
        min_relevance: asked.min_relevance,
        per_document: asked.per_document,
        text: asked.text,
        expand: asked.expand.map(|with| ExpandRequest { with, max_tokens: None }),
        max_tokens: asked.max_tokens,
        all_versions: asked.all_versions,
        ..usual
    };
    answer(&app, request).await
}

async fn search(State(app): State<Shared>, Body(request): Body<SearchRequest>) -> Answer<SearchAnswer> {
    answer(&app, request).await
}

async fn answer(app: &Shared, request: SearchRequest) -> Answer<SearchAnswer> {
    let log = app.log.clone();
    let search = move |engine: &Engine| {
        let started = Instant::now();
        let answer = engine.search(&request)?;
        if let Some(log) = log {
            traces::query(&request.query);
            keep(&log, request, &answer, started);
        }
        Ok(answer)
    };
    Ok(Json(app.ask(search).await?))
}

/// Logs a query. A search does not fail if the log cannot be written.
fn keep(log: &QueryLog, request: SearchRequest, answer: &SearchAnswer, started: Instant) {
    let (hits, best) = match &answer.found {
        Found::Hits { hits } => (hits.len(), hits.first().map(|hit| hit.found.relevance)),
        Found::Passages { passages } => (passages.len(), None),
    };
    let kept = log.add(QueryCall {
        door: Door::Http,
        kind: "search".to_owned(),
        query: request.query,
        collections: request.collections,
        hits: Some(hits),
        relevance: best.flatten(),
        took_ms: started.elapsed().as_secs_f64() * 1e3,
    });
    if let Err(error) = kept {
        tracing::warn!(%error, "a query was not logged");
    }
}

async fn explained(
    State(app): State<Shared>,
    Body(ExplainSearch { chunk, search }): Body<ExplainSearch>,
) -> Answer<Explained> {
    Ok(Json(
        app.ask(move |engine| engine.explain_search(&search, &chunk).map_err(|error| error.within("search")))
            .await?,
    ))
}
