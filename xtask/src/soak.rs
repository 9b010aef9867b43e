//! Random operations on a store, for any length of time, checked against a model of its invariants.
//!
//! The program under test is the real one. A **world** is a folder of documents in several languages and a store;
//! **operations** edit its files, run the program, and kill some of the runs; after each that may change the store,
//! the store is looked at and compared with what the model says may be there. A world ends after some hundred
//! operations, and the next begins, so that neither disk nor memory fills.
//!
//! All of it follows from a seed. What fails is shrunk to the fewest operations that fail in the same way, and printed
//! with the command that repeats it.

mod corpus;
mod operations;
mod program;
mod random;
mod shrink;
mod state;
mod world;

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail, ensure};

use crate::build::{self, Profile};
use crate::{servers, shell};
use corpus::Corpus;
use operations::Operation;
use random::Random;
use world::World;

/// Number of operations in a world.
const OPERATIONS: usize = 100;

/// The default seed. It is fixed, so that a change is compared with the one before it by the same operations; longer
/// runs try others.
const SEED: u64 = 1;

/// Maximum time for shrinking.
const PATIENCE: Duration = Duration::from_mins(5);

/// Number of steps shown before a finding, until it is shrunk.
const SHOWN: usize = 12;

/// A violated invariant.
#[derive(Debug)]
struct Finding {
    /// The violated rule. A shrunk run must violate the same one.
    rule: &'static str,
    detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it does not hold that {}: {}", self.rule, self.detail)
    }
}

impl std::error::Error for Finding {}

/// Creates the error for a violated rule.
fn finding(rule: &'static str, detail: String) -> Error {
    Error::new(Finding { rule, detail })
}

/// Fails unless a rule holds.
fn must(rule: &'static str, holds: bool, detail: impl FnOnce() -> String) -> Result<()> {
    if holds {
        return Ok(());
    }
    let finding = Finding { rule, detail: detail() };
    let shown = finding.to_string();
    let is_known = IGNORED.get().is_some_and(|known| known.iter().any(|known| shown.contains(known)));
    if is_known { Ok(()) } else { Err(Error::new(finding)) }
}

/// Parts of known findings, which are ignored.
static IGNORED: OnceLock<Vec<String>> = OnceLock::new();

/// The options of a run.
struct Options {
    seconds: u64,
    seed: u64,
    /// Names of the stores, used in turn.
    stores: Vec<String>,
    /// The only operations to run, in the world of `seed`.
    operations: Option<Vec<Operation>>,
    /// Parts of findings to ignore.
    ignored: Vec<String>,
    /// The program under test; by default the one of this workspace.
    program: Option<PathBuf>,
}

/// The stores of worlds. Those that most people use come more often.
const STORES: [&str; 4] = ["sqlite", "qdrant", "chroma", "postgres"];
const TURNS: [&str; 6] = ["sqlite", "postgres", "qdrant", "sqlite", "postgres", "chroma"];

/// Runs the command with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if options.program.is_none() {
        shell::run(&mut shell::cargo("build --bins"))?;
    }
    if options.stores.iter().any(|store| store != STORES[0]) {
        servers::install()?;
    }
    soak(&options)
}

/// A soak of a minute, with the program that is already built.
pub(crate) fn test() -> Result<Command> {
    // By its path: what runs now may have been built again since it started.
    let mut soak = Command::new(build::binary("xtask", Profile::Dev)?);
    soak.args(["soak", "--program"]).arg(build::binary("chunkwright", Profile::Dev)?);
    Ok(soak)
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            seconds: 60,
            seed: SEED,
            stores: owned(&TURNS),
            operations: None,
            ignored: Vec::new(),
            program: None,
        };
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            let value = arguments.next().with_context(|| format!("`{name}` needs a value"))?;
            let number = || value.parse().with_context(|| format!("`{name} {value}`: expected a number"));
            match name.as_str() {
                "--seconds" => options.seconds = number()?,
                "--seed" => options.seed = number()?,
                "--store" if STORES.contains(&value.as_str()) => options.stores = vec![value.clone()],
                "--store" => bail!("unknown store `{value}`; known are {}", STORES.join(", ")),
                "--operations" => {
                    options.operations =
                        Some(value.split_whitespace().map(str::parse).collect::<Result<_>>()?);
                }
                "--program" => {
                    options.program =
                        Some(fs::canonicalize(value).with_context(|| format!("no program `{value}`"))?);
                }
                "--ignore" => options.ignored.push(value.clone()),
                _ => bail!(
                    "unknown argument `{name}`; known are --seconds, --seed, --store, --operations, --ignore, --program"
                ),
            }
        }
        Ok(options)
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Totals so far.
#[derive(Default)]
struct Totals {
    worlds: usize,
    operations: BTreeMap<&'static str, usize>,
    runs: usize,
    killed: usize,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worlds, operations, runs, killed } = self;
        let count: usize = operations.values().sum();
        let kinds: Vec<String> = operations.iter().map(|(name, count)| format!("{name} {count}")).collect();
        write!(
            f,
            "{worlds} worlds, {count} operations, {runs} runs of the program, {killed} of them killed ({})",
            kinds.join(", ")
        )
    }
}

