//! A chunk as a row: columns that conditions and rankings use, and the whole record as JSON.

use postgres::types::ToSql;
use postgres::{Error, Row};

use super::pool::Link;
use super::value::Raw;
use crate::database::{Found, Mark, Part, Point, Which, Written};
use chunkwright::{ChunkId, Record, SummaryKind};
use chunkwright_store::StoreError;
use chunkwright_store::bm25::TermCounts;
use chunkwright_store::vector::{decode, encode};

/// Rows by column, as one statement inserts them.
#[derive(Default)]
pub(super) struct Rows {
    versions: Vec<i64>,
    places: Vec<i32>,
    chunk_ids: Vec<Raw>,
    text_hashes: Vec<Raw>,
    enabled: Vec<bool>,
    doc_ids: Vec<String>,
    categories: Vec<String>,
    languages: Vec<String>,
    content_types: Vec<String>,
    artifacts: Vec<String>,
    symbols: Vec<String>,
    vectors: Vec<Option<Raw>>,
    words: Vec<Raw>,
    word_ids: Vec<String>,
    weights: Vec<Option<Raw>>,
    sparse: Vec<Option<Vec<u8>>>,
    terms: Vec<Vec<u8>>,
    contents: Vec<String>,
    records: Vec<String>,
    exact: Vec<Option<Vec<u8>>>,
}

impl Rows {
    /// Adds the row of a chunk.
    pub(super) fn push(&mut self, written: &Written<'_>) -> Result<(), StoreError> {
        let Written { point, .. } = written;
        let record = &point.record;
        let kept = point.kept_record()?.to_string();
        self.versions.push(point.version);
        self.places.push(point.place.cast_signed());
        self.chunk_ids.push(Raw::id(point.id.0));
        self.text_hashes.push(Raw::id(point.text_hash));
        self.enabled.push(point.enabled);
        self.doc_ids.push(record.doc_id.clone());
        self.categories.push(without_null(&record.category));
        self.languages.push(without_null(record.language.as_deref().unwrap_or_default()));
        self.content_types.push(without_null(&record.content_type));
        self.artifacts.push(record.artifact.map_or("", SummaryKind::name).to_owned());
        self.symbols.push(without_null(&point.symbols()));
        self.vectors.push(point.vector.as_deref().map(Raw::vector));
        self.words.push(Raw::terms(point.terms.weights().map(|(term, weight)| (term, weight as f32))));
        let ids: Vec<String> =
            point.terms.counts.iter().map(|(term, _)| term.cast_signed().to_string()).collect();
        self.word_ids.push(format!("{{{}}}", ids.join(",")));
        let has_weights = !point.sparse.is_empty();
        self.weights.push(has_weights.then(|| Raw::terms(point.sparse.iter().copied())));
        self.sparse.push(Some(encode(&point.sparse)).filter(|bytes| !bytes.is_empty()));
        self.terms.push(point.terms.encode());
        // PostgreSQL has no texts with the character 0.
        let has_null = record.text.contains('\0') || kept.contains("\\u0000");
        let whole = || {
            serde_json::to_vec(record).map_err(|error| StoreError::Unwritable { reason: error.to_string() })
        };
        self.exact.push(has_null.then(whole).transpose()?);
        self.contents.push(without_null(&record.text));
        self.records.push(if has_null { kept.replace("\\u0000", "\u{fffd}") } else { kept });
        Ok(())
    }

