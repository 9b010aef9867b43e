//! Counters, embedders, rerankers and strategies that callers write in Python.
//!
//! An exception that one of them raises stops the work and is raised by the call that it belongs to: counting and cutting
//! cannot fail, so [`Calls`] keeps it until then.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::chunk::{Plan, Strategy};
use chunkwright::{Cut, Document, Span, TokenCounter};
use chunkwright_engine::Error;
use chunkwright_models::{
    EmbedError, Embedder, Embedding, Languages, ModelInfo, RerankError, Reranker, Role,
};
use parking_lot::Mutex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::work::{Cancel, Failure};

/// The calls of code in Python during one piece of work: the first exception, and the flag that stops the work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) cancel: Cancel,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Calls {
    /// Calls `function` with the interpreter's lock; an exception is kept, and the work stopped.
    fn call<T>(&self, function: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        Python::attach(function)
            .inspect_err(|error| {
                let error = Python::attach(|py| error.clone_ref(py));
                self.raised.lock().get_or_insert(error);
                self.cancel.store(true, Ordering::Relaxed);
            })
            .ok()
    }

    /// The result of the work, or the exception that stopped it.
    pub(crate) fn checked<T>(&self, result: Result<T, Error>) -> Result<T, Failure> {
        match self.raised.lock().take() {
            Some(raised) => {
                self.cancel.store(false, Ordering::Relaxed);
                Err(Failure::Raised(raised))
            }
            None => Ok(result?),
        }
    }
}

/// What stands in for what the settings name.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) counter: Option<Arc<dyn TokenCounter>>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
    pub(crate) strategy: Option<Arc<dyn Strategy>>,
}

impl Own {
    pub(crate) fn is_empty(&self) -> bool {
        self.counter.is_none()
            && self.embedder.is_none()
            && self.reranker.is_none()
            && self.strategy.is_none()
    }

    /// Takes `value` as what the key `name` stands for, if that key can be code.
    pub(crate) fn take(&mut self, name: &str, value: &Bound<'_, PyAny>, calls: &Calls) -> PyResult<bool> {
        match name {
            "tokenizer" => self.counter = Some(Arc::new(Counter::new(value, calls.clone())?)),
            "embedder" => self.embedder = Some(Arc::new(OwnEmbedder::new(value, calls.clone())?)),
            "reranker" => self.reranker = Some(Arc::new(OwnReranker::new(value, calls.clone())?)),
            "strategy" => self.strategy = Some(Arc::new(OwnStrategy::new(value, calls.clone())?)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The name by which results remember a function or an object: its `name` or that of its model, else that of its code.
fn name_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    for attribute in ["name", "model_name", "model", "__name__"] {
        if let Some(name) = value.getattr_opt(attribute)?
            && let Ok(name) = name.extract::<String>()
            && !name.trim().is_empty()
        {
            return Ok(name);
        }
    }
    Ok(value.get_type().qualname()?.to_string())
}

/// The method of an object that is called, or the object itself if it is a function.
fn method(value: &Bound<'_, PyAny>, names: &[&str], key: &str) -> PyResult<Py<PyAny>> {
    for name in names {
        if let Some(method) = value.getattr_opt(*name)?.filter(PyAnyMethods::is_callable) {
            return Ok(method.unbind());
        }
    }
    if value.is_callable() {
        return Ok(value.clone().unbind());
    }
    let said = format!(
        "`{key}` is an object of `{}`; it must be a name, a function, or an object with `{}`",
        value.get_type().qualname()?,
        names.join("` or `")
    );
    Err(PyTypeError::new_err(said))
}

/// Counts by a function of a text, which returns a number or what has a length: tokens.
struct Counter {
    name: String,
    count: Py<PyAny>,
    calls: Calls,
}

impl Counter {
    fn new(value: &Bound<'_, PyAny>, calls: Calls) -> PyResult<Self> {
        Ok(Self {
            name: name_of(value)?,
            count: method(value, &["encode_ordinary", "encode"], "tokenizer")?,
            calls,
        })
    }
}

impl TokenCounter for Counter {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> usize {
        // After an exception, nothing depends on the number any more.
        if self.calls.cancel.load(Ordering::Relaxed) {
            return text.len();
        }
        let count = |py: Python<'_>| {
            let counted = self.count.bind(py).call1((text,))?;
            counted.extract::<usize>().or_else(|_| counted.len())
        };
        self.calls.call(count).unwrap_or(text.len())
    }
}

/// Embeds by a function of a list of texts, which returns a list of vectors.
struct OwnEmbedder {
    model: ModelInfo,
    passages: Py<PyAny>,
    /// A function of one question; without one, questions are embedded as passages are.
    query: Option<Py<PyAny>>,
    calls: Calls,
}

impl OwnEmbedder {
    fn new(value: &Bound<'_, PyAny>, calls: Calls) -> PyResult<Self> {
        let passages = method(value, &["embed_documents", "encode"], "embedder")?;
        let query = value.getattr_opt("embed_query")?.map(Bound::unbind);
        let py = value.py();
        let vectors = vectors(passages.bind(py).call1((["dimension"],))?)?;
        let dimension = vectors.first().map_or(0, Vec::len);
        if dimension == 0 {
            return Err(PyValueError::new_err(
                "`embedder` gave no vector for a text; it must return one for each",
            ));
        }
        let limit = ["max_tokens", "max_seq_length"]
            .iter()
            .find_map(|name| value.getattr(*name).ok()?.extract().ok());
        let counter: Arc<dyn TokenCounter> = match value.getattr_opt("count_tokens")? {
            Some(count) => {
                Arc::new(Counter { name: name_of(value)?, count: count.unbind(), calls: calls.clone() })
            }
            None => Arc::new(chunkwright::Chars),
        };
        let model = ModelInfo {
            name: format!("own:{}", name_of(value)?),
            dimension,
            sparse: false,
            // A limit in tokens means nothing without what counts them.
            max_tokens: limit.filter(|_| counter.name() != chunkwright::Chars.name()),
            counter,
            reads: Languages::All,
            price_per_million_tokens: None,
        };
        Ok(Self { model, passages, query, calls })
    }
}

impl Embedder for OwnEmbedder {
    fn model(&self) -> &ModelInfo {
        &self.model
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let embed = |py: Python<'_>| match (&self.query, role) {
            (Some(query), Role::Query) => {
                texts.iter().map(|text| query.bind(py).call1((*text,))?.extract::<Vec<f32>>()).collect()
            }
            _ => vectors(self.passages.bind(py).call1((texts.to_vec(),))?),
        };
        if self.calls.cancel.load(Ordering::Relaxed) {
            return Err(EmbedError::other("the call was interrupted"));
        }
        let raised = || EmbedError::other("the embedder raised an exception");
        let vectors: Vec<Vec<f32>> = self.calls.call(embed).ok_or_else(raised)?;
        if vectors.len() != texts.len() || vectors.iter().any(|vector| vector.len() != self.model.dimension) {
            let (given, dimension) = (vectors.len(), self.model.dimension);
            return Err(EmbedError::other(format!(
                "the embedder gave {given} vectors for {} texts; it must give one of {dimension} numbers for each",
                texts.len()
            )));
        }
        let embedding = |(index, mut vector): (usize, Vec<f32>)| {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            if !length.is_normal() {
                return Err(EmbedError::NoVector { index, model: self.model.name.clone() });
            }
            for value in &mut vector {
                *value /= length;
            }
            Ok(Embedding { vector, unread_tokens: 0, sparse: None, tokens: None })
        };
        vectors.into_iter().enumerate().map(embedding).collect()
    }
}

/// A list of vectors: lists of numbers, or the rows of an array.
fn vectors(value: Bound<'_, PyAny>) -> PyResult<Vec<Vec<f32>>> {
    match value.getattr_opt("tolist")? {
        Some(tolist) => tolist.call0()?.extract(),
        None => value.try_iter()?.map(|vector| vector?.extract()).collect(),
    }
}

/// Scores by a function of a question and a list of texts, which returns a list of numbers.
struct OwnReranker {
    name: String,
    score: Py<PyAny>,
    calls: Calls,
}

impl OwnReranker {
    fn new(value: &Bound<'_, PyAny>, calls: Calls) -> PyResult<Self> {
        let name = format!("own:{}", name_of(value)?);
        Ok(Self { name, score: method(value, &["rerank", "score"], "reranker")?, calls })
    }
}

impl Reranker for OwnReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let score = |py: Python<'_>| {
            let scores = self.score.bind(py).call1((query, texts.to_vec()))?;
            scores.try_iter()?.map(|score| score?.extract()).collect::<PyResult<Vec<f32>>>()
        };
        let scores =
            self.calls.call(score).ok_or_else(|| RerankError::other("the reranker raised an exception"))?;
        if scores.len() == texts.len() {
            return Ok(scores);
        }
        let said = format!(
            "the reranker gave {} scores for {} texts; it must give one for each",
            scores.len(),
            texts.len()
        );
        Err(RerankError::other(said))
    }
}

