//! Runs of `index`.

use anyhow::Result;
use serde_json::Value;

use super::super::must;
use super::super::program::{Answer, Kill};
use super::super::random::Random;
use super::super::state::{State, rows};
use super::super::world::{DOCUMENTS, Expected, Files, May, World, either, one};

/// What becomes of the documents whose files are gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Go,
    Stay,
    /// Those that were renamed go; the others stay if they are more than half of all.
    Unknown,
}

/// A planned run.
pub(super) struct Run {
    pub(super) way: &'static [&'static str],
    prune: Option<&'static str>,
    rehash: bool,
}

impl Run {
    /// A run with this way of cutting.
    pub(super) fn of(way: &'static [&'static str]) -> Self {
        Self { way, prune: None, rehash: false }
    }

    pub(super) fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = [&["index", DOCUMENTS][..], self.way].concat();
        arguments.extend(self.prune);
        arguments.extend(self.rehash.then_some("--rehash"));
        arguments
    }

    /// Documents that may be there after the run.
    pub(super) fn documents(&self, world: &World<'_>) -> Files {
        let (_, fate) = self.gone(world);
        let kept = if fate == Fate::Go { Files::new() } else { world.state.documents.clone() };
        kept.into_iter().chain(world.files.clone()).collect()
    }

    /// The number of documents whose files are gone, and what becomes of them.
    fn gone(&self, world: &World<'_>) -> (usize, Fate) {
        let gone = world.state.documents.keys().filter(|doc_id| !world.files.contains_key(*doc_id)).count();
        let fate = match self.prune {
            Some("--prune=force") => Fate::Go,
            Some("--prune=keep") => Fate::Stay,
            _ if gone * 2 > world.state.documents.len() => Fate::Unknown,
            _ => Fate::Go,
        };
        (gone, fate)
    }

    /// The possible contents of the store after the run, depending on how it ended.
    pub(super) fn expected(&self, world: &World<'_>, answer: &Answer) -> Vec<May> {
        let before = May::be(&world.state);
        let documents = self.documents(world);
        let known = world.way_hash(self.way).cloned();
        let mut after = one(&documents);
        if self.gone(world).1 == Fate::Unknown {
            let gone = after.iter_mut().filter(|(doc_id, _)| !world.files.contains_key(*doc_id));
            gone.for_each(|(_, may)| may.push(None));
        }
        let done = May { way: known.clone(), documents: after, ..before.clone() };
        // The report is the last output of a run.
        if answer.is_complete() {
            return vec![done];
        }
        let is_same = known.as_ref().is_none_or(|known| *known == world.state.way);
        if !world.state.exists {
            return vec![before, May { way: known, documents: either(&Files::new(), &documents), ..done }];
        }
        let halfway = May { documents: either(&world.state.documents, &documents), ..before.clone() };
        if is_same { vec![before, halfway, done] } else { vec![before, done] }
    }
}

/// Indexes with the current way of cutting.
pub(super) fn index(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let run = Run { rehash: random.chance(10), ..Run::of(world.way) };
    go(world, &run, random)
}

/// Indexes with another way of cutting, or with one that was abandoned.
pub(super) fn switch(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let run = Run::of(world.other_way(random));
    go(world, &run, random)
}

/// Indexes, and is told what becomes of documents whose files are gone.
pub(super) fn prune_gone(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let prune = random.pick(&["--prune", "--prune=force", "--prune=keep"]).copied();
    let way = if random.chance(10) { world.other_way(random) } else { world.way };
    go(world, &Run { way, prune, rehash: false }, random)
}

/// Runs, possibly killed, and in half of the cases again after a kill.
fn go(world: &mut World<'_>, run: &Run, random: &mut Random) -> Result<()> {
    let kill = Kill::perhaps(45, &world.program, random);
    once(world, run, &kill)?;
    if kill != Kill::Never && random.chance(50) { once(world, run, &Kill::Never) } else { Ok(()) }
}

fn once(world: &mut World<'_>, run: &Run, kill: &Kill) -> Result<()> {
    let gone = run.gone(world);
    let before = world.state.clone();
    let answer = world.run_killed(&run.arguments(), kill)?;
    let is_done = answer.is_complete();
    let answer = answer.expect(&[i32::from(world.files.is_empty())])?;
    let expected = Expected { states: run.expected(world, &answer) };
    world.settle(&expected)?;
    if !is_done {
        return Ok(());
    }
    world.way = run.way;
    world.learn(run.way);
    if !answer.is_killed() {
        count(&rows(&answer)?[0], world, &before, gone)?;
    }
    Ok(())
}

