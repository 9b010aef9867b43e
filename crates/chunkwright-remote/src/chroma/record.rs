//! A chunk as a Chroma record: metadata values are scalars, so the chunk itself is JSON in a string.

use chunkwright::record::course_metadata;
use chunkwright::{ChunkId, SummaryKind};
use serde_json::{Map, Value, json};

use super::{KEYS, Row};
use crate::database::{Found, Mark, Point, Which, Written, hex, point_id, unhex};
use crate::filter::Dialect;
use chunkwright_store::StoreError;
use chunkwright_store::bm25::TermCounts;
use chunkwright_store::filter::{Field, Test};
use chunkwright_store::vector::{decode, encode};

/// The record of a chunk in a collection; one without a vector carries zeros, `dimension` of them.
///
/// Beside what this store reads, the metadata has what other programs filter by: the fields of a course, and what was
/// said of the document. Chroma filters by scalars alone.
pub(super) fn record(written: &Written<'_>, collection: &str, dimension: usize) -> Result<Value, StoreError> {
    let Written { point, .. } = written;
    let record = &point.record;
    let kept = point.kept_record()?;
    let own = json!({
        "doc_id": record.doc_id,
        "chunk_id": record.chunk_id,
        "chunk_index": record.chunk_index,
        "total_chunks": record.total_chunks,
        "header_path": record.header_path,
        "section_path": record.section_path.join(" > "),
        "chunk_type": record.chunk_type,
        "category": record.category,
        "language": record.language.as_deref().unwrap_or_default(),
        "content_type": record.content_type,
        "artifact": record.artifact.map_or("", SummaryKind::name),
        "start_line": record.start_line,
        "end_line": record.end_line,
        "strategy_version": record.strategy_version,
        "record": kept.to_string(),
        "version": point.version,
        "place": point.place,
        "enabled": point.enabled,
        "embedded": point.embedded,
        "terms": hex(&point.terms.encode()),
        "text_hash": hex(&point.text_hash),
    });
    let course = record.meta.get("course_id").map_or(collection, String::as_str);
    let said = record.meta.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str())));
    let mut metadata: Map<String, Value> = said.chain(course_metadata(Some(course), &kept)).collect();
    metadata.extend(own.as_object().cloned().unwrap_or_default());
    if !point.sparse.is_empty() {
        metadata.insert("sparse".into(), hex(&encode(&point.sparse)).into());
    }
    let id = point_id(&[&point.id.0, &point.version.to_le_bytes()]);
    let embedding = match &point.vector {
        Some(vector) => json!(vector),
        None => json!(vec![0.0; dimension]),
    };
    Ok(json!({"id": id, "embedding": embedding, "metadata": metadata, "document": record.text}))
}

/// The id of a record, and those of its fields that another name of its collection changes; `None` where its course is not
/// its collection.
pub(super) fn label(row: &Row<'_>, collection: &str) -> Result<Option<(String, Value)>, StoreError> {
    let (_, version, id) = identity(row)?;
    let kept: Value = serde_json::from_str(row.metadata["record"].as_str().unwrap_or_default())
        .map_err(|_| damaged("the record of a chunk cannot be read"))?;
    if kept["meta"]["course_id"].is_string() {
        return Ok(None);
    }
    let is_of_course = |name: &str| ["course_id", "chapter_id", "source_file"].contains(&name);
    let named = course_metadata(Some(collection), &kept).into_iter();
    let changed: Map<String, Value> =
        named.filter(|(name, value)| is_of_course(name) && row.metadata[name] != *value).collect();
    let id = point_id(&[&id.0, &version.to_le_bytes()]);
    Ok((!changed.is_empty()).then(|| (id, Value::Object(changed))))
}

