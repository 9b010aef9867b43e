//! Installs models: what `cargo xtask setup` builds and runs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's command talks to the terminal")]
#![expect(clippy::disallowed_methods, reason = "a developer's command reads the environment")]

mod models;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match models::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
