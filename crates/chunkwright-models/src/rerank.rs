//! Rerankers: score how well each of a few texts answers a question.
//!
//! A search compares vectors that were made apart; a reranker reads question and text anew, which is
//! better and a thousand times slower, so it is asked about the best few only.
//!
//! The local one is not a cross-encoder, since no package ships the weights of one. It compares the token vectors
//! ([`late`]) of the encoder that is installed anyway.

#[cfg(feature = "local")]
mod late;
#[cfg(feature = "onnx")]
mod onnx;
mod remote;

use std::path::Path;
use std::sync::Arc;

use crate::data::ModelError;
use crate::service::ServiceError;

#[cfg(feature = "onnx")]
use onnx::Onnx as OnnxReranker;
pub use remote::{RERANK_DIALECTS, RerankDialect, RerankOptions, is_remote_reranker, remote_reranker};

/// Scores how well texts answer a question.
pub trait Reranker: Send + Sync {
    /// The name of its scores: scores of different names are never compared.
    fn name(&self) -> &str;

    /// One score for each text, in their order, higher for a better answer, in the reranker's own unit.
    ///
    /// # Errors
    ///
    /// If there are no scores, or unusable ones.
    fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError>;
}

/// Opens the exported cross-encoder in the folder `dir`, run by the ONNX Runtime that is installed in `data_dir`. Its graph
/// gives one number for question and text (`logits`), or two, of which the second speaks for the text. Scores are from 0 to
/// 1.
///
/// # Errors
///
/// If the runtime is not installed, the folder does not hold such a model, or the feature `onnx` is off.
pub fn onnx_reranker(dir: &Path, data_dir: &Path) -> Result<Arc<dyn Reranker>, ModelError> {
    #[cfg(feature = "onnx")]
    return Ok(Arc::new(OnnxReranker::open(dir, data_dir)?));
    #[cfg(not(feature = "onnx"))]
    crate::exported::left_out(dir, data_dir, ())
}

/// Why texts have no scores.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// The service gave no scores, or none that can be used.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// An error of a reranker outside this crate.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl RerankError {
    /// An error of a custom reranker: any error, or a sentence.
    ///
    /// ```
    /// let error = chunkwright_models::RerankError::other("the model is not loaded");
    /// assert_eq!(error.to_string(), "the model is not loaded");
    /// ```
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(source.into())
    }
}

/// A named reranker, as help texts list it.
#[derive(Clone, Copy, Debug)]
pub struct RerankerInfo {
    /// The name that configurations use; also that of the [model](crate::MODELS) it needs.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub summary: &'static str,
    make: fn(data_dir: &Path) -> Result<Arc<dyn Reranker>, ModelError>,
}

/// All rerankers that run on this machine. [`RERANK_DIALECTS`] are those of services.
pub const RERANKERS: &[RerankerInfo] = &[
    #[cfg(feature = "local")]
    RerankerInfo {
        name: "e5",
        summary: "late interaction with multilingual-e5-small: compares the tokens of a question with those of a text, by a model that was not trained for it; not a cross-encoder",
        make: |data_dir| Ok(Arc::new(late::Late::open(data_dir)?)),
    },
];

/// Loads the reranker that `spec` names from the models in `data_dir`.
///
/// # Errors
///
/// If there is no such reranker, or its model is not installed or damaged.
pub fn reranker(spec: &str, data_dir: &Path) -> Result<Arc<dyn Reranker>, ModelError> {
    let info = RERANKERS.iter().find(|info| info.name == spec);
    let info = info.ok_or_else(|| ModelError::UnknownReranker { name: spec.to_owned(), known: known() })?;
    (info.make)(data_dir)
}

/// Every name and form that is known.
fn known() -> String {
    let local = RERANKERS.iter().map(|info| info.name.to_owned());
    let all = local.chain(RERANK_DIALECTS.iter().map(RerankDialect::form));
    all.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
