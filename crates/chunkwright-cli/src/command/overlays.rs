//! `chunkwright overlays`

use anyhow::Result;
use chunkwright_engine::{Access, BoundaryKind, ListedOverlay, Overlay, OverlayState, OverlaysRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, plain, preview, yellow};

/// List changes made by hand and the chunk that each applies to
///
/// `on`: applied to the chunk it was made for, or to the one with the same content. `carried`: applied to the only
/// similar chunk, because its own was edited or cut differently. `conflict`: its text is not applied, because the
/// text that it replaces changed; both are listed. `orphaned`: not applied, because its chunk is gone; it returns
/// with its chunk. `chunkwright amend CHUNK_ID --accept` accepts a carried change or resolves a conflict.
#[derive(Debug, clap::Args)]
pub(crate) struct Overlays {
    /// Only changes that need attention: carried, in conflict, or orphaned
    #[arg(long)]
    review: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Overlays {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let request = OverlaysRequest { review: self.review };
        let listed = engine.default_collection().read(|snapshot| snapshot.overlays(request))?;
        results.list(&listed.overlays, |overlays| {
            let mut table = Table::new(["chunk", "document", "state", "on", "change"]);
            for listed in overlays {
                table.row([
                    bold(&plain(&listed.overlay.chunk_id)),
                    plain(&listed.overlay.doc_id),
                    state(listed),
                    place(listed),
                    dim(&preview(&said(&listed.overlay), 60)),
                ]);
            }
            table.if_any()
        })?;
        let none = if listed.total > 0 { "nothing to review" } else { "there are no changes made by hand" };
        Ok(global.found(listed.overlays.len(), none))
    }
}

fn state(listed: &ListedOverlay) -> String {
    let state = listed.state.as_str();
    match (listed.pending, listed.state) {
        (true, _) => yellow(&format!("{state}, updated by the next run")),
        (false, OverlayState::On) => state.to_owned(),
        (false, _) => yellow(state),
    }
}

fn place(listed: &ListedOverlay) -> String {
    match (&listed.on, &listed.on_doc_id) {
        (Some(on), _) if *on == listed.overlay.chunk_id => "the chunk".into(),
        (Some(on), Some(doc_id)) if *doc_id != listed.overlay.doc_id => {
            format!("{} of {}", plain(on), plain(doc_id))
        }
        (Some(on), _) => plain(on),
        (None, _) => "no chunk".into(),
    }
}

/// The changes of an overlay in words.
fn said(overlay: &Overlay) -> String {
    let mut said = Vec::new();
    if overlay.disabled {
        said.push("disabled".to_owned());
    }
    said.extend(overlay.text.as_ref().map(|text| format!("text `{text}`")));
    if !overlay.keywords.is_empty() {
        said.push(format!("keywords {}", overlay.keywords.join(", ")));
    }
    if let Some(set) = &overlay.boundary {
        let what = match set.kind {
            BoundaryKind::Split => "split before",
            BoundaryKind::Merge => "merged before",
        };
        said.push(format!("{what} `{}`", set.after));
    }
    said.extend(overlay.pins.iter().map(|pin| format!("pinned to `{pin}`")));
    said.join("; ")
}
