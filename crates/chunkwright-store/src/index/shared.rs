//! An index that can be searched while it is updated.
//!
//! One thread at a time reads new versions and adds them in parts, each of which delays searches by about a
//! millisecond; then all of them become visible at once. A writer adds its versions before it commits, so that no
//! reading is left when searches must see the change.
//!
//! Searches wait while rows that were persisted meanwhile are exchanged for those that were in memory.

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Decided, Gone, SearchIndex};

/// An index and what it reflects.
#[derive(Debug, Default)]
pub(crate) struct SharedIndex {
    state: RwLock<State>,
    /// Held by the thread that updates the index.
    turn: Mutex<()>,
}

/// The persisted part of an index in a snapshot; by default, none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Another number for rows that do not continue those before.
    pub(crate) epoch: i64,
    /// Grows with every change of what is persisted.
    pub(crate) revision: i64,
    /// Number of persisted rows.
    pub(crate) rows: u32,
}

impl Coverage {
    /// The same moment, of which nothing is used.
    pub(crate) fn unused(self) -> Self {
        Self { revision: self.revision, ..Self::default() }
    }
}

/// The state of a generation in a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The number of its last change.
    pub(crate) change: u64,
    pub(crate) persisted: Coverage,
}

#[derive(Debug, Default)]
struct State {
    /// `None` before there is an index, and while its rows are exchanged.
    change: Option<u64>,
    persisted: Coverage,
    index: SearchIndex,
    decided: Decided,
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
    /// Runs `search` over the index as of the change of `stamp` or later, with the same persisted rows, and what is decided
    /// over it if it is of that change. If the index is older, `update` makes it that. `None` if the index has rows on disk that the snapshot of `stamp` does not know.
    pub(crate) fn search<T, E>(
        &self,
        stamp: Stamp,
        update: impl FnOnce(&Turn<'_>) -> Result<Gone, E>,
        search: impl FnOnce(&SearchIndex, Option<&Decided>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let mut state = self.read();
        if !state.has(stamp) {
            drop(state);
            let turn = Turn { shared: self, _guard: self.turn.lock() };
            // The previous holder of the turn may have done it.
            if !self.read().has(stamp) {
                if self.read().persisted.revision > stamp.persisted.revision {
                    return Ok(None);
                }
                let gone = update(&turn)?;
                turn.show(stamp.change, &gone);
            }
            state = self.read();
        }
        if state.persisted != stamp.persisted {
            return Ok(None);
        }
        // A later index has rows that the snapshot does not know.
        let decided = Some(&state.decided).filter(|_| state.change == Some(stamp.change));
        search(&state.index, decided).map(Some)
    }

    /// What `read` reads of the index as of exactly this change; `None` if it is of another.
    pub(crate) fn at<T>(&self, change: u64, read: impl FnOnce(&SearchIndex) -> T) -> Option<T> {
        let state = self.read();
        (state.change == Some(change)).then(|| read(&state.index))
    }

    /// The turn, for a thread that is about to make a change; `None` if there is no index yet.
    pub(crate) fn turn(&self) -> Option<Turn<'_>> {
        let guard = self.turn.try_lock()?;
        self.read().change.is_some().then_some(Turn { shared: self, _guard: guard })
    }

    /// Returns whether there is an index yet.
    pub(crate) fn is_built(&self) -> bool {
        self.read().change.is_some()
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        let mut state = self.state.write();
        state.decided.clear();
        state
    }
}

impl State {
    fn has(&self, stamp: Stamp) -> bool {
        self.change.is_some_and(|known| known >= stamp.change) && self.persisted == stamp.persisted
    }
}

impl Turn<'_> {
    /// Returns whether the index reflects exactly this change.
    pub(crate) fn is_of(&self, change: u64) -> bool {
        self.shared.read().change == Some(change)
    }

    /// The persisted rows that the index has.
    pub(crate) fn persisted(&self) -> Coverage {
        self.shared.read().persisted
    }

    /// Drops all rows but the first `rows`, which are persisted, before other persisted ones are [appended](Self::append_persisted).
    /// Nothing is searched from here on until the update ends.
    pub(crate) fn cut(&self, rows: u32) {
        let mut state = self.shared.write();
        state.change = None;
        if rows == 0 {
            state.index = SearchIndex::default();
        } else {
            state.index.cut(rows);
        }
        state.persisted.rows = rows;
    }

    /// Adds the next persisted rows.
    pub(crate) fn append_persisted(&self, part: SearchIndex) {
        let mut state = self.shared.write();
        state.index.append(part);
        state.index.show(&Gone::These(Vec::new()));
    }

    /// Records that the index has all rows of `persisted`.
    pub(crate) fn set_persisted(&self, persisted: Coverage) {
        self.shared.write().persisted = persisted;
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
