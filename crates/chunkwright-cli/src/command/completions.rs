//! `chunkwright completions`

use anyhow::Result;
use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::app::{Global, Outcome};
use crate::candidates::VARIABLE;
use crate::output::print;

/// Print the completion script of a shell
///
/// For bash and zsh: `source <(chunkwright completions bash)`; for other shells, save it where the shell looks, anew
/// after every update. The script asks the program, so that names of collections and presets are completed too.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, _: &Global) -> Result<Outcome> {
        let mut script = Vec::new();
        let shells = Shells::builtins();
        let name = "chunkwright";
        if let Some(shell) = shells.completer(&self.shell.to_string()) {
            shell.write_registration(VARIABLE, name, name, name, &mut script)?;
        }
        print(&script)?;
        Ok(Outcome::Success)
    }
}
