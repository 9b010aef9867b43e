//! A chunk as a Qdrant point.
//!
//! The top level has the fields that other programs read, under configurable names; `record` has the whole chunk, and
//! the rest is internal to this program.

use chunkwright::{ChunkId, Record};
use serde_json::{Value, json};

use super::{KEYS, QdrantOptions, matches, sparse};
use crate::database::{Found, Mark, Point, Which, Written, hex, point_id, unhex};
use crate::filter::Dialect;
use chunkwright_models::TextHash;
use chunkwright_store::bm25::TermCounts;
use chunkwright_store::bm25::TermId;
use chunkwright_store::filter::{Field, FieldType, Range, Test};
use chunkwright_store::{Metadata, StoreError};

impl QdrantOptions {
    /// The point of a chunk.
    pub(super) fn point(&self, written: &Written<'_>) -> Result<Value, StoreError> {
        let Written { point, info, doc_toc } = written;
        let record = &point.record;
        let (mut indices, mut values): (Vec<_>, Vec<_>) = point.terms.weights().unzip();
        if indices.is_empty() {
            // A term that no query has, so that a text without words still counts in document frequencies.
            (indices, values) = (vec![TermId::MAX], vec![1.0]);
        }
        let words = json!({"indices": indices, "values": values});
        let mut vectors = json!({self.words.as_str(): words});
        if !point.sparse.is_empty() {
            vectors[self.sparse.as_str()] = sparse(&point.sparse);
        }
        if let Some(vector) = &point.vector {
            vectors[self.dense.as_str()] = json!(vector);
        }
        let symbols = point.symbols();
        let payload = json!({
            self.content.as_str(): record.text,
            self.doc_id.as_str(): record.doc_id,
            self.chunk_index.as_str(): record.chunk_index,
            self.chunk_id.as_str(): record.chunk_id,
            self.metadata.as_str(): Metadata::new(record, Some(info), doc_toc),
            "record": point.kept_record()?,
            "version": point.version,
            "place": point.place,
            "enabled": point.enabled,
            "embedded": point.embedded,
            "symbols": symbols.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(),
            "terms": hex(&point.terms.encode()),
            "text_hash": hex(&point.text_hash),
        });
        let id = point_id(&[&point.id.0, &point.version.to_le_bytes()]);
        Ok(json!({"id": id, "vector": vectors, "payload": payload}))
    }

