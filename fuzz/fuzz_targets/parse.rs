//! Any text is a document in every format, and keeps the invariants of the model.
#![no_main]

use chunkwright::{Document, PARSERS};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/chunkwright/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|data: &[u8]| {
    let Some((&parser, text)) = data.split_first() else { return };
    let parser = PARSERS[parser as usize % PARSERS.len()];
    invariants::model(&Document::parse("fuzz", String::from_utf8_lossy(text).as_ref(), parser));
});
