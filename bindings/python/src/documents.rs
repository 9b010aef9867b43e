//! Calls that need no store: cutting, explaining, measuring and comparing documents.

use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use chunkwright::Record;
use chunkwright_engine::files::AtomicFile;
use chunkwright_engine::{
    ChunkRequest, Code, DiffAnswer, DiffSide, Documents, DocumentsRequest, Engine, Error, EvaluationStep,
    ExplainRequest, Input, NewSource, Operation, PreviewRequest, ReadReport,
};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::chunks::{Chunk, Chunks};
use crate::keys::Keys;
use crate::work::{self, Failure};
use crate::{errors, json};

/// The documents of an argument: the path of a file or folder, bytes, text with a name, or a list of them.
pub(crate) struct Sources(pub(crate) Vec<Input>);

impl Sources {
    fn of(source: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Self> {
        if source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() {
            let inputs = source.try_iter()?.map(|source| input(&source?, name));
            return Ok(Self(inputs.collect::<PyResult<_>>()?));
        }
        Ok(Self(vec![input(source, name)?]))
    }

    fn request(self) -> DocumentsRequest {
        DocumentsRequest { inputs: self.0, ..DocumentsRequest::default() }
    }
}

fn input(source: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Input> {
    if let Ok(document) = source.cast::<PyDict>() {
        return given(document);
    }
    let memory = |name: &str, bytes: &[u8]| Input::Memory {
        document: NewSource::new(name, bytes),
        place: name.to_owned(),
    };
    match (source.cast::<PyBytes>(), source.cast::<PyString>(), name) {
        (Ok(bytes), _, Some(name)) => Ok(memory(name, bytes.as_bytes())),
        (Ok(_), ..) => Err(errors::refused(
            source.py(),
            Code::INVALID_REQUEST,
            "bytes have no name that tells their format; give `name`, such as `guide.pdf`",
        )),
        (_, Ok(text), Some(name)) => Ok(memory(name, text.to_str()?.as_bytes())),
        _ => Ok(Input::Path(json::path(source)?)),
    }
}

/// A document whose content the caller has: `doc_id`, `text` (or bytes), and where it is known a `hint` at its format.
fn given(document: &Bound<'_, PyDict>) -> PyResult<Input> {
    let member = |name: &str| -> PyResult<Bound<'_, PyAny>> {
        let refuse = || {
            errors::refused(
                document.py(),
                Code::INVALID_REQUEST,
                &format!("a document lacks `{name}`; it needs `doc_id` and `text`"),
            )
        };
        document.get_item(name)?.ok_or_else(refuse)
    };
    let doc_id: String = member("doc_id")?.extract()?;
    let text = member("text")?;
    let bytes = match text.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) => text.extract::<String>()?.into_bytes(),
    };
    let hint = document.get_item("hint")?.filter(|hint| !hint.is_none());
    let hint = hint.map(|hint| json::from_python(&hint)).transpose()?;
    Ok(Input::Memory { place: doc_id.clone(), document: NewSource { doc_id, bytes, hint } })
}

/// Warns of what a caller should know of what was read, and raises what could not be read although it was asked for.
fn told(py: Python<'_>, report: &ReadReport) -> PyResult<()> {
    for notice in &report.notices {
        warn(py, &notice.message)?;
    }
    match report.errors.as_slice() {
        [] => Ok(()),
        errors => Err(errors::refused(py, Code::INVALID_REQUEST, &errors.join("; "))),
    }
}

pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let message = std::ffi::CString::new(message)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)
}

/// Finds documents, and does `work` with them.
fn with_documents<T: Send>(
    py: Python<'_>,
    sources: Sources,
    keys: &Keys,
    work: impl FnOnce(&Engine, &mut Documents) -> Result<T, Error> + Send,
) -> PyResult<(T, ReadReport)> {
    let request = sources.request();
    let (answer, report) = work::run(py, &keys.calls.cancel, || {
        let engine = keys.engine()?;
        keys.calls.checked(engine.documents(&request).and_then(|mut documents| {
            let answer = work(&engine, &mut documents)?;
            Ok((answer, documents.report()))
        }))
    })?;
    // Of a folder much is left out; one document that was asked for is missed.
    if let ([Input::Path(path)], [skipped]) = (&*request.inputs, &*report.skipped)
        && path.is_file()
    {
        let path = path.display().to_string();
        return Err(errors::of(py, Error::LeftOut { path, reason: skipped.reason }));
    }
    told(py, &report)?;
    Ok((answer, report))
}

