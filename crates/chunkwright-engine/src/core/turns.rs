//! Serializes runs over one collection within a process. Changes by hand happen between the windows of a run; stores
//! keep the two apart by the versions of documents.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::Error;

/// Interval at which a waiting run checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The collections with a run in progress.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: Mutex<HashSet<String>>,
    ended: Condvar,
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
        let mut taken = self.taken.lock();
        while taken.contains(collection) {
            if cancel.load(Ordering::SeqCst) {
                return Err(Error::Cancelled);
            }
            if let Some(on_wait) = on_wait.take() {
                on_wait();
            }
            self.ended.wait_for(&mut taken, LOOK);
        }
        taken.insert(collection.to_owned());
        Ok(Turn { turns: self, collection: collection.to_owned() })
    }

    /// Returns whether a run over a collection is in progress.
    pub(crate) fn is_taken(&self, collection: &str) -> bool {
        self.taken.lock().contains(collection)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.taken.lock().remove(&self.collection);
        self.turns.ended.notify_all();
    }
}
