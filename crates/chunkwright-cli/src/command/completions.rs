//! `chunkwright completions`

use std::io::{self, Write};

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::app::{Cli, Global, Outcome};

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
        io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Success)
    }
}
