//! Reading the tables. Every function runs inside a snapshot of its caller.

use chunkwright::{ChunkId, Record};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::super::filter::Facts;
use super::super::rank::{DenseIndex, NewRow};
use super::super::{
    Collection, DocumentInfo, Filter, Model, Scored, StoreError, StoredChunk, StoredDocument, TextHash,
};
use super::CollectionRow;
use crate::analysis;

const INFO: &str =
    "documents.id, doc_id, root, file_hash, bytes, config_hash, strategy_version, preset, format,
    encoding, low_confidence, replacements, chunks, pending, indexed_at";

fn info(row: &Row<'_>) -> rusqlite::Result<DocumentInfo> {
    Ok(DocumentInfo {
        version: row.get(0)?,
        doc_id: row.get(1)?,
        root: row.get(2)?,
        file_hash: row.get(3)?,
        bytes: row.get(4)?,
        config_hash: row.get(5)?,
        strategy_version: row.get(6)?,
        preset: row.get(7)?,
        format: row.get(8)?,
        encoding: row.get(9)?,
        low_confidence: row.get(10)?,
        replacements: row.get(11)?,
        chunks: row.get(12)?,
        pending: row.get(13)?,
        indexed_at: row.get(14)?,
    })
}

pub(super) fn collections(connection: &Connection) -> Result<Vec<Collection>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT name, model, dimension, change, count(documents.id), total(chunks), total(pending)
         FROM collections LEFT JOIN documents ON documents.collection = collections.id
         GROUP BY collections.id ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| {
        let (model, dimension) = (row.get::<_, Option<String>>(1)?, row.get::<_, Option<usize>>(2)?);
        Ok(Collection {
            name: row.get(0)?,
            model: model.zip(dimension).map(|(name, dimension)| Model { name, dimension }),
            change: row.get(3)?,
            documents: row.get(4)?,
            chunks: row.get::<_, f64>(5)? as usize,
            pending: row.get::<_, f64>(6)? as usize,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn documents(connection: &Connection, collection: &str) -> Result<Vec<DocumentInfo>, StoreError> {
    let row = CollectionRow::get(connection, collection)?;
    let mut statement = connection
        .prepare_cached(&format!("SELECT {INFO} FROM documents WHERE collection = ?1 ORDER BY doc_id"))?;
    let rows = statement.query_map([row.id], info)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn document_info(
    connection: &Connection,
    collection: i64,
    doc_id: &str,
) -> Result<Option<DocumentInfo>, StoreError> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {INFO} FROM documents WHERE collection = ?1 AND doc_id = ?2"))?;
    Ok(statement.query_row(params![collection, doc_id], info).optional()?)
}

pub(super) fn document(
    connection: &Connection,
    collection: &str,
    doc_id: &str,
) -> Result<Option<StoredDocument>, StoreError> {
    let row = CollectionRow::get(connection, collection)?;
    let Some(info) = document_info(connection, row.id, doc_id)? else { return Ok(None) };
    let mut statement =
        connection.prepare_cached("SELECT doc_toc, source, raw FROM sources WHERE document = ?1")?;
    let found =
        statement.query_row([info.version], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let (doc_toc, source, raw) =
        found.ok_or_else(|| damaged(&format!("document `{doc_id}` has no source")))?;
    Ok(Some(StoredDocument { info, source: utf8(source)?, raw, doc_toc }))
}

/// Columns of a chunk that [`record`] reads.
const RECORD: &str = "record, tail, start, end, substr(source, start + 1, end - start)";
const FROM_CHUNKS: &str = "FROM chunks JOIN sources ON sources.document = chunks.document";

/// A record, whole again.
fn record(row: &Row<'_>) -> Result<Record, StoreError> {
    let json: String = row.get(0)?;
    let mut record: Record =
        serde_json::from_str(&json).map_err(|error| damaged(&format!("a chunk cannot be read: {error}")))?;
    if let Some(tail) = row.get::<_, Option<String>>(1)? {
        record.content = utf8(row.get(4)?)?;
        record.text = [&record.context, &record.content, tail.as_str()].concat();
    }
    Ok(record)
}

fn damaged(problem: &str) -> StoreError {
    StoreError::Damaged { problem: problem.into() }
}

fn utf8(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|_| damaged("a text is no UTF-8"))
}

pub(super) fn records(
    connection: &Connection,
    collection: &str,
    doc_id: &str,
) -> Result<Vec<Record>, StoreError> {
    let row = CollectionRow::get(connection, collection)?;
    let Some(info) = document_info(connection, row.id, doc_id)? else { return Ok(Vec::new()) };
    // The source is read once, not once a chunk.
    let mut statement = connection.prepare_cached("SELECT source FROM sources WHERE document = ?1")?;
    let source = utf8(statement.query_row([info.version], |row| row.get(0))?)?;
    let mut statement = connection.prepare_cached(
        "SELECT record, tail, start, end, NULL FROM chunks
         WHERE document = ?1 AND artifact IS NULL ORDER BY idx",
    )?;
    let mut rows = statement.query([info.version])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let json: String = row.get(0)?;
        let mut record: Record = serde_json::from_str(&json)
            .map_err(|error| damaged(&format!("a chunk cannot be read: {error}")))?;
        if let Some(tail) = row.get::<_, Option<String>>(1)? {
            let span = row.get::<_, usize>(2)?..row.get::<_, usize>(3)?;
            let content = source.get(span).ok_or_else(|| damaged("a chunk is not in its source"))?;
            content.clone_into(&mut record.content);
            record.text = [&record.context, content, tail.as_str()].concat();
        }
        records.push(record);
    }
    Ok(records)
}

pub(super) fn chunk(
    connection: &Connection,
    collection: &str,
    id: ChunkId,
) -> Result<Option<StoredChunk>, StoreError> {
    let collection = CollectionRow::get(connection, collection)?;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RECORD},
            EXISTS (SELECT 1 FROM vectors WHERE model = ?3 AND vectors.text_hash = chunks.text_hash),
            EXISTS (SELECT 1 FROM disabled WHERE disabled.collection = ?1 AND disabled.chunk_id = ?2),
            doc_toc
         {FROM_CHUNKS} WHERE collection = ?1 AND chunk_id = ?2"
    ))?;
    let mut rows = statement.query(params![collection.id, id.0, collection.model.map(|model| model.name)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let disabled: bool = row.get(6)?;
    Ok(Some(StoredChunk {
        record: record(row)?,
        doc_toc: row.get(7)?,
        embedded: row.get(5)?,
        enabled: !disabled,
    }))
}

pub(super) fn vectors(
    connection: &Connection,
    model: &str,
    hashes: &[TextHash],
) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT vector FROM vectors WHERE model = ?1 AND text_hash = ?2")?;
    let mut vectors = Vec::with_capacity(hashes.len());
    for hash in hashes {
        let bytes: Option<Vec<u8>> =
            statement.query_row(params![model, hash], |row| row.get(0)).optional()?;
        vectors.push(bytes.map(|bytes| numbers(&bytes).collect()));
    }
    Ok(vectors)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

const NOT_DISABLED: &str = "NOT EXISTS (SELECT 1 FROM disabled
    WHERE disabled.collection = chunks.collection AND disabled.chunk_id = chunks.chunk_id)";

