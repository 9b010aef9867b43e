//! Collections in PostgreSQL with the extension pgvector.
//!
//! * A schema is a store: a table of entries, and for each generation tables of chunks and their words (`layout`).
//!   Stores of several tenants share a database, each by its `?schema=`.
//! * Every change of a store is one transaction, which begins with a lock of its collection. So several processes may
//!   write at once, and a reader sees nothing of a write before all of it.
//! * PostgreSQL ranks, by words and by vectors of both kinds (`search`).

mod address;
mod filter;
mod layout;
mod pool;
mod rows;
mod search;
mod tls;
mod value;

use std::collections::HashMap;

use postgres::Error;
use postgres::types::ToSql;

use crate::database::{Database, Found, Mark, Part, Point, Which, Written, point_id};
use crate::entry::{Entry, Kind};
use crate::store::RemoteStore;
use chunkwright_store::bm25::TermId;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::{Access, Filter, Generation, StoreError, StoreLocation};
use pool::{Link, Pool};
use rows::{KEYS, Rows};
use value::Raw;

/// A database of PostgreSQL.
#[derive(Debug)]
struct Postgres {
    pool: Pool,
}

/// Rows per page.
const PAGE: i64 = 1_000;

/// Bytes of texts in one statement.
const BYTES: usize = 16 << 20;

impl RemoteStore {
    /// Opens the store at an address of libpq, such as `postgres://user@host/db?sslmode=verify-full&schema=team`.
    ///
    /// # Errors
    ///
    /// An invalid address, or certificates that cannot be read; a cache that cannot be opened. Nothing is sent yet.
    pub fn open_postgres(place: &StoreLocation, access: Access) -> Result<Self, StoreError> {
        Self::new(Box::new(Postgres { pool: Pool::new(place, access)? }), &place.cache, access)
    }
}

impl Postgres {
    /// Runs requests on the tables of a generation.
    fn of_points<T>(
        &self,
        generation: &Generation,
        ask: impl FnMut(&mut Link) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        self.pool.run(ask).map_err(|error| match error {
            StoreError::Other(source) if source.is::<pool::Undefined>() => unknown_generation(generation),
            other => other,
        })
    }

    /// Runs a query of the table of entries, where there is nothing before the first write.
    fn entries(
        &self,
        query: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<postgres::Row>, StoreError> {
        let ask = |link: &mut Link| {
            let query = format!("SELECT key, value FROM {}.chunkwright_entries WHERE {query}", link.schema);
            link.query(&query, parameters)
        };
        match self.pool.run(ask) {
            Err(StoreError::Other(source)) if source.is::<pool::Undefined>() => Ok(Vec::new()),
            rows => rows,
        }
    }

    /// Calls `each` with the rows that `which` selects.
    fn each_row(
        &self,
        generation: &Generation,
        which: Which<'_>,
        columns: &str,
        each: &mut dyn FnMut(&postgres::Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let number = generation.number;
        if matches!(which, Which::All) {
            let mut last = 0_i64;
            loop {
                let rows = self.of_points(generation, |link| {
                    let s = &link.schema;
                    let page = format!(
                        "SELECT {columns}, id FROM {s}.chunks_{number} WHERE id > $1 ORDER BY id LIMIT {PAGE}"
                    );
                    link.query(&page, &[&last])
                })?;
                rows.iter().try_for_each(&mut *each)?;
                match rows.last() {
                    Some(row) => last = row.get("id"),
                    None => return Ok(()),
                }
            }
        }
        for (condition, parameters) in rows::conditions(which) {
            let parameters: Vec<&(dyn ToSql + Sync)> =
                parameters.iter().map(|one| &**one as &(dyn ToSql + Sync)).collect();
            let rows = self.of_points(generation, |link| {
                let s = &link.schema;
                let some = format!("SELECT {columns} FROM {s}.chunks_{number} WHERE {condition}");
                link.query(&some, &parameters)
            })?;
            rows.iter().try_for_each(&mut *each)?;
        }
        Ok(())
    }
}

/// The id of an entry: keys may be longer than an index takes.
fn entry_id(key: &str) -> Raw {
    let id = point_id(&[key.as_bytes()]).replace('-', "");
    Raw(crate::database::unhex(&id).unwrap_or_default())
}

fn text(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|_| rows::damaged("an entry of the catalog cannot be read"))
}

impl Database for Postgres {
    fn transaction(
        &self,
        collections: &[&str],
        work: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let names: Vec<String> = collections.iter().map(ToString::to_string).collect();
        self.pool.transaction(&names, work)
    }

    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError> {
        let mut found: HashMap<String, String> = HashMap::new();
        for keys in keys.chunks(KEYS) {
            let ids: Vec<Raw> = keys.iter().map(|key| entry_id(key)).collect();
            for row in self.entries("id = ANY($1)", &[&ids])? {
                found.insert(row.get(0), text(row.get(1))?);
            }
        }
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.entries("kind = $1 AND owner = $2", &[&kind.as_str(), &owner])?;
        rows.iter().map(|row| text(row.get(1))).collect()
    }

    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.entries("kind = $1 AND owner = $2", &[&kind.as_str(), &owner])?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn put(&self, entries: &[Entry]) -> Result<(), StoreError> {
        let mut rest = entries;
        while !rest.is_empty() {
            let mut bytes = 0;
            let some = rest.iter().take_while(|entry| {
                bytes += entry.value.len();
                bytes <= BYTES
            });
            let (some, after) = rest.split_at(some.count().max(1));
            rest = after;
            let ids: Vec<Raw> = some.iter().map(|entry| entry_id(&entry.key)).collect();
            let kinds: Vec<&str> = some.iter().map(|entry| entry.kind.as_str()).collect();
            let owners: Vec<&str> = some.iter().map(|entry| entry.owner.as_str()).collect();
            let keys: Vec<&str> = some.iter().map(|entry| entry.key.as_str()).collect();
            let values: Vec<&[u8]> = some.iter().map(|entry| entry.value.as_bytes()).collect();
            self.pool.run(|link| {
                let put = format!(
                    "INSERT INTO {}.chunkwright_entries (id, kind, owner, key, value)
                     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[])
                     ON CONFLICT (id) DO UPDATE SET value = excluded.value",
                    link.schema
                );
                link.execute(&put, &[&ids, &kinds, &owners, &keys, &values])
            })?;
        }
        Ok(())
    }

