//! Work in parallel, results in order, memory bounded.
//!
//! A work-stealing pool gives either order or a bound on waiting results, not both, so this module has its own: workers
//! take items in order, results wait for their turn, and no new item is begun while more than [`BUDGET`] bytes of
//! results wait. A result may come in parts, which are emitted while its item is still worked on once it is its turn.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::thread;

/// Bytes of results that may wait for their turn, in addition to those in progress.
const BUDGET: usize = 8 << 20;

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
    emit: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let work = |item: &I, part: &mut dyn FnMut(T) -> bool| {
        part(work(item));
    };
    ordered_parts(threads, items, work, size, emit)
}

/// As [`ordered`], with results in parts: `work` passes them on one by one, and may stop when it is told `false`,
/// because no more are wanted.
///
/// # Errors
///
/// The first error of `emit`, which ends the work early.
pub fn ordered_parts<I: Sync, T: Send, E>(
    threads: usize,
    items: &[I],
    work: impl Fn(&I, &mut dyn FnMut(T) -> bool) + Sync,
    size: impl Fn(&T) -> usize + Sync,
    mut emit: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().try_for_each(|item| {
            let mut result = Ok(());
            work(item, &mut |part| {
                if result.is_ok() {
                    result = emit(part);
                }
                result.is_ok()
            });
            result
        });
    }
    let shared = Shared {
        state: Mutex::new(State { next: 0, turn: 0, waiting: BTreeMap::new(), held: 0, stop: false }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        // A thread that leaves early, by an error or a panic, stops the others, or they would wait for ever.
        let _stop = StopOnDrop { shared: &shared, only_on_panic: false };
        for _ in 0..threads {
            scope.spawn(|| {
                let _stop = StopOnDrop { shared: &shared, only_on_panic: true };
                while let Some(index) = shared.take(items.len()) {
                    work(&items[index], &mut |part| shared.put(index, size(&part), part));
                    shared.end(index);
                }
            });
        }
        while let Some((size, part)) = shared.wait(items.len()) {
            emit(part)?;
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
    /// The item whose parts are emitted.
    turn: usize,
    /// What was begun and is not emitted yet.
    waiting: BTreeMap<usize, Parts<T>>,
    /// Bytes of parts that are not yet emitted.
    held: usize,
    stop: bool,
}

/// The parts of a result.
struct Parts<T> {
    /// Those that wait, with their sizes.
    waiting: VecDeque<(usize, T)>,
    /// Whether there will be no more.
    is_whole: bool,
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
        let index = state.next;
        state.next += 1;
        state.waiting.insert(index, Parts { waiting: VecDeque::new(), is_whole: false });
        Some(index)
    }

    /// Adds a part; returns whether more are wanted. Waits while too much is held, unless nothing but this part can be
    /// emitted.
    fn put(&self, index: usize, size: usize, part: T) -> bool {
        let mut state = self.lock();
        self.changed.wait_while(&mut state, |state| {
            let is_next = state.turn == index && state.parts(index).waiting.is_empty();
            state.held > BUDGET && !is_next && !state.stop
        });
        state.held += size;
        state.parts(index).waiting.push_back((size, part));
        self.changed.notify_all();
        !state.stop
    }

    fn end(&self, index: usize) {
        self.lock().parts(index).is_whole = true;
        self.changed.notify_all();
    }

    /// The next part to emit; `None` after the last.
    fn wait(&self, items: usize) -> Option<(usize, T)> {
        let mut state = self.lock();
        while !state.stop && state.turn < items {
            let turn = state.turn;
            match state.waiting.get_mut(&turn) {
                Some(parts) if !parts.waiting.is_empty() => return parts.waiting.pop_front(),
                Some(parts) if parts.is_whole => {
                    state.waiting.remove(&turn);
                    state.turn += 1;
                    // The next item may be waiting for its turn.
                    self.changed.notify_all();
                }
                _ => self.changed.wait(&mut state),
            }
        }
        None
    }

    fn release(&self, size: usize) {
        self.lock().held -= size;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }
}

impl<T> State<T> {
    /// The parts of an item that was begun.
    fn parts(&mut self, index: usize) -> &mut Parts<T> {
        self.waiting.get_mut(&index).expect("an item that was begun waits until its last part is emitted")
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
