//! `chunkwright collections`

use anyhow::Result;
use chunkwright_engine::{Access, ListedCollection};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::status;
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped, plain};

/// List the collections of the store
///
/// Counts are those of the generation that searches see; `chunkwright versions` lists all generations of one collection.
/// The exit status is 1 if there are none.
#[derive(Debug, clap::Args)]
pub(crate) struct Collections {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Collections {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let listed = engine.list_collections()?;
        self.output.list(&listed, describe)?;
        Ok(global.found(listed.len(), "nothing is stored; `chunkwright index` stores documents"))
    }
}

fn describe(listed: &[ListedCollection]) -> String {
    let header = ["collection", "state", "documents", "chunks", "no vector", "model", "generations", "versions"];
    let mut table = Table::new(header);
    for ListedCollection { status, generations, versions } in listed {
        let versions: Vec<&str> = versions.keys().map(String::as_str).collect();
        table.row([
            bold(&plain(&status.generation.collection)),
            status.state.as_str().to_owned(),
            grouped(status.documents),
            grouped(status.chunks),
            grouped(status.pending),
            status::model(&status.generation.spec),
            grouped(*generations),
            plain(&versions.join(" ")),
        ]);
    }
    table.if_any()
}
