//! `chunkwright doctor`

use anyhow::Result;
use chunkwright::STRATEGIES;
use chunkwright_index::{Access, StoreError};
use chunkwright_models::{COUNTERS, ModelState, verify};
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::services::{RerankerFlags, WriterFlags};
use crate::settings::{Kind, Settings};
use crate::text::{Table, bold, dim, green, plain, red, yellow};

/// Check the installation: models, tokenizers, store
///
/// Reads every installed model file and compares it with its hash, asks the services that are configured,
/// and looks through the store for damage. What is missing is no failure: the command that installs it is printed. Damage makes the exit
/// status 1.
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

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    name: String,
    state: State,
    /// What is there, or what would be right.
    note: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Missing,
    Damaged,
}

impl Doctor {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection, &self.reranker, &self.writer])?;
        let data_dir = app::data_dir(&settings)?;
        let mut findings = vec![finding("program", "chunkwright", State::Ok, env!("CARGO_PKG_VERSION"))];
        for strategy in STRATEGIES {
            let (major, minor) = strategy.version();
            findings.push(finding("strategy", strategy.name(), State::Ok, format!("v{major}.{minor}, {}", strategy.summary())));
        }
        let state = if data_dir.is_dir() { State::Ok } else { State::Missing };
        findings.push(finding("data", &data_dir.display().to_string(), state, "models and the default store; made when it is needed"));
        for status in verify(&data_dir) {
            let model = status.model;
            let install = format!("`cargo xtask setup --models {}` installs it", model.name);
            let (state, note) = match status.state {
                ModelState::Installed => (State::Ok, model.summary.to_owned()),
                ModelState::Missing => (State::Missing, format!("{}; {install}", model.summary)),
                ModelState::Damaged(problem) => (State::Damaged, format!("{problem}; {install} again")),
                _ => (State::Damaged, install),
            };
            findings.push(finding("model", model.name, state, note));
        }
        let (state, note) = match (settings.embedder.as_deref(), app::embedder(&settings)) {
            (Some("none"), _) => (State::Ok, "search is by words only, as configured".to_owned()),
            (_, Ok(Some(embedder))) => (State::Ok, embedder.model().name.clone()),
            (_, Ok(None)) => (State::Missing, "no model is installed: search is by words only".to_owned()),
            (_, Err(error)) => (State::Damaged, format!("{error:#}")),
        };
        findings.push(finding("embedder", settings.embedder.as_deref().unwrap_or("default"), state, note));
        findings.extend(reranker(&settings));
        findings.extend(writer(&settings));
        for counter in COUNTERS {
            let made = chunkwright_models::counter(counter.name, &data_dir);
            let (state, note) = match made {
                Ok(_) => (State::Ok, counter.summary.to_owned()),
                Err(error) => (State::Missing, error.to_string()),
            };
            findings.push(finding("tokenizer", counter.name, state, note));
        }
        let place = app::store_name(&settings)?;
        match app::store(&settings, Access::Read).and_then(|store| Ok(store.check()?)) {
            Ok(report) if report.problems.is_empty() => {
                let note = format!("{} documents, {} chunks, sound", report.documents, report.chunks);
                findings.push(finding("store", &place, State::Ok, note));
            }
            Ok(report) => {
                for problem in report.problems {
                    findings.push(finding("store", &place, State::Damaged, problem));
                }
            }
            Err(error) => {
                let missing = matches!(error.downcast_ref(), Some(StoreError::Missing { .. }));
                let state = if missing { State::Missing } else { State::Damaged };
                findings.push(finding("store", &place, state, format!("{error:#}")));
            }
        }
        let mut output = self.output.open()?;
        if output.is_text() {
            output.text(&describe(&findings))?;
        } else {
            findings.iter().try_for_each(|finding| output.object(finding))?;
        }
        output.end_list()?;
        output.finish()?;
        let damaged = findings.iter().any(|finding| finding.state == State::Damaged);
        Ok(if damaged { Outcome::Nothing } else { Outcome::Success })
    }
}

/// Whether the reranker that is configured answers; nothing if none is.
fn reranker(settings: &Settings) -> Option<Finding> {
    let name = settings.service(Kind::Reranker)?.spec;
    let asked = app::reranker(settings).and_then(|reranker| match reranker {
        Some(reranker) => Ok(reranker.rerank("a question", &["an answer"]).map(|_| reranker.name().to_owned())?),
        None => Ok(String::new()),
    });
    Some(match asked {
        Ok(answered) => finding("reranker", &name, State::Ok, answered),
        Err(error) => finding("reranker", &name, State::Damaged, format!("{error:#}")),
    })
}

/// Whether the writer that is configured answers and has the model; nothing if none is. Nothing is written.
fn writer(settings: &Settings) -> Option<Finding> {
    let name = settings.service(Kind::Writer)?.spec;
    let asked = app::writer(settings).and_then(|writer| Ok(writer.map(|writer| writer.check()).transpose()?));
    Some(match asked.map(Option::flatten) {
        Ok(Some(true)) => finding("writer", &name, State::Ok, "the service answers and has the model"),
        Ok(None) => finding("writer", &name, State::Ok, "the service answers; it does not list its models"),
        Ok(Some(false)) => finding("writer", &name, State::Damaged, "the service does not list this model"),
        Err(error) => finding("writer", &name, State::Damaged, format!("{error:#}")),
    })
}

fn finding(what: &'static str, name: &str, state: State, note: impl Into<String>) -> Finding {
    Finding { what, name: name.to_owned(), state, note: note.into() }
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
