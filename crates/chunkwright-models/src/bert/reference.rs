//! The encoder as its definition has it, in single precision throughout, to which ours is held.

use super::math::gelu;
use crate::e5_file::Shape;
use crate::vectors::normalized;

/// The numbers of a tensor: its name in the file of e5, the first of them and how many.
type Read<'a> = dyn Fn(&str, usize, usize) -> Vec<f32> + 'a;

/// The vector of one text's tokens.
fn embed(Shape { hidden, inner, layers, epsilon, .. }: Shape, read: &Read<'_>, ids: &[u32]) -> Vec<f32> {
    let vector = |name: &str, len: usize| read(name, 0, len);
    let linear = |name: String, x: &[Vec<f32>], outputs: usize| -> Vec<Vec<f32>> {
        let inputs = x[0].len();
        let weights = read(&format!("{name}.w"), 0, outputs * inputs);
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
                *x = (*x - mean) / (variance + epsilon).sqrt() * weight[at] + bias[at];
            }
        }
    };
    let add = |x: &mut [Vec<f32>], more: Vec<Vec<f32>>| {
        x.iter_mut().flatten().zip(more.iter().flatten()).for_each(|(x, more)| *x += more);
    };
    let kinds = vector("emb.type", hidden);
    let mut x: Vec<Vec<f32>> = Vec::new();
    for (position, &id) in ids.iter().enumerate() {
        let mut row = read("emb.word", id as usize * hidden, hidden);
        let place = read("emb.pos", position * hidden, hidden);
        for at in 0..hidden {
            row[at] += place[at] + kinds[at];
        }
        x.push(row);
    }
    norm("emb.ln".to_owned(), &mut x);
    for layer in 0..layers {
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
    use crate::bert::Bert;
    use crate::data::read_at;
    use crate::e5_file::{Head, dequantize, quantized_len};

    fn text(name: &str) -> String {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
        let text = std::fs::read_to_string(corpus.join(name)).unwrap();
        text.split("\n\n").find(|text| text.len() > 120).unwrap().to_owned()
    }

    #[track_caller]
    fn check(bert: &Bert, shape: Shape, read: &Read<'_>, ids: &[u32], least: f32) {
        let ours = bert.tokens(&[ids], |x, rows| bert.mean(x, rows)).unwrap().remove(0);
        let cosine = dot(&ours, &embed(shape, read, ids));
        assert!(cosine > least, "{cosine}");
    }

    #[test]
    fn vectors_of_texts_in_three_languages_are_near_those_of_single_precision() {
        let Some(dir) = crate::test_models::data_dir_with("e5") else { return };
        let file = crate::data::model("e5").unwrap().open(&dir, 0).unwrap();
        let head = Head::read(&file).unwrap();
        let e5 = crate::embedders::E5::open(&dir).unwrap();
        let read = |name: &str, first: usize, len: usize| {
            let (start, mut numbers) = (head.start(name), vec![0.0; len]);
            let is_matrix =
                name == "emb.word" || name.split('.').next_back() == Some("w") && !name.contains("ln.");
            let size = |len: usize| if is_matrix { quantized_len(len) } else { len * size_of::<f32>() };
            let mut bytes = vec![0; size(len)];
            read_at(&file, start + size(first) as u64, &mut bytes).unwrap();
            if is_matrix {
                dequantize(&bytes, &mut numbers);
                return numbers;
            }
            bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect()
        };
        for name in ["en/bread.md", "zh/parcel-api.md", "ru/stove.md"] {
            // The beginning of it: the definition takes its time.
            let (mut ids, _) = e5.ids(&text(name), crate::Role::Passage);
            ids.drain(15..ids.len() - 1);
            check(&e5.bert, head.shape, &read, &ids, 0.998);
        }
    }

    #[test]
    fn vectors_of_the_english_encoder_are_near_those_of_single_precision() {
        let Some(dir) = crate::test_models::data_dir_with("minilm") else { return };
        let model = crate::data::model("minilm").unwrap();
        let file = model.read(&dir, 0).unwrap();
        let tensors = crate::tensors::Tensors::read(model.open(&dir, 0).unwrap()).unwrap();
        let read = |name: &str, start: usize, len: usize| {
            let (place, _) = tensors.place(&their_name(name), "F32").unwrap();
            let numbers = &file[place.start as usize..place.end as usize];
            let numbers = numbers.as_chunks().0[start..start + len].iter();
            numbers.map(|&number| f32::from_le_bytes(number)).collect()
        };
        let minilm = crate::embedders::MiniLm::open(&dir).unwrap();
        let shape =
            Shape { hidden: 384, layers: 6, inner: 1536, vocabulary: 30_522, positions: 512, epsilon: 1e-12 };
        let mut ids = minilm.ids(0, &text("en/bread.md")).unwrap().0;
        ids.drain(15..ids.len() - 1);
        assert_eq!((ids[0], ids[ids.len() - 1]), (101, 102), "as the model's card has it");
        check(&minilm.bert, shape, &read, &ids, 0.996);
    }

    /// The name of a tensor of e5's file in files of `transformers`.
    fn their_name(name: &str) -> String {
        const NAMES: &[(&str, &str)] = &[
            ("aln", "attention.output.LayerNorm"),
            ("oln", "output.LayerNorm"),
            ("ln", "embeddings.LayerNorm"),
            ("word", "embeddings.word_embeddings"),
            ("pos", "embeddings.position_embeddings"),
            ("type", "embeddings.token_type_embeddings"),
            ("q", "attention.self.query"),
            ("k", "attention.self.key"),
            ("v", "attention.self.value"),
            ("ao", "attention.output.dense"),
            ("fi", "intermediate.dense"),
            ("fo", "output.dense"),
        ];
        let mut parts = name.split('.');
        let (place, part) = (parts.next().unwrap(), parts.next().unwrap());
        let layer =
            place.strip_prefix('l').map(|layer| format!("encoder.layer.{layer}.")).unwrap_or_default();
        let theirs = NAMES.iter().find(|(ours, _)| *ours == part).unwrap().1;
        let kind = if parts.next() == Some("b") { "bias" } else { "weight" };
        format!("{layer}{theirs}.{kind}")
    }
}
