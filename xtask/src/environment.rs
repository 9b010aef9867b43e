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

/// What installs the packages of the others.
const UV: Environment = Environment { name: "uv", list: "xtask/uv.txt" };

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
        if self.name == UV.name {
            self.make(true)?;
        } else if let Err(error) = UV.install().and_then(|()| self.make(false)) {
            // It does not read what pip is told of mirrors and proxies.
            println!("{error:#}; pip installs them instead");
            self.make(true)?;
        }
        fs::write(&installed, wanted)
            .with_context(|| format!("`{}` could not be written", installed.display()))
    }

    /// Makes the environment with the packages in the list, and with pip or without.
    fn make(&self, has_pip: bool) -> Result<()> {
        let python = if cfg!(windows) { "python" } else { "python3" };
        let mut venv = Command::new(python);
        venv.args(["-m", "venv", "--clear"]).args((!has_pip).then_some("--without-pip")).arg(self.folder()?);
        shell::run(&mut venv)
            .context("Python's `venv` makes the environment; Debian has it as `python3-venv`")?;
        shell::run(self.installer()?.arg("--requirement").arg(shell::root().join(self.list)))
    }

    /// The command that installs packages in the environment: pip where that is there, otherwise uv.
    pub(crate) fn installer(&self) -> Result<Command> {
        let programs = self.programs()?;
        let python = programs.join("python");
        let mut installer;
        if programs.join(if cfg!(windows) { "pip.exe" } else { "pip" }).exists() {
            installer = Command::new(python);
            installer.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]);
        } else {
            installer = Command::new(UV.programs()?.join("uv"));
            // Not linked into several environments: NLTK reads no file that has two names.
            installer.args(["pip", "install", "--link-mode", "copy", "--python"]).arg(python);
        }
        // What tests import is compiled when they do: compiling all of it takes longer than they do.
        installer.args(["--quiet", "--no-compile"]);
        Ok(installer)
    }

    /// The folder of the programs, after [`install`](Self::install).
    pub(crate) fn programs(&self) -> Result<PathBuf> {
        Ok(self.folder()?.join(if cfg!(windows) { "Scripts" } else { "bin" }))
    }

    fn folder(&self) -> Result<PathBuf> {
        Ok(shell::target_dir()?.join(self.name))
    }
}
