//! An output never destroys an input, nor lies in a store.
//!
//! This is decided once for all commands, from what the command line is parsed into and before the command begins.
//! Every value that names a file is an input, unless its type is [`OutputPath`]: a new command has nothing to do, and
//! cannot forget it.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use chunkwright_engine::files::{OutputError, Protected};
use clap::{Arg, ArgMatches, Command};

use super::{OutputPath, unwritable};
use crate::app::Global;
use crate::input::file_and_line;
use crate::text::plain;

/// What a command line names.
#[derive(Debug, Default)]
struct Named {
    outputs: Vec<OutputPath>,
    protected: Protected,
}

/// Refuses outputs that are inputs or lie in a store, and those that cannot be written. Answers the output that is
/// no input although it is in a folder that is read: it holds the results of an earlier run.
pub(crate) fn check(command: &Command, matches: &ArgMatches, global: &Global) -> Result<Option<PathBuf>> {
    let mut named = Named::default();
    named.add_arguments(command, matches);
    if named.outputs.is_empty() {
        return Ok(None);
    }
    named.add_configuration(matches, global)?;
    let mut replaced = None;
    for output in &named.outputs {
        let found = named.protected.check(output.path()).map_err(|error| refused(output, &error))?;
        replaced = found.or(replaced);
    }
    Ok(replaced)
}

impl Named {
    fn add_arguments(&mut self, mut command: &Command, mut matches: &ArgMatches) {
        while let Some((name, inner)) = matches.subcommand() {
            let Some(found) = command.find_subcommand(name) else { break };
            (command, matches) = (found, inner);
        }
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            if is::<OutputPath>(argument) {
                let outputs = matches.try_get_many::<OutputPath>(id).ok().flatten().into_iter().flatten();
                self.outputs.extend(outputs.filter(|output| !output.is_stdout()).cloned());
            } else if is::<PathBuf>(argument) {
                let paths = matches.try_get_many::<PathBuf>(id).ok().flatten().into_iter().flatten();
                let paths: Vec<&PathBuf> = paths.collect();
                // Where no document is named, or only questions about some, those of the working folder are meant.
                let takes_many = argument.get_num_args().is_some_and(|number| number.max_values() > 1);
                let are_questions = |path: &&PathBuf| path.extension().is_some_and(|end| end == "jsonl");
                if argument.is_positional()
                    && takes_many
                    && argument.get_default_values().is_empty()
                    && paths.iter().all(are_questions)
                {
                    self.protected.inputs.push(".".into());
                }
                for path in paths {
                    self.add_input(path);
                }
            } else if let Ok(Some(values)) = matches.try_get_raw(id) {
                // Names of vocabularies, keys and the like may be files.
                values.map(Path::new).filter(|path| path.is_file()).for_each(|path| self.add_input(path));
            }
        }
    }

    fn add_input(&mut self, path: &Path) {
        self.protected.inputs.push(match file_and_line(path) {
            Some((file, _)) => file,
            None if path == Path::new("-") => PathBuf::from("/dev/stdin"),
            None => path.to_owned(),
        });
    }

    /// Adds the files that the configuration names, and the stores: the one in force, and what is beside it.
    fn add_configuration(&mut self, matches: &ArgMatches, global: &Global) -> Result<()> {
        let layers = global.layers()?;
        self.protected.inputs.extend(layers.files());
        let mut matches = matches;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        self.protected
            .stores
            .extend(layers.owned_folders(&|key| matches.try_get_one::<String>(key).ok().flatten().cloned()));
        Ok(())
    }
}

/// Why an output is refused, with its name.
fn refused(output: &OutputPath, error: &OutputError) -> anyhow::Error {
    match error {
        OutputError::Unwritable(error) => unwritable(output, error),
        OutputError::IsInput { input } => {
            let input = plain(&input.display().to_string());
            let same = if output.to_string() == input {
                String::new()
            } else {
                format!(" is the same file as `{input}`, which")
            };
            anyhow!("`{output}`{same} is an input of this command; write the results to another file")
        }
        OutputError::InStore { store } => {
            let store = plain(&store.display().to_string());
            anyhow!("`{output}` lies in the store `{store}`; write the results outside of it")
        }
        other => anyhow!("`{output}` cannot be written: {other}"),
    }
}

