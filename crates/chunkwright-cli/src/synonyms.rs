//! Flags and commands by the names that other tools give them: understood where they mean the same, else answered with
//! what to write.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ErrorKind};

/// Long names of other tools, by the flag that means the same. A command understands them if it has the flag.
const FLAGS: &[(&str, &[&str])] = &[
    ("embedder", &["model", "embedding-model"]),
    ("include", &["glob"]),
    ("limit", &["max-results", "top-k"]),
    ("max-size", &["size"]),
    ("min-relevance", &["min-score", "threshold"]),
    ("output", &["out"]),
    ("top-k", &["limit", "max-results", "top"]),
];

/// Short names, likewise.
const SHORT_FLAGS: &[(&str, char)] = &[("include", 'g'), ("top-k", 'n')];

/// What is written here for a flag of other tools, by the flag; and for a command.
const ANSWERS: &[(&[&str], &str)] = &[
    (&["--recursive", "-r", "-R"], "a folder is read with all folders in it: leave it out"),
    (&["--json"], "write `--format json`, or `--format jsonl` for one object a line, as in a pipe"),
    (&["--jsonl", "--ndjson"], "write `--format jsonl`, which a pipe has by default"),
    (&["--port", "--host", "--bind"], "write `--listen ADDRESS:PORT`, such as `--listen 127.0.0.1:8080`"),
    (
        &["--http", "--sse", "--transport"],
        "`chunkwright serve` answers MCP over HTTP at `/mcp`; `mcp` speaks over standard input and output",
    ),
    (
        &["--delete", "--sync"],
        "`index PATH` removes documents whose files are gone: leave it out, or see `--prune`",
    ),
    (
        &["--hybrid", "--dense", "--sparse", "--lexical"],
        "write `--mode hybrid`, or `dense`, `sparse` or `lexical`",
    ),
    (&["--version"], "write `chunkwright --version`"),
    (&["ask", "find", "grep", "query", "retrieve"], "write `chunkwright search QUERY`"),
    (
        &["add", "build", "embed", "ingest", "load", "reindex", "sync", "update"],
        "write `chunkwright index PATH`",
    ),
    (&["list", "ls"], "write `chunkwright collections`, or `chunkwright chunks` for what is in one"),
    (&["remove", "rm"], "write `chunkwright delete`, or remove the file and run `chunkwright index PATH`"),
    (&["get", "read", "show"], "write `chunkwright fetch ID`"),
    (&["info"], "write `chunkwright status`"),
    (&["server", "start", "ui", "web"], "write `chunkwright serve`"),
    (&["version"], "write `chunkwright --version`"),
];

/// The program, with the flags of other tools as hidden names of its own.
pub(crate) fn understood(command: Command) -> Command {
    command.mut_subcommands(|inner| {
        let inner = understood(inner);
        let (longs, shorts) = names(&inner);
        inner.mut_args(|arg| {
            let Some(long) = arg.get_long().map(str::to_owned) else { return arg };
            let of = |flag: &str| flag == long;
            let aliases = FLAGS.iter().filter(|(flag, _)| of(flag)).flat_map(|(_, names)| *names);
            let arg = arg.aliases(aliases.copied().filter(|name| !longs.iter().any(|long| long == name)));
            let short = SHORT_FLAGS.iter().filter(|(flag, short)| of(flag) && !shorts.contains(short));
            arg.short_aliases(short.map(|(_, short)| *short))
        })
    })
}

/// The long and the short names of a command's flags.
fn names(command: &Command) -> (Vec<String>, Vec<char>) {
    let args = || command.get_arguments();
    let longs = args().flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
    let shorts = args().flat_map(|arg| arg.get_short_and_visible_aliases().unwrap_or_default());
    (longs.map(str::to_owned).collect(), shorts.collect())
}

/// What is written here for what was typed, if it is a flag or, as the first of `words`, a command of other tools.
pub(crate) fn answer(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let (kind, context) = match error.kind() {
        ErrorKind::UnknownArgument => ("flag", ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand => ("command", ContextKind::InvalidSubcommand),
        _ => return None,
    };
    let is_query = |word: &&OsString| {
        let word = word.to_string_lossy();
        word.starts_with('-') && word.contains([' ', '"'])
    };
    if words.first().is_some_and(|word| word == "search")
        && let Some(query) = words.iter().find(is_query)
    {
        return Some(format!(
            "a query that begins with `-` follows `--`: `chunkwright search -- '{}'`",
            query.display()
        ));
    }
    let typed = error.get(context)?.to_string();
    let (_, right) = ANSWERS.iter().find(|(names, _)| names.contains(&typed.as_str()))?;
    let first = words.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let is_meant = kind == "flag" || first.is_some_and(|word| *word == *typed);
    is_meant.then(|| format!("unknown {kind} `{typed}`; {right}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::app::Cli;

    fn typed(words: &str) -> Result<(), (clap::Error, Vec<OsString>)> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let line = [OsString::from("chunkwright")].into_iter().chain(words.clone());
        understood(Cli::command()).try_get_matches_from(line).map(drop).map_err(|error| (error, words))
    }

    #[test]
    fn flags_of_other_tools_are_understood() {
        understood(Cli::command()).debug_assert();
        for words in [
            "chunk docs --glob *.md",
            "chunk docs -g *.md --size 100",
            "index docs --model static",
            "search lamp --limit 3 --threshold 0.5",
            "search lamp -n 3",
            "chunks --max-results 3",
        ] {
            typed(words).unwrap_or_else(|(error, _)| panic!("{words}: {error}"));
        }
    }

    #[test]
    fn what_is_not_understood_is_answered_with_commands_that_exist() {
        let known = Cli::command();
        for (names, right) in ANSWERS {
            for rest in right.split("`chunkwright ").skip(1) {
                let command = rest.split(['`', ' ']).next().unwrap();
                assert!(command.starts_with('-') || known.find_subcommand(command).is_some(), "{right}");
            }
            for name in *names {
                let before = if name.starts_with('-') { "mcp " } else { "" };
                let (error, words) = typed(&format!("{before}{name}")).unwrap_err();
                assert!(answer(&error, &words).is_some(), "{name}: {error}");
            }
        }
        let (error, words) = typed("models ls").unwrap_err();
        assert_eq!(answer(&error, &words), None, "a command within a command has names of its own");
        let query = [OsString::from("search"), OsString::from("-\"connection refused\" lamp")];
        let error = Cli::command()
            .try_get_matches_from([OsString::from("chunkwright")].iter().chain(&query))
            .unwrap_err();
        assert!(answer(&error, &query).unwrap().contains("follows `--`"), "{error}");
    }
}
