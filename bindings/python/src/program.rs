//! The command `chunkwright`, as an entry point of the package.

use pyo3::prelude::*;

/// Runs the command line with `arguments`, the first of which is the program's name, and returns its exit status.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| chunkwright_cli::run(&arguments.into_iter().map(Into::into).collect::<Vec<_>>()))
}

/// Has files of binary formats converted by processes of `command` from now on, so that a hostile one costs one document
/// and not this process.
#[pyfunction]
pub(crate) fn contain(command: Vec<String>) {
    chunkwright_engine::convert::contain_in(command.into_iter().map(Into::into).collect());
}
