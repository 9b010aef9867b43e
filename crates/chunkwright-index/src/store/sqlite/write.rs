//! Changes to the tables. Every function runs inside a transaction of its caller.

use chunkwright::ChunkId;
use rusqlite::{Connection, params};

use super::super::filter::symbol_lines;
use super::super::{Change, Model, NewChunk, NewDocument, Outcome, StoreError, TextHash, check_vector};
use super::{CollectionRow, Commit, read};
use crate::analysis;

pub(super) fn write(
    connection: &Connection,
    collection: &str,
    changes: &[Change],
) -> Result<(Vec<Outcome>, Commit), StoreError> {
    let (row, mut commit) = ensure(connection, collection)?;
    let mut outcomes = Vec::with_capacity(changes.len());
    for change in changes {
        let outcome = match change {
            Change::Replace(document) => replace(connection, &row, document)?,
            Change::Remove { doc_id } => remove(connection, &row, doc_id)?,
            Change::Enable(id) => enable(connection, &row, *id)?,
            Change::Disable(id) => disable(connection, &row, *id)?,
        };
        if outcome == Outcome::Written {
            commit = Commit::Yes;
        }
        outcomes.push(outcome);
    }
    if commit == Commit::Yes {
        connection.execute("UPDATE collections SET change = change + 1 WHERE id = ?1", [row.id])?;
    }
    Ok((outcomes, commit))
}

/// The collection, made now if it does not exist.
fn ensure(connection: &Connection, name: &str) -> Result<(CollectionRow, Commit), StoreError> {
    if let Some(row) = CollectionRow::find(connection, name)? {
        return Ok((row, Commit::NothingChanged));
    }
    connection.execute("INSERT INTO collections (name) VALUES (?1)", [name])?;
    let row = CollectionRow::get(connection, name)?;
    create_words(connection, &row)?;
    Ok((row, Commit::Yes))
}

/// Terms come from [`analysis`], joined by spaces; the tokenizer only divides there.
fn create_words(connection: &Connection, row: &CollectionRow) -> Result<(), StoreError> {
    let words = row.words();
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {words} USING fts5(terms, content='', contentless_delete=1, tokenize=\"ascii tokenchars '_'\")"
    ))?;
    Ok(())
}

