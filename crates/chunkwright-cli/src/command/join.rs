//! `chunkwright join`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::join_shards;

use crate::app::{Global, Outcome};
use crate::output::{FieldFlags, Format, TargetFlags};
use crate::text::count;

/// Join the shards of `chunkwright chunk --shard` into one Parquet file
///
/// The file is the one that `chunkwright chunk` writes of all documents at once. It is written only if everything is
/// there: each of the shards 1/N to N/N once, cut from one list of documents by one configuration and one version of the
/// program; every document in the shard that it belongs to and in no other, with as many rows as were written; no id
/// twice.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("output", |output| output.required(true)))]
pub(crate) struct Join {
    /// Parquet files of all shards, in any order
    #[arg(value_name = "SHARD", required = true)]
    shards: Vec<PathBuf>,
    #[command(flatten)]
    target: TargetFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright chunk docs --shard 1/2 -o shard-1.parquet --resume
  chunkwright chunk docs --shard 2/2 -o shard-2.parquet --resume
  chunkwright join shard-*.parquet -o chunks.parquet";

impl Join {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results =
            self.target.check(global, &[&self.shards], Some(Format::Jsonl), FieldFlags::default())?;
        let (joined, output) = join_shards(&self.shards, results.open()?)?;
        output.finish()?;
        let (rows, documents) = (count(joined.rows, "row"), count(joined.documents, "document"));
        global.say(&format!("{rows} of {documents} from {}", count(self.shards.len(), "shard")));
        Ok(Outcome::Success)
    }
}
