//! Reads the tables. Every function runs inside a snapshot of its caller.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::cache::{numbers, weights};
use super::recent::Recent;
use super::stored::{Place, Stored, StoredText, decode};
use super::{no_collection, parse_name, unknown_generation};
use crate::bm25::TermCounts;
use crate::cancel;
use crate::document::{DocumentInfo, StoredChunk, StoredDocument};
use crate::error::StoreError;
use crate::filter::Facts;
use crate::filter::Filter;
use crate::generation::{Generation, GenerationSpec, Model};
use crate::index::{Located, NewRow, SearchIndex};
use crate::overlay::{Overlay, Overlays};
use crate::past_run::PastRun;
use crate::source::{SourceForm, SourcePart, SourceRange};
use chunkwright::{ChunkId, Record};
use rusqlite::{CachedStatement, Connection, MAIN_DB, OptionalExtension, Row, params};

pub(super) const GENERATION: &str =
    "collections.name, generations.id, strategy_version, config_hash, models.name, dimension, models.sparse
    FROM generations JOIN collections ON collections.id = generations.collection
    LEFT JOIN models ON models.id = generations.model";

pub(super) fn generation(row: &Row<'_>) -> rusqlite::Result<Generation> {
    let model = match row.get::<_, Option<String>>(4)? {
        Some(name) => Some(Model { name, dimension: row.get(5)?, sparse: row.get(6)? }),
        None => None,
    };
    let spec = GenerationSpec { strategy_version: row.get(2)?, config_hash: row.get(3)?, model };
    Ok(Generation { collection: row.get(0)?, number: row.get(1)?, spec, stored: None })
}

pub(super) fn lookup(connection: &Connection, name: &str) -> Result<Option<Generation>, StoreError> {
    let (collection, number) = parse_name(name);
    let collection = &*collection;
    let mut statement = connection.prepare_cached(&lookup_sql())?;
    if let Some(found) = statement.query_row(params![collection, number], generation).optional()? {
        return Ok(Some(found));
    }
    if number.is_some()
        && connection.prepare("SELECT 1 FROM collections WHERE name = ?1")?.exists([collection])?
    {
        return Err(unknown_generation(&name));
    }
    no_collection(collection)
}

pub(super) fn lookup_sql() -> String {
    format!(
        "SELECT {GENERATION} WHERE collections.name = ?1 AND generations.id = coalesce(?2, collections.current)"
    )
}

pub(super) fn find_sql() -> String {
    format!("SELECT {GENERATION} WHERE collections.name = ?1 ORDER BY generations.id DESC")
}

pub(super) fn find_spec(
    connection: &Connection,
    collection: &str,
    spec: &GenerationSpec,
) -> Result<Option<Generation>, StoreError> {
    let mut statement = connection.prepare_cached(&find_sql())?;
    let mut found = statement.query_map([collection], generation)?;
    Ok(found.find(|found| found.as_ref().is_ok_and(|found| found.spec == *spec)).transpose()?)
}

/// Returns whether the generation was ever switched to.
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
        // A check finds malformed metadata, since the records have it too.
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
    Ok(Some(StoredDocument { info, source: utf8(source)?.into(), raw, doc_toc, summary }))
}

/// A part of a source, read in place: the rest is not loaded into memory.
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

/// The columns of a chunk's row and its neighbours that determine fields of its record.
pub(super) const PLACE: &str = "idx, category, content_type, start, end,
    (SELECT chunk_id FROM chunks AS other WHERE (other.document, other.idx) = (chunks.document, chunks.idx - 1)
        AND other.artifact IS NULL AND chunks.artifact IS NULL),
    (SELECT chunk_id FROM chunks AS other WHERE (other.document, other.idx) = (chunks.document, chunks.idx + 1)
        AND other.artifact IS NULL AND chunks.artifact IS NULL)";

/// Reads the columns of [`PLACE`], from column `first` on.
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

