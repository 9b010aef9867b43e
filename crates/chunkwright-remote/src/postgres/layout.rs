//! The tables of a store: all in one schema, which is a store of its own.
//!
//! | Table | Rows |
//! |---|---|
//! | `chunkwright_layout` | one: the version of this layout |
//! | `chunkwright_entries` | the catalog: collections, generations, documents with their texts, changes made by hand |
//! | `chunks_N` | the chunks of generation N |
//! | `words_N` | their words with weights: apart, as a search reads more of these than of chunks |
//! | `terms_N` | in how many of them each term is; under -1, how many there are |

use std::fmt::Display;

use postgres::error::SqlState;
use postgres::{Client, Error};

use super::pool::Link;
use super::search::INDEXED;
use chunkwright_store::{Access, StoreError};

/// The version of the layout. Another one must be made of the one before by [`upgrade`].
const VERSION: i32 = 2;

/// The version of pgvector that has all that is asked of it: `sparsevec` since 0.7, scans that go on since 0.8.
const PGVECTOR: (u32, u32) = (0, 8);

/// What `hnsw` indexes at most.
pub(super) const MOST_INDEXED: usize = 2_000;

/// Bytes of a vector's neighbours and row in an index that is being built, generously.
const NODE: u64 = 700;

/// Kilobytes that building an index may take, where the server's `maintenance_work_mem` is less.
const MOST_MEMORY: u64 = 1 << 20;

/// Makes a new connection find the extension, and checks it and the layout; returns the schema as SQL quotes it.
pub(super) fn open(
    client: &mut Client,
    schema: Option<&str>,
    place: &str,
    access: Access,
) -> Result<Result<String, StoreError>, Error> {
    let refused = |reason: String| Ok(Err(StoreError::Location { location: place.to_owned(), reason }));
    let found = client.query_one(
        "SELECT current_database()::text, current_setting('server_version_num')::int, \
         (SELECT extversion::text FROM pg_extension WHERE extname = 'vector'), \
         set_config('search_path', quote_ident(coalesce($1, current_schema(), 'public')) || coalesce((SELECT ', ' || quote_ident(n.nspname) \
         FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'), ''), false), \
         quote_ident(coalesce($1, current_schema(), 'public'))",
        &[&schema],
    )?;
    let (database, server): (String, i32) = (found.get(0), found.get(1));
    if server < 150_000 {
        return refused(format!("its server is PostgreSQL {}; 15 or newer is needed", server / 10_000));
    }
    let Some(version) = found.get::<_, Option<String>>(2) else {
        return refused(format!(
            "database `{database}` lacks the extension pgvector; a superuser, or at a provider the role that it names for extensions, \
             runs `CREATE EXTENSION vector` in it once"
        ));
    };
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < PGVECTOR {
        return refused(format!(
            "database `{database}` has pgvector {version}; 0.8 or newer is needed: install it and run `ALTER EXTENSION vector UPDATE`"
        ));
    }
    // A search that a filter leaves too few of goes on, and looks widely, as searches ask for hundreds: of a million vectors of
    // 256 numbers, 200, 400 and 800 found 82, 88 and 91 % of the best ten in 16, 19 and 34 ms. Compiling a query takes longer
    // than running it, and one plan for all values does not fit common and rare ones.
    client.batch_execute(
        "SET standard_conforming_strings = on; SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 400; SET jit = off; \
         SET plan_cache_mode = force_custom_plan; \
         SET client_min_messages = warning",
    )?;
    let schema: String = found.get(4);
    match version_of(client, &schema)?.unwrap_or(VERSION) {
        VERSION => Ok(Ok(schema)),
        1 if access == Access::Write => upgrade(client, &schema).map(|()| Ok(schema)),
        1 => refused("its tables are of an earlier layout; the next `chunkwright index` renews them".into()),
        found => Ok(Err(StoreError::Layout { found: found.into(), expected: VERSION.into() })),
    }
}

