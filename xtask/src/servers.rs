//! Installs the servers that tests connect to, so that clients are tested against real implementations.
//!
//! They are Python packages, pinned in `xtask/servers.txt`. Tests find the programs by the variable [`VARIABLE`].

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::environment::Environment;
use crate::shell;

/// The variable with the folder of the servers' programs, for tests: if it is set, the programs must exist.
pub(crate) const VARIABLE: &str = "CHUNKWRIGHT_SERVERS";

const ENVIRONMENT: Environment = Environment { name: "servers", list: "xtask/servers.txt" };

/// Installs the servers, unless they are installed.
pub(crate) fn install() -> Result<()> {
    ENVIRONMENT.install()
}

/// The folder of the servers' programs, after [`install`].
pub(crate) fn programs() -> Result<PathBuf> {
    ENVIRONMENT.programs()
}

/// How many servers `tests/servers/stores.py` starts.
const SERVERS: usize = 3;

/// The running servers of the remote stores. They end when their standard input closes, at the latest when this is
/// dropped.
pub(crate) struct Stores {
    child: Child,
    variables: Vec<(String, String)>,
}

impl Stores {
    /// Starts the servers, and waits until all answer.
    pub(crate) fn start() -> Result<Self> {
        let mut command = Command::new(programs()?.join("python"));
        command.arg(shell::root().join("tests/servers/stores.py"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut variables = Vec::new();
        for line in BufReader::new(child.stdout.take().context("it has an output")?).lines().take(SERVERS) {
            let line = line?;
            let (name, value) = line.split_once('=').with_context(|| format!("`{line}` is no address"))?;
            variables.push((name.to_owned(), value.to_owned()));
        }
        ensure!(variables.len() == SERVERS, "`{}` ended before all servers answered", shell::shown(&command));
        Ok(Self { child, variables })
    }

    /// Their addresses, as variables for tests.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl Drop for Stores {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
