//! Building the program, and having it install models.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;

/// How to build.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    /// For tests.
    Dev,
    /// For use.
    Release,
}

/// Builds the program in release.
pub(crate) fn program() -> Result<()> {
    shell::run(&mut shell::cargo("build --release -p chunkwright-cli"))
}

/// The path of a binary that was built before.
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
    program()?;
    install_models(Profile::Release, &names)
}

/// Installs models, without names the usual ones, by the program that was built before.
pub(crate) fn install_models(profile: Profile, names: &[&str]) -> Result<()> {
    let mut program = Command::new(binary("chunkwright", profile)?);
    shell::run(program.args(["models", "install", "--format", "text"]).args(names))
}
