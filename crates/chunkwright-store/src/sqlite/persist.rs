//! Persists search indexes, so that opening a store reads little.
//!
//! For each generation, its rows are stored in parts, in the order of the versions of their documents, and the posting
//! lists of each part in blocks. A version of a document never changes, so its rows are valid for as long as it exists.
//! Whenever an index is loaded, the tables tell which versions are gone and which were written after the last part. So
//! a persisted index may lag behind, but is never wrong. Every value has a checksum. An index that cannot be read is
//! not used, and the next process that writes makes it again.
//!
//! The writer adds parts, each in one transaction. Rows keep their numbers until most of them are gone; then all parts
//! are made again.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use super::read::{self, Newer};
use super::{Commit, SqliteStore};
use crate::analysis;
use crate::error::StoreError;
use crate::generation::Generation;
use crate::index::disk::{Directory, sealed, unsealed};
use crate::index::{Coverage, MANY, STRETCH, SearchIndex};

/// Raised when the persistent form changes. An index of another format is made again.
const FORMAT: i64 = 1;

/// As [`RUNS`](super::setup::RUNS), these tables are created with their first row.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS search_indexes (
    generation INTEGER PRIMARY KEY,
    format INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    version INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS search_parts (
    generation INTEGER NOT NULL,
    first INTEGER NOT NULL,
    terms BLOB NOT NULL,
    rows BLOB NOT NULL,
    sketches BLOB NOT NULL,
    blocks INTEGER NOT NULL,
    last_block INTEGER NOT NULL,
    UNIQUE (generation, first)
);
CREATE TABLE IF NOT EXISTS search_blocks (id INTEGER PRIMARY KEY, block BLOB NOT NULL);
";

/// When an index is persisted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Rows from which on an index is persisted at all: fewer are read in no time.
    pub(super) least: u64,
    /// Rows to be persisted before a part is added, also as a share of those that are.
    pub(super) lacking: u64,
    pub(super) share: u64,
    /// Rows of a part, but for its last document.
    pub(super) part: usize,
    /// Parts from which on all are made again, beside those of full size.
    pub(super) parts: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { least: MANY as u64, lacking: 1_000, share: 64, part: STRETCH - 1_000, parts: 128 }
    }
}

fn format() -> i64 {
    FORMAT << 32 | i64::from(analysis::VERSION)
}

/// The persisted index of a generation, without rows if there is none or it cannot be used.
pub(super) fn coverage(connection: &Connection, generation: &Generation) -> Result<Coverage, StoreError> {
    let known = known(connection, generation)?;
    Ok(known.map_or_else(Default::default, |it| {
        if it.format == format() { it.persisted } else { it.persisted.unused() }
    }))
}

/// A row of `search_indexes`.
struct Known {
    format: i64,
    persisted: Coverage,
    /// The last version that was looked at.
    version: i64,
}

fn known(connection: &Connection, generation: &Generation) -> Result<Option<Known>, StoreError> {
    if !read::has_table(connection, "search_indexes")? {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(
        "SELECT format, epoch, revision, rows, version FROM search_indexes WHERE generation = ?1",
    )?;
    let known = statement.query_row([generation.number], |row| {
        let persisted = Coverage { epoch: row.get(1)?, revision: row.get(2)?, rows: row.get(3)? };
        Ok(Known { format: row.get(0)?, persisted, version: row.get(4)? })
    });
    Ok(known.optional()?)
}

/// Calls `each` with the parts that have these rows; `None` if one cannot be read.
pub(super) fn parts(
    connection: &Connection,
    generation: &Generation,
    wanted: Range<u32>,
    each: &mut dyn FnMut(SearchIndex),
) -> Result<Option<()>, StoreError> {
    let dimension = generation.spec.model.as_ref().map_or(0, |model| model.dimension);
    let mut statement = connection.prepare_cached(
        "SELECT terms, rows, sketches, first FROM search_parts WHERE generation = ?1 AND first >= ?2 ORDER BY first",
    )?;
    let mut rows = statement.query(params![generation.number, wanted.start])?;
    let mut at = wanted.start;
    while let Some(row) = rows.next()? {
        let blob = |column| row.get_ref(column).and_then(|value| Ok(value.as_blob()?));
        let values = (blob(1)?, blob(2)?);
        let directories = unsealed(blob(0)?)
            .and_then(|mut said| Some((Directory::take(&mut said)?, Directory::take(&mut said)?)));
        let part = directories.and_then(|directories| SearchIndex::decode(dimension, values, directories));
        let Some(part) = part.filter(|_| row.get(3) == Ok(at)) else { return Ok(None) };
        at += part.row_count() as u32;
        each(part);
    }
    Ok((at == wanted.end).then_some(()))
}

/// A block of posting lists; `None` if it is not there.
pub(super) fn block(connection: &Connection, id: i64) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT block FROM search_blocks WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?)
}

/// Removes the persisted index of a generation.
pub(super) fn remove(connection: &Connection, generation: i64) -> Result<(), StoreError> {
    if read::has_table(connection, "search_indexes")? {
        remove_parts(connection, generation)?;
        connection.execute("DELETE FROM search_indexes WHERE generation = ?1", [generation])?;
    }
    Ok(())
}

