//! `chunkwright doctor`

use anyhow::Result;
use chunkwright_engine::{Access, Finding, State};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::keys::{KeyFlags, RerankerFlags, WriterFlags};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, green, plain, red, yellow};

/// Check the installation: models, tokenizers, store
///
/// Compares every installed model file with its hash, calls the configured services, and checks the store for damage.
/// Missing models are not a failure: the command that installs them is printed. Damage makes the exit status 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    reranker: RerankerFlags,
    #[command(flatten)]
    writer: WriterFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Doctor {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let flags: [&dyn KeyFlags; 3] = [&self.collection, &self.reranker, &self.writer];
        let findings = global.engine(&flags, Access::NoStore)?.doctor()?;
        results.list(&findings, describe)?;
        let damaged = findings.iter().any(|finding| finding.state == State::Damaged);
        Ok(if damaged { Outcome::Nothing } else { Outcome::Success })
    }
}

fn describe(findings: &[Finding]) -> String {
    let mut table = Table::new(["", "", "", ""]);
    for finding in findings {
        let state = match finding.state {
            State::Ok => green("ok"),
            State::Missing => yellow("missing"),
            State::Damaged => red("damaged"),
        };
        table.row([dim(finding.what), bold(&plain(&finding.name)), state, plain(&finding.note)]);
    }
    table.to_string()
}
