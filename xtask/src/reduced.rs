//! Checks reduced builds for crates that they must not contain.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell;

/// A build with fewer features, and the crates that it must not contain.
struct Reduced {
    arguments: &'static str,
    without: &'static [&'static str],
}

/// `SQLite`, TLS, converters, local models, and any grammar.
const HEAVY: &[&str] = &[
    "rusqlite",
    "libsqlite3-sys",
    "rustls",
    "ring",
    "unpdf",
    "undoc",
    "zip",
    "ndarray",
    "tokenizers",
    "tree-sitter-rust",
    "tree-sitter-c",
    "bpe-openai",
    "clap",
];

const REDUCED: &[Reduced] = &[
    Reduced {
        arguments: "-p chunkwright-code --no-default-features --features rust",
        without: &["tree-sitter-python"],
    },
    Reduced {
        arguments: "-p chunkwright-code --no-default-features --features languages-common",
        without: &["tree-sitter-ocaml", "tree-sitter-julia", "tree-sitter-kotlin-ng", "tree-sitter-swift"],
    },
    Reduced { arguments: "-p chunkwright-index --no-default-features", without: HEAVY },
    Reduced { arguments: "-p chunkwright-engine --no-default-features", without: HEAVY },
];

/// Fails if a reduced build contains such a crate.
pub(crate) fn run() -> Result<()> {
    for Reduced { arguments, without } in REDUCED {
        let mut tree = shell::cargo(&format!("tree --edges normal --prefix none --format {{p}} {arguments}"));
        let output = tree.output().context("`cargo tree` could not be run")?;
        if !output.status.success() {
            bail!("`cargo tree {arguments}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let listed = String::from_utf8_lossy(&output.stdout);
        let mut crates: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
        crates.sort_unstable();
        crates.dedup();
        let found: Vec<&&str> = without.iter().filter(|name| crates.contains(name)).collect();
        if !found.is_empty() {
            bail!(
                "`{arguments}` needs {found:?}, which are there to be left out; `cargo tree {arguments} -i NAME` says why"
            );
        }
        println!("{} crates: {arguments}", crates.len());
    }
    Ok(())
}

/// Compiles and runs the program with the smallest engine. This takes two minutes more from nothing, most of them for
/// libraries whose features differ.
pub(crate) fn in_memory() -> Result<()> {
    shell::run(&mut shell::linted("run -p chunkwright-engine --no-default-features --example in_memory"))
}

/// A feature of the server that adds no crate of its own.
const OPTIONAL: &str = "compat";

/// Builds the server without its optional feature, after everything was built with it: only the server compiles again.
pub(crate) fn server() -> Result<()> {
    let output = shell::cargo("metadata --no-deps --format-version 1").output();
    let output = output.context("`cargo metadata` could not be run")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")?;
    let mut features = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(defaults) = package["features"]["default"].as_array() else { continue };
        let defaults: Vec<&str> = defaults.iter().filter_map(Value::as_str).collect();
        let kept = if defaults.contains(&OPTIONAL) { defaults } else { vec!["default"] };
        features.extend(kept.iter().filter(|kept| **kept != OPTIONAL).map(|kept| format!("{name}/{kept}")));
    }
    // An example, because the features that tests need are enabled only if a target of the crate is built too.
    let mut build = shell::linted("build --lib --example symbols --no-default-features --features");
    shell::run(build.arg(features.join(",")))
}
