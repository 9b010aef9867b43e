//! The generations of a collection, and the runs that made them.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{GenerationsAnswer, PastRun, PruneRequest, PrunedGeneration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collections::DryRun;
use super::{Answer, OfCollection};
use crate::answer::{Has, Tagged};
use crate::app::Shared;
use crate::extract::{Body, Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/versions",
        "list_versions",
        "Lists the generations of a collection, with chunk counts by strategy version.",
    );
    let delete = Operation::write(
        Method::Delete,
        "/api/v1/collections/{collection}/versions/{generation}",
        "delete_version",
        "Removes one generation that searches do not see.",
    );
    let prune = Operation::admin(
        Method::Post,
        "/api/v1/collections/{collection}/versions/prune",
        "prune_versions",
        "Removes generations that searches do not see, or documents of them.",
    );
    let runs = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/runs",
        "list_runs",
        "Lists the last runs that changed a collection, newest first.",
    );
    resources
        .add("versions", &of_all, list)
        .add("versions", &delete, remove)
        .add("versions", &prune, remove_some)
        .add("versions", &runs, history)
}

/// The generation of a path.
#[derive(Deserialize, JsonSchema)]
struct OfGeneration {
    /// Name of the collection.
    collection: String,
    /// Number of the generation.
    generation: i64,
}

/// What was removed.
#[derive(Serialize, JsonSchema)]
struct Pruned {
    /// The generations.
    generations: Vec<PrunedGeneration>,
}

/// The last runs.
#[derive(Serialize, JsonSchema)]
struct Runs {
    /// The runs, newest first.
    runs: Vec<PastRun>,
}

async fn list(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    has: Has,
) -> Result<Tagged<GenerationsAnswer>, Problem> {
    has.tagged(&app.call(move |engine| engine.collection(collection).generations()).await?)
}

async fn remove(
    State(app): State<Shared>,
    Path(OfGeneration { collection, generation }): Path<OfGeneration>,
    Query(DryRun { dry_run }): Query<DryRun>,
) -> Answer<Pruned> {
    let request = PruneRequest { generation: Some(generation), dry_run, ..PruneRequest::default() };
    let generations = app.call(move |engine| engine.collection(collection).prune(&request)).await?;
    Ok(Json(Pruned { generations }))
}

async fn remove_some(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(request): Body<PruneRequest>,
) -> Answer<Pruned> {
    let generations = app.call(move |engine| engine.collection(collection).prune(&request)).await?;
    Ok(Json(Pruned { generations }))
}

async fn history(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    has: Has,
) -> Result<Tagged<Runs>, Problem> {
    let runs = app.call(move |engine| engine.collection(collection).history()).await?;
    has.tagged(&Runs { runs })
}
