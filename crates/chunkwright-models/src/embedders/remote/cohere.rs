//! Cohere, version 2 of its API.

use serde_json::{Value, json};

use super::{Dialect, Request, Role};
use crate::service::{Home, array};

pub(super) const DIALECT: Dialect = Dialect {
    name: "cohere",
    summary: "Cohere",
    home: Home { url: "https://api.cohere.com", key_variable: Some("CO_API_KEY") },
    names_model: true,
    path: "/v2/embed",
    body,
    vectors: |answer| Ok(array(answer, "/embeddings/float", "embeddings.float")?.iter().collect()),
    about: None,
};

fn body(request: &Request<'_>) -> Value {
    let input_type = match request.role {
        Role::Query => "search_query",
        Role::Passage => "search_document",
    };
    let mut body = json!({
        "model": request.model,
        "texts": request.texts,
        "input_type": input_type,
        "embedding_types": ["float"],
        "truncate": if request.truncate { "END" } else { "NONE" },
    });
    if let Some(dimension) = request.dimension {
        body["output_dimension"] = dimension.into();
    }
    body
}
