//! Circles between the modules of a crate: how many arrows lie in one, which may only fall.
//!
//! A module here is one below the root of the crate with all that is in it. An arrow goes from a module to one that it
//! names, directly or by what the root re-exports of it. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::shell;

/// Arrows in circles of each crate; one that is not here has none. Lower a number when you untie a circle.
const ALLOWED: &[(&str, usize)] = &[
    ("chunkwright", 18),
    ("chunkwright-cli", 30),
    ("chunkwright-code", 2),
    ("chunkwright-engine", 0),
    ("chunkwright-eval", 2),
    ("chunkwright-http", 2),
    ("chunkwright-models", 10),
    ("chunkwright-server", 49),
    ("chunkwright-source", 2),
];

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// What is wrong: a crate with more arrows in circles than it may have, or with fewer than are written here.
pub(super) fn check() -> Result<Vec<String>> {
    let crates = shell::root().join("crates");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&crates).context("`crates` could not be read")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let found = in_circles(&arrows(&entry.path().join("src"))?);
        let allowed = ALLOWED.iter().find(|(known, _)| *known == name).map_or(0, |(_, allowed)| *allowed);
        if found != allowed {
            wrong.push(format!("crates/{name}: {found} arrows between its modules lie in circles, {allowed} are allowed; untie them, or lower the number in `xtask/src/tidy/circles.rs`"));
        }
    }
    wrong.sort();
    Ok(wrong)
}

/// The arrows between the modules of the crate whose sources are in `src`.
fn arrows(src: &Path) -> Result<Arrows> {
    let mut files = Vec::new();
    collect(src, &mut Vec::new(), &mut files)?;
    let modules: BTreeSet<String> = files.iter().filter_map(|(path, _)| path.first().cloned()).collect();
    let facade: BTreeMap<String, String> = files
        .iter()
        .filter(|(path, _)| path.is_empty())
        .flat_map(|(_, text)| text.split(';').filter_map(|item| item.rsplit_once("use ")?.1.split_once("::")))
        .filter(|(module, _)| modules.contains(*module))
        .flat_map(|(module, names)| words(names).map(move |name| (name.to_owned(), module.to_owned())))
        .collect();
    let mut arrows = Arrows::new();
    for (path, text) in files.iter().filter(|(path, _)| !path.is_empty()) {
        let up = "super::".repeat(path.len());
        let named = ["crate::", &up].into_iter().flat_map(|root| text.split(root).skip(1)).flat_map(names);
        let targets = named.filter_map(|name| modules.get(name).or_else(|| facade.get(name)));
        let from = &path[0];
        arrows.entry(from.clone()).or_default().extend(targets.filter(|to| *to != from).cloned());
    }
    Ok(arrows)
}

/// The names right below a root: `a` of `a::b`, `a` and `b` of `{a::{c, d}, b}`.
fn names(path: &str) -> Vec<&str> {
    let Some(list) = path.strip_prefix('{') else { return words(path).take(1).collect() };
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.extend(words(&list[start..at]).next());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Adds the sources below a folder, each with its path of modules, without comments and tests.
fn collect(folder: &Path, at: &mut Vec<String>, files: &mut Vec<(Vec<String>, String)>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("`{}` could not be read", folder.display()))? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            at.push(stem);
            collect(&path, at, files)?;
            at.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            let is_root = at.is_empty() && matches!(stem.as_str(), "lib" | "main");
            let module = if is_root { Vec::new() } else { [at.clone(), vec![stem]].concat() };
            files.push((module, lines.collect::<Vec<_>>().join("\n")));
        }
    }
    Ok(())
}

/// How many arrows lie in a circle: those whose end leads back to their beginning.
fn in_circles(arrows: &Arrows) -> usize {
    let leads = |from: &String, to: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            if module == to {
                return true;
            }
            let more = arrows.get(module).into_iter().flatten();
            next.extend(more.filter(|module| seen.insert(*module)));
        }
        false
    };
    arrows.iter().map(|(from, targets)| targets.iter().filter(|to| leads(to, from)).count()).sum()
}
