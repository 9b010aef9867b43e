//! multilingual-e5-small: one small encoder for a hundred languages.

use std::path::Path;
use std::sync::Arc;

use ndarray::{Array1, Array2, Axis, Slice};
use rayon::prelude::*;

use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::bert::{Bert, Layer, Linear, Norm, WordTable, matrix, stacked};
use crate::counters::XlmRoberta;
use crate::data::{InstallableModel, ModelError, model};
use crate::e5_file::{HEAD_LEN, Head};
use crate::xlm_r::XlmR;

/// The writing systems that it was made for.
pub(super) const READS: Languages = Languages::All;

/// The name of its vectors.
pub(super) const NAME: &str = "multilingual-e5-small";
/// Tokens that are computed together: enough to keep matrix products busy, few enough to stay in a
/// core's cache.
const BATCH_TOKENS: usize = 512;
/// The prefixes of questions and answers that the model was trained with.
const QUERY: &str = "query:";
const PASSAGE: &str = "passage:";

/// The loaded model.
pub(crate) struct E5 {
    info: ModelInfo,
    tokenizer: Arc<XlmR>,
    bert: Bert,
    query: Vec<u32>,
    passage: Vec<u32>,
}

/// The tokenizer of the installed model.
pub(crate) fn tokenizer(data_dir: &Path) -> Result<XlmR, ModelError> {
    let model = model("e5")?;
    let head = Head::parse(&model.read(data_dir, 0, HEAD_LEN)?);
    Ok(head.ok_or_else(|| model.damaged_file(data_dir, 0))?.tokenizer)
}

impl E5 {
    pub(crate) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        let model: &InstallableModel = model("e5")?;
        let file = model.read(data_dir, 0, usize::MAX)?;
        Self::parse(&file).ok_or_else(|| model.damaged_file(data_dir, 0))
    }

    fn parse(file: &[u8]) -> Option<Self> {
        let head = Head::parse(file)?;
        let bert = bert(&head, file)?;
        let tokenizer = Arc::new(head.tokenizer);
        let prefix = |text: &str| {
            let mut ids = vec![XlmR::BEGIN];
            tokenizer.words(text).for_each(|word| tokenizer.word_ids(word, &mut ids));
            ids
        };
        let (query, passage) = (prefix(QUERY), prefix(PASSAGE));
        let added = query.len().max(passage.len()) + 1;
        let info = ModelInfo {
            name: NAME.to_owned(),
            dimension: bert.hidden(),
            sparse: false,
            max_tokens: Some(bert.positions.nrows().checked_sub(added)?),
            counter: Arc::new(XlmRoberta::new(Arc::clone(&tokenizer))),
            reads: READS,
            price_per_million_tokens: None,
        };
        Some(Self { info, tokenizer, bert, query, passage })
    }

    /// The tokens before a text.
    fn prefix(&self, role: Role) -> &[u32] {
        match role {
            Role::Query => &self.query,
            Role::Passage => &self.passage,
        }
    }

    /// The ids of a text as the model reads it, and how many did not fit.
    fn ids(&self, text: &str, role: Role) -> (Vec<u32>, usize) {
        let prefix = self.prefix(role);
        let mut ids = prefix.to_vec();
        self.tokenizer.words(text).for_each(|word| self.tokenizer.word_ids(word, &mut ids));
        let window = prefix.len() + self.info.max_tokens.unwrap_or(usize::MAX);
        let unread = ids.len().saturating_sub(window);
        ids.truncate(window);
        ids.push(XlmR::END);
        (ids, unread)
    }
}

impl E5 {
    /// The vectors of each text's own tokens, each of length 1, a row a token; what the model adds is
    /// left out.
    pub(crate) fn token_vectors(&self, texts: &[&str], role: Role) -> Vec<Array2<f32>> {
        let read: Vec<Vec<u32>> = texts.par_iter().map(|text| self.ids(text, role).0).collect();
        let ids: Vec<&[u32]> = read.iter().map(Vec::as_slice).collect();
        let tokens: Vec<Vec<Array2<f32>>> =
            batches(&ids).par_iter().map(|batch| self.bert.tokens(batch)).collect();
        let added = self.prefix(role).len();
        let own = |tokens: Array2<f32>| {
            let mut own = tokens.slice_axis(Axis(0), Slice::from(added..tokens.nrows() - 1)).to_owned();
            for mut row in own.rows_mut() {
                let length = row.dot(&row).sqrt();
                row /= length.max(f32::MIN_POSITIVE);
            }
            own
        };
        tokens.into_iter().flatten().map(own).collect()
    }
}

