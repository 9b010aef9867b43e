//! `chunkwright check`

use anyhow::Result;
use chunkwright_engine::{Access, CheckReport};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{count, plain, red};

/// Verify everything in the store
///
/// Runs the checks of the storage engine, then verifies every document: its text is that of its file; its chunks hold
/// every visible byte once, in order; their lines, characters, counts, paths, parents, neighbours, texts and ids
/// follow from the text; their terms are indexed, including changes made by hand; vectors belong to their texts and
/// have length 1. With --collection, of the documents those of that collection only. The exit status is 1 if a problem
/// is found.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Check {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let named = self.collection.is_named().then(|| engine.settings().collection.as_str());
        let report = engine.check(named)?;
        results.only(&report, describe)?;
        Ok(if report.problems.is_empty() { Outcome::Success } else { Outcome::Nothing })
    }
}

fn describe(report: &CheckReport) -> String {
    let problems = report.problems.iter().map(|problem| format!("{} {}\n", red("problem"), plain(problem)));
    let (documents, chunks) = (count(report.documents, "document"), count(report.chunks, "chunk"));
    let verdict = if report.problems.is_empty() { "sound" } else { "damaged" };
    format!("{}{documents}, {chunks}: {verdict}\n", problems.collect::<String>())
}
