//! Ollama's own API, which has an option not to truncate texts silently.

use serde_json::{Value, json};

use super::{Dialect, Request};
use crate::service::{Home, array};

pub(super) const DIALECT: Dialect = Dialect {
    name: "ollama",
    summary: "Ollama",
    home: Home { url: "http://127.0.0.1:11434", key_variable: None },
    names_model: true,
    path: "/api/embed",
    body,
    vectors: |answer| Ok(array(answer, "/embeddings", "embeddings")?.iter().collect()),
    about: None,
};

fn body(request: &Request<'_>) -> Value {
    let mut body = json!({ "model": request.model, "input": request.texts, "truncate": request.truncate });
    if let Some(dimension) = request.dimension {
        body["dimensions"] = dimension.into();
    }
    body
}
