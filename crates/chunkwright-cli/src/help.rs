//! Help texts: a page for `--help`, every option for `help COMMAND`, and the options of a subject for `help SUBJECT`.
//!
//! `--help` shows what a command does, and one line per option. Rarely needed settings are hidden there (see `keys.rs`)
//! and counted at the end, so that it fits on a page or two.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use crate::command::GROUPS;

/// What `help filters` prints.
const FILTERS: &str = "\
Filters take chunks by what their records say. They are written as `--filter EXPRESSION`, or inside a query.

An expression has conditions, joined by `and`, `or`, `not` and parentheses:

  language=rust               is, and `!=` is not
  token_count<200             order: `<`, `<=`, `>`, `>=`
  doc_id^=guide/              begins with
  doc_id~docs/**/*.md         matches a glob
  meta.tags=ops               what a front matter or a table of metadata says of the document
  header_path=\"Set up\"       a value with blanks or parentheses stands in double quotes

Inside a query:

  symbol:Report.render        chunks of this symbol
  path:src/ -path:tests/      in a folder, and not in another
  lang:python type:table      of a language, with a kind of content
  \"connection refused\"        these words side by side
  -docker                     without this word

An unknown field is answered with all that there are.

Examples:
  chunkwright search retries --filter 'doc_id~docs/** and (category=api or token_count<200)'
  chunkwright search \"symbol:Report.render -path:tests/ how are pages numbered?\"
";

/// The program with both kinds of help texts.
pub(crate) fn shaped(command: Command) -> Command {
    let groups: String = GROUPS.iter().map(|(title, names)| listed(&command, title, names)).collect();
    // What a client starts needs no settings: its own and those of other commands are one step away.
    let global: Vec<Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let command = command.mut_subcommand("mcp", |mcp| {
        mcp.args(global).mut_args(|arg| {
            let is_first = ["paths", "print_config", "allow_write"].contains(&arg.get_id().as_str());
            if is_first { arg } else { arg.hide_short_help(true) }
        })
    });
    with_list(described(command, "chunkwright help"), &groups, "Options")
}

/// What `help SUBJECT` prints: of `filters`, how they are written; of a title above options, such as `cutting`, all
/// options below it, from the first command that has most of them. A sentence that names all subjects if it is neither.
pub(crate) fn of_subject(command: &Command, subject: &str) -> Result<StyledStr, String> {
    if subject == "filters" {
        return Ok(FILTERS.into());
    }
    let is_of = |arg: &Arg| arg.get_help_heading().is_some_and(|title| title.to_lowercase() == subject);
    let options = |it: &&Command| it.get_arguments().filter(|arg| is_of(arg)).count();
    match command.get_subcommands().min_by_key(|it| Reverse(options(it))).filter(|it| options(it) > 0) {
        Some(most) => {
            let only = most.clone().mut_args(|arg| if is_of(&arg) { arg } else { arg.hide(true) });
            Ok(only.disable_help_flag(true).help_template("{options}\n").render_long_help())
        }
        None => Err(format!("`{subject}` is neither a command nor a subject; {}", subjects(command))),
    }
}

/// A sentence with every subject of `help SUBJECT`: titles above options of a command that are one word, and `filters`.
fn subjects(command: &Command) -> String {
    let titles = command.get_subcommands().flat_map(Command::get_arguments).filter_map(Arg::get_help_heading);
    let words = titles.filter(|title| !title.contains(' ') && *title != "Arguments").map(str::to_lowercase);
    let known: BTreeSet<String> = words.chain(["filters".to_owned()]).collect();
    format!("subjects are {}", known.into_iter().collect::<Vec<_>>().join(", "))
}

/// A command whose `--help` shows its description and the number of hidden settings. `words` is the command that prints
/// its full help.
fn described(command: Command, words: &str) -> Command {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let commands = (!names.is_empty()).then(|| listed(&command, "Commands", &names));
    let is_hidden = |arg: &&Arg| arg.is_hide_short_help_set() && !arg.is_hide_set();
    let hidden = command.get_arguments().filter(is_hidden).count();
    let description = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let mut command = command.about(description).mut_subcommands(|inner| {
        let words = format!("{words} {}", inner.get_name());
        described(inner, &words)
    });
    if hidden > 0 {
        let whole = command.get_after_long_help().or(command.get_after_help()).cloned().unwrap_or_default();
        let examples = command.get_after_help().map(|after| format!("{after}\n\n")).unwrap_or_default();
        let more = format!("{examples}`{words}` describes every option, and {hidden} more settings.");
        command = command.after_help(more).after_long_help(whole);
    }
    match commands {
        Some(commands) => with_list(command, &commands, "Global options"),
        None => command,
    }
}

