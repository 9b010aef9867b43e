//! Embedders by name: they turn texts into vectors, on this machine or as a service.

#[cfg(feature = "local")]
mod e5;
#[cfg(feature = "local")]
mod minilm;
#[cfg(feature = "onnx")]
mod onnx;
mod remote;
mod sparse;
#[cfg(feature = "local")]
mod static_vectors;
#[cfg(feature = "local")]
mod words;

use std::path::Path;
use std::sync::Arc;

use chunkwright::TokenCounter;

use crate::data::{ModelError, model};
use crate::exported::{ONNX, OnnxOptions};
use crate::late::Tokens;
use crate::service::ServiceError;

#[cfg(feature = "local")]
pub(crate) use e5::{E5, vocabulary as xlm_r_vocabulary};
#[cfg(feature = "local")]
pub(crate) use minilm::MiniLm;
#[cfg(feature = "onnx")]
use onnx::Onnx as OnnxEmbedder;
pub(crate) use remote::tei;
pub use remote::{
    DIALECTS, Dialect, RemoteOptions, SPARSE_DIALECTS, SparseDialect, SparseOptions, is_remote,
    remote_embedder,
};
pub use sparse::{MAX_WEIGHTS, is_sparse_vector, sparse_dot};

/// Turns texts into vectors of one model.
///
/// A text's vector depends on the text, the role and the model alone: not on the other texts, the number of threads, or
/// the time.
pub trait Embedder: Send + Sync {
    /// The model.
    fn model(&self) -> &ModelInfo;

    /// One embedding for each text, in their order. Models on this machine compute on the threads of
    /// the current rayon pool; services are called from threads of their own.
    ///
    /// # Errors
    ///
    /// If the vector of any of the texts cannot be had.
    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError>;

    /// The embedding of a question. If only its sparse vector is unavailable, it is returned without one, together with
    /// the error: the search continues with the dense vector.
    ///
    /// # Errors
    ///
    /// If its dense vector cannot be had.
    fn embed_query(&self, query: &str) -> Result<(Embedding, Option<EmbedError>), EmbedError> {
        let no_vector = || EmbedError::NoVector { index: 0, model: self.model().name.clone() };
        let embedding = self.embed(&[query], Role::Query)?.pop().ok_or_else(no_vector)?;
        Ok((embedding, None))
    }
}

/// The properties of a model that chunking and storing need.
#[derive(Clone)]
pub struct ModelInfo {
    /// The name that is stored with vectors: vectors of different names are never compared.
    pub name: String,
    /// Length of the vectors.
    pub dimension: usize,
    /// Whether every text has a sparse vector in addition to the dense one.
    pub sparse: bool,
    /// Most tokens of a text that the model reads, by `counter`; the tokens that it adds (special tokens, a prefix for
    /// the role) are already subtracted. `None` if there is no limit.
    pub max_tokens: Option<usize>,
    /// Counts as the model's own tokenizer does.
    pub counter: Arc<dyn TokenCounter>,
    /// The writing systems that it was made for.
    pub reads: Languages,
    /// Configured price per million tokens; `None` for models on this machine.
    pub price_per_million_tokens: Option<f64>,
}

impl std::fmt::Debug for ModelInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelInfo")
            .field("name", &self.name)
            .field("dimension", &self.dimension)
            .field("sparse", &self.sparse)
            .field("max_tokens", &self.max_tokens)
            .field("counter", &self.counter.name())
            .field("reads", &self.reads)
            .field("price_per_million_tokens", &self.price_per_million_tokens)
            .finish()
    }
}

/// The writing systems that a model was made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Languages {
    /// Any.
    #[default]
    All,
    /// Latin letters: a model of English.
    Latin,
}

impl Languages {
    /// The share of a text's letters that belong to it, from 0 to 1; 1 for a text without letters. An East Asian
    /// character is a syllable or half a word, and counts as three.
    pub fn share_of(self, text: &str) -> f64 {
        let letters = text.chars().filter(|c| c.is_alphabetic());
        let (mut all, mut read) = (0_u32, 0_u32);
        for letter in letters {
            let weight = if letter < '\u{2E80}' { 1 } else { 3 };
            all += weight;
            read += if self == Self::All || letter <= '\u{024F}' { weight } else { 0 };
        }
        if all == 0 { 1.0 } else { f64::from(read) / f64::from(all) }
    }
}

