//! The command line that all commands share: global flags, the flags that configure cutting, and the settings they
//! give.

use std::env;
use std::path::PathBuf;

use anstream::ColorChoice;
use anyhow::Result;
use chunkwright_engine::settings::Source;
use chunkwright_engine::{self as engine, Engine, Layers, Notice, NoticeCode, Settings};
use clap::{ArgAction, Args, Parser};
use serde_json::Value;

use crate::command::Command;
use crate::input::ThreadFlags;
use crate::interrupt;
use crate::keys::KeyFlags;
pub(crate) use crate::keys::{CollectionFlags, CutFlags};
use crate::text::{plain, yellow};

/// Stable, explainable, token-bounded chunks of documents and source code, indexed and searched.
///
/// Results go to standard output: a table on a terminal, JSON Lines when piped. Everything else goes to
/// standard error.
#[derive(Debug, Parser)]
#[command(name = "chunkwright", version, max_term_width = 100, after_help = AFTER_HELP, disable_help_flag = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
    /// When to use colours
    ///
    /// `auto` uses them on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub(crate) color: Color,
    /// Print help
    #[arg(short, long, global = true, action = ArgAction::HelpShort, help_heading = "Global options")]
    help: Option<bool>,
}

const AFTER_HELP: &str = "\
`chunkwright help COMMAND` describes every option of a command, and `chunkwright help SUBJECT` one \
subject: `cutting`, `filters`, `searching` and others.

Configuration, lowest first: the preset, the nearest `chunkwright.toml` upward from the working \
directory, CHUNKWRIGHT_* in the environment, flags. `chunkwright config show` prints every value and \
where it came from.

Exit status: 0 success; 1 nothing was found, or a check failed; 2 an error, with one sentence that says what is wrong and what would be right; 3 some documents could not be indexed, the others were; 130 and 143 interrupted by SIGINT and SIGTERM, with one sentence that says what is kept. With 1 and 2 no file is replaced.";

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print only errors to standard error
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more to standard error: every skipped entry, and how much was read
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Read this configuration file instead of the nearest `chunkwright.toml`
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder of models and of the default store instead of the user's data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<String>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Applies the choice to every stream.
    pub(crate) fn write_global(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The environment variables whose names and values are text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    let named = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    named.map(|(name, value)| (name, value.to_string_lossy().into_owned()))
}

/// How a command ended that returned no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It succeeded.
    Success,
    /// It found nothing, or found violations.
    Nothing,
    /// It did what it could, and reported what it could not do.
    Failed,
    /// It indexed the rest; some documents failed.
    Partial,
}

impl Global {
    /// The configuration layers below the flags.
    pub(crate) fn layers(&self) -> Result<Layers> {
        let layers = match (&self.config, env::current_dir()) {
            (Some(path), _) => Layers::default().with_file(path, true)?,
            (None, Ok(folder)) => Layers::default().with_nearest_file(&folder)?,
            // Without a working directory there is no nearest file.
            (None, Err(_)) => Layers::default(),
        };
        Ok(layers.with_environment(variables())?)
    }

    /// The settings in force, with the flags of a command as the highest layer.
    pub(crate) fn settings(&self, flags: &[&dyn KeyFlags]) -> Result<Settings> {
        let data = self.data.iter().map(|data| ("data".to_owned(), Value::String(data.clone())));
        let values = flags.iter().flat_map(|flags| flags.values()).cloned();
        Ok(self.layers()?.settings(Source::Flags, data.chain(values))?)
    }

    /// An engine with the flags of a command as the highest layer of its settings.
    pub(crate) fn engine(&self, flags: &[&dyn KeyFlags], access: engine::Access) -> Result<Engine> {
        self.engine_on(None, flags, access)
    }

    /// As [`engine`](Self::engine), with a number of threads.
    pub(crate) fn engine_on(
        &self,
        threads: Option<ThreadFlags>,
        flags: &[&dyn KeyFlags],
        access: engine::Access,
    ) -> Result<Engine> {
        if access == engine::Access::Write {
            interrupt::keeps("stored data is intact; run the same command again to do the rest");
        }
        Ok(self.builder(threads, flags)?.open(access)?)
    }

