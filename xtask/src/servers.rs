//! Installs the servers that tests talk to, so that a client is tested against what others wrote.
//!
//! They are Python packages, pinned in `xtask/servers.txt`, in an environment of their own in the target
//! folder: nothing of the user's is touched. Tests find the programs by the variable [`VARIABLE`].

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::shell;

/// Names the folder that holds the servers' programs, for tests: where it is set, they must be there.
pub(crate) const VARIABLE: &str = "CHUNKWRIGHT_SERVERS";

/// The packages.
const LIST: &str = "xtask/servers.txt";

/// Installs what the list names, unless that is there.
pub(crate) fn install() -> Result<()> {
    let environment = environment()?;
    let list = shell::root().join(LIST);
    let wanted = fs::read_to_string(&list).with_context(|| format!("`{LIST}` could not be read"))?;
    // Written last, so that a half-made environment is made anew.
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

/// The servers of the remote stores, for as long as this lives: they end when their standard input does.
pub(crate) struct Stores {
    child: Child,
    variables: Vec<(String, String)>,
}

impl Stores {
    /// Starts them, and waits until both answer.
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

    /// Where they are, for tests.
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
