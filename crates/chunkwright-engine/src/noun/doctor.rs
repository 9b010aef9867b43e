//! Diagnoses an installation: models, services and the store.

use chunkwright::STRATEGIES;
use chunkwright_index::{Access, StoreError, open_store};
use chunkwright_models::{COUNTERS, ModelState, verify};

use crate::core::engine::Engine;
use crate::core::models;
use crate::error::Error;
use crate::request::doctor::{Finding, State};
use crate::settings::Kind;

impl Engine {
    /// Checks models, tokenizers, services and the store: compares every installed file with its hash, and calls the
    /// configured services.
    ///
    /// # Errors
    ///
    /// A user without a home folder, a store whose place cannot be told.
    pub fn doctor(&self) -> Result<Vec<Finding>, Error> {
        let data_dir = self.data_dir()?;
        let mut findings = vec![finding("program", "chunkwright", State::Ok, env!("CARGO_PKG_VERSION"))];
        for strategy in STRATEGIES {
            let (major, minor) = strategy.version();
            let note = format!("v{major}.{minor}, {}", strategy.summary());
            findings.push(finding("strategy", strategy.name(), State::Ok, note));
        }
        let state = if data_dir.is_dir() { State::Ok } else { State::Missing };
        let note = "models and the default store; created when needed";
        findings.push(finding("data", &data_dir.display().to_string(), state, note));
        for status in verify(&data_dir) {
            let model = status.model;
            let install = format!("run `chunkwright models install {}`", model.name);
            let (state, note) = match status.state {
                ModelState::Installed => (State::Ok, model.summary.to_owned()),
                ModelState::Missing => (State::Missing, format!("{}; {install}", model.summary)),
                ModelState::Damaged(problem) => (State::Damaged, format!("{problem}; {install}")),
                _ => (State::Damaged, install),
            };
            findings.push(finding("model", model.name, state, note));
        }
        findings.push(self.embedder_found());
        findings.extend(self.reranker_found());
        findings.extend(self.writer_found());
        for counter in COUNTERS {
            let (state, note) = match chunkwright_models::counter(counter.name, &data_dir) {
                Ok(_) => (State::Ok, counter.summary.to_owned()),
                Err(error) => (State::Missing, error.to_string()),
            };
            findings.push(finding("tokenizer", counter.name, state, note));
        }
        findings.extend(self.store_found()?);
        Ok(findings)
    }

    fn embedder_found(&self) -> Finding {
        let configured = self.settings().embedder.as_deref();
        let (state, note) = match (configured, self.embedder()) {
            (Some("none"), _) => (State::Ok, "search is lexical only, as configured".to_owned()),
            (_, Ok(Some(embedder))) => (State::Ok, embedder.model().name.clone()),
            (_, Ok(None)) => (State::Missing, "no model is installed: search is lexical only".to_owned()),
            (_, Err(error)) => (State::Damaged, error.to_string()),
        };
        finding("embedder", configured.unwrap_or("default"), state, note)
    }

    /// Checks whether the configured reranker answers; `None` if none is configured.
    fn reranker_found(&self) -> Option<Finding> {
        let name = self.settings().service_spec(Kind::Reranker)?;
        let asked = self.reranker().and_then(|reranker| match reranker {
            Some(reranker) => {
                Ok(reranker.rerank("a question", &["an answer"]).map(|_| reranker.name().to_owned())?)
            }
            None => Ok(String::new()),
        });
        Some(match asked {
            Ok(answered) => finding("reranker", &name, State::Ok, answered),
            Err(error) => finding("reranker", &name, State::Damaged, error.to_string()),
        })
    }

    /// Checks whether the configured writer answers and has the model, without generating text; `None` if none is
    /// configured.
    fn writer_found(&self) -> Option<Finding> {
        let name = self.settings().service_spec(Kind::Writer)?;
        let asked = self.writer().and_then(|writer| Ok(writer.map(|writer| writer.check()).transpose()?));
        let (state, note) = match asked.map(Option::flatten) {
            Ok(Some(true)) => (State::Ok, "the service responds and has the model".to_owned()),
            Ok(None) => (State::Ok, "the service responds; it does not list its models".to_owned()),
            Ok(Some(false)) => (State::Damaged, "the service does not list this model".to_owned()),
            Err(error) => (State::Damaged, error.to_string()),
        };
        Some(finding("writer", &name, state, note))
    }

    fn store_found(&self) -> Result<Vec<Finding>, Error> {
        let place = models::place(self.settings())?;
        let name = place.address();
        let store = |state, note: String| finding("store", &name, state, note);
        let checked = open_store(&place, Access::Read).and_then(|store| store.check());
        Ok(match checked {
            Ok(report) if report.problems.is_empty() => {
                let note = format!("{} documents, {} chunks, sound", report.documents, report.chunks);
                vec![store(State::Ok, note)]
            }
            Ok(report) => report.problems.into_iter().map(|problem| store(State::Damaged, problem)).collect(),
            Err(error) => {
                let is_missing = matches!(error, StoreError::Missing { .. });
                let state = if is_missing { State::Missing } else { State::Damaged };
                vec![store(state, error.to_string())]
            }
        })
    }
}

fn finding(what: &'static str, name: &str, state: State, note: impl Into<String>) -> Finding {
    Finding { what, name: name.to_owned(), state, note: note.into() }
}