    /// Inserts the rows that are not there, and counts their terms.
    pub(super) fn insert(&self, link: &mut Link, number: i64) -> Result<(), Error> {
        let s = &link.schema;
        let statement = format!(
            "WITH row AS MATERIALIZED (
                SELECT * FROM unnest($1::int8[], $2::int4[], $3::uuid[], $4::uuid[], $5::bool[], $6::text[], $7::text[], $8::text[], $9::text[],
                    $10::text[], $11::text[], $12::vector[], $13::sparsevec[], $14::text[], $15::sparsevec[], $16::bytea[], $17::bytea[], $18::text[],
                    $19::text[], $20::bytea[])
                AS row (version, place, chunk_id, text_hash, enabled, doc_id, category, language, content_type, artifact, symbols,
                    vector, words, word_ids, weights, sparse, terms, content, record, exact)),
            new AS (
                INSERT INTO {s}.chunks_{number} (version, place, chunk_id, text_hash, enabled, doc_id, category, language, content_type,
                    artifact, symbols, vector, weights, sparse, terms, content, record, exact)
                SELECT version, place, chunk_id, text_hash, enabled, doc_id, category, language, content_type, artifact,
                    array_remove(string_to_array(symbols, E'\\n'), ''), vector, weights, sparse, terms, content, record::jsonb, exact
                FROM row
                ON CONFLICT (version, place) DO NOTHING RETURNING id, version, place),
            own AS (
                INSERT INTO {s}.words_{number} (id, enabled, artifact, words, word_ids)
                SELECT id, enabled, artifact, words, word_ids::int[] FROM new JOIN row USING (version, place)
                RETURNING word_ids)
            INSERT INTO {s}.terms_{number} AS known SELECT term, count(*) FROM own, unnest(word_ids || -1) AS term GROUP BY term
            ON CONFLICT (term) DO UPDATE SET chunks = known.chunks + excluded.chunks"
        );
        let columns: [&(dyn ToSql + Sync); 20] = [
            &self.versions,
            &self.places,
            &self.chunk_ids,
            &self.text_hashes,
            &self.enabled,
            &self.doc_ids,
            &self.categories,
            &self.languages,
            &self.content_types,
            &self.artifacts,
            &self.symbols,
            &self.vectors,
            &self.words,
            &self.word_ids,
            &self.weights,
            &self.sparse,
            &self.terms,
            &self.contents,
            &self.records,
            &self.exact,
        ];
        link.execute(&statement, &columns).map(drop)
    }
}

/// Removes the chunks of versions, and takes their terms from the counts.
pub(super) fn delete(link: &mut Link, number: i64, versions: &[i64]) -> Result<(), Error> {
    let s = &link.schema;
    let statement = format!(
        "WITH gone AS (DELETE FROM {s}.chunks_{number} WHERE version = ANY($1) RETURNING id),
            own AS (DELETE FROM {s}.words_{number} AS own USING gone WHERE own.id = gone.id RETURNING word_ids),
            less AS (SELECT term, count(*) AS chunks FROM own, unnest(word_ids || -1) AS term GROUP BY term)
        MERGE INTO {s}.terms_{number} AS known USING less ON known.term = less.term
            WHEN MATCHED AND known.chunks <= less.chunks THEN DELETE
            WHEN MATCHED THEN UPDATE SET chunks = known.chunks - less.chunks"
    );
    link.execute(&statement, &[&versions]).map(|_| ())
}

/// The columns of [`read`].
pub(super) fn columns(part: Part) -> &'static str {
    match part {
        Part::WithoutVectors => {
            "version, place, chunk_id, text_hash, terms, enabled, vector IS NOT NULL, record::text, content, exact"
        }
        Part::Whole => {
            "version, place, chunk_id, text_hash, terms, enabled, vector IS NOT NULL, record::text, content, exact, vector, sparse"
        }
    }
}

/// Reads [`columns`].
pub(super) fn read(row: &Row, part: Part) -> Result<Point, StoreError> {
    let sparse: Option<Vec<u8>> = if part == Part::Whole { row.get(11) } else { None };
    let vector: Option<Raw> = if part == Part::Whole { row.get(10) } else { None };
    let terms =
        TermCounts::decode(row.get(4)).ok_or_else(|| damaged("the terms of a chunk cannot be read"))?;
    let sparse = sparse.map_or(Some(Vec::new()), |bytes| decode(&bytes));
    Ok(Point {
        version: row.get(0),
        place: row.get::<_, i32>(1).cast_unsigned(),
        id: ChunkId(id(row, 2)?),
        text_hash: id(row, 3)?,
        terms,
        enabled: row.get(5),
        embedded: row.get(6),
        vector: vector.map(|vector| vector.as_vector()),
        sparse: sparse.ok_or_else(|| damaged("the sparse vector of a chunk cannot be read"))?,
        record: record(row, 7)?,
    })
}