/// Reads what [`record`] wrote.
pub(super) fn read(row: &Row<'_>) -> Result<Point, StoreError> {
    let metadata = row.metadata;
    let Mark { id, version, text_hash, .. } = mark(row)?;
    let terms = metadata["terms"].as_str().and_then(unhex).and_then(|bytes| TermCounts::decode(&bytes));
    let sparse = match metadata["sparse"].as_str() {
        Some(text) => unhex(text).and_then(|bytes| decode(&bytes)),
        None => Some(Vec::new()),
    };
    let embedded = metadata["embedded"].as_bool().unwrap_or(false);
    let numbers = |values: &Vec<Value>| values.iter().filter_map(Value::as_f64).map(|v| v as f32).collect();
    Ok(Point {
        version,
        place: metadata["place"].as_u64().unwrap_or_default() as u32,
        id,
        text_hash,
        terms: terms.ok_or_else(|| damaged("the terms of a chunk cannot be read"))?,
        enabled: metadata["enabled"].as_bool().unwrap_or(true),
        embedded,
        vector: row.embedding.as_array().filter(|_| embedded).map(numbers),
        sparse: sparse.ok_or_else(|| damaged("the sparse vector of a chunk cannot be read"))?,
        record: whole(row)?,
    })
}

fn whole(row: &Row<'_>) -> Result<chunkwright::Record, StoreError> {
    let kept = serde_json::from_str(row.metadata["record"].as_str().unwrap_or_default());
    let kept = kept.map_err(|_| damaged("the record of a chunk cannot be read"))?;
    Point::whole_record(kept, row.document)
}

pub(super) fn mark(row: &Row<'_>) -> Result<Mark, StoreError> {
    let hash = row.metadata["text_hash"].as_str().and_then(unhex).and_then(|bytes| bytes.try_into().ok());
    let (doc_id, version, id) = identity(row)?;
    Ok(Mark {
        doc_id,
        version,
        id,
        text_hash: hash.ok_or_else(|| damaged("a record has no hash of its text"))?,
    })
}

pub(super) fn found(row: &Row<'_>, is_exact: bool) -> Result<Found, StoreError> {
    let (doc_id, version, id) = identity(row)?;
    // Chroma's distance `ip` is 1 less the dot product.
    let score = 1.0 - row.distance;
    Ok(Found { doc_id, version, id, score, record: if is_exact { None } else { Some(whole(row)?) } })
}

fn identity(row: &Row<'_>) -> Result<(String, i64, ChunkId), StoreError> {
    let id = row.metadata["chunk_id"].as_str().and_then(|id| id.parse().ok());
    Ok((
        row.metadata["doc_id"].as_str().unwrap_or_default().into(),
        row.metadata["version"].as_i64().unwrap_or_default(),
        id.ok_or_else(|| damaged("a record has no id of a chunk"))?,
    ))
}

fn damaged(problem: &str) -> StoreError {
    StoreError::Damaged { problem: problem.into() }
}

/// The conditions of requests for these records, each of bounded length; `null` for all.
pub(super) fn conditions(which: Which<'_>) -> Vec<Value> {
    match which {
        Which::All => vec![Value::Null],
        Which::Versions(versions) => {
            versions.chunks(KEYS).map(|versions| json!({"version": {"$in": versions}})).collect()
        }
        Which::Chunks(ids) => ids
            .chunks(KEYS)
            .map(|ids| {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                json!({"chunk_id": {"$in": ids}})
            })
            .collect(),
        Which::Document(doc_id) => vec![json!({"doc_id": doc_id})],
        Which::Places(version, (from, to)) => {
            let places = [json!({"place": {"$gte": from}}), json!({"place": {"$lt": to}})];
            let [from, to] = places;
            vec![json!({"$and": [{"version": version}, from, to]})]
        }
    }
}

/// The dialect of Chroma's conditions. A condition fails on records that lack its field, and so would its negation:
/// negations are not pushed.
pub(super) const DIALECT: Dialect = Dialect {
    field: |field, test| {
        let known = [Field::DOC_ID, Field::CATEGORY, Field::LANGUAGE, Field::CONTENT_TYPE];
        if !known.contains(&field) {
            return None;
        }
        match test {
            // An unknown language is an empty string there and absent here.
            Test::Is(Value::String(text)) if !text.is_empty() => Some(json!({field.name(): text})),
            Test::In(values) => {
                let texts = values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()));
                (texts && !values.is_empty()).then(|| json!({field.name(): {"$in": values}}))
            }
            _ => None,
        }
    },
    meta: |_, _| None,
    and: |all| json!({"$and": all}),
    or: |any| json!({"$or": any}),
    not: None,
    is_chunk: || json!({"artifact": ""}),
    always: || json!({"enabled": true}),
};