fn remove_parts(connection: &Connection, generation: i64) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare("SELECT last_block - blocks + 1, last_block FROM search_parts WHERE generation = ?1")?;
    let ranges = statement.query_map([generation], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for range in ranges.collect::<Result<Vec<(i64, i64)>, _>>()? {
        connection.execute("DELETE FROM search_blocks WHERE id BETWEEN ?1 AND ?2", [range.0, range.1])?;
    }
    connection.execute("DELETE FROM search_parts WHERE generation = ?1", [generation])?;
    Ok(())
}

impl SqliteStore {
    /// Persists what was written since the index of a generation was last persisted, if there is enough of it. Does
    /// nothing in a process without the write lock. Searches continue meanwhile.
    pub(super) fn persist_index(&self, generation: &Generation) -> Result<(), StoreError> {
        loop {
            let added = self.write_if_claimed(|connection| {
                let is_unreadable = self.unreadable.lock().contains(&generation.number);
                let is_more = extend(connection, generation, is_unreadable, self.limits)?;
                Ok((is_more, Commit::from(is_more.is_some())))
            })?;
            let Some(is_more) = added.flatten() else { return Ok(()) };
            self.unreadable.lock().remove(&generation.number);
            if !is_more {
                return Ok(());
            }
        }
    }
}

/// Adds a part; returns whether there is more to add, or `None` if nothing was added.
fn extend(
    connection: &Connection,
    generation: &Generation,
    is_unreadable: bool,
    limits: Limits,
) -> Result<Option<bool>, StoreError> {
    read::change(connection, generation)?;
    let chunks = |condition: &str, version: i64| -> Result<u64, StoreError> {
        let query = format!(
            "SELECT coalesce(sum(chunks), 0) FROM documents WHERE generation = ?1 AND {condition} ?2"
        );
        Ok(connection.prepare_cached(&query)?.query_row([generation.number, version], |row| row.get(0))?)
    };
    let all = known(connection, generation)?;
    let usable = all.as_ref().filter(|known| known.format == format() && !is_unreadable);
    let (mut persisted, mut version) =
        usable.map_or_else(Default::default, |known| (known.persisted, known.version));
    let parts = if persisted.rows > 0 {
        let query = "SELECT count(*) FROM search_parts WHERE generation = ?1";
        connection.prepare_cached(query)?.query_row([generation.number], |row| row.get(0))?
    } else {
        0
    };
    let most = limits.parts + 2 * u64::from(persisted.rows) / limits.part as u64;
    if parts > most || 2 * chunks("+id <=", version)? < u64::from(persisted.rows) {
        (persisted, version) = Default::default();
    }
    let rows = u64::from(persisted.rows);
    let wanted = if rows == 0 { limits.least } else { limits.lacking.max(rows / limits.share) };
    let lacking = chunks("+id >", version)?;
    if lacking < wanted {
        return Ok(None);
    }
    connection.execute_batch(TABLES)?;
    let revision = 1 + all.map_or(0, |known| known.persisted.revision);
    if rows == 0 {
        remove_parts(connection, generation.number)?;
        persisted.epoch = revision;
    }
    let (part, last) = next_part(connection, generation, version, limits.part)?;
    let added = part.row_count() as u32;
    if added == 0 {
        return Ok(None);
    }
    put_part(connection, generation, persisted.rows, part)?;
    connection.execute(
        "INSERT OR REPLACE INTO search_indexes (generation, format, epoch, revision, rows, version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![generation.number, format(), persisted.epoch, revision, persisted.rows + added, last],
    )?;
    let rows = rows + u64::from(added);
    Ok(Some(lacking.saturating_sub(u64::from(added)) >= limits.lacking.max(rows / limits.share)))
}

/// The rows of the versions after `version`, up to `most` and to the end of a document; with the last of them.
fn next_part(
    connection: &Connection,
    generation: &Generation,
    version: i64,
    most: usize,
) -> Result<(SearchIndex, i64), StoreError> {
    let dimension = generation.spec.model.as_ref().map_or(0, |model| model.dimension);
    let (mut part, mut last) = (SearchIndex::persistent(dimension), version);
    let mut chunks = connection.prepare_cached(read::INDEXED)?;
    let (sql, after) = Newer::Written(version).sql();
    let mut documents = connection.prepare_cached(sql)?;
    let mut documents = documents.query(params![generation.number, after])?;
    while part.row_count() < most
        && let Some(row) = documents.next()?
    {
        last = row.get(0)?;
        read::add_version(&mut chunks, (last, &row.get::<_, String>(1)?), &mut part)?;
    }
    Ok((part, last))
}

fn put_part(
    connection: &Connection,
    generation: &Generation,
    first: u32,
    part: SearchIndex,
) -> Result<(), StoreError> {
    let part = part.encode();
    let mut next: i64 =
        connection.query_row("SELECT coalesce(max(id), 0) + 1 FROM search_blocks", [], |row| row.get(0))?;
    let mut insert = connection.prepare_cached("INSERT INTO search_blocks (id, block) VALUES (?1, ?2)")?;
    let (mut directories, mut blocks) = (Vec::new(), 0);
    for lists in [part.terms, part.tokens] {
        let mut directory = Directory { block: next, firsts: Vec::with_capacity(lists.len()) };
        for (first, block) in lists {
            insert.execute(params![next, block])?;
            directory.firsts.push(first);
            (next, blocks) = (next + 1, blocks + 1);
        }
        directory.encode(&mut directories);
    }
    connection.execute(
        "INSERT INTO search_parts (generation, first, terms, rows, sketches, blocks, last_block)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![generation.number, first, sealed(directories), part.rows, part.sketches, blocks, next - 1],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
