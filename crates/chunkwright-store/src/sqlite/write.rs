//! Writes to the tables. Every function runs inside a transaction of its caller, except [`prepare`], which does
//! beforehand the work that needs no transaction.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::thread;

use chunkwright::{ChunkId, SummaryKind};
use rusqlite::{Connection, OptionalExtension, params};

use super::setup::{META, RUNS};
use super::stored::{Place, Stored, encode};
use super::{Commit, cache, collections, persist, read, unknown_collection};
use crate::bm25::TermCounts;
use crate::document::{Change, DocumentInfo, NewChunk, NewDocument, Outcome};
use crate::error::StoreError;
use crate::filter::record_symbols;
use crate::generation::{Generation, GenerationSpec};
use crate::overlay::Overlay;
use crate::past_run::PastRun;
use crate::vector::check_model;

/// Up to this many changes, starting threads does not pay off.
const FEW: usize = 8;

/// A chunk's row, as far as it can be prepared without the tables.
pub(super) struct Prepared {
    id: ChunkId,
    symbols: String,
    terms: Vec<u8>,
    /// The part of the text after the content, if content and text can be restored from the source.
    tail: Option<String>,
    json: String,
}

/// Prepares the rows of the chunks of every change, on all cores. It uses a separate pool: threads that cut documents
/// take up no other work until the next ones are cut, and the store would be idle until then.
pub(super) fn prepare(generation: &Generation, changes: &[Change]) -> Result<Vec<Vec<Prepared>>, StoreError> {
    let rows = |change: &Change| match change {
        Change::Replace(new) => {
            let known = Stored::of_document(generation, &new.document.info);
            let ids: Vec<ChunkId> = new.chunks.iter().map(NewChunk::id).collect();
            let row = |(index, chunk): (usize, &NewChunk)| {
                let place = place(&new.chunks, &ids, index);
                prepare_chunk(&known.at(&place), &new.document.source, chunk)
            };
            new.chunks.iter().enumerate().map(row).collect()
        }
        // Its document is not available here, so the whole record is written.
        Change::Amend { chunks, .. } => {
            chunks.iter().map(|chunk| prepare_chunk(&Stored::usual(), "", chunk)).collect()
        }
        _ => Ok(Vec::new()),
    };
    let rows = |changes: &[Change]| changes.iter().map(rows).collect::<Result<Vec<_>, StoreError>>();
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let each = changes.len().div_ceil(threads).max(FEW);
    if changes.len() <= each {
        return rows(changes);
    }
    thread::scope(|scope| {
        let parts: Vec<_> = changes.chunks(each).map(|part| scope.spawn(move || rows(part))).collect();
        let mut prepared = Vec::with_capacity(changes.len());
        for part in parts {
            prepared.extend(part.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(prepared)
    })
}

/// The place that the row at `index` and its neighbours will have.
fn place(chunks: &[NewChunk], ids: &[ChunkId], index: usize) -> Place {
    let NewChunk { record, .. } = &chunks[index];
    let is_chunk = |at: &usize| chunks.get(*at).is_some_and(|chunk| chunk.record.artifact.is_none());
    let beside = |at: Option<usize>| at.filter(|at| is_chunk(&index) && is_chunk(at)).map(|at| ids[at]);
    Place {
        index: index as u32,
        category: record.category.clone(),
        content_type: record.content_type.clone(),
        start: record.start_byte,
        end: record.end_byte,
        previous: beside(index.checked_sub(1)),
        next: beside(Some(index + 1)),
    }
}

fn prepare_chunk(known: &Stored<'_>, source: &str, chunk: &NewChunk) -> Result<Prepared, StoreError> {
    let record = &chunk.record;
    let tail = rebuilt_tail(record, source);
    Ok(Prepared {
        id: chunk.id(),
        symbols: record_symbols(record),
        terms: chunk.terms.encode(),
        tail: tail.map(str::to_owned),
        json: encode(record, known, tail.is_some())?,
    })
}

fn rebuilt_tail<'a>(record: &'a chunkwright::Record, source: &str) -> Option<&'a str> {
    let content = source.get(record.start_byte as usize..record.end_byte as usize)?;
    let tail = record.text.strip_prefix(record.context.as_str())?.strip_prefix(content)?;
    (content == record.content).then_some(tail)
}

/// The result of a write.
pub(super) struct Written {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) commit: Commit,
    /// Versions of documents that were removed.
    pub(super) gone: Vec<i64>,
}