fn replace(connection: &Connection, row: &CollectionRow, new: &NewDocument) -> Result<Outcome, StoreError> {
    let info = &new.document.info;
    let stored = read::document_info(connection, row.id, &info.doc_id)?;
    if stored.as_ref().map_or(0, |stored| stored.version) != new.base {
        return Ok(Outcome::Stale);
    }
    let mut pending = 0;
    if let Some(model) = &row.model {
        for chunk in &new.chunks {
            pending += u32::from(!has_vector(connection, &model.name, &chunk.text_hash)?);
        }
    }
    if let Some(stored) = stored {
        // The decision to write nothing is made here, where what it compares with cannot change.
        if stored.is_same_input(info) && stored.pending <= pending {
            return Ok(Outcome::Unchanged);
        }
        remove_version(connection, row, stored.version)?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO documents (collection, doc_id, root, file_hash, bytes, config_hash, strategy_version, preset,
            format, encoding, low_confidence, replacements, chunks, pending, indexed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    let version = statement.insert(params![
        row.id,
        info.doc_id,
        info.root,
        info.file_hash,
        info.bytes,
        info.config_hash,
        info.strategy_version,
        info.preset,
        info.format,
        info.encoding,
        info.low_confidence,
        info.replacements,
        new.chunks.len(),
        pending,
        info.indexed_at
    ])?;
    let mut statement = connection
        .prepare_cached("INSERT INTO sources (document, doc_toc, source, raw) VALUES (?1, ?2, ?3, ?4)")?;
    let document = &new.document;
    statement.execute(params![version, document.doc_toc, document.source.as_bytes(), document.raw])?;
    for (index, chunk) in new.chunks.iter().enumerate() {
        insert_chunk(connection, row, version, index, &document.source, chunk)?;
    }
    Ok(Outcome::Written)
}

fn has_vector(connection: &Connection, model: &str, hash: &TextHash) -> Result<bool, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM vectors WHERE model = ?1 AND text_hash = ?2")?;
    Ok(statement.exists(params![model, hash])?)
}

fn insert_chunk(
    connection: &Connection,
    row: &CollectionRow,
    version: i64,
    index: usize,
    source: &str,
    chunk: &NewChunk,
) -> Result<(), StoreError> {
    let record = &chunk.record;
    let id: ChunkId = record
        .chunk_id
        .parse()
        .map_err(|error| StoreError::Damaged { problem: format!("a new chunk cannot be stored: {error}") })?;
    let tail = rebuilt_tail(record, source);
    let json = if tail.is_some() {
        let mut slim = record.clone();
        slim.content.clear();
        slim.text.clear();
        serde_json::to_string(&slim)
    } else {
        serde_json::to_string(record)
    };
    let json = json
        .map_err(|error| StoreError::Damaged { problem: format!("a new chunk cannot be stored: {error}") })?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO chunks (collection, document, idx, chunk_id, text_hash, start, end, category, language,
            content_type, artifact, symbols, tail, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    let inserted = statement.insert(params![
        row.id,
        version,
        index,
        id.0,
        chunk.text_hash,
        record.start_byte,
        record.end_byte,
        record.category,
        record.language,
        record.content_type,
        record.artifact,
        symbol_lines(record),
        tail,
        json
    ]);
    let key = match inserted {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.code == rusqlite::ErrorCode::ConstraintViolation =>
        {
            return Err(StoreError::IdCollision { id, doc_id: record.doc_id.clone() });
        }
        inserted => inserted?,
    };
    let words = row.words();
    let mut statement =
        connection.prepare_cached(&format!("INSERT INTO {words} (rowid, terms) VALUES (?1, ?2)"))?;
    statement.execute(params![key, chunk.terms])?;
    Ok(())
}

/// What stands after the content in the text, if content and text can be made again from the source.
fn rebuilt_tail<'a>(record: &'a chunkwright::Record, source: &str) -> Option<&'a str> {
    let content = source.get(record.start_byte as usize..record.end_byte as usize)?;
    let tail = record.text.strip_prefix(record.context.as_str())?.strip_prefix(content)?;
    (content == record.content).then_some(tail)
}

fn remove(connection: &Connection, row: &CollectionRow, doc_id: &str) -> Result<Outcome, StoreError> {
    match read::document_info(connection, row.id, doc_id)? {
        Some(stored) => {
            remove_version(connection, row, stored.version)?;
            Ok(Outcome::Written)
        }
        None => Ok(Outcome::Unchanged),
    }
}

fn remove_version(connection: &Connection, row: &CollectionRow, version: i64) -> Result<(), StoreError> {
    let words = row.words();
    for statement in [
        &*format!("DELETE FROM {words} WHERE rowid IN (SELECT key FROM chunks WHERE document = ?1)"),
        "DELETE FROM chunks WHERE document = ?1",
        "DELETE FROM sources WHERE document = ?1",
        "DELETE FROM documents WHERE id = ?1",
    ] {
        connection.prepare_cached(statement)?.execute([version])?;
    }
    Ok(())
}

fn enable(connection: &Connection, row: &CollectionRow, id: ChunkId) -> Result<Outcome, StoreError> {
    let statement = "DELETE FROM disabled WHERE collection = ?1 AND chunk_id = ?2";
    let changed = connection.execute(statement, params![row.id, id.0])?;
    Ok(if changed > 0 { Outcome::Written } else { Outcome::Unchanged })
}

fn disable(connection: &Connection, row: &CollectionRow, id: ChunkId) -> Result<Outcome, StoreError> {
    let statement = "INSERT OR IGNORE INTO disabled
                     SELECT collection, chunk_id FROM chunks WHERE collection = ?1 AND chunk_id = ?2";
    let changed = connection.execute(statement, params![row.id, id.0])?;
    Ok(if changed > 0 { Outcome::Written } else { Outcome::Unchanged })
}

