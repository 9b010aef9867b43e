//! Reading the tables. Every function runs inside a snapshot of its caller.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::super::filter::Facts;
use super::super::index::{NewRow, SearchIndex};
use super::super::{
    Collection, DocumentInfo, Filter, Generation, GenerationSpec, GenerationState, GenerationStatus, Model,
    Overlay, Overlays, SourceForm, SourcePart, SourceRange, StoreError, StoredChunk, StoredDocument,
};
use super::cache::{numbers, weights};
use super::recent::Recent;
use super::stored::{Place, Stored, decode};
use super::{parse_name, unknown_collection, unknown_generation};
use crate::bm25::TermCounts;
use crate::cancel;
use crate::report::PastRun;
use chunkwright::{ChunkId, Record};
use rusqlite::{CachedStatement, Connection, MAIN_DB, OptionalExtension, Row, params};

const GENERATION: &str =
    "collections.name, generations.id, strategy_version, config_hash, models.name, dimension, models.sparse
    FROM generations JOIN collections ON collections.id = generations.collection
    LEFT JOIN models ON models.id = generations.model";

fn generation(row: &Row<'_>) -> rusqlite::Result<Generation> {
    let model = match row.get::<_, Option<String>>(4)? {
        Some(name) => Some(Model { name, dimension: row.get(5)?, sparse: row.get(6)? }),
        None => None,
    };
    let spec = GenerationSpec { strategy_version: row.get(2)?, config_hash: row.get(3)?, model };
    Ok(Generation { collection: row.get(0)?, number: row.get(1)?, spec })
}

pub(super) fn collections(connection: &Connection) -> Result<Vec<Collection>, StoreError> {
    let counted = format!("SELECT {GENERATION} WHERE collections.id = ?1 ORDER BY generations.id");
    let mut statement =
        connection.prepare_cached("SELECT id, name, current FROM collections ORDER BY name")?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let found = found.collect::<Result<Vec<(i64, String, i64)>, _>>()?;
    let mut statement = connection.prepare_cached(&counted)?;
    let mut counts = connection.prepare_cached(
        "SELECT was_current, change, (SELECT count(*) FROM documents WHERE generation = ?1),
            (SELECT total(chunks) FROM documents WHERE generation = ?1),
            (SELECT total(pending) FROM documents WHERE generation = ?1)
         FROM generations WHERE id = ?1",
    )?;
    let mut collections = Vec::with_capacity(found.len());
    for (id, name, current) in found {
        let generations = statement.query_map([id], generation)?.collect::<Result<Vec<_>, _>>()?;
        let mut statuses = Vec::with_capacity(generations.len());
        for generation in generations {
            let status = counts.query_row([generation.number], |row| {
                let state = match (generation.number == current, row.get(0)?) {
                    (true, true) => GenerationState::Current,
                    (false, true) => GenerationState::Old,
                    (_, false) => GenerationState::Building,
                };
                Ok(GenerationStatus {
                    state,
                    documents: row.get(2)?,
                    chunks: row.get::<_, f64>(3)? as usize,
                    pending: row.get::<_, f64>(4)? as usize,
                    change: row.get(1)?,
                    generation,
                })
            })?;
            statuses.push(status);
        }
        collections.push(Collection { name, generations: statuses });
    }
    Ok(collections)
}

pub(super) fn open(connection: &Connection, name: &str) -> Result<Generation, StoreError> {
    let (collection, number) = parse_name(name);
    let collection = &*collection;
    let query = format!(
        "SELECT {GENERATION} WHERE collections.name = ?1 AND generations.id = coalesce(?2, collections.current)"
    );
    let mut statement = connection.prepare_cached(&query)?;
    if let Some(found) = statement.query_row(params![collection, number], generation).optional()? {
        return Ok(found);
    }
    if number.is_some()
        && connection.prepare("SELECT 1 FROM collections WHERE name = ?1")?.exists([collection])?
    {
        return Err(unknown_generation(&name));
    }
    let mut statement = connection.prepare("SELECT name FROM collections ORDER BY name")?;
    let known = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    Err(unknown_collection(collection, known.iter().map(String::as_str)))
}

