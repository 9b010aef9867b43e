//! `--expand`: what a chunk is read with.

use std::num::NonZeroUsize;

use chunkwright_engine::{Expand, ExpandRequest};
use clap::Args;

/// Flags of commands that show chunks of a collection.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Expansion")]
pub(crate) struct ExpandFlags {
    /// What a chunk is shown with: `parent` (the section around it), a number of neighbours on each side, or
    /// `merge` (hits side by side are shown as one)
    ///
    /// A section over --expand-tokens is not shown whole, but as the chunk with as many whole neighbours on
    /// both sides as fit. What two chunks share is shown once.
    #[arg(short, long, value_name = "parent|merge|N", visible_alias = "window")]
    expand: Option<Expand>,
    /// Most tokens of an expanded text; by default 1000, and no limit for neighbours
    #[arg(long, value_name = "N", requires = "expand")]
    expand_tokens: Option<NonZeroUsize>,
}

impl ExpandFlags {
    /// The expansion asked for, if any.
    pub(crate) fn request(self) -> Option<ExpandRequest> {
        Some(ExpandRequest { with: self.expand?, max_tokens: self.expand_tokens.map(NonZeroUsize::get) })
    }
}