pub(super) fn dense_index(
    connection: &Connection,
    collection: i64,
    model: &Model,
) -> Result<DenseIndex, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT chunk_id, doc_id, category, language, content_type, artifact, symbols, vector
         FROM documents JOIN chunks ON chunks.document = documents.id
             JOIN vectors ON vectors.model = ?2 AND vectors.text_hash = chunks.text_hash
         WHERE documents.collection = ?1 AND {NOT_DISABLED}
         ORDER BY documents.id, idx"
    ))?;
    let mut rows = statement.query(params![collection, model.name])?;
    let mut index = DenseIndex::new(model.dimension);
    while let Some(row) = rows.next()? {
        let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?));
        let vector = row.get_ref(7)?.as_blob().map_err(rusqlite::Error::from)?;
        if vector.len() != 4 * model.dimension {
            return Err(damaged("a vector has another length than its collection's"));
        }
        let (language, artifact): (Option<String>, Option<String>) = (row.get(3)?, row.get(5)?);
        let facts = Facts {
            category: text(2)?,
            language: language.as_deref(),
            content_type: text(4)?,
            artifact: artifact.as_deref(),
            symbols: text(6)?,
        };
        let new = NewRow { id: ChunkId(row.get(0)?), doc_id: text(1)?, facts };
        index.push(&new, numbers(vector));
    }
    Ok(index)
}

