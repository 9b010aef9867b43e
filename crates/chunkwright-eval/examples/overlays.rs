//! Measures how many overlays survive edits, and changes of the preset: `LEAST_LIKENESS` and `LEAST_LEAD` were chosen by it.
//!
//! ```text
//! cargo run --release -p chunkwright-eval --example overlays -- EDITS.jsonl
//! ```
//!
//! An edit is a line `{"doc_id": .., "old": .., "new": .., "kind": ..}` with both complete texts.

use std::sync::Arc;

use chunkwright::{Chunker, Words};
use chunkwright_eval::{Edit, carry, edit};

/// Presets before and after.
const PAIRS: [(&str, &str); 9] = [
    ("auto", "auto"),
    ("docs", "docs"),
    ("stable", "stable"),
    ("code", "code"),
    ("auto", "docs"),
    ("auto", "stable"),
    ("docs", "auto"),
    ("stable", "auto"),
    ("docs", "course"),
];

#[expect(clippy::print_stdout, reason = "a program of its own, run by hand")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chunker = |preset: &str| Chunker::new(chunkwright::preset::preset(preset)?, Arc::new(Words));
    for path in std::env::args().skip(1) {
        let (edits, refused) = edit::read(&std::fs::read_to_string(&path)?);
        if let Some((line, error)) = refused.first() {
            return Err(format!("{path}:{line}: {error}").into());
        }
        let mut kinds: Vec<&str> = edits.iter().map(|edit| edit.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        println!(
            "| presets | edits | overlays | on | by likeness | orphaned | in force | of those by likeness | wrong |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for (before, after) in PAIRS {
            for kind in &kinds {
                let of_kind: Vec<Edit> = edits.iter().filter(|edit| edit.kind == *kind).cloned().collect();
                let it = carry::carry(&chunker(before)?, &chunker(after)?, &of_kind);
                println!(
                    "| {before} to {after} | {} {kind} | {} | {} | {} | {} | {:.2} % | {:.2} % | {:.3} % |",
                    of_kind.len(),
                    it.overlays,
                    it.on,
                    it.carried,
                    it.orphaned,
                    100.0 * it.in_force(),
                    100.0 * it.by_likeness(),
                    100.0 * it.wrong_share(),
                );
            }
        }
    }
    Ok(())
}
