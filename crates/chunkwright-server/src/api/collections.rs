//! Which collections are there?

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{Cursor, DeleteRequest, Deleted, Engine, ListedCollection, paging};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, OfCollection, Page};
use crate::answer::{Has, Tagged};
use crate::app::Shared;
use crate::extract::{Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(
        Method::Get,
        "/api/v1/collections",
        "list_collections",
        "Lists the collections, by name.",
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
    resources.add("collections", &of_all, list).add("collections", &of_one, get).add(
        "collections",
        &delete,
        remove,
    )
}

/// Some collections of the store.
#[derive(Serialize, JsonSchema)]
struct CollectionPage {
    /// The collections, by name.
    collections: Vec<ListedCollection>,
    /// Where the next page begins; none after the last collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Cursor>,
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
    Query(page): Query<Page>,
    has: Has,
) -> Result<Tagged<CollectionPage>, Problem> {
    let (limit, after) = (page.limit()?, page.after());
    let list = move |engine: &Engine| {
        let name = |listed: &ListedCollection| listed.status.generation.collection.clone();
        paging::page(engine.list_collections()?, name, &"collections", after.as_ref(), limit)
    };
    let (collections, next) = app.call(list).await?;
    has.tagged(&CollectionPage { collections, next })
}

async fn get(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    has: Has,
) -> Result<Tagged<ListedCollection>, Problem> {
    has.tagged(&app.call(move |engine| engine.collection(collection).listed()).await?)
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
