//! The servers of the remote stores: those that `cargo xtask test` has started, or our own, started once per process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What `tests/servers/stores.py` says, a line a server.
fn own() -> &'static [String] {
    static LINES: OnceLock<Vec<String>> = OnceLock::new();
    LINES.get_or_init(|| {
        let Some(python) = program("python") else { return Vec::new() };
        let mut command = Command::new(python);
        // It ends when its standard input does, and that ends with this process.
        command.arg(scripts().join("stores.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = Box::leak(Box::new(command.spawn().unwrap()));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.take(3).map(Result::unwrap).collect()
    })
}

/// The variable with the address of the server of the kind of store named; none of a store that tests have no server of.
pub(crate) fn variable(kind: &str) -> Option<&'static str> {
    match kind {
        "qdrant" => Some("CHUNKWRIGHT_QDRANT_URL"),
        "chroma" => Some("CHUNKWRIGHT_CHROMA_URL"),
        "postgres" => Some("CHUNKWRIGHT_POSTGRES_URL"),
        _ => None,
    }
}

/// The address of that server; none if it is not to be had.
pub(crate) fn url(kind: &str) -> Option<String> {
    let variable = variable(kind)?;
    let said = |line: &String| line.strip_prefix(variable)?.strip_prefix('=').map(str::to_owned);
    std::env::var_os(variable).and_then(|url| url.into_string().ok()).or_else(|| own().iter().find_map(said))
}

/// A program beside those of the servers, if it is known where they are.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let program = PathBuf::from(std::env::var_os("CHUNKWRIGHT_SERVERS")?).join(name);
    assert!(program.exists(), "`{}` is not there; `cargo xtask test` installs it", program.display());
    Some(program)
}

/// The folder of our scripts.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers")
}