/// Cuts by a function of a text and the limit, which returns where chunks begin, or their ranges, in characters.
struct OwnStrategy {
    name: &'static str,
    cut: Py<PyAny>,
    calls: Calls,
}

impl OwnStrategy {
    fn new(value: &Bound<'_, PyAny>, calls: Calls) -> PyResult<Self> {
        let name: String = name_of(value)?.to_lowercase();
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let name = name.trim_start_matches(|c: char| !c.is_ascii_lowercase());
        let name = if name.is_empty() { "own" } else { name };
        Ok(Self { name: interned(name), cut: method(value, &["cut"], "strategy")?, calls })
    }
}

/// A name that lasts as long as the process; equal ones are kept once.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

/// Where a chunk is: from its beginning to the next, or a range.
#[derive(FromPyObject)]
enum Place {
    Begin(usize),
    Range(usize, usize),
}

impl Strategy for OwnStrategy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> (u16, u16) {
        (1, 0)
    }

    fn summary(&self) -> &'static str {
        "a function of the caller"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let text = document.source();
        let max_size = plan.config.max_size;
        let cut = |py: Python<'_>| self.cut.bind(py).call1((text, max_size))?.extract::<Vec<Place>>();
        let Some(places) = self.calls.call(cut) else { return };
        // Byte offset of each character, and of the end.
        let bytes: Vec<u32> =
            text.char_indices().map(|(at, _)| at as u32).chain([text.len() as u32]).collect();
        let byte = |at: usize| bytes[at.min(bytes.len() - 1)];
        let begins = |place: &Place| match place {
            Place::Begin(start) | Place::Range(start, _) => *start,
        };
        for (index, place) in places.iter().enumerate() {
            let end = match place {
                Place::Range(_, end) => *end,
                Place::Begin(_) => places.get(index + 1).map_or(usize::MAX, begins),
            };
            let (start, end) = (byte(begins(place)), byte(end));
            if start < end {
                plan.push(Span { start, end }, Cut::Full);
            }
        }
    }
}

/// A flag of a piece of work that no code in Python is part of.
pub(crate) fn cancel() -> Cancel {
    Arc::new(AtomicBool::new(false))
}
