//! The command line of Chunkwright: reads files, the environment and the configuration, calls the libraries, and prints
//! their results.
//!
//! Results go to standard output and nothing else does. Exit status: 0 success, 1 found nothing or
//! found violations, 2 an error, which one sentence on standard error explains, 3 some documents could
//! not be indexed, 130 and 143 ended by a signal.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is the edge: it knows environment, folder and clock"
)]
#![expect(clippy::doc_markdown, reason = "the documentation of flags is their help, where backticks stay")]

mod app;
mod candidates;
mod choice;
mod command;
mod evaluation;
mod help;
mod input;
mod interrupt;
mod keys;
mod output;
mod progress;
mod searching;
mod text;

use std::error::Error as _;
use std::io::{self, Write};
use std::num::{IntErrorKind, ParseIntError};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;
use mimalloc::MiMalloc;

use app::{Cli, Outcome};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Allocators reserve far more address space than they use: 64 MB for each parsing thread, and a gigabyte at once. If
/// the system limits address space, this program restarts itself with smaller reserves, which can only be set this way.
#[cfg(target_os = "linux")]
fn begin_again_with_small_reserves() {
    use std::os::unix::process::CommandExt as _;
    const ARENAS: &str = "MALLOC_ARENA_MAX";
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let is_limited = |line: &str| line.starts_with("Max address space") && !line.contains("unlimited");
    if std::env::var_os(ARENAS).is_none()
        && limits.lines().any(is_limited)
        && let Ok(program) = std::env::current_exe()
    {
        let mut again = std::process::Command::new(program);
        again.args(std::env::args_os().skip(1)).env(ARENAS, "1").env("MIMALLOC_ARENA_RESERVE", "16384");
        // `exec` returns only on failure; then this process continues as it is.
        let _ = again.exec();
    }
}

/// Suppresses the output of panics that a library catches and turns into errors.
fn report_only_uncaught_panics() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !chunkwright_engine::is_catching() {
            report(panic);
        }
    }));
}

fn main() -> ExitCode {
    report_only_uncaught_panics();
    let mut arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    if arguments.next().as_deref() == Some(chunkwright_engine::convert::CHILD) {
        return chunkwright_engine::convert::run_child(&arguments.next().unwrap_or_default());
    }
    #[cfg(target_os = "linux")]
    begin_again_with_small_reserves();
    if let Ok(program) = std::env::current_exe() {
        chunkwright_engine::convert::contain_in(program);
    }
    // If a shell asks for candidates, the program prints them and ends here.
    CompleteEnv::with_factory(Cli::command).var(candidates::VARIABLE).complete();
    interrupt::listen();
    let mut command = help::shaped(Cli::command());
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = parsed
        .and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    let ended = match parsed {
        Ok(cli) => {
            cli.color.write_global();
            cli.global.warn_of_variables();
            run(&cli)
        }
        Err(error) if let Some(said) = wrong_value(&error) => Err(anyhow!(said)),
        // Help and version texts are results too: a failure to print them is reported.
        Err(error) => match error.print().and_then(|()| io::stdout().flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
        },
    };
    match ended {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Ok(Outcome::Failed) => ExitCode::from(2),
        Ok(Outcome::Partial) => ExitCode::from(3),
        Err(_) if output::is_reader_gone() => ExitCode::SUCCESS,
        // Other errors after a signal are consequences of it.
        Err(_) if interrupt::came() => interrupt::end(),
        Err(error) => {
            // If standard error is closed too, the error is lost.
            let _ =
                writeln!(anstream::stderr(), "{} {}", text::red("error:"), text::plain(&sentence(&error)));
            let code = error.downcast_ref::<chunkwright_engine::Error>().map(chunkwright_engine::Error::code);
            ExitCode::from(code.map_or(2, |code| code.exit))
        }
    }
}

/// A one-sentence error for an invalid flag value, without clap's pointer to help and Rust's wording for numbers.
fn wrong_value(error: &clap::Error) -> Option<String> {
    let cause = error.source().filter(|_| error.kind() == ErrorKind::ValueValidation)?;
    let (flag, value) = (error.get(ContextKind::InvalidArg)?, error.get(ContextKind::InvalidValue)?);
    let right = match cause.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::Zero) => "it must be at least 1".to_owned(),
        Some(_) => format!("it must be a whole number of at most {}", u32::MAX),
        None => cause.to_string(),
    };
    // The flag without the value name that clap appends.
    let flag = flag.to_string();
    let flag = flag.split(' ').next().unwrap_or_default();
    Some(format!("`{flag}` is `{value}`; {right}"))
}

/// An error and its causes, without repetitions.
fn sentence(error: &anyhow::Error) -> String {
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            said.extend([": ", &cause]);
        }
    }
    said
}

/// Runs the command. Its result files appear if it succeeds.
fn run(cli: &Cli) -> Result<Outcome> {
    let outcome = command::run(cli).inspect_err(|_| output::discard())?;
    output::settle(&cli.global, outcome)?;
    Ok(outcome)
}
