//! Virtual environments of Python in the target folder, so that the user's own stays untouched.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;

/// An environment, and the file that lists its packages as pip reads it.
pub(crate) struct Environment {
    pub(crate) name: &'static str,
    pub(crate) list: &'static str,
}

impl Environment {
    /// Installs the packages in the list, unless they are installed.
    pub(crate) fn install(&self) -> Result<()> {
        let folder = self.folder()?;
        let list = shell::root().join(self.list);
        let wanted =
            fs::read_to_string(&list).with_context(|| format!("`{}` could not be read", self.list))?;
        // Written last, so that an incomplete environment is created again.
        let installed = folder.join("installed.txt");
        if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
            println!("{} are there: {}", self.name, folder.display());
            return Ok(());
        }
        let python = if cfg!(windows) { "python" } else { "python3" };
        shell::run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&folder))
            .context("Python's `venv` makes the environment; Debian has it as `python3-venv`")?;
        shell::run(self.pip()?.arg("--requirement").arg(&list))?;
        fs::write(&installed, wanted)
            .with_context(|| format!("`{}` could not be written", installed.display()))
    }

    /// The command that installs packages in the environment.
    pub(crate) fn pip(&self) -> Result<Command> {
        let mut pip = Command::new(self.programs()?.join("python"));
        // What tests import is compiled when they do: compiling all of it takes longer than they do.
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--no-compile",
        ]);
        Ok(pip)
    }

    /// The folder of the programs, after [`install`](Self::install).
    pub(crate) fn programs(&self) -> Result<PathBuf> {
        Ok(self.folder()?.join(if cfg!(windows) { "Scripts" } else { "bin" }))
    }

    fn folder(&self) -> Result<PathBuf> {
        Ok(shell::target_dir()?.join(self.name))
    }
}
