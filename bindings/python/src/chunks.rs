//! A chunk, and sequences of chunks.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use chunkwright::Record;
use chunkwright_arrow::{Columns, ExportRow, schema, to_batch};
use chunkwright_engine::files::AtomicFile;
use chunkwright_engine::words::count;
use chunkwright_engine::{Error, ReadReport, RecordTable, TableFormat};
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PySlice};
use pyo3_arrow::PyTable;
use serde_json::{Map, Value};

use crate::{errors, json};

/// Records of a batch of a table.
const BATCH: usize = 8_192;

/// A chunk of a document. Every field of its record is an attribute, and `None` where the record has none; see
/// `docs/python.md` for the list.
///
/// A chunk does not change, and two are equal if their records are.
#[pyclass(frozen, module = "chunkwright", weakref)]
pub(crate) struct Chunk {
    record: Arc<Record>,
    fields: OnceLock<Map<String, Value>>,
}

/// The names of the fields of records.
fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        schema(Columns::default()).fields().iter().map(|field| field.name().clone()).collect()
    })
}

impl Chunk {
    pub(crate) fn new(record: Arc<Record>) -> Self {
        Self { record, fields: OnceLock::new() }
    }

    fn fields(&self) -> &Map<String, Value> {
        self.fields.get_or_init(|| match serde_json::to_value(&*self.record) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        })
    }
}

#[pymethods]
impl Chunk {
    /// The chunk of a record, as [`dict`](Self::dict) gives it.
    #[staticmethod]
    fn from_dict(record: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::new(Arc::new(json::from_python(record)?)))
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        // Without the text of the whole record, which most attributes do not need.
        match name {
            "text" => return Ok(self.record.text.as_str().into_pyobject(py)?.into_any().unbind()),
            "content" => return Ok(self.record.content.as_str().into_pyobject(py)?.into_any().unbind()),
            "doc_id" => return Ok(self.record.doc_id.as_str().into_pyobject(py)?.into_any().unbind()),
            "token_count" => return Ok(self.record.token_count.into_pyobject(py)?.into_any().unbind()),
            _ => {}
        }
        match self.fields().get(name) {
            Some(value) => json::to_python(py, value),
            None if names().iter().any(|known| known == name) => Ok(py.None()),
            None => Err(PyAttributeError::new_err(format!(
                "a chunk has no field `{name}`; it has {}",
                names().join(", ")
            ))),
        }
    }

    /// The record: the fields that it has, by their names.
    fn dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json::answer(py, &*self.record)
    }

    #[expect(clippy::unused_self, reason = "Python asks an object")]
    fn __dir__(&self) -> Vec<String> {
        names().iter().cloned().chain(["dict".to_owned(), "from_dict".to_owned()]).collect()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Py<PyAny>,))> {
        Ok((slf.get_type().getattr("from_dict")?, (slf.get().dict(slf.py())?,)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.record == other.get().record)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.record.chunk_id.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let Record { doc_id, start_line, end_line, token_count, header_path, .. } = &*self.record;
        format!("Chunk({doc_id:?}, lines {start_line}-{end_line}, {token_count} tokens, {header_path:?})")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let chunks = Chunks::new(vec![Arc::clone(&slf.get().record)], None);
        slf.py().import("chunkwright._notebook")?.call_method1("chunks", (chunks,))
    }
}

/// A sequence of chunks, in the order of their documents. A notebook shows them with their sizes and reasons.
#[pyclass(frozen, sequence, module = "chunkwright", weakref)]
pub(crate) struct Chunks {
    records: Vec<Arc<Record>>,
    report: Option<ReadReport>,
}

impl Chunks {
    pub(crate) fn new(records: Vec<Arc<Record>>, report: Option<ReadReport>) -> Self {
        Self { records, report }
    }
}

/// A place in a sequence.
#[derive(FromPyObject)]
enum At<'py> {
    Index(isize),
    Slice(Bound<'py, PySlice>),
}

#[pymethods]
impl Chunks {
    fn __len__(&self) -> usize {
        self.records.len()
    }

