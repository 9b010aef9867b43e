//! multilingual-e5-small: one small encoder for a hundred languages.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rayon::prelude::*;

use super::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use crate::bert::{Bert, Layer, Norm, Numbers, WordTable};
use crate::counters::XlmRoberta;
use crate::data::{InstallableModel, ModelError, model};
use crate::e5_file::{Head, dequantize};
use crate::int8::{COLUMNS, Weights};
use crate::late::{Centre, Tokens};
use crate::vectors::normalized;
use crate::xlm_r::{Vocabulary, XlmR};

/// The writing systems that it was made for.
pub(super) const READS: Languages = Languages::All;

/// The name of its vectors.
pub(super) const NAME: &str = "multilingual-e5-small";
/// The prefixes of questions and answers that the model was trained with.
const QUERY: &str = "query:";
const PASSAGE: &str = "passage:";

/// The loaded model.
pub(crate) struct E5 {
    info: ModelInfo,
    vocabulary: Arc<Vocabulary>,
    pub(crate) bert: Bert,
    centre: Centre,
    query: Vec<u32>,
    passage: Vec<u32>,
}

/// The vocabulary of the installed model.
pub(crate) fn vocabulary(data_dir: &Path) -> Result<Vocabulary, ModelError> {
    let model = model("e5")?;
    let head = Head::read(&model.open(data_dir, 0)?);
    Ok(head.ok_or_else(|| model.damaged_file(data_dir, 0))?.vocabulary)
}

impl E5 {
    pub(crate) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        let model: &InstallableModel = model("e5")?;
        Self::read(model.open(data_dir, 0)?).ok_or_else(|| model.damaged_file(data_dir, 0))
    }

    fn read(file: File) -> Option<Self> {
        let head = Head::read(&file)?;
        let bert = bert(&head, file)?;
        let vocabulary = Arc::new(head.vocabulary);
        let [query, passage] = vocabulary.with(&[QUERY, PASSAGE].concat(), |tokenizer| {
            [QUERY, PASSAGE].map(|text| {
                let mut ids = vec![XlmR::BEGIN];
                tokenizer.words(text).for_each(|word| tokenizer.word_ids(word, &mut ids));
                ids
            })
        });
        let added = query.len().max(passage.len()) + 1;
        let info = ModelInfo {
            name: NAME.to_owned(),
            dimension: bert.hidden,
            sparse: false,
            max_tokens: Some(head.shape.positions.checked_sub(added)?),
            counter: Arc::new(XlmRoberta::new(Arc::clone(&vocabulary))),
            reads: READS,
            price_per_million_tokens: None,
        };
        Some(Self { info, vocabulary, bert, centre: Centre::of_e5(), query, passage })
    }

    /// The tokens before a text.
    fn prefix(&self, role: Role) -> &[u32] {
        match role {
            Role::Query => &self.query,
            Role::Passage => &self.passage,
        }
    }

    /// The ids of a text as the model reads it, and how many did not fit.
    pub(crate) fn ids(&self, text: &str, role: Role) -> (Vec<u32>, usize) {
        let prefix = self.prefix(role);
        let mut ids = prefix.to_vec();
        self.vocabulary.with(text, |tokenizer| {
            tokenizer.words(text).for_each(|word| tokenizer.word_ids(word, &mut ids));
        });
        let window = prefix.len() + self.info.max_tokens.unwrap_or(usize::MAX);
        let unread = ids.len().saturating_sub(window);
        ids.truncate(window);
        ids.push(XlmR::END);
        (ids, unread)
    }
}

impl E5 {
    /// The mean of all token vectors after the last layer, and what late interaction
    /// compares of the text's own.
    fn read_tokens(&self, x: &[f32], rows: Range<usize>, role: Role) -> (Vec<f32>, Tokens) {
        let own = self.own(x, &rows, role);
        let tokens = match role {
            Role::Query => self.centre.query(own),
            Role::Passage => self.centre.passage(own),
        };
        (self.bert.mean(x, rows), tokens)
    }