pub(super) fn find_spec(
    connection: &Connection,
    collection: &str,
    spec: &GenerationSpec,
) -> Result<Option<Generation>, StoreError> {
    let query = format!("SELECT {GENERATION} WHERE collections.name = ?1 ORDER BY generations.id DESC");
    let mut statement = connection.prepare_cached(&query)?;
    let mut found = statement.query_map([collection], generation)?;
    Ok(found.find(|found| found.as_ref().is_ok_and(|found| found.spec == *spec)).transpose()?)
}

/// Whether the generation was ever switched to.
pub(super) fn is_complete(connection: &Connection, generation: &Generation) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached("SELECT was_current FROM generations WHERE id = ?1")?;
    let found = statement.query_row([generation.number], |row| row.get(0)).optional()?;
    found.ok_or_else(|| unknown_generation(generation))
}

/// The generation's number of changes.
///
/// # Errors
///
/// [`StoreError::UnknownGeneration`] if it is gone.
pub(super) fn change(connection: &Connection, generation: &Generation) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT change FROM generations WHERE id = ?1")?;
    let found = statement.query_row([generation.number], |row| row.get(0)).optional()?;
    found.ok_or_else(|| unknown_generation(generation))
}

/// The columns that [`info`] reads.
pub(super) fn info_columns(connection: &Connection) -> Result<String, StoreError> {
    let meta = if has_table(connection, "document_meta")? {
        "(SELECT meta FROM document_meta WHERE document = documents.id)"
    } else {
        "NULL"
    };
    Ok(format!(
        "documents.id, doc_id, root, file_hash, bytes, modified, preset, format, encoding, low_confidence,
        replacements, chunks, pending, overlays, indexed_at, prefix, {meta}"
    ))
}

pub(super) fn info(row: &Row<'_>) -> rusqlite::Result<DocumentInfo> {
    let meta: Option<String> = row.get(16)?;
    Ok(DocumentInfo {
        // What cannot be read is found by a check, since the records have it.
        meta: meta.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
        version: row.get(0)?,
        doc_id: row.get(1)?,
        root: row.get(2)?,
        file_hash: row.get(3)?,
        bytes: row.get(4)?,
        modified: row.get(5)?,
        preset: row.get(6)?,
        format: row.get(7)?,
        encoding: row.get(8)?,
        low_confidence: row.get(9)?,
        replacements: row.get(10)?,
        chunks: row.get(11)?,
        pending: row.get(12)?,
        overlays: row.get(13)?,
        indexed_at: row.get(14)?,
        prefix: row.get(15)?,
    })
}