    fn forget(&self, keys: &[String]) -> Result<(), StoreError> {
        for keys in keys.chunks(KEYS) {
            let ids: Vec<Raw> = keys.iter().map(|key| entry_id(key)).collect();
            self.pool.run(|link| {
                let forget = format!("DELETE FROM {}.chunkwright_entries WHERE id = ANY($1)", link.schema);
                link.execute(&forget, &[&ids])
            })?;
        }
        Ok(())
    }

    fn names(&self, generation: &Generation) -> Vec<String> {
        vec![generation.collection.clone()]
    }

    fn create_points(&self, generation: &Generation) -> Result<(), StoreError> {
        let dimension = generation.spec.model.as_ref().map_or(1, |model| model.dimension);
        self.pool.run(|link| layout::create_generation(link, generation.number, dimension))
    }

    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError> {
        let number = generation.number;
        self.pool.run(|link| {
            let s = &link.schema;
            let drop =
                format!("DROP TABLE IF EXISTS {s}.chunks_{number}, {s}.words_{number}, {s}.terms_{number}");
            link.batch_execute(&drop)
        })
    }

    fn left(&self, _known: &[&Generation]) -> Result<Vec<Generation>, StoreError> {
        // Tables are created and dropped in the transaction that says so.
        Ok(Vec::new())
    }

    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError> {
        for some in points.chunks(KEYS) {
            let mut rows = Rows::default();
            some.iter().try_for_each(|written| rows.push(written))?;
            self.of_points(generation, |link| rows.insert(link, generation.number))?;
        }
        Ok(())
    }

    fn prepare(&self, generation: &Generation) -> Result<(), StoreError> {
        let dimension = generation.spec.model.as_ref().map(|model| model.dimension);
        let Some(dimension) = dimension.filter(|dimension| *dimension <= layout::MOST_INDEXED) else {
            return Ok(());
        };
        self.of_points(generation, |link| layout::index_vectors(link, generation.number, dimension))
    }

    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError> {
        for versions in versions.chunks(KEYS) {
            self.of_points(generation, |link| rows::delete(link, generation.number, versions))?;
        }
        Ok(())
    }

    fn points(
        &self,
        generation: &Generation,
        which: Which<'_>,
        part: Part,
    ) -> Result<Vec<Point>, StoreError> {
        let mut points = Vec::new();
        self.each_row(generation, which, rows::columns(part), &mut |row| {
            points.push(rows::read(row, part)?);
            Ok(())
        })?;
        Ok(points)
    }

    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError> {
        let mut marks = Vec::new();
        self.each_row(generation, which, rows::MARK, &mut |row| {
            marks.push(rows::mark(row)?);
            Ok(())
        })?;
        Ok(marks)
    }

    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        self.rank_dense(generation, query, filter, limit)
    }

    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        self.rank_sparse(generation, query, filter, limit).map(Some)
    }

    fn lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        self.rank_lexical(generation, terms, filter, limit).map(Some)
    }
}
