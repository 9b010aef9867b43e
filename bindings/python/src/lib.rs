//! The native module of the Python package `chunkwright`: translates calls to requests of the engine, and its answers to
//! values of Python.
//!
//! No rule is decided here: names, defaults, limits and sentences are those of the engine's tables. Work happens without
//! the interpreter's lock, and Ctrl-C stops it ([`work`]).

mod arrow;
mod chunks;
mod documents;
mod errors;
mod index;
mod json;
mod keys;
mod own;
mod program;
mod work;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
mod _chunkwright {
    #[pymodule_export]
    use crate::arrow::chunk_arrow;
    #[pymodule_export]
    use crate::chunks::{Chunk, ChunkIterator, Chunks};
    #[pymodule_export]
    use crate::documents::{
        Plan, chunk, chunk_text, count_tokens, diff, doc_id, documents, embed, evaluate, explain, outline,
        plan, preview, stats, tune,
    };
    #[pymodule_export]
    use crate::index::Index;
    #[pymodule_export]
    use crate::keys::{keys, options, schema_of};
    #[pymodule_export]
    use crate::program::{contain, run};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        crate::errors::register(module)
    }
}
