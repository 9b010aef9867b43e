//! Static vectors: a text is the mean of its tokens' vectors.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use multiversion::multiversion;
use rayon::prelude::*;

use super::words::with_words;
use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::data::{ModelError, model, read_at};
use crate::half::single;
use crate::llama::Llama;
use crate::tensors::Tensors;
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
    file: File,
    /// Where its rows are, one for each token: half-precision numbers, little endian.
    rows: Range<u64>,
    /// All rows, once texts have been embedded. A query reads its own.
    read: OnceLock<Vec<u8>>,
}

/// Positions of the files among the model's.
const VECTORS: usize = 0;
const TOKENIZER: usize = 1;

impl Static {
    pub(super) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        let model = model("static")?;
        let tensors = Tensors::read(model.open(data_dir, VECTORS)?);
        let (file, rows, dimension) =
            tensors.and_then(vectors).ok_or_else(|| model.damaged_file(data_dir, VECTORS))?;
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
        Ok(Self { info, tokenizer, file, rows, read: OnceLock::new() })
    }

    /// All rows.
    fn all(&self) -> io::Result<&[u8]> {
        if let Some(all) = self.read.get() {
            return Ok(all);
        }
        let mut all = vec![0; (self.rows.end - self.rows.start) as usize];
        read_at(&self.file, self.rows.start, &mut all)?;
        Ok(self.read.get_or_init(|| all))
    }

    /// Embeds a text. Without `all` rows, reads those of its tokens from the file.
    fn embed_one(&self, index: usize, text: &str, all: Option<&[u8]>) -> Result<Embedding, EmbedError> {
        let len = self.info.dimension;
        let (mut sum, mut row) = (vec![0.0; len], vec![[0; 2]; len]);
        let mut ids = Vec::new();
        self.tokenizer.each_token(&with_words(text), |id| ids.push(id));
        for id in ids {
            let start = usize::from(id) * len;
            if let Some(all) = all {
                add(&mut sum, all.as_chunks().0.get(start..start + len).unwrap_or_default());
            } else {
                let at = self.rows.start + (start * size_of_val(&row[0])) as u64;
                if at < self.rows.end {
                    read_at(&self.file, at, row.as_flattened_mut()).map_err(EmbedError::other)?;
                    add(&mut sum, &row);
                }
            }
        }
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

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let all = match role {
            Role::Query => self.read.get().map(Vec::as_slice),
            Role::Passage => Some(self.all().map_err(EmbedError::other)?),
        };
        texts.par_iter().enumerate().map(|(index, text)| self.embed_one(index, text, all)).collect()
    }
}

/// Adds a row of half-precision numbers. Converted as they are added, they take half the memory, and no time to load.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn add(sum: &mut [f32], row: &[[u8; 2]]) {
    for (sum, &number) in sum.iter_mut().zip(row) {
        *sum += single(number);
    }
}

/// The file, where the rows of its only matrix are, and their length.
fn vectors(tensors: Tensors) -> Option<(File, Range<u64>, usize)> {
    let (rows, shape) = tensors.place("embedding.weight", "F16")?;
    match shape {
        &[count, dimension] if dimension > 0 => {
            let is_right = Some((rows.end - rows.start) as usize) == count.checked_mul(2 * dimension);
            is_right.then_some((tensors.file, rows, dimension))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_the_same_by_its_own_rows_and_by_all() {
        let Some(dir) = crate::test_models::data_dir_with("static") else { return };
        let model = Static::open(&dir).unwrap();
        let texts = ["how do I connect to the database?", "parseHeader of <s>", "naïve 数据库 🍵 база"];
        let query = |text: &&str| model.embed(&[text], Role::Query).unwrap().remove(0);
        let alone: Vec<Embedding> = texts.iter().map(query).collect();
        assert!(model.read.get().is_none(), "all rows were read for a query");
        assert_eq!(model.embed(&texts, Role::Passage).unwrap(), alone);
        assert_eq!(texts.iter().map(query).collect::<Vec<_>>(), alone);
    }
}
