//! The commands. Each is one file: its flags, its help, and what it does. A new one is that file and
//! a line here.

use anyhow::Result;

use crate::app::{Cli, Outcome};

/// Declares the modules, the enumeration that help is generated from, and the dispatch.
macro_rules! commands {
    ($($module:ident::$Command:ident),* $(,)?) => {
        $(mod $module;)*

        /// What was asked for.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Command {
            $(#[allow(missing_docs, reason = "the help is that of the command's own type")]
            $Command($module::$Command),)*
        }

        /// Runs the command that was asked for.
        pub(crate) fn run(cli: &Cli) -> Result<Outcome> {
            match &cli.command {
                $(Command::$Command(command) => command.run(&cli.global),)*
            }
        }
    };
}

commands! {
    chunk::Chunk,
    explain::Explain,
    outline::Outline,
    diff::Diff,
    stats::Stats,
    eval::Eval,
    tune::Tune,
    index::Index,
    search::Search,
    fetch::Fetch,
    chunks::Chunks,
    status::Status,
    collections::Collections,
    versions::Versions,
    prune::Prune,
    delete::Delete,
    enable::Enable,
    disable::Disable,
    amend::Amend,
    split::Split,
    merge::Merge,
    overlays::Overlays,
    cache::Cache,
    check::Check,
    backup::Backup,
    restore::Restore,
    export::Export,
    import::Import,
    related::Related,
    serve::Serve,
    key::Key,
    mcp::Mcp,
    models::Models,
    doctor::Doctor,
    config::Config,
    completions::Completions,
    man::Man,
}
