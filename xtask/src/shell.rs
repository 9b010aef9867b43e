//! Runs programs, with their output passed through, or shown only if they fail.

use std::env;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The target folder of cargo, which this program was built into.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let program = env::current_exe().context("the path of this program is unknown")?;
    let target = program.parent().and_then(Path::parent);
    Ok(target.context("this program is not in a target folder; run it as `cargo xtask`")?.to_owned())
}

/// The cargo that runs this program.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments.split_whitespace()).current_dir(root());
    // What `cargo run` says of this program: build scripts that read it would run again, and all above them compile again.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// As [`cargo`], with Clippy as the compiler of our own crates: a warning is an error. It both checks and compiles, so
/// that each crate is processed once, and each such command reuses the results of the one before.
pub(crate) fn linted(arguments: &str) -> Command {
    let mut cargo = cargo(arguments);
    // Those of `cargo clippy -- -D warnings`, and one for the linker: programs stand at fixed addresses, as writing others into
    // them was a third of the time of a start.
    let flags = ["-D", "warnings", "-C", "link-arg=-Wl,-no-pie"];
    let flags = if cfg!(target_os = "linux") { &flags[..] } else { &flags[..2] };
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    cargo.env("CLIPPY_ARGS", flags.join("__CLIPPY_HACKERY__"));
    cargo
}

/// Returns whether `cargo <subcommand>` is installed.
pub(crate) fn has_cargo(subcommand: &str) -> bool {
    let output = cargo(subcommand).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Prints `command`, and runs it with its output passed through.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    quietly(command)
}

/// Runs `command` with its output passed through.
pub(crate) fn quietly(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("`{}` could not be run", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// A command that runs beside others, with its output in a file until it ends.
pub(crate) struct Beside {
    child: Child,
    shown: String,
    log: PathBuf,
}

impl Beside {
    /// Starts `command`.
    pub(crate) fn start(command: &mut Command, log: &str) -> Result<Self> {
        let (shown, log) = (shown(command), target_dir()?.join(log));
        println!("$ {shown} > {} &", log.display());
        let output = File::create(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().with_context(|| format!("`{shown}` could not be run"))?;
        Ok(Self { child, shown, log })
    }

    /// Waits until it ends, and passes its output through.
    pub(crate) fn finish(mut self) -> Result<()> {
        let status = self.child.wait()?;
        println!("\n$ {}", self.shown);
        io::copy(&mut File::open(&self.log)?, &mut io::stdout())?;
        if status.success() { Ok(()) } else { bail!("`{}` failed ({status})", self.shown) }
    }
}

/// Prints `command` and runs it; shows its output only if it fails.
pub(crate) fn run_in_silence(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let output = command.output().with_context(|| format!("`{}` could not be run", shown(command)))?;
    if !output.status.success() {
        io::stdout().write_all(&output.stdout)?;
        io::stderr().write_all(&output.stderr)?;
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    Ok(())
}

/// The command line, as typed in the workspace.
pub(crate) fn shown(command: &Command) -> String {
    let short = |text: &str| {
        let path = Path::new(text);
        if let Ok(inside) = path.strip_prefix(root()) {
            inside.display().to_string()
        } else if path.is_absolute() && path.file_stem().is_some_and(|stem| stem == "cargo") {
            "cargo".to_owned()
        } else {
            text.to_owned()
        }
    };
    let quoted =
        |word: String| if word.contains(' ') || word.is_empty() { format!("'{word}'") } else { word };
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quoted(short(&word.to_string_lossy())))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs `step` and returns its duration.
pub(crate) fn timed(step: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    step()?;
    Ok(start.elapsed())
}

/// `2 min 05 s`, or `7 s`.
pub(crate) fn minutes(time: Duration) -> String {
    match (time.as_secs() / 60, time.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds:02} s"),
    }
}