/// Makes the tables of version 1, where chunks held their words, into those of today, unless another process has.
fn upgrade(client: &mut Client, s: &str) -> Result<(), Error> {
    let mut work = client.transaction()?;
    work.batch_execute(&format!(
        "SET LOCAL statement_timeout = 0; LOCK TABLE {s}.chunkwright_layout IN ACCESS EXCLUSIVE MODE"
    ))?;
    let version = format!("UPDATE {s}.chunkwright_layout SET version = {VERSION} WHERE version = 1");
    if work.execute(&version, &[])? == 0 {
        return Ok(());
    }
    let numbers = "SELECT substr(relname, 8) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE relname ~ '^chunks_[0-9]+$' AND quote_ident(n.nspname) = $1";
    for row in work.query(numbers, &[&s])? {
        let number: String = row.get(0);
        work.batch_execute(&format!(
            "{}; INSERT INTO {s}.words_{number} SELECT id, enabled, artifact, words, word_ids FROM {s}.chunks_{number};
             ALTER TABLE {s}.chunks_{number} DROP words, DROP word_ids; {}",
            words_table(s, &number),
            words_index(s, &number)
        ))?;
    }
    work.commit()
}

/// Creates the table of words: what a search without a filter needs, with the ids out of the row.
fn words_table(s: &str, number: impl Display) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {s}.words_{number} (
             id bigint PRIMARY KEY, enabled bool NOT NULL, artifact text NOT NULL, words sparsevec NOT NULL, word_ids int[] NOT NULL
         ) WITH (toast_tuple_target = 256);
         ALTER TABLE {s}.words_{number} ALTER words SET STORAGE MAIN"
    )
}

fn words_index(s: &str, number: impl Display) -> String {
    format!("CREATE INDEX IF NOT EXISTS words_{number}_ids ON {s}.words_{number} USING gin (word_ids)")
}

/// Returns whether a table or index exists in the schema. `to_regclass` would answer from what the session knew before it
/// had to wait for a lock.
fn is_there(client: &mut Client, schema: &str, name: &str) -> Result<bool, Error> {
    let query = "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE c.relname = $1 AND quote_ident(n.nspname) = $2)";
    client.query_one(query, &[&name, &schema]).map(|row| row.get(0))
}

/// The version of the layout in the schema; `None` if nothing was stored yet.
fn version_of(client: &mut Client, schema: &str) -> Result<Option<i32>, Error> {
    if !is_there(client, schema, "chunkwright_layout")? {
        return Ok(None);
    }
    let version = format!("SELECT max(version) FROM {schema}.chunkwright_layout");
    client.query_one(&version, &[]).map(|row| row.get(0))
}

/// Creates the schema and the tables that every store has, unless they exist.
pub(super) fn create(link: &mut Link) -> Result<(), Error> {
    let s = link.schema.clone();
    if version_of(link, &s)?.is_some() {
        return Ok(());
    }
    let has_schema = "SELECT EXISTS (SELECT FROM pg_namespace WHERE quote_ident(nspname) = $1)";
    if !link.query_one(has_schema, &[&s])?.get::<_, bool>(0) {
        link.batch_execute(&format!("CREATE SCHEMA {s}"))?;
    }
    link.batch_execute(&format!(
        "CREATE TABLE {s}.chunkwright_layout (version int NOT NULL);
         INSERT INTO {s}.chunkwright_layout VALUES ({VERSION});
         CREATE TABLE {s}.chunkwright_entries (
             id uuid PRIMARY KEY, kind text NOT NULL, owner text NOT NULL, key text NOT NULL, value bytea NOT NULL
         );
         CREATE INDEX chunkwright_entries_of ON {s}.chunkwright_entries (kind, owner);"
    ))
}