/// Calls `each` with the key and record of every chunk of a document, in order. The source is read once, not once per
/// chunk.
pub(super) fn each_record(
    connection: &Connection,
    generation: &Generation,
    info: &DocumentInfo,
    each: &mut dyn FnMut(i64, Record) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let source = source(connection, info.version)?;
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

/// The text of a version of a document.
pub(super) fn source(connection: &Connection, version: i64) -> Result<String, StoreError> {
    let mut statement = connection.prepare_cached("SELECT source FROM sources WHERE document = ?1")?;
    utf8(statement.query_row([version], |row| row.get(0))?)
}

/// The place and record of a row that begins with [`PLACE`], the key, the chunk's id, the record and the tail.
pub(super) fn record(row: &Row<'_>, known: &Stored<'_>, source: &str) -> Result<(u32, Record), StoreError> {
    let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
    let place = place(row, 0)?;
    let content = match text(10)? {
        Some(tail) => Some((tail, content(source, place.start..place.end)?.to_owned())),
        None => None,
    };
    let json = text(9)?.unwrap_or_default();
    let record = decode(json, ChunkId(row.get(8)?), &known.at(&place), content)?;
    Ok((place.index, record))
}

/// Chunks by their ids, of one generation, and the versions of their documents and their numbers in them where those are
/// known; `None` for one that it does not have.
pub(super) fn chunks(
    connection: &Connection,
    generation: &Generation,
    ids: impl Iterator<Item = (ChunkId, Option<(i64, u32)>)>,
    recent: &Recent,
) -> Result<Vec<Option<Arc<StoredChunk>>>, StoreError> {
    let mut find = connection
        .prepare_cached("SELECT document, idx FROM chunks WHERE generation = ?1 AND chunk_id = ?2")?;
    let mut read = None;
    // Chunks of one document are read together, and its metadata may be longer than all of them.
    let mut infos: HashMap<i64, DocumentInfo> = HashMap::new();
    let chunk = |(id, place): (ChunkId, Option<(i64, u32)>)| {
        let place = match place {
            None => {
                let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                find.query_row(params![generation.number, id.0], row).optional()?
            }
            known => known,
        };
        let Some((version, index)) = place else { return Ok(None) };
        let known = recent.chunk(version, id, || {
            let statement = match &mut read {
                Some(statement) => statement,
                none => none.insert(connection.prepare_cached(&chunk_query())?),
            };
            let info = match infos.entry(version) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(info_of(connection, version)?),
            };
            chunk_row(connection, (generation, info), (id, index), statement, recent)
        });
        known.map(Some)
    };
    ids.map(chunk).collect()
}

/// The metadata of a version of a document.
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
         WHERE chunks.document = ?1 AND idx = ?2 AND chunk_id = ?3"
    )
}

fn chunk_row(
    connection: &Connection,
    (generation, info): (&Generation, &DocumentInfo),
    (id, index): (ChunkId, u32),
    statement: &mut CachedStatement<'_>,
    recent: &Recent,
) -> Result<StoredChunk, StoreError> {
    let mut rows = statement.query(params![info.version, index, id.0])?;
    let row = rows.next()?.ok_or_else(|| damaged("a chunk has no source"))?;
    let place = place(row, 7)?;
    let known = Stored::of_document(generation, info).at(&place);
    let tail: Option<String> = row.get(1)?;
    let content = match &tail {
        Some(tail) => {
            let source = recent.source(connection, info.version)?;
            Some((tail.as_str(), content(&source, place.start..place.end)?.to_owned()))
        }
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

/// The content of a chunk: its range of the source.
fn content(source: &str, range: Range<u32>) -> Result<&str, StoreError> {
    let content = source.get(range.start as usize..range.end as usize);
    content.ok_or_else(|| damaged("a chunk is not in its source"))
}

/// Rows that are added to an index at once.
const ROWS_AT_ONCE: usize = 256;

/// The existing versions of documents.
pub(super) fn versions(connection: &Connection, generation: &Generation) -> Result<HashSet<i64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id FROM documents WHERE generation = ?1")?;
    let versions = statement.query_map([generation.number], |row| row.get(0))?;
    Ok(versions.collect::<Result<_, _>>()?)
}

/// Versions of documents that earlier derived data lacks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Newer {
    /// Those of the generation after this one. Finding them costs a pass over the generation.
    Than(i64),
    /// Those that this transaction wrote: all after this one, which was the last of the store. The cost is that of the
    /// versions written.
    Written(i64),
}

impl Newer {
    pub(super) fn sql(self) -> (&'static str, i64) {
        match self {
            // `+` stops the planner from walking the keys, which are those of all generations together.
            Self::Than(last) => {
                ("SELECT id, doc_id FROM documents WHERE generation = ?1 AND +id > ?2 ORDER BY +id", last)
            }
            Self::Written(last) => {
                ("SELECT id, doc_id FROM documents WHERE +generation = ?1 AND id > ?2 ORDER BY id", last)
            }
        }
    }
}

