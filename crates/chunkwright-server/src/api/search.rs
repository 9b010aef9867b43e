//! Searches collections, and explains why a chunk was found or not.

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use chunkwright_engine::words::without_flags;
use chunkwright_engine::{
    Door, Engine, Error, Explained, Found, MAX_QUERY_CHARS, QueryCall, QueryLog, SearchAnswer, SearchRequest,
    schema,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::Answer;
use crate::answer::{Has, Tagged};
use crate::app::Shared;
use crate::extract::{Body, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;
use crate::traces;

const PATH: &str = "/api/v1/search";

pub(super) fn add(resources: Resources) -> Resources {
    let by_query = Operation::read(
        Method::Get,
        PATH,
        "search_by_query",
        "Searches one collection, several, or all, with every option in the address.",
    );
    let by_body = Operation::read(Method::Post, PATH, "search", "Searches one collection, several, or all.");
    let explain = Operation::read(
        Method::Post,
        "/api/v1/search/explain",
        "explain_search",
        "Says why a chunk is or is not in the answer to a search of one collection.",
    );
    let of_options = Operation::read(
        Method::Get,
        "/api/v1/search/schema",
        "get_search_schema",
        "Answers a JSON Schema of the options of a search.",
    );
    resources
        .add("search", &of_options, options)
        .add("search", &by_query, get)
        .add("search", &by_body, search)
        .add("search", &explain, explained)
}

/// A search in an address: a query, collections, and the options of searches by their names.
struct Asked(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Asked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self)
    }
}

/// The parameters of a search that are no options.
#[derive(Default, JsonSchema)]
#[schemars(default)]
struct Where {
    /// What to look for; may hold conditions such as `"a phrase" -word path:docs/ lang:rust`.
    #[schemars(length(max = MAX_QUERY_CHARS))]
    q: String,
    /// Name of a collection to search; may be given several times. Without one, that of the server's settings, or the only
    /// one that there is.
    collection: Vec<String>,
}

impl JsonSchema for Asked {
    fn schema_name() -> Cow<'static, str> {
        "Asked".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let mut schema = Where::json_schema(schemas);
        let options = schema::of_search();
        if let (Some(Value::Object(all)), Some(Value::Object(options))) =
            (schema.get_mut("properties"), options.get("properties"))
        {
            all.extend(options.clone());
        }
        schema
    }
}

impl Asked {
    fn request(self) -> Result<SearchRequest, Error> {
        let (mut query, mut collections, mut options) = (String::new(), Vec::new(), Vec::new());
        for (name, value) in self.0 {
            match name.as_str() {
                "q" => query = value,
                "collection" => collections.push(value),
                _ => options.push((name, value.into())),
            }
        }
        Ok(SearchRequest { collections, ..SearchRequest::read(query, options)? })
    }
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
    answer(&app, asked.request()?).await
}

async fn options(has: Has) -> Result<Tagged<Map<String, Value>>, Problem> {
    has.tagged(&schema::of_search().as_object().cloned().unwrap_or_default())
}

async fn search(State(app): State<Shared>, Body(request): Body<SearchRequest>) -> Answer<SearchAnswer> {
    answer(&app, request).await
}

async fn answer(app: &Shared, request: SearchRequest) -> Answer<SearchAnswer> {
    let log = app.log.clone();
    let search = move |engine: &Engine| {
        let started = Instant::now();
        let mut answer = engine.search(&request)?;
        for notice in &mut answer.notices {
            notice.message = without_flags(&notice.message).into_owned();
        }
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
        chunks: answer.found.chunks(),
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
