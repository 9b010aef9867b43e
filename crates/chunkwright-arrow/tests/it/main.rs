//! Records as columns and back, where users meet them: rows in, rows out.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod damage;
mod fixture;
mod foreign;
mod round_trip;
#[path = "../../../chunkwright/tests/it/stride.rs"]
mod stride;