/// Cuts documents into chunks: `source` is the path of a file or folder, `bytes` or text with a `name`, a dictionary with
/// `doc_id`, `text` and a `hint` at the format, or a list of them.
///
/// Keywords are keys of the settings. `summaries` adds summaries of source code, records with `artifact`.
///
/// Raises `RequestError` for what cannot be read, `SettingsError` for a key or value that does not exist.
#[pyfunction]
#[pyo3(signature = (source, *, name=None, summaries=false, **keys))]
pub(crate) fn chunk(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: Option<&str>,
    summaries: bool,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Chunks> {
    cut(py, Sources::of(source, name)?, &Keys::read(keys)?, summaries)
}

/// Cuts documents.
pub(crate) fn cut(py: Python<'_>, sources: Sources, keys: &Keys, summaries: bool) -> PyResult<Chunks> {
    let (records, report) = with_documents(py, sources, keys, |_, documents| {
        let mut all: Vec<Arc<Record>> = Vec::new();
        documents.chunk(
            ChunkRequest { summaries },
            |cut| cut.chunks.into_iter().chain(cut.summaries).map(Arc::new).collect::<Vec<_>>(),
            |records| records.iter().map(|record| 3 * record.text.len()).sum(),
            |records| {
                all.extend(records.into_iter().flatten());
                Ok::<_, Error>(())
            },
        )?;
        Ok(all)
    })?;
    Ok(Chunks::new(records, Some(report)))
}

/// Cuts one text into chunks; `name` tells its format, as the name of a file does.
#[pyfunction]
#[pyo3(signature = (text, *, name="document.md", summaries=false, **keys))]
pub(crate) fn chunk_text(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    name: &str,
    summaries: bool,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Chunks> {
    chunk(py, text.as_any(), Some(name), summaries, keys)
}

/// Explains why the chunks of one document begin and end where they do; with `line`, from 1, only those that hold it.
#[pyfunction]
#[pyo3(signature = (source, *, line=None, name=None, **keys))]
pub(crate) fn explain(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    line: Option<usize>,
    name: Option<&str>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let (keys, input) = (Keys::read(keys)?, input(source, name)?);
    let answer = work::run(py, &keys.calls.cancel, || {
        let engine = keys.engine()?;
        let answer = keys.calls.checked(engine.explain(&input, ExplainRequest { line }))?;
        let chunks = answer.chunks.iter().map(|chunk| {
            let mut value = json!(chunk);
            value["begins"] = chunk.explanation.begins().into();
            value["ends"] = chunk.explanation.ends().into();
            value["content"] = chunk.content.as_str().into();
            value
        });
        Ok(json!({ "total_chunks": answer.total_chunks, "chunks": chunks.collect::<Vec<_>>() }))
    })?;
    json::to_python(py, &answer)
}

/// Lists the sections of documents: for each its titles, lines, tokens, and the signature of a symbol.
#[pyfunction]
#[pyo3(signature = (source, *, name=None, **keys))]
pub(crate) fn outline(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: Option<&str>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let keys = Keys::read(keys)?;
    let (rows, _) = with_documents(py, Sources::of(source, name)?, &keys, |_, documents| {
        let mut rows = Vec::new();
        documents.outline(|answer| {
            rows.extend(answer.into_iter().flat_map(|answer| answer.sections));
            Ok::<_, Error>(())
        })?;
        Ok(rows)
    })?;
    json::answer(py, &rows)
}

/// Number of tokens of a text, by the key `tokenizer`.
#[pyfunction]
#[pyo3(signature = (text, **keys))]
pub(crate) fn count_tokens(py: Python<'_>, text: &str, keys: Option<&Bound<'_, PyDict>>) -> PyResult<usize> {
    let keys = Keys::read(keys)?;
    let count = || keys.calls.checked(keys.engine()?.counter().map(|counter| counter.count(text)));
    py.detach(count).map_err(|failure: Failure| failure.raise(py))
}

/// The `doc_id` of a file at a path that is relative to its folder.
#[pyfunction]
pub(crate) fn doc_id(path: PathBuf) -> String {
    chunkwright_engine::doc_id(&path)
}

/// Embeds texts by the key `embedder`, without a collection. Returns the name of the model and one vector for each text.
#[pyfunction]
#[pyo3(signature = (texts, **keys))]
pub(crate) fn embed(
    py: Python<'_>,
    texts: Vec<String>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<(String, Vec<Vec<f32>>)> {
    let keys = Keys::read(keys)?;
    let answer = work::run(py, &keys.calls.cancel, || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let answer = keys.calls.checked(keys.engine()?.embed(&texts))?;
        answer.ok_or(Failure::Refused(
            "no embedder is set; name one by `embedder`, such as `static` or `openai:MODEL`",
        ))
    })?;
    Ok((answer.model, answer.vectors))
}

/// The texts of documents as they are cut, with the ids of the documents: a PDF, for instance, as Markdown.
#[pyfunction]
#[pyo3(signature = (source, *, name=None, **keys))]
pub(crate) fn documents(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: Option<&str>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<(String, String)>> {
    let keys = Keys::read(keys)?;
    let (texts, _) = with_documents(py, Sources::of(source, name)?, &keys, |_, documents| {
        let mut texts = Vec::new();
        documents.parse(|document| {
            texts.extend(document.map(|document| (document.id().to_owned(), document.source().to_owned())));
            Ok::<_, Error>(())
        })?;
        Ok(texts)
    })?;
    Ok(texts)
}

/// Measures documents and their chunks: sizes, what became of the lines, promises that were broken.
#[pyfunction]
#[pyo3(signature = (source, *, name=None, **keys))]
pub(crate) fn stats(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: Option<&str>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let keys = Keys::read(keys)?;
    let measure = |_: &Engine, documents: &mut Documents| documents.statistics(|| ());
    let (statistics, _) = with_documents(py, Sources::of(source, name)?, &keys, measure)?;
    json::answer(py, &statistics)
}

/// Cuts one text for a look: its chunks, with reasons, and what they are together.
#[pyfunction]
#[pyo3(signature = (text, *, name=None, summaries=false, **keys))]
pub(crate) fn preview(
    py: Python<'_>,
    text: String,
    name: Option<String>,
    summaries: bool,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let keys = Keys::read(keys)?;
    let request = PreviewRequest {
        doc_id: name,
        text: Some(text),
        summaries,
        explain: true,
        ..PreviewRequest::default()
    };
    let answer = work::run(py, &keys.calls.cancel, || {
        let engine = keys.engine()?;
        keys.calls.checked(engine.preview(request))
    })?;
    json::answer(py, &answer)
}

/// What an argument names as a side of a comparison: a path, a file of records, or a revision of a repository.
fn side(value: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<DiffSide> {
    match input(value, name)? {
        Input::Path(path) => Ok(DiffSide::named(path)),
        memory => Ok(DiffSide::Documents(memory)),
    }
}

/// Compares the chunks of two versions of documents: files, folders, files of records, or revisions of their git
/// repository such as `docs@HEAD~1`.
#[pyfunction]
#[pyo3(signature = (old, new, *, name=None, **keys))]
pub(crate) fn diff(
    py: Python<'_>,
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    name: Option<&str>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let (keys, old, new) = (Keys::read(keys)?, side(old, name)?, side(new, name)?);
    let answer = compare(py, &keys, &old, &new, &[])?;
    json::answer(py, &answer)
}

fn compare(
    py: Python<'_>,
    keys: &Keys,
    old: &DiffSide,
    new: &DiffSide,
    exclude: &[PathBuf],
) -> PyResult<DiffAnswer> {
    let answer = work::run(py, &keys.calls.cancel, || {
        let engine = keys.engine()?;
        keys.calls.checked(engine.diff(old, new, exclude, &mut |_, _| ()))
    })?;
    answer.reports.iter().try_for_each(|report| told(py, report))?;
    answer.notices.iter().try_for_each(|notice| warn(py, &notice.message))?;
    Ok(answer)
}

/// The operations that bring a vector database from a state to the documents as they are now.
#[pyclass(frozen, module = "chunkwright._chunkwright")]
pub(crate) struct Plan {
    answer: DiffAnswer,
    state: PathBuf,
}

/// Plans the operations since the state in the file `state`, which need not exist.
#[pyfunction]
#[pyo3(signature = (source, state, **keys))]
pub(crate) fn plan(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    state: &Bound<'_, PyAny>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Plan> {
    let (keys, state) = (Keys::read(keys)?, json::path(state)?);
    let old = DiffSide::state(&state).map_err(|error| errors::of(py, error))?;
    let exclude: Vec<PathBuf> = state.canonicalize().into_iter().collect();
    let answer = compare(py, &keys, &old, &side(source, None)?, &exclude)?;
    Ok(Plan { answer, state })
}

#[pymethods]
impl Plan {
    /// The operations in order: dictionaries with `op`, `chunk_id`, and where they are known `old_chunk_id`, `vector_of` and
    /// `record`, a chunk.
    fn operations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for operation in self.answer.operations() {
            let dict = PyDict::new(py);
            let say = |name: &str, value: &str| dict.set_item(name, value);
            let record = match operation {
                Operation::Upsert { chunk_id, vector_of, record } => {
                    say("op", "upsert")?;
                    say("chunk_id", &chunk_id.to_string())?;
                    vector_of.map_or(Ok(()), |id| say("vector_of", &id.to_string()))?;
                    Some(record)
                }
                Operation::Rename { chunk_id, old_chunk_id, record } => {
                    say("op", "rename")?;
                    say("chunk_id", &chunk_id.to_string())?;
                    say("old_chunk_id", &old_chunk_id.to_string())?;
                    Some(record)
                }
                Operation::Update { chunk_id, record } => {
                    say("op", "update")?;
                    say("chunk_id", &chunk_id.to_string())?;
                    Some(record)
                }
                Operation::Delete { chunk_id } => {
                    say("op", "delete")?;
                    say("chunk_id", &chunk_id.to_string())?;
                    None
                }
            };
            if let Some(record) = record {
                dict.set_item("record", Chunk::new(Arc::new(record.clone())))?;
            }
            list.append(dict)?;
        }
        Ok(list)
    }

    /// What became of the chunks, as numbers.
    fn summary(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json::answer(py, &self.answer.diff.summary)
    }

    /// The chunks of the state that was read.
    fn before(&self) -> Chunks {
        Chunks::new(self.answer.before().cloned().map(Arc::new).collect(), None)
    }

    /// The chunks that are in the database when the operations are done.
    fn chunks(&self) -> Chunks {
        Chunks::new(self.answer.state().cloned().map(Arc::new).collect(), None)
    }

    /// Writes the state that the operations lead to, whole or not at all.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        let written = py.detach(|| {
            let is_table = self.state.extension().is_some_and(|extension| extension == "parquet");
            let file = AtomicFile::create(&self.state).map_err(Error::Unwritten)?;
            let file = self.answer.write_state(BufWriter::new(file), is_table)?;
            let file = file.into_inner().map_err(|error| Error::Unwritten(error.into_error()))?;
            file.persist().map_err(Error::Unwritten)
        });
        written.map_err(|error| errors::of(py, error))
    }
}

