//! Services of sparse vectors, named `DIALECT:MODEL` like those of dense ones.
//!
//! They are called beside the service of the dense vectors, and fail independently of it: `OpenAI`'s interface has no
//! place for sparse vectors, so even one model that gives both is served by two servers.

use chunkwright_http::Client;

use super::{tei, vllm};
use crate::embedders::EmbedError;
use crate::service::{self, Home, ServiceError, ServiceOptions};

/// A way to ask services for sparse vectors.
#[derive(Debug)]
pub struct SparseDialect {
    /// The part of a configured name before the `:`.
    pub name: &'static str,
    /// Who speaks it, in one line.
    pub summary: &'static str,
    /// Its default address.
    pub home: Home,
    /// Whether a model must be named; otherwise the service runs only one.
    pub names_model: bool,
    /// Identifies its model, if the service reports more than its name.
    pub(super) identity: Option<fn(&Client) -> Identity>,
    pub(super) vectors: fn(&Request<'_>) -> Answer,
}

/// A model's name and revision.
pub(super) type Identity = Result<[String; 2], ServiceError>;

/// A sparse vector for each text.
pub(super) type Answer = Result<Vec<Vec<(u32, f32)>>, ServiceError>;

/// A request for a sparse vector of each text.
pub(super) struct Request<'a> {
    pub(super) client: &'a Client,
    pub(super) model: &'a str,
    pub(super) texts: &'a [String],
    /// Whether texts may be truncated to the model's limit.
    pub(super) truncate: bool,
}

/// All dialects of sparse vectors. A new one is a file beside this and a line here.
pub const SPARSE_DIALECTS: &[SparseDialect] = &[tei::SPARSE, vllm::SPARSE];

impl SparseDialect {
    /// The form of its models' names: `vllm:MODEL`.
    pub fn form(&self) -> String {
        format!("{}:{}", self.name, if self.names_model { "MODEL" } else { "" })
    }
}

/// Options of the service of sparse vectors.
#[derive(Clone, Debug)]
pub struct SparseOptions {
    /// `DIALECT:MODEL`, of one of the [`SPARSE_DIALECTS`].
    pub spec: String,
    /// Its service.
    pub service: ServiceOptions,
}

/// A service that gives sparse vectors.
pub(super) struct Sparse {
    dialect: &'static SparseDialect,
    model: String,
    client: Client,
    /// Why it is unavailable.
    down: Option<String>,
}

impl Sparse {
    pub(super) fn open(options: &SparseOptions) -> Result<Self, ServiceError> {
        let forms = || SPARSE_DIALECTS.iter().map(SparseDialect::form);
        let found = service::parts(&options.spec).and_then(|(name, model)| {
            let dialect = SPARSE_DIALECTS.iter().find(|dialect| dialect.name == name)?;
            (dialect.names_model != model.is_empty()).then_some((dialect, model.to_owned()))
        });
        let (dialect, model) = found.ok_or_else(|| service::unknown(&options.spec, forms()))?;
        Ok(Self { dialect, model, client: options.service.client(dialect.home)?, down: None })
    }

    /// The name of vectors that combine dense ones named `dense` and sparse ones of this service. If the service does
    /// not report its model, the `known` name is used if it is of the same dense vectors; such a service receives no
    /// requests.
    pub(super) fn name(&mut self, dense: &str, known: Option<&String>) -> Result<String, ServiceError> {
        let behind = format!("{dense}+");
        let known = known.filter(|known| known.starts_with(&behind));
        let identity = match self.dialect.identity {
            Some(identity) => identity(&self.client),
            None => Ok([self.model.clone(), String::new()]),
        };
        match (identity, known) {
            (Ok(identity), _) => Ok(format!("{behind}{}", super::digest(&identity))),
            (Err(error), Some(known)) => {
                self.down = Some(error.to_string());
                Ok(known.clone())
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Fails if it is unavailable; `name` is that of the vectors.
    pub(super) fn check(&self, name: &str) -> Result<(), EmbedError> {
        match &self.down {
            None => Ok(()),
            Some(reason) => Err(EmbedError::NoSparse { model: name.to_owned(), reason: reason.clone() }),
        }
    }

    /// The sparse vectors of texts, in order.
    pub(super) fn vectors(&self, texts: &[String], truncate: bool) -> Answer {
        (self.dialect.vectors)(&Request { client: &self.client, model: &self.model, texts, truncate })
    }
}
