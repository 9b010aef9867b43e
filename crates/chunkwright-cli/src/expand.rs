//! The flag `--expand`: the text shown around a chunk.

use std::num::NonZeroUsize;

use chunkwright_engine::{Expand, ExpandRequest};
use clap::Args;

/// Flags of commands that show chunks of a collection.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Expansion")]
pub(crate) struct ExpandFlags {
    /// What to show with a chunk: `parent` (the section around it), a number of neighbours on each side, or `merge`
    /// (adjacent hits as one passage)
    ///
    /// Of a section above --expand-tokens, the chunk is shown with as many whole neighbours on both sides as fit.
    /// Text that two chunks share is shown once.
    #[arg(short, long, value_name = "parent|merge|N", visible_alias = "window")]
    expand: Option<Expand>,
    /// Maximum number of tokens of an expanded text; by default 1000, and no limit for neighbours
    #[arg(long, value_name = "N", requires = "expand")]
    expand_tokens: Option<NonZeroUsize>,
}

impl ExpandFlags {
    /// The requested expansion, if any.
    pub(crate) fn request(self) -> Option<ExpandRequest> {
        Some(ExpandRequest { with: self.expand?, max_tokens: self.expand_tokens.map(NonZeroUsize::get) })
    }
}
