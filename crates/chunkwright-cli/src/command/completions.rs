//! `chunkwright completions`

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::app::{Cli, Global, Outcome};
use crate::output::print;

/// Print the completion script of a shell
///
/// For bash: `source <(chunkwright completions bash)`; for other shells, save it where the shell looks.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, _: &Global) -> Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "chunkwright", &mut script);
        print(&script)?;
        Ok(Outcome::Success)
    }
}
