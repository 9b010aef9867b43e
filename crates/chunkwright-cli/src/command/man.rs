//! `chunkwright man`

use anyhow::{Result, bail};
use clap::CommandFactory;
use clap_mangen::Man as Page;

use crate::app::{Cli, Global, Outcome};
use crate::output::print;

/// Print the manual page of the program, or of one of its commands
///
/// To read one: `chunkwright man search | man -l -`. To install one, save it where `man` looks.
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// A command, such as `search`; words of a command within one follow: `config show`
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl Man {
    pub(crate) fn run(&self, _: &Global) -> Result<Outcome> {
        let mut command = Cli::command();
        command.build();
        for word in &self.words {
            let Some(inner) = command.find_subcommand(word) else {
                bail!("there is no command `{}`; `chunkwright --help` lists them", self.words.join(" "));
            };
            command = inner.clone();
        }
        let mut page = Vec::new();
        Page::new(command).render(&mut page)?;
        print(&page)?;
        Ok(Outcome::Success)
    }
}
