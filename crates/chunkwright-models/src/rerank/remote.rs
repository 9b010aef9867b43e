//! Rerankers that are services, named `DIALECT:MODEL`.

use std::ops::Range;
use std::sync::Arc;

use chunkwright_http::Client;
use serde_json::{Value, json};

use super::{RerankError, Reranker};
use crate::embedders::tei;
use crate::service::{self, Home, Malformed, ServiceError, ServiceOptions, array, by_index};

/// A way to ask services for scores.
#[derive(Debug)]
pub struct RerankDialect {
    /// The part of a configured name before the `:`.
    pub name: &'static str,
    /// Who speaks it, in one line.
    pub summary: &'static str,
    /// Its default address.
    pub home: Home,
    /// Whether a model must be named; otherwise the service runs only one.
    pub names_model: bool,
    path: &'static str,
    body: fn(model: &str, query: &str, texts: &[&str]) -> Value,
    /// The scores in an answer, in the order of the texts.
    scores: fn(&Value) -> Result<Vec<&Value>, Malformed>,
}

/// All dialects. The service truncates texts too long for a model: unlike vectors, scores are not stored.
pub const RERANK_DIALECTS: &[RerankDialect] = &[
    RerankDialect {
        name: "cohere",
        summary: "Cohere",
        home: Home { url: "https://api.cohere.com", key_variable: Some("CO_API_KEY") },
        names_model: true,
        path: "/v2/rerank",
        body: |model, query, texts| json!({ "model": model, "query": query, "documents": texts }),
        scores: |answer| by_index(array(answer, "/results", "results")?, "relevance_score"),
    },
    RerankDialect {
        name: "jina",
        summary: "Jina AI, and any server with its `/v1/rerank` (vLLM, llama.cpp, LocalAI, ...)",
        home: Home { url: "https://api.jina.ai/v1", key_variable: Some("JINA_API_KEY") },
        names_model: true,
        path: "/v1/rerank",
        body: |model, query, texts| json!({ "model": model, "query": query, "documents": texts, "return_documents": false }),
        scores: |answer| by_index(array(answer, "/results", "results")?, "relevance_score"),
    },
    RerankDialect {
        name: "voyage",
        summary: "Voyage AI",
        home: Home { url: "https://api.voyageai.com/v1", key_variable: Some("VOYAGE_API_KEY") },
        names_model: true,
        path: "/v1/rerank",
        body: |model, query, texts| json!({ "model": model, "query": query, "documents": texts, "truncation": true }),
        scores: |answer| by_index(array(answer, "/data", "data")?, "relevance_score"),
    },
    RerankDialect {
        name: "tei",
        summary: "Text Embeddings Inference (the server names its model)",
        home: tei::DIALECT.home,
        names_model: false,
        path: "/rerank",
        body: |_, query, texts| json!({ "query": query, "texts": texts, "truncate": true }),
        scores: |answer| by_index(array(answer, "", "scores")?, "score"),
    },
];

/// Options of a remote reranker.
#[derive(Clone, Debug)]
pub struct RerankOptions {
    /// Its service.
    pub service: ServiceOptions,
    /// Most texts of one request.
    pub batch_texts: usize,
    /// Most requests at a time.
    pub concurrency: usize,
}

impl Default for RerankOptions {
    fn default() -> Self {
        Self { service: ServiceOptions::default(), batch_texts: 32, concurrency: 4 }
    }
}

impl RerankDialect {
    /// The form of its models' names: `cohere:MODEL`.
    pub fn form(&self) -> String {
        format!("{}:{}", self.name, if self.names_model { "MODEL" } else { "" })
    }
}

/// The reranker that `spec` names (`cohere:MODEL`, `tei:`). A service that runs one model is asked for its name.
///
/// # Errors
///
/// If there is no such dialect, the address or key is invalid, or the service does not report its model.
pub fn remote_reranker(spec: &str, mut options: RerankOptions) -> Result<Arc<dyn Reranker>, ServiceError> {
    let (dialect, model) = dialect(spec)?;
    let client = options.service.client(dialect.home)?;
    let mut model = model.to_owned();
    if !dialect.names_model {
        let about = tei::about(&client)?;
        model = about.model.unwrap_or(model);
        options.batch_texts = options.batch_texts.min(about.max_texts.unwrap_or(usize::MAX));
    }
    let name = format!("{}:{model}", dialect.name);
    Ok(Arc::new(Remote { dialect, name, model, client, options }))
}

/// Whether `spec` names a service rather than a model on this machine.
pub fn is_remote_reranker(spec: &str) -> bool {
    dialect(spec).is_ok()
}

fn dialect(spec: &str) -> Result<(&'static RerankDialect, &str), ServiceError> {
    let found = service::parts(spec).and_then(|(name, model)| {
        let dialect = RERANK_DIALECTS.iter().find(|dialect| dialect.name == name)?;
        (!dialect.names_model || !model.is_empty()).then_some((dialect, model))
    });
    found.ok_or_else(|| service::unknown(spec, RERANK_DIALECTS.iter().map(RerankDialect::form)))
}

struct Remote {
    dialect: &'static RerankDialect,
    name: String,
    model: String,
    client: Client,
    options: RerankOptions,
}

impl Remote {
    /// The scores of the texts in `range`; halves it while the service refuses its size.
    fn batch(&self, query: &str, texts: &[&str], range: Range<usize>) -> Result<Vec<f32>, ServiceError> {
        let asked = &texts[range.clone()];
        let body = (self.dialect.body)(&self.model, query, asked);
        let answer = match self.client.post(self.dialect.path, &body) {
            Ok(answer) => answer,
            Err(error) if error.is_size() && range.len() > 1 => {
                let middle = range.start + range.len() / 2;
                let mut scores = self.batch(query, texts, range.start..middle)?;
                scores.extend(self.batch(query, texts, middle..range.end)?);
                return Ok(scores);
            }
            Err(error) => return Err(error.into()),
        };
        service::read(&self.client, &self.name, &answer, |answer| {
            let scores = service::counted((self.dialect.scores)(answer)?, asked.len())?;
            scores.into_iter().map(service::number).collect()
        })
    }
}

impl Reranker for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let size = self.options.batch_texts.max(1);
        let scores = service::in_parallel(texts.len().div_ceil(size), self.options.concurrency, |batch| {
            self.batch(query, texts, batch * size..texts.len().min((batch + 1) * size))
        });
        Ok(scores?.into_iter().flatten().collect())
    }
}
