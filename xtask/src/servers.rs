//! Installs the servers that tests talk to, so that a client is tested against what others wrote.
//!
//! They are Python packages, pinned in `xtask/servers.txt`, in an environment of their own in the target
//! folder: nothing of the user's is touched. Tests find the programs by the variable [`VARIABLE`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

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
