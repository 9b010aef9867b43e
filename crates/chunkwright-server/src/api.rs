//! The resources of the API, one per file: each adds its operations to the router and to the OpenAPI document.

mod agents;
mod chunk_use;
mod chunks;
mod collections;
mod configuration;
mod diff;
mod documents;
mod export;
mod folders;
mod jobs;
mod log;
mod preview;
mod questions;
mod search;
mod source;
mod statistics;
mod upload;
mod versions;

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn;
use axum::routing::get;
use chunkwright_engine::{Cursor, Error, Snapshot};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use crate::answer::Answer;
use crate::app::{App, Shared};
use crate::compat;
use crate::extract::no_parameters;
use crate::guard::Scopes;
use crate::openapi::Resources;
use crate::problem::Problem;
use crate::proxy::Prefix;

/// A function that adds a resource.
pub(crate) type Add = fn(Resources) -> Resources;

/// The resources of our own API, in the order of the documentation.
const RESOURCES: &[Add] = &[
    collections::add,
    documents::add,
    source::add,
    chunks::add,
    search::add,
    questions::add,
    preview::add,
    diff::add,
    versions::add,
    statistics::add,
    jobs::add,
    configuration::add,
    log::add,
    agents::add,
    chunk_use::add,
    export::add,
    folders::add,
];

/// The parts of the API.
pub(crate) struct Api {
    /// The operations.
    pub(crate) operations: Router,
    /// The scope that each operation needs.
    pub(crate) scopes: Scopes,
    /// Descriptions of the API, which reveal nothing of what is indexed.
    pub(crate) descriptions: Router,
}

/// Everything below `/api` and `/compat`.
pub(crate) fn router(app: &Shared) -> Api {
    let all = RESOURCES.iter().chain(compat::RESOURCES);
    let resources = all.fold(Resources::new(), |resources, add| add(resources));
    let info = json!({
        "title": "Chunkwright",
        "summary": "Stable, explainable, token-bounded chunks of documents and source code, and hybrid search over them.",
        "version": env!("CARGO_PKG_VERSION"),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    let (router, document, scopes) = resources.finish(&info);
    let scopes =
        scopes.into_iter().map(|(method, path, scope)| ((method.into(), path.to_owned()), scope)).collect();
    let document = Arc::new(document);
    let openapi = move |prefix: Prefix| async move {
        let mut document = Value::clone(&document);
        if !prefix.as_str().is_empty() {
            document["servers"][0]["url"] = prefix.as_str().into();
        }
        ([(CONTENT_TYPE, "application/json")], document.to_string())
    };
    let operations = router
        .with_state(Shared::clone(app))
        .fallback(|| async { Problem::no_such_path() })
        .method_not_allowed_fallback(|| async { Problem::method() });
    let descriptions = crate::docs::router().route("/api/openapi.json", get(openapi));
    let descriptions = descriptions.route_layer(from_fn(no_parameters));
    Api { operations, scopes, descriptions }
}

/// The collection of a path.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct OfCollection {
    /// Name of the collection; `NAME@N` is one generation of it.
    pub(crate) collection: String,
}

/// A page of a list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Page {
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    pub(crate) cursor: Option<String>,
}

impl Page {
    /// The requested number of entries.
    pub(crate) fn limit(&self) -> Result<usize, Problem> {
        match self.limit {
            None => Ok(100),
            Some(limit) if (1..=1_000).contains(&limit) => Ok(limit),
            Some(limit) => {
                let detail = format!("`limit` is `{limit}`; it must be from 1 to 1000");
                Err(Problem::invalid(detail).of_parameter("limit"))
            }
        }
    }

    /// The cursor of the page.
    pub(crate) fn after(&self) -> Option<Cursor> {
        self.cursor.as_ref().filter(|cursor| !cursor.is_empty()).map(Cursor::new)
    }
}

impl App {
    /// Reads a collection; all reads see the same generation.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        collection: String,
        read: impl FnMut(&Snapshot) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        self.ask(move |engine| engine.collection(collection).read(read)).await
    }
}
