//! Tables of results that were measured with other versions: of a strategy (`tree-v1.5`), or of the analysis of words
//! (`analysis-v4`).

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use crate::shell;

/// The current version of each strategy and of the analysis, by name.
pub(super) fn versions() -> Result<BTreeMap<String, String>> {
    let mut versions = BTreeMap::new();
    for entry in fs::read_dir(shell::root().join("crates/chunkwright/src/chunk"))? {
        let path = entry?.path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        // `fn version(&self) -> (u16, u16) { (1, 5) }` of a strategy, in the file that has its name.
        let version = text.split_once("\n    fn version(&self) -> (u16, u16) {").map(|(_, rest)| rest);
        let Some((major, minor)) =
            version.and_then(|rest| rest.split('(').nth(1)?.split(')').next()?.split_once(", "))
        else {
            continue;
        };
        if let Some(name) = path.file_stem().filter(|_| major.parse::<u16>().is_ok()) {
            versions.insert(name.to_string_lossy().into_owned(), format!("{major}.{minor}"));
        }
    }
    let analysis = fs::read_to_string(shell::root().join("crates/chunkwright-store/src/analysis.rs"))?;
    let version =
        analysis.split_once("pub const VERSION: u32 = ").and_then(|(_, rest)| rest.split(';').next());
    let version = version.context("`analysis.rs` does not say its version")?;
    versions.insert("analysis".into(), version.into());
    Ok(versions)
}

/// The versions that the table in `text` names and that are not the current ones.
pub(super) fn of_before(text: &str, versions: &BTreeMap<String, String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.'))) {
        let word = word.trim_end_matches('.');
        let is_of_before =
            |(name, version): (&str, &str)| versions.get(name).is_some_and(|now| now != version);
        if word.split_once("-v").is_some_and(is_of_before) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_those_of_before_are_found() {
        let versions = versions().unwrap();
        let tree = format!("tree-v{}", versions["tree"]);
        assert!(versions.len() > 5 && versions.contains_key("analysis"), "{versions:?}");
        let table = format!(
            "| auto | {tree} |\n| docs | sections-v0.9 |, measured by analysis-v0. And tree-v0.9, sections-v0.9."
        );
        assert_eq!(of_before(&table, &versions), ["sections-v0.9", "analysis-v0", "tree-v0.9"]);
    }
}
