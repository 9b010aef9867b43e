//! Concurrent programs on one store.

use anyhow::Result;

use super::super::must;
use super::super::program::{Answer, Kill};
use super::super::random::Random;
use super::super::state::{rows, string};
use super::super::world::{Expected, May, World};
use super::changes::after;
use super::indexing::Run;

/// Two writing programs, one of which may be killed: the second waits, or is refused with a message.
pub(super) fn writers(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let Some(chunk) = random.pick(&world.state.chunks).cloned() else { return Ok(()) };
    let way = if random.chance(30) { world.other_way(random) } else { world.way };
    let run = Run::of(way);
    let kill = Kill::perhaps(20, &world.program, random);
    let keyword = random.word();
    let second: Vec<&str> = match random.within(0..3) {
        0 => vec!["disable", &chunk.id],
        1 => vec!["amend", &chunk.id, "--keywords", &keyword],
        _ => vec!["prune"],
    };
    let first = world.program.start(&run.arguments(), &kill)?;
    let answer = world.run(&second)?;
    let first = first.wait()?;
    world.note(&first);
    let is_refused = |answer: &Answer| answer.code == Some(2) && answer.err.contains("is being written by");
    let is_amend = second[0] != "prune";
    // The chunk may be gone by then.
    let is_late = answer.code == Some(2) && answer.err.contains("there is no chunk");
    let is_right =
        answer.code == Some(0) || is_refused(&answer) || is_late || !is_amend && answer.code == Some(1);
    must("a second writer is refused in a sentence", is_right, || answer.to_string())?;
    let first_is_right = first.is_killed() || first.code == Some(0) || is_refused(&first);
    must("a first writer is refused in a sentence", first_is_right, || first.to_string())?;
    let mut states =
        if is_refused(&first) { vec![May::be(&world.state)] } else { run.expected(world, &first) };
    if is_amend && answer.code == Some(0) {
        let changed = after(world, &world.state.changes(), &chunk.id, &|change| match second[0] {
            "disable" => change.disabled = true,
            _ => change.keywords = vec![keyword.clone()],
        });
        for state in &mut states {
            state.changes = vec![changed.clone()];
        }
    }
    world.settle(&Expected { states })?;
    if first.code == Some(0) {
        world.way = run.way;
        world.learn(run.way);
    }
    Ok(())
}

/// Reading programs beside a writing one: none fails, and each sees one generation.
pub(super) fn readers(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    if !world.state.exists {
        return Ok(());
    }
    let way = if random.chance(60) { world.other_way(random) } else { world.way };
    let run = Run::of(way);
    let mut writer = world.program.start(&run.arguments(), &Kill::Never)?;
    let after = run.documents(world);
    let mut reads = 0;
    while reads < 2 || !writer.is_over()? && reads < 40 {
        reads += 1;
        let search =
            world.program.run(&["search", "--expand", "parent", "--", "the harbour 面包 хлеб def"])?;
        search.expect(&[0, 1])?;
        let export = world.program.run(&["export"])?.expect(&[0, 1])?;
        let mut way = None;
        for record in rows(&export)? {
            let hash = string(&record, "config_hash");
            let first = way.get_or_insert_with(|| hash.clone());
            must("a reader sees one generation", *first == hash, || format!("{first} and {hash}"))?;
            let Some(source) = record["document"]["source"].as_str() else { continue };
            let doc_id = string(&record, "doc_id");
            let seen = [world.state.documents.get(&doc_id), after.get(&doc_id)];
            let is_known = record["document"]["raw_base64"].is_string()
                || seen.iter().any(|bytes| bytes.is_some_and(|bytes| bytes == source.as_bytes()));
            must("a reader sees a document of before or after", is_known, || doc_id.clone())?;
        }
    }
    let answer = writer.wait()?;
    world.note(&answer);
    let answer = answer.expect(&[0])?;
    let expected = Expected { states: run.expected(world, &answer) };
    world.settle(&expected)?;
    world.way = run.way;
    world.learn(run.way);
    Ok(())
}
