//! `chunkwright rename`

use anyhow::{Result, bail};
use chunkwright_engine::{Access, RenameRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::plain;

/// Give a collection another name
///
/// Its documents, generations, runs and changes made by hand stay with it, and nothing is read or embedded: `chunkwright
/// index PATH -c NEW` brings it in step from then on. Other programs find it on a server by its new name. It is refused
/// while a run over the collection is in progress, or if there is a collection NEW.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("collection", |flag| flag.hide(true)))]
pub(crate) struct Rename {
    /// The name of the collection
    #[arg(value_name = "OLD")]
    old: String,
    /// Its new name: letters and digits of any script, `-`, `_` and `.`
    #[arg(value_name = "NEW")]
    new: String,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright rename default handbook";

impl Rename {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        if self.collection.is_named() {
            bail!("`rename OLD NEW` names both collections; leave out `--collection`");
        }
        let engine = global.engine(&[&self.collection], Access::Write)?;
        let renamed = engine.collection(&self.old).rename(&RenameRequest { name: self.new.clone() })?;
        results.only(&renamed, |it| format!("{} is now {}\n", plain(&it.before), plain(&it.collection)))?;
        Ok(Outcome::Success)
    }
}
