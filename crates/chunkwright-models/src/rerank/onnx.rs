//! Exported cross-encoders: a model that reads question and text together.

use std::path::Path;

use super::{RerankError, Reranker};
use crate::data::ModelError;
use crate::onnx::Graph;

/// An opened model.
pub(crate) struct Onnx {
    graph: Graph,
}

impl Onnx {
    pub(crate) fn open(dir: &Path, data_dir: &Path) -> Result<Self, ModelError> {
        let onnx = Self { graph: Graph::open(dir, data_dir, &["logits"])? };
        // A model of another kind fails now and not at the first search.
        let failed = |reason: String| ModelError::Onnx { dir: dir.to_owned(), reason };
        onnx.score("a", "a").map_err(failed)?;
        Ok(onnx)
    }

    fn score(&self, query: &str, text: &str) -> Result<f32, String> {
        let (ids, types) = self.graph.tokenizer.pair(query, text, self.graph.window)?;
        let output = self.graph.run(&ids, &types)?;
        let logit = match output.numbers[..] {
            [logit] => logit,
            [against, logit] => logit - against,
            _ => return Err(format!("its graph gives {} numbers, not one or two", output.numbers.len())),
        };
        Ok(1.0 / (1.0 + (-logit).exp()))
    }
}

impl Reranker for Onnx {
    fn name(&self) -> &str {
        &self.graph.name
    }

    fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        texts.iter().map(|text| self.score(query, text).map_err(RerankError::other)).collect()
    }
}