/// The role of a text, for models that read questions and answers differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It asks.
    Query,
    /// It may answer.
    Passage,
}

/// The vector of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The vector, of length 1.
    pub vector: Vec<f32>,
    /// Number of tokens at the end that the model did not read, because the text is longer than
    /// [`ModelInfo::max_tokens`]; 0 for every chunk whose limit was the model's.
    pub unread_tokens: usize,
    /// Weights of tokens by ascending token, all above zero ([`is_sparse_vector`]); from models that give them,
    /// [for every text](ModelInfo::sparse).
    pub sparse: Option<Vec<(u32, f32)>>,
    /// What late interaction compares; from models that give it.
    pub tokens: Option<Tokens>,
}

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model has no vector for a text: it is blank, or holds nothing of the vocabulary.
    #[error("text {index} of the batch has no vector: `{model}` knows none of its tokens")]
    NoVector {
        /// Position of the text among those given.
        index: usize,
        /// The model.
        model: String,
    },
    /// The model's tokenizer refused a text.
    #[error("text {index} of the batch cannot be tokenized: {reason}")]
    Tokenizer {
        /// Position of the text among those given.
        index: usize,
        /// The tokenizer's error.
        reason: String,
    },
    /// The service refuses a text for its length, alone as well.
    #[error("text {index} of the batch is too long for `{model}`: {reason}")]
    TooLong {
        /// Position of the text among those given.
        index: usize,
        /// The model.
        model: String,
        /// The service's error.
        reason: String,
    },
    /// The server of sparse vectors did not report its model.
    #[error("`{model}` currently returns no sparse vectors: {reason}")]
    NoSparse {
        /// The model.
        model: String,
        /// The problem.
        reason: String,
    },
    /// The service gave no vectors, or none that can be used.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// An error of an embedder outside this crate.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl EmbedError {
    /// An error of a custom embedder: any error, or a sentence.
    ///
    /// ```
    /// let error = chunkwright_models::EmbedError::other("the model is not loaded");
    /// assert_eq!(error.to_string(), "the model is not loaded");
    /// ```
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(source.into())
    }

    /// The index of the text at fault: the others can be embedded without it. `None` if no text is at fault.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::NoVector { index, .. } | Self::Tokenizer { index, .. } | Self::TooLong { index, .. } => {
                Some(*index)
            }
            Self::NoSparse { .. } | Self::Service(_) | Self::Other(_) => None,
        }
    }

    /// Whether a service failed temporarily.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Service(error) if error.is_unavailable())
    }
}

/// A named embedder, as help texts list it.
#[derive(Clone, Copy, Debug)]
pub struct EmbedderInfo {
    /// The name that configurations use; also that of the [model](crate::MODELS) it needs.
    pub name: &'static str,
    /// The name that is stored with its vectors ([`ModelInfo::name`]).
    pub vectors: &'static str,
    /// Its purpose, in one line.
    pub summary: &'static str,
    /// The writing systems that it was made for.
    pub reads: Languages,
    /// Whether it embeds a folder of documents in seconds, so that no search has to wait for its vectors.
    pub is_fast: bool,
    make: fn(data_dir: &Path) -> Result<Arc<dyn Embedder>, ModelError>,
}