    /// A builder of an engine with the flags of a command as the highest layer of its settings.
    pub(crate) fn builder(
        &self,
        threads: Option<ThreadFlags>,
        flags: &[&dyn KeyFlags],
    ) -> Result<engine::Builder> {
        let is_quiet = self.quiet;
        let builder = Engine::builder(self.settings(flags)?).cancel(interrupt::flag()).queue(move |notice| {
            if !is_quiet {
                crate::output::note(&plain(&notice.message));
            }
        });
        Ok(builder.threads(threads.and_then(ThreadFlags::number)))
    }

    /// Prints notices to standard error.
    pub(crate) fn tell(&self, notices: &[Notice]) {
        for notice in notices {
            let label = match notice.code {
                NoticeCode::Nothing | NoticeCode::NoModel | NoticeCode::Switched | NoticeCode::WatchPolls => {
                    self.say(&plain(&notice.message));
                    continue;
                }
                // A collection that was indexed without vectors on purpose needs no notice.
                NoticeCode::NoVectors if !self.verbose => continue,
                NoticeCode::VectorsPending | NoticeCode::NotesPending => "pending",
                NoticeCode::ReviewOverlays => "review",
                NoticeCode::FolderMoved => "moved",
                NoticeCode::OverlaysKept => "kept",
                _ => "note:",
            };
            self.say(&format!("{} {}", yellow(label), plain(&notice.message)));
        }
    }

    /// Warns on standard error about unknown environment variables.
    pub(crate) fn warn_of_variables(&self) {
        // The command itself reports a configuration that cannot be read.
        let Ok(layers) = self.layers() else { return };
        let given = variables().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
        for warning in layers.unknown_variables(given) {
            self.say(&format!("{} {}", yellow("warning:"), plain(&warning)));
        }
    }

    /// The outcome of a command with this number of results; prints `otherwise` if there are none.
    pub(crate) fn found(&self, results: usize, otherwise: &str) -> Outcome {
        if results > 0 {
            return Outcome::Success;
        }
        self.say(otherwise);
        Outcome::Nothing
    }

    /// Prints a sentence to standard error, unless `--quiet` is given.
    pub(crate) fn say(&self, sentence: &str) {
        if !self.quiet {
            crate::output::note(sentence);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use chunkwright_engine::settings::key;

    #[test]
    fn every_key_is_a_flag_of_the_same_name_and_every_flag_has_a_help() {
        let cli = Cli::command();
        cli.clone().debug_assert();
        let config = cli.find_subcommand("config").and_then(|config| config.find_subcommand("show"));
        let flags = config.unwrap().get_arguments().chain(cli.get_arguments());
        let flags: Vec<&str> = flags.filter_map(|flag| flag.get_long()).collect();
        // Tables can only be set in files.
        for key in key::all().iter().filter(|key| key.name != "kinds") {
            assert!(flags.contains(&key.name.replace('_', "-").as_str()), "{}", key.name);
        }
        for command in cli.get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for flag in command.get_arguments() {
                assert!(flag.get_help().is_some(), "{} {}", command.get_name(), flag.get_id());
            }
        }
    }

    #[test]
    fn every_command_that_writes_json_takes_fields() {
        fn check(command: &clap::Command, checked: &mut usize) {
            let has = |flag: &str| command.get_arguments().any(|known| known.get_long() == Some(flag));
            let format = command.get_arguments().find(|flag| flag.get_long() == Some("format"));
            let names = format.map(clap::Arg::get_possible_values).unwrap_or_default();
            if names.iter().any(|name| name.get_name().starts_with("json")) {
                assert!(has("fields"), "{}", command.get_name());
                *checked += 1;
            }
            command.get_subcommands().for_each(|command| check(command, checked));
        }
        let mut checked = 0;
        check(&Cli::command(), &mut checked);
        assert!(checked > 15, "{checked}");
    }
}
