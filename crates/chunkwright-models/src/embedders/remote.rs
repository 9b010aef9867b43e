//! Embedders that are services, named `DIALECT:MODEL`.
//!
//! A service may be down, return vectors for another number of texts, or vectors that cannot be compared; none of that
//! may reach a store. So each answer is checked before any of it is used, and a vector's name says all that it depends
//! on (dialect, model, dimension, prefixes).
//!
//! A service may truncate a text only if we can tell that it did, by a counter that counts as its model does. Otherwise
//! it has to reject the batch, which is bisected to find the text at fault.

mod cohere;
mod ollama;
mod openai;
mod sparse;
pub(crate) mod tei;
mod vllm;
mod voyage;

use std::ops::Range;
use std::sync::Arc;

use chunkwright::TokenCounter;
use chunkwright_http::Client;
use serde_json::Value;

use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::counters::{Estimate, OpenAi};
use crate::service::{self, Home, Malformed, ServiceError, ServiceOptions};
use crate::vectors::normalized;
use sparse::Sparse;
pub use sparse::{SPARSE_DIALECTS, SparseDialect, SparseOptions};

/// A way to ask services for vectors.
#[derive(Debug)]
pub struct Dialect {
    /// The part of a configured name before the `:`.
    pub name: &'static str,
    /// Who speaks it, in one line.
    pub summary: &'static str,
    /// Its default address.
    pub home: Home,
    /// Whether a model must be named; otherwise the service runs only one.
    pub names_model: bool,
    path: &'static str,
    body: fn(&Request<'_>) -> Value,
    /// The vectors in an answer, in the order of the texts.
    vectors: fn(&Value) -> Result<Vec<&Value>, Malformed>,
    /// The request for the service's description of itself.
    about: Option<Ask>,
}

type Ask = fn(&Client) -> Result<About, ServiceError>;

impl Dialect {
    /// The form of its models' names: `openai:MODEL`.
    pub fn form(&self) -> String {
        format!("{}:{}", self.name, if self.names_model { "MODEL" } else { "" })
    }
}

/// All dialects. A new one is a file below this and a line here.
pub const DIALECTS: &[Dialect] =
    &[openai::DIALECT, tei::DIALECT, ollama::DIALECT, cohere::DIALECT, voyage::DIALECT];

/// The content of a request.
struct Request<'a> {
    model: &'a str,
    texts: &'a [String],
    role: Role,
    /// The length that vectors are to have, where it was configured.
    dimension: Option<usize>,
    /// Whether texts may be truncated to the model's limit.
    truncate: bool,
}

/// A service's description of itself.
#[derive(Default)]
pub(crate) struct About {
    /// The model and its revision.
    pub(crate) model: Option<String>,
    revision: String,
    /// Tokens that the model reads of a text, without those it adds.
    max_tokens: Option<usize>,
    /// Texts of one request.
    pub(crate) max_texts: Option<usize>,
}

/// Options of a remote embedder. Only configured or reported facts about its model are known.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Its service.
    pub service: ServiceOptions,
    /// The length to ask of vectors, for models that can shorten them; by default the model's own.
    pub dimension: Option<usize>,
    /// The known dimension, which saves a request: an answer that differs is an error.
    pub known_dimension: Option<usize>,
    /// The name of stored vectors. With it, a search continues even if the server of sparse vectors, which is a part of
    /// the name, does not report its model.
    pub known_name: Option<String>,
    /// Most tokens of a text that the model reads, without those it adds.
    pub max_tokens: Option<usize>,
    /// Counts as the model does; by default an estimate.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// The prefix of a question.
    pub query_prefix: String,
    /// The prefix of a text that may answer.
    pub passage_prefix: String,
    /// Most tokens of one request, by the counter; one text may have more.
    pub batch_tokens: usize,
    /// Most texts of one request.
    pub batch_texts: usize,
    /// Most requests at a time.
    pub concurrency: usize,
    /// Price of a million tokens, in the user's currency.
    pub price_per_million_tokens: Option<f64>,
    /// The service of the additional sparse vectors.
    pub sparse: Option<SparseOptions>,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            service: ServiceOptions::default(),
            dimension: None,
            known_dimension: None,
            known_name: None,
            max_tokens: None,
            counter: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            batch_tokens: 8_192,
            batch_texts: 32,
            concurrency: 4,
            price_per_million_tokens: None,
            sparse: None,
        }
    }
}

/// The embedder that `spec` names (`openai:MODEL`, `tei:`). Asks the service what it is and, unless the
/// dimension is configured or known, for one vector.
///
/// # Errors
///
/// If there is no such dialect, the address or key is invalid, or the service does not answer as expected.
pub fn remote_embedder(spec: &str, options: RemoteOptions) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(Arc::new(Remote::open(spec, options)?))
}

/// Whether `spec` names a service rather than a model on this machine.
pub fn is_remote(spec: &str) -> bool {
    dialect(spec).is_ok()
}

