//! Builds the program, and installs models with it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;

/// A build profile.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    /// For tests and a first try: it compiles in a third of the time.
    Dev,
    /// For use.
    Release,
}

/// Builds the program.
pub(crate) fn program(profile: Profile) -> Result<()> {
    let flag = match profile {
        Profile::Dev => "",
        Profile::Release => " --release --features onnx,otlp",
    };
    shell::run(&mut shell::cargo(&format!("build -p chunkwright-cli{flag}")))
}

/// The path of a binary that is already built.
pub(crate) fn binary(name: &str, profile: Profile) -> Result<PathBuf> {
    let folder = match profile {
        Profile::Dev => "debug",
        Profile::Release => "release",
    };
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Ok(shell::target_dir()?.join(folder).join(file))
}

/// Installs the models named by `--models a,b`, or the usual ones; builds the program first.
pub(crate) fn setup(arguments: &[String]) -> Result<()> {
    let names: Vec<&str> = match arguments {
        [] => Vec::new(),
        [flag, names] if flag == "--models" => names.split(',').map(str::trim).collect(),
        [first, ..] => bail!("unexpected argument `{first}`; use `--models NAME,NAME`"),
    };
    program(Profile::Release)?;
    install_models(Profile::Release, &names)
}

/// Installs models (by default the usual ones) with the program that is already built.
pub(crate) fn install_models(profile: Profile, names: &[&str]) -> Result<()> {
    let mut program = Command::new(binary("chunkwright", profile)?);
    shell::run(program.args(["models", "install", "--format", "text"]).args(names))
}
