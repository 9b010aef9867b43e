//! Building the project's binaries, and running the one that installs models.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::shell;

/// The feature that belongs to every build of the workspace, so that all share one set of artifacts: it
/// adds the binary that installs models.
pub(crate) const FEATURES: &str = "--features xtask/models";

/// The binary that installs models.
pub(crate) const SETUP: &str = "setup";

/// How to build.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    /// For tests.
    Dev,
    /// For use.
    Release,
}

/// Builds all binaries in release.
pub(crate) fn binaries() -> Result<()> {
    shell::run(&mut shell::cargo(&format!("build --release --workspace --bins {FEATURES}")))
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

/// Installs models; builds what installs them first.
pub(crate) fn setup(arguments: &[String]) -> Result<()> {
    binaries()?;
    setup_built(Profile::Release, arguments)
}

/// Installs models by the binary [`SETUP`], which was built before.
pub(crate) fn setup_built(profile: Profile, arguments: &[String]) -> Result<()> {
    shell::quietly(Command::new(binary(SETUP, profile)?).args(arguments))
}