/// Whether values of an argument have this type.
fn is<T: 'static>(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<T>()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::{CommandFactory, FromArgMatches};
    use tempfile::TempDir;

    use super::*;
    use crate::app::Cli;

    /// Every command and subcommand, with the words that name it.
    fn commands() -> Vec<(Vec<String>, Command)> {
        fn add(words: &[String], command: &Command, all: &mut Vec<(Vec<String>, Command)>) {
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                let words = [words, &[inner.get_name().to_owned()]].concat();
                all.push((words.clone(), inner.clone()));
                add(&words, inner, all);
            }
        }
        let mut command = Cli::command();
        command.build();
        let mut all = Vec::new();
        add(&[], &command, &mut all);
        all
    }

    /// Words that give `argument` this value.
    fn given(argument: &Arg, value: &str) -> Vec<String> {
        match argument.get_long().filter(|_| !argument.is_positional()) {
            Some(long) => vec![format!("--{long}={value}")],
            None => vec![value.to_owned()],
        }
    }

    /// Runs the check over this command line.
    fn run(words: &[String]) -> Result<Option<PathBuf>> {
        let mut command = Cli::command();
        let words = ["chunkwright".to_owned()].into_iter().chain(words.iter().cloned());
        let matches = command.try_get_matches_from_mut(words.clone());
        let matches = matches.unwrap_or_else(|error| panic!("{:?}: {error}", words.collect::<Vec<_>>()));
        let cli = Cli::from_arg_matches(&matches).unwrap();
        check(&command, &matches, &cli.global)
    }

    /// A command line of every command with an output: `output` is that, `input` what one of the other arguments
    /// names, each in its turn; without `input`, one with what must be given.
    fn lines(input: Option<&str>, output: &str) -> Vec<Vec<String>> {
        let mut lines = Vec::new();
        for (words, command) in commands() {
            let all: Vec<&Arg> = command.get_arguments().collect();
            let Some(to) = all.iter().find(|argument| is::<OutputPath>(argument)) else { continue };
            let mut tried: Vec<Option<&Arg>> = vec![None];
            if input.is_some() {
                tried = all
                    .iter()
                    .filter(|argument| is::<PathBuf>(argument))
                    .map(|argument| Some(*argument))
                    .collect();
            }
            for tried in tried {
                // Positional arguments stand in their order.
                let is_tried =
                    |argument: &Arg| tried.is_some_and(|tried| tried.get_id() == argument.get_id());
                let mut line = words.clone();
                for argument in &all {
                    let possible = argument.get_possible_values();
                    let any = if is::<PathBuf>(argument) {
                        "nothing.md"
                    } else {
                        "00000000000000000000000000000000"
                    };
                    let value = match input {
                        _ if argument.get_id() == to.get_id() => output,
                        Some(input) if is_tried(argument) => input,
                        _ if argument.is_required_set() => {
                            possible.first().map_or(any, |value| value.get_name())
                        }
                        _ => continue,
                    };
                    line.extend(given(argument, value));
                }
                // It asks for one of several.
                if command.get_name() == "delete" && !line.iter().any(|word| word.starts_with("--folder")) {
                    line.push("--all".into());
                }
                lines.push(line);
            }
        }
        lines
    }

    #[test]
    fn every_output_of_every_command_is_an_output_path() {
        let mut found = 0;
        for (words, command) in commands() {
            for argument in command.get_arguments() {
                let named = argument.get_long() == Some("output") || argument.get_short() == Some('o');
                found += usize::from(is::<OutputPath>(argument));
                assert!(!named || is::<OutputPath>(argument), "{words:?} {}", argument.get_id());
            }
        }
        assert!(found > 20, "{found}");
    }

    #[test]
    fn no_command_writes_a_file_but_through_this_module() {
        fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    sources(&entry.path(), all);
                } else {
                    all.push(entry.path());
                }
            }
        }
        let mut all = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        sources(&folder, &mut all);
        let own = [folder.join("output.rs"), folder.join("output/guard.rs")];
        for path in all.iter().filter(|path| !own.contains(path)) {
            let source = fs::read_to_string(path).unwrap();
            for call in [
                "File::create",
                "fs::write",
                "OpenOptions",
                "AtomicFile",
                "NamedTempFile",
                "fs::rename",
                "fs::copy",
            ] {
                assert!(!source.contains(call), "{} has {call}", path.display());
            }
        }
    }

    #[test]
    fn no_command_replaces_what_any_of_its_arguments_names() {
        let folder = TempDir::new().unwrap();
        let input = folder.path().join("input.jsonl");
        // Also a configuration.
        fs::write(&input, "").unwrap();
        let (link, hard) = (folder.path().join("link"), folder.path().join("hard"));
        fs::hard_link(&input, &hard).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&input, &link).unwrap();
        #[cfg(not(unix))]
        fs::hard_link(&input, &link).unwrap();
        let around = folder.path().join("a/../input.jsonl");
        fs::create_dir(folder.path().join("a")).unwrap();
        let mut tried = 0;
        for output in [&input, &link, &hard, &around] {
            for line in lines(input.to_str(), output.to_str().unwrap()) {
                let refused = run(&line).expect_err(&format!("{line:?}")).to_string();
                assert!(
                    refused.ends_with("is an input of this command; write the results to another file"),
                    "{line:?} {refused}"
                );
                tried += 1;
            }
        }
        assert!(tried > 20, "{tried}");
        assert_eq!(fs::read_to_string(&input).unwrap(), "");
    }

    #[test]
    fn no_command_writes_into_a_store() {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("store");
        fs::create_dir(&store).unwrap();
        let database = store.join("chunkwright.sqlite3");
        fs::write(&database, "").unwrap();
        fs::hard_link(&database, folder.path().join("hard")).unwrap();
        let mut tried = 0;
        for name in ["store/chunkwright.sqlite3", "store/new.jsonl", "store/lock", "a/../store/x", "hard"] {
            let output = folder.path().join(name);
            fs::create_dir_all(folder.path().join("a")).unwrap();
            for mut line in lines(None, output.to_str().unwrap()) {
                if name == "hard" {
                    line.push(format!("--data={}", folder.path().display()));
                }
                let refused = run(&line).expect_err(&format!("{line:?}")).to_string();
                assert!(refused.contains("lies in the store"), "{line:?} {refused}");
                tried += 1;
            }
        }
        assert!(tried > 20, "{tried}");
        assert_eq!(fs::read(&database).unwrap(), b"");
    }
}
