//! Installs the servers that tests connect to, so that clients are tested against real implementations.
//!
//! They are Python packages, pinned in `xtask/servers.txt`, in a virtual environment in the target folder, so that the
//! user's environment stays untouched. Tests find the programs by the variable [`VARIABLE`].

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::shell;

/// The variable with the folder of the servers' programs, for tests: if it is set, the programs must exist.
pub(crate) const VARIABLE: &str = "CHUNKWRIGHT_SERVERS";

/// The packages.
const LIST: &str = "xtask/servers.txt";

/// Installs the packages in the list, unless they are installed.
pub(crate) fn install() -> Result<()> {
    let environment = environment()?;
    let list = shell::root().join(LIST);
    let wanted = fs::read_to_string(&list).with_context(|| format!("`{LIST}` could not be read"))?;
    // Written last, so that an incomplete environment is created again.
    let installed = environment.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        println!("servers are there: {}", environment.display());
        return Ok(());
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    shell::run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&environment))
        .context("Python's `venv` makes the environment of the servers; Debian has it as `python3-venv`")?;
    let pip =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--requirement"];
    shell::run(Command::new(programs_in(&environment).join("python")).args(pip).arg(&list))?;
    fs::write(&installed, wanted).with_context(|| format!("`{}` could not be written", installed.display()))
}

/// The folder of the servers' programs, after [`install`].
pub(crate) fn programs() -> Result<PathBuf> {
    Ok(programs_in(&environment()?))
}

fn environment() -> Result<PathBuf> {
    Ok(shell::target_dir()?.join("servers"))
}

fn programs_in(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// The running servers of the remote stores. They end when their standard input closes, at the latest when this is
/// dropped.
pub(crate) struct Stores {
    child: Child,
    variables: Vec<(String, String)>,
}

impl Stores {
    /// Starts the servers, and waits until both answer.
    pub(crate) fn start() -> Result<Self> {
        let mut command = Command::new(programs()?.join("python"));
        command.arg(shell::root().join("tests/servers/stores.py"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut variables = Vec::new();
        for line in BufReader::new(child.stdout.take().context("it has an output")?).lines().take(2) {
            let line = line?;
            let (name, value) = line.split_once('=').with_context(|| format!("`{line}` is no address"))?;
            variables.push((name.to_owned(), value.to_owned()));
        }
        ensure!(variables.len() == 2, "`{}` ended before both servers answered", shell::shown(&command));
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
