//! Rankings in PostgreSQL.
//!
//! * **Dense**: by pgvector's HNSW from [`INDEXED`] chunks on, and exact below. Under a filter that few chunks pass,
//!   exactly those are compared, as an index that finds near ones first would have to look at all others.
//! * **Lexical**: a GIN index of the ids of terms finds the chunks that have one, and the inner product of a sparse
//!   vector of weights ranks them. Of 50,000 chunks with 104 terms each, postings as rows take 437 MB and this 96 MB,
//!   written in 23 and 20 s. Chunks are looked for by the rarest words first, and by the others only while these could
//!   still bring one among the best, as in `MaxScore` (Turtle and Flood, 1995).
//! * **Sparse**, by the weights that a model gives: all are compared.

use std::collections::HashMap;

use postgres::types::ToSql;

use super::Postgres;
use super::filter::DIALECT;
use super::rows::{found, found_columns};
use super::value::Raw;
use crate::database::Found;
use crate::filter::Pushed;
use chunkwright_store::bm25::{TermId, idf, most_weight};
use chunkwright_store::{Filter, Generation, StoreError};

/// The number of chunks from which on vectors are indexed. Comparing 12,160 vectors of 384 numbers took 20 ms, and 7 by the
/// index.
pub(super) const INDEXED: i64 = 10_000;

/// The most chunks that pass a filter and are compared one by one.
const EXACT: i64 = 20_000;

/// Words that together are in at most one chunk of so many are looked for first. In a simulation, 60 queries of nine words,
/// drawn as a language draws them, so ranked a mean of 35 % of all chunks for the best 141; nearly all chunks have one of nine.
const RARE: i64 = 8;

/// A word of a query.
struct Word {
    id: i32,
    /// How many chunks have it.
    chunks: i64,
    weight: f64,
}

/// The number of words, the rarest first, one of which every chunk has that scores at least `least`.
fn needed(words: &[Word], least: f64) -> usize {
    let mut reached = 0.0;
    let more = words.iter().rev().take_while(|word| {
        // The server computes with fewer digits.
        reached += 1.001 * word.weight * most_weight(word.id.cast_unsigned());
        reached < least
    });
    words.len() - more.count()
}

