//! vLLM: sparse vectors of BGE-M3, its lexical weights. (Its dense vectors are those of any server that speaks
//! `OpenAI`'s interface.)
//!
//! `/pooling` returns a weight for each token of a text but not the tokens; `/tokenize`, one text at a time, returns
//! those. Both leave out the tokens that are added before and after a text. As the model's authors define it, a token
//! that occurs more than once has its greatest weight.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::sparse::{Answer, Request, SparseDialect};
use crate::service::{Home, Malformed, array, by_index, counted, number, read};

pub(super) const SPARSE: SparseDialect = SparseDialect {
    name: "vllm",
    summary: "vLLM with BGE-M3 and the task `token_classify`",
    home: Home { url: "http://127.0.0.1:8000", key_variable: None },
    names_model: true,
    identity: None,
    vectors,
};

fn vectors(request: &Request<'_>) -> Answer {
    let Request { client, model, texts, .. } = *request;
    let body = json!({ "model": model, "task": "token_classify", "input": texts });
    let answer = client.post("/pooling", &body)?;
    let weights = read(client, SPARSE.name, &answer, |answer| {
        counted(by_index(array(answer, "/data", "data")?, "data")?, texts.len())
    })?;
    let of_text = |(text, weights): (&String, &Value)| {
        let body = json!({ "model": model, "prompt": text, "add_special_tokens": false });
        let answer = client.post("/tokenize", &body)?;
        read(client, SPARSE.name, &answer, |answer| lexical(array(answer, "/tokens", "tokens")?, weights))
    };
    texts.iter().zip(weights).map(of_text).collect()
}

/// The greatest weight of each token.
fn lexical(tokens: &[Value], weights: &Value) -> Result<Vec<(u32, f32)>, Malformed> {
    let weights = weights.as_array().ok_or(Malformed::Field("data"))?;
    if weights.len() != tokens.len() {
        return Err(Malformed::Weights { tokens: tokens.len(), found: weights.len() });
    }
    let mut greatest: BTreeMap<u32, f32> = BTreeMap::new();
    for (token, weight) in tokens.iter().zip(weights) {
        let token = token.as_u64().and_then(|token| u32::try_from(token).ok());
        // A list of one, where the server keeps the shape of what the model gives.
        let weight = number(weight.as_array().and_then(|one| one.first()).unwrap_or(weight))?;
        if weight < 0.0 {
            return Err(Malformed::NegativeWeight);
        }
        let kept = greatest.entry(token.ok_or(Malformed::Field("tokens"))?).or_default();
        *kept = kept.max(weight);
    }
    greatest.retain(|_, weight| *weight > 0.0);
    crate::embedders::sparse::bounded(greatest.into_iter().collect())
}