pub(super) fn set_model(
    connection: &Connection,
    collection: &str,
    model: &Model,
) -> Result<((), Commit), StoreError> {
    let (row, _) = ensure(connection, collection)?;
    match &row.model {
        Some(stored) if stored == model => Ok(((), Commit::NothingChanged)),
        Some(stored) => Err(StoreError::OtherModel {
            collection: collection.into(),
            stored: stored.name.clone(),
            stored_dimension: stored.dimension,
            given: model.name.clone(),
            given_dimension: model.dimension,
        }),
        None => {
            connection.execute(
                "UPDATE collections SET model = ?2, dimension = ?3, change = change + 1 WHERE id = ?1",
                params![row.id, model.name, model.dimension],
            )?;
            // From now on every chunk should have a vector.
            connection.execute("UPDATE documents SET pending = chunks WHERE collection = ?1", [row.id])?;
            Ok(((), Commit::Yes))
        }
    }
}

pub(super) fn drop_collection(connection: &Connection, collection: &str) -> Result<((), Commit), StoreError> {
    let Some(row) = CollectionRow::find(connection, collection)? else {
        return Ok(((), Commit::NothingChanged));
    };
    connection.execute_batch(&format!("DROP TABLE {}", row.words()))?;
    for statement in [
        "DELETE FROM sources WHERE document IN (SELECT id FROM documents WHERE collection = ?1)",
        "DELETE FROM documents WHERE collection = ?1",
        "DELETE FROM chunks WHERE collection = ?1",
        "DELETE FROM disabled WHERE collection = ?1",
        "DELETE FROM collections WHERE id = ?1",
    ] {
        connection.execute(statement, [row.id])?;
    }
    Ok(((), Commit::Yes))
}

pub(super) fn put_vectors(
    connection: &Connection,
    model: &str,
    vectors: &[(TextHash, Vec<f32>)],
) -> Result<((), Commit), StoreError> {
    let mut statement = connection
        .prepare_cached("INSERT OR REPLACE INTO vectors (model, text_hash, vector) VALUES (?1, ?2, ?3)")?;
    for (hash, vector) in vectors {
        check_vector(vector, vector.len())?;
        let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
        statement.execute(params![model, hash, bytes])?;
    }
    // A vector may belong to a chunk that was stored without one.
    connection.execute(
        "UPDATE collections SET change = change + 1 WHERE model = ?1 AND EXISTS (
             SELECT 1 FROM documents WHERE collection = collections.id AND pending > 0)",
        [model],
    )?;
    Ok(((), if vectors.is_empty() { Commit::NothingChanged } else { Commit::Yes }))
}

pub(super) fn collect_garbage(connection: &Connection) -> Result<(usize, Commit), StoreError> {
    let removed = connection.execute(
        "DELETE FROM vectors WHERE NOT EXISTS (
             SELECT 1 FROM chunks JOIN collections ON collections.id = chunks.collection
             WHERE collections.model = vectors.model AND chunks.text_hash = vectors.text_hash)",
        [],
    )?;
    let disabled = connection.execute(
        "DELETE FROM disabled WHERE NOT EXISTS (
             SELECT 1 FROM chunks WHERE chunks.collection = disabled.collection AND chunks.chunk_id = disabled.chunk_id)",
        [],
    )?;
    Ok((removed, if removed + disabled > 0 { Commit::Yes } else { Commit::NothingChanged }))
}

/// Makes the words of every collection again, from the texts.
pub(super) fn analyse_again(connection: &Connection) -> Result<(), StoreError> {
    let mut names = connection.prepare("SELECT name FROM collections")?;
    let names = names.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for name in names {
        let row = CollectionRow::get(connection, &name)?;
        let words = row.words();
        connection.execute_batch(&format!("DROP TABLE IF EXISTS {words}"))?;
        create_words(connection, &row)?;
        let mut insert =
            connection.prepare(&format!("INSERT INTO {words} (rowid, terms) VALUES (?1, ?2)"))?;
        read::each_text(connection, row.id, &mut |key, text| {
            insert.execute(params![key, analysis::terms(text).join(" ")])?;
            Ok(())
        })?;
    }
    Ok(())
}
