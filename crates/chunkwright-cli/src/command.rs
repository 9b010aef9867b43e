//! The commands. Each is one file with its flags, its help and its work. To add one, add the file and a line here, in
//! its group.

use anyhow::Result;

use crate::app::{Cli, Outcome};

/// Declares the modules, the enumeration that help is generated from, the groups of the list of commands, and the dispatch.
macro_rules! commands {
    ($($title:literal: $($module:ident::$Command:ident),* $(,)?;)*) => {
        $($(mod $module;)*)*

        /// What was asked for.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Command {
            $($(#[allow(missing_docs, reason = "the help is that of the command's own type")]
            $Command($module::$Command),)*)*
        }

        /// Groups of commands by purpose: a title, and names.
        pub(crate) const GROUPS: &[(&str, &[&str])] = &[$(($title, &[$(stringify!($module)),*])),*];

        /// Runs the requested command.
        pub(crate) fn run(cli: &Cli) -> Result<Outcome> {
            match &cli.command {
                $($(Command::$Command(command) => command.run(&cli.global),)*)*
            }
        }
    };
}

commands! {
    "Cut documents":
        chunk::Chunk,
        join::Join,
        explain::Explain,
        outline::Outline,
        diff::Diff,
        stats::Stats,
        eval::Eval,
        tune::Tune;
    "Index and search":
        index::Index,
        search::Search,
        fetch::Fetch,
        chunks::Chunks,
        related::Related,
        references::References,
        status::Status,
        collections::Collections;
    "Change by hand":
        enable::Enable,
        disable::Disable,
        amend::Amend,
        split::Split,
        merge::Merge,
        overlays::Overlays;
    "Keep the store":
        versions::Versions,
        prune::Prune,
        rename::Rename,
        delete::Delete,
        cache::Cache,
        check::Check,
        backup::Backup,
        restore::Restore,
        export::Export,
        import::Import;
    "Serve":
        serve::Serve,
        key::Key,
        mcp::Mcp;
    "Set up":
        models::Models,
        doctor::Doctor,
        config::Config,
        completions::Completions,
        man::Man;
}
