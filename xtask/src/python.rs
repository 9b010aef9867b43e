//! The Python package: its wheel, its source distribution and its tests.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::environment::Environment;
use crate::{shell, web};

/// What builds the package.
const MATURIN: Environment = Environment { name: "python-build", list: "bindings/python/requirements.txt" };

/// What tests the package.
const TESTS: Environment = Environment { name: "python", list: "bindings/python/tests/requirements.txt" };

/// What tests the batch engines, with those that are too large or start too slowly for every change.
const ENGINES: Environment =
    Environment { name: "python-engines", list: "bindings/python/tests/engines.txt" };

const PACKAGE: &str = "bindings/python";

/// Builds what users install: a wheel for this system, and a source distribution that builds anywhere.
pub(crate) fn wheel() -> Result<()> {
    web::build_if_possible()?;
    MATURIN.install()?;
    let folder = folder("wheels")?;
    // Twice: the types in the package are made of the module, which is compiled once.
    let pack = || {
        let features = ["--features", "chunkwright-cli/onnx,chunkwright-cli/otlp"];
        shell::run(maturin(&["build", "--release", "--out"])?.arg(&folder).args(features))
    };
    pack()?;
    write_stubs(&shell::target_dir()?.join("release").join(MODULE.0))?;
    pack()?;
    let wheel = newest(&folder)?;
    let size = fs::metadata(&wheel)?.len();
    println!("{} ({} MB)", wheel.display(), size / 1_000_000);
    shell::run(maturin(&["sdist", "--out"])?.arg(&folder))
}

/// The module as cargo names it, and as Python does.
const MODULE: (&str, &str) = if cfg!(windows) {
    ("_chunkwright.dll", "_chunkwright.pyd")
} else if cfg!(target_os = "macos") {
    ("lib_chunkwright.dylib", "_chunkwright.abi3.so")
} else {
    ("lib_chunkwright.so", "_chunkwright.abi3.so")
};

/// Packs the wheel for development around the module that `cargo build` has compiled with everything else: maturin's own build
/// has features of its own, and would compile all of it again.
fn pack() -> Result<PathBuf> {
    let module = shell::target_dir()?.join("debug").join(MODULE.0);
    write_stubs(&module)?;
    let wheels = folder("wheels-dev")?;
    let (contents, package) = (wheels.join("contents"), wheels.join("contents/chunkwright"));
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    copy(&sources().join("chunkwright"), &package)?;
    fs::copy(&module, package.join(MODULE.1))?;
    let stripped = Command::new("strip").arg("--strip-unneeded").arg(package.join(MODULE.1)).status();
    if !stripped.is_ok_and(|status| status.success()) {
        println!("`strip` is not there: the wheel keeps the names of functions");
    }
    let info = ["pep517", "write-dist-info", "--interpreter", "python3", "--metadata-directory"];
    shell::run_in_silence(maturin(&info)?.arg(&contents))?;
    let mut wheel = Command::new(MATURIN.programs()?.join("python"));
    wheel.args(["-m", "wheel", "pack", "--dest-dir"]).arg(&wheels).arg(&contents);
    shell::run_in_silence(&mut wheel)?;
    newest(&wheels)
}

/// Writes the types of the package, as the module tells them.
fn write_stubs(module: &Path) -> Result<()> {
    let beside = sources().join("chunkwright").join(MODULE.1);
    fs::copy(module, &beside).with_context(|| format!("`{}` could not be copied", module.display()))?;
    let stubs = Command::new(MATURIN.programs()?.join("python"))
        .arg(shell::root().join(PACKAGE).join("stubs.py"))
        .env("PYTHONPATH", sources())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status();
    fs::remove_file(&beside)?;
    if !stubs.context("Python could not be run")?.success() {
        bail!("the types of the package could not be written");
    }
    Ok(())
}

/// Copies a folder without what Python compiled.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if !path.is_dir() {
            fs::copy(path, to.join(name))?;
        } else if name != "__pycache__" {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

/// The wheel in a folder that was built last.
fn newest(folder: &Path) -> Result<PathBuf> {
    let newest = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("whl")))
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok());
    newest.with_context(|| format!("no wheel is in `{}`", folder.display()))
}

fn sources() -> PathBuf {
    shell::root().join(PACKAGE).join("python")
}

fn folder(name: &str) -> Result<PathBuf> {
    Ok(shell::target_dir()?.join(name))
}

fn maturin(arguments: &[&str]) -> Result<Command> {
    let mut maturin = Command::new(MATURIN.programs()?.join("maturin"));
    maturin.args(arguments).current_dir(shell::root().join(PACKAGE));
    // Its cargo as ours, so that what the others have compiled is not compiled again.
    let cargo = shell::cargo("");
    for (name, value) in cargo.get_envs() {
        match value {
            Some(value) => maturin.env(name, value),
            None => maturin.env_remove(name),
        };
    }
    Ok(maturin)
}

/// Installs what builds and tests the package.
pub(crate) fn prepare() -> Result<()> {
    MATURIN.install()?;
    TESTS.install()
}

/// Builds the wheel for development, and installs it where its tests run.
pub(crate) fn install() -> Result<()> {
    prepare()?;
    let wheel = pack()?;
    shell::run(TESTS.installer()?.args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// The tests of the package that is installed.
pub(crate) fn test() -> Result<Command> {
    pytest(&TESTS, "tests")
}

/// Runs the tests of the batch engines with the wheel that [`install`] has built.
pub(crate) fn test_engines() -> Result<()> {
    ENGINES.install()?;
    let wheel = newest(&folder("wheels-dev")?)?;
    shell::run(ENGINES.installer()?.args(["--force-reinstall", "--no-deps"]).arg(wheel))?;
    shell::run(&mut pytest(&ENGINES, "tests/test_engines.py")?)
}

/// The tests at a path of the package, in an environment.
fn pytest(environment: &Environment, path: &str) -> Result<Command> {
    let programs = environment.programs()?;
    let mut pytest = Command::new(programs.join("python"));
    pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(Path::new(PACKAGE).join(path));
    pytest.current_dir(shell::root()).env("PYTHONPATH", "").env("PATH", with(&programs)?);
    Ok(pytest)
}

/// The paths of programs, with a folder before the others.
fn with(folder: &Path) -> Result<OsString> {
    let others = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths(iter::once(folder.to_owned()).chain(env::split_paths(&others)))?)
}
