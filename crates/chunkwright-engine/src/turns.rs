//! Whose turn is it? Runs over one collection in one process follow one another; changes by hand go between the windows
//! of a run, which stores keep apart by the versions of documents.

use parking_lot::{Condvar, Mutex};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::Error;

/// How often one that waits looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(50);

/// The collections that are being run over.
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
    /// Waits for the turn of a collection; calls `on_wait` once if it has to.
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

    /// Whether a collection is being run over.
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