/// Checks that the counts of a report add up and match the store.
fn count(report: &Value, world: &World<'_>, before: &State, gone: (usize, Fate)) -> Result<()> {
    let about = || format!("{report} before {} documents", before.documents.len());
    let number = |name: &str| report[name].as_u64().unwrap_or_default() as usize;
    let many = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let reasons = report["skipped_reasons"].as_object();
    let skipped: usize = reasons.map_or(0, |it| it.values().filter_map(Value::as_u64).sum::<u64>() as usize);
    let entries = number("indexed") + number("unchanged") + number("empty") + skipped + many("failed");
    must("the counts of files add up", number("seen") == entries, about)?;
    let is_all = entries - skipped == world.files.len();
    must("every file is counted", is_all && many("failed") == 0, about)?;
    let is_listed = match gone {
        (gone, Fate::Go) => many("pruned") == gone,
        (_, Fate::Stay) => many("pruned") == 0,
        (gone, Fate::Unknown) => many("pruned") <= gone,
    };
    must("every document that is removed is listed", is_listed, about)?;
    let is_switched = before.exists && before.way != world.state.way;
    must("a switch is reported", report["switched"].is_null() != is_switched, about)?;
    if is_switched {
        generations(world)?;
    }
    let in_scope = |doc_id: &String| is_switched || world.files.contains_key(doc_id);
    let chunks = world.state.chunks.iter().filter(|chunk| in_scope(&chunk.doc_id)).count();
    let reported = number("kept") + number("moved") + number("changed") + number("added");
    must("the counts of chunks add up", reported == chunks, || format!("{chunks} chunks, {}", about()))?;
    let overlays = &world.state.overlays;
    must(
        "changes are on their chunks after a run",
        !overlays.iter().any(|overlay| overlay.is_pending),
        || format!("{overlays:?}"),
    )?;
    for standing in ["on", "carried", "conflict", "orphaned"] {
        let listed = overlays.iter().filter(|overlay| overlay.standing == standing).count();
        let is_counted = report["overlays"][standing].as_u64().is_none_or(|count| count as usize == listed);
        must("the counts of changes are those listed", is_counted, || format!("{report}, but {overlays:?}"))?;
    }
    Ok(())
}

/// Checks that after a switch only the last generations are kept.
pub(super) fn generations(world: &World<'_>) -> Result<()> {
    let states = &world.state.generations;
    let old = states.iter().filter(|state| *state == "old").count();
    must("only the last generations are kept", old < world.keep, || {
        format!("{states:?}, of which {} are kept", world.keep)
    })
}

/// Indexes twice: the second run has nothing to do, and writes nothing.
pub(super) fn again(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let run = Run { rehash: random.chance(20), ..Run::of(world.way) };
    once(world, &run, &Kill::Never)?;
    let before = world.state.export.clone();
    let answer = world.run(&run.arguments())?.expect(&[0, 1])?;
    let report = &rows(&answer)?[0];
    let counts = ["indexed", "carried", "chunks", "added", "moved", "changed", "removed"];
    let is_idle = counts.iter().all(|name| report[name] == 0);
    must("an unchanged folder writes nothing", is_idle, || report.to_string())?;
    world.settle(&Expected { states: vec![May::be(&world.state)] })?;
    let is_same = trusted(&before) == trusted(&world.state.export);
    must("an unchanged folder leaves the store as it is", is_same, || differing(&before, &world.state.export))
}

/// Reports what a run would do: the store stays unchanged.
pub(super) fn dry_run(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let way = if random.chance(50) { world.other_way(random) } else { world.way };
    let arguments = [&Run::of(way).arguments()[..], &["--dry-run"]].concat();
    let before = world.state.export.clone();
    world.run(&arguments)?.expect(&[0, 1])?;
    world.settle(&Expected { states: vec![May::be(&world.state)] })?;
    must("a dry run writes nothing", before == world.state.export, || differing(&before, &world.state.export))
}

/// An export without the modification times of files, which are stored only once they can be trusted.
fn trusted(export: &str) -> Vec<Value> {
    let rows = export.lines().filter_map(|line| serde_json::from_str(line).ok());
    rows.map(|mut row: Value| {
        if let Some(document) = row.get_mut("document") {
            document["modified"] = Value::Null;
        }
        row
    })
    .collect()
}

/// The first line that differs.
pub(super) fn differing(before: &str, after: &str) -> String {
    let lines = before.lines().zip(after.lines());
    let first = lines.into_iter().find(|(before, after)| before != after);
    format!("{first:?}, {} and {} lines", before.lines().count(), after.lines().count())
}