    /// Reads what [`point`](Self::point) wrote.
    pub(super) fn read(&self, mut point: Value) -> Result<Point, StoreError> {
        let numbers = |values: &Vec<Value>| -> Vec<f32> {
            values.iter().filter_map(Value::as_f64).map(|v| v as f32).collect()
        };
        // An unnamed vector stands alone, or under an empty name beside the others.
        let dense = [&point["vector"][self.dense.as_str()], &point["vector"]];
        let vector = dense.into_iter().find_map(Value::as_array).map(numbers);
        let sparse = &point["vector"][self.sparse.as_str()];
        let weights = sparse["values"].as_array().map(numbers).unwrap_or_default();
        let tokens = sparse["indices"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        let mut sparse: Vec<(u32, f32)> = tokens.map(|token| token as u32).zip(weights).collect();
        sparse.sort_unstable_by_key(|(token, _)| *token);
        let payload = &mut point["payload"];
        let terms = payload["terms"].as_str().and_then(unhex).and_then(|bytes| TermCounts::decode(&bytes));
        let record = self.record(payload)?;
        Ok(Point {
            version: payload["version"].as_i64().unwrap_or_default(),
            place: payload["place"].as_u64().unwrap_or_default() as u32,
            id: self.id(payload)?,
            text_hash: text_hash(payload)?,
            terms: terms.ok_or_else(|| damaged("the terms of a chunk cannot be read"))?,
            enabled: payload["enabled"].as_bool().unwrap_or(true),
            embedded: payload["embedded"].as_bool().unwrap_or(false),
            vector,
            sparse,
            record,
        })
    }

    fn record(&self, payload: &mut Value) -> Result<Record, StoreError> {
        let kept = payload["record"].take();
        Point::whole_record(kept, payload[self.content.as_str()].as_str().unwrap_or_default())
    }

    fn id(&self, payload: &Value) -> Result<ChunkId, StoreError> {
        let id = payload[self.chunk_id.as_str()].as_str().and_then(|id| id.parse().ok());
        id.ok_or_else(|| damaged("a point has no id of a chunk"))
    }

    /// The payload fields that are read of found points.
    pub(super) fn found_fields(&self, is_exact: bool) -> Vec<&str> {
        let mut fields = vec![self.doc_id.as_str(), &self.chunk_id, "version"];
        if !is_exact {
            fields.extend([self.content.as_str(), "record"]);
        }
        fields
    }

    pub(super) fn found(&self, mut point: Value, is_exact: bool) -> Result<Found, StoreError> {
        let score = point["score"].as_f64().unwrap_or_default();
        let payload = &mut point["payload"];
        Ok(Found {
            doc_id: payload[self.doc_id.as_str()].as_str().unwrap_or_default().into(),
            version: payload["version"].as_i64().unwrap_or_default(),
            id: self.id(payload)?,
            score,
            record: if is_exact { None } else { Some(self.record(payload)?) },
        })
    }

    pub(super) fn mark_fields(&self) -> [&str; 4] {
        [&self.doc_id, &self.chunk_id, "version", "text_hash"]
    }

    pub(super) fn mark(&self, payload: &Value) -> Result<Mark, StoreError> {
        Ok(Mark {
            doc_id: payload[self.doc_id.as_str()].as_str().unwrap_or_default().into(),
            version: payload["version"].as_i64().unwrap_or_default(),
            id: self.id(payload)?,
            text_hash: text_hash(payload)?,
        })
    }

    /// The filters of requests for these points, each of bounded length.
    pub(super) fn filters(&self, which: Which<'_>) -> Vec<Value> {
        let any = |key: &str, values: Value| json!({"must": [{"key": key, "match": {"any": values}}]});
        match which {
            Which::All => vec![json!({})],
            Which::Versions(versions) => {
                versions.chunks(KEYS).map(|versions| any("version", json!(versions))).collect()
            }
            Which::Chunks(ids) => ids
                .chunks(KEYS)
                .map(|ids| {
                    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                    any(&self.chunk_id, json!(ids))
                })
                .collect(),
            Which::Document(doc_id) => vec![json!({"must": [matches(&self.doc_id, doc_id)]})],
            Which::Places(version, (from, to)) => {
                let version = json!({"key": "version", "match": {"value": version}});
                vec![json!({"must": [version, {"key": "place", "range": {"gte": from, "lt": to}}]})]
            }
        }
    }
}

fn text_hash(payload: &Value) -> Result<TextHash, StoreError> {
    let hash = payload["text_hash"].as_str().and_then(unhex).and_then(|bytes| bytes.try_into().ok());
    hash.ok_or_else(|| damaged("a point has no hash of its text"))
}

fn damaged(problem: &str) -> StoreError {
    StoreError::Damaged { problem: problem.into() }
}

/// The dialect of Qdrant's conditions. As in our filters, a missing field passes no condition, and one element of a
/// list must pass.
pub(super) const DIALECT: Dialect = Dialect {
    field: |field, test| {
        if field == Field::ARTIFACT {
            return artifact(test);
        }
        if field == Field::SYMBOL {
            return symbol(test);
        }
        let key = format!("record.{}", field.name());
        match (field.field_type(), test) {
            // The text is not in the record, and prefixes are better checked by reading than by an index.
            _ if ["content", "context", "text"].contains(&field.name()) => None,
            (FieldType::Text | FieldType::List, Test::Is(Value::String(text))) => Some(matches(&key, text)),
            (FieldType::Text | FieldType::List, Test::In(values)) => {
                let texts = values.iter().all(Value::is_string);
                texts.then(|| json!({"key": key, "match": {"any": values}}))
            }
            (FieldType::Bool, Test::Is(Value::Bool(is))) => Some(json!({"key": key, "match": {"value": is}})),
            (FieldType::Number, Test::Is(Value::Number(number))) => {
                Some(json!({"key": key, "range": {"gte": number, "lte": number}}))
            }
            (FieldType::Number, Test::Range(range)) => Some(json!({"key": key, "range": bounds(range)?})),
            _ => None,
        }
    },
    meta: |name, test| {
        // Other characters would make the name a path.
        let is_key = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match test {
            Test::Is(Value::String(text)) if is_key => {
                let own = format!("record.properties.{}", name.to_lowercase());
                let said = format!("record.meta.{name}");
                Some(json!({"should": [matches(&said, text), matches(&own, text)]}))
            }
            _ => None,
        }
    },
    and: |all| json!({"must": all}),
    or: |any| json!({"should": any}),
    not: Some(|not| json!({"must_not": [not]})),
    is_chunk: || json!({"is_empty": {"key": "record.artifact"}}),
    always: || json!({"key": "enabled", "match": {"value": true}}),
};

fn artifact(test: &Test) -> Option<Value> {
    let is_chunk = (DIALECT.is_chunk)();
    match test {
        Test::Is(Value::String(wanted)) => match wanted.as_str() {
            "chunk" => Some(is_chunk),
            "summary" => Some(json!({"must_not": [is_chunk]})),
            "all" => None,
            wanted => Some(matches("record.artifact", wanted)),
        },
        _ => None,
    }
}

fn symbol(test: &Test) -> Option<Value> {
    match test {
        Test::Is(Value::String(symbol)) => Some(matches("symbols", &symbol.replace("::", "."))),
        _ => None,
    }
}

/// The bounds of a range of numbers; `None` if one is not a number.
fn bounds(range: &Range) -> Option<Value> {
    let mut bounds = json!({});
    for (name, bound) in [("gt", &range.gt), ("gte", &range.gte), ("lt", &range.lt), ("lte", &range.lte)] {
        if let Some(bound) = bound {
            bound.as_f64()?;
            bounds[name] = bound.clone();
        }
    }
    Some(bounds)
}