pub(super) fn documents(
    connection: &Connection,
    generation: &Generation,
) -> Result<Vec<DocumentInfo>, StoreError> {
    change(connection, generation)?;
    let columns = info_columns(connection)?;
    let mut statement = connection
        .prepare_cached(&format!("SELECT {columns} FROM documents WHERE generation = ?1 ORDER BY doc_id"))?;
    let rows = statement.query_map([generation.number], info)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn document_info(
    connection: &Connection,
    generation: &Generation,
    doc_id: &str,
) -> Result<Option<DocumentInfo>, StoreError> {
    let columns = info_columns(connection)?;
    let mut statement = connection
        .prepare_cached(&format!("SELECT {columns} FROM documents WHERE generation = ?1 AND doc_id = ?2"))?;
    Ok(statement.query_row(params![generation.number, doc_id], info).optional()?)
}

pub(super) fn document(
    connection: &Connection,
    generation: &Generation,
    doc_id: &str,
) -> Result<Option<StoredDocument>, StoreError> {
    change(connection, generation)?;
    let Some(info) = document_info(connection, generation, doc_id)? else { return Ok(None) };
    let mut statement =
        connection.prepare_cached("SELECT doc_toc, summary, source, raw FROM sources WHERE document = ?1")?;
    let found = statement
        .query_row([info.version], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let (doc_toc, summary, source, raw) =
        found.ok_or_else(|| damaged(&format!("document `{doc_id}` has no source")))?;
    Ok(Some(StoredDocument { info, source: utf8(source)?, raw, doc_toc, summary }))
}

/// A part of a source, read where it lies: the rest of it does not come into memory.
pub(super) fn source_part(
    connection: &Connection,
    range: SourceRange<'_>,
) -> Result<Option<SourcePart>, StoreError> {
    let version = range.document.version;
    let mut statement =
        connection.prepare_cached("SELECT doc_toc, raw IS NULL FROM sources WHERE document = ?1")?;
    let found = statement.query_row([version], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((doc_toc, is_text)) = found else { return Ok(None) };
    let column = if is_text || range.form == SourceForm::Text { "source" } else { "raw" };
    let blob = connection.blob_open(MAIN_DB, "sources", column, version, true)?;
    let from = usize::try_from(range.offset).unwrap_or(usize::MAX).min(blob.len());
    let mut bytes = vec![0; range.limit.min(blob.len() - from)];
    blob.read_at_exact(&mut bytes, from)?;
    Ok(Some(SourcePart { bytes, length: blob.len() as u64, doc_toc }))
}

fn terms(bytes: &[u8]) -> Result<TermCounts, StoreError> {
    TermCounts::decode(bytes).ok_or_else(|| damaged("the terms of a chunk cannot be read"))
}

pub(super) fn damaged(problem: &str) -> StoreError {
    StoreError::Damaged { problem: problem.into() }
}

fn utf8(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|_| damaged("a text is no UTF-8"))
}

pub(super) fn records(
    connection: &Connection,
    generation: &Generation,
    doc_id: &str,
) -> Result<Vec<Record>, StoreError> {
    change(connection, generation)?;
    let Some(info) = document_info(connection, generation, doc_id)? else { return Ok(Vec::new()) };
    let mut records = Vec::with_capacity(info.chunks as usize);
    each_record(connection, generation, &info, &mut |_, record| {
        if record.artifact.is_none() {
            records.push(record);
        }
        Ok(())
    })?;
    Ok(records)
}

/// What a chunk's row and those beside it say of its record.
pub(super) const PLACE: &str = "idx, category, content_type, start, end,
    (SELECT chunk_id FROM chunks AS other WHERE (other.document, other.idx) = (chunks.document, chunks.idx - 1)
        AND other.artifact IS NULL AND chunks.artifact IS NULL),
    (SELECT chunk_id FROM chunks AS other WHERE (other.document, other.idx) = (chunks.document, chunks.idx + 1)
        AND other.artifact IS NULL AND chunks.artifact IS NULL)";

/// What [`PLACE`] says, from column `first` on.
fn place(row: &Row<'_>, first: usize) -> rusqlite::Result<Place> {
    let id = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<_>>(first + column)?.map(ChunkId));
    Ok(Place {
        index: row.get(first)?,
        category: row.get(first + 1)?,
        content_type: row.get(first + 2)?,
        start: row.get(first + 3)?,
        end: row.get(first + 4)?,
        previous: id(5)?,
        next: id(6)?,
    })
}

/// Calls `each` with the key and record of every chunk of a document, in order. The source is read once,
/// not once a chunk.
pub(super) fn each_record(
    connection: &Connection,
    generation: &Generation,
    info: &DocumentInfo,
    each: &mut dyn FnMut(i64, Record) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let source = source(connection, info)?;
    let known = Stored::of_document(generation, info);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {PLACE}, key, chunk_id, record, tail FROM chunks WHERE document = ?1 ORDER BY idx",
    ))?;
    let mut rows = statement.query([info.version])?;
    while let Some(row) = rows.next()? {
        let (_, record) = record(row, &known, &source)?;
        each(row.get(7)?, record)?;
    }
    Ok(())
}

/// The text of a document.
pub(super) fn source(connection: &Connection, info: &DocumentInfo) -> Result<String, StoreError> {
    let mut statement = connection.prepare_cached("SELECT source FROM sources WHERE document = ?1")?;
    utf8(statement.query_row([info.version], |row| row.get(0))?)
}

/// The place and record of a row that begins with [`PLACE`], the key, the chunk's id, the record and the tail.
pub(super) fn record(row: &Row<'_>, known: &Stored<'_>, source: &str) -> Result<(u32, Record), StoreError> {
    let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
    let place = place(row, 0)?;
    let content = match text(10)? {
        Some(tail) => Some((tail, content(source, &place)?)),
        None => None,
    };
    let json = text(9)?.unwrap_or_default();
    let record = decode(json, ChunkId(row.get(8)?), &known.at(&place), content)?;
    Ok((place.index, record))
}