/// A command whose help lists its subcommands like this, and its options below a title.
fn with_list(command: Command, commands: &str, options: &str) -> Command {
    let header = command.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{header}{options}:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(StyledStr::from(template))
}

/// A list of subcommands of `command`, each with its summary, below a title.
fn listed(command: &Command, title: &str, names: &[&str]) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let line = |name: &&str| {
        let summary = command.find_subcommand(name).and_then(Command::get_about);
        let summary = summary.map(ToString::to_string).unwrap_or_default();
        format!("  {literal}{name:<11}{literal:#}  {summary}\n")
    };
    let lines: String = names.iter().map(line).collect();
    format!("{header}{title}:{header:#}\n{lines}\n")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::app::Cli;

    /// The words of each command, with the program's output for them and `--help`.
    fn helps(prefix: &[&str]) -> Vec<(Vec<String>, String)> {
        fn add(words: &[String], command: &Command, all: &mut Vec<Vec<String>>) {
            all.push(words.to_vec());
            for inner in command.get_subcommands() {
                add(&[words, &[inner.get_name().to_owned()]].concat(), inner, all);
            }
        }
        let mut all = Vec::new();
        add(&[], &Cli::command(), &mut all);
        let help = |words: Vec<String>| {
            let line: Vec<&str> = ["chunkwright"].into_iter().chain(prefix.iter().copied()).collect();
            let line = line.into_iter().map(str::to_owned).chain(words.clone());
            let flag = prefix.is_empty().then(|| "--help".to_owned());
            let shown = shaped(Cli::command()).try_get_matches_from(line.chain(flag)).unwrap_err();
            (words, shown.render().to_string())
        };
        all.into_iter().map(help).collect()
    }

    #[test]
    fn help_is_short_and_full_help_has_every_option() {
        for (words, help) in helps(&[]) {
            let lines = help.lines().count();
            let most = match words.first().map(String::as_str) {
                Some("mcp") => 12,
                Some("chunk") => 80,
                _ => 95,
            };
            assert!(lines <= most, "{words:?} {lines}\n{help}");
            let wide = help.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "{words:?}");
        }
        for (words, help) in helps(&["help"]) {
            let mut command = &Cli::command();
            for word in &words {
                command = command.find_subcommand(word).unwrap();
            }
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let named = match argument.get_long() {
                    Some(long) => help.contains(&format!("--{long}")),
                    None => {
                        help.contains(&format!("{}", argument.get_id()).to_uppercase()) || help.contains('<')
                    }
                };
                assert!(named, "{words:?} {}", argument.get_id());
            }
        }
    }

    #[test]
    fn a_subject_is_explained_with_all_of_its_options_and_no_other() {
        let cutting = of_subject(&Cli::command(), "cutting").unwrap().to_string();
        for flag in ["--max-size", "--strategy", "--context", "--overlap"] {
            assert!(cutting.contains(flag), "{cutting}");
        }
        assert!(!cutting.contains("--output") && !cutting.contains("--quiet"), "{cutting}");
        assert!(of_subject(&Cli::command(), "filters").unwrap().to_string().contains("--filter"));
        assert!(cutting.trim_start().starts_with("-p, --preset"), "{cutting}");
        let said = of_subject(&Cli::command(), "lamps").unwrap_err();
        assert!(said.contains("`lamps`") && said.contains("cutting, expansion, filters"), "{said}");
        for subject in said.split("are ").nth(1).unwrap().split(", ") {
            assert!(of_subject(&Cli::command(), subject).is_ok(), "{subject}");
        }
    }

    #[test]
    fn every_command_is_in_one_group_with_a_summary_of_one_line() {
        let command = Cli::command();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(grouped, known);
        let overview = &helps(&[])[0].1;
        for (title, names) in GROUPS {
            assert!(overview.contains(&format!("\n{title}:\n  {}", names[0])), "{overview}");
        }
    }
}
