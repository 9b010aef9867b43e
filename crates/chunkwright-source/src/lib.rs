//! Turns files and bytes into documents: selects files, detects the encoding and format of each, and reports what could
//! not be read and why.
//!
//! ```text
//! paths --walk--> files --read_file--> bytes --format, decode or convert--> Source --parse--> Document
//! ```
//!
//! Every entry is accounted for: what is left out has a [`SkipReason`]. The crate reads files and, on request, what git
//! knows about them. It reads nothing else, and knows of no store.

pub mod convert;
pub mod decode;
pub mod format;
pub mod gather;
pub mod generated;
pub mod git;
pub mod glob;
pub mod memory;
pub mod noise;
pub mod ordered;
mod parser;
pub mod prose;
pub mod redact;
pub mod secret;
pub mod skip;
pub mod walk;

pub use chunkwright_code::{language_named, language_names};
pub use format::{Format, ReadError, Source, read};
pub use gather::{Input, InputError, Inputs, Item, ReadSource, Stream, Unread};
pub use generated::{Generated, generated};
pub use git::Git;
pub use glob::{Glob, GlobError};
pub use memory::{FormatHint, MAX_DOC_ID, NewSource, NewSourceError};
pub use noise::LeftOut;
pub use ordered::{ordered, ordered_parts};
pub use parser::parser_for;
pub use prose::{PROSE_LANGUAGES, prose_language, prose_language_named};
pub use redact::redact;
pub use skip::{SkipReason, Skipped};
pub use walk::{FileTypes, Root, SourceError, SourceFile, Walk, WalkOptions, doc_id, read_file, walk};
