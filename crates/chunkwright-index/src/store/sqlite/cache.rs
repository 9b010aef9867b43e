//! Vectors and notes, which belong to texts.

use rusqlite::{Connection, OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use super::super::{CacheUsage, StoreError, TextHash, check_vector};
use super::Commit;
use super::read::damaged;

pub(super) fn model_id(connection: &Connection, name: &str) -> Result<Option<(i64, usize)>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id, dimension FROM models WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

pub(in super::super) fn vectors(
    connection: &Connection,
    model: &str,
    hashes: &[TextHash],
) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
    let Some((model, _)) = model_id(connection, model)? else { return Ok(vec![None; hashes.len()]) };
    let mut statement =
        connection.prepare_cached("SELECT vector FROM vectors WHERE model = ?1 AND text_hash = ?2")?;
    let mut vectors = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let bytes: Option<Vec<u8>> =
            statement.query_row(params![model, hash], |row| row.get(0)).optional()?;
        let vector = bytes.map(|bytes| Ok::<_, StoreError>(numbers(&bytes)?.collect())).transpose()?;
        vectors.push(vector);
    }
    Ok(vectors)
}

/// Bytes behind the numbers of a vector: any numbers are a vector, so only these tell of damage.
const CHECKSUM: usize = 4;

/// A vector as it is stored: its numbers and a checksum.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    bytes.extend(checksum(&bytes));
    bytes
}

fn checksum(numbers: &[u8]) -> [u8; CHECKSUM] {
    (xxh3_64(numbers) as u32).to_le_bytes()
}

/// The numbers of a stored vector.
///
/// # Errors
///
/// [`StoreError::Damaged`] if they are not what was stored.
pub(super) fn numbers(bytes: &[u8]) -> Result<impl Iterator<Item = f32>, StoreError> {
    match bytes.split_last_chunk::<CHECKSUM>() {
        Some((numbers, stored)) if checksum(numbers) == *stored => {
            Ok(numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)))
        }
        _ => Err(damaged("a vector is not what was stored")),
    }
}

pub(in super::super) fn put_vectors(
    connection: &Connection,
    model: &str,
    vectors: &[(TextHash, Vec<f32>)],
) -> Result<((), Commit), StoreError> {
    let Some((_, first)) = vectors.first() else { return Ok(((), Commit::NothingChanged)) };
    let (id, dimension) = match model_id(connection, model)? {
        Some(known) => known,
        None => (put_model(connection, model, first.len())?, first.len()),
    };
    let mut statement = connection
        .prepare_cached("INSERT OR IGNORE INTO vectors (model, text_hash, vector) VALUES (?1, ?2, ?3)")?;
    for (hash, vector) in vectors {
        check_vector(vector, dimension)?;
        statement.execute(params![id, hash, bytes(vector)])?;
    }
    Ok(((), Commit::Yes))
}

pub(super) fn put_model(connection: &Connection, name: &str, dimension: usize) -> Result<i64, StoreError> {
    connection.execute("INSERT INTO models (name, dimension) VALUES (?1, ?2)", params![name, dimension])?;
    Ok(connection.last_insert_rowid())
}

pub(in super::super) fn notes(
    connection: &Connection,
    keys: &[TextHash],
) -> Result<Vec<Option<String>>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT note FROM notes WHERE key = ?1")?;
    keys.iter().map(|key| Ok(statement.query_row([key], |row| row.get(0)).optional()?)).collect()
}

pub(in super::super) fn put_notes(
    connection: &Connection,
    notes: &[(TextHash, String)],
) -> Result<((), Commit), StoreError> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO notes (key, note) VALUES (?1, ?2)")?;
    for (key, note) in notes {
        statement.execute(params![key, note])?;
    }
    Ok(((), Commit::from(!notes.is_empty())))
}

pub(super) fn usage(connection: &Connection) -> Result<Vec<CacheUsage>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT name, count(*), total(length(vector) - 4), (
             SELECT count(DISTINCT chunks.vector) FROM chunks JOIN vectors AS used ON used.key = chunks.vector
             WHERE used.model = models.id)
         FROM vectors JOIN models ON models.id = vectors.model GROUP BY models.id ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| {
        let bytes = row.get::<_, f64>(2)? as u64;
        Ok(CacheUsage { model: Some(row.get(0)?), entries: row.get(1)?, bytes, used: row.get(3)? })
    })?;
    let mut usage = rows.collect::<Result<Vec<_>, _>>()?;
    usage.push(notes_usage(connection)?);
    Ok(usage)
}

pub(in super::super) fn notes_usage(connection: &Connection) -> Result<CacheUsage, StoreError> {
    let (entries, bytes) =
        connection.query_row("SELECT count(*), total(length(note)) FROM notes", [], |row| {
            Ok((row.get(0)?, row.get::<_, f64>(1)? as u64))
        })?;
    Ok(CacheUsage { model: None, entries, bytes, used: entries })
}

pub(super) fn clear(connection: &Connection) -> Result<(usize, Commit), StoreError> {
    let vectors = connection.execute(
        "DELETE FROM vectors WHERE key NOT IN (SELECT vector FROM chunks WHERE vector IS NOT NULL)",
        [],
    )?;
    let notes = connection.execute("DELETE FROM notes", [])?;
    Ok((vectors + notes, Commit::from(vectors + notes > 0)))
}
