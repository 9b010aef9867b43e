//! Previews the chunks of a document without storing anything.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{PreviewAnswer, PreviewRequest};

use super::Answer;
use super::upload::Upload;
use crate::app::Shared;
use crate::openapi::{Method, Operation, Resources};

pub(super) fn add(resources: Resources) -> Resources {
    let preview = Operation::read(
        Method::Post,
        "/api/v1/preview",
        "preview",
        "Cuts a text or a file by any settings, with reasons and statistics, and stores nothing.",
    );
    resources.add("cutting", &preview, cut)
}

async fn cut(State(app): State<Shared>, Upload(request): Upload<PreviewRequest>) -> Answer<PreviewAnswer> {
    Ok(Json(app.ask(move |engine| engine.preview(request)).await?))
}