fn dialect(spec: &str) -> Result<(&'static Dialect, &str), ServiceError> {
    let found = service::parts(spec).and_then(|(name, model)| {
        let dialect = DIALECTS.iter().find(|dialect| dialect.name == name)?;
        (!dialect.names_model || !model.is_empty()).then_some((dialect, model))
    });
    found.ok_or_else(|| service::unknown(spec, DIALECTS.iter().map(Dialect::form)))
}

/// A service that embeds.
struct Remote {
    dialect: &'static Dialect,
    /// As configured, for messages.
    spec: String,
    model: String,
    client: Client,
    sparse: Option<Sparse>,
    options: RemoteOptions,
    /// Whether the service may truncate texts.
    truncate: bool,
    info: ModelInfo,
}

impl Remote {
    fn open(spec: &str, mut options: RemoteOptions) -> Result<Self, EmbedError> {
        let (dialect, model) = dialect(spec)?;
        let client = options.service.client(dialect.home)?;
        let about = dialect.about.map(|about| about(&client)).transpose()?.unwrap_or_default();
        let model = about.model.unwrap_or_else(|| model.to_owned());
        let parts = [options.query_prefix.clone(), options.passage_prefix.clone(), about.revision];
        let sparse = options.sparse.as_ref().map(Sparse::open).transpose()?;
        let exact = options.counter.is_some();
        let counter = options.counter.clone().unwrap_or_else(|| Arc::new(Estimate::new(OpenAi::cl100k())));
        let prefix = counter.count(&options.query_prefix).max(counter.count(&options.passage_prefix));
        let max_tokens = options.max_tokens.or(about.max_tokens).map(|max| max.saturating_sub(prefix));
        options.batch_texts = options.batch_texts.min(about.max_texts.unwrap_or(usize::MAX)).max(1);
        let info = ModelInfo {
            name: String::new(),
            dimension: options.dimension.or(options.known_dimension).unwrap_or(0),
            sparse: sparse.is_some(),
            max_tokens,
            counter,
            reads: Languages::All,
            price_per_million_tokens: options.price_per_million_tokens,
        };
        let truncate = exact && max_tokens.is_some();
        let spec = spec.to_owned();
        let mut remote = Self { dialect, spec, model, client, sparse, options, truncate, info };
        if remote.info.dimension == 0 {
            remote.info.dimension = remote.dense(&["dimension".to_owned()], Role::Passage)?[0].len();
        }
        let (name, model, dimension) = (dialect.name, &remote.model, remote.info.dimension);
        remote.info.name = if parts.iter().all(String::is_empty) {
            format!("{name}:{model}@{dimension}")
        } else {
            format!("{name}:{model}@{dimension}#{}", digest(&parts))
        };
        if let Some(sparse) = &mut remote.sparse {
            remote.info.name = sparse.name(&remote.info.name, remote.options.known_name.as_ref())?;
        }
        Ok(remote)
    }

    /// The vectors of one request: as many as texts, of one length, finite, not all zero.
    fn dense(&self, texts: &[String], role: Role) -> Result<Vec<Vec<f32>>, ServiceError> {
        let (model, truncate) = (self.model.as_str(), self.truncate);
        let request = Request { model, texts, role, dimension: self.options.dimension, truncate };
        let answer = self.client.post(self.dialect.path, &(self.dialect.body)(&request))?;
        service::read(&self.client, &self.spec, &answer, |answer| {
            let vectors = service::counted((self.dialect.vectors)(answer)?, texts.len())?;
            let vectors: Vec<Vec<f32>> = vectors.into_iter().map(vector).collect::<Result<_, _>>()?;
            let wanted = match self.info.dimension {
                0 => vectors.first().map_or(0, Vec::len),
                dimension => dimension,
            };
            if let Some(other) = vectors.iter().find(|vector| vector.len() != wanted || vector.is_empty()) {
                return Err(Malformed::Dimension { wanted, found: other.len() });
            }
            if vectors.iter().all(|vector| is_zero(vector)) {
                return Err(Malformed::Zero);
            }
            Ok(vectors)
        })
    }

