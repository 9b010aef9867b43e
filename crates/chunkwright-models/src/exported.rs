//! Models that people export to ONNX: `onnx:DIR`.
//!
//! A build without the feature `onnx` knows them by name, and its error says what it lacks.

#[cfg(not(feature = "onnx"))]
use std::path::Path;

#[cfg(not(feature = "onnx"))]
use crate::data::ModelError;

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

/// The error of a build without the feature.
#[cfg(not(feature = "onnx"))]
pub(crate) fn left_out<O, T>(dir: &Path, _: &Path, _: O) -> Result<T, ModelError> {
    let reason = "this program was built without it; build it with `--features onnx`".to_owned();
    Err(ModelError::Onnx { dir: dir.to_owned(), reason })
}
