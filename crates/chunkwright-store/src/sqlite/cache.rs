//! The cache tables: vectors and notes, by text.

use rusqlite::{Connection, OptionalExtension, Row, params};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::Commit;
use super::read::{damaged, has_table};
use crate::cache::CacheUsage;
use crate::error::StoreError;
use crate::generation::{Generation, Model};
use crate::vector::Vector;
use crate::vector::{decode, encode};
use chunkwright::ChunkId;
use chunkwright_models::TextHash;
use chunkwright_models::late::are_codes;

pub(super) fn model_id(connection: &Connection, name: &str) -> Result<Option<(i64, Model)>, StoreError> {
    let query = "SELECT id, dimension, sparse FROM models WHERE name = ?1";
    let model = |row: &Row<'_>| {
        Ok((row.get(0)?, Model { name: name.into(), dimension: row.get(1)?, sparse: row.get(2)? }))
    };
    Ok(connection.prepare_cached(query)?.query_row([name], model).optional()?)
}

pub(crate) fn vectors(
    connection: &Connection,
    model: &str,
    hashes: &[TextHash],
) -> Result<Vec<Option<Vector>>, StoreError> {
    let Some((model, _)) = model_id(connection, model)? else { return Ok(vec![None; hashes.len()]) };
    let codes = if has_table(connection, CODES)? {
        "(SELECT codes FROM token_codes WHERE token_codes.vector = key)"
    } else {
        "NULL"
    };
    let query = format!("SELECT vector, sparse, {codes} FROM vectors WHERE model = ?1 AND text_hash = ?2");
    let mut statement = connection.prepare_cached(&query)?;
    let mut vectors = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let mut rows = statement.query(params![model, hash])?;
        vectors.push(rows.next()?.map(vector).transpose()?);
    }
    Ok(vectors)
}

/// The vector in a row of its dense and sparse vector and its codes.
fn vector(row: &Row<'_>) -> Result<Vector, StoreError> {
    let (dense, sparse): (Vec<u8>, Option<Vec<u8>>) = (row.get(0)?, row.get(1)?);
    let sparse = sparse.map(|sparse| weights(&dense, &sparse)).transpose()?;
    let codes: Option<Vec<u8>> = row.get(2)?;
    Ok(Vector { dense: numbers(&dense)?.collect(), sparse, codes: codes.map(codes_of).transpose()? })
}

/// The table of codes of tokens, created with its first row. Apart from `vectors`, whose rows a dense search reads.
const CODES: &str = "token_codes";
const TOKEN_CODES: &str =
    "CREATE TABLE IF NOT EXISTS token_codes (vector INTEGER PRIMARY KEY, codes BLOB NOT NULL)";

/// Codes of tokens as they are stored: themselves and a checksum.
fn code_bytes(codes: &[u8]) -> Vec<u8> {
    [codes, &checksum(codes)].concat()
}

/// The codes that [`code_bytes`] stored.
///
/// # Errors
///
/// [`StoreError::Damaged`] if the checksum does not match.
pub(super) fn codes_of(mut bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    match bytes.split_last_chunk::<CHECKSUM>() {
        Some((codes, stored)) if are_codes(codes) && checksum(codes) == *stored => {
            bytes.truncate(bytes.len() - CHECKSUM);
            Ok(bytes)
        }
        _ => Err(damaged("codes of tokens are not what was stored")),
    }
}

/// The codes of the tokens of chunks, in order; `None` where there are none.
pub(super) fn codes(
    connection: &Connection,
    generation: &Generation,
    ids: &[ChunkId],
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    if !has_table(connection, CODES)? {
        return Ok(vec![None; ids.len()]);
    }
    let mut statement = connection.prepare_cached(
        "SELECT codes FROM chunks JOIN token_codes ON token_codes.vector = chunks.vector
         WHERE generation = ?1 AND chunk_id = ?2",
    )?;
    let codes = |id: &ChunkId| {
        let found = statement.query_row(params![generation.number, id.0], |row| row.get(0)).optional()?;
        found.map(codes_of).transpose()
    };
    ids.iter().map(codes).collect()
}

/// The number of codes that are not what was stored.
pub(super) fn damaged_codes(connection: &Connection) -> Result<usize, StoreError> {
    if !has_table(connection, CODES)? {
        return Ok(0);
    }
    let mut statement = connection.prepare("SELECT codes FROM token_codes")?;
    let codes = statement.query_map([], |row| row.get(0))?;
    codes.map(|codes| Ok(usize::from(codes_of(codes?).is_err()))).sum()
}

/// Removes the codes of vectors that are gone.
pub(crate) fn clear_codes(connection: &Connection) -> Result<(), StoreError> {
    if has_table(connection, CODES)? {
        connection.execute("DELETE FROM token_codes WHERE vector NOT IN (SELECT key FROM vectors)", [])?;
    }
    Ok(())
}

