//! Tests of the library at its boundary.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod edits;
mod fixtures;
mod invariants;
mod properties;
mod spec;
mod work;
