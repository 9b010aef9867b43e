//! Everything a developer runs beside cargo: `cargo xtask <command>`.
//!
//! This binary has no dependencies that take long to compile, so that every command can say what it is going to do
//! before it does it. For work that needs the project's crates, it builds and runs the program.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's command talks to the terminal")]
#![expect(clippy::disallowed_methods, reason = "a developer's command reads the environment and the clock")]

mod build;
mod environment;
mod eval;
mod load;
mod python;
mod quickstart;
mod reduced;
mod servers;
mod shell;
mod soak;
mod test;
mod tidy;
mod web;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

/// A command: its name, its arguments, its help, and its function.
struct Command {
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<()>,
}

/// All commands, in the order of the help.
const COMMANDS: &[Command] = &[
    Command {
        name: "quickstart",
        arguments: "",
        summary: "install models, build, index this repository, and search it in three languages",
        run: |arguments| none(arguments).and_then(|()| quickstart::run()),
    },
    Command {
        name: "test",
        arguments: "[--all]",
        summary: "run every check that a change must pass; `--all` adds what is long, as a release has it",
        run: test::run,
    },
    Command {
        name: "setup",
        arguments: "[--models NAME,...]",
        summary: "install models (`e5`, `static`) into the user's data directory",
        run: build::setup,
    },
    Command {
        name: "servers",
        arguments: "",
        summary: "install the servers that tests talk to, and print the folder of their programs",
        run: |arguments| {
            none(arguments)?;
            servers::install()?;
            println!("{}={}", servers::VARIABLE, servers::programs()?.display());
            Ok(())
        },
    },
    Command {
        name: "wheel",
        arguments: "",
        summary: "build the wheel of the Python package and its source distribution into `target/wheels`",
        run: |arguments| none(arguments).and_then(|()| python::wheel()),
    },
    Command {
        name: "web",
        arguments: "",
        summary: "build the web page, which the program embeds; needs Node",
        run: |arguments| none(arguments).and_then(|()| web::build()),
    },
    Command {
        name: "eval",
        arguments: "[--data DIR]",
        summary: "measure every preset and write the tables of `eval/`; DIR holds more question sets",
        run: eval::run,
    },
    Command {
        name: "load",
        arguments: "PROGRAM STORE COLLECTION QUERIES [--seconds N] [--minutes N]",
        summary: "how many searches a server answers, how soon, and what disturbs it; run xtask itself with `--release`",
        run: load::run,
    },
    Command {
        name: "soak",
        arguments: "[--seconds N] [--seed S]",
        summary: "random operations and kills against a model; also --store NAME, --operations LIST",
        run: soak::run,
    },
    Command {
        name: "tidy",
        arguments: "",
        summary: "check the cheap rules of the repository: sizes, machine paths, registry hosts",
        run: |arguments| none(arguments).and_then(|()| tidy::run()),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        help();
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        help();
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => bail!("unknown command `{name}`; known are {}", names()),
    }
}

fn none(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => Ok(()),
        [first, ..] => bail!("unexpected argument `{first}`; this command takes none"),
    }
}

fn names() -> String {
    COMMANDS.iter().map(|command| format!("`{}`", command.name)).collect::<Vec<_>>().join(", ")
}

fn help() {
    println!("usage: cargo xtask <command>\n");
    for Command { name, arguments, summary, .. } in COMMANDS {
        println!("  {:<30} {summary}", format!("{name} {arguments}"));
    }
}