impl Embedder for E5 {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let read: Vec<(Vec<u32>, usize)> = texts.par_iter().map(|text| self.ids(text, role)).collect();
        // A prefix alone has a vector too, but of no text.
        let alone = self.prefix(role).len() + 1;
        if let Some(index) = read.iter().position(|(ids, _)| ids.len() == alone) {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        let ids: Vec<&[u32]> = read.iter().map(|(ids, _)| ids.as_slice()).collect();
        let vectors: Vec<Vec<Vec<f32>>> =
            batches(&ids).par_iter().map(|batch| self.bert.embed(batch)).collect();
        let unread = read.iter().map(|(_, unread)| *unread);
        let embeddings = vectors.into_iter().flatten().zip(unread);
        Ok(embeddings
            .map(|(vector, unread_tokens)| Embedding { vector, unread_tokens, sparse: None })
            .collect())
    }
}

/// Texts that are computed together.
fn batches<'a>(texts: &[&'a [u32]]) -> Vec<Vec<&'a [u32]>> {
    let mut batches: Vec<Vec<&[u32]>> = Vec::new();
    let mut tokens = usize::MAX;
    for ids in texts {
        if tokens.saturating_add(ids.len()) > BATCH_TOKENS {
            batches.push(Vec::new());
            tokens = 0;
        }
        tokens += ids.len();
        if let Some(batch) = batches.last_mut() {
            batch.push(ids);
        }
    }
    batches
}

/// The encoder's weights; `None` if the file is malformed.
fn bert(head: &Head, file: &[u8]) -> Option<Bert> {
    let shape = head.shape;
    let (hidden, inner) = (shape.hidden, shape.inner);
    let norm = |name: &str| {
        Some(Norm {
            weight: head.vector(file, &format!("{name}.w"), hidden)?,
            bias: head.vector(file, &format!("{name}.b"), hidden)?,
        })
    };
    let linear = |name: &str, rows: usize, columns: usize| {
        let numbers = head.matrix(file, &format!("{name}.w"), rows * columns)?;
        let bias = head.vector(file, &format!("{name}.b"), rows)?;
        Some(Linear { weight: matrix(rows, columns, numbers)?, bias: Array1::from(bias) })
    };
    let layer = |layer: usize| {
        let [query, key, value] =
            ["q", "k", "v"].map(|part| linear(&format!("l{layer}.{part}"), hidden, hidden));
        let (query, key, value) = (query?, key?, value?);
        Some(Layer {
            query_key_value: Linear {
                weight: stacked(&[query.weight.view(), key.weight.view(), value.weight.view()])?,
                bias: query.bias.iter().chain(&key.bias).chain(&value.bias).copied().collect(),
            },
            attention_out: linear(&format!("l{layer}.ao"), hidden, hidden)?,
            attention_norm: norm(&format!("l{layer}.aln"))?,
            inner: linear(&format!("l{layer}.fi"), inner, hidden)?,
            outer: linear(&format!("l{layer}.fo"), hidden, inner)?,
            norm: norm(&format!("l{layer}.oln"))?,
        })
    };
    // This model uses only the first of BERT's two token types.
    let token_type: Array1<f32> =
        head.vector(file, "emb.type", 2 * hidden)?.into_iter().take(hidden).collect();
    let positions = head.vector(file, "emb.pos", shape.positions.checked_mul(hidden)?)?;
    let words = head.quantized(file, "emb.word", shape.vocabulary.checked_mul(hidden)?)?;
    Some(Bert {
        words: WordTable { blocks: words.to_vec(), hidden },
        positions: matrix(shape.positions, hidden, positions)? + &token_type,
        norm: norm("emb.ln")?,
        layers: (0..shape.layers).map(layer).collect::<Option<_>>()?,
        heads: shape.heads,
        epsilon: shape.epsilon,
    })
}
