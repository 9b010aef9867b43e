//! all-MiniLM-L6-v2 beside static vectors: an encoder of English with half the layers of e5.
//!
//! A vector is the encoder's and the static one, one after the other, each scaled by the root of its share: the product of
//! two vectors is the weighted mean of both cosines, and stores and searches need to know nothing of it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use chunkwright::TokenCounter;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::static_vectors::Static;
use super::words::with_words;
use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::bert::{Bert, Layer, Norm, Numbers, WordTable};
use crate::counters::TokenizerFile;
use crate::data::{ModelError, model, read_at};
use crate::int8::{COLUMNS, Weights};
use crate::late::{Centre, Tokens};
use crate::tensors::Tensors;
use crate::vectors::normalized;

/// The writing systems that it was made for.
pub(super) const READS: Languages = Languages::Latin;

/// The name of its vectors.
pub(super) const NAME: &str = "all-minilm-l6-v2-with-wordllama";

/// The share of the encoder in a product of vectors; other shares were not tried.
const ENCODER_SHARE: f32 = 0.6;

/// Positions of the files among the model's.
const WEIGHTS: usize = 0;
const TOKENIZER: usize = 1;

/// The shape of the encoder.
const HIDDEN: usize = 384;
const INNER: usize = 1536;
const LAYERS: usize = 6;
const POSITIONS: usize = 512;
const EPSILON: f32 = 1e-12;

/// The loaded models.
pub(crate) struct MiniLm {
    info: ModelInfo,
    tokenizer: Arc<Tokenizer>,
    pub(crate) bert: Bert,
    statics: Static,
    centre: Centre,
    /// Tokens that the encoder adds before and after a text.
    before: Vec<u32>,
    after: Vec<u32>,
}

impl MiniLm {
    pub(crate) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        let model = model("minilm")?;
        let damaged = |file| move || model.damaged_file(data_dir, file);
        let tokenizer = TokenizerFile::parse("minilm", &model.read(data_dir, TOKENIZER)?)
            .map_err(|_| damaged(TOKENIZER)())?;
        let (before, after) = tokenizer.added().map_err(|_| damaged(TOKENIZER)())?;
        let bert = Tensors::read(model.open(data_dir, WEIGHTS)?).and_then(Tensors::into_bert);
        let bert = bert.ok_or_else(damaged(WEIGHTS))?;
        let statics = Static::open(data_dir)?;
        let tokenizer = Arc::new(Tokenizer(tokenizer));
        let info = ModelInfo {
            name: NAME.to_owned(),
            dimension: HIDDEN + statics.model().dimension,
            sparse: false,
            max_tokens: Some(POSITIONS - before.len() - after.len()),
            counter: Arc::clone(&tokenizer) as _,
            reads: READS,
            price_per_million_tokens: None,
        };
        Ok(Self { info, tokenizer, bert, statics, centre: Centre::of_minilm(), before, after })
    }

    /// The mean of all token vectors after the last layer, and what late interaction compares of the text's own.
    fn read_tokens(&self, x: &[f32], rows: Range<usize>, role: Role) -> (Vec<f32>, Tokens) {
        let own = self.own(x, &rows);
        let tokens = match role {
            Role::Query => self.centre.query(own),
            Role::Passage => self.centre.passage(own),
        };
        (self.bert.mean(x, rows), tokens)
    }

    /// The vectors of a text's own tokens, without those that the encoder adds.
    pub(crate) fn own<'x>(&self, x: &'x [f32], rows: &Range<usize>) -> &'x [f32] {
        &x[(rows.start + self.before.len()) * HIDDEN..(rows.end - self.after.len()) * HIDDEN]
    }

    /// The ids of a text as the encoder reads it, and how many did not fit.
    pub(crate) fn ids(&self, index: usize, text: &str) -> Result<(Vec<u32>, usize), EmbedError> {
        let own = self
            .tokenizer
            .0
            .ids(&with_words(text))
            .map_err(|reason| EmbedError::Tokenizer { index, reason })?;
        if own.is_empty() {
            return Err(EmbedError::NoVector { index, model: NAME.to_owned() });
        }
        let read = own.len().min(self.info.max_tokens.unwrap_or(usize::MAX));
        Ok(([&self.before, &own[..read], &self.after].concat(), own.len() - read))
    }
}

