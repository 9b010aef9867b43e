//! Keeps a served folder searchable at once: words first, with the vectors of a fast model where one is installed, and
//! the vectors of the best model behind them.
//!
//! Which models those are is chosen here for the store of a folder that was served without any set-up. In any other
//! store the model is that of the settings, or the one that the collection has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_index::{Embed, Model, Progress};
use chunkwright_models::EMBEDDERS;
use serde_json::Value;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::noun::collection::Collection;
use crate::noun::vectors::behind;
use crate::request::index::{IndexAnswer, IndexRequest};
use crate::work::fill::Filled;
use crate::work::index::Indexer;

/// Documents whose text tells whether a model reads a folder.
const SAMPLE: usize = 200;

/// Bytes of the text of each.
const SAMPLE_BYTES: usize = 2_000;

/// What a collection is indexed by while it is served.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) collection: Collection,
    pub(crate) request: IndexRequest,
    pub(crate) models: Models,
}

/// What chooses the models of a collection that is served while it is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Models {
    /// The settings, or what the collection has.
    OfSettings,
    /// The best that is installed, unless the settings name one.
    Best,
}

/// The models of a run, by the names that settings use; `None` for that of the settings.
struct Stages {
    /// The fast one, whose vectors are there at once.
    helper: Option<&'static str>,
    /// The one whose vectors are added behind.
    goal: Option<&'static str>,
}

impl Served {
    /// Brings the collection to the state of the files, up to the vectors that take long.
    pub(crate) fn run(&self, on_progress: &dyn Fn(Progress<'_>)) -> Result<IndexAnswer, Error> {
        let Stages { helper, goal } = self.stages()?;
        let Some(helper) = helper else { return self.indexer(goal, Embed::Later)?.run(on_progress) };
        let answer = self.indexer(Some(helper), Embed::Now)?.run(on_progress)?;
        let embed = if self.is_read_by(helper)? { Embed::Behind } else { Embed::Later };
        let behind = self.indexer(goal, embed)?.run(on_progress)?;
        Ok(if behind.report.switched.is_some() { behind } else { answer })
    }

    /// Embeds what waits for vectors, until `is_stopped`. Where every chunk has one then, searches see them.
    pub(crate) fn fill(&self, is_stopped: &dyn Fn() -> bool) -> Result<Filled, Error> {
        let goal = self.stages()?.goal;
        let stop = Arc::new(AtomicBool::new(false));
        let engine = self.engine_by(goal)?.stopped_by(Arc::clone(&stop));
        let indexer = self.on(&engine, Embed::Later)?;
        let told = |_: Progress<'_>| {
            if is_stopped() {
                stop.store(true, Ordering::SeqCst);
            }
        };
        let filled = match indexer.fill(&BTreeMap::new(), &told) {
            Err(Error::Cancelled) => Filled::GaveWay,
            filled => filled?,
        };
        if filled == Filled::Done && self.is_behind()? {
            self.indexer(goal, Embed::Later)?.run(&|_| {})?;
        }
        Ok(filled)
    }

    /// Returns whether another generation than the one that searches see has the vectors.
    fn is_behind(&self) -> Result<bool, Error> {
        let store = self.collection.engine().store()?;
        let Some(visible) = store.lookup(self.collection.name())? else { return Ok(false) };
        Ok(behind(&*store, &visible)?.is_some())
    }

    fn stages(&self) -> Result<Stages, Error> {
        let engine = self.collection.engine();
        if self.models == Models::OfSettings || engine.chooses_embedder() {
            return Ok(Stages { helper: None, goal: None });
        }
        let current = engine.store()?.lookup(self.collection.name())?;
        let model = current.as_ref().and_then(|current| current.spec.model.as_ref());
        let mut installed = EMBEDDERS.iter().filter(|info| engine.is_installed(info.name));
        let Some(best) = installed.next() else {
            // Where the model was removed, words are better than an index that is never up to date again.
            let is_missing = model.is_some() && engine.embedder_of(model)?.is_none();
            return Ok(Stages { helper: None, goal: is_missing.then_some("none") });
        };
        let is_there = |model: &Model| model.name == best.vectors;
        let helper =
            installed.find(|info| info.is_fast).filter(|_| !best.is_fast && !model.is_some_and(is_there));
        Ok(Stages { helper: helper.map(|info| info.name), goal: Some(best.name) })
    }

    /// Returns whether a model reads most of what is stored.
    fn is_read_by(&self, helper: &str) -> Result<bool, Error> {
        let store = self.collection.engine().store()?;
        let Some(visible) = store.lookup(self.collection.name())? else { return Ok(true) };
        let reads = EMBEDDERS.iter().find(|info| info.name == helper).map(|info| info.reads);
        let documents = store.documents(&visible)?;
        let step = documents.len().div_ceil(SAMPLE).max(1);
        let mut text = String::new();
        for info in documents.iter().step_by(step) {
            let Some(document) = store.document(&visible, &info.doc_id)? else { continue };
            let end = document.source.floor_char_boundary(SAMPLE_BYTES);
            text.push_str(&document.source[..end]);
        }
        Ok(reads.is_none_or(|reads| reads.share_of(&text) >= 0.5))
    }

    /// The indexer by a model.
    fn indexer(&self, model: Option<&str>, embed: Embed) -> Result<Indexer, Error> {
        self.on(&self.engine_by(model)?, embed)
    }

    fn on(&self, engine: &Engine, embed: Embed) -> Result<Indexer, Error> {
        engine.collection(self.collection.name()).indexer(IndexRequest { embed, ..self.request.clone() })
    }

    /// The engine with a model in place of that of the settings.
    fn engine_by(&self, model: Option<&str>) -> Result<Engine, Error> {
        let engine = self.collection.engine();
        let Some(model) = model else { return Ok(engine.clone()) };
        let settings = engine.settings().with([("embedder".to_owned(), Value::String(model.to_owned()))])?;
        Ok(engine.with(settings, engine.cancel_flag()))
    }
}