/// The greatest version of a document in the store.
pub(super) fn last_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(id), 0) FROM documents")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Versions of documents and their ids, in order.
pub(super) fn newer(
    connection: &Connection,
    generation: &Generation,
    newer: Newer,
) -> Result<Vec<(i64, String)>, StoreError> {
    let (sql, last) = newer.sql();
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([generation.number, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) const INDEXED: &str =
    "SELECT chunk_id, category, language, content_type, artifact, symbols, terms, enabled,
        vectors.vector, vectors.sparse, vectors.key
     FROM chunks LEFT JOIN vectors ON vectors.key = chunks.vector
     WHERE document = ?1 ORDER BY idx";

/// Reads the versions after `last_version`, which an index lacks: calls `add` with indexes of them. An empty index is
/// built in one step.
pub(super) fn new_versions(
    connection: &Connection,
    generation: &Generation,
    (last_version, lacking): (i64, Newer),
    add: &mut dyn FnMut(SearchIndex),
) -> Result<(), StoreError> {
    let dimension = generation.spec.model.as_ref().map_or(0, |model| model.dimension);
    let mut index = SearchIndex::persistent(dimension);
    let mut statement = connection.prepare_cached(INDEXED)?;
    for (version, doc_id) in newer(connection, generation, lacking)? {
        if last_version > 0 && index.row_count() >= ROWS_AT_ONCE {
            index.finish();
            add(std::mem::replace(&mut index, SearchIndex::persistent(dimension)));
        }
        add_version(&mut statement, (version, &doc_id), &mut index)?;
    }
    index.finish();
    add(index);
    Ok(())
}

/// Adds the rows of a version of a document, which `statement` reads by [`INDEXED`].
pub(super) fn add_version(
    statement: &mut CachedStatement<'_>,
    (version, doc_id): (i64, &str),
    index: &mut SearchIndex,
) -> Result<(), StoreError> {
    let mut rows = statement.query([version])?;
    let mut is_begun = false;
    while let Some(row) = rows.next()? {
        if !std::mem::replace(&mut is_begun, true) {
            index.begin(version, doc_id);
        }
        index_row(row, index)?;
    }
    Ok(())
}

/// Adds a row of [`INDEXED`] to an index.
fn index_row(row: &Row<'_>, index: &mut SearchIndex) -> Result<(), StoreError> {
    let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?));
    let maybe = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
    let terms = row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?;
    let terms = TermCounts::decode(terms).ok_or_else(|| damaged("the terms of a chunk cannot be read"))?;
    let blob = |column| row.get_ref(column).and_then(|value| Ok(value.as_blob_or_null()?));
    let (dense, sparse) = (blob(8)?, blob(9)?);
    let sparse = dense.zip(sparse).map(|(dense, sparse)| weights(dense, sparse)).transpose()?;
    let vector = dense.map(numbers).transpose()?;
    let facts = Facts {
        doc_id: "",
        category: text(1)?,
        language: maybe(2)?,
        content_type: text(3)?,
        artifact: maybe(4)?,
        symbols: text(5)?,
    };
    let (id, enabled) = (ChunkId(row.get(0)?), row.get(7)?);
    let sparse = sparse.as_deref().unwrap_or_default();
    let key = row.get(10)?;
    index.push(&NewRow { id, facts, terms: &terms, sparse, enabled, vector: key }, vector);
    Ok(())
}

/// Calls `each` with the texts of chunks, in order, empty for one that is not there. Reading whole records took three times
/// as long.
pub(super) fn each_text(
    connection: &Connection,
    chunks: &[Located],
    recent: &Recent,
    each: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT start, end, tail, record FROM chunks WHERE (document, idx, chunk_id) = (?1, ?2, ?3)",
    )?;
    let mut source: Option<(i64, Arc<str>)> = None;
    let mut whole = String::new();
    for Located { id, at: (version, number) } in chunks {
        cancel::check()?;
        let mut rows = statement.query(params![version, number, id.0])?;
        let Some(row) = rows.next()? else {
            each("");
            continue;
        };
        let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
        let stored = StoredText::read(text(3)?.unwrap_or_default())?;
        let Some(tail) = text(2)? else {
            each(&stored.text);
            continue;
        };
        let source = match &source {
            Some((of, source)) if of == version => source,
            _ => &source.insert((*version, recent.source(connection, *version)?)).1,
        };
        whole.clear();
        let content = content(source, row.get::<_, u32>(0)?..row.get(1)?)?;
        whole.extend([&stored.context, content, tail]);
        each(&whole);
    }
    Ok(())
}

/// The chunks that pass a filter which needs records.
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

/// Returns whether an optional table exists.
pub(super) fn has_table(connection: &Connection, name: &str) -> Result<bool, StoreError> {
    has(connection, "table", name)
}

/// Returns whether a table or index of this name exists.
pub(super) fn has(connection: &Connection, kind: &str, name: &str) -> Result<bool, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = ?1 AND name = ?2")?;
    Ok(statement.exists([kind, name])?)
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
