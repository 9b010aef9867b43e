//! Backups and exports: their contents equal the store's.

use std::fs;

use anyhow::Result;

use super::super::must;
use super::super::program::{Kill, Program};
use super::super::random::Random;
use super::super::state::{State, rows, string};
use super::super::world::{Expected, May, World};
use super::indexing::differing;

/// Copies the store and restores the copy, which replaces the original.
pub(super) fn backup(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    if !world.state.exists {
        return Ok(());
    }
    let folder = world.program.folder.clone();
    let file = folder.join("backup.sqlite3");
    fs::remove_file(&file).unwrap_or_default();
    let kill = Kill::perhaps(20, &world.program, random);
    let answer = world.run_killed(&["backup", "backup.sqlite3"], &kill)?.expect(&[0])?;
    world.settle(&Expected { states: vec![May::be(&world.state)] })?;
    if answer.is_killed() && !file.exists() {
        return Ok(());
    }
    must("a backup is there", file.exists(), || answer.to_string())?;
    let copy = folder.join("restored");
    fs::remove_dir_all(&copy).unwrap_or_default();
    let restore = ["restore", "backup.sqlite3", "--store", "restored"];
    let kill = Kill::perhaps(20, &world.program, random);
    let answer = world.run_killed(&restore, &kill)?.expect(&[0])?;
    if answer.is_killed() {
        // An existing store is complete; if none exists, the command creates it.
        let again = world.run(&restore)?;
        let is_there = again.code == Some(2) && again.err.contains("exists");
        must("restoring can be repeated", again.code == Some(0) || is_there, || again.to_string())?;
    }
    let restored = State::look(&other(&world.program, "restored"))?;
    must("a restored store is what it was", restored.export == world.state.export, || {
        differing(&world.state.export, &restored.export)
    })?;
    must("a restored store has its overlays", restored.changes() == world.state.changes(), || {
        format!("{:?}, not {:?}", restored.changes(), world.state.changes())
    })?;
    if random.chance(50) {
        world.say("the restored store takes the place of the first".into());
        fs::remove_dir_all(folder.join("store"))?;
        fs::rename(&copy, folder.join("store"))?;
        world.settle(&Expected { states: vec![May::be(&world.state)] })?;
    }
    Ok(())
}

/// Exports all records and imports them into an empty store, which then answers like the original.
pub(super) fn export(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    if world.state.chunks.is_empty() {
        return Ok(());
    }
    let folder = world.program.folder.clone();
    let file = if random.chance(50) { "records.jsonl" } else { "records.parquet" };
    let format = file.split('.').next_back().unwrap_or_default();
    world.run(&["export", "--format", format, "--output", file, "--force"])?.expect(&[0])?;
    fs::remove_dir_all(folder.join("imported")).unwrap_or_default();
    let imported = other(&world.program, "imported");
    let answer = imported.run(&["import", file])?;
    world.note(&answer);
    answer.expect(&[0])?;
    let state = State::look(&imported)?;
    must("an imported store has the same chunks", state.ids() == world.state.ids(), || {
        format!("{} chunks, not {}", state.chunks.len(), world.state.chunks.len())
    })?;
    let texts = |state: &State| state.chunks.iter().map(|chunk| chunk.text.clone()).collect::<Vec<_>>();
    must("an imported store has the same texts", texts(&state) == texts(&world.state), || {
        differing(&world.state.export, &state.export)
    })?;
    must("an imported store has the changes made by hand", state.changes() == world.state.changes(), || {
        format!("{:?}, not {:?}", state.changes(), world.state.changes())
    })?;
    for _ in 0..2 {
        let Some(chunk) = random.pick(&world.state.chunks) else { break };
        let query: String = chunk
            .content
            .chars()
            .map(|letter| if letter.is_alphanumeric() { letter } else { ' ' })
            .take(60)
            .collect();
        let arguments = ["search", "--mode", "lexical", "--top-k", "20", "--", query.trim()];
        if query.trim().is_empty() {
            continue;
        }
        let here = rows(&world.run(&arguments)?.expect(&[0, 1])?)?;
        let there = rows(&imported.run(&arguments)?.expect(&[0, 1])?)?;
        let ids = |hits: &[serde_json::Value]| -> Vec<String> {
            hits.iter().map(|hit| string(hit, "chunk_id")).collect()
        };
        must("an imported store answers the same", ids(&here) == ids(&there), || {
            format!("`{query}`: {:?}, not {:?}", ids(&there), ids(&here))
        })?;
    }
    Ok(())
}

/// The program with another store in a folder.
fn other(program: &Program, store: &str) -> Program {
    let settings = program.settings.iter().cloned();
    let settings =
        settings.map(
            |(name, value)| {
                if name == "CHUNKWRIGHT_STORE" { (name, store.to_owned()) } else { (name, value) }
            },
        );
    Program {
        path: program.path.clone(),
        folder: program.folder.clone(),
        settings: settings.collect(),
        is_traced: program.is_traced,
        is_remote: false,
        runs: std::cell::Cell::new(1_000_000 + program.runs.get()),
    }
}
