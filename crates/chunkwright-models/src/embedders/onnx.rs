//! Embedders of exported models.

use std::path::Path;
use std::sync::Arc;

use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::counters::TokenizerFile;
use crate::data::ModelError;
use crate::exported::OnnxOptions;
use crate::onnx::{Graph, Output, Pooling};
use crate::vectors::normalized;

/// Outputs in order of preference: a text's own vector, or those of its tokens.
const OUTPUTS: [&str; 3] = ["sentence_embedding", "last_hidden_state", "token_embeddings"];

/// An opened model.
pub(crate) struct Onnx {
    info: ModelInfo,
    graph: Graph,
    query_prefix: String,
    passage_prefix: String,
    /// Tokens that the model adds before and after a text.
    before: Vec<u32>,
    after: Vec<u32>,
    /// Most tokens between them.
    room: usize,
}

impl Onnx {
    pub(crate) fn open(dir: &Path, data_dir: &Path, options: OnnxOptions) -> Result<Self, ModelError> {
        let failed = |reason: String| ModelError::Onnx { dir: dir.to_owned(), reason };
        let graph = Graph::open(dir, data_dir, &OUTPUTS)?;
        let query_prefix = options.query_prefix.unwrap_or_else(|| graph.folder.query_prefix.clone());
        let passage_prefix = options.passage_prefix.unwrap_or_else(|| graph.folder.passage_prefix.clone());
        let (before, after) = graph.tokenizer.added().map_err(failed)?;
        let window = options.max_tokens.unwrap_or(graph.window);
        let room = window.saturating_sub(before.len() + after.len());
        let tokens = |text: &str| graph.tokenizer.ids(text).map(|ids| ids.len()).map_err(failed);
        let prefix = tokens(&query_prefix)?.max(tokens(&passage_prefix)?);
        let max_tokens = room.checked_sub(prefix).filter(|&tokens| tokens > 0);
        let max_tokens =
            max_tokens.ok_or_else(|| failed(format!("a window of {window} tokens has no room")))?;
        let counter = TokenizerFile::open(&dir.join("tokenizer.json"));
        let mut onnx = Self {
            info: ModelInfo {
                name: name(&graph, window, &query_prefix, &passage_prefix),
                dimension: 0,
                sparse: false,
                max_tokens: Some(max_tokens),
                counter: Arc::new(counter.map_err(|error| failed(error.to_string()))?),
                reads: Languages::All,
                price_per_million_tokens: None,
            },
            graph,
            query_prefix,
            passage_prefix,
            before,
            after,
            room,
        };
        onnx.info.dimension = onnx.vector(&[]).map_err(failed)?.len();
        Ok(onnx)
    }

    /// The vector of a text's tokens.
    fn vector(&self, ids: &[u32]) -> Result<Vec<f32>, String> {
        let ids = [&self.before, ids, &self.after].concat();
        let Output { width, by_token, numbers } = self.graph.run(&ids, &vec![0; ids.len()])?;
        let row = |at: usize| numbers[at * width..(at + 1) * width].to_vec();
        Ok(normalized(match self.graph.folder.pooling {
            _ if !by_token => numbers,
            Pooling::First => row(0),
            Pooling::Last => row(ids.len() - 1),
            // The mean has the direction of the sum.
            Pooling::Mean => numbers.chunks_exact(width).fold(vec![0.0; width], |mut sum, row| {
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                sum
            }),
        }))
    }

    fn embed_one(&self, index: usize, text: &str, role: Role) -> Result<Embedding, EmbedError> {
        let prefix = match role {
            Role::Query => &self.query_prefix,
            Role::Passage => &self.passage_prefix,
        };
        let refused = |reason| EmbedError::Tokenizer { index, reason };
        // A prefix alone has a vector too, but of no text.
        if self.graph.tokenizer.ids(text).map_err(refused)?.is_empty() {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        let mut ids = self.graph.tokenizer.ids(&format!("{prefix}{text}")).map_err(refused)?;
        let unread_tokens = ids.len().saturating_sub(self.room);
        ids.truncate(self.room);
        let vector = self.vector(&ids).map_err(EmbedError::other)?;
        Ok(Embedding { vector, unread_tokens, sparse: None, tokens: None })
    }
}

impl Embedder for Onnx {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        texts.iter().enumerate().map(|(index, text)| self.embed_one(index, text, role)).collect()
    }
}

/// The name of the vectors: the graph's, and a hash of what else they depend on.
fn name(graph: &Graph, window: usize, query_prefix: &str, passage_prefix: &str) -> String {
    let rest = format!("{:?} {window} {query_prefix:?} {passage_prefix:?}", graph.folder.pooling);
    format!("{}-{}", graph.name, &blake3::hash(rest.as_bytes()).to_hex()[..8])
}