/// Creates the tables of a generation, unless they exist. `dimension` is that of its vectors.
pub(super) fn create_generation(link: &mut Link, number: i64, dimension: usize) -> Result<(), Error> {
    let s = link.schema.clone();
    // What searches compare stays in the row, and what is only shown goes out of it.
    link.batch_execute(&format!(
        "CREATE TABLE IF NOT EXISTS {s}.chunks_{number} (
             id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
             version bigint NOT NULL, place int NOT NULL, chunk_id uuid NOT NULL, text_hash uuid NOT NULL,
             enabled bool NOT NULL, doc_id text NOT NULL, category text NOT NULL, language text NOT NULL,
             content_type text NOT NULL, artifact text NOT NULL, symbols text[] NOT NULL,
             vector vector({dimension}), weights sparsevec,
             sparse bytea, terms bytea NOT NULL, content text NOT NULL, record jsonb NOT NULL, exact bytea
         ) WITH (toast_tuple_target = 256);
         ALTER TABLE {s}.chunks_{number} ALTER vector SET STORAGE MAIN, ALTER terms SET STORAGE EXTERNAL;
         CREATE UNIQUE INDEX IF NOT EXISTS chunks_{number}_place ON {s}.chunks_{number} (version, place);
         CREATE INDEX IF NOT EXISTS chunks_{number}_chunk ON {s}.chunks_{number} (chunk_id);
         CREATE INDEX IF NOT EXISTS chunks_{number}_document ON {s}.chunks_{number} USING hash (doc_id);
         CREATE INDEX IF NOT EXISTS chunks_{number}_kind ON {s}.chunks_{number} (category, language, content_type);
         CREATE INDEX IF NOT EXISTS chunks_{number}_symbols ON {s}.chunks_{number} USING gin (symbols);
         CREATE TABLE IF NOT EXISTS {s}.terms_{number} (term int PRIMARY KEY, chunks bigint NOT NULL) WITH (fillfactor = 70);
         {}; {}",
        words_table(&s, number),
        words_index(&s, number)
    ))
}

/// Builds the approximate index of a generation's vectors, unless it exists or they are few. Building it of all is several
/// times faster than adding them one by one, if it fits into memory: so much is asked for, within bounds.
pub(super) fn index_vectors(link: &mut Link, number: i64, dimension: usize) -> Result<(), Error> {
    let s = link.schema.clone();
    let all = link.query_opt(&format!("SELECT chunks FROM {s}.terms_{number} WHERE term = -1"), &[])?;
    let all = all.map_or(0, |row| row.get::<_, i64>(0));
    if all < INDEXED || is_there(link, &s, &format!("chunks_{number}_vector"))? {
        return Ok(());
    }
    let kilobytes = ((all.unsigned_abs() * (4 * dimension as u64 + NODE)) >> 10).min(MOST_MEMORY);
    link.batch_execute(&format!(
        "SET LOCAL statement_timeout = 0;
         SELECT set_config('maintenance_work_mem',
             greatest(pg_size_bytes(current_setting('maintenance_work_mem')) >> 10, {kilobytes})::text, true);
         SAVEPOINT before"
    ))?;
    let create = format!(
        "CREATE INDEX chunks_{number}_vector ON {s}.chunks_{number} USING hnsw (vector vector_ip_ops)"
    );
    let is_full = |error: &Error| {
        [SqlState::DISK_FULL, SqlState::OUT_OF_MEMORY].iter().any(|full| error.code() == Some(full))
    };
    match link.batch_execute(&create) {
        // It is left to the next writer that owns the table.
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            return link.batch_execute("ROLLBACK TO before");
        }
        // Workers share memory, of which a container may have 64 MB.
        Err(error) if is_full(&error) => {
            let alone = "ROLLBACK TO before; SET LOCAL max_parallel_maintenance_workers = 0";
            link.batch_execute(&format!("{alone}; {create}"))?;
        }
        done => done?,
    }
    // Without statistics, the planner takes the rows that pass a condition for few, and compares all vectors.
    link.batch_execute(&format!("ANALYZE {s}.chunks_{number}, {s}.words_{number}"))
}
