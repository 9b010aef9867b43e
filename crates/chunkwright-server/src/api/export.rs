//! Streams the records of a collection.

use std::{io, mem};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use chunkwright_engine::{Error, ExportRequest};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task;
use tokio_stream::wrappers::ReceiverStream;

use super::OfCollection;
use crate::answer::attachment;
use crate::app::Shared;
use crate::extract::Path;
use crate::openapi::{Method, Operation, Output, Resources, add_answer};
use crate::problem::Problem;

/// Number of bytes that are sent at once.
const PART: usize = 1 << 16;

pub(super) fn add(resources: Resources) -> Resources {
    let export = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/export",
        "export_collection",
        "Answers the records of a collection with its documents and changes by hand, as `import` takes them.",
    );
    resources.add("collections", &export, exported)
}

/// Lines of JSON.
struct Lines(Response);

impl IntoResponse for Lines {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Output for Lines {
    fn describe(operation: &mut Map<String, Value>, _: &mut SchemaGenerator) {
        let content = json!({ "application/x-ndjson": { "schema": { "type": "string" } } });
        add_answer(operation, 200, "A record a line, as an attachment.", Some(content));
    }
}

async fn exported(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
) -> Result<Lines, Problem> {
    let snapshot = app.call(move |engine| engine.collection(collection).snapshot()).await?;
    let name = snapshot.generation().collection.clone();
    let (sender, receiver) = mpsc::channel(1);
    // A client that goes away ends the export at its next part.
    task::spawn_blocking(move || {
        let mut part = Vec::with_capacity(PART + PART / 4);
        let written = snapshot.export::<Error>(ExportRequest::default(), &mut |row| {
            serde_json::to_writer(&mut part, &row)?;
            part.push(b'\n');
            if part.len() < PART {
                return Ok(());
            }
            let full = Bytes::from(mem::take(&mut part));
            sender.blocking_send(Ok(full)).map_err(|_| Error::Cancelled)
        });
        let last = match written {
            Ok(_) => Ok(Bytes::from(part)),
            Err(error) => {
                tracing::warn!(%error, "an export broke off");
                Err(io::Error::other(error))
            }
        };
        let _ = sender.blocking_send(last);
    });
    let file = attachment(&format!("{name}.jsonl"));
    let headers = [(CONTENT_TYPE, "application/x-ndjson".to_owned()), (CONTENT_DISPOSITION, file)];
    Ok(Lines((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response()))
}
