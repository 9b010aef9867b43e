//! The BERT encoder: token ids in, one vector per text out.
//!
//! Written here rather than run by an inference library, because it is a page of matrix products: no native library to
//! find at run time, no export of weights to another format, and texts are laid end to end without padding. Products with
//! weights are of 8-bit integers ([`int8`](crate::int8)), the rest is single precision. Every sum has an order of its own
//! that no processor, batch or number of threads changes, and so has every vector.

mod attention;
mod math;
#[cfg(test)]
mod reference;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;

use parking_lot::Mutex;
use rayon::prelude::*;

use self::attention::Heads;
use self::math::{gelu, normalize};
use crate::data::read_at;
use crate::e5_file::{dequantize, quantized_len};
use crate::int8::{Activations, Weights};
use crate::vectors::normalized;

/// An encoder with its weights.
pub(crate) struct Bert {
    pub(crate) words: WordTable,
    /// Vectors of positions, with the vector of the only token type added.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
    /// Length of the vectors, a multiple of that of a head.
    pub(crate) hidden: usize,
    pub(crate) epsilon: f32,
    /// As many as there were threads at once: what they hold would otherwise be cleared by the system for each batch.
    pub(crate) buffers: Mutex<Vec<Buffers>>,
}

/// Vectors of tokens: by far the largest matrix, of which a text needs a few rows. They are read from the file when they
/// are needed.
pub(crate) struct WordTable {
    pub(crate) file: File,
    /// Where they begin.
    pub(crate) start: u64,
    pub(crate) numbers: Numbers,
}

/// How a file has the numbers of a matrix.
#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    /// In the quantized blocks of [`e5_file`](crate::e5_file).
    Quantized,
    /// In single precision, little endian.
    Single,
}

/// Scale and shift of a layer normalization.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// One layer: self-attention, then a two-layer network, each added to its input and normalized.
pub(crate) struct Layer {
    /// Query, key and value below each other.
    pub(crate) query_key_value: Weights,
    pub(crate) attention_out: Weights,
    pub(crate) attention_norm: Norm,
    pub(crate) inner: Weights,
    pub(crate) outer: Weights,
    pub(crate) norm: Norm,
}

/// Tokens that are computed together: enough to keep matrix products busy, few enough to stay in a
/// core's cache.
const BATCH_TOKENS: usize = 512;

/// Most tokens whose vectors a thread keeps, 3 MB: most of a text are tokens of the texts before.
const KEPT_WORDS: usize = 2048;

/// What a batch is computed in: rows of tokens.
#[derive(Default)]
pub(crate) struct Buffers {
    words: HashMap<u32, Box<[f32]>>,
    x: Vec<f32>,
    quantized: Activations,
    /// Query, key and value, or the inner layer.
    wide: Vec<f32>,
    attended: Vec<f32>,
    heads: Heads,
}

