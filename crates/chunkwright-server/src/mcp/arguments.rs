//! Schemas of tools, and the arguments that are checked by them.
//!
//! The schemas are what arguments are checked by: see [`read`].

mod read;
mod schema;

pub(super) use read::{Invalid, read};
pub(super) use schema::{input, output};
