//! Which collections are there?

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{Engine, ListedCollection};

use super::Answer;
use crate::app::Shared;
use crate::openapi::{Method, Operation, Resources, Scope};

pub(super) fn add(resources: Resources) -> Resources {
    resources.add(
        "collections",
        Operation {
            method: Method::Get,
            path: "/collections",
            id: "list_collections",
            summary: "Lists the collections, by name.",
            scope: Scope::Read,
        },
        list,
    )
}

async fn list(State(app): State<Shared>) -> Answer<Vec<ListedCollection>> {
    Ok(Json(app.call(Engine::list_collections).await?))
}