pub(super) fn write(
    connection: &Connection,
    generation: &Generation,
    changes: &[Change],
    prepared: &[Vec<Prepared>],
) -> Result<Written, StoreError> {
    read::change(connection, generation)?;
    let (mut commit, mut is_visible) = (Commit::NothingChanged, false);
    let (mut outcomes, mut gone) = (Vec::with_capacity(changes.len()), Vec::new());
    for (change, prepared) in changes.iter().zip(prepared) {
        let base = match change {
            Change::Replace(document) => Some(document.base),
            Change::Amend { base, .. } => Some(*base),
            Change::Remove { doc_id } => {
                read::document_info(connection, generation, doc_id)?.map(|stored| stored.version)
            }
            Change::Touch { .. } => None,
        };
        let outcome = match change {
            Change::Replace(document) => replace(connection, generation, document, prepared)?,
            Change::Remove { .. } => remove_document(connection, base)?,
            Change::Amend { chunks, base, overlays, .. } => {
                amend(connection, generation, (chunks, prepared), *base, overlays)?
            }
            Change::Touch { doc_id, modified } => touch(connection, generation, doc_id, *modified)?,
        };
        if outcome == Outcome::Written {
            commit = Commit::Yes;
            gone.extend(base);
            is_visible |= !matches!(change, Change::Touch { .. });
        }
        outcomes.push(outcome);
    }
    if is_visible {
        changed(connection, generation)?;
    }
    Ok(Written { outcomes, commit, gone })
}

fn changed(connection: &Connection, generation: &Generation) -> Result<(), StoreError> {
    connection.execute("UPDATE generations SET change = change + 1 WHERE id = ?1", [generation.number])?;
    Ok(())
}

pub(super) fn begin(
    connection: &Connection,
    collection: &str,
    spec: &GenerationSpec,
) -> Result<(Generation, Commit), StoreError> {
    if let Some(found) = read::find_spec(connection, collection, spec)? {
        return Ok((found, Commit::NothingChanged));
    }
    let model = match &spec.model {
        None => None,
        Some(model) => Some(match cache::model_id(connection, &model.name)? {
            Some((id, stored)) => {
                check_model(&stored, model)?;
                id
            }
            None => cache::put_model(connection, model)?,
        }),
    };
    let first = connection.execute("INSERT OR IGNORE INTO collections (name) VALUES (?1)", [collection])? > 0;
    connection.execute(
        "INSERT INTO generations (collection, strategy_version, config_hash, model, was_current)
         SELECT id, ?2, ?3, ?4, 0 FROM collections WHERE name = ?1",
        params![collection, spec.strategy_version, spec.config_hash, model],
    )?;
    let number = connection.last_insert_rowid();
    if first {
        connection
            .execute("UPDATE collections SET current = ?2 WHERE name = ?1", params![collection, number])?;
    }
    let generation = Generation { collection: collection.into(), number, spec: spec.clone(), stored: None };
    Ok((generation, Commit::Yes))
}

pub(super) fn switch(connection: &Connection, generation: &Generation) -> Result<((), Commit), StoreError> {
    read::change(connection, generation)?;
    let statement = "UPDATE collections SET current = ?2 WHERE name = ?1 AND current IS NOT ?2";
    let changed = connection.execute(statement, params![generation.collection, generation.number])?;
    let statement = "UPDATE generations SET was_current = 1 WHERE id = ?1 AND was_current = 0";
    let completed = connection.execute(statement, [generation.number])?;
    Ok(((), Commit::from(changed + completed > 0)))
}

