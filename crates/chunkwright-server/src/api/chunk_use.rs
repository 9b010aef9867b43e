//! Answers how often chunks were found and fetched.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{UseAnswer, UseRequest, UseState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, OfCollection};
use crate::app::Shared;
use crate::extract::{Path, Query};
use crate::openapi::{Method, Operation, Resources};

/// Number of chunks that are listed by default.
const USUAL: usize = 20;

pub(super) fn add(resources: Resources) -> Resources {
    let of_chunks = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/use",
        "get_use",
        "Answers how often chunks were found and fetched since the log of queries begins.",
    );
    resources.add("collections", &of_chunks, chunk_use)
}

/// Which chunks are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Listed {
    /// By their use.
    state: UseState,
    /// Most chunks that are listed, from 1 to 1,000; by default 20.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

/// Use of chunks, if queries are kept.
#[derive(Serialize, JsonSchema)]
struct Use {
    /// Whether queries are kept: `serve --log-queries` keeps them.
    enabled: bool,
    /// What the log tells; none where it is not kept.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    answer: Option<UseAnswer>,
}

async fn chunk_use(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(Listed { state, limit }): Query<Listed>,
) -> Answer<Use> {
    let limit = super::Page { limit: Some(limit.unwrap_or(USUAL)), cursor: None }.limit()?;
    let Some(log) = app.log.clone() else { return Ok(Json(Use { enabled: false, answer: None })) };
    let request = UseRequest { state, limit };
    let answer = app.read(collection, move |snapshot| snapshot.chunk_use(&log, &request)).await?;
    Ok(Json(Use { enabled: true, answer: Some(answer) }))
}
