//! Static vectors: a text is the mean of its tokens' vectors.

use std::path::Path;
use std::sync::Arc;

use half::f16;
use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors};

use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role, normalized};
use crate::counters::TokenizerFile;
use crate::data::{ModelError, model};

/// The writing systems that it was made for.
pub(super) const READS: Languages = Languages::Latin;

/// The name of its vectors.
pub(super) const NAME: &str = "wordllama-l2-supercat-256";

/// The loaded model.
pub(super) struct Static {
    info: ModelInfo,
    tokenizer: Arc<TokenizerFile>,
    /// Half-precision numbers, little endian, a row for each token.
    rows: Vec<u8>,
}

/// Positions of the files among the model's.
const VECTORS: usize = 0;
const TOKENIZER: usize = 1;

impl Static {
    pub(super) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        let model = model("static")?;
        let (rows, dimension) = vectors(&model.read(data_dir, VECTORS, usize::MAX)?)
            .ok_or_else(|| model.damaged_file(data_dir, VECTORS))?;
        let tokenizer = TokenizerFile::parse("wordllama", &model.read(data_dir, TOKENIZER, usize::MAX)?)
            .map_err(|_| model.damaged_file(data_dir, TOKENIZER))?;
        let tokenizer = Arc::new(tokenizer);
        let info = ModelInfo {
            name: NAME.to_owned(),
            dimension,
            sparse: false,
            max_tokens: None,
            counter: Arc::clone(&tokenizer) as _,
            reads: READS,
            price_per_million_tokens: None,
        };
        Ok(Self { info, tokenizer, rows })
    }

    fn embed_one(&self, index: usize, text: &str) -> Result<Embedding, EmbedError> {
        let ids = self.tokenizer.ids(text).map_err(|reason| EmbedError::Tokenizer { index, reason })?;
        let mut sum = vec![0.0; self.info.dimension];
        for id in ids {
            let start = id as usize * self.info.dimension * 2;
            let row = self.rows.get(start..).unwrap_or_default().as_chunks().0;
            for (sum, &number) in sum.iter_mut().zip(row) {
                *sum += f16::from_le_bytes(number).to_f32();
            }
        }
        // The mean of the rows has the direction of their sum.
        let vector = normalized(sum);
        if vector.iter().all(|&x| x == 0.0) {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        Ok(Embedding { vector, unread_tokens: 0, sparse: None })
    }
}

impl Embedder for Static {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], _role: Role) -> Result<Vec<Embedding>, EmbedError> {
        texts.par_iter().enumerate().map(|(index, text)| self.embed_one(index, text)).collect()
    }
}

/// The bytes of the only matrix of the file, and the length of its rows.
fn vectors(file: &[u8]) -> Option<(Vec<u8>, usize)> {
    let tensors = SafeTensors::deserialize(file).ok()?;
    let tensor = tensors.tensor("embedding.weight").ok()?;
    match (tensor.dtype(), tensor.shape()) {
        (Dtype::F16, &[_, dimension]) if dimension > 0 => Some((tensor.data().to_vec(), dimension)),
        _ => None,
    }
}
