//! The settings of an exported model: its graph, how its tokens become one vector, its window and its prompts.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// What the files of a folder say.
#[derive(Debug, PartialEq)]
pub(crate) struct Folder {
    /// The graph.
    pub(crate) graph: PathBuf,
    pub(crate) pooling: Pooling,
    /// Tokens that the model reads, with those that it adds.
    pub(crate) max_tokens: Option<usize>,
    /// Text before questions and before passages.
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
}

/// How the vectors of tokens become that of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Their mean.
    Mean,
    /// The first.
    First,
    /// The last.
    Last,
}

/// Where exports put a graph, the first that exists.
const GRAPHS: [&str; 6] = [
    "onnx/model.onnx",
    "model.onnx",
    "onnx/model_quantized.onnx",
    "model_quantized.onnx",
    "onnx/model_int8.onnx",
    "model_int8.onnx",
];

/// Largest window that is believed: tokenizers of models without one name 10^30.
const MAX_TOKENS: u64 = 1 << 20;

impl Folder {
    /// Reads the folder; an error is a sentence.
    pub(crate) fn read(dir: &Path) -> Result<Self, String> {
        let graph = GRAPHS.iter().map(|name| dir.join(name)).find(|path| path.is_file());
        let graph = graph.map_or_else(|| only_graph(dir), Ok)?;
        let pooling = pooling(json(dir, "1_Pooling/config.json")?.as_ref())?;
        let windows = [
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
            ("config.json", "max_position_embeddings"),
        ];
        let mut max_tokens = None;
        for (name, key) in windows {
            let found = json(dir, name)?.and_then(|file| file.get(key)?.as_u64());
            let found = found.filter(|&tokens| tokens <= MAX_TOKENS).map(|tokens| tokens as usize);
            max_tokens = max_tokens.or(found);
        }
        let settings = json(dir, "config_sentence_transformers.json")?;
        let prompt = |names: &[&str]| {
            let prompts = settings.as_ref()?.get("prompts")?;
            names.iter().find_map(|name| prompts.get(name)?.as_str()).map(str::to_owned)
        };
        Ok(Self {
            graph,
            pooling,
            max_tokens,
            query_prefix: prompt(&["query"]).unwrap_or_default(),
            passage_prefix: prompt(&["passage", "document"]).unwrap_or_default(),
        })
    }
}

/// The only graph of a folder that names it otherwise.
fn only_graph(dir: &Path) -> Result<PathBuf, String> {
    let entries = [dir.to_owned(), dir.join("onnx")].into_iter().flat_map(|dir| dir.read_dir()).flatten();
    let graphs = entries.flatten().map(|entry| entry.path());
    let graphs: Vec<PathBuf> =
        graphs.filter(|path| path.extension().is_some_and(|extension| extension == "onnx")).collect();
    match <[PathBuf; 1]>::try_from(graphs) {
        Ok([graph]) => Ok(graph),
        Err(graphs) if graphs.is_empty() => Err("it has no graph, such as `onnx/model.onnx`".to_owned()),
        Err(_) => Err("it has several graphs, and none of them is `onnx/model.onnx`".to_owned()),
    }
}

/// A file of JSON; `None` if there is none.
fn json(dir: &Path, name: &str) -> Result<Option<Value>, String> {
    match std::fs::read(dir.join(name)) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| format!("`{name}`: {error}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{name}`: {error}")),
    }
}

/// Models whose folder says nothing of it are taken to be of the mean, as sentence-transformers does.
fn pooling(file: Option<&Value>) -> Result<Pooling, String> {
    let Some(Value::Object(file)) = file else { return Ok(Pooling::Mean) };
    // Older files have a switch for each, newer ones a name.
    let switched = file.iter().filter(|(_, value)| **value == true).map(|(key, _)| key.as_str());
    let mut modes: Vec<&str> = switched.filter_map(|key| key.strip_prefix("pooling_mode_")).collect();
    modes.extend(file.get("pooling_mode").and_then(Value::as_str));
    match modes[..] {
        [] | ["mean_tokens" | "mean"] => Ok(Pooling::Mean),
        ["cls_token" | "cls"] => Ok(Pooling::First),
        ["lasttoken"] => Ok(Pooling::Last),
        _ => Err(format!(
            "`1_Pooling/config.json`: unsupported pooling {modes:?}; known are mean, cls and lasttoken"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Result<Folder, String>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let folder = Folder::read(dir.path());
        (dir, folder)
    }

    #[test]
    fn the_files_of_sentence_transformers_are_read() {
        let (dir, folder) = folder(&[
            ("onnx/model.onnx", ""),
            ("onnx/model_quantized.onnx", ""),
            (
                "1_Pooling/config.json",
                r#"{"word_embedding_dimension": 384, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false, "include_prompt": true}"#,
            ),
            ("sentence_bert_config.json", r#"{"max_seq_length": 256}"#),
            ("config.json", r#"{"max_position_embeddings": 512}"#),
            (
                "config_sentence_transformers.json",
                r#"{"prompts": {"query": "query: ", "document": "passage: "}}"#,
            ),
        ]);
        assert_eq!(
            folder.unwrap(),
            Folder {
                graph: dir.path().join("onnx/model.onnx"),
                pooling: Pooling::First,
                max_tokens: Some(256),
                query_prefix: "query: ".to_owned(),
                passage_prefix: "passage: ".to_owned(),
            }
        );
    }

    #[test]
    fn a_graph_alone_is_enough_and_any_other_name_is_found() {
        let (dir, folder) = folder(&[
            ("qint8.onnx", ""),
            ("tokenizer_config.json", r#"{"model_max_length": 1000000000000000019884624838656}"#),
        ]);
        let folder = folder.unwrap();
        assert_eq!((folder.graph, folder.pooling), (dir.path().join("qint8.onnx"), Pooling::Mean));
        assert_eq!((folder.max_tokens, folder.query_prefix.as_str()), (None, ""));
    }

    #[test]
    fn what_is_missing_or_unsupported_is_named() {
        let check = |files: &[(&str, &str)], expected: &str| {
            let error = folder(files).1.unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(&[], "no graph");
        check(&[("a.onnx", ""), ("onnx/b.onnx", "")], "several graphs");
        check(&[("model.onnx", ""), ("config.json", "{")], "`config.json`: ");
        let max = r#"{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true}"#;
        check(&[("model.onnx", ""), ("1_Pooling/config.json", max)], "unsupported pooling");
        let last = r#"{"pooling_mode": "lasttoken"}"#;
        let folder = folder(&[("model.onnx", ""), ("1_Pooling/config.json", last)]).1.unwrap();
        assert_eq!(folder.pooling, Pooling::Last);
    }
}
