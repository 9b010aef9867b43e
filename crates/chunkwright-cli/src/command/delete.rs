//! `chunkwright delete`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::{Access, DeleteRequest, Deleted, DeletedDocument, Glob};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::plain;

/// Remove documents from a collection, or the collection
///
/// They are removed from every generation. A later run indexes them again if their files still exist.
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// Documents with this id, or whose id matches this glob, such as `docs/**`
    #[arg(long, value_name = "PATTERN", required_unless_present_any = ["all", "folder"])]
    source: Option<Glob>,
    /// Documents of this folder, as `status` names it, and of folders inside it; the folder need not exist any more
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["all", "source"])]
    folder: Option<PathBuf>,
    /// The whole collection, including changes made by hand
    #[arg(long, conflicts_with = "source")]
    all: bool,
    /// Show what would be removed and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Delete {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let engine = global.engine(&[&self.collection], access)?;
        let what = match (&self.folder, &self.source) {
            (Some(folder), _) => Deleted::Folder(folder.clone()),
            (None, Some(pattern)) => Deleted::Source(pattern.clone()),
            (None, None) => Deleted::All,
        };
        let collection = engine.default_collection();
        let request = DeleteRequest { what, dry_run: self.dry_run };
        let deleted = collection.delete(&request)?;
        let (verb, name) = (if self.dry_run { "would be removed" } else { "removed" }, collection.name());
        let line = |row: &DeletedDocument| format!("{verb} {} from {name}@{}\n", plain(&row.doc_id), row.generation);
        results.list(&deleted, |deleted| deleted.iter().map(line).collect())?;
        let none = match request.what {
            Deleted::All => return Ok(Outcome::Success),
            Deleted::Folder(_) => "that folder has no documents",
            Deleted::Source(_) => "no document matches",
        };
        Ok(global.found(deleted.len(), none))
    }
}