fn soak(options: &Options) -> Result<()> {
    IGNORED.get_or_init(|| options.ignored.clone());
    let corpus = Corpus::read()?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build::binary("chunkwright", Profile::Dev)?,
    };
    let folder = env::temp_dir().join(format!("chunkwright-soak-{}", std::process::id()));
    println!("seed {}, {} s, in {}", options.seed, options.seconds, folder.display());
    let soak = Soak { corpus, program, folder };
    let result = match &options.operations {
        Some(operations) => {
            let store = options.stores.first().map_or(STORES[0], String::as_str);
            let failure = soak.world(store, options.seed, operations, &mut Totals::default());
            failure.map_or(Ok(()), |failure| {
                println!("{}", failure.log.join("\n"));
                Err(failure.error)
            })
        }
        None => soak.go(options),
    };
    fs::remove_dir_all(&soak.folder).unwrap_or_default();
    result
}

/// State shared by all worlds.
struct Soak {
    corpus: Corpus,
    program: PathBuf,
    folder: PathBuf,
}

/// A world that failed.
struct Failure {
    error: Error,
    /// Number of operations until the failure.
    at: usize,
    log: Vec<String>,
}

impl Soak {
    fn go(&self, options: &Options) -> Result<()> {
        let (started, mut totals) = (Instant::now(), Totals::default());
        let mut random = Random::new(options.seed);
        while started.elapsed() < Duration::from_secs(options.seconds) {
            let seed = random.next() >> 32;
            let store = options.stores[totals.worlds % options.stores.len()].as_str();
            let mut chance = Random::new(seed);
            let is_remote = store != STORES[0];
            let operations: Vec<Operation> =
                (0..OPERATIONS).map(|_| Operation::any(is_remote, &mut chance)).collect();
            if let Some(failure) = self.world(store, seed, &operations, &mut totals) {
                println!("after {:.0} s: {totals}", started.elapsed().as_secs_f64());
                return Err(self.report(store, seed, &operations[..failure.at], failure));
            }
            println!(
                "{:>5.0} s, {} worlds, the last of seed {seed} on {store}",
                started.elapsed().as_secs_f64(),
                totals.worlds
            );
        }
        println!("nothing was found with seed {}: {totals}", options.seed);
        ensure!(
            totals.killed > 0 || totals.runs < 500,
            "no run was killed: `strace` does not inject signals here"
        );
        Ok(())
    }

    /// Runs operations in a new world.
    fn world(
        &self,
        store: &str,
        seed: u64,
        operations: &[Operation],
        totals: &mut Totals,
    ) -> Option<Failure> {
        fs::remove_dir_all(&self.folder).unwrap_or_default();
        let mut at = 0;
        let mut log = Vec::new();
        let mut go = || -> Result<()> {
            // New servers for each world, so that leftovers of kills do not add up.
            let servers = if store == STORES[0] { None } else { Some(servers::Stores::start()?) };
            let place = servers.as_ref().and_then(|servers| {
                let mut places = servers.variables().map(|(_, place)| place);
                places.find(|place| place.starts_with(store)).map(str::to_owned)
            });
            let place = place.unwrap_or_else(|| "store".to_owned());
            let mut random = Random::new(seed ^ 0x5eed);
            let mut world = World::new(&self.corpus, &self.program, &self.folder, &place, &mut random)?;
            totals.worlds += 1;
            let result = operations.iter().try_for_each(|operation| {
                at += 1;
                *totals.operations.entry(operation.kind.name).or_default() += 1;
                world.say(format!("{operation}"));
                operation.run(&mut world)
            });
            totals.runs += world.program.runs.get();
            totals.killed += world.killed.get();
            log = world.log.take();
            result
        };
        go().err().map(|error| Failure { error, at, log })
    }

    /// Shrinks a failure, and prints how to repeat it.
    fn report(&self, store: &str, seed: u64, operations: &[Operation], failure: Failure) -> Error {
        println!(
            "finding after {} operations in the world of seed {seed} on {store}: {:#}",
            operations.len(),
            failure.error
        );
        let shown = failure.log.len().saturating_sub(SHOWN);
        println!("the last that was done:\n  {}", failure.log[shown..].join("\n  "));
        println!("shrinking for up to {} s", PATIENCE.as_secs());
        let rule = |failure: &Failure| {
            failure
                .error
                .chain()
                .find_map(|error| error.downcast_ref::<Finding>().map(|finding| finding.rule))
        };
        let wanted = rule(&failure);
        let mut last = failure;
        let fewest = shrink::shrink(operations, PATIENCE, |operations| {
            let failure = self.world(store, seed, operations, &mut Totals::default());
            let Some(failure) = failure.filter(|failure| rule(failure) == wanted) else { return false };
            last = failure;
            true
        });
        let listed: Vec<String> = fewest.iter().map(Operation::to_string).collect();
        println!("\n{}\n", last.log.join("\n"));
        println!("cargo xtask soak --store {store} --seed {seed} --operations '{}'\n", listed.join(" "));
        last.error.context(format!("{} operations suffice", fewest.len()))
    }
}
