//! Serializes runs over one collection within a process. Changes by hand happen between the windows of a run; stores
//! keep the two apart by the versions of documents.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::Error;

/// Interval at which a waiting run checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The collections with a run in progress.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: HashSet<String>,
    /// Number of runs that wait, by collection.
    waiting: HashMap<String, usize>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    collection: String,
}

impl Turns {
    /// Waits for the turn of a collection; calls `on_wait` once if it has to wait.
    pub(crate) fn take(
        &self,
        collection: &str,
        cancel: &AtomicBool,
        on_wait: impl FnOnce(),
    ) -> Result<Turn<'_>, Error> {
        let mut on_wait = Some(on_wait);
        let mut state = self.state.lock();
        *state.waiting.entry(collection.to_owned()).or_default() += 1;
        while state.taken.contains(collection) && !cancel.load(Ordering::SeqCst) {
            if let Some(on_wait) = on_wait.take() {
                on_wait();
            }
            self.ended.wait_for(&mut state, LOOK);
        }
        if let Some(waiting) = state.waiting.get_mut(collection) {
            *waiting -= 1;
        }
        if state.taken.contains(collection) {
            return Err(Error::Cancelled);
        }
        state.taken.insert(collection.to_owned());
        Ok(Turn { turns: self, collection: collection.to_owned() })
    }

    /// Takes the turn of a collection if it is free and no other run waits for it.
    pub(crate) fn take_free(&self, collection: &str) -> Option<Turn<'_>> {
        let mut state = self.state.lock();
        let is_wanted = state.waiting.get(collection).is_some_and(|waiting| *waiting > 0);
        let is_free = !is_wanted && state.taken.insert(collection.to_owned());
        is_free.then(|| Turn { turns: self, collection: collection.to_owned() })
    }

    /// Returns whether a run waits for the turn of a collection.
    pub(crate) fn is_wanted(&self, collection: &str) -> bool {
        self.state.lock().waiting.get(collection).is_some_and(|waiting| *waiting > 0)
    }

    /// Returns whether a run over a collection is in progress.
    pub(crate) fn is_taken(&self, collection: &str) -> bool {
        self.state.lock().taken.contains(collection)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.state.lock().taken.remove(&self.collection);
        self.turns.ended.notify_all();
    }
}
