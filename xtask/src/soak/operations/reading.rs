//! Searches and fetches, which never fail and show what is stored.

use anyhow::Result;
use serde_json::Value;

use super::super::must;
use super::super::random::Random;
use super::super::state::{rows, string};
use super::super::world::World;

/// Ways to show results.
const SHOWN: &[&[&str]] = &[
    &["--expand", "parent"],
    &["--expand", "parent", "--expand-tokens", "120"],
    &["--expand", "merge"],
    &["--expand", "2"],
    &["--mode", "lexical"],
    &["--all-versions"],
    &["--per-document", "1"],
    &["--filter", "category=code or token_count<60"],
    &["--fusion", "rrf"],
];

/// Searches for words of a random chunk, in a random way.
pub(super) fn search(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    for _ in 0..3 {
        let Some(chunk) = random.pick(&world.state.chunks) else { return Ok(()) };
        let words: Vec<&str> = chunk.content.split(|letter: char| !letter.is_alphanumeric()).collect();
        let start = random.within(0..words.len());
        let end = (start + random.within(1..6)).min(words.len());
        let query = words[start..end].join(" ");
        if query.trim().is_empty() {
            continue;
        }
        let shown = random.pick(SHOWN).copied().unwrap_or_default();
        let arguments = [&["search"][..], shown, &["--", query.as_str()]].concat();
        let answer = world.run(&arguments)?.expect(&[0, 1])?;
        if shown.contains(&"--expand") || shown.contains(&"--all-versions") {
            continue;
        }
        for hit in rows(&answer)? {
            let id = string(&hit, "chunk_id");
            let found = world.state.chunks.iter().find(|chunk| chunk.id == id);
            let shown = hit["content"].as_str().unwrap_or_default();
            // Notebooks are shown as they are rendered in `text`.
            let is_stored = found.is_some_and(|chunk| chunk.content == shown || chunk.text.ends_with(shown));
            must("a hit is what is stored", is_stored, || format!("{answer}"))?;
        }
    }
    Ok(())
}

/// Fetches a document, a chunk and lines: all are bytes of the source.
pub(super) fn fetch(world: &mut World<'_>, random: &mut Random) -> Result<()> {
    let doc_ids: Vec<&String> = world.state.documents.keys().collect();
    let Some(&doc_id) = random.pick(&doc_ids) else { return Ok(()) };
    let raw = |reference: &str| world.run(&["fetch", "--format", "raw", "--", reference]);
    let answer = raw(doc_id)?.expect(&[0])?;
    must("a document is fetched exactly", answer.out == world.state.documents[doc_id], || {
        format!(
            "{} has {} bytes, not {}",
            answer.command,
            answer.out.len(),
            world.state.documents[doc_id].len()
        )
    })?;
    let Some(chunk) = random.pick(&world.state.chunks) else { return Ok(()) };
    let answer = raw(&chunk.id)?.expect(&[0])?;
    must("a chunk is fetched exactly", answer.text() == chunk.content, || answer.to_string())?;
    let shown = random.pick(SHOWN).copied().filter(|shown| shown.contains(&"--expand")).unwrap_or_default();
    let arguments = [&["fetch", "--format", "json"][..], shown, &["--", chunk.id.as_str()]].concat();
    let answer = world.run(&arguments)?.expect(&[0])?;
    let text = String::from_utf8_lossy(&world.state.documents[&chunk.doc_id]).into_owned();
    let fetched: Value = serde_json::from_slice(&answer.out)?;
    let is_notebook = fetched["document"]["format"] == "notebook";
    let fetched = string(&fetched, "text");
    let is_source = text.contains(&fetched) && fetched.contains(chunk.content.trim());
    let is_right = is_source || is_notebook && is_rendered(&fetched, &text);
    must("an expanded chunk is source around it", is_right, || format!("{answer}; {:?}", chunk.content))
}

/// Whether all lines of a text, but for fences, are in the strings of a notebook.
fn is_rendered(text: &str, notebook: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.starts_with("```"));
    let quoted = |line: &str| Value::from(line).to_string();
    !text.is_empty() && lines.all(|line| notebook.contains(quoted(line).trim_matches('"')))
}
