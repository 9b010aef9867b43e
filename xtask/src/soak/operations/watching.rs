//! A run that follows files while they change, until it is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::super::finding;
use super::super::program::{Kill, Running};
use super::super::random::Random;
use super::super::state::{rows, string};
use super::super::world::{Expected, Files, May, World};
use super::files;
use super::indexing::{Run, generations};

/// Maximum time until a change is seen.
const PATIENCE: Duration = Duration::from_mins(1);

/// Interval between two checks.
const STEP: Duration = Duration::from_millis(50);

/// Watches files that are edited, removed and moved, until the store matches them. After a kill, each document is in
/// its old or its new state.
pub(super) fn watch(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let way = if random.chance(20) { world.other_way(random) } else { world.way };
    let run = Run::of(way);
    let is_forced = random.chance(50);
    let mut arguments = [&run.arguments()[..], &["--watch", "-q"]].concat();
    arguments.extend(is_forced.then_some("--prune=force"));
    let before = world.state.clone();
    world.written = world.files.iter().map(|(name, bytes)| (name.clone(), Some(bytes.clone()))).collect();
    // If more than half of the documents are gone, they stay, unless removal is forced. Renamed ones do not count.
    let missing =
        |files: &Files| before.documents.keys().filter(|doc_id| !files.contains_key(*doc_id)).count();
    let may_stay = !is_forced && missing(&world.files) * 2 > before.documents.len();
    let kill = Kill::perhaps(40, &world.program, random);
    let mut running = world.program.start(&arguments, &kill)?;
    let mut is_over = !wait(&mut running, Running::has_answered)?;
    for _ in 0..random.within(1..5) {
        match random.within(0..8) {
            0..3 => files::edit(world, random)?,
            3 => files::add(world, random)?,
            4 => files::remove(world, random)?,
            5 => files::rename(world, random)?,
            6 => files::rename_folder(world, random)?,
            _ => files::touch(world, random)?,
        }
    }
    let removed: BTreeSet<&String> =
        world.written.iter().filter(|(_, bytes)| bytes.is_none()).map(|(name, _)| name).collect();
    let may_stay = may_stay || !is_forced && removed.len() * 3 > world.files.len();
    let last = before.documents.keys().chain(removed);
    let gone: BTreeSet<String> = last.filter(|doc_id| !world.files.contains_key(*doc_id)).cloned().collect();
    is_over = is_over || !wait(&mut running, |_| is_in_step(world, &gone, may_stay))?;
    if !is_over {
        running.stop()?;
    }
    let answer = running.wait()?;
    world.note(&answer);
    // It ends only by a signal.
    answer.expect(&[])?;
    let known = world.way_hash(way).cloned();
    let mut documents: BTreeMap<String, Vec<Option<Vec<u8>>>> =
        world.files.iter().map(|(doc_id, bytes)| (doc_id.clone(), vec![Some(bytes.clone())])).collect();
    let changes = vec![before.changes()];
    if !is_over {
        // Each document has its last written content, or the content indexed before.
        let seen = |doc_id: &String| -> Vec<Option<Vec<u8>>> {
            let written = world.written.iter().filter(|(name, _)| name == doc_id);
            let all = written.map(|(_, bytes)| bytes.clone()).chain([before.documents.get(doc_id).cloned()]);
            all.chain([None]).collect()
        };
        let stay = gone.iter().filter(|_| may_stay).map(|doc_id| (doc_id.clone(), seen(doc_id)));
        documents.extend(stay);
        world.settle(&Expected { states: vec![May { way: known, documents, changes }] })?;
        world.way = way;
        world.learn(way);
        return if before.exists && before.way != world.state.way { generations(world) } else { Ok(()) };
    }
    for (doc_id, bytes) in world.written.iter().map(|(doc_id, bytes)| (doc_id, bytes.clone())) {
        documents.entry(doc_id.clone()).or_default().push(bytes);
    }
    for doc_id in before.documents.keys() {
        documents.entry(doc_id.clone()).or_default();
    }
    for (doc_id, may) in &mut documents {
        may.extend([before.documents.get(doc_id).cloned(), None]);
    }
    let halfway = May { way: known.clone(), documents, changes };
    let mut states = vec![halfway];
    if before.exists && known.as_ref().is_none_or(|known| *known != before.way) {
        states.push(May::be(&before));
    }
    states.extend((!before.exists).then(|| May::be(&before)));
    world.settle(&Expected { states })?;
    // What was learned about a way that no store was seen in would belong to another.
    if world.state.exists && known.is_some_and(|known| known == world.state.way) {
        world.way = way;
    }
    Ok(())
}

/// Waits until a condition holds; false if the program ended before.
fn wait(running: &mut Running, mut is_so: impl FnMut(&Running) -> Result<bool>) -> Result<bool> {
    let started = Instant::now();
    loop {
        if running.is_over()? {
            return Ok(false);
        }
        if is_so(running)? {
            return Ok(true);
        }
        if started.elapsed() > PATIENCE {
            return Err(finding("a change is seen", format!("it was not within {PATIENCE:?}")));
        }
        thread::sleep(STEP);
    }
}

/// Returns whether the store matches the files, and contains nothing that is gone.
fn is_in_step(world: &World<'_>, gone: &BTreeSet<String>, may_stay: bool) -> Result<bool> {
    let listed = world.program.run(&["status", "--documents"])?.expect(&[0, 1])?;
    let export = world.program.run(&["export"])?.expect(&[0, 1])?;
    let lengths: BTreeMap<String, u64> = rows(&listed)?
        .iter()
        .map(|row| (string(row, "doc_id"), row["bytes"].as_u64().unwrap_or_default()))
        .collect();
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for record in rows(&export)? {
        let document = &record["document"];
        if let Some(source) = document["source"].as_str().filter(|_| !document["raw_base64"].is_string()) {
            sources.insert(string(&record, "doc_id"), source.to_owned());
        }
    }
    let is_there = |(doc_id, bytes): (&String, &Vec<u8>)| {
        lengths.get(doc_id) == Some(&(bytes.len() as u64))
            && sources.get(doc_id).is_none_or(|source| source.as_bytes() == bytes)
    };
    let is_gone = |doc_id: &String| may_stay || !lengths.contains_key(doc_id);
    Ok(world.files.iter().all(is_there) && gone.iter().all(is_gone))
}
