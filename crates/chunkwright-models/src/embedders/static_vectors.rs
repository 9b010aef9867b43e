//! Static vectors: a text is the mean of its tokens' vectors.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors};

use super::words::with_words;
use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::data::{ModelError, model};
use crate::half::single;
use crate::llama::Llama;
use crate::vectors::normalized;

/// The writing systems that it was made for.
pub(super) const READS: Languages = Languages::Latin;

/// The name of its vectors.
pub(super) const NAME: &str = "wordllama-l2-supercat-256";

/// The loaded model.
pub(super) struct Static {
    info: ModelInfo,
    tokenizer: Arc<Llama>,
    /// The file of the vectors.
    file: Vec<u8>,
    /// Where its rows are, one for each token: half-precision numbers, little endian.
    rows: Range<usize>,
}

/// Positions of the files among the model's.
const VECTORS: usize = 0;
const TOKENIZER: usize = 1;

impl Static {
    pub(super) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        let model = model("static")?;
        let file = model.read(data_dir, VECTORS)?;
        let (rows, dimension) = vectors(&file).ok_or_else(|| model.damaged_file(data_dir, VECTORS))?;
        let tokenizer = Llama::parse("wordllama", &model.read(data_dir, TOKENIZER)?)
            .ok_or_else(|| model.damaged_file(data_dir, TOKENIZER))?;
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
        Ok(Self { info, tokenizer, file, rows })
    }

    fn embed_one(&self, index: usize, text: &str) -> Result<Embedding, EmbedError> {
        let len = self.info.dimension;
        let rows = self.file[self.rows.clone()].as_chunks().0;
        let mut sum = vec![0.0; len];
        self.tokenizer.each_token(&with_words(text), |id| {
            let start = usize::from(id) * len;
            add(&mut sum, rows.get(start..start + len).unwrap_or_default());
        });
        // The mean of the rows has the direction of their sum.
        let vector = normalized(sum);
        if vector.iter().all(|&x| x == 0.0) {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        Ok(Embedding { vector, unread_tokens: 0, sparse: None, tokens: None })
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

/// Adds a row of half-precision numbers. Converted as they are added, they take half the memory, and no time to load.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn add(sum: &mut [f32], row: &[[u8; 2]]) {
    for (sum, &number) in sum.iter_mut().zip(row) {
        *sum += single(number);
    }
}

/// Where the numbers of the only matrix of the file are, and the length of its rows.
fn vectors(file: &[u8]) -> Option<(Range<usize>, usize)> {
    let tensors = SafeTensors::deserialize(file).ok()?;
    let tensor = tensors.tensor("embedding.weight").ok()?;
    match (tensor.dtype(), tensor.shape()) {
        (Dtype::F16, &[_, dimension]) if dimension > 0 => {
            let start = file.len().checked_sub(tensor.data().len())?;
            Some((start..file.len(), dimension))
        }
        _ => None,
    }
}
