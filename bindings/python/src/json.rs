//! Values of Python as JSON, and back.

use std::path::PathBuf;

use chunkwright_engine::Code;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::errors;

/// A value of JSON as new objects of Python: what a caller does to them changes nothing else.
pub(crate) fn to_python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Null => py.None(),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any().unbind(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any().unbind(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any().unbind(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into_pyobject(py)?.into_any().unbind(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any().unbind(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(to_python(py, item)?))?;
            list.into_any().unbind()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            members.iter().try_for_each(|(name, value)| dict.set_item(name, to_python(py, value)?))?;
            dict.into_any().unbind()
        }
    })
}

/// An answer as objects of Python.
pub(crate) fn answer(py: Python<'_>, answer: &impl Serialize) -> PyResult<Py<PyAny>> {
    let value = serde_json::to_value(answer).map_err(|error| errors::of(py, error.into()))?;
    to_python(py, &value)
}

/// What Python's own `json` writes of a value, where a path is its text.
pub(crate) fn from_python<T: DeserializeOwned>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static FSPATH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let keywords = PyDict::new(py);
    keywords.set_item("default", FSPATH.import(py, "os", "fspath")?)?;
    let text: String = DUMPS.import(py, "json", "dumps")?.call((value,), Some(&keywords))?.extract()?;
    serde_json::from_str(&text)
        .map_err(|error| errors::refused(py, Code::INVALID_REQUEST, &error.to_string()))
}

/// The path that a text or an `os.PathLike` names.
pub(crate) fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    value.extract().map_err(|_| {
        let kind =
            value.get_type().qualname().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("expected a path, as text or `os.PathLike`, not `{kind}`"))
    })
}