impl Postgres {
    pub(super) fn rank_dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let limit = limit.cast_signed() as i64;
        let Pushed { condition, is_exact } = DIALECT.push(filter);
        let condition = format!("{} AND vector IS NOT NULL", condition.as_str().unwrap_or("false"));
        let number = generation.number;
        let few = if filter.condition().is_none() {
            false
        } else {
            let count = self.of_points(generation, |link| {
                let s = &link.schema;
                let count = format!(
                    "SELECT count(*) FROM (SELECT FROM {s}.chunks_{number} WHERE {condition} LIMIT {}) few",
                    EXACT + 1
                );
                link.query_one(&count, &[]).map(|row| row.get::<_, i64>(0))
            })?;
            count <= EXACT
        };
        let columns = found_columns(is_exact);
        let of = |table: &str, condition: &str| {
            format!(
                "SELECT {columns}, vector <#> $1 AS score FROM {table} WHERE {condition} ORDER BY vector <#> $1 LIMIT $2"
            )
        };
        self.ranked(generation, &[&Raw::vector(query), &limit], is_exact, |s| {
            let table = format!("{s}.chunks_{number}");
            if few {
                // `OFFSET` keeps the index of vectors from being used.
                of(&format!("(SELECT * FROM {table} WHERE {condition} OFFSET 0) few"), "true")
            } else {
                of(&table, &condition)
            }
        })
    }

    pub(super) fn rank_lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        most: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let limit = most.cast_signed() as i64;
        let number = generation.number;
        let (words, all) = self.rarest_first(generation, terms)?;
        let query = Raw::terms(words.iter().map(|word| (word.id.cast_unsigned(), word.weight as f32)));
        let Pushed { condition, is_exact } = DIALECT.push(filter);
        let condition = condition.as_str().unwrap_or("false").to_owned();
        let columns = found_columns(is_exact);
        let is_filtered = filter.condition().is_some();
        let having = |words: &[Word]| {
            let ids: Vec<i32> = words.iter().map(|word| word.id).collect();
            self.ranked(generation, &[&query, &limit, &ids], is_exact, |s| {
                if is_filtered {
                    format!(
                        "SELECT {columns}, words <#> $1 AS score FROM {s}.chunks_{number} \
                         JOIN (SELECT id, words, word_ids FROM {s}.words_{number}) own USING (id) \
                         WHERE word_ids && $3 AND {condition} ORDER BY score LIMIT $2"
                    )
                } else {
                    format!(
                        "SELECT {columns}, score FROM (SELECT id, words <#> $1 AS score FROM {s}.words_{number} \
                         WHERE word_ids && $3 AND {condition} ORDER BY score LIMIT $2) best \
                         JOIN {s}.chunks_{number} USING (id) ORDER BY score"
                    )
                }
            })
        };
        let mut chunks = 0;
        let is_rare = |word: &&Word| {
            chunks += word.chunks;
            chunks <= all / RARE
        };
        let rare = words.iter().take_while(is_rare).count();
        if rare == 0 {
            return having(&words);
        }
        let found = having(&words[..rare])?;
        let least = found.get(most - 1).map_or(0.0, |last| last.score);
        let needed = needed(&words, least);
        if needed <= rare { Ok(found) } else { having(&words[..needed]) }
    }

    /// The words of a query that some chunk has, the rarest first, and the number of chunks.
    fn rarest_first(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
    ) -> Result<(Vec<Word>, i64), StoreError> {
        let asked: HashMap<i32, f32> = terms.iter().map(|(id, weight)| (id.cast_signed(), *weight)).collect();
        let ids: Vec<i32> = asked.keys().copied().collect();
        let rows = self.of_points(generation, |link| {
            let (s, number) = (&link.schema, generation.number);
            let counts =
                format!("SELECT term, chunks FROM {s}.terms_{number} WHERE term = ANY($1::int[] || -1)");
            link.query(&counts, &[&ids])
        })?;
        let mut counts: Vec<(i64, i32)> = rows.iter().map(|row| (row.get(1), row.get(0))).collect();
        counts.sort_unstable();
        let all = counts.iter().find(|(_, id)| *id == -1).map_or(0, |(all, _)| *all);
        let words = counts.into_iter().filter(|(_, id)| *id != -1).map(|(chunks, id)| Word {
            id,
            chunks,
            weight: f64::from(asked[&id]) * idf(all as usize, chunks as usize),
        });
        Ok((words.collect(), all))
    }

    pub(super) fn rank_sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let number = generation.number;
        let limit = limit.cast_signed() as i64;
        let Pushed { condition, is_exact } = DIALECT.push(filter);
        let condition = condition.as_str().unwrap_or("false").to_owned();
        let columns = found_columns(is_exact);
        self.ranked(generation, &[&Raw::terms(query.iter().copied()), &limit], is_exact, |s| {
            format!(
                "SELECT {columns}, weights <#> $1 AS score FROM {s}.chunks_{number} WHERE weights <#> $1 < 0 AND {condition} \
                 ORDER BY score LIMIT $2"
            )
        })
    }

    /// Runs a ranking, whose statement is made for a schema.
    fn ranked(
        &self,
        generation: &Generation,
        parameters: &[&(dyn ToSql + Sync)],
        is_exact: bool,
        statement: impl Fn(&str) -> String,
    ) -> Result<Vec<Found>, StoreError> {
        let rows = self.of_points(generation, |link| {
            let statement = statement(&link.schema);
            link.query(&statement, parameters)
        })?;
        rows.iter().map(|row| found(row, is_exact)).collect()
    }
}
