//! Vectors of texts without a collection, for programs that keep them in a place of their own.

use chunkwright_models::Role;

use crate::core::engine::Engine;
use crate::error::Error;

/// Vectors of texts, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedAnswer {
    /// The name of the model: vectors of different names cannot be compared.
    pub model: String,
    /// One vector of length 1 for each text.
    pub vectors: Vec<Vec<f32>>,
}

impl Engine {
    /// Embeds texts as passages, with the embedder of the settings; `None` without one. A service is called again after
    /// a temporary error.
    ///
    /// # Errors
    ///
    /// A model that is not installed, and the embedder's error if the vector of any text is unavailable.
    pub fn embed(&self, texts: &[&str]) -> Result<Option<EmbedAnswer>, Error> {
        let Some(embedder) = self.embedder()? else { return Ok(None) };
        let embeddings = if texts.is_empty() { Vec::new() } else { embedder.embed(texts, Role::Passage)? };
        Ok(Some(EmbedAnswer {
            model: embedder.model().name.clone(),
            vectors: embeddings.into_iter().map(|embedding| embedding.vector).collect(),
        }))
    }
}
