//! An index that is searched while it is brought up to date.
//!
//! One at a time reads what is new and adds it in parts, for each of which searches wait a millisecond; then all of it
//! is shown at once. Who makes a change adds what is new before the change is made, so that there is nothing left to read when
//! searches must see it.

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Gone, SearchIndex};

/// An index and the change that it reflects, by a number that only grows.
#[derive(Debug, Default)]
pub(crate) struct SharedIndex {
    state: RwLock<State>,
    /// Held by who brings it up to date.
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// None before there is an index.
    change: Option<u64>,
    index: SearchIndex,
}

/// The right to bring an index up to date.
pub(crate) struct Turn<'a> {
    shared: &'a SharedIndex,
    _guard: MutexGuard<'a, ()>,
}

/// Reads what an index does not have: told the greatest version that it has, it calls back with indexes of those that are
/// greater, in order, and answers which are gone.
pub(crate) trait Read<E>: FnOnce(i64, &mut dyn FnMut(SearchIndex)) -> Result<Gone, E> {}

impl<E, F: FnOnce(i64, &mut dyn FnMut(SearchIndex)) -> Result<Gone, E>> Read<E> for F {}

impl SharedIndex {
    /// Runs `search` over the index as of `change` or later. Where it is older, `read` says what is missing.
    pub(crate) fn search<T, E>(
        &self,
        change: u64,
        read: impl Read<E>,
        search: impl FnOnce(&SearchIndex) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut state = self.read();
        if !state.has(change) {
            drop(state);
            let turn = Turn { shared: self, _guard: self.turn.lock() };
            // Who had the turn before may have done it.
            if !self.read().has(change) {
                let gone = turn.add(read)?;
                turn.show(change, &gone);
            }
            state = self.read();
        }
        search(&state.index)
    }

    /// The turn, for who is about to make a change; none where there is no index yet.
    pub(crate) fn turn(&self) -> Option<Turn<'_>> {
        let guard = self.turn.try_lock()?;
        self.read().change.is_some().then_some(Turn { shared: self, _guard: guard })
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write()
    }
}

impl State {
    fn has(&self, change: u64) -> bool {
        self.change.is_some_and(|known| known >= change)
    }
}

impl Turn<'_> {
    /// Whether the index reflects this change and none after it.
    pub(crate) fn is_of(&self, change: u64) -> bool {
        self.shared.read().change == Some(change)
    }

    /// Adds what `read` reads, out of sight, and answers which versions are gone.
    pub(crate) fn add<E>(&self, read: impl Read<E>) -> Result<Gone, E> {
        let mut state = self.shared.write();
        // A change that was not made after all.
        state.index.forget();
        let last_version = state.index.last_version();
        drop(state);
        read(last_version, &mut |part| self.shared.write().index.append(part))
    }

    /// Shows what was added, once `change` is made. What is gone is taken out beside searches, now and then.
    pub(crate) fn show(&self, change: u64, gone: &Gone) {
        {
            let mut state = self.shared.write();
            state.index.show(gone);
            state.change = Some(change);
        }
        let state = self.shared.read();
        if state.index.is_fragmented() {
            let index = state.index.compacted();
            drop(state);
            // What was there is dropped when searches have the new one.
            let _worn = std::mem::replace(&mut self.shared.write().index, index);
        }
    }
}
