//! Changes by hand, and removals.

use std::collections::BTreeMap;

use anyhow::Result;

use super::super::must;
use super::super::program::{Answer, Kill};
use super::super::random::Random;
use super::super::state::{Change, rows};
use super::super::world::{Expected, May, World, either};

/// Percentage of runs that are killed.
const KILLED: u64 = 35;

/// Hides chunks.
pub(super) fn disable(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let count = random.within(1..4);
    let ids = some(world, count, random);
    let arguments: Vec<&str> =
        ["disable", "--verbose"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    change(world, &arguments, &ids, random, &|change| change.disabled = true)
}

/// Shows chunks again, preferring hidden ones.
pub(super) fn enable(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let hidden = world.state.overlays.iter().filter(|overlay| overlay.change.disabled);
    let hidden: Vec<String> = hidden.filter_map(|overlay| overlay.on.clone()).collect();
    let ids = match random.pick(&hidden).filter(|_| random.clone().chance(80)) {
        Some(id) => vec![id.clone()],
        None => some(world, 1, random),
    };
    let arguments: Vec<&str> =
        ["enable", "--verbose"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    change(world, &arguments, &ids, random, &|change| change.disabled = false)
}

/// Gives a chunk another text, keywords or a pin, or resets it.
pub(super) fn amend(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let ids = some(world, 1, random);
    let Some(id) = ids.first() else { return Ok(()) };
    let (text, keyword, pin) = (
        format!("Said otherwise: {} and {}, иначе, 另外", random.word(), random.word()),
        random.word(),
        format!("how is {} done", random.word()),
    );
    let mut flags: Vec<(&str, &str)> = Vec::new();
    if random.chance(30) {
        flags.push(("--text", if random.chance(15) { "" } else { &text }));
    }
    if random.chance(70) {
        flags.push(("--keywords", if random.chance(10) { "" } else { &keyword }));
    }
    if random.chance(20) {
        flags.push(("--pin", if random.chance(15) { "" } else { &pin }));
    }
    let is_reset = flags.is_empty();
    let mut arguments = vec!["amend", "--verbose", id.as_str()];
    if is_reset {
        arguments.push("--reset");
    }
    arguments.extend(flags.iter().flat_map(|(name, value)| [*name, *value]));
    let given = |value: &str| if value.is_empty() { Vec::new() } else { vec![value.to_owned()] };
    change(world, &arguments, &ids, random, &|change| {
        if is_reset {
            *change = Change { disabled: change.disabled, ..Change::default() };
        }
        for (name, value) in &flags {
            match *name {
                "--text" => change.text = given(value).pop(),
                "--keywords" => change.keywords = given(value),
                _ => change.pins = given(value),
            }
        }
    })
}

/// Ids of some chunks.
fn some(world: &World<'_>, count: usize, random: &mut Random) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..count {
        let Some(chunk) = random.pick(&world.state.chunks) else { break };
        if !ids.contains(&chunk.id) {
            ids.push(chunk.id.clone());
        }
    }
    ids
}

/// The changes of a world after `edit` is applied to a chunk.
pub(super) fn after(
    world: &World<'_>,
    changes: &[Change],
    id: &str,
    edit: &dyn Fn(&mut Change),
) -> Vec<Change> {
    let mut changes = changes.to_vec();
    let on = world.state.overlays.iter().find(|overlay| overlay.on.as_deref() == Some(id));
    let before = on.map(|overlay| &overlay.change);
    let at = before.and_then(|before| changes.iter().position(|change| change == before));
    let mut change = at.map(|at| changes.remove(at)).unwrap_or_default();
    edit(&mut change);
    if !change.is_empty() {
        changes.push(change);
    }
    changes.sort();
    changes
}

/// Changes chunks one after another: acknowledged changes are there, and the interrupted one may or may not be.
fn change(
    world: &mut World<'_>,
    arguments: &[&str],
    ids: &[String],
    random: &mut Random,
    edit: &dyn Fn(&mut Change),
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let kill = Kill::perhaps(KILLED, &world.program, random);
    let mut answer = world.run_killed(arguments, &kill)?.expect(&[0])?;
    if answer.is_killed() && world.program.is_remote {
        // A server has no transactions: the change may be listed without being applied, until it is repeated.
        answer = world.run(arguments)?.expect(&[0])?;
    }
    let mut steps = vec![world.state.changes()];
    for id in ids {
        let last = steps.last().cloned().unwrap_or_default();
        steps.push(after(world, &last, id, edit));
    }
    let acknowledged = if answer.is_killed() { answer.err.matches("changed ").count() } else { ids.len() };
    let changes = steps.get(acknowledged..).unwrap_or_default();
    world.settle(&Expected { states: vec![May { changes: changes.to_vec(), ..May::be(&world.state) }] })
}

/// Removes a document from the store; its file may stay.
pub(super) fn delete(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let doc_ids: Vec<String> = world.state.documents.keys().cloned().collect();
    let Some(doc_id) = random.pick(&doc_ids) else { return Ok(()) };
    let kill = Kill::perhaps(KILLED, &world.program, random);
    let answer = world.run_killed(&["delete", "--source", doc_id], &kill)?.expect(&[0])?;
    let mut documents = world.state.documents.clone();
    documents.remove(doc_id);
    let may = May { documents: either(&documents, &documents), ..May::be(&world.state) };
    if !is_done(&answer) {
        let documents = either(&world.state.documents, &documents);
        return world.settle(&Expected { states: vec![May { documents, ..may }] });
    }
    world.settle(&Expected { states: vec![may] })
}

/// Removes everything.
pub(super) fn delete_all(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    if !world.state.exists || random.chance(60) {
        return Ok(());
    }
    let kill = Kill::perhaps(KILLED, &world.program, random);
    let answer = world.run_killed(&["delete", "--all"], &kill)?.expect(&[0])?;
    let gone = May { way: Some(String::new()), documents: BTreeMap::new(), changes: vec![Vec::new()] };
    let before = May::be(&world.state);
    let states = if is_done(&answer) { vec![gone] } else { vec![before, gone] };
    world.settle(&Expected { states })
}

/// Gives the collection another name, and its own back: it has one of the two after every kill.
pub(super) fn rename(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    const NAMES: [&str; 2] = ["default", "renamed"];
    if !world.state.exists {
        return Ok(());
    }
    let mut has = NAMES[0];
    for to in [NAMES[1], NAMES[0], NAMES[0]] {
        if to == has {
            continue;
        }
        let kill = Kill::perhaps(KILLED, &world.program, random);
        let answer = world.run_killed(&["rename", has, to], &kill)?.expect(&[0])?;
        let listed = rows(&world.run(&["collections"])?.expect(&[0])?)?;
        let one = NAMES.into_iter().find(|name| listed.iter().all(|row| row["collection"] == *name));
        let is_right = one.is_some_and(|one| one == to || !is_done(&answer));
        must("a renamed collection has one name", is_right, || format!("{answer}; {listed:?}"))?;
        has = one.unwrap_or(has);
    }
    if has != NAMES[0] {
        world.run(&["rename", has, NAMES[0]])?.expect(&[0])?;
    }
    world.settle(&Expected { states: vec![May::be(&world.state)] })
}

/// Removes generations that searches do not see.
pub(super) fn prune(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    if !world.state.exists {
        return Ok(());
    }
    let is_all = random.chance(40);
    let arguments: &[&str] = if is_all { &["prune", "--unfinished"] } else { &["prune"] };
    let kill = Kill::perhaps(KILLED, &world.program, random);
    let answer = world.run_killed(arguments, &kill)?.expect(&[0, 1])?;
    world.settle(&Expected { states: vec![May::be(&world.state)] })?;
    let states = &world.state.generations;
    let is_visible = |at: usize| at == 0 && states.iter().all(|state| state != "current");
    let stay = |(at, state): (usize, &String)| {
        state == "current" || state == "building" && (!is_all || is_visible(at))
    };
    let is_pruned = !is_done(&answer) || states.iter().enumerate().all(stay);
    must("old generations are removed", is_pruned, || format!("{answer}; {:?}", world.state.generations))
}

/// Returns whether a run was not killed, or had reported its end before.
fn is_done(answer: &Answer) -> bool {
    !answer.is_killed()
}
