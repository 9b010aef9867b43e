//! Cached figures that are computed from all chunks of a generation, and the thread that updates them.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::thread;

use chunkwright_index::{Generation, GenerationStatus, Statistics};

use crate::engine::Engine;

/// Figures computed from all chunks of a generation.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) optimal_ratio: Option<f64>,
    pub(super) disabled: usize,
    pub(super) levels: Vec<(&'static str, usize)>,
}

/// Cached figures by generation.
#[derive(Debug, Default)]
pub(crate) struct KnownFigures(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The figures and the change counter they were computed at, by collection and generation number.
    figures: HashMap<(String, i64), (u64, Figures)>,
    /// Whether an update thread runs.
    is_refreshing: bool,
}

impl Figures {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let levels = statistics.levels.iter().map(|(level, chunks)| (level.as_str(), *chunks)).collect();
        Self { optimal_ratio: statistics.optimal_ratio, disabled: statistics.disabled, levels }
    }
}

fn key(generation: &Generation) -> (String, i64) {
    (generation.collection.clone(), generation.number)
}

impl KnownFigures {
    pub(super) fn get(&self, generation: &Generation) -> Option<Figures> {
        self.lock().figures.get(&key(generation)).map(|(_, figures)| figures.clone())
    }

    /// Returns whether the cached figures are of the generation as it is.
    pub(super) fn is_current(&self, status: &GenerationStatus) -> bool {
        self.lock().figures.get(&key(&status.generation)).is_some_and(|(change, _)| *change == status.change)
    }

    /// Caches figures, and drops those of other generations of the collection.
    pub(super) fn put(&self, status: &GenerationStatus, figures: Figures) {
        let mut known = self.lock();
        let of @ (collection, _) = &key(&status.generation);
        known.figures.retain(|other, _| other.0 != *collection || other == of);
        known.figures.insert(of.clone(), (status.change, figures));
    }

    /// Updates figures on a background thread, one generation after another, unless an update is running. Generations
    /// that cannot be read are tried again next time.
    pub(super) fn refresh(&self, engine: &Engine, stale: &[GenerationStatus]) {
        if stale.is_empty() || std::mem::replace(&mut self.lock().is_refreshing, true) {
            return;
        }
        let (own, stale) = (engine.weak(), stale.to_vec());
        let refresh = move || {
            for status in &stale {
                let Some(engine) = own.upgrade() else { return };
                if engine.check_cancelled().is_err() {
                    break;
                }
                if let Err(error) = engine.measure(status) {
                    tracing::debug!(%error, generation = %status.generation, "its metrics could not be read");
                }
            }
            if let Some(engine) = own.upgrade() {
                engine.figures().lock().is_refreshing = false;
            }
        };
        if let Err(error) = thread::Builder::new().name("metrics".into()).spawn(refresh) {
            tracing::warn!(%error, "no thread could be started for metrics");
            self.lock().is_refreshing = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }
}
