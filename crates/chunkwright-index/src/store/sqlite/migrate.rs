//! From older layouts to this program's, inside the transaction in which the store is opened.
//!
//! Layouts 1 to 3 had no generations: a collection was a set of documents with one model. It becomes
//! the one generation that most of its documents were cut for. Documents that were cut otherwise stay
//! searchable and are marked, so that the next run cuts them again. Layout 4 had no sparse vectors, layout 5 no
//! prefixes of folders, some parents that did not hold their chunk, and only hashes of what overlays were made for and of
//! what of them is on chunks.

use chunkwright::{ChunkId, Span};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, params};

use super::super::{DocumentInfo, Generation, GenerationStatus, Overlay, StoreError, StoredChunk};
use super::recent::Recent;
use super::setup::{LAYOUT, TABLES, pragma};
use super::{cache, collections, read, stored, write};
use crate::parsed::parse_again;
use crate::settle::guess_applied;

const OUTDATED: &str = DocumentInfo::OUTDATED;

/// Tables of layouts 1 to 3 that have other columns now.
const OLD_TABLES: [&str; 4] = ["collections", "documents", "chunks", "vectors"];

/// Brings the tables to [`LAYOUT`]; answers whether they were not. A layout that is not known is left
/// as it is.
pub(super) fn migrate(connection: &Connection) -> Result<bool, StoreError> {
    let found = pragma(connection, "user_version")?;
    match found {
        1..=3 => migrate_oldest(connection, found)?,
        4 => connection.execute_batch(&[ADD_SPARSE, ADD_PREFIX].concat())?,
        5 => connection.execute_batch(ADD_PREFIX)?,
        _ => return Ok(false),
    }
    repair_parents(connection)?;
    keep_overlays(connection)?;
    connection.pragma_update(None, "user_version", LAYOUT)?;
    Ok(true)
}

/// Has overlays remember the content of the chunks they were made for, and documents what of the overlays is on
/// their chunks: up to layout 5 there were hashes of both.
fn keep_overlays(connection: &Connection) -> Result<(), StoreError> {
    for collection in collections::all(connection)? {
        let mut overlays = read::overlays(connection, &collection.name)?;
        for overlay in overlays.clone().iter().filter(|overlay| overlay.lacks_content()) {
            let mut known = overlay.clone();
            for GenerationStatus { generation, .. } in &collection.generations {
                let chunk = match overlay.chunk_id.parse() {
                    Ok(id) => chunk(connection, generation, id)?,
                    Err(_) => None,
                };
                let records = match chunk {
                    Some(chunk) => vec![chunk.record],
                    None => read::records(connection, generation, &overlay.doc_id)?,
                };
                if known.remember_one(&records) {
                    write::put_overlay(connection, &collection.name, &known)?;
                    overlays.put(known);
                    break;
                }
            }
        }
        for GenerationStatus { generation, .. } in &collection.generations {
            let infos = read::documents(connection, generation)?;
            for mut info in infos.into_iter().filter(|info| !info.overlays.is_empty()) {
                let mut statement = connection
                    .prepare_cached("SELECT chunk_id FROM chunks WHERE document = ?1 AND NOT enabled")?;
                let disabled = statement.query_map([info.version], |row| Ok(ChunkId(row.get(0)?)))?;
                let disabled = disabled.collect::<Result<_, _>>()?;
                let records = read::records(connection, generation, &info.doc_id)?;
                info.set_applied(&guess_applied(&records, &disabled, &overlays));
                connection.execute(
                    "UPDATE documents SET overlays = ?2 WHERE id = ?1",
                    params![info.version, info.overlays],
                )?;
            }
        }
    }
    Ok(())
}

/// Makes room for sparse vectors, as if it had always been there.
pub(in super::super) const ADD_SPARSE: &str = "
ALTER TABLE models ADD COLUMN sparse INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vectors ADD COLUMN sparse BLOB;
";

/// Makes room for what stands before the relative paths of a folder in the ids of its documents.
const ADD_PREFIX: &str = "ALTER TABLE documents ADD COLUMN prefix TEXT NOT NULL DEFAULT '';";