impl Embedder for MiniLm {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let read = texts.par_iter().enumerate().map(|(index, text)| self.ids(index, text));
        let read: Vec<(Vec<u32>, usize)> = read.collect::<Result<_, _>>()?;
        let ids: Vec<&[u32]> = read.iter().map(|(ids, _)| ids.as_slice()).collect();
        let encoded = self.bert.tokens(&ids, |x, rows| self.read_tokens(x, rows, role));
        let encoded = encoded.map_err(EmbedError::other)?;
        let statics = self.statics.embed(texts, role)?;
        let beside = encoded.into_iter().zip(statics).zip(&read);
        Ok(beside
            .map(|(((encoded, tokens), statics), &(_, unread_tokens))| Embedding {
                vector: joined(&encoded, &statics.vector),
                unread_tokens,
                sparse: None,
                tokens: Some(tokens),
            })
            .collect())
    }
}

/// The encoder's tokenizer, which reads identifiers as words: it would fold `parseHeader` to `parseheader`, which no text
/// has.
struct Tokenizer(TokenizerFile);

impl TokenCounter for Tokenizer {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn count(&self, text: &str) -> usize {
        self.0.count(&with_words(text))
    }
}

/// Two vectors of length 1 as one.
fn joined(encoded: &[f32], statics: &[f32]) -> Vec<f32> {
    let scaled = |vector: &[f32], share: f32| vector.iter().map(|x| x * share.sqrt()).collect::<Vec<f32>>();
    normalized([scaled(encoded, ENCODER_SHARE), scaled(statics, 1.0 - ENCODER_SHARE)].concat())
}

impl Tensors {
    /// Where a tensor of `len` numbers begins.
    fn start_of(&self, name: &str, len: usize) -> Option<u64> {
        let (place, _) = self.place(name, "F32")?;
        (place.end - place.start == (len * size_of::<f32>()) as u64).then_some(place.start)
    }

    /// The `len` numbers of a tensor.
    fn numbers(&self, name: &str, len: usize) -> Option<Vec<f32>> {
        let mut bytes = vec![0; len * size_of::<f32>()];
        read_at(&self.file, self.start_of(name, len)?, &mut bytes).ok()?;
        Some(bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect())
    }

    fn norm(&self, name: &str) -> Option<Norm> {
        Some(Norm {
            weight: self.numbers(&format!("{name}.LayerNorm.weight"), HIDDEN)?,
            bias: self.numbers(&format!("{name}.LayerNorm.bias"), HIDDEN)?,
        })
    }

    /// Matrices of so many outputs and inputs, below each other.
    fn weights(&self, layer: &str, names: &[&str], outputs: usize, inputs: usize) -> Option<Weights> {
        let mut weights = Weights::new(inputs, outputs * names.len());
        for name in names {
            let matrix = self.numbers(&format!("{layer}.{name}.weight"), outputs * inputs)?;
            let bias = self.numbers(&format!("{layer}.{name}.bias"), outputs)?;
            for (rows, bias) in matrix.chunks_exact(COLUMNS * inputs).zip(bias.chunks_exact(COLUMNS)) {
                weights.push(rows, bias);
            }
        }
        Some(weights)
    }

    fn layer(&self, layer: usize) -> Option<Layer> {
        let name = format!("encoder.layer.{layer}");
        let parts = ["attention.self.query", "attention.self.key", "attention.self.value"];
        Some(Layer {
            query_key_value: self.weights(&name, &parts, HIDDEN, HIDDEN)?,
            attention_out: self.weights(&name, &["attention.output.dense"], HIDDEN, HIDDEN)?,
            attention_norm: self.norm(&format!("{name}.attention.output"))?,
            inner: self.weights(&name, &["intermediate.dense"], INNER, HIDDEN)?,
            outer: self.weights(&name, &["output.dense"], HIDDEN, INNER)?,
            norm: self.norm(&format!("{name}.output"))?,
        })
    }

    /// The encoder; `None` if a tensor of it is missing or of another shape.
    fn into_bert(self) -> Option<Bert> {
        let layers = (0..LAYERS).into_par_iter().map(|layer| self.layer(layer)).collect::<Option<_>>()?;
        let mut positions = self.numbers("embeddings.position_embeddings.weight", POSITIONS * HIDDEN)?;
        // A text alone is of the first of two types.
        let types = self.numbers("embeddings.token_type_embeddings.weight", 2 * HIDDEN)?;
        for position in positions.chunks_exact_mut(HIDDEN) {
            position.iter_mut().zip(&types).for_each(|(position, kind)| *position += kind);
        }
        let words = "embeddings.word_embeddings.weight";
        let start = self.place(words, "F32")?.0.start;
        Some(Bert {
            norm: self.norm("embeddings")?,
            layers,
            words: WordTable { file: self.file, start, numbers: Numbers::Single },
            positions,
            hidden: HIDDEN,
            epsilon: EPSILON,
            buffers: Mutex::default(),
        })
    }
}
