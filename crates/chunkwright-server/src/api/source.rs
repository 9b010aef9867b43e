//! What was the source of a document, exactly?

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use chunkwright_engine::FetchRequest;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::documents::OfDocument;
use crate::answer::{File, Has};
use crate::app::Shared;
use crate::extract::{Path, Query};
use crate::openapi::{Method, Operation, Output, Resources, add_answer};
use crate::problem::Problem;

pub(super) fn add(resources: Resources) -> Resources {
    let source = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/documents/{doc_id}/source",
        "get_source",
        "Answers the bytes of a document's file, or its text as it was decoded.",
    );
    resources.add("documents", &source, source_of)
}

/// What of the source is answered.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Wanted {
    /// `raw`, the bytes of the file, or `text`, what was decoded or converted.
    form: Form,
    /// Lines, 1-based and inclusive, such as `10-80` or `7`.
    #[schemars(regex(pattern = "^[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?$"))]
    lines: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Form {
    #[default]
    Raw,
    Text,
}

/// Bytes of any type.
struct Source(Response);

impl IntoResponse for Source {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Output for Source {
    fn describe(operation: &mut Map<String, Value>, _: &mut SchemaGenerator) {
        let content = json!({ "*/*": { "schema": { "type": "string", "format": "binary" } } });
        add_answer(operation, 200, "The file, as an attachment.", Some(content));
        add_answer(operation, 304, "The client has it already.", None);
    }
}

async fn source_of(
    State(app): State<Shared>,
    Path(OfDocument { collection, doc_id }): Path<OfDocument>,
    Query(Wanted { form, lines }): Query<Wanted>,
    has: Has,
) -> Result<Source, Problem> {
    let reference = match &lines {
        None => doc_id.clone(),
        Some(lines) => format!("{doc_id}#{}", range(lines)?),
    };
    let name = doc_id.rsplit('/').next().unwrap_or_default().to_owned();
    let fetched = app.read(collection, move |snapshot| {
        // What is asked for is a document, whatever its id looks like.
        snapshot.document(&doc_id)?;
        snapshot.fetch(&FetchRequest::new(&reference))
    });
    let fetched = fetched.await?;
    let (media_type, bytes) = match form {
        Form::Raw => (fetched.media_type(), fetched.bytes()?.to_vec()),
        Form::Text => ("text/plain; charset=utf-8".to_owned(), fetched.text.into_bytes()),
    };
    Ok(Source(File { name, media_type, bytes }.unless(&has)))
}

/// `L10-L80` of `10-80`.
fn range(lines: &str) -> Result<String, Problem> {
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let numbers = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    match numbers {
        Some((first, last)) if (1..=last).contains(&first) => Ok(format!("L{first}-L{last}")),
        _ => Err(Problem::invalid(format!("`lines` is `{lines}`; it must be a range such as `10-80`"))),
    }
}
