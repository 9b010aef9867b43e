//! The encoder as its definition has it, in single precision throughout, to which ours is held.

use std::fs::File;

use super::math::gelu;
use crate::e5_file::{Head, dequantize, quantized_len};
use crate::vectors::normalized;

/// The vector of one text's tokens.
fn embed(head: &Head, file: &File, ids: &[u32]) -> Vec<f32> {
    let (hidden, inner) = (head.shape.hidden, head.shape.inner);
    let vector = |name: &str, len: usize| head.vector(file, name, len).unwrap();
    let matrix = |name: &str, rows: usize, columns: usize| {
        let mut numbers = vec![0.0; rows * columns];
        dequantize(&head.quantized(file, name, rows * columns).unwrap(), &mut numbers);
        numbers
    };
    let linear = |name: String, x: &[Vec<f32>], outputs: usize| -> Vec<Vec<f32>> {
        let inputs = x[0].len();
        let weights = matrix(&format!("{name}.w"), outputs, inputs);
        let bias = vector(&format!("{name}.b"), outputs);
        let apply = |x: &Vec<f32>| {
            let outputs = weights.chunks_exact(inputs).zip(&bias);
            outputs.map(|(weights, bias)| dot(weights, x) + bias).collect()
        };
        x.iter().map(apply).collect()
    };
    let norm = |name: String, x: &mut [Vec<f32>]| {
        let (weight, bias) = (vector(&format!("{name}.w"), hidden), vector(&format!("{name}.b"), hidden));
        for row in x {
            let mean = row.iter().sum::<f32>() / hidden as f32;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / hidden as f32;
            for (at, x) in row.iter_mut().enumerate() {
                *x = (*x - mean) / (variance + head.shape.epsilon).sqrt() * weight[at] + bias[at];
            }
        }
    };
    let add = |x: &mut [Vec<f32>], more: Vec<Vec<f32>>| {
        x.iter_mut().flatten().zip(more.iter().flatten()).for_each(|(x, more)| *x += more);
    };
    let words = head.quantized(file, "emb.word", head.shape.vocabulary * hidden).unwrap();
    let positions = vector("emb.pos", head.shape.positions * hidden);
    let kinds = vector("emb.type", 2 * hidden);
    let mut x: Vec<Vec<f32>> = Vec::new();
    for (position, &id) in ids.iter().enumerate() {
        let mut row = vec![0.0; hidden];
        dequantize(&words[id as usize * quantized_len(hidden)..][..quantized_len(hidden)], &mut row);
        for at in 0..hidden {
            row[at] += positions[position * hidden + at] + kinds[at];
        }
        x.push(row);
    }
    norm("emb.ln".to_owned(), &mut x);
    for layer in 0..head.shape.layers {
        let [query, key, value] = ["q", "k", "v"].map(|part| linear(format!("l{layer}.{part}"), &x, hidden));
        let mut attended = vec![vec![0.0; hidden]; x.len()];
        for first in (0..hidden).step_by(32) {
            for (out, query) in attended.iter_mut().zip(&query) {
                let fit =
                    |key: &Vec<f32>| dot(&query[first..first + 32], &key[first..first + 32]) / 32_f32.sqrt();
                let fits: Vec<f32> = key.iter().map(fit).collect();
                let largest = fits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let weights: Vec<f32> = fits.iter().map(|fit| (fit - largest).exp()).collect();
                let total: f32 = weights.iter().sum();
                for at in first..first + 32 {
                    out[at] =
                        weights.iter().zip(&value).map(|(weight, value)| weight * value[at]).sum::<f32>()
                            / total;
                }
            }
        }
        add(&mut x, linear(format!("l{layer}.ao"), &attended, hidden));
        norm(format!("l{layer}.aln"), &mut x);
        let mut wide = linear(format!("l{layer}.fi"), &x, inner);
        for row in &mut wide {
            gelu(row);
        }
        add(&mut x, linear(format!("l{layer}.fo"), &wide, hidden));
        norm(format!("l{layer}.oln"), &mut x);
    }
    let sums = (0..hidden).map(|at| x.iter().map(|row| row[at]).sum());
    normalized(sums.collect())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_texts_in_three_languages_are_near_those_of_single_precision() {
        let Some(dir) = crate::test_models::data_dir_with("e5") else { return };
        let file = crate::data::model("e5").unwrap().open(&dir, 0).unwrap();
        let head = Head::read(&file).unwrap();
        let e5 = crate::embedders::E5::open(&dir).unwrap();
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
        for name in ["en/bread.md", "zh/parcel-api.md", "ru/stove.md"] {
            let text = std::fs::read_to_string(corpus.join(name)).unwrap();
            let text = text.split("\n\n").find(|text| text.len() > 120).unwrap();
            // The beginning of it: the definition takes its time.
            let (mut ids, _) = e5.ids(text, crate::Role::Passage);
            ids.drain(15..ids.len() - 1);
            let ours = e5.bert.tokens(&[&ids], |x, rows| e5.bert.mean(x, rows)).unwrap().remove(0);
            let cosine = dot(&ours, &embed(&head, &file, &ids));
            assert!(cosine > 0.998, "{cosine}: {text}");
        }
    }
}