/// Removes a generation, or the whole collection if it is the current one; returns the numbers of the removed
/// generations.
pub(super) fn remove(
    connection: &Connection,
    generation: &Generation,
) -> Result<(Vec<i64>, Commit), StoreError> {
    let is_current = connection
        .prepare("SELECT 1 FROM collections WHERE name = ?1 AND current = ?2")?
        .exists(params![generation.collection, generation.number])?;
    let mut statement = connection.prepare(
        "SELECT generations.id FROM generations JOIN collections ON collections.id = collection
         WHERE name = ?1 AND (?3 OR generations.id = ?2)",
    )?;
    let removed = statement
        .query_map(params![generation.collection, generation.number, is_current], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let has_meta = read::has_table(connection, "document_meta")?;
    for number in &removed {
        persist::remove(connection, *number)?;
        if has_meta {
            connection.execute(
                "DELETE FROM document_meta WHERE document IN (SELECT id FROM documents WHERE generation = ?1)",
                [number],
            )?;
        }
        for statement in [
            "DELETE FROM sources WHERE document IN (SELECT id FROM documents WHERE generation = ?1)",
            "DELETE FROM documents WHERE generation = ?1",
            "DELETE FROM chunks WHERE generation = ?1",
            "DELETE FROM generations WHERE id = ?1",
        ] {
            connection.execute(statement, [number])?;
        }
    }
    if is_current {
        let statement =
            "DELETE FROM overlays WHERE collection IN (SELECT id FROM collections WHERE name = ?1)";
        connection.execute(statement, [&generation.collection])?;
        if read::has_table(connection, "runs")? {
            let statement =
                "DELETE FROM runs WHERE collection IN (SELECT id FROM collections WHERE name = ?1)";
            connection.execute(statement, [&generation.collection])?;
        }
        connection.execute("DELETE FROM collections WHERE name = ?1", [&generation.collection])?;
    }
    let commit = Commit::from(!removed.is_empty());
    Ok((removed, commit))
}

fn replace(
    connection: &Connection,
    generation: &Generation,
    new: &NewDocument,
    prepared: &[Prepared],
) -> Result<Outcome, StoreError> {
    let info = &new.document.info;
    let stored = read::document_info(connection, generation, &info.doc_id)?;
    if stored.as_ref().map_or(0, |stored| stored.version) != new.base {
        return Ok(Outcome::Stale);
    }
    let vectors = vector_keys(connection, generation, &new.chunks)?;
    let has_model = generation.spec.model.is_some();
    let pending = if has_model { vectors.iter().filter(|vector| vector.is_none()).count() as u32 } else { 0 };
    if let Some(stored) = stored {
        // The decision to write nothing is made here, inside the transaction, where the stored version cannot change.
        if stored.is_same_input(info) && stored.pending <= pending {
            return Ok(Outcome::Unchanged);
        }
        remove_version(connection, stored.version)?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO documents (generation, doc_id, root, file_hash, bytes, modified, preset, format, encoding,
            low_confidence, replacements, chunks, pending, overlays, indexed_at, prefix)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    let version = statement.insert(params![
        generation.number,
        info.doc_id,
        info.root,
        info.file_hash,
        info.bytes,
        info.modified,
        info.preset,
        info.format,
        info.encoding,
        info.low_confidence,
        info.replacements,
        new.chunks.len(),
        pending,
        info.overlays,
        info.indexed_at,
        info.prefix
    ])?;
    put_meta(connection, version, &info.meta)?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO sources (document, doc_toc, summary, source, raw) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let document = &new.document;
    statement.execute(params![
        version,
        document.doc_toc,
        document.summary,
        document.source.as_bytes(),
        document.raw
    ])?;
    for (index, ((chunk, row), vector)) in new.chunks.iter().zip(prepared).zip(vectors).enumerate() {
        insert_chunk(connection, generation, (version, index), chunk, row, vector)?;
    }
    Ok(Outcome::Written)
}

fn put_meta(
    connection: &Connection,
    version: i64,
    meta: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    if !meta.is_empty() {
        connection.execute_batch(META)?;
        let json = serde_json::to_string(meta)
            .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
        let statement = "INSERT INTO document_meta (document, meta) VALUES (?1, ?2)";
        connection.prepare_cached(statement)?.execute(params![version, json])?;
    }
    Ok(())
}

/// Adds a chunk at a position of a document's version.
fn insert_chunk(
    connection: &Connection,
    generation: &Generation,
    (version, index): (i64, usize),
    chunk: &NewChunk,
    row: &Prepared,
    vector: Option<i64>,
) -> Result<(), StoreError> {
    let record = &chunk.record;
    let mut statement = connection.prepare_cached(
        "INSERT INTO chunks (generation, document, idx, chunk_id, text_hash, vector, enabled, start, end, category,
            language, content_type, artifact, symbols, terms, tail, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    let inserted = statement.execute(params![
        generation.number,
        version,
        index,
        row.id.0,
        chunk.text_hash,
        vector,
        chunk.enabled,
        record.start_byte,
        record.end_byte,
        record.category,
        record.language,
        record.content_type,
        record.artifact.map(SummaryKind::name),
        row.symbols,
        row.terms,
        row.tail,
        row.json
    ]);
    match inserted {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.code == rusqlite::ErrorCode::ConstraintViolation =>
        {
            Err(StoreError::IdCollision { id: row.id, doc_id: record.doc_id.clone() })
        }
        inserted => Ok(_ = inserted?),
    }
}

/// Replaces chunks by id. The document gets a new version, by which readers notice the change.
fn amend(
    connection: &Connection,
    generation: &Generation,
    (chunks, prepared): (&[NewChunk], &[Prepared]),
    base: i64,
    overlays: &str,
) -> Result<Outcome, StoreError> {
    let is_there = connection
        .prepare_cached("SELECT 1 FROM documents WHERE id = ?1 AND generation = ?2")?
        .exists([base, generation.number])?;
    if !is_there {
        return Ok(Outcome::Stale);
    }
    let mut places = Vec::with_capacity(chunks.len());
    let mut statement = connection
        .prepare_cached("SELECT idx FROM chunks WHERE generation = ?1 AND document = ?2 AND chunk_id = ?3")?;
    for row in prepared {
        let place = statement.query_row(params![generation.number, base, row.id.0], |row| row.get(0));
        let Some(index) = place.optional()? else { return Ok(Outcome::Stale) };
        places.push(index);
    }
    for index in &places {
        let statement = "DELETE FROM chunks WHERE document = ?1 AND idx = ?2";
        connection.prepare_cached(statement)?.execute(params![base, index])?;
    }
    let columns =
        "doc_id, root, file_hash, bytes, modified, preset, format, encoding, low_confidence, replacements,
        chunks, pending, overlays, indexed_at, prefix";
    // A temporary generation number, since a generation must not have two versions of a document.
    connection.execute("UPDATE documents SET generation = -1 WHERE id = ?1", [base])?;
    connection.execute(
        &format!(
            "INSERT INTO documents (generation, {columns}) SELECT ?2, {columns} FROM documents WHERE id = ?1"
        ),
        params![base, generation.number],
    )?;
    let version = connection.last_insert_rowid();
    connection.execute("DELETE FROM documents WHERE id = ?1", [base])?;
    connection.execute("UPDATE sources SET document = ?2 WHERE document = ?1", params![base, version])?;
    if read::has_table(connection, "document_meta")? {
        let statement = "UPDATE document_meta SET document = ?2 WHERE document = ?1";
        connection.execute(statement, params![base, version])?;
    }
    connection.execute("UPDATE chunks SET document = ?2 WHERE document = ?1", params![base, version])?;
    let vectors = vector_keys(connection, generation, chunks)?;
    for (((chunk, row), index), vector) in chunks.iter().zip(prepared).zip(places).zip(vectors) {
        insert_chunk(connection, generation, (version, index), chunk, row, vector)?;
    }
    connection.execute(
        "UPDATE documents SET overlays = ?2, pending = CASE WHEN ?3 THEN
             (SELECT count(*) FROM chunks WHERE document = ?1 AND vector IS NULL) ELSE 0 END
         WHERE id = ?1",
        params![version, overlays, generation.spec.model.is_some()],
    )?;
    Ok(Outcome::Written)
}

/// Keys of the vectors of the chunks; `None` where unknown.
fn vector_keys(
    connection: &Connection,
    generation: &Generation,
    chunks: &[NewChunk],
) -> Result<Vec<Option<i64>>, StoreError> {
    let Some((model, _)) = cache::model_id(connection, generation.model_name())? else {
        return Ok(vec![None; chunks.len()]);
    };
    let mut statement =
        connection.prepare_cached("SELECT key FROM vectors WHERE model = ?1 AND text_hash = ?2")?;
    let mut keys = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let mut rows = statement.query(params![model, chunk.text_hash])?;
        keys.push(rows.next()?.map(|row| row.get(0)).transpose()?);
    }
    Ok(keys)
}

/// Removes a version of a document, if there is one.
fn remove_document(connection: &Connection, version: Option<i64>) -> Result<Outcome, StoreError> {
    let Some(version) = version else { return Ok(Outcome::Unchanged) };
    remove_version(connection, version)?;
    Ok(Outcome::Written)
}

fn remove_version(connection: &Connection, version: i64) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM chunks WHERE document = ?1",
        "DELETE FROM sources WHERE document = ?1",
        "DELETE FROM documents WHERE id = ?1",
    ] {
        connection.prepare_cached(statement)?.execute([version])?;
    }
    if read::has_table(connection, "document_meta")? {
        connection.prepare_cached("DELETE FROM document_meta WHERE document = ?1")?.execute([version])?;
    }
    Ok(())
}