/// Chunks by their ids, of one generation; `None` for one that it does not have.
pub(super) fn chunks(
    connection: &Connection,
    generation: &Generation,
    ids: &[ChunkId],
    recent: &Recent,
) -> Result<Vec<Option<StoredChunk>>, StoreError> {
    let mut find = connection
        .prepare_cached("SELECT key, document FROM chunks WHERE generation = ?1 AND chunk_id = ?2")?;
    let mut read = None;
    // Chunks of one document are read together, and what is said of it may be longer than all of them.
    let mut infos: HashMap<i64, DocumentInfo> = HashMap::new();
    let mut chunk = |id: ChunkId| {
        let found = find.query_row(params![generation.number, id.0], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((key, version)) = found.optional()? else { return Ok(None) };
        let known = recent.chunk(version, id, || {
            let statement = match &mut read {
                Some(statement) => statement,
                none => none.insert(connection.prepare_cached(&chunk_query())?),
            };
            let info = match infos.entry(version) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(info_of(connection, version)?),
            };
            chunk_row(connection, (generation, info), (key, id), statement, recent)
        });
        known.map(Some)
    };
    ids.iter().map(|id| chunk(*id)).collect()
}

/// What is said of a version of a document.
fn info_of(connection: &Connection, version: i64) -> Result<DocumentInfo, StoreError> {
    let columns = info_columns(connection)?;
    let mut statement =
        connection.prepare_cached(&format!("SELECT {columns} FROM documents WHERE id = ?1"))?;
    statement.query_row([version], info).optional()?.ok_or_else(|| damaged("a chunk has no document"))
}

/// The query that [`chunk_row`] runs.
fn chunk_query() -> String {
    format!(
        "SELECT record, tail, vector IS NOT NULL, enabled, doc_toc, summary, terms, {PLACE}
         FROM chunks JOIN sources ON sources.document = chunks.document
         WHERE chunks.key = ?1"
    )
}

fn chunk_row(
    connection: &Connection,
    (generation, info): (&Generation, &DocumentInfo),
    (key, id): (i64, ChunkId),
    statement: &mut CachedStatement<'_>,
    recent: &Recent,
) -> Result<StoredChunk, StoreError> {
    let mut rows = statement.query([key])?;
    let row = rows.next()?.ok_or_else(|| damaged("a chunk has no source"))?;
    let place = place(row, 7)?;
    let known = Stored::of_document(generation, info).at(&place);
    let tail: Option<String> = row.get(1)?;
    let content = match &tail {
        Some(tail) => Some((tail.as_str(), content(&recent.source(connection, info)?, &place)?)),
        None => None,
    };
    Ok(StoredChunk {
        record: decode(&row.get::<_, String>(0)?, id, &known, content)?,
        embedded: row.get(2)?,
        enabled: row.get(3)?,
        doc_toc: row.get(4)?,
        doc_summary: row.get(5)?,
        terms: terms(row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?)?,
    })
}

/// What a chunk owns of its source.
fn content(source: &str, place: &Place) -> Result<String, StoreError> {
    let content = source.get(place.start as usize..place.end as usize);
    content.map(str::to_owned).ok_or_else(|| damaged("a chunk is not in its source"))
}

/// Rows that are added to an index at once.
const ROWS_AT_ONCE: usize = 256;

/// The versions of documents that there are.
pub(super) fn versions(connection: &Connection, generation: &Generation) -> Result<HashSet<i64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id FROM documents WHERE generation = ?1")?;
    let versions = statement.query_map([generation.number], |row| row.get(0))?;
    Ok(versions.collect::<Result<_, _>>()?)
}

