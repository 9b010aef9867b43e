//! Reads collections that another program made.
//!
//! Only the fields that the options name are known. The id of a point is the id of its chunk, so that the point can be
//! found again.

use chunkwright::{ChunkId, Record};
use chunkwright_http::Method;
use chunkwright_models::text_hash;
use serde_json::{Value, json};

use super::{KEYS, Qdrant, text};
use crate::database::{Found, Mark, Point, Which};
use chunkwright_store::bm25::TermCounts;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::{Generation, GenerationSpec, Model, StoreError};

impl Qdrant {
    /// The specification of the collection, if it exists and is not ours.
    pub(super) fn foreign_spec(&self, collection: &str) -> Result<Option<GenerationSpec>, StoreError> {
        let alias = self.alias(collection);
        // As part of a path, these would lead out of the collections.
        if ["", ".", ".."].contains(&alias.as_str()) {
            return Ok(None);
        }
        let Some(info) = self.call(Method::Get, &alias, "", None)? else { return Ok(None) };
        // What a rename that was interrupted left to be seen under the old name is ours.
        if let Some(owner) = info["config"]["metadata"]["collection"].as_str()
            && let Some(shown) = self.shown(&alias)?
            && shown.starts_with(&format!("{}-g", self.alias(owner)))
        {
            return Ok(None);
        }
        let params = &info["config"]["params"];
        let vectors = &params["vectors"];
        let dense = &self.options.dense;
        let size = if dense.is_empty() { &vectors["size"] } else { &vectors[dense.as_str()]["size"] };
        let model = size.as_u64().map(|size| Model {
            name: self.options.model.clone().unwrap_or_default(),
            dimension: size as usize,
            sparse: !params["sparse_vectors"][self.options.sparse.as_str()].is_null(),
        });
        Ok(Some(GenerationSpec { model, ..GenerationSpec::default() }))
    }

    /// Returns whether the collection has the sparse vector of words.
    pub(super) fn has_words(&self, collection: &str) -> Result<bool, StoreError> {
        let info = self.call(Method::Get, &self.alias(collection), "", None)?.unwrap_or_default();
        Ok(!info["config"]["params"]["sparse_vectors"][self.options.words.as_str()].is_null())
    }

    pub(super) fn foreign_points(
        &self,
        generation: &Generation,
        which: Which<'_>,
    ) -> Result<Vec<Point>, StoreError> {
        let name = self.physical(generation);
        let points = match which {
            Which::Versions(_) | Which::Places(..) => Vec::new(),
            Which::All | Which::Document(_) => {
                let filter = self.options.filters(which).pop().unwrap_or_default();
                let found = self.scroll(&name, json!({"filter": filter, "with_payload": true}))?;
                found.ok_or_else(|| unknown_generation(generation))?
            }
            Which::Chunks(ids) => {
                let mut points = Vec::new();
                for ids in ids.chunks(KEYS) {
                    let ids: Vec<Value> = ids.iter().map(|id| given_id(*id)).collect();
                    let body = json!({"ids": ids, "with_payload": true});
                    if let Value::Array(found) = self.points_call(generation, "/points", &body)? {
                        points.extend(found);
                    }
                }
                points
            }
        };
        Ok(points.iter().map(|point| self.foreign_point(point)).collect())
    }

    pub(super) fn foreign_marks(&self, generation: &Generation) -> Result<Vec<Mark>, StoreError> {
        let points = self.foreign_points(generation, Which::All)?.into_iter();
        let mark = |point: Point| Mark {
            doc_id: point.record.doc_id,
            version: point.version,
            id: point.id,
            text_hash: point.text_hash,
        };
        Ok(points.map(mark).collect())
    }

    pub(super) fn foreign_found(&self, point: &Value) -> Found {
        let read = self.foreign_point(point);
        Found {
            doc_id: read.record.doc_id.clone(),
            version: 0,
            id: read.id,
            score: point["score"].as_f64().unwrap_or_default(),
            record: Some(read.record),
        }
    }

    fn foreign_point(&self, point: &Value) -> Point {
        let (options, payload) = (&self.options, &point["payload"]);
        let at_top = |field: &str| payload[field].as_str().unwrap_or_default().to_owned();
        let metadata = &payload[options.metadata.as_str()];
        let said = |field: &str| text(metadata[field].clone()).unwrap_or_else(|| at_top(field));
        let number = |field: &str| {
            let number = payload[field].as_u64().or_else(|| metadata[field].as_u64());
            number.unwrap_or_default() as u32
        };
        let content = at_top(&options.content);
        let titles = metadata["section_path"].as_array();
        let titles = titles.map(|titles| titles.iter().filter_map(|title| text(title.clone())).collect());
        let id = chunk_id(&point["id"]);
        let doc_id = at_top(&options.doc_id);
        let record = json!({
            "chunk_id": id.to_string(),
            "parent": doc_id,
            "doc_id": doc_id,
            "chunk_index": number(&options.chunk_index),
            "total_chunks": number("total_chunks"),
            "content": content,
            "context": "",
            "text": content,
            "start_line": 0, "end_line": 0, "start_byte": 0, "end_byte": 0, "start_char": 0, "end_char": 0,
            "header_path": said("header_path"),
            "section_path": titles.unwrap_or_else(Vec::<String>::new),
            "content_type": said("content_type"),
            "chunk_type": said("chunk_type"),
            "category": said("category"),
            "char_count": content.chars().count(),
            "word_count": 0, "token_count": 0, "tokenizer": "", "token_level": "normal", "oversize": false,
            "cut": "", "strategy_version": "", "preset": "", "config_hash": "", "file_hash": "",
        });
        Point {
            version: 0,
            place: number(&options.chunk_index),
            id,
            text_hash: text_hash(&content),
            terms: TermCounts::default(),
            enabled: true,
            embedded: true,
            vector: None,
            sparse: Vec::new(),
            record: serde_json::from_value::<Record>(record).expect("a record with every field"),
        }
    }
}

/// Converts a point's id to a chunk's: the bytes of a UUID, or a number padded with zeros.
fn chunk_id(id: &Value) -> ChunkId {
    let mut bytes = [0; 16];
    match id {
        Value::String(uuid) => {
            let digits: String = uuid.chars().filter(char::is_ascii_hexdigit).collect();
            if let Ok(id) = digits.to_lowercase().parse::<ChunkId>() {
                return id;
            }
        }
        id => bytes[8..].copy_from_slice(&id.as_u64().unwrap_or_default().to_be_bytes()),
    }
    ChunkId(bytes)
}

/// The inverse of [`chunk_id`].
fn given_id(id: ChunkId) -> Value {
    let (high, low) = id.0.split_at(8);
    if high == [0; 8] {
        return u64::from_be_bytes(low.try_into().unwrap_or_default()).into();
    }
    let text = id.to_string();
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-").into()
}
