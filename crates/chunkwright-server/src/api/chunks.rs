//! Lists chunks, and changes them by hand.

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{
    AmendRequest, BoundaryAnswer, BoundaryChange, BoundaryRequest, ChunkDetail, ChunkPage, Cursor, Direction,
    Engine, Field, Filter, ListRequest, ListedOverlay, Neighbours, Overlay, OverlaysRequest, SortKey,
    Visibility, paging,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, OfCollection, Page};
use crate::answer::{Expects, Has, Tagged};
use crate::app::Shared;
use crate::extract::{Body, Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

const ONE: &str = "/api/v1/collections/{collection}/chunks/{chunk}";

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/chunks",
        "list_chunks",
        "Lists the chunks that pass a filter, in an order.",
    );
    let of_one = Operation::read(Method::Get, ONE, "get_chunk", "Answers a chunk.");
    let change = Operation::write(
        Method::Patch,
        ONE,
        "change_chunk",
        "Changes by hand how a chunk is found: hides or shows it, gives it another text, keywords, pinned queries.",
    );
    let neighbours = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/chunks/{chunk}/neighbours",
        "get_neighbours",
        "Answers a chunk and those beside it.",
    );
    let many = Operation::write(
        Method::Post,
        "/api/v1/collections/{collection}/chunks/amend",
        "amend_chunks",
        "Changes by hand how chunks are found: those named, and those that pass a filter; all or none.",
    );
    let split = Operation::write(
        Method::Post,
        "/api/v1/collections/{collection}/chunks/{chunk}/split",
        "split_chunk",
        "Divides a chunk by hand; whatever is indexed later is cut with the boundary.",
    );
    let merge = Operation::write(
        Method::Post,
        "/api/v1/collections/{collection}/chunks/{chunk}/merge",
        "merge_chunks",
        "Joins a chunk by hand to the one beside it, within the limit; whatever is indexed later is cut so.",
    );
    let overlays = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/overlays",
        "list_overlays",
        "Lists what was changed by hand.",
    );
    resources
        .add("chunks", &of_all, list)
        .add("chunks", &of_one, get)
        .add("chunks", &change, amend_one)
        .add("chunks", &neighbours, beside)
        .add("chunks", &many, amend_many)
        .add("chunks", &split, split_one)
        .add("chunks", &merge, merge_one)
        .add("chunks", &overlays, changed)
}

/// The chunk of a path.
#[derive(Deserialize, JsonSchema)]
struct OfChunk {
    /// Name of the collection; `NAME@N` is one generation of it.
    collection: String,
    /// Id of the chunk, or `DOC_ID#INDEX` as one segment of the path: `/` is `%2F`, `#` is `%23`.
    chunk: String,
}

/// Which chunks are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Listed {
    /// Only chunks of this document, whatever characters its id has.
    doc_id: Option<String>,
    /// Only chunks that pass: an expression such as `language=rust and token_count<200`.
    #[schemars(extend("format" = "filter"))]
    filter: String,
    /// Whether searches may find them.
    visibility: Visibility,
    /// What they are ordered by.
    sort: SortKey,
    /// From which end.
    direction: Direction,
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    cursor: Option<String>,
    /// Number of chunks to pass over before the page, to begin in the middle of a long list. To read a whole list, continue
    /// by cursors.
    skip: usize,
}

/// A change by hand of the chunk of a path.
#[derive(Deserialize)]
struct ChunkChange(AmendRequest);

impl JsonSchema for ChunkChange {
    fn schema_name() -> Cow<'static, str> {
        "ChunkChange".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let mut schema = AmendRequest::json_schema(schemas);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            // The path names the chunk, and a header the version.
            properties.retain(|name, _| !["chunks", "expected", "filter"].contains(&name.as_str()));
        }
        schema
    }
}

/// Where a chunk is divided: exactly one of the two.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Divided {
    /// The line of the document that another chunk begins with, 1-based.
    #[serde(default)]
    line: Option<u32>,
    /// The byte of the document that another chunk begins at.
    #[serde(default)]
    byte: Option<u32>,
}

/// What a chunk is joined to.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Joined {
    /// On which side of it.
    with: Side,
}

/// A side of a chunk.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Side {
    /// The chunk after it.
    #[default]
    Next,
    /// The chunk before it.
    Previous,
}

/// How much around a chunk is answered.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Around {
    /// Most chunks on each side, from 1 to 100; by default 1.
    #[schemars(range(min = 1, max = 100))]
    window: Option<usize>,
}

/// Chunks that were changed by hand.
#[derive(Serialize, JsonSchema)]
struct Amended {
    /// Number of chunks that the change was made on.
    changed: usize,
    /// What is changed of each by hand now, in order.
    overlays: Vec<Overlay>,
}

/// Which overlays are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ListedOverlays {
    /// Only those that need a review.
    review: bool,
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    cursor: Option<String>,
}

