//! Tests of the library at its boundary.

mod fixtures;
mod invariants;
mod properties;
mod spec;
mod work;
