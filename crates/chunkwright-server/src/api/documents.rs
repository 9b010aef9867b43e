//! Stores, lists, describes and removes the documents of a collection.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{
    DeleteRequest, Deleted, DeletedDocument, DocumentInfo, DocumentPage, Engine, Error, Filter, Glob,
    ListDocumentsRequest, OutlineAnswer, PutAnswer, PutRequest, RelatedAnswer, Snapshot, SymbolPlaces,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::upload::Upload;
use super::{Answer, OfCollection, Page};
use crate::answer::{Created, Has, Tagged, encoded};
use crate::app::Shared;
use crate::extract::{Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

const ALL: &str = "/api/v1/collections/{collection}/documents";
const ONE: &str = "/api/v1/collections/{collection}/documents/{doc_id}";

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(Method::Get, ALL, "list_documents", "Lists documents, by id.");
    let put = Operation::write(
        Method::Post,
        ALL,
        "put_documents",
        "Stores documents, as JSON or as files of a form; answers when they are stored durably.",
    );
    // A pattern may match everything.
    let delete_some = Operation::admin(
        Method::Delete,
        ALL,
        "delete_documents",
        "Removes the documents whose id matches a pattern, from every generation.",
    );
    let of_one = Operation::read(Method::Get, ONE, "get_document", "Answers what is known of a document.");
    let delete =
        Operation::write(Method::Delete, ONE, "delete_document", "Removes a document from every generation.");
    let outline = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/documents/{doc_id}/outline",
        "get_outline",
        "Lists the sections of a document, the whole document first.",
    );
    let related = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/documents/{doc_id}/related",
        "get_related",
        "Lists the documents beside a document, and those about the same.",
    );
    let references = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/references/{symbol}",
        "get_references",
        "Lists the lines that define a symbol, what is inside it, and what uses it.",
    );
    resources
        .add("documents", &references, places)
        .add("documents", &of_all, list)
        .add("documents", &put, store)
        .add("documents", &delete_some, remove_some)
        .add("documents", &of_one, get)
        .add("documents", &delete, remove)
        .add("documents", &outline, sections)
        .add("documents", &related, beside)
}

/// The document of a path.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OfDocument {
    /// Name of the collection; `NAME@N` is one generation of it.
    pub(super) collection: String,
    /// Id of the document, as one segment of the path: `/` is `%2F`.
    pub(super) doc_id: String,
}

/// The symbol of a path.
#[derive(Deserialize, JsonSchema)]
struct OfSymbol {
    /// Name of the collection; `NAME@N` is one generation of it.
    collection: String,
    /// Name of the symbol, with those around it as far as wanted: `route`, `Router.route`.
    symbol: String,
}

/// Which documents are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Listed {
    /// Only documents whose id matches this pattern.
    source: Option<Glob>,
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    cursor: Option<String>,
    /// Number of documents to pass over before the page, to begin in the middle of a long list. To read a whole list, continue
    /// by cursors.
    skip: usize,
}

/// Which documents are removed.
#[derive(Deserialize, JsonSchema)]
struct Removed {
    /// A pattern of ids; `**` for all documents.
    source: Glob,
    /// Remove nothing, and answer what would be removed.
    #[serde(default)]
    dry_run: bool,
}

/// Documents that were removed.
#[derive(Serialize, JsonSchema)]
struct DeletedDocuments {
    /// The documents, one entry for each generation that had them.
    documents: Vec<DeletedDocument>,
}

/// How many documents are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Beside {
    /// Most documents, from 1 to 100; by default 10.
    #[schemars(range(min = 1, max = 100))]
    top_k: Option<usize>,
}

async fn list(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(Listed { source, limit, cursor, skip }): Query<Listed>,
    has: Has,
) -> Result<Tagged<DocumentPage>, Problem> {
    let page = Page { limit, cursor };
    let request = ListDocumentsRequest { source, after: page.after(), skip, limit: page.limit()? };
    has.tagged(
        &app.read(collection, move |snapshot| {
            let page = snapshot.list_documents(&request)?;
            let documents = page.documents.into_iter().map(|info| snapshot.shown(info)).collect();
            Ok(DocumentPage { documents, ..page })
        })
        .await?,
    )
}

async fn store(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Upload(request): Upload<PutRequest>,
) -> Result<Created<PutAnswer>, Problem> {
    let body = app.call(move |engine| engine.collection(collection).put_documents(request)).await?;
    let all = format!("/api/v1/collections/{}/documents", encoded(&body.collection));
    let location = match body.documents.as_slice() {
        [one] => format!("{all}/{}", encoded(&one.doc_id)),
        _ => all,
    };
    Ok(Created { location, body })
}

async fn remove_some(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(Removed { source, dry_run }): Query<Removed>,
) -> Answer<DeletedDocuments> {
    let request = DeleteRequest { what: Deleted::Source(source), dry_run };
    let documents = app.call(move |engine| engine.collection(collection).delete(&request)).await?;
    Ok(Json(DeletedDocuments { documents }))
}

async fn get(
    State(app): State<Shared>,
    Path(OfDocument { collection, doc_id }): Path<OfDocument>,
    has: Has,
) -> Result<Tagged<DocumentInfo>, Problem> {
    has.tagged(&app.read(collection, move |snapshot| Ok(snapshot.shown(snapshot.document(&doc_id)?))).await?)
}

async fn remove(
    State(app): State<Shared>,
    Path(OfDocument { collection, doc_id }): Path<OfDocument>,
) -> Answer<DeletedDocuments> {
    let delete = move |engine: &Engine| {
        let collection = engine.collection(collection);
        let what = Deleted::Source(Glob::literal(&doc_id));
        let documents = collection.delete(&DeleteRequest { what, dry_run: false })?;
        if documents.is_empty() {
            let collection = collection.name().to_owned();
            return Err(Error::UnknownDocument { doc_id, collection });
        }
        Ok(DeletedDocuments { documents })
    };
    Ok(Json(app.call(delete).await?))
}

async fn sections(
    State(app): State<Shared>,
    Path(OfDocument { collection, doc_id }): Path<OfDocument>,
    has: Has,
) -> Result<Tagged<OutlineAnswer>, Problem> {
    has.tagged(&app.read(collection, move |snapshot| snapshot.outline(&doc_id)).await?)
}

async fn places(
    State(app): State<Shared>,
    Path(OfSymbol { collection, symbol }): Path<OfSymbol>,
    has: Has,
) -> Result<Tagged<SymbolPlaces>, Problem> {
    let find = move |snapshot: &Snapshot| snapshot.references(&symbol, &Filter::default());
    has.tagged(&app.read(collection, find).await?)
}

async fn beside(
    State(app): State<Shared>,
    Path(OfDocument { collection, doc_id }): Path<OfDocument>,
    Query(Beside { top_k }): Query<Beside>,
    has: Has,
) -> Result<Tagged<RelatedAnswer>, Problem> {
    let top_k = top_k.unwrap_or(10);
    if !(1..=100).contains(&top_k) {
        return Err(Problem::invalid(format!("`top_k` is `{top_k}`; it must be from 1 to 100")));
    }
    has.tagged(&app.read(collection, move |snapshot| snapshot.related(&doc_id, top_k)).await?)
}