/// Measures ways of cutting on questions: `request` has the members of the engine's request.
#[pyfunction]
#[pyo3(signature = (source, request, on_step=None, **keys))]
pub(crate) fn evaluate(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    request: &Bound<'_, PyAny>,
    on_step: Option<Py<PyAny>>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    measure(py, source, request, on_step.as_ref(), keys, Engine::evaluate)
}

/// Measures many ways of cutting, and proposes one that is better than `auto` beyond noise.
#[pyfunction]
#[pyo3(signature = (source, request, on_step=None, **keys))]
pub(crate) fn tune(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    request: &Bound<'_, PyAny>,
    on_step: Option<Py<PyAny>>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    measure(py, source, request, on_step.as_ref(), keys, Engine::tune)
}

/// What measures documents by a request, and says how far it is.
type Measure<Request, Answer> =
    fn(&Engine, &DocumentsRequest, &Request, &mut dyn FnMut(EvaluationStep)) -> Result<Answer, Error>;

/// Measures by a function of the engine.
fn measure<Request: DeserializeOwned + Sync, Answer: Serialize + Send>(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    request: &Bound<'_, PyAny>,
    on_step: Option<&Py<PyAny>>,
    keys: Option<&Bound<'_, PyDict>>,
    by: Measure<Request, Answer>,
) -> PyResult<Py<PyAny>> {
    let (keys, documents) = (Keys::read(keys)?, Sources::of(source, None)?.request());
    let request: Request = json::from_python(request)?;
    let answer = work::run(py, &keys.calls.cancel, || {
        let engine = keys.engine()?;
        keys.calls.checked(by(&engine, &documents, &request, &mut |event| step(on_step, &event)))
    })?;
    json::answer(py, &answer)
}

/// Tells a function of the caller how far an evaluation is: a number of candidates, or 1 more; or a sentence.
fn step(on_step: Option<&Py<PyAny>>, event: &EvaluationStep) {
    let Some(on_step) = on_step else { return };
    let told = match event {
        EvaluationStep::Begun { total } => json!({ "total": total }),
        EvaluationStep::Measured => json!({ "measured": 1 }),
        EvaluationStep::Refused { path, line, reason } => {
            json!({ "message": format!("`{}`, line {line}: {reason}", path.display()) })
        }
        EvaluationStep::Notice(notice) => json!({ "message": notice.message }),
        _ => return,
    };
    // What a function that shows progress raises is not the result of the work.
    Python::attach(|py| {
        let _ = json::to_python(py, &told).and_then(|told| on_step.call1(py, (told,)));
    });
}