impl Bert {
    /// The mean of some rows of token vectors, scaled to length 1.
    pub(crate) fn mean(&self, x: &[f32], rows: Range<usize>) -> Vec<f32> {
        let mut mean = vec![0.0; self.hidden];
        for row in x[rows.start * self.hidden..rows.end * self.hidden].chunks_exact(self.hidden) {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x);
        }
        for mean in &mut mean {
            *mean /= rows.len() as f32;
        }
        normalized(mean)
    }

    /// What `read` makes of each text's token vectors after the last layer: of those of all texts that are computed
    /// together, one after the other, and the rows of this one. Computes on the threads of the current rayon pool.
    ///
    /// Each text must hold at least one token, no more tokens than there are positions, and no id beyond the
    /// vocabulary.
    ///
    /// # Errors
    ///
    /// If the vectors of words cannot be read.
    pub(crate) fn tokens<T: Send>(
        &self,
        texts: &[&[u32]],
        read: impl Fn(&[f32], Range<usize>) -> T + Sync,
    ) -> io::Result<Vec<T>> {
        let batches = batches(texts);
        let read: io::Result<Vec<Vec<T>>> =
            batches.par_iter().map(|batch| self.tokens_of_batch(batch, &read)).collect();
        Ok(read?.into_iter().flatten().collect())
    }

    fn tokens_of_batch<T>(
        &self,
        texts: &[&[u32]],
        read: impl Fn(&[f32], Range<usize>) -> T,
    ) -> io::Result<Vec<T>> {
        let taken = self.buffers.lock().pop();
        let mut buffers = taken.unwrap_or_default();
        self.look_up(texts, &mut buffers)?;
        for layer in &self.layers {
            self.apply(layer, texts, &mut buffers);
        }
        let texts = rows(texts).map(|rows| read(&buffers.x, rows)).collect();
        self.buffers.lock().push(buffers);
        Ok(texts)
    }

    fn look_up(&self, texts: &[&[u32]], Buffers { words, x, .. }: &mut Buffers) -> io::Result<()> {
        let tokens: usize = texts.iter().map(|text| text.len()).sum();
        x.resize(tokens * self.hidden, 0.0);
        let places = texts.iter().flat_map(|text| text.iter().enumerate());
        let mut bytes = Vec::new();
        for (row, (position, &id)) in x.chunks_exact_mut(self.hidden).zip(places) {
            if let Some(word) = words.get(&id) {
                row.copy_from_slice(word);
            } else {
                self.words.read(id, row, &mut bytes)?;
                if words.len() == KEPT_WORDS {
                    words.clear();
                }
                words.insert(id, (&*row).into());
            }
            let positions = &self.positions[position * self.hidden..][..self.hidden];
            row.iter_mut().zip(positions).for_each(|(x, position)| *x += position);
        }
        self.norm.apply(x, self.epsilon);
        Ok(())
    }

    fn apply(&self, layer: &Layer, texts: &[&[u32]], buffers: &mut Buffers) {
        let Buffers { x, quantized, wide, attended, heads, .. } = buffers;
        let tokens = x.len() / self.hidden;
        quantized.set(x, self.hidden);
        // Rows are of one length at a time: the rest would be cleared each time that it is needed again.
        let outputs = layer.query_key_value.outputs();
        wide.resize(tokens * outputs.max(layer.inner.outputs()), 0.0);
        layer.query_key_value.apply(quantized, &mut wide[..tokens * outputs]);
        attended.resize(x.len(), 0.0);
        for rows in rows(texts) {
            let all = &wide[3 * rows.start * self.hidden..3 * rows.end * self.hidden];
            heads.attend(all, self.hidden, &mut attended[rows.start * self.hidden..rows.end * self.hidden]);
        }
        quantized.set(attended, self.hidden);
        layer.attention_out.add_to(quantized, x);
        layer.attention_norm.apply(x, self.epsilon);
        quantized.set(x, self.hidden);
        let wide = &mut wide[..tokens * layer.inner.outputs()];
        layer.inner.apply(quantized, wide);
        gelu(wide);
        quantized.set(wide, layer.inner.outputs());
        layer.outer.add_to(quantized, x);
        layer.norm.apply(x, self.epsilon);
    }
}

impl WordTable {
    /// Sets `row` to the vector of a token.
    fn read(&self, id: u32, row: &mut [f32], bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = match self.numbers {
            Numbers::Quantized => quantized_len(row.len()),
            Numbers::Single => size_of_val(row),
        };
        bytes.resize(len, 0);
        read_at(&self.file, self.start + u64::from(id) * len as u64, bytes)?;
        match self.numbers {
            Numbers::Quantized => dequantize(bytes, row),
            Numbers::Single => {
                let numbers = bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number));
                row.iter_mut().zip(numbers).for_each(|(x, number)| *x = number);
            }
        }
        Ok(())
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

/// The rows of each text, when texts are laid end to end.
fn rows(texts: &[&[u32]]) -> impl Iterator<Item = Range<usize>> {
    texts.iter().scan(0, |start, text| {
        let rows = *start..*start + text.len();
        *start = rows.end;
        Some(rows)
    })
}

impl Norm {
    fn apply(&self, x: &mut [f32], epsilon: f32) {
        x.chunks_exact_mut(self.weight.len())
            .for_each(|row| normalize(row, &self.weight, &self.bias, epsilon));
    }
}
