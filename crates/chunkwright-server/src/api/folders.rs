//! Lists folders of the server that jobs may name.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::RootFolder;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Answer;
use crate::app::Shared;
use crate::extract::Query;
use crate::openapi::{Method, Operation, Resources};

pub(super) fn add(resources: Resources) -> Resources {
    let list = Operation::admin(
        Method::Get,
        "/api/v1/folders",
        "list_folders",
        "Lists the folders in a folder of the server that a job may index; without `path`, those that it may begin with.",
    );
    resources.add("jobs", &list, folders)
}

/// The folder.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Asked {
    /// Its path, as an answer names it; empty for the folders that everything lies below.
    path: String,
}

async fn folders(State(app): State<Shared>, Query(Asked { path }): Query<Asked>) -> Answer<RootFolder> {
    let roots = app.roots.clone();
    Ok(Json(app.call(move |_| roots.folder(&path)).await?))
}
