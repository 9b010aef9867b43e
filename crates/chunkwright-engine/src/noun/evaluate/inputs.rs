//! The inputs of an evaluation: documents, questions, edits, and the models that it needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright::{Document, TokenCounter};
use chunkwright_eval::{Corpus, Edit, ForeignChunks, Questions, edit, history};
use chunkwright_index::Mode;
use chunkwright_models::Embedder;
use chunkwright_source::Input;
use serde_json::{Map, Value};

use crate::core::engine::Engine;
use crate::core::models;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::request::documents::{DocumentsRequest, ReadReport};
use crate::request::evaluate::{EditsRequest, EvaluationStep};
use crate::words::count;

impl Engine {
    /// Reads and parses all documents except the files in `others`.
    pub(super) fn corpus<'a>(
        &self,
        request: &DocumentsRequest,
        others: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<(Corpus, ReadReport), Error> {
        let mut request = request.clone();
        request.exclude.extend(others.filter_map(|path| path.canonicalize().ok()));
        let mut found = self.documents(&request)?;
        let mut documents: Vec<Document> = Vec::with_capacity(found.len());
        found.parse(|document| {
            documents.extend(document);
            Ok::<(), Error>(())
        })?;
        let read = found.report();
        Ok((Corpus::new(documents), read))
    }

    /// The embedder for `modes`; `None` for lexical search alone. `name` is used if the settings name none.
    pub(super) fn embedder_for(
        &self,
        modes: &[Mode],
        name: Option<&str>,
    ) -> Result<Option<Arc<dyn Embedder>>, Error> {
        if modes.iter().all(|mode| *mode == Mode::Lexical) && !modes.is_empty() {
            return Ok(None);
        }
        let embedder = self.embedder_or(name)?;
        if embedder.is_none() && modes.contains(&Mode::Dense) {
            return Err(Error::NoEmbedder);
        }
        let gives_sparse = embedder.as_ref().is_some_and(|embedder| embedder.model().sparse);
        if !gives_sparse && modes.contains(&Mode::Sparse) {
            return Err(Error::NoSparseEmbedder);
        }
        Ok(embedder)
    }

    /// The token counter for a reader's budget.
    pub(super) fn budget_counter(&self, name: Option<&str>) -> Result<Arc<dyn TokenCounter>, Error> {
        name.map_or_else(|| self.counter(), |name| models::counter_called(self.settings(), name))
    }
}

/// Reads the questions of `path`; reports each invalid one.
pub(super) fn questions(
    path: &Path,
    corpus: &Corpus,
    on_step: &mut dyn FnMut(EvaluationStep),
) -> Result<Questions, Error> {
    let shown = || path.display().to_string();
    let bytes = fs::read(path).map_err(|error| Error::Questions { path: shown(), error })?;
    let Ok(jsonl) = String::from_utf8(bytes) else {
        return Err(Error::NotUtf8 { path: shown() });
    };
    read_questions(path, &jsonl, corpus, on_step)
}

/// Questions from the request itself.
pub(super) fn inline_questions(
    lines: &[Map<String, Value>],
    corpus: &Corpus,
    on_step: &mut dyn FnMut(EvaluationStep),
) -> Result<Questions, Error> {
    let jsonl: Result<Vec<String>, serde_json::Error> = lines.iter().map(serde_json::to_string).collect();
    read_questions(Path::new("the request"), &jsonl?.join("\n"), corpus, on_step)
}

fn read_questions(
    path: &Path,
    jsonl: &str,
    corpus: &Corpus,
    on_step: &mut dyn FnMut(EvaluationStep),
) -> Result<Questions, Error> {
    let questions = Questions::read(jsonl, corpus);
    for (line, error) in &questions.refused {
        on_step(EvaluationStep::Refused { path: path.to_owned(), line: *line, reason: error.to_string() });
    }
    if questions.questions.is_empty() {
        let why = match questions.refused.len() {
            0 => "it is empty; expected lines such as {\"question\": .., \"doc_id\": .., \"excerpt\": ..}"
                .to_owned(),
            number => format!("none of its {} can be", count(number, "line")),
        };
        return Err(Error::NoQuestion { path: path.display().to_string(), why });
    }
    Ok(questions)
}

/// Reads the chunks of a file, and its name. Reports and counts each invalid line.
pub(super) fn chunks(
    path: &Path,
    corpus: &Corpus,
    refused: &mut usize,
    on_step: &mut dyn FnMut(EvaluationStep),
) -> Result<(String, ForeignChunks), Error> {
    let shown = || path.display().to_string();
    let jsonl = fs::read_to_string(path).map_err(|error| Error::Chunks { path: shown(), error })?;
    let chunks = ForeignChunks::read(&jsonl, corpus);
    for (line, error) in &chunks.refused {
        on_step(EvaluationStep::Refused { path: path.to_owned(), line: *line, reason: error.to_string() });
    }
    *refused += chunks.refused.len();
    if chunks.chunks.is_empty() {
        return Err(Error::NoForeignChunk { path: shown() });
    }
    if let Some(first) = chunks.unplaced.first() {
        let message = format!(
            "the text of {} of {} in `{}`, such as line {first}, is not in the document: it is searched, and holds no answer",
            chunks.unplaced.len(),
            count(chunks.chunks.len(), "chunk"),
            path.display()
        );
        on_step(EvaluationStep::Notice(Notice::new(NoticeCode::Unplaced, message)));
    }
    let name = path.file_name().map_or_else(shown, |name| name.to_string_lossy().into_owned());
    Ok((name, chunks))
}

/// The edits to measure, and a description of their origin. Reports and counts each invalid line.
pub(super) fn edits(
    request: &EditsRequest,
    corpus: &Corpus,
    documents: &DocumentsRequest,
    seed: u64,
    refused: &mut usize,
    on_step: &mut dyn FnMut(EvaluationStep),
) -> Result<(Vec<Edit>, Vec<String>), Error> {
    let count = match request {
        EditsRequest::Drawn(count) => *count,
        EditsRequest::File(path) => {
            let shown = || path.display().to_string();
            let jsonl = fs::read_to_string(path).map_err(|error| Error::Edits { path: shown(), error })?;
            let (edits, wrong) = edit::read(&jsonl);
            for (line, error) in &wrong {
                on_step(EvaluationStep::Refused {
                    path: path.clone(),
                    line: *line,
                    reason: error.to_string(),
                });
            }
            *refused += wrong.len();
            if edits.is_empty() {
                return Err(Error::NoEdit { path: shown() });
            }
            return Ok((edits, vec!["a file".into()]));
        }
    };
    let mut edits = edit::synthetic(corpus, count, seed);
    let mut from = vec![format!("{} drawn at random", edits.len())];
    let before = edits.len();
    for input in &documents.inputs {
        let Input::Path(path) = input else { continue };
        match history::edits(path, count, seed) {
            Ok(found) => edits.extend(found),
            Err(why) => {
                on_step(EvaluationStep::Notice(Notice::new(NoticeCode::PartlyUsed, why.to_string())));
            }
        }
    }
    if edits.len() > before {
        from.push(format!("{} from the git history", edits.len() - before));
    }
    Ok((edits, from))
}
