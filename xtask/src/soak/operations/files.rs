//! Changes to files, which stores learn of when they index.

use anyhow::Result;

use super::super::corpus::letter;
use super::super::random::Random;
use super::super::world::World;

/// Edits some files.
pub(super) fn edit(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    for _ in 0..random.within(1..4) {
        let names: Vec<String> = world.files.keys().cloned().collect();
        let Some(name) = random.pick(&names).cloned() else { return Ok(()) };
        let Ok(text) = String::from_utf8(world.files[&name].clone()) else { continue };
        let text = match random.within(0..40) {
            0 => String::new(),
            1 => world.corpus.file(random).1,
            2 => format!("\u{feff}{text}"),
            _ => world.corpus.edit(&text, random),
        };
        world.write(&name, text.as_bytes())?;
        world.say(format!("edit {name}"));
        if random.chance(15) {
            world.age(&name, random)?;
        }
    }
    Ok(())
}

/// Edits a chunk that was changed by hand, or one beside it.
pub(super) fn edit_changed(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let on: Vec<&str> = world.state.overlays.iter().filter_map(|overlay| overlay.on.as_deref()).collect();
    let Some(id) = random.pick(&on) else { return edit(world, random) };
    let Some(at) = world.state.chunks.iter().position(|chunk| chunk.id == *id) else { return Ok(()) };
    let at = (at + random.within(0..3)).saturating_sub(1).min(world.state.chunks.len() - 1);
    let (doc_id, content) = (world.state.chunks[at].doc_id.clone(), world.state.chunks[at].content.clone());
    let Some(Ok(text)) = world.files.get(&doc_id).map(|bytes| String::from_utf8(bytes.clone())) else {
        return Ok(());
    };
    let new = match random.within(0..8) {
        // Its content moves, or occurs twice.
        0 => text.replacen(&content, "", 1) + "\n" + &content,
        1 => format!("{text}\n\n{content}\n"),
        2 => text.replacen(&content, "", 1),
        3..6 => text.replacen(&content, &letter(&content, random), 1),
        _ => text.replacen(&content, &world.corpus.edit(&content, random), 1),
    };
    world.say(format!("edit chunk {} of {doc_id}", world.state.chunks[at].id));
    world.write(&doc_id, new.as_bytes())
}

/// Adds files.
pub(super) fn add(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    for _ in 0..random.within(1..4) {
        let (name, text) = world.corpus.file(random);
        world.write(&name, text.as_bytes())?;
        world.say(format!("write {name}"));
    }
    Ok(())
}

/// Removes a file.
pub(super) fn remove(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let names: Vec<String> = world.files.keys().cloned().collect();
    let Some(name) = random.pick(&names).filter(|_| names.len() > 2) else { return Ok(()) };
    world.say(format!("remove {name}"));
    world.remove(name)
}

/// Moves a file.
pub(super) fn rename(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let names: Vec<String> = world.files.keys().cloned().collect();
    let Some(name) = random.pick(&names) else { return Ok(()) };
    let (to, _) = world.corpus.file(random);
    let bytes = world.files[name].clone();
    world.remove(name)?;
    world.say(format!("move {name} to {to}"));
    world.write(&to, &bytes)
}

/// Moves a folder with all that is in it, or the files of one into another.
pub(super) fn rename_folder(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let mut folders: Vec<String> =
        world.files.keys().filter_map(|name| Some(name.rsplit_once('/')?.0.to_owned())).collect();
    folders.dedup();
    let Some(from) = random.pick(&folders).cloned() else { return Ok(()) };
    let to = format!("{}-{}", from.split('-').next().unwrap_or_default(), random.within(0..9));
    if world.path(&to).exists() {
        return Ok(());
    }
    world.say(format!("move {from}/ to {to}/"));
    world.rename_folder(&from, &to)
}

/// Rewrites a file unchanged, or changes its modification time.
pub(super) fn touch(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let names: Vec<String> = world.files.keys().cloned().collect();
    let Some(name) = random.pick(&names) else { return Ok(()) };
    world.say(format!("touch {name}"));
    let bytes = world.files[name].clone();
    world.write(name, &bytes)?;
    if random.chance(60) { world.age(name, random) } else { Ok(()) }
}
