//! Embeds in the background what was stored without vectors, until it must give way or has taken long enough.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_index::{DocumentInfo, FillReport, IndexOptions, Progress};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::noun::vectors::Effort;
use crate::request::task::Task;
use crate::work::index::Indexer;

/// Chunks of the documents that are chosen together, before it is looked at what is urgent now.
const MOST_CHUNKS: usize = 32;

/// How embedding in the background ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Filled {
    /// Nothing is left that could be embedded.
    Done,
    /// A run over the collection is in progress, or another one waits, or the caller stopped it.
    GaveWay,
    /// It has taken as long as the settings allow.
    Limit,
    /// The embedder failed.
    Failed {
        /// Its error.
        message: String,
    },
}

impl Indexer {
    /// Embeds what has no vector yet: documents that searches found first, then those that changed last. It gives way
    /// to runs over the collection, and stops at [`embed_minutes`](crate::Settings::embed_minutes). `asked` is how often
    /// searches of another process found documents.
    ///
    /// # Errors
    ///
    /// A model that is missing, a store that fails.
    pub(crate) fn fill(
        &self,
        asked: &BTreeMap<String, u64>,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<Filled, Error> {
        let (engine, name) = (self.collection().engine(), self.collection().name());
        if let Some(owner) = self.owner()? {
            let asked = engine.asked().take(name);
            let (collection, request) = (name.to_owned(), self.request().clone());
            return engine.through(&owner, Task::Fill { collection, request, asked }, on_progress);
        }
        for (doc_id, times) in asked {
            engine.asked().add(name, doc_id, *times);
        }
        let work = self.work()?;
        let Some(model) = work.model.clone() else { return Ok(Filled::Done) };
        let of = (name, model.as_str());
        let most_ms = engine.settings().embed_minutes.saturating_mul(60_000);
        let mut tried = HashSet::new();
        loop {
            let asked = engine.asked().of(name);
            let rank = |info: &DocumentInfo| asked.get(&info.doc_id).copied().unwrap_or(0);
            let Some(_turn) = engine.free_turn(name) else { return Ok(Filled::GaveWay) };
            let is_over = Effort::of(engine, name, &model).spent_ms() >= most_ms;
            let most = if is_over { 0 } else { MOST_CHUNKS };
            let stop = Arc::new(AtomicBool::new(false));
            let options = IndexOptions { cancel: Some(Arc::clone(&stop)), ..self.options(work) };
            let told = |progress: Progress<'_>| {
                on_progress(progress);
                if engine.is_turn_wanted(name) || engine.check_cancelled().is_err() {
                    stop.store(true, Ordering::SeqCst);
                }
            };
            let report = work.pipeline.fill((&rank, most), &tried, &options, &told)?;
            match report {
                FillReport { waiting: 0, .. } => {
                    Effort::end(engine, of)?;
                    return Ok(Filled::Done);
                }
                _ if is_over => return Ok(Filled::Limit),
                FillReport { embedded: 0, error: Some(message), .. } => {
                    return Ok(Filled::Failed { message });
                }
                _ => {}
            }
            Effort::add(engine, of, report.embedded, report.nanos / 1_000_000)?;
            engine.check_cancelled()?;
            if report.cancelled {
                return Ok(Filled::GaveWay);
            }
            tried.extend(report.tried);
        }
    }
}
