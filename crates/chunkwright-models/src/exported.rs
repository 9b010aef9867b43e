//! Models that people export to ONNX: `onnx:DIR`.
//!
//! A build without the feature `onnx` knows them by name, and its error says what it lacks.

use std::path::Path;
use std::sync::Arc;

use crate::data::ModelError;
use crate::embedders::Embedder;
use crate::rerank::Reranker;

/// The beginning of the names of such models: `onnx:DIR`.
pub const ONNX: &str = "onnx:";

/// What a configuration says of an exported model; `None` leaves it to the model's folder.
#[derive(Clone, Debug, Default)]
pub struct OnnxOptions {
    /// Most tokens of a text, with those that the model adds.
    pub max_tokens: Option<usize>,
    /// Text before questions.
    pub query_prefix: Option<String>,
    /// Text before passages.
    pub passage_prefix: Option<String>,
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
    return Ok(Arc::new(crate::embedders::OnnxEmbedder::open(dir, data_dir, options)?));
    #[cfg(not(feature = "onnx"))]
    left_out(dir, data_dir, options)
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
    return Ok(Arc::new(crate::rerank::OnnxReranker::open(dir, data_dir)?));
    #[cfg(not(feature = "onnx"))]
    left_out(dir, data_dir, ())
}

#[cfg(not(feature = "onnx"))]
fn left_out<O, T>(dir: &Path, _: &Path, _: O) -> Result<T, ModelError> {
    let reason = "this program was built without it; build it with `--features onnx`".to_owned();
    Err(ModelError::Onnx { dir: dir.to_owned(), reason })
}