/// The record in three columns from `at`.
fn record(row: &Row, at: usize) -> Result<Record, StoreError> {
    if let Some(exact) = row.get::<_, Option<&[u8]>>(at + 2) {
        return serde_json::from_slice(exact).map_err(|_| damaged("the record of a chunk cannot be read"));
    }
    let kept =
        serde_json::from_str(row.get(at)).map_err(|_| damaged("the record of a chunk cannot be read"))?;
    Point::whole_record(kept, row.get(at + 1))
}

/// The columns of [`mark`].
pub(super) const MARK: &str = "doc_id, version, chunk_id, text_hash";

/// Reads [`MARK`].
pub(super) fn mark(row: &Row) -> Result<Mark, StoreError> {
    Ok(Mark { doc_id: row.get(0), version: row.get(1), id: ChunkId(id(row, 2)?), text_hash: id(row, 3)? })
}

/// The columns of [`found`], before the score; with records if conditions remain.
pub(super) fn found_columns(is_exact: bool) -> &'static str {
    if is_exact {
        "doc_id, version, chunk_id"
    } else {
        "doc_id, version, chunk_id, record::text, content, exact"
    }
}

/// Reads [`found_columns`] and the score behind them, which pgvector negates.
pub(super) fn found(row: &Row, is_exact: bool) -> Result<Found, StoreError> {
    Ok(Found {
        doc_id: row.get(0),
        version: row.get(1),
        id: ChunkId(id(row, 2)?),
        score: -row.get::<_, f64>(if is_exact { 3 } else { 6 }),
        record: if is_exact { None } else { Some(record(row, 3)?) },
    })
}

/// Parameters of a statement.
pub(super) type Parameters = Vec<Box<dyn ToSql + Sync + Send>>;

/// Conditions for these chunks and their parameters, each of bounded length.
pub(super) fn conditions(which: Which<'_>) -> Vec<(&'static str, Parameters)> {
    match which {
        Which::All => vec![("true", Vec::new())],
        Which::Versions(versions) => {
            versions.chunks(KEYS).map(|some| ("version = ANY($1)", parameters([some.to_vec()]))).collect()
        }
        Which::Chunks(ids) => ids
            .chunks(KEYS)
            .map(|ids| {
                let ids: Vec<Raw> = ids.iter().map(|id| Raw::id(id.0)).collect();
                ("chunk_id = ANY($1)", parameters([ids]))
            })
            .collect(),
        Which::Document(doc_id) => vec![("doc_id = $1", parameters([doc_id.to_owned()]))],
        Which::Places(version, (from, to)) => {
            let places = parameters([i64::from(from), i64::from(to), version]);
            vec![("place >= $1::int8 AND place < $2::int8 AND version = $3", places)]
        }
    }
}

fn parameters<T: ToSql + Sync + Send + 'static, const N: usize>(all: [T; N]) -> Parameters {
    all.into_iter().map(|one| Box::new(one) as Box<dyn ToSql + Sync + Send>).collect()
}

/// Keys or versions in one statement.
pub(super) const KEYS: usize = 512;

fn id(row: &Row, at: usize) -> Result<[u8; 16], StoreError> {
    row.get::<_, Raw>(at).as_id().ok_or_else(|| damaged("the id of a chunk cannot be read"))
}

fn without_null(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(super) fn damaged(problem: &str) -> StoreError {
    StoreError::Damaged { problem: problem.into() }
}
