//! Resources: the indexed documents, their chunks and lines.
//!
//! Each document is a resource, `chunk://COLLECTION/DOC_ID`; a template gives its chunks and lines. A cursor of the
//! list is the URI of the last document on the page before, so that it needs no state and survives a restart.

use chunkwright_engine::DocumentInfo;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::answer::UNTRUSTED;
use super::scope::CallError;
use super::tools::fetch;
use super::uri::Uri;
use super::{McpServer, protocol_error};

/// Documents per page.
const PAGE: usize = 100;

/// The URI template of resources.
pub(super) const TEMPLATE: &str = "chunk://{collection}/{+reference}";

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new(TEMPLATE, "source").with_title("A document, a chunk, or lines").with_description(
        "The exact source of a document, of a chunk by its id, or of lines: chunk://COLLECTION/guide.md#L10-L80",
    );
    vec![template]
}

/// A page of all documents of all collections, in order.
pub(super) fn list(server: &McpServer, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = match cursor {
        None => None,
        Some(cursor) => Some(cursor.parse::<Uri>().map_err(|()| {
            ErrorData::invalid_params("unknown cursor: expected `nextCursor` of an earlier answer", None)
        })?),
    };
    let names = server.engine().collection_names().map_err(|error| protocol_error(server, &error))?;
    let mut found: Vec<(Uri, DocumentInfo)> = Vec::new();
    for name in names {
        if after.as_ref().is_some_and(|after| name < after.collection) {
            continue;
        }
        let behind = after.as_ref().filter(|after| after.collection == name);
        let behind = behind.map(|after| after.reference.as_str());
        let room = PAGE + 1 - found.len();
        let documents =
            server.engine().collection(&name).read(|snapshot| snapshot.documents_behind(behind, room));
        // A collection that was deleted meanwhile has no documents.
        let Ok(documents) = documents else { continue };
        found.extend(documents.into_iter().map(|document| (Uri::new(&name, &document.doc_id), document)));
        if found.len() > PAGE {
            break;
        }
    }
    let is_more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| is_more).map(|(uri, _)| uri.to_string());
    let mut page = ListResourcesResult::with_all_items(found.iter().map(resource).collect());
    page.next_cursor = next;
    Ok(page)
}

fn resource((uri, document): &(Uri, DocumentInfo)) -> Resource {
    Resource::new(uri.to_string(), &document.doc_id)
        .with_mime_type(mime_type(&document.format))
        .with_size(document.bytes)
}

/// The media type of a document's text.
fn mime_type(format: &str) -> &'static str {
    match format {
        "markdown" => "text/markdown",
        "html" => "text/html",
        _ => "text/plain",
    }
}

/// Reads a document, a chunk or lines: completely, or a page with the URI of the next one.
pub(super) fn read(server: &McpServer, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let not_found = |message: String| ErrorData::resource_not_found(message, Some(json!({ "uri": uri })));
    let parsed = uri.parse().map_err(|()| not_found(CallError::Uri(uri.to_owned()).to_string()))?;
    let page = fetch::fetch_uri(server, uri, parsed, fetch::Way::default()).map_err(|error| match error {
        CallError::Engine(error) => protocol_error(server, &error),
        error => not_found(error.to_string()),
    })?;
    let counter = server.engine().counter().map_err(|error| protocol_error(server, &error))?;
    let mime_type = mime_type(page.format());
    let (text, next) = page.into_page(server.options().max_tokens, &*counter);
    let mut meta = MetaObject::new();
    meta.insert("untrusted".into(), json!(UNTRUSTED));
    if let Some(next) = next {
        meta.insert("next".into(), json!(next));
    }
    let contents = ResourceContents::text(text, uri).with_mime_type(mime_type).with_meta(meta);
    Ok(ReadResourceResult::new(vec![contents]))
}
