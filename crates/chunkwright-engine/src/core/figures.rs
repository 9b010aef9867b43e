//! Cached figures that are computed from all chunks of a generation.

use std::collections::HashMap;

use chunkwright_index::{Generation, GenerationStatus, Statistics};
use parking_lot::{Mutex, MutexGuard};

/// Figures computed from all chunks of a generation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) optimal_ratio: Option<f64>,
    pub(crate) disabled: usize,
    pub(crate) levels: Vec<(&'static str, usize)>,
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
    pub(crate) fn of(statistics: &Statistics) -> Self {
        let levels = statistics.levels.iter().map(|(level, chunks)| (level.as_str(), *chunks)).collect();
        Self { optimal_ratio: statistics.optimal_ratio, disabled: statistics.disabled, levels }
    }
}

fn key(generation: &Generation) -> (String, i64) {
    (generation.collection.clone(), generation.number)
}

impl KnownFigures {
    pub(crate) fn get(&self, generation: &Generation) -> Option<Figures> {
        self.lock().figures.get(&key(generation)).map(|(_, figures)| figures.clone())
    }

    /// Returns whether the cached figures are of the generation as it is.
    pub(crate) fn is_current(&self, status: &GenerationStatus) -> bool {
        self.lock().figures.get(&key(&status.generation)).is_some_and(|(change, _)| *change == status.change)
    }

    /// Caches figures, and drops those of other generations of the collection.
    pub(crate) fn put(&self, status: &GenerationStatus, figures: Figures) {
        let mut known = self.lock();
        let of @ (collection, _) = &key(&status.generation);
        known.figures.retain(|other, _| other.0 != *collection || other == of);
        known.figures.insert(of.clone(), (status.change, figures));
    }

    /// Returns whether the caller is to update figures: no other caller does. It calls [`Self::refreshed`] in the end.
    pub(crate) fn refresh(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_refreshing, true)
    }

    /// Lets the next caller update figures.
    pub(crate) fn refreshed(&self) {
        self.lock().is_refreshing = false;
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }
}
