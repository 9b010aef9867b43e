//! In-memory data derived from the file, by generation: indexes for searches, columns for lists and statistics. Both
//! are updated before they are used.

use std::collections::HashSet;
use std::sync::Arc;

use chunkwright::ChunkId;
use rusqlite::{Connection, Transaction};

use super::disk::{SqliteDisk, UNREADABLE};
use super::read::Newer;
use super::recent::Recent;
use super::{SqliteStore, list, persist, read};
use crate::columns::{Columns, Selection};
use crate::error::StoreError;
use crate::filter::Filter;
use crate::generation::Generation;
use crate::index::disk::Disk;
use crate::index::{self, Decided, Gone, Located, Records, SearchIndex, SharedIndex, Stamp, Turn};

/// Columns as of a change of their generation; `None` before they are built.
#[derive(Debug, Default)]
pub(super) struct SharedColumns {
    change: Option<u64>,
    columns: Columns,
    /// The last filter for which records were read, and the chunks that passed it: the pages of a list share a filter.
    passed: Option<(Filter, HashSet<ChunkId>)>,
}

/// Snapshots that a search takes before it reads its index again.
const ATTEMPTS: u32 = 16;

/// The records of a generation.
struct SqliteRecords<'a> {
    connection: &'a Connection,
    generation: &'a Generation,
    recent: &'a Recent,
}

impl Records for SqliteRecords<'_> {
    fn passing(&self, filter: &Filter) -> Result<HashSet<ChunkId>, StoreError> {
        read::passing(self.connection, self.generation, filter)
    }

    fn each_text(&self, chunks: &[Located], each: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        read::each_text(self.connection, chunks, self.recent, each)
    }
}

impl SqliteStore {
    /// Frees the derived data of a generation, by its number. The next search reads it again.
    pub(super) fn forget(&self, generation: i64) {
        self.indexes.lock().remove(&generation);
        self.columns.lock().remove(&generation);
        self.totals.forget(generation);
        self.counts.forget(generation);
    }

    /// Runs `search` over the index of a generation and the rows that pass.
    pub(super) fn search<T>(
        &self,
        generation: &Generation,
        filter: &Filter,
        search: impl Fn(&SearchIndex, &index::Selection, &dyn Disk) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !self.index(generation).is_built() {
            // Brings up a store of an earlier version. Without it, the search reads all rows.
            let _ = self.persist_index(generation);
        }
        let mut attempts = 0;
        loop {
            let found = self.read(|transaction| {
                self.with_index(transaction, generation, |index, decided, disk| {
                    let records = SqliteRecords { connection: transaction, generation, recent: &self.recent };
                    let decide = || index.passing(filter, disk, &records);
                    let passing = match decided {
                        Some(decided) => decided.get(filter, decide)?,
                        None => Arc::new(decide()?),
                    };
                    search(index, &passing, disk)
                })
            });
            match found {
                Ok(Some(found)) => return Ok(found),
                // The index has what was persisted in a later snapshot, or its record in the file was lost.
                Ok(None) if attempts < ATTEMPTS => attempts += 1,
                Ok(None) => self.forget(generation.number),
                Err(StoreError::Damaged { problem }) if problem == UNREADABLE => {
                    self.unreadable.lock().insert(generation.number);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn index(&self, generation: &Generation) -> Arc<SharedIndex> {
        Arc::clone(self.indexes.lock().entry(generation.number).or_default())
    }

    /// Runs `search` over the index of a generation, as of the snapshot `transaction` or newer; `None` if the
    /// index has what was persisted in a later snapshot.
    pub(super) fn with_index<T>(
        &self,
        transaction: &Transaction<'_>,
        generation: &Generation,
        search: impl FnOnce(&SearchIndex, Option<&Decided>, &dyn Disk) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let change = read::change(transaction, generation)?;
        let mut persisted = persist::coverage(transaction, generation)?;
        if self.unreadable.lock().contains(&generation.number) {
            persisted = persisted.unused();
        }
        let update = |turn: &Turn<'_>| {
            let known = turn.persisted();
            if known != persisted {
                let first = if known.epoch == persisted.epoch { known.rows.min(persisted.rows) } else { 0 };
                turn.cut(first);
                if persisted.rows > first {
                    let read = persist::parts(transaction, generation, first..persisted.rows, &mut |part| {
                        turn.append_persisted(part);
                    })?;
                    read.ok_or_else(|| read::damaged(UNREADABLE))?;
                }
                turn.set_persisted(persisted);
            }
            turn.add(|last_version, add: &mut dyn FnMut(SearchIndex)| {
                read::new_versions(transaction, generation, (last_version, Newer::Than(last_version)), add)?;
                Ok(Gone::AllBut(read::versions(transaction, generation)?))
            })
        };
        let source = SqliteDisk {
            connection: transaction,
            generation: generation.number,
            revision: persisted.revision,
            cache: &self.disk,
        };
        self.index(generation)
            .search(Stamp { change, persisted }, update, |index, decided| search(index, decided, &source))
    }

    /// The versions of the documents of chunks and their numbers in them, in order, if the index in memory reflects the
    /// snapshot `transaction`; otherwise an empty list.
    pub(super) fn places(
        &self,
        transaction: &Transaction<'_>,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<(i64, u32)>>, StoreError> {
        let change = read::change(transaction, generation)?;
        Ok(self.index(generation).at(change, |index| index.places(ids)).unwrap_or_default())
    }

    /// Runs `read` over the columns of a generation, as of the snapshot `transaction` or newer, and the selection of
    /// their passing rows.
    pub(super) fn with_columns<T>(
        &self,
        transaction: &Transaction<'_>,
        generation: &Generation,
        filter: &Filter,
        read: impl FnOnce(&Columns, Selection<'_>) -> T,
    ) -> Result<T, StoreError> {
        let change = read::change(transaction, generation)?;
        let shared = Arc::clone(self.columns.lock().entry(generation.number).or_default());
        let state = shared.read();
        if state.change.is_some_and(|known| known >= change)
            && let Some(passing) = state.passing(filter)
        {
            return Ok(read(&state.columns, passing));
        }
        drop(state);
        let mut state = shared.write();
        if state.change.is_none_or(|known| known < change) {
            // After a failure there are no columns, and the next call builds them.
            let mut columns = std::mem::take(&mut *state).columns;
            list::update_columns(transaction, generation, &mut columns)?;
            *state = SharedColumns { change: Some(change), columns, passed: None };
        }
        if let Some(passing) = state.passing(filter) {
            return Ok(read(&state.columns, passing));
        }
        let passed = read::passing(transaction, generation, filter)?;
        let result = read(&state.columns, Selection::Chunks(&passed));
        state.passed = Some((filter.clone(), passed));
        Ok(result)
    }
}

impl SharedColumns {
    /// The selection of passing rows, if it can be made without reading records.
    fn passing<'a>(&'a self, filter: &'a Filter) -> Option<Selection<'a>> {
        match &self.passed {
            _ if Columns::decide(filter) => Some(Selection::Filter(filter)),
            Some((known, passed)) if known == filter => Some(Selection::Chunks(passed)),
            _ => None,
        }
    }
}
