//! Tests of the library at its boundary.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod boundaries;
mod config_hash;
mod diff;
mod digest;
mod edits;
mod embedded;
mod explain;
mod fixtures;
mod front_matter;
mod imports;
mod invariants;
mod json;
mod lanes;
mod line_breaks;
mod options;
mod own;
mod parents;
mod payload;
mod positions;
mod properties;
mod registries;
mod scripts;
mod shown;
mod spec;
mod stats;
mod stride;
mod turns;
mod words;
mod work;

/// The parsers whose formats the specification may name.
fn parsers() -> impl Iterator<Item = &'static dyn chunkwright::Parser> {
    chunkwright::PARSERS.iter().copied()
}

/// The core knows no programming languages.
fn with_languages(document: chunkwright::Document) -> chunkwright::Document {
    document
}
