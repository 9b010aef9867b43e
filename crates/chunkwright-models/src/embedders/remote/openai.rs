//! The embeddings API of `OpenAI`, which most model servers speak as well.

use serde_json::{Value, json};

use super::{Dialect, Request};
use crate::service::{Home, array, by_index};

pub(super) const DIALECT: Dialect = Dialect {
    name: "openai",
    summary: "OpenAI, and any server with `/v1/embeddings` (vLLM, llama.cpp, LM Studio, LocalAI, ...)",
    home: Home { url: "https://api.openai.com/v1", key_variable: Some("OPENAI_API_KEY") },
    names_model: true,
    path: "/v1/embeddings",
    body,
    vectors: |answer| by_index(array(answer, "/data", "data")?, "embedding"),
    about: None,
};

fn body(request: &Request<'_>) -> Value {
    let mut body = json!({ "model": request.model, "input": request.texts, "encoding_format": "float" });
    if let Some(dimension) = request.dimension {
        body["dimensions"] = dimension.into();
    }
    body
}
