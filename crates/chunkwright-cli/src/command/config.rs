//! `chunkwright config show`

use anyhow::Result;

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::keys::{FileFlags, RerankerFlags, WriterFlags};
use crate::text::{Table, bold, dim, plain};

/// Show the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Show(Box<Show>),
}

/// Print every value and where it came from
///
/// Layers, lowest first: the preset; the nearest `chunkwright.toml` upward from the working directory;
/// variables such as CHUNKWRIGHT_MAX_SIZE; flags. A layer that names a preset starts from it: what
/// layers below say about cutting is dropped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
struct Show {
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    files: FileFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    reranker: RerankerFlags,
    #[command(flatten)]
    writer: WriterFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLE: &str = "\
Presets of your own are tables of `chunkwright.toml`:
  preset = \"notes\"

  [presets.notes]
  base = \"auto\"
  max_size = 400

A service is a table too; its key is in a file or a variable, never here:
  embedder = \"ours\"

  [embedders.ours]
  spec = \"openai:bge-m3\"
  url = \"http://localhost:8000/v1\"
  key_file = \"ours.key\"";

impl Config {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let Action::Show(show) = &self.action;
        let settings = global.settings(&[&show.cut, &show.files, &show.collection, &show.reranker, &show.writer])?;
        show.output.list(&settings.list(), |settings| {
            let mut table = Table::new(["key", "value", "from"]);
            for setting in settings {
                let value = setting.value.as_ref().map(|value| plain(&value.to_string()));
                let value = value.unwrap_or_else(|| dim("not set"));
                table.row([bold(&setting.key), value, dim(&plain(&setting.origin))]);
            }
            table.to_string()
        })?;
        Ok(Outcome::Success)
    }
}