/// What an index lacks that has no version after `last_version`: calls `add` with indexes of newer ones. An index that has
/// nothing is made at once.
pub(super) fn new_versions(
    connection: &Connection,
    generation: &Generation,
    last_version: i64,
    add: &mut dyn FnMut(SearchIndex),
) -> Result<(), StoreError> {
    let dimension = generation.spec.model.as_ref().map_or(0, |model| model.dimension);
    let mut index = SearchIndex::new(dimension);
    // `+` keeps the index of generations out of it: rows then come in order and are not sorted with their vectors.
    let mut statement = connection.prepare_cached(
        "SELECT documents.id, doc_id, chunk_id, category, language, content_type, artifact, symbols, terms, enabled,
            vectors.vector, vectors.sparse
         FROM documents JOIN chunks ON chunks.document = documents.id
             LEFT JOIN vectors ON vectors.key = chunks.vector
         WHERE +documents.generation = ?1 AND documents.id > ?2
         ORDER BY documents.id, idx",
    )?;
    let mut rows = statement.query(params![generation.number, last_version])?;
    let mut version = 0;
    while let Some(row) = rows.next()? {
        let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?));
        let maybe = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
        if row.get::<_, i64>(0)? != version {
            version = row.get(0)?;
            if last_version > 0 && index.len() >= ROWS_AT_ONCE {
                index.finish();
                add(std::mem::replace(&mut index, SearchIndex::new(dimension)));
            }
            index.begin(version, text(1)?);
        }
        let terms = row.get_ref(8)?.as_blob().map_err(rusqlite::Error::from)?;
        let terms =
            TermCounts::decode(terms).ok_or_else(|| damaged("the terms of a chunk cannot be read"))?;
        let blob = |column| row.get_ref(column).and_then(|value| Ok(value.as_blob_or_null()?));
        let (dense, sparse) = (blob(10)?, blob(11)?);
        let sparse = dense.zip(sparse).map(|(dense, sparse)| weights(dense, sparse)).transpose()?;
        let vector = dense.map(numbers).transpose()?;
        let facts = Facts {
            doc_id: "",
            category: text(3)?,
            language: maybe(4)?,
            content_type: text(5)?,
            artifact: maybe(6)?,
            symbols: text(7)?,
        };
        let (id, enabled) = (ChunkId(row.get(2)?), row.get(9)?);
        let sparse = sparse.as_deref().unwrap_or_default();
        let new = NewRow { id, facts, terms: &terms, sparse, enabled };
        index.push(&new, vector);
    }
    index.finish();
    add(index);
    Ok(())
}

/// The chunks that pass a filter that records have to be read for.
pub(super) fn passing(
    connection: &Connection,
    generation: &Generation,
    filter: &Filter,
) -> Result<HashSet<ChunkId>, StoreError> {
    let mut passing = HashSet::new();
    for info in documents(connection, generation)? {
        cancel::check()?;
        each_record(connection, generation, &info, &mut |_, record| {
            if filter.passes_record(&record) {
                passing.insert(record.chunk_id);
            }
            Ok(())
        })?;
    }
    Ok(passing)
}

pub(super) fn overlays(connection: &Connection, collection: &str) -> Result<Overlays, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT overlay FROM overlays JOIN collections ON collections.id = collection WHERE name = ?1",
    )?;
    let mut rows = statement.query([collection])?;
    let mut overlays = Vec::new();
    while let Some(row) = rows.next()? {
        let json: String = row.get(0)?;
        let overlay: Overlay = serde_json::from_str(&json)
            .map_err(|error| damaged(&format!("what was changed by hand cannot be read: {error}")))?;
        overlays.push(overlay);
    }
    Ok(overlays.into_iter().collect())
}

/// Whether there is a table that not every store has.
pub(super) fn has_table(connection: &Connection, name: &str) -> Result<bool, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    Ok(statement.exists([name])?)
}

pub(super) fn runs(connection: &Connection, collection: &str) -> Result<Vec<PastRun>, StoreError> {
    if !has_table(connection, "runs")? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT run FROM runs JOIN collections ON collections.id = collection WHERE name = ?1
         ORDER BY number DESC",
    )?;
    let runs =
        statement.query_map([collection], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let parse = |json: &String| {
        serde_json::from_str(json).map_err(|error| damaged(&format!("a past run cannot be read: {error}")))
    };
    runs.iter().map(parse).collect()
}

/// Calls `each` with the key and record of every chunk.
pub(super) fn each_chunk(
    connection: &Connection,
    generation: &Generation,
    each: &mut dyn FnMut(i64, Record) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for info in documents(connection, generation)? {
        each_record(connection, generation, &info, each)?;
    }
    Ok(())
}
