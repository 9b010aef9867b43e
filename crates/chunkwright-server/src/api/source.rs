//! Returns the exact source of a document.

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_LENGTH;
use axum::response::{IntoResponse, Response};
use chunkwright_engine::{FetchForm, SourceForm, SourceParts};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task;
use tokio_stream::wrappers::ReceiverStream;

use super::documents::OfDocument;
use crate::answer::{File, Has, tag};
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

/// Bytes of any media type.
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
    if lines.is_none() {
        let form = match form {
            Form::Raw => SourceForm::File,
            Form::Text => SourceForm::Text,
        };
        return whole(app, collection, doc_id, form, name, has).await;
    }
    let fetched = app.read(collection, move |snapshot| {
        // The path names a document, whatever its id looks like.
        snapshot.document(&doc_id)?;
        snapshot.fetch_text(&reference, FetchForm::Source)
    });
    let fetched = fetched.await?;
    let media_type = match form {
        Form::Raw => fetched.media_type(),
        Form::Text => "text/plain; charset=utf-8".to_owned(),
    };
    let bytes = match form {
        Form::Raw => fetched.into_bytes()?,
        Form::Text => fetched.text.into_bytes(),
    };
    let tag = tag(&bytes);
    Ok(Source(File { name, media_type, tag }.unless(&has, || bytes.into())))
}

/// Streams the whole source, part by part: an answer takes only the memory of a few parts, however large it is and
/// however slowly it is read. If the client already has it, nothing is read.
async fn whole(
    app: Shared,
    collection: String,
    doc_id: String,
    form: SourceForm,
    name: String,
    has: Has,
) -> Result<Source, Problem> {
    let source = app.read(collection, move |snapshot| snapshot.source(&doc_id, form)).await?;
    let file = File { name, media_type: source.media_type(), tag: format!("\"{}\"", source.tag()) };
    if file.is_had(&has) {
        return Ok(Source(file.unless(&has, Body::empty)));
    }
    // An error in the first part is reported before the answer begins.
    let mut parts = source.parts();
    let read = app.call(move |_| parts.next_part().map(|part| (parts, part.unwrap_or_default()))).await?;
    let (parts, first) = read;
    let length = parts.length().unwrap_or_default();
    let body = if first.len() as u64 == length { first.into() } else { in_parts(parts, first) };
    let mut response = file.unless(&has, || body);
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    Ok(Source(response))
}

/// A body that is read at the client's pace. If a part cannot be read, the body ends before its announced length.
fn in_parts(mut parts: SourceParts, first: Vec<u8>) -> Body {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut part = first;
        loop {
            if sender.send(Ok(Bytes::from(part))).await.is_err() {
                return;
            }
            let read = task::spawn_blocking(move || {
                let next = parts.next_part();
                (parts, next)
            });
            match read.await {
                Ok((rest, Ok(Some(next)))) => (parts, part) = (rest, next),
                Ok((_, Ok(None))) => return,
                Ok((_, Err(error))) => {
                    tracing::warn!(%error, "a source broke off");
                    let _ = sender.send(Err(io::Error::other(error))).await;
                    return;
                }
                Err(error) => {
                    let _ = sender.send(Err(io::Error::other(error))).await;
                    return;
                }
            }
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

/// Converts `10-80` to `L10-L80`.
fn range(lines: &str) -> Result<String, Problem> {
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let numbers = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    match numbers {
        Some((first, last)) if (1..=last).contains(&first) => Ok(format!("L{first}-L{last}")),
        _ => Err(Problem::invalid(format!("`lines` is `{lines}`; it must be a range such as `10-80`"))),
    }
}
