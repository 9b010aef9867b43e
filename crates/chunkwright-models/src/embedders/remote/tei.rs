//! Text Embeddings Inference: a server of one model, which says what it is.

use serde_json::{Value, json};

use super::{About, Dialect, Request};
use crate::http::Client;
use crate::service::{Home, Malformed, ServiceError, array, counted, number, read};

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

/// Sparse vectors: weights of tokens above zero, by ascending token.
pub(super) fn sparse(
    client: &Client,
    texts: &[String],
    truncate: bool,
) -> Result<Vec<Vec<(u32, f32)>>, ServiceError> {
    let answer = client.post("/embed_sparse", &json!({ "inputs": texts, "truncate": truncate }))?;
    read(client, DIALECT.name, &answer, |answer| {
        let vectors = counted(array(answer, "", "vectors")?.iter().collect(), texts.len())?;
        vectors.into_iter().map(weights).collect()
    })
}

fn weights(vector: &Value) -> Result<Vec<(u32, f32)>, Malformed> {
    let mut weights = Vec::new();
    for entry in vector.as_array().ok_or(Malformed::Field("vector"))? {
        let token = entry.get("index").and_then(Value::as_u64).and_then(|token| u32::try_from(token).ok());
        let weight = number(entry.get("value").ok_or(Malformed::Field("value"))?)?;
        weights.push((token.ok_or(Malformed::Field("index"))?, weight));
    }
    weights.retain(|(_, weight)| *weight > 0.0);
    weights.sort_by_key(|(token, _)| *token);
    if weights.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Malformed::Order);
    }
    Ok(weights)
}
