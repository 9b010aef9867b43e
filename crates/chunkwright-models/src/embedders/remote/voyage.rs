//! Voyage AI: requests with roles, answers as those of `openai`.

use serde_json::{Value, json};

use super::{Dialect, Request, Role};
use crate::service::{Home, array, by_index};

pub(super) const DIALECT: Dialect = Dialect {
    name: "voyage",
    summary: "Voyage AI",
    home: Home { url: "https://api.voyageai.com/v1", key_variable: Some("VOYAGE_API_KEY") },
    names_model: true,
    path: "/v1/embeddings",
    body,
    vectors: |answer| by_index(array(answer, "/data", "data")?, "embedding"),
    about: None,
};

fn body(request: &Request<'_>) -> Value {
    let input_type = match request.role {
        Role::Query => "query",
        Role::Passage => "document",
    };
    let mut body = json!({
        "model": request.model,
        "input": request.texts,
        "input_type": input_type,
        "truncation": request.truncate,
    });
    if let Some(dimension) = request.dimension {
        body["output_dimension"] = dimension.into();
    }
    body
}