/// All embedders that run on this machine, the best first. [`DIALECTS`] are those of services.
pub const EMBEDDERS: &[EmbedderInfo] = &[
    #[cfg(feature = "local")]
    EmbedderInfo {
        name: "e5",
        vectors: e5::NAME,
        summary: "multilingual-e5-small: 384 dimensions, reads 507 tokens of text in a hundred languages",
        reads: e5::READS,
        is_fast: false,
        make: |data_dir| Ok(Arc::new(E5::open(data_dir)?)),
    },
    #[cfg(feature = "local")]
    EmbedderInfo {
        name: "minilm",
        vectors: minilm::NAME,
        summary: "all-MiniLM-L6-v2 beside `static`: 640 dimensions, reads 510 tokens, English, twice as fast as `e5`",
        reads: minilm::READS,
        is_fast: false,
        make: |data_dir| Ok(Arc::new(MiniLm::open(data_dir)?)),
    },
    #[cfg(feature = "local")]
    EmbedderInfo {
        name: "static",
        vectors: static_vectors::NAME,
        summary: "wordllama: 256 dimensions, English, any length, a thousand times faster than `e5`",
        reads: static_vectors::READS,
        is_fast: true,
        make: |data_dir| Ok(Arc::new(static_vectors::Static::open(data_dir)?)),
    },
];

/// Loads the embedder that `spec` names from the models in `data_dir`.
///
/// # Errors
///
/// If there is no such embedder, or its model is not installed or damaged.
pub fn embedder(spec: &str, data_dir: &Path) -> Result<Arc<dyn Embedder>, ModelError> {
    let info = EMBEDDERS
        .iter()
        .find(|info| info.name == spec)
        .ok_or_else(|| ModelError::UnknownEmbedder { name: spec.to_owned(), right: right(spec) })?;
    (info.make)(data_dir)
}

/// What to write instead of a name that no embedder has: the form of the service that it names, or all there are.
fn right(name: &str) -> String {
    if let Some(dialect) = DIALECTS.iter().find(|dialect| dialect.name == name) {
        return format!("write `{}`", dialect.form());
    }
    let known: Vec<String> = EMBEDDERS.iter().map(|info| format!("`{}`", info.name)).collect();
    let services: Vec<String> = DIALECTS.iter().map(|dialect| format!("`{}`", dialect.form())).collect();
    let known = format!("known are {}, `{ONNX}DIR`, {}", known.join(", "), services.join(", "));
    let is_of_hub = name.contains('/');
    let hub = "; a model of a hub is exported to ONNX, or run by one of these services";
    format!("{known}{}", if is_of_hub { hub } else { "" })
}

/// The name of the best embedder whose model is installed; `None` if there is no such model, and then search is lexical
/// only.
pub fn default_embedder(data_dir: &Path) -> Option<&'static str> {
    let installed = |name: &str| model(name).is_ok_and(|model| model.is_installed(data_dir));
    EMBEDDERS.iter().map(|info| info.name).find(|name| installed(name))
}

/// Opens the exported model in the folder `dir`, run by the ONNX Runtime that is installed in `data_dir`.
///
/// The folder is as sentence-transformers and Optimum write it: a graph (`onnx/model.onnx` or another), `tokenizer.json`,
/// and, where they exist, `1_Pooling/config.json` (mean, first or last token), `sentence_bert_config.json` (the window) and
/// `config_sentence_transformers.json` (the prompts `query` and `passage` or `document`).
///
/// # Errors
///
/// If the runtime is not installed, the folder does not hold such a model, or the feature `onnx` is off.
pub fn onnx_embedder(
    dir: &Path,
    data_dir: &Path,
    options: OnnxOptions,
) -> Result<Arc<dyn Embedder>, ModelError> {
    #[cfg(feature = "onnx")]
    return Ok(Arc::new(OnnxEmbedder::open(dir, data_dir, options)?));
    #[cfg(not(feature = "onnx"))]
    crate::exported::left_out(dir, data_dir, options)
}

#[cfg(test)]
mod tests {
    use super::Languages;

    #[test]
    fn a_model_of_english_reads_the_latin_letters_of_a_text() {
        for (text, share) in [
            ("how are pages made?", 1.0),
            ("数据库怎么连接", 0.0),
            ("FastAPI 数据", 7.0 / 13.0),
            ("42 ?!", 1.0),
        ] {
            assert!((Languages::Latin.share_of(text) - share).abs() < 1e-9, "{text}");
            assert!((Languages::All.share_of(text) - 1.0).abs() < 1e-9, "{text}");
        }
    }
}