/// Bytes of the checksum after the numbers of a vector: any numbers are a vector, so only the checksum shows damage.
const CHECKSUM: usize = 4;

/// A vector as it is stored: its numbers and a checksum.
pub(crate) fn bytes(vector: &[f32]) -> Vec<u8> {
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
/// [`StoreError::Damaged`] if the checksum does not match.
pub(super) fn numbers(bytes: &[u8]) -> Result<impl Iterator<Item = f32>, StoreError> {
    match bytes.split_last_chunk::<CHECKSUM>() {
        Some((numbers, stored)) if checksum(numbers) == *stored => {
            Ok(numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)))
        }
        _ => Err(damaged("a vector is not what was stored")),
    }
}

/// Bytes of the checksum after a sparse vector, which also covers its dense vector.
const PAIR_CHECKSUM: usize = 8;

/// Encodes a sparse vector to be stored beside `dense`, which is given in its stored form.
fn sparse_bytes(dense: &[u8], weights: &[(u32, f32)]) -> Vec<u8> {
    let mut bytes = encode(weights);
    bytes.extend(pair_checksum(dense, &bytes));
    bytes
}

fn pair_checksum(dense: &[u8], sparse: &[u8]) -> [u8; PAIR_CHECKSUM] {
    // The checksum of the dense vector stands for it, at no cost.
    xxh3_64_with_seed(sparse, xxh3_64(dense.last_chunk::<CHECKSUM>().unwrap_or(&[0; CHECKSUM]))).to_le_bytes()
}

/// The weights of the sparse vector that is stored beside the dense one.
///
/// # Errors
///
/// [`StoreError::Damaged`] if the checksum does not match, or the sparse vector belongs to another dense one.
pub(super) fn weights(dense: &[u8], sparse: &[u8]) -> Result<Vec<(u32, f32)>, StoreError> {
    let weights = match sparse.split_last_chunk::<PAIR_CHECKSUM>() {
        Some((weights, stored)) if pair_checksum(dense, weights) == *stored => decode(weights),
        _ => None,
    };
    weights.ok_or_else(|| damaged("a sparse vector is not what was stored with its dense one"))
}

pub(crate) fn put_vectors(
    connection: &Connection,
    model: &str,
    vectors: &[(TextHash, Vector)],
) -> Result<((), Commit), StoreError> {
    let Some((_, first)) = vectors.first() else { return Ok(((), Commit::NothingChanged)) };
    let (id, model) = if let Some(known) = model_id(connection, model)? {
        known
    } else {
        let model = first.model(model);
        (put_model(connection, &model)?, model)
    };
    let mut statement = connection.prepare_cached(
        "INSERT OR IGNORE INTO vectors (model, text_hash, vector, sparse) VALUES (?1, ?2, ?3, ?4)",
    )?;
    if vectors.iter().any(|(_, vector)| vector.codes.is_some()) {
        connection.execute_batch(TOKEN_CODES)?;
    }
    for (hash, vector) in vectors {
        vector.check(&model)?;
        let dense = bytes(&vector.dense);
        let sparse = vector.sparse.as_deref().map(|sparse| sparse_bytes(&dense, sparse));
        let is_new = statement.execute(params![id, hash, dense, sparse])? == 1;
        if let Some(codes) = vector.codes.as_deref().filter(|_| is_new) {
            let put = "INSERT INTO token_codes (vector, codes) VALUES (?1, ?2)";
            connection
                .prepare_cached(put)?
                .execute(params![connection.last_insert_rowid(), code_bytes(codes)])?;
        }
    }
    Ok(((), Commit::Yes))
}

pub(super) fn put_model(connection: &Connection, model: &Model) -> Result<i64, StoreError> {
    let statement = "INSERT INTO models (name, dimension, sparse) VALUES (?1, ?2, ?3)";
    connection.execute(statement, params![model.name, model.dimension, model.sparse])?;
    Ok(connection.last_insert_rowid())
}

pub(crate) fn notes(connection: &Connection, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT note FROM notes WHERE key = ?1")?;
    keys.iter().map(|key| Ok(statement.query_row([key], |row| row.get(0)).optional()?)).collect()
}

pub(crate) fn put_notes(
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
        "SELECT name, count(*), total(length(vector) - 4 + coalesce(length(vectors.sparse) - 8, 0)), (
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

pub(crate) fn notes_usage(connection: &Connection) -> Result<CacheUsage, StoreError> {
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
    clear_codes(connection)?;
    let notes = connection.execute("DELETE FROM notes", [])?;
    Ok((vectors + notes, Commit::from(vectors + notes > 0)))
}
