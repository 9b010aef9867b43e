//! Work in parallel, results in order, memory bounded.
//!
//! A work-stealing pool gives either order or a bound on waiting results, not both, so this module has its own: workers
//! take items in order, results wait for their turn, and no new item is begun while more than [`BUDGET`] bytes of
//! results wait.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::thread;

/// Bytes of results that may wait for their turn, in addition to those in progress.
const BUDGET: usize = 32 << 20;

/// Calls `work` on every item, on `threads` threads, and `emit` on every result, on this thread and in the order of the
/// items. `size` returns the bytes that a result holds.
///
/// # Errors
///
/// The first error of `emit`, which ends the work early.
pub fn ordered<I: Sync, T: Send, E>(
    threads: usize,
    items: &[I],
    work: impl Fn(&I) -> T + Sync,
    size: impl Fn(&T) -> usize + Sync,
    mut emit: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().try_for_each(|item| emit(work(item)));
    }
    let shared = Shared {
        state: Mutex::new(State { next: 0, waiting: BTreeMap::new(), held: 0, stop: false }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        // A thread that leaves early, by an error or a panic, stops the others, or they would wait for ever.
        let _stop = StopOnDrop { shared: &shared, only_on_panic: false };
        for _ in 0..threads {
            scope.spawn(|| {
                let _stop = StopOnDrop { shared: &shared, only_on_panic: true };
                while let Some(index) = shared.take(items.len()) {
                    let result = work(&items[index]);
                    shared.put(index, size(&result), result);
                }
            });
        }
        for index in 0..items.len() {
            let Some((size, result)) = shared.wait_for(index) else { break };
            emit(result)?;
            shared.release(size);
        }
        Ok(())
    })
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The item that is begun next.
    next: usize,
    /// Results whose turn has not come, with their sizes.
    waiting: BTreeMap<usize, (usize, T)>,
    /// Bytes of results that are not yet emitted.
    held: usize,
    stop: bool,
}

impl<T> Shared<T> {
    /// The next item to work on. Waits while too much is held; the result whose turn it is was begun
    /// before, so the wait ends.
    fn take(&self, items: usize) -> Option<usize> {
        let too_much = |state: &mut State<T>| state.held > BUDGET && !state.stop;
        let mut state = self.lock();
        self.changed.wait_while(&mut state, too_much);
        if state.stop || state.next >= items {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, index: usize, size: usize, result: T) {
        let mut state = self.lock();
        state.held += size;
        state.waiting.insert(index, (size, result));
        self.changed.notify_all();
    }

    fn wait_for(&self, index: usize) -> Option<(usize, T)> {
        let missing = |state: &mut State<T>| !state.waiting.contains_key(&index) && !state.stop;
        let mut state = self.lock();
        self.changed.wait_while(&mut state, missing);
        state.waiting.remove(&index)
    }

    fn release(&self, size: usize) {
        self.lock().held -= size;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }
}

struct StopOnDrop<'a, T> {
    shared: &'a Shared<T>,
    only_on_panic: bool,
}

impl<T> Drop for StopOnDrop<'_, T> {
    fn drop(&mut self) {
        if !self.only_on_panic || thread::panicking() {
            self.shared.lock().stop = true;
            self.shared.changed.notify_all();
        }
    }
}
