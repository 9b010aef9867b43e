//! An index that can be searched while it is updated.
//!
//! One thread at a time reads new versions and adds them in parts, each of which delays searches by about a
//! millisecond; then all of them become visible at once. A writer adds its versions before it commits, so that no
//! reading is left when searches must see the change.

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Gone, SearchIndex};

/// An index and the change that it reflects, by a number that only grows.
#[derive(Debug, Default)]
pub(crate) struct SharedIndex {
    state: RwLock<State>,
    /// Held by the thread that updates the index.
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` before there is an index.
    change: Option<u64>,
    index: SearchIndex,
}

/// The exclusive right to update an index.
pub(crate) struct Turn<'a> {
    shared: &'a SharedIndex,
    _guard: MutexGuard<'a, ()>,
}

/// Reads what an index lacks: given its greatest version, it calls back with indexes of greater versions, in order, and
/// returns which versions are gone.
pub(crate) trait Read<E>: FnOnce(i64, &mut dyn FnMut(SearchIndex)) -> Result<Gone, E> {}

impl<E, F: FnOnce(i64, &mut dyn FnMut(SearchIndex)) -> Result<Gone, E>> Read<E> for F {}

impl SharedIndex {
    /// Runs `search` over the index as of `change` or later. If the index is older, `read` supplies what is missing.
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
            // The previous holder of the turn may have done it.
            if !self.read().has(change) {
                let gone = turn.add(read)?;
                turn.show(change, &gone);
            }
            state = self.read();
        }
        search(&state.index)
    }

    /// The turn, for a thread that is about to make a change; `None` if there is no index yet.
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
    /// Returns whether the index reflects exactly this change.
    pub(crate) fn is_of(&self, change: u64) -> bool {
        self.shared.read().change == Some(change)
    }

    /// Adds what `read` reads, hidden, and returns which versions are gone.
    pub(crate) fn add<E>(&self, read: impl Read<E>) -> Result<Gone, E> {
        let mut state = self.shared.write();
        // Left over from a change that was not committed.
        state.index.forget();
        let last_version = state.index.last_version();
        drop(state);
        read(last_version, &mut |part| self.shared.write().index.append(part))
    }

    /// Shows what was added, once `change` is committed. Now and then compacts away what is gone, while searches
    /// continue.
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
            // The old index is dropped after searches have the new one.
            let _worn = std::mem::replace(&mut self.shared.write().index, index);
        }
    }
}
