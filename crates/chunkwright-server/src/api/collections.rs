//! Lists, describes and deletes collections.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{
    CollectionPage, CollectionSort, DeleteRequest, Deleted, Direction, Engine, Error, ListCollectionsRequest,
    ListedCollection, RenameRequest, RenamedCollection,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, OfCollection, Page};
use crate::answer::{Has, Tagged};
use crate::app::Shared;
use crate::extract::{Body, Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(
        Method::Get,
        "/api/v1/collections",
        "list_collections",
        "Lists the collections, those whose name has a part, in an order.",
    );
    let of_one = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}",
        "get_collection",
        "Answers what a collection holds.",
    );
    let delete = Operation::admin(
        Method::Delete,
        "/api/v1/collections/{collection}",
        "delete_collection",
        "Removes a collection with all generations and changes made by hand.",
    );
    let patch = Operation::admin(
        Method::Patch,
        "/api/v1/collections/{collection}",
        "rename_collection",
        "Gives a collection another name; everything that belongs to it stays with it.",
    );
    resources
        .add("collections", &of_all, list)
        .add("collections", &of_one, get)
        .add("collections", &patch, rename)
        .add("collections", &delete, remove)
}

/// Which collections are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Listed {
    /// Only collections whose name contains each of these words, whatever the case.
    name: String,
    /// Only collections that a running process keeps in step with files. They are all on one page.
    watched: bool,
    /// What they are ordered by.
    sort: CollectionSort,
    /// From which end.
    direction: Direction,
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    cursor: Option<String>,
}

/// What was removed of a collection.
#[derive(Serialize, JsonSchema)]
struct DeletedCollection {
    /// The collection.
    collection: String,
    /// Number of documents removed, over all generations.
    documents: usize,
    /// Number of chunks removed, over all generations.
    chunks: u64,
    /// Whether nothing was removed, because the request was a dry run.
    dry_run: bool,
}

/// Whether something is only tried.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct DryRun {
    /// Remove nothing, and answer what would be removed.
    pub(super) dry_run: bool,
}

async fn list(
    State(app): State<Shared>,
    Query(Listed { name, watched, sort, direction, limit, cursor }): Query<Listed>,
    has: Has,
) -> Result<Tagged<CollectionPage>, Problem> {
    let page = Page { limit, cursor };
    let (after, limit) = (page.after(), page.limit()?);
    let request = ListCollectionsRequest { name, watched, sort, direction, after, limit };
    has.tagged(&app.call(move |engine| engine.list_collections(&request)).await?)
}

async fn get(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    has: Has,
) -> Result<Tagged<ListedCollection>, Problem> {
    has.tagged(&app.call(move |engine| engine.collection(collection).listed()).await?)
}

async fn rename(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(request): Body<RenameRequest>,
) -> Answer<RenamedCollection> {
    if let Some(busy) = [&collection, &request.name].into_iter().find(|name| app.jobs.is_busy(name)) {
        return Err(Error::RunInProgress { collection: busy.clone() }.into());
    }
    Ok(Json(app.call(move |engine| engine.collection(collection).rename(&request)).await?))
}

async fn remove(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(DryRun { dry_run }): Query<DryRun>,
) -> Answer<DeletedCollection> {
    let delete = move |engine: &Engine| {
        let collection = engine.collection(collection);
        let deleted = collection.delete(&DeleteRequest { what: Deleted::All, dry_run })?;
        let chunks = deleted.iter().map(|document| u64::from(document.chunks)).sum();
        let (collection, documents) = (collection.name().to_owned(), deleted.len());
        Ok(DeletedCollection { collection, documents, chunks, dry_run })
    };
    Ok(Json(app.call(delete).await?))
}