fn touch(
    connection: &Connection,
    generation: &Generation,
    doc_id: &str,
    modified: i64,
) -> Result<Outcome, StoreError> {
    let statement =
        "UPDATE documents SET modified = ?3 WHERE generation = ?1 AND doc_id = ?2 AND modified <> ?3";
    let changed =
        connection.prepare_cached(statement)?.execute(params![generation.number, doc_id, modified])?;
    Ok(if changed > 0 { Outcome::Written } else { Outcome::Unchanged })
}

pub(super) fn add_run(
    connection: &Connection,
    collection: &str,
    run: &PastRun,
) -> Result<((), Commit), StoreError> {
    let id = connection
        .prepare("SELECT id FROM collections WHERE name = ?1")?
        .query_row([collection], |row| row.get::<_, i64>(0))
        .optional()?;
    let Some(id) = id else { return Ok(((), Commit::NothingChanged)) };
    connection.execute_batch(RUNS)?;
    let last: u64 = connection.query_row(
        "SELECT COALESCE(MAX(number), 0) FROM runs WHERE collection = ?1",
        [id],
        |row| row.get(0),
    )?;
    let run = PastRun { number: last + 1, ..run.clone() };
    let json =
        serde_json::to_string(&run).map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
    connection.execute(
        "INSERT INTO runs (collection, number, run) VALUES (?1, ?2, ?3)",
        params![id, run.number, json],
    )?;
    let over = run.number.saturating_sub(PastRun::KEPT as u64);
    connection.execute("DELETE FROM runs WHERE collection = ?1 AND number <= ?2", params![id, over])?;
    Ok(((), Commit::Yes))
}

