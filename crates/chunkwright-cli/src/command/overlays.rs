//! `chunkwright overlays`

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use chunkwright_index::{Access, Overlay};
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, plain, preview, yellow};

/// List what was changed by hand, and what of it is on no chunk any more
#[derive(Debug, clap::Args)]
pub(crate) struct Overlays {
    /// Only those that are on no chunk: its content changed, or its document is gone
    #[arg(long)]
    homeless: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// An overlay and where it is.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    overlay: &'a Overlay,
    /// The chunk that it is on; none if there is none.
    on: Option<&'a str>,
}

impl Overlays {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let store = app::store(&settings, Access::Read)?;
        let generation = store.open(&settings.collection)?;
        let overlays = store.overlays(&generation.collection)?;
        let documents: HashSet<&str> = overlays.iter().map(|overlay| overlay.doc_id.as_str()).collect();
        let mut on: HashMap<&str, String> = HashMap::new();
        for doc_id in documents {
            let records = store.records(&generation, doc_id)?;
            for (record, overlay) in records.iter().zip(overlays.place(records.iter())) {
                if let Some(overlay) = overlay {
                    on.insert(&overlay.chunk_id, record.chunk_id.clone());
                }
            }
        }
        let mut output = self.output.open()?;
        let mut table = Table::new(["chunk", "document", "on", "change"]);
        let wanted = |overlay: &&Overlay| !self.homeless || !on.contains_key(overlay.chunk_id.as_str());
        for overlay in overlays.iter().filter(wanted) {
            let place = on.get(overlay.chunk_id.as_str()).map(String::as_str);
            if output.is_text() {
                let where_on = match place {
                    Some(id) if id == overlay.chunk_id => "the chunk".into(),
                    Some(id) => format!("{id}, by its content"),
                    None => yellow("no chunk"),
                };
                table.row([bold(&plain(&overlay.chunk_id)), plain(&overlay.doc_id), where_on, dim(&preview(&said(overlay), 60))]);
            } else {
                output.object(&Row { overlay, on: place })?;
            }
        }
        if output.is_text() && !table.is_empty() {
            output.text(&table.to_string())?;
        }
        output.end_list()?;
        output.finish()?;
        if overlays.is_empty() {
            global.say("nothing was changed by hand");
            return Ok(Outcome::Nothing);
        }
        Ok(Outcome::Success)
    }
}

/// What an overlay changes, in words.
fn said(overlay: &Overlay) -> String {
    let mut said = Vec::new();
    if overlay.disabled {
        said.push("disabled".to_owned());
    }
    said.extend(overlay.text.as_ref().map(|text| format!("text `{text}`")));
    if !overlay.keywords.is_empty() {
        said.push(format!("keywords {}", overlay.keywords.join(", ")));
    }
    said.extend(overlay.pins.iter().map(|pin| format!("pinned to `{pin}`")));
    said.join("; ")
}