/// Older programs stored some parents that begin after their chunk. They are computed again from the stored
/// text, so that nothing has to be indexed again.
fn repair_parents(connection: &Connection) -> Result<(), StoreError> {
    let collections = collections::all(connection)?;
    let generations = collections.into_iter().flat_map(|collection| collection.generations);
    for generation in generations.map(|status| status.generation) {
        for info in read::documents(connection, &generation)? {
            match repair_parents_of(connection, &generation, &info) {
                // What cannot be read stays as it is, for a check to find.
                Ok(()) | Err(StoreError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

fn repair_parents_of(
    connection: &Connection,
    generation: &Generation,
    info: &DocumentInfo,
) -> Result<(), StoreError> {
    let mut wrong = Vec::new();
    read::each_record(connection, generation, info, &mut |key, record| {
        if record.holding_parent(usize::MAX).is_none() {
            wrong.push((key, Span { start: record.start_byte, end: record.end_byte }));
        }
        Ok(())
    })?;
    if wrong.is_empty() {
        return Ok(());
    }
    let Some(stored) = read::document(connection, generation, &info.doc_id)? else { return Ok(()) };
    let document = parse_again(&stored);
    let mut select = connection.prepare_cached("SELECT record FROM chunks WHERE key = ?1")?;
    let mut update = connection.prepare_cached("UPDATE chunks SET record = ?2 WHERE key = ?1")?;
    for (key, span) in wrong {
        let record: String = select.query_row([key], |row| row.get(0))?;
        update
            .execute(params![key, stored::with_parent(&record, &info.doc_id, document.parent_of(span))?])?;
    }
    Ok(())
}

fn migrate_oldest(connection: &Connection, found: i64) -> Result<(), StoreError> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_master WHERE name GLOB 'words_[0-9]*' AND sql LIKE 'CREATE VIRTUAL%'",
    )?;
    let words = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for table in words {
        connection.execute_batch(&format!("DROP TABLE {table}"))?;
    }
    for table in OLD_TABLES {
        connection.execute_batch(&format!("ALTER TABLE {table} RENAME TO old_{table}"))?;
    }
    connection.execute_batch("DROP INDEX IF EXISTS summaries; ALTER TABLE meta RENAME TO old_meta; ALTER TABLE sources RENAME TO old_sources")?;
    connection.execute_batch(TABLES)?;
    connection.create_scalar_function(
        "with_checksum",
        1,
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC,
        |context| {
            let numbers = context.get_raw(0).as_blob().map_err(rusqlite::Error::from)?;
            let vector: Vec<f32> =
                numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            Ok(cache::bytes(&vector))
        },
    )?;
    let (artifact, symbols) = if found < 3 { ("NULL", "''") } else { ("artifact", "symbols") };
    connection.execute_batch(&format!(
        "INSERT INTO sources SELECT document, doc_toc, '', source, raw FROM old_sources;
         INSERT INTO models (name, dimension) SELECT DISTINCT model, dimension FROM old_collections WHERE model IS NOT NULL;
         INSERT INTO vectors (key, model, text_hash, vector) SELECT key, models.id, text_hash, with_checksum(vector) FROM old_vectors JOIN models ON name = old_vectors.model;
         INSERT INTO collections SELECT id, name, id FROM old_collections;
         INSERT INTO generations
             SELECT old_collections.id, old_collections.id, coalesce(spec.strategy_version, ''), coalesce(spec.config_hash, ''), models.id, 1, change
             FROM old_collections LEFT JOIN models ON models.name = model LEFT JOIN (
                 SELECT collection, strategy_version, config_hash, max(many) FROM (
                     SELECT collection, strategy_version, config_hash, count(*) AS many FROM old_documents
                     GROUP BY collection, strategy_version, config_hash ORDER BY many, config_hash)
                 GROUP BY collection) AS spec ON spec.collection = old_collections.id;
         INSERT INTO documents (id, generation, doc_id, root, file_hash, bytes, modified, preset, format, encoding,
                 low_confidence, replacements, chunks, pending, overlays, indexed_at)
             SELECT old_documents.id, collection, doc_id, root, file_hash, bytes, 0, preset, format, encoding, low_confidence,
                 replacements, chunks, pending,
                 CASE WHEN (strategy_version, config_hash) = (SELECT strategy_version, config_hash FROM generations WHERE id = collection)
                     THEN '' ELSE '{OUTDATED}' END,
                 indexed_at
             FROM old_documents;
         INSERT INTO chunks
             SELECT old_chunks.key, old_chunks.collection, document, idx, chunk_id, old_chunks.text_hash, vectors.key,
                 NOT EXISTS (SELECT 1 FROM disabled WHERE disabled.collection = old_chunks.collection AND disabled.chunk_id = old_chunks.chunk_id),
                 start, end, category, language, content_type, {artifact}, {symbols}, x'00', tail,
                 CASE WHEN json_extract(record, '$.parent') IS NULL
                     THEN json_set(record, '$.parent', json_extract(record, '$.doc_id')) ELSE record END
             FROM old_chunks JOIN generations ON generations.id = old_chunks.collection
             LEFT JOIN vectors ON vectors.model = generations.model AND vectors.text_hash = old_chunks.text_hash;"
    ))?;
    keep_disabled(connection)?;
    for table in OLD_TABLES.into_iter().chain(["meta", "sources"]) {
        connection.execute_batch(&format!("DROP TABLE old_{table}"))?;
    }
    connection.execute_batch("DROP TABLE disabled")?;
    // The words are made again, since no analysis has this version.
    connection.execute("INSERT INTO meta VALUES ('analysis', 0)", [])?;
    Ok(())
}

fn chunk(
    connection: &Connection,
    generation: &Generation,
    id: ChunkId,
) -> Result<Option<StoredChunk>, StoreError> {
    Ok(read::chunks(connection, generation, &[id], &Recent::default())?.pop().flatten())
}

/// Chunks that were disabled stay so, by overlays.
fn keep_disabled(connection: &Connection) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare("SELECT name, chunk_id FROM disabled JOIN collections ON id = disabled.collection")?;
    let disabled = statement
        .query_map([], |row| Ok((row.get(0)?, ChunkId(row.get(1)?))))?
        .collect::<Result<Vec<(String, ChunkId)>, _>>()?;
    for (collection, id) in disabled {
        let Some(generation) = read::lookup(connection, &collection)? else { continue };
        let overlay = match chunk(connection, &generation, id)? {
            Some(chunk) => Overlay::of(&chunk.record),
            None => Overlay { chunk_id: id.to_string(), ..Overlay::default() },
        };
        write::put_overlay(connection, &collection, &Overlay { disabled: true, ..overlay })?;
        // What the pipeline would say of the document's overlays is for it to find out.
        connection.execute(
            "UPDATE documents SET overlays = ?2 WHERE id = (SELECT document FROM chunks WHERE generation = ?1 AND chunk_id = ?3)",
            params![generation.number, OUTDATED, id.0],
        )?;
    }
    Ok(())
}
