//! Compares stored chunks with those that other settings would give.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{DiffAnswer, PlannedDiffRequest};

use super::{Answer, OfCollection};
use crate::app::Shared;
use crate::extract::{Body, Path};
use crate::openapi::{Method, Operation, Resources};

pub(super) fn add(resources: Resources) -> Resources {
    let diff = Operation::read(
        Method::Post,
        "/api/v1/collections/{collection}/diff",
        "diff",
        "Compares the stored chunks with those that other settings would give: kept, moved, changed, to be embedded again.",
    );
    resources.add("cutting", &diff, compare)
}

async fn compare(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(request): Body<PlannedDiffRequest>,
) -> Answer<DiffAnswer> {
    Ok(Json(app.ask(move |engine| engine.collection(collection).planned_diff(&request)).await?))
}
