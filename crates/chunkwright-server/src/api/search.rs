//! Which chunks answer a query?

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{SearchAnswer, SearchRequest};

use super::Answer;
use crate::app::Shared;
use crate::extract::Body;
use crate::openapi::{Method, Operation, Resources, Scope};

pub(super) fn add(resources: Resources) -> Resources {
    resources.add(
        "search",
        Operation {
            method: Method::Post,
            path: "/search",
            id: "search",
            summary: "Searches one collection, several, or all.",
            scope: Scope::Read,
        },
        search,
    )
}

async fn search(State(app): State<Shared>, Body(request): Body<SearchRequest>) -> Answer<SearchAnswer> {
    Ok(Json(app.call(move |engine| engine.search(&request)).await?))
}
