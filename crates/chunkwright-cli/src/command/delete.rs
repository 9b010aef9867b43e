//! `chunkwright delete`

use std::path::PathBuf;

use anyhow::{Result, bail};
use chunkwright_index::{Access, remove_documents, remove_folder};
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::plain;

/// Remove documents from a collection, or the collection
///
/// From every generation, so that they come back with none. A later run indexes them again if their files
/// are still there.
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// Documents whose id matches; `*` stands for any text
    #[arg(long, value_name = "PATTERN", required_unless_present_any = ["all", "folder"])]
    source: Option<String>,
    /// Documents of this folder, as `status` names it, and of folders inside it; it need not exist any more
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["all", "source"])]
    folder: Option<PathBuf>,
    /// The whole collection, with what was changed of it by hand
    #[arg(long, conflicts_with = "source")]
    all: bool,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// A document that was removed.
#[derive(Serialize)]
struct Row<'a> {
    doc_id: &'a str,
    generation: i64,
    chunks: u32,
    dry_run: bool,
}

impl Delete {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        if settings.collection.contains('@') {
            bail!("`{}` names one generation; `delete` is of a whole collection", settings.collection);
        }
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let store = app::store(&settings, access)?;
        let current = store.open(&settings.collection)?;
        let pattern = self.source.as_deref().unwrap_or("*");
        let mut output = self.output.open()?;
        let mut any = false;
        let found = store.collections()?.into_iter().filter(|known| known.name == current.collection);
        for status in found.flat_map(|collection| collection.generations) {
            let number = status.generation.number;
            let is_dry = self.dry_run || self.all;
            let removed = match &self.folder {
                Some(folder) => remove_folder(&*store, &status.generation, folder, is_dry)?,
                None => remove_documents(&*store, &status.generation, pattern, is_dry)?,
            };
            any |= !removed.is_empty();
            for info in &removed {
                if output.is_text() {
                    let verb = if self.dry_run { "would be removed" } else { "removed" };
                    output.text(&format!("{verb} {} from {}\n", plain(&info.doc_id), status.generation))?;
                } else {
                    let row = Row { doc_id: &info.doc_id, generation: number, chunks: info.chunks, dry_run: self.dry_run };
                    output.object(&row)?;
                }
            }
        }
        if self.all && !self.dry_run {
            store.remove(&current)?;
        }
        output.end_list()?;
        output.finish()?;
        if !any && !self.all {
            global.say(if self.folder.is_some() { "no document is of that folder" } else { "no document has such an id" });
            return Ok(Outcome::Nothing);
        }
        Ok(Outcome::Success)
    }
}
