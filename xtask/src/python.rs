//! The Python package: its wheel, its source distribution and its tests.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::build::Profile;
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
    let wheel = build(Profile::Release)?;
    let size = fs::metadata(&wheel)?.len();
    println!("{} ({} MB)", wheel.display(), size / 1_000_000);
    shell::run(maturin(&["sdist", "--out"])?.arg(folder(Profile::Release)?))
}

/// Builds the wheel of a profile twice: the types in the package are made of the module, which is compiled once.
fn build(profile: Profile) -> Result<PathBuf> {
    pack(profile)?;
    let (module, name) = if cfg!(windows) {
        ("_chunkwright.dll", "_chunkwright.pyd")
    } else if cfg!(target_os = "macos") {
        ("lib_chunkwright.dylib", "_chunkwright.abi3.so")
    } else {
        ("lib_chunkwright.so", "_chunkwright.abi3.so")
    };
    let compiled = if matches!(profile, Profile::Dev) { "debug" } else { "release" };
    let sources = shell::root().join(PACKAGE).join("python");
    let beside = sources.join("chunkwright").join(name);
    fs::copy(shell::target_dir()?.join(compiled).join(module), &beside)
        .with_context(|| format!("`{module}` could not be copied"))?;
    let stubs = Command::new(MATURIN.programs()?.join("python"))
        .arg(shell::root().join(PACKAGE).join("stubs.py"))
        .env("PYTHONPATH", &sources)
        .status();
    fs::remove_file(&beside)?;
    if !stubs.context("Python could not be run")?.success() {
        bail!("the types of the package could not be written");
    }
    pack(profile)?;
    newest(profile)
}

/// The wheel of a profile that was built last.
fn newest(profile: Profile) -> Result<PathBuf> {
    let folder = folder(profile)?;
    let newest = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("whl")))
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok());
    newest.with_context(|| format!("no wheel is in `{}`", folder.display()))
}

/// Compiles the module, unless it is there, and packs it with the package around it.
fn pack(profile: Profile) -> Result<()> {
    let (mut wheel, cargo) = match profile {
        Profile::Dev => {
            let wheel = maturin(&["build", "--profile", "dev", "--compatibility", "linux", "--out"])?;
            (wheel, shell::linted(""))
        }
        Profile::Release => (
            maturin(&[
                "build",
                "--release",
                "--features",
                "chunkwright-cli/onnx,chunkwright-cli/otlp",
                "--out",
            ])?,
            shell::cargo(""),
        ),
    };
    // Its cargo as ours, so that what the others have compiled is not compiled again.
    for (name, value) in cargo.get_envs() {
        match value {
            Some(value) => wheel.env(name, value),
            None => wheel.env_remove(name),
        };
    }
    shell::run(wheel.arg(folder(profile)?))
}

fn folder(profile: Profile) -> Result<PathBuf> {
    let name = if matches!(profile, Profile::Dev) { "wheels-dev" } else { "wheels" };
    Ok(shell::target_dir()?.join(name))
}

fn maturin(arguments: &[&str]) -> Result<Command> {
    let mut maturin = Command::new(MATURIN.programs()?.join("maturin"));
    maturin.args(arguments).current_dir(shell::root().join(PACKAGE));
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
    let wheel = build(Profile::Dev)?;
    shell::run(TESTS.pip()?.args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// The tests of the package that is installed.
pub(crate) fn test() -> Result<Command> {
    pytest(&TESTS, "tests")
}

/// Runs the tests of the batch engines with the wheel that [`install`] has built.
pub(crate) fn test_engines() -> Result<()> {
    ENGINES.install()?;
    let wheel = newest(Profile::Dev)?;
    shell::run(ENGINES.pip()?.args(["--force-reinstall", "--no-deps"]).arg(wheel))?;
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
