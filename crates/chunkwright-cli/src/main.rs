//! The command line of Chunkwright: reads files, the environment and the configuration, calls the
//! libraries, and puts their results into words.
//!
//! Results go to standard output and nothing else does. Exit status: 0 success, 1 found nothing or
//! found violations, 2 an error, which one sentence on standard error explains, 3 some documents could
//! not be indexed.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is the edge: it knows environment, folder and clock"
)]
#![expect(clippy::doc_markdown, reason = "the documentation of flags is their help, where backticks stay")]

mod app;
mod command;
mod evaluation;
mod expand;
mod input;
mod ordered;
mod output;
mod progress;
mod report_page;
mod searching;
mod services;
mod settings;
mod text;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use app::Outcome;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = app::Cli::parse();
    cli.color.write_global();
    match command::run(&cli) {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Ok(Outcome::Failed) => ExitCode::from(2),
        Ok(Outcome::Partial) => ExitCode::from(3),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if standard error is closed too.
            let _ = writeln!(
                anstream::stderr(),
                "{} {}",
                text::red("error:"),
                text::plain(&format!("{error:#}"))
            );
            ExitCode::from(2)
        }
    }
}

/// Whether the reader of our output went away (`| head`): no error of ours, and not worth a word.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    kinds.map(io::Error::kind).any(|kind| kind == io::ErrorKind::BrokenPipe)
}