/// Some of what was changed by hand.
#[derive(Serialize, JsonSchema)]
struct OverlayPage {
    /// The overlays, by chunk id.
    overlays: Vec<ListedOverlay>,
    /// Number of all overlays of the collection.
    total: usize,
    /// Where the next page begins; none after the last overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Cursor>,
}

/// Parses the filter of a query; an empty text gives an empty filter.
pub(super) fn filter(text: &str) -> Result<Filter, Problem> {
    if text.trim().is_empty() {
        return Ok(Filter::default());
    }
    Filter::parse(text).map_err(|error| Problem::from(chunkwright_engine::Error::from(error)))
}

async fn list(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(asked): Query<Listed>,
    has: Has,
) -> Result<Tagged<ChunkPage>, Problem> {
    let Listed { doc_id, filter: text, visibility, sort, direction, limit, cursor, skip } = asked;
    let page = Page { limit, cursor };
    let of_document = doc_id.map(|doc_id| Filter::is(Field::DOC_ID, doc_id)).unwrap_or_default();
    let (after, limit, filter) = (page.after(), page.limit()?, of_document.and(filter(&text)?));
    let request = ListRequest { filter, visibility, sort, direction, after, skip, limit };
    has.tagged(&app.read(collection, move |snapshot| snapshot.chunks(&request)).await?)
}

async fn get(
    State(app): State<Shared>,
    Path(OfChunk { collection, chunk }): Path<OfChunk>,
    has: Has,
) -> Result<Tagged<ChunkDetail>, Problem> {
    has.tagged(&app.read(collection, move |snapshot| snapshot.chunk(&chunk)).await?)
}

async fn amend_one(
    State(app): State<Shared>,
    Path(OfChunk { collection, chunk }): Path<OfChunk>,
    expects: Expects,
    Body(ChunkChange(change)): Body<ChunkChange>,
) -> Result<Tagged<ChunkDetail>, Problem> {
    let request = AmendRequest { chunks: vec![chunk.clone()], expected: expects.versions(), ..change };
    let amend = move |engine: &Engine| {
        let collection = engine.collection(collection);
        collection.amend(&request)?;
        collection.read(|snapshot| snapshot.chunk(&chunk))
    };
    Has::default().tagged(&app.call(amend).await?)
}

async fn split_one(
    State(app): State<Shared>,
    Path(OfChunk { collection, chunk }): Path<OfChunk>,
    Body(Divided { line, byte }): Body<Divided>,
) -> Answer<BoundaryAnswer> {
    let change = match (line, byte) {
        (Some(line), None) => BoundaryChange::SplitAtLine(line),
        (None, Some(byte)) => BoundaryChange::SplitAtByte(byte),
        _ => return Err(Problem::invalid("give `line` or `byte`, and not both")),
    };
    set_boundary(&app, collection, BoundaryRequest { chunk, change }).await
}

async fn merge_one(
    State(app): State<Shared>,
    Path(OfChunk { collection, chunk }): Path<OfChunk>,
    Body(Joined { with }): Body<Joined>,
) -> Answer<BoundaryAnswer> {
    let change = match with {
        Side::Next => BoundaryChange::MergeWithNext,
        Side::Previous => BoundaryChange::MergeWithPrevious,
    };
    set_boundary(&app, collection, BoundaryRequest { chunk, change }).await
}

async fn set_boundary(app: &Shared, collection: String, request: BoundaryRequest) -> Answer<BoundaryAnswer> {
    Ok(Json(app.call(move |engine| engine.collection(collection).set_boundary(&request)).await?))
}

async fn beside(
    State(app): State<Shared>,
    Path(OfChunk { collection, chunk }): Path<OfChunk>,
    Query(Around { window }): Query<Around>,
    has: Has,
) -> Result<Tagged<Neighbours>, Problem> {
    let window = window.unwrap_or(1);
    if !(1..=100).contains(&window) {
        return Err(Problem::invalid(format!("`window` is `{window}`; it must be from 1 to 100")));
    }
    has.tagged(&app.read(collection, move |snapshot| snapshot.neighbours(&chunk, window)).await?)
}

async fn amend_many(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(request): Body<AmendRequest>,
) -> Answer<Amended> {
    let overlays = app.call(move |engine| engine.collection(collection).amend(&request)).await?;
    Ok(Json(Amended { changed: overlays.len(), overlays }))
}

async fn changed(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(ListedOverlays { review, limit, cursor }): Query<ListedOverlays>,
    has: Has,
) -> Result<Tagged<OverlayPage>, Problem> {
    let page = Page { limit, cursor };
    let (after, limit) = (page.after(), page.limit()?);
    let read = move |snapshot: &chunkwright_engine::Snapshot| {
        let answer = snapshot.overlays(OverlaysRequest { review })?;
        let list = ("overlays", &snapshot.generation().collection, review);
        let key = |listed: &ListedOverlay| listed.overlay.chunk_id.clone();
        let (overlays, next) = paging::page(answer.overlays, key, &list, after.as_ref(), limit)?;
        Ok(OverlayPage { overlays, total: answer.total, next })
    };
    has.tagged(&app.read(collection, read).await?)
}
