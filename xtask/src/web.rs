//! The web page: built from `web/` into `crates/chunkwright-engine/dist`, whose files the program embeds.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::build::{Profile, binary};
use crate::shell;

/// The browsers that can run the page's tests, the lightest first; a variable names another. Two of the sixteen files of tests
/// took 110 s of processors in Chromium without windows and 158 in the whole.
const BROWSERS: &[&str] = &["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// The build steps of the page, in order.
const BUILD: &[&str] = &["ci", "run generate", "run build"];

/// The checks of the page, once it is built.
const CHECK: &[&str] = &["run check", "test", "run budget"];

/// Builds the page, unless its inputs are unchanged.
pub(crate) fn build() -> Result<()> {
    once("web.stamp", BUILD)
}

/// Checks the page that is built, unless its inputs are unchanged.
pub(crate) fn check() -> Result<()> {
    once("web.checked.stamp", CHECK)
}

/// Builds the page if Node is installed; without it, the program has no page, and says so.
pub(crate) fn build_if_possible() -> Result<()> {
    if has_node() {
        return build();
    }
    println!("`npm` is missing: the program is built without its web page");
    Ok(())
}

/// Runs steps, unless the page exists and the file `stamp` shows that they ran on the current inputs.
fn once(stamp: &str, steps: &[&str]) -> Result<()> {
    let stamp = shell::target_dir()?.join(stamp);
    let state = state()?;
    if dist().join("app/index.html").is_file() && fs::read_to_string(&stamp).is_ok_and(|old| old == state) {
        println!("the page has not changed since `npm {}`", steps.join("`, `npm "));
        return Ok(());
    }
    if !has_node() {
        bail!("`npm` is missing: the page is built by Node 20.19 or newer");
    }
    for step in steps {
        shell::run_in_silence(&mut npm(step))?;
    }
    fs::write(&stamp, state).with_context(|| format!("`{}` could not be written", stamp.display()))
}

/// Tests the page in a browser, on a server that is already built.
pub(crate) fn test() -> Result<Option<Command>> {
    let Some(browser) = browser() else {
        println!("left out: none of {} is there", BROWSERS.join(", "));
        return Ok(None);
    };
    let mut e2e = npm("run e2e");
    e2e.env("CHUNKWRIGHT_BIN", binary("chunkwright", Profile::Dev)?).env("CHUNKWRIGHT_BROWSER", browser);
    Ok(Some(e2e))
}

/// The browser for tests, if one is installed.
pub(crate) fn browser() -> Option<PathBuf> {
    if let Some(path) = env::var_os("CHUNKWRIGHT_BROWSER") {
        return Some(path.into());
    }
    let folders = env::var_os("PATH")?;
    let programs =
        env::split_paths(&folders).flat_map(|folder| BROWSERS.iter().map(move |name| folder.join(name)));
    programs.into_iter().find(|program| program.is_file())
}

fn has_node() -> bool {
    npm("--version").output().is_ok_and(|output| output.status.success())
}

/// `npm` in the folder of the page.
fn npm(arguments: &str) -> Command {
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.args(arguments.split_whitespace()).current_dir(shell::root().join("web"));
    npm
}

fn dist() -> PathBuf {
    shell::root().join("crates/chunkwright-engine/dist")
}

/// A hash of the page's inputs: the files below `web` that git knows or would add, and the OpenAPI document.
fn state() -> Result<String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "web", "docs/openapi.json"]);
    let output = git.current_dir(shell::root()).output().context("`git` could not be run")?;
    let names = String::from_utf8(output.stdout).context("a file's name is not UTF-8; rename it")?;
    let mut hasher = DefaultHasher::new();
    for name in names.split_terminator('\0').filter(|name| !Path::new(name).starts_with("web/e2e")) {
        name.hash(&mut hasher);
        fs::read(shell::root().join(name)).unwrap_or_default().hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Runs the tests of the page in both themes and takes pictures of every page, which fails where one does not come up.
pub(crate) fn test_in_both_themes() -> Result<()> {
    let Some(mut e2e) = test()? else { return Ok(()) };
    shell::run(e2e.env("CHUNKWRIGHT_THEMES", "both"))?;
    shell::run(npm("run screenshots").env("CHUNKWRIGHT_BIN", binary("chunkwright", Profile::Dev)?))
}
