//! Text Embeddings Inference: a server of one model, which reports what it serves.

use chunkwright_http::Client;
use serde_json::{Value, json};

use super::super::sparse::sparse_vector;
use super::sparse::{self, SparseDialect};
use super::{About, Dialect, Request};
use crate::service::{Home, Malformed, ServiceError, array, counted, read};

pub(crate) const DIALECT: Dialect = Dialect {
    name: "tei",
    summary: "Text Embeddings Inference (the server names its model)",
    home: Home { url: "http://127.0.0.1:8080", key_variable: None },
    names_model: false,
    path: "/embed",
    body,
    vectors: |answer| Ok(array(answer, "", "vectors")?.iter().collect()),
    about: Some(about),
};

/// Tokens that the server adds to each text and counts: one before and one after it.
const SPECIAL_TOKENS: usize = 2;

fn body(request: &Request<'_>) -> Value {
    json!({ "inputs": request.texts, "normalize": true, "truncate": request.truncate })
}

pub(crate) fn about(client: &Client) -> Result<About, ServiceError> {
    let answer = client.get("/info")?;
    let model = read(client, DIALECT.name, &answer, |answer| {
        answer.get("model_id").and_then(Value::as_str).ok_or(Malformed::Field("model_id"))
    })?;
    let count = |name: &str| answer.get(name).and_then(Value::as_u64).map(|count| count as usize);
    Ok(About {
        model: Some(model.to_owned()),
        revision: answer.get("model_sha").and_then(Value::as_str).unwrap_or_default().to_owned(),
        max_tokens: count("max_input_length").map(|max| max.saturating_sub(SPECIAL_TOKENS)),
        max_texts: count("max_client_batch_size"),
    })
}

/// The dialect of a server that runs a sparse model (SPLADE).
pub(super) const SPARSE: SparseDialect = SparseDialect {
    name: DIALECT.name,
    summary: "Text Embeddings Inference with a sparse model (the server names it)",
    home: DIALECT.home,
    names_model: false,
    identity: Some(|client| {
        let about = about(client)?;
        Ok([about.model.unwrap_or_default(), about.revision])
    }),
    vectors: sparse,
};

fn sparse(request: &sparse::Request<'_>) -> sparse::Answer {
    let sparse::Request { client, texts, truncate, .. } = *request;
    let answer = client.post("/embed_sparse", &json!({ "inputs": texts, "truncate": truncate }))?;
    read(client, DIALECT.name, &answer, |answer| {
        let vectors = counted(array(answer, "", "vectors")?.iter().collect(), texts.len())?;
        vectors.into_iter().map(|vector| sparse_vector(vector, "index", "value")).collect()
    })
}