    /// The embeddings of the texts in `range`; halves it while the service refuses its size.
    fn batch(
        &self,
        texts: &[String],
        range: Range<usize>,
        role: Role,
        parts: Parts,
    ) -> Result<Vec<Embedding>, EmbedError> {
        let texts_of = &texts[range.clone()];
        let (vectors, sparse) = match self.parts(texts_of, role, parts) {
            Ok(both) => both,
            Err(ServiceError::Call(reason)) if reason.is_size() => {
                if range.len() == 1 {
                    let model = self.info.name.clone();
                    let reason = reason.to_string();
                    return Err(EmbedError::TooLong { index: range.start, model, reason });
                }
                let middle = range.start + range.len() / 2;
                let mut embeddings = self.batch(texts, range.start..middle, role, parts)?;
                embeddings.extend(self.batch(texts, middle..range.end, role, parts)?);
                return Ok(embeddings);
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(zero) = vectors.iter().position(|vector| is_zero(vector)) {
            return Err(EmbedError::NoVector { index: range.start + zero, model: self.info.name.clone() });
        }
        let unread = |text: &String| {
            let max = self.info.max_tokens.filter(|_| self.truncate)?;
            let prefix = self.info.counter.count(self.prefix(role));
            Some(self.info.counter.count(text).saturating_sub(max + prefix))
        };
        let all = vectors.into_iter().zip(sparse).zip(texts_of);
        Ok(all
            .map(|((vector, sparse), text)| Embedding {
                vector: normalized(vector),
                unread_tokens: unread(text).unwrap_or(0),
                sparse,
                tokens: None,
            })
            .collect())
    }

    /// The dense vectors of texts, and the sparse ones if they are requested and configured.
    fn parts(&self, texts: &[String], role: Role, parts: Parts) -> Result<Columns, ServiceError> {
        let dense = self.dense(texts, role)?;
        let sparse = match &self.sparse {
            Some(sparse) if parts == Parts::Both => {
                sparse.vectors(texts, self.truncate)?.into_iter().map(Some).collect()
            }
            _ => vec![None; texts.len()],
        };
        Ok((dense, sparse))
    }

    /// The embeddings of texts that stand behind the prefix of their role.
    fn embed_prefixed(
        &self,
        texts: &[String],
        role: Role,
        parts: Parts,
    ) -> Result<Vec<Embedding>, EmbedError> {
        let batches = self.batches(texts);
        service::in_parallel(batches.len(), self.options.concurrency, |batch| {
            self.batch(texts, batches[batch].clone(), role, parts)
        })
        .map(|embeddings| embeddings.into_iter().flatten().collect())
    }

    /// The texts behind the prefix of their role. Services refuse whole requests for one blank text.
    fn prefixed(&self, texts: &[&str], role: Role) -> Result<Vec<String>, EmbedError> {
        if let Some(index) = texts.iter().position(|text| text.trim().is_empty()) {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        let prefix = self.prefix(role);
        Ok(texts.iter().map(|text| format!("{prefix}{text}")).collect())
    }

    fn prefix(&self, role: Role) -> &str {
        match role {
            Role::Query => &self.options.query_prefix,
            Role::Passage => &self.options.passage_prefix,
        }
    }

    /// The texts of each request, by their places.
    fn batches(&self, texts: &[String]) -> Vec<Range<usize>> {
        let mut batches: Vec<Range<usize>> = Vec::new();
        let mut tokens = 0;
        for (place, text) in texts.iter().enumerate() {
            let weight = self.info.counter.count(text);
            tokens += weight;
            match batches.last_mut() {
                Some(batch)
                    if tokens <= self.options.batch_tokens && batch.len() < self.options.batch_texts =>
                {
                    batch.end = place + 1;
                }
                _ => {
                    tokens = weight;
                    batches.push(place..place + 1);
                }
            }
        }
        batches
    }
}

impl Embedder for Remote {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        self.sparse.as_ref().map_or(Ok(()), |sparse| sparse.check(&self.info.name))?;
        self.embed_prefixed(&self.prefixed(texts, role)?, role, Parts::Both)
    }

    fn embed_query(&self, query: &str) -> Result<(Embedding, Option<EmbedError>), EmbedError> {
        let no_vector = || EmbedError::NoVector { index: 0, model: self.info.name.clone() };
        let texts = self.prefixed(&[query], Role::Query)?;
        let embedding = self.embed_prefixed(&texts, Role::Query, Parts::Dense)?.pop();
        let mut embedding = embedding.ok_or_else(no_vector)?;
        let Some(sparse) = &self.sparse else { return Ok((embedding, None)) };
        let vectors = sparse.check(&self.info.name).and_then(|()| Ok(sparse.vectors(&texts, self.truncate)?));
        let failed = match vectors {
            Ok(mut vectors) => {
                embedding.sparse = vectors.pop();
                None
            }
            Err(error) => Some(error),
        };
        Ok((embedding, failed))
    }
}

/// Dense vectors, and the sparse ones of the same texts.
type Columns = (Vec<Vec<f32>>, Vec<Option<Vec<(u32, f32)>>>);

/// The requested kinds of vectors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    Dense,
    Both,
}

/// A few digits that are different where any of `parts` is.
fn digest(parts: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..8].to_owned()
}

fn vector(value: &Value) -> Result<Vec<f32>, Malformed> {
    let numbers = value.as_array().ok_or(Malformed::Field("vector"))?;
    numbers.iter().map(service::number).collect()
}

fn is_zero(vector: &[f32]) -> bool {
    vector.iter().all(|&number| number == 0.0)
}
