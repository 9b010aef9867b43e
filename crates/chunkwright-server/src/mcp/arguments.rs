//! Schemas of tools, and the validation of arguments by them.
//!
//! Arguments are validated by the published schemas: see [`read`].

mod read;
mod schema;

pub(super) use read::{Invalid, read};
pub(super) use schema::{Options, input, option, output};
