//! The crate seen from outside.
//!
//! Tests that need an installed model say so and do nothing where it is absent, unless the environment sets
//! `CHUNKWRIGHT_REQUIRE_MODELS`: then they fail, so that no test is skipped unnoticed. Tests against third-party
//! servers run if `CHUNKWRIGHT_SERVERS` names the folder of their programs, which `cargo xtask test` installs.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::print_stdout, reason = "says which models were absent")]
#![expect(clippy::disallowed_methods, reason = "tests find installed models as a user's configuration does")]

mod counters;
mod embedders;
mod models;
mod notes;
#[cfg(feature = "onnx")]
mod onnx;
mod real_server;
mod remote;
mod rerank;
#[path = "../../../chunkwright-http/tests/it/server.rs"]
#[expect(dead_code, reason = "the tests of the client itself use the rest")]
mod server;
mod sparse;
mod vectors;
mod xlm_r;

use std::path::{Path, PathBuf};

/// The data directory, if the model is installed in it.
fn data_dir_with(model: &str) -> Option<PathBuf> {
    let configured = std::env::var("CHUNKWRIGHT_DATA").ok();
    let dir = chunkwright_models::data_dir(configured.as_deref().map(Path::new)).unwrap();
    let model = chunkwright_models::data::model(model).unwrap();
    if model.is_installed(&dir) {
        return Some(dir);
    }
    let name = model.name;
    let message = format!("model `{name}` is not installed; run `chunkwright models install {name}`");
    assert!(std::env::var_os("CHUNKWRIGHT_REQUIRE_MODELS").is_none(), "{message}");
    println!("not checked: {message}");
    None
}

/// The program of a server, if the folder of such programs is configured: then it must be there.
fn server_program(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("CHUNKWRIGHT_SERVERS") else {
        println!("not checked: `CHUNKWRIGHT_SERVERS` does not say where `{name}` is");
        return None;
    };
    let program = Path::new(&folder).join(name);
    assert!(program.is_file(), "`{}` is not there; `cargo xtask test` installs it", program.display());
    Some(program)
}