/// Most terms of one query; more say nothing new and cost time.
const MAX_TERMS: usize = 128;

/// Equal scores at the end of a ranking that are put in order.
const TIES: usize = 256;

pub(super) fn lexical(
    connection: &Connection,
    collection: &CollectionRow,
    terms: &[String],
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Scored>, StoreError> {
    let mut query = String::new();
    for (index, term) in terms.iter().enumerate() {
        if index >= MAX_TERMS {
            break;
        }
        if !query.is_empty() {
            query.push_str(" OR ");
        }
        query.push('"');
        query.push_str(&term.replace('"', "\"\""));
        query.push('"');
        if analysis::is_prefix(term) {
            query.push('*');
        }
    }
    if query.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let words = collection.words();
    // A kind of summary is a value of the column; the other artifacts are more than one.
    let kind = filter.artifact.clone().filter(|artifact| !Filter::ARTIFACTS.contains(&artifact.as_str()));
    let mut values = vec![Value::Text(query), Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))];
    let mut wheres = String::new();
    let is = [
        ("chunks.category", &filter.category),
        ("chunks.language", &filter.language),
        ("chunks.content_type", &filter.content_type),
        ("chunks.artifact", &kind),
    ];
    for (column, value) in is.into_iter().filter_map(|(column, value)| Some((column, value.as_ref()?))) {
        values.push(Value::Text(value.clone()));
        wheres = format!("{wheres} AND {column} = ?{}", values.len());
    }
    wheres.push_str(match filter.artifact.as_deref() {
        None | Some("chunk") => " AND chunks.artifact IS NULL",
        Some("summary") => " AND chunks.artifact IS NOT NULL",
        Some(_) => "",
    });
    if let Some(line) = filter.symbol_line() {
        values.push(Value::Text(line));
        wheres = format!("{wheres} AND instr(chunks.symbols, ?{}) > 0", values.len());
    }
    let patterns = filter.doc_id.iter().map(|pattern| ("GLOB", pattern));
    for (is, pattern) in patterns.chain(filter.not_doc_ids.iter().map(|pattern| ("NOT GLOB", pattern))) {
        // Of GLOB's special characters, `*` alone is one of ours.
        let escaped = pattern.replace('[', "[[]").replace('?', "[?]");
        values.push(Value::Text(escaped));
        wheres = format!(
            "{wheres} AND (SELECT doc_id FROM documents WHERE documents.id = chunks.document) {is} ?{}",
            values.len()
        );
    }
    let mut matches =
        format!("SELECT rowid AS key, -bm25({words}) AS score FROM {words} WHERE {words} MATCH ?1");
    let has_summaries = connection
        .prepare_cached("SELECT 1 FROM chunks WHERE collection = ?1 AND artifact IS NOT NULL")?
        .exists([collection.id])?;
    if filter.is_empty() && !has_summaries {
        // What cannot be among the first is dropped before it is looked up: a common word matches most
        // chunks. The slack keeps the order of equal scores by chunk id, up to that many of them.
        let disabled: usize = connection
            .prepare_cached("SELECT count(*) FROM disabled WHERE collection = ?1")?
            .query_row([collection.id], |row| row.get(0))?;
        matches = format!("{matches} ORDER BY score DESC LIMIT {}", limit.saturating_add(disabled + TIES));
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT chunk_id, score FROM ({matches}) AS matches JOIN chunks ON chunks.key = matches.key
         WHERE {NOT_DISABLED}{wheres} ORDER BY score DESC, chunk_id LIMIT ?2"
    ))?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        Ok(Scored { id: ChunkId(row.get(0)?), score: row.get(1)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Calls `each` with the key and text of every chunk of a collection.
pub(super) fn each_text(
    connection: &Connection,
    collection: i64,
    each: &mut dyn FnMut(i64, &str) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare(&format!("SELECT {RECORD}, key {FROM_CHUNKS} WHERE collection = ?1 ORDER BY key"))?;
    let mut rows = statement.query([collection])?;
    while let Some(row) = rows.next()? {
        each(row.get(5)?, &record(row)?.text)?;
    }
    Ok(())
}