    fn __getitem__(&self, py: Python<'_>, at: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match at.extract() {
            Ok(At::Index(index)) => {
                let len = self.records.len();
                let index = if index < 0 { index + len.cast_signed() } else { index };
                let record = usize::try_from(index).ok().and_then(|index| self.records.get(index));
                let record =
                    record.ok_or_else(|| PyIndexError::new_err(format!("there are {len} chunks")))?;
                Ok(Py::new(py, Chunk::new(Arc::clone(record)))?.into_any())
            }
            Ok(At::Slice(slice)) => {
                let places = slice.indices(self.records.len().cast_signed())?;
                let at = |number: isize| {
                    Arc::clone(&self.records[(places.start + number * places.step).cast_unsigned()])
                };
                let records = (0..places.slicelength.cast_signed()).map(at).collect();
                Ok(Py::new(py, Self::new(records, None))?.into_any())
            }
            Err(_) => Err(PyTypeError::new_err("an index of chunks is a whole number or a slice")),
        }
    }

    fn __iter__(slf: Py<Self>) -> ChunkIterator {
        ChunkIterator { chunks: slf, at: 0 }
    }

    fn __repr__(&self) -> String {
        let mut documents: Vec<&str> = self.records.iter().map(|record| record.doc_id.as_str()).collect();
        documents.dedup();
        format!("<{} of {}>", count(self.records.len(), "chunk"), count(documents.len(), "document"))
    }

    /// The texts to embed, in order.
    #[getter]
    fn texts(&self) -> Vec<&str> {
        self.records.iter().map(|record| record.text.as_str()).collect()
    }

    /// What was read and what was left out, and why.
    #[getter]
    fn report(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json::answer(py, &self.report)
    }

    /// The records, a dictionary each.
    fn dicts(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.records.iter().map(|record| json::answer(py, &**record)).collect()
    }

    /// A `pandas.DataFrame`, a row a chunk.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf, "pandas")
    }

    /// A `pyarrow.Table`, a row a chunk.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf, "arrow")
    }

    /// A `polars.DataFrame`, a row a chunk.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf, "polars")
    }

    /// Writes a file of Parquet, which replaces one that exists.
    fn to_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.write(py, &path, TableFormat::Parquet)
    }

    /// Writes a file of CSV, which replaces one that exists.
    fn to_csv(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.write(py, &path, TableFormat::Csv)
    }

    /// The columns as a stream of Arrow (`PyCapsule` interface).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches: Result<Vec<_>, _> = self
            .records
            .chunks(BATCH)
            .map(|records| {
                let rows: Vec<ExportRow> = records.iter().map(|record| (**record).clone().into()).collect();
                to_batch(&rows, Columns::default())
            })
            .collect();
        let batches = batches.map_err(|error| errors::of(py, Error::from(error)))?;
        let table = Bound::new(py, PyTable::try_new(batches, schema(Columns::default()))?)?;
        table.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("chunkwright._notebook")?.call_method1("chunks", (slf,))
    }
}

impl Chunks {
    fn write(&self, py: Python<'_>, path: &Path, format: TableFormat) -> PyResult<()> {
        let written = py.detach(|| {
            let file = AtomicFile::create(path).map_err(Error::Unwritten)?;
            let mut table = RecordTable::new(BufWriter::new(file), format, None)?;
            for records in self.records.chunks(BATCH) {
                table.write(records.iter().map(|record| (**record).clone()).collect())?;
            }
            let file = table.finish()?.into_inner().map_err(|error| Error::Unwritten(error.into_error()))?;
            file.persist().map_err(Error::Unwritten)
        });
        written.map_err(|error| errors::of(py, error))
    }
}

/// A table of another library.
fn frames<'py>(chunks: &Bound<'py, Chunks>, library: &str) -> PyResult<Bound<'py, PyAny>> {
    chunks.py().import("chunkwright._frames")?.call_method1(library, (chunks,))
}

/// Goes through chunks in order.
#[pyclass(module = "chunkwright._chunkwright")]
pub(crate) struct ChunkIterator {
    chunks: Py<Chunks>,
    at: usize,
}

#[pymethods]
impl ChunkIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self) -> Option<Chunk> {
        let record = self.chunks.get().records.get(self.at)?;
        self.at += 1;
        Some(Chunk::new(Arc::clone(record)))
    }
}
