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
mod synonyms;
mod text;

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};
use std::num::{IntErrorKind, ParseIntError};

use anyhow::{Result, anyhow};
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;

use app::{Cli, Outcome};

/// Suppresses the output of panics that a library catches and turns into errors.
fn report_only_uncaught_panics() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !chunkwright_engine::is_catching() {
            report(panic);
        }
    }));
}

/// Runs the command line with `arguments`, the first of which is the name of the program, and returns its exit status.
pub fn run(arguments: &[OsString]) -> u8 {
    report_only_uncaught_panics();
    if let [_, child, format, ..] = arguments
        && child == chunkwright_engine::convert::CHILD
    {
        return chunkwright_engine::convert::run_child(&format.to_string_lossy());
    }
    // If a shell asks for candidates, the program prints them and ends here.
    let candidates = CompleteEnv::with_factory(Cli::command).var(candidates::VARIABLE);
    match candidates.try_complete(arguments.iter().cloned(), std::env::current_dir().ok().as_deref()) {
        Ok(true) => return 0,
        Ok(false) => {}
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    }
    interrupt::listen();
    let mut command = help::shaped(synonyms::understood(Cli::command()));
    let parsed = command.try_get_matches_from_mut(arguments);
    let parsed = parsed
        .and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    let ended = match parsed {
        Ok(cli) => {
            cli.color.write_global();
            cli.global.warn_of_variables();
            perform(&cli)
        }
        Err(error)
            if let Some(said) = wrong_value(&error)
                .or_else(|| synonyms::answer(&error, arguments.get(1..).unwrap_or_default())) =>
        {
            Err(anyhow!(said))
        }
        Err(error)
            if error.kind() == ErrorKind::InvalidSubcommand
                && let [_, help, subject] = arguments
                && help == "help" =>
        {
            help::of_subject(&Cli::command(), &subject.to_string_lossy())
                .map_err(|said| anyhow!(said))
                .and_then(|text| printed(writeln!(anstream::stdout(), "{}", text.ansi())))
                .map(|()| Outcome::Success)
        }
        Err(error) => match printed(error.print().and_then(|()| io::stdout().flush())) {
            Err(error) => Err(error),
            Ok(()) => return u8::try_from(error.exit_code()).unwrap_or(2),
        },
    };
    match ended {
        Ok(Outcome::Success) => 0,
        Ok(Outcome::Nothing) => 1,
        Ok(Outcome::Failed) => 2,
        Ok(Outcome::Partial) => 3,
        Err(_) if output::is_reader_gone() => 0,
        // Other errors after a signal are consequences of it.
        Err(_) if interrupt::came() => interrupt::end(),
        Err(error) => {
            // If standard error is closed too, the error is lost.
            let _ =
                writeln!(anstream::stderr(), "{} {}", text::red("error:"), text::plain(&sentence(&error)));
            let code = error.downcast_ref::<chunkwright_engine::Error>().map(chunkwright_engine::Error::code);
            code.map_or(2, |code| code.exit)
        }
    }
}

/// What became of printing a help text, which is a result too: a failure is reported, unless the reader has gone.
fn printed(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
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
fn perform(cli: &Cli) -> Result<Outcome> {
    let outcome = command::run(cli).inspect_err(|_| output::discard())?;
    output::settle(&cli.global, outcome)?;
    Ok(outcome)
}