pub(super) fn put_overlays(
    connection: &Connection,
    collection: &str,
    overlays: &[Overlay],
) -> Result<((), Commit), StoreError> {
    let known = connection.prepare("SELECT 1 FROM collections WHERE name = ?1")?.exists([collection])?;
    if !known {
        return Err(unknown_collection(collection, std::iter::empty()));
    }
    let mut changed = 0;
    for overlay in overlays {
        changed += put_overlay(connection, collection, overlay)?;
    }
    Ok(((), Commit::from(changed > 0)))
}

/// Stores an overlay, or removes it if it is empty; returns the number of rows changed.
pub(super) fn put_overlay(
    connection: &Connection,
    collection: &str,
    overlay: &Overlay,
) -> Result<usize, StoreError> {
    Ok(if overlay.is_empty() {
        connection.execute(
            "DELETE FROM overlays WHERE chunk_id = ?2 AND collection IN (SELECT id FROM collections WHERE name = ?1)",
            params![collection, overlay.chunk_id],
        )?
    } else {
        let json = serde_json::to_string(overlay)
            .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
        connection.execute(
            "INSERT OR REPLACE INTO overlays (collection, chunk_id, overlay)
             SELECT id, ?2, ?3 FROM collections WHERE name = ?1",
            params![collection, overlay.chunk_id, json],
        )?
    })
}

/// Recomputes the terms of every chunk from its text and the keywords of its overlay.
pub(super) fn analyse_again(connection: &Connection) -> Result<(), StoreError> {
    let generations = collections::all(connection)?.into_iter().flat_map(|collection| collection.generations);
    for status in generations {
        let overlays = read::overlays(connection, &status.generation.collection)?;
        let documents = read::documents(connection, &status.generation)?;
        let applied = documents.iter().flat_map(DocumentInfo::applied);
        let on: HashMap<String, String> =
            applied.map(|applied| (applied.chunk_id, applied.overlay)).collect();
        let mut update = connection.prepare("UPDATE chunks SET terms = ?2 WHERE key = ?1")?;
        read::each_chunk(connection, &status.generation, &mut |key, record| {
            let overlay = on.get(&record.chunk_id.to_string()).and_then(|id| overlays.get(id));
            let terms = match overlay {
                Some(overlay) => overlay.terms(&record),
                None => TermCounts::of_chunk(&record.text, &record),
            };
            update.execute(params![key, terms.encode()])?;
            Ok(())
        })?;
        changed(connection, &status.generation)?;
    }
    Ok(())
}
