//! Errors of the engine as exceptions: one class a code of its table, below `ChunkwrightError`.

use std::any::Any;
use std::ffi::CString;

use chunkwright_engine::{CODES, Code, Error, FieldError};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// The classes by their names.
static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// The class that all are below, and the only one of failures that are ours.
const BASE: &str = Code::INTERNAL.python;

/// Makes the classes and adds them to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let classes = PyDict::new(py);
    let above = py.get_type::<PyException>();
    let base = class(
        py,
        BASE,
        "An error of Chunkwright: `code` names its kind, `errors` the arguments that are wrong.",
        &above,
    )?;
    classes.set_item(BASE, &base)?;
    for code in CODES.iter().filter(|code| code.python != BASE) {
        classes.set_item(code.python, class(py, code.python, code.summary, &base)?)?;
    }
    for (name, class) in &classes {
        module.add(name.extract::<String>()?.as_str(), class)?;
    }
    let _ = CLASSES.set(py, classes.unbind());
    Ok(())
}

fn class<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    base: &Bound<'py, PyType>,
) -> PyResult<Bound<'py, PyType>> {
    let name = CString::new(format!("chunkwright.{name}"))?;
    let doc = CString::new(doc)?;
    Ok(PyErr::new_type(py, &name, Some(&doc), Some(base), None)?.into_bound(py))
}

/// The exception of an error.
pub(crate) fn of(py: Python<'_>, error: Error) -> PyErr {
    let details = error.pointer().map(|pointer| FieldError::new(&pointer, error.to_string()));
    exception(py, error.code(), &error.to_string(), details).unwrap_or_else(|failed| failed)
}

/// The exception of a panic in a thread of ours. What it said is on standard error.
pub(crate) fn of_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    let sentence = format!("chunkwright failed; please report this: {}", said.unwrap_or("a thread panicked"));
    exception(py, Code::INTERNAL, &sentence, None).unwrap_or_else(|failed| failed)
}

/// An exception of a class of the table.
pub(crate) fn refused(py: Python<'_>, code: Code, sentence: &str) -> PyErr {
    exception(py, code, sentence, None).unwrap_or_else(|failed| failed)
}

fn exception(py: Python<'_>, code: Code, sentence: &str, details: Option<FieldError>) -> PyResult<PyErr> {
    let classes = CLASSES.get(py).ok_or_else(|| PyException::new_err("the module is not initialized"))?;
    let class =
        classes.bind(py).get_item(code.python)?.unwrap_or_else(|| py.get_type::<PyException>().into_any());
    let value = class.call1((sentence,))?;
    value.setattr("code", code.name)?;
    value.setattr("errors", crate::json::answer(py, &details.into_iter().collect::<Vec<_>>())?)?;
    Ok(PyErr::from_value(value))
}