    /// The vectors of each text's own tokens, each of length 1, one after the other; what the model adds is left out.
    ///
    /// # Errors
    ///
    /// If the model's file cannot be read.
    pub(crate) fn token_vectors(&self, texts: &[&str], role: Role) -> io::Result<Vec<Vec<f32>>> {
        let read: Vec<Vec<u32>> = texts.par_iter().map(|text| self.ids(text, role).0).collect();
        let ids: Vec<&[u32]> = read.iter().map(Vec::as_slice).collect();
        let own = |x: &[f32], rows: Range<usize>| {
            let own = self.own(x, &rows, role).chunks_exact(self.bert.hidden);
            own.flat_map(|row| normalized(row.to_vec())).collect()
        };
        self.bert.tokens(&ids, own)
    }

    /// The vectors of a text's own tokens, without those that the model adds.
    fn own<'x>(&self, x: &'x [f32], rows: &Range<usize>, role: Role) -> &'x [f32] {
        &x[(rows.start + self.prefix(role).len()) * self.bert.hidden..(rows.end - 1) * self.bert.hidden]
    }

    /// Length of its vectors.
    pub(crate) fn dimension(&self) -> usize {
        self.bert.hidden
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
        let tokens = |x: &[f32], rows| self.read_tokens(x, rows, role);
        let vectors = self.bert.tokens(&ids, tokens).map_err(EmbedError::other)?;
        let unread = read.iter().map(|(_, unread)| *unread);
        let embeddings = vectors.into_iter().zip(unread);
        Ok(embeddings
            .map(|((vector, tokens), unread_tokens)| Embedding {
                vector,
                unread_tokens,
                sparse: None,
                tokens: Some(tokens),
            })
            .collect())
    }
}

/// The encoder's weights; `None` if the file is malformed.
fn bert(head: &Head, file: File) -> Option<Bert> {
    let (hidden, inner) = (head.shape.hidden, head.shape.inner);
    let norm = |name: &str| {
        Some(Norm {
            weight: head.vector(&file, &format!("{name}.w"), hidden)?,
            bias: head.vector(&file, &format!("{name}.b"), hidden)?,
        })
    };
    let layer = |layer: usize| {
        let weights = |parts: &[&str], outputs: usize, inputs: usize| {
            let mut weights = Weights::new(inputs, outputs * parts.len());
            let mut block = vec![0.0; COLUMNS * inputs];
            for part in parts {
                let quantized = head.quantized(&file, &format!("l{layer}.{part}.w"), outputs * inputs)?;
                let bias = head.vector(&file, &format!("l{layer}.{part}.b"), outputs)?;
                let blocks = quantized.chunks_exact(quantized.len() / (outputs / COLUMNS));
                for (quantized, bias) in blocks.zip(bias.chunks_exact(COLUMNS)) {
                    dequantize(quantized, &mut block);
                    weights.push(&block, bias);
                }
            }
            Some(weights)
        };
        Some(Layer {
            query_key_value: weights(&["q", "k", "v"], hidden, hidden)?,
            attention_out: weights(&["ao"], hidden, hidden)?,
            attention_norm: norm(&format!("l{layer}.aln"))?,
            inner: weights(&["fi"], inner, hidden)?,
            outer: weights(&["fo"], hidden, inner)?,
            norm: norm(&format!("l{layer}.oln"))?,
        })
    };
    // This model uses only the first of BERT's two token types.
    let token_type = head.vector(&file, "emb.type", 2 * hidden)?;
    let mut positions = head.vector(&file, "emb.pos", head.shape.positions.checked_mul(hidden)?)?;
    for position in positions.chunks_exact_mut(hidden) {
        position.iter_mut().zip(&token_type).for_each(|(position, token_type)| *position += token_type);
    }
    let start = head.place("emb.word", head.shape.vocabulary.checked_mul(hidden)?)?;
    Some(Bert {
        norm: norm("emb.ln")?,
        layers: (0..head.shape.layers).into_par_iter().map(layer).collect::<Option<_>>()?,
        words: WordTable { file, start, numbers: Numbers::Quantized },
        positions,
        hidden,
        epsilon: head.shape.epsilon,
        buffers: Mutex::default(),
    })
}
