//! `--expand`: what a chunk is read with.

use std::sync::Arc;

use anyhow::{Result, bail};
use chunkwright::TokenCounter;
use chunkwright_index::{Expand, Expansion};
use clap::Args;

use crate::app;
use crate::settings::Settings;

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
    expand_tokens: Option<usize>,
}

/// An expansion that owns its counter.
pub(crate) struct OwnExpansion {
    expand: Expand,
    max_tokens: Option<usize>,
    counter: Arc<dyn TokenCounter>,
}

impl ExpandFlags {
    /// The expansion asked for, if any.
    pub(crate) fn get(self, settings: &Settings) -> Result<Option<OwnExpansion>> {
        let Some(expand) = self.expand else { return Ok(None) };
        if self.expand_tokens == Some(0) {
            bail!("`--expand-tokens` is `0`; it must be at least 1");
        }
        Ok(Some(OwnExpansion { expand, max_tokens: self.expand_tokens, counter: app::counter(settings)? }))
    }
}

impl OwnExpansion {
    pub(crate) fn borrow(&self) -> Expansion<'_> {
        Expansion { expand: self.expand, max_tokens: self.max_tokens, counter: &*self.counter }
    }

    /// Name of the counter.
    pub(crate) fn tokenizer(&self) -> &str {
        self.counter.name()
    }
}
