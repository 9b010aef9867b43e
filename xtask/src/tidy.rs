//! The cheap rules of the repository, over every file that git knows or would add.

mod circles;
mod english;
mod tables;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Largest file, in bytes.
const MAX_BYTES: u64 = 2_000_000;

/// Lines of a Rust file above which it is likely to hold more than one idea.
const MANY_LINES: usize = 500;

/// Folders that exist on one machine only. Written in two parts so that this file passes its own rule.
const MACHINE_FOLDERS: &[&str] = &[concat!("/", "work"), concat!("/", "tmp"), concat!("/", "root")];

/// Hosts that only a registry's own client should know.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("proxy.golang", ".org"),
];

/// The one source that a lock file names: cargo's name for its public registry, whatever mirror is used.
const LOCK_SOURCE: &str = concat!("source = \"registry+https://github.com/rust-lang/crates", ".io-index\"");

/// Checks every rule; violations are listed; long Rust files and results of versions before are named.
pub(crate) fn run() -> Result<()> {
    let files = files()?;
    let versions = tables::versions()?;
    let (mut violations, mut long, mut english) = (Vec::new(), Vec::new(), english::Counts::default());
    for name in &files {
        let path = shell::root().join(name);
        // A file that was removed but not yet committed, and a link, have nothing to check.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if !metadata.is_file() {
            continue;
        }
        if metadata.len() > MAX_BYTES {
            violations.push(format!("{name}: {} bytes; keep files under {MAX_BYTES}", metadata.len()));
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("`{name}` could not be read"))?;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        violations.extend(in_text(name, &text));
        violations.extend(test_that_never_runs(name, &text));
        english.add(name, &text);
        let of_before =
            if name.starts_with("eval/") { tables::of_before(&text, &versions) } else { Vec::new() };
        if !of_before.is_empty() {
            println!("warning: {name} was measured with {}; measure it again", of_before.join(", "));
        }
        let lines = text.lines().count();
        if Path::new(name).extension().is_some_and(|extension| extension == "rs") && lines > MANY_LINES {
            long.push(format!("{name}: {lines} lines"));
        }
    }
    violations.extend(english.check());
    violations.extend(circles::check()?);
    for long in &long {
        println!("warning: {long}; does it hold more than one idea?");
    }
    for violation in &violations {
        println!("{violation}");
    }
    if !violations.is_empty() {
        bail!("{} violations of the repository's rules", violations.len());
    }
    println!("tidy: {} files, no violations, {} long files", files.len(), long.len());
    Ok(())
}

/// Every file that git knows or would add.
fn files() -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(shell::root());
    let output = git.output().context("`git` could not be run; tidy asks it for the list of files")?;
    if !output.status.success() {
        bail!("git could not list the files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file's name is not UTF-8; rename it")?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// Violations in the text of a file.
fn in_text(name: &str, text: &str) -> Vec<String> {
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", index + 1);
        if name.ends_with("Cargo.lock") {
            if line.starts_with("source = ") && line != LOCK_SOURCE {
                violations.push(format!("{place}: a package from elsewhere than the public registry"));
            }
            continue;
        }
        if let Some(folder) = MACHINE_FOLDERS.iter().find(|folder| names_folder(line, folder)) {
            violations.push(format!("{place}: a path on somebody's machine, `{folder}`"));
        }
        if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(**host)) {
            violations.push(format!("{place}: the host of a registry, `{host}`; leave it to the client"));
        }
    }
    violations
}

/// A test inside a library whose tests stand outside (`test = false`).
fn test_that_never_runs(name: &str, text: &str) -> Option<String> {
    let (folder, _) = name.split_once("/src/")?;
    let of_tests = ["#[cfg(test)]", "#[cfg(all(test,"];
    let is_of_tests = |line: &str| of_tests.iter().any(|start| line.trim_start().starts_with(start));
    let line = 1 + text.lines().position(is_of_tests)?;
    let manifest = fs::read_to_string(shell::root().join(folder).join("Cargo.toml")).ok()?;
    let lib = manifest.split_once("[lib]")?.1.split("\n[").next()?;
    let is_outside = lib.lines().any(|line| line == "test = false");
    is_outside.then(|| format!("{name}:{line}: a test that never runs; move it to `{folder}/tests/it`"))
}

/// Whether `line` holds the absolute path `folder` or one below it, and not `some<folder>`.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        !before.is_some_and(|c| inside(c) || matches!(c, '}' | '/' | ')' | '*')) && !after.is_some_and(inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_path_is_found_and_a_longer_name_is_not() {
        let [work, tmp] = [MACHINE_FOLDERS[0], MACHINE_FOLDERS[1]];
        assert!(names_folder(&format!("see {work}/x"), work));
        assert!(names_folder(&format!("\"{tmp}\""), tmp));
        assert!(!names_folder(&format!("frame{work}/x"), work));
        assert!(!names_folder(&format!("{work}shop"), work));
        assert!(!names_folder(&format!("target{tmp}/x"), tmp));
    }

    #[test]
    fn a_test_inside_a_library_that_is_tested_from_outside_is_found() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {}\n";
        let found = test_that_never_runs("crates/chunkwright/src/a.rs", text).unwrap_or_default();
        assert!(found.starts_with("crates/chunkwright/src/a.rs:3: "), "{found}");
        let text = text.replace("(test)", "(all(test, unix))");
        assert!(test_that_never_runs("crates/chunkwright/src/a.rs", &text).is_some());
        assert_eq!(test_that_never_runs("xtask/src/tidy.rs", &text), None);
    }

    #[test]
    fn a_lock_file_may_name_one_source_only() {
        assert!(in_text("Cargo.lock", LOCK_SOURCE).is_empty());
        assert_eq!(in_text("Cargo.lock", "source = \"registry+https://mirror.example/\"").len(), 1);
    }
}
