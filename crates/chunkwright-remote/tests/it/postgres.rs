//! PostgreSQL: several writers, lost backends, a restart, rights, tenants and TLS.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use ::postgres::{Client, NoTls};
use chunkwright_http::{HttpOptions, Secret};
use chunkwright_index::analysis::terms;
use chunkwright_index::bm25::{alike, query_ids};
use chunkwright_index::{
    Access, Change, Field, Filter, GenerationSpec, Model, Outcome, Scored, Store, StoreError, StoreLocation,
    Vector,
};

use crate::contract::document;
use crate::kinds::{on_server, unique};
use crate::proxy::Proxy;
use crate::remote::open;
use crate::servers;

const C: &str = "notes";

/// The address of the server, if there is one.
fn server() -> Option<String> {
    let url = servers::url("postgres");
    if url.is_none() {
        println!("not checked with `postgres`: `CHUNKWRIGHT_SERVERS` does not say where it is");
    }
    url
}

fn sql(url: &str) -> Client {
    Client::connect(url, NoTls).unwrap()
}

/// A store at `location`, which tries again at once.
fn open_at(location: &str, folder: &Path, access: Access) -> Arc<dyn Store> {
    let http = HttpOptions { backoff_ms: 1, ..HttpOptions::default() };
    let (location, cache) = (location.to_owned(), folder.to_owned());
    let place = StoreLocation { location, cache, http, ..StoreLocation::default() };
    chunkwright_index::open_store(&place, access).unwrap()
}

/// Replaces the document by one of three paragraphs that say which revision it is; returns what came of it.
fn replace(store: &dyn Store, doc_id: &str, revision: usize) -> Result<Outcome, StoreError> {
    let generation = store.begin(C, &GenerationSpec::default())?;
    let base = store.document_info(&generation, doc_id)?.map_or(0, |info| info.version);
    let filling = "Words that fill a line, as many as it takes to be a chunk alone. ".repeat(3);
    let texts = ["First", "Second", "Third"]
        .map(|which| format!("{which} common part of revision {revision}. {filling}"));
    let new = document(doc_id, base, &texts.each_ref().map(String::as_str));
    Ok(store.write(&generation, &[Change::Replace(Box::new(new))])?.remove(0))
}

/// The revision that each of three chunks of a document says.
fn revision(store: &dyn Store, doc_id: &str) -> usize {
    let records = store.records(&store.open(C).unwrap(), doc_id).unwrap();
    assert_eq!(records.len(), 3, "{doc_id}");
    let said = records.iter().map(|record| {
        let (_, said) = record.text.split_once("of revision ").unwrap();
        said.split('.').next().unwrap().parse::<usize>().unwrap()
    });
    let said: Vec<usize> = said.collect();
    assert!(said.iter().all(|revision| *revision == said[0]), "{doc_id} {said:?}");
    said[0]
}

fn search(store: &dyn Store, query: &str) -> Result<Vec<Scored>, StoreError> {
    store.lexical(&store.open(C)?, &alike(&query_ids(terms(query))), &Filter::default(), 1_000)
}

/// No problem, and counts of terms that are those of the chunks.
fn is_sound(store: &dyn Store, url: &str, schema: &str) {
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    let number = store.open(C).unwrap().number;
    let differing = format!(
        "SELECT count(*) FROM (SELECT term, count(*) AS chunks FROM \"{schema}-\".chunks_{number} JOIN \"{schema}-\".words_{number}
         USING (id, enabled, artifact), unnest(word_ids || -1) AS term GROUP BY term) AS real FULL JOIN \"{schema}-\".terms_{number} AS known USING (term)
         WHERE real.chunks IS DISTINCT FROM known.chunks"
    );
    assert_eq!(sql(url).query_one(&differing, &[]).unwrap().get::<_, i64>(0), 0);
}

#[test]
fn several_write_to_a_collection_at_once_and_nothing_is_lost_or_half_there() {
    let Some(url) = server() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let stores: Vec<_> = (0..3).map(|_| open(&url, &schema, folder.path(), 0)).collect();
    let written: Vec<usize> = std::thread::scope(|scope| {
        let write = |(own, store): (usize, &Arc<dyn Store>)| {
            let mut shared = 0;
            for revision in 1..=10 {
                // The first of all begins the collection, at the same time as the others.
                assert_eq!(replace(&**store, &format!("{own}.txt"), revision).unwrap(), Outcome::Written);
                match replace(&**store, "shared.txt", 100 * own + revision).unwrap() {
                    Outcome::Written => shared += 1,
                    outcome => assert_eq!(outcome, Outcome::Stale),
                }
            }
            shared
        };
        let threads: Vec<_> =
            stores.iter().enumerate().map(|store| scope.spawn(move || write(store))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(written.iter().sum::<usize>() > 0);
    for own in 0..3 {
        assert_eq!(revision(&*stores[0], &format!("{own}.txt")), 10);
    }
    revision(&*stores[0], "shared.txt");
    assert_eq!(search(&*stores[0], "common").unwrap().len(), 12);
    assert_eq!(stores[0].collections().unwrap()[0].generations.len(), 1);
    is_sound(&*stores[0], &url, &schema);
}

#[test]
fn a_backend_that_is_killed_loses_nothing_acknowledged_and_the_writer_goes_on() {
    let Some(url) = server() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let location = |name: &str| format!("{}&application_name={name}", on_server(&url, &schema));
    let (name, kills, is_done) = (unique(), AtomicI64::new(0), AtomicBool::new(false));
    let writer = open_at(&location(&name), folder.path(), Access::Write);
    let reader = open_at(&location("reader"), folder.path(), Access::Read);
    assert_eq!(replace(&*writer, "a.txt", 0).unwrap(), Outcome::Written);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = sql(&url);
            let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'";
            while !is_done.load(Ordering::Relaxed) {
                let killed = client.query_one(kill, &[&name]).unwrap().get::<_, i64>(0);
                kills.fetch_add(killed, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        let mut acknowledged = 0;
        // At least 40 writes, and as many as it takes to be killed a few times.
        for n in (1..4000).take_while(|n| *n <= 40 || kills.load(Ordering::Relaxed) < 4) {
            match replace(&*writer, "a.txt", n) {
                Ok(Outcome::Written) => acknowledged = n,
                Ok(outcome) => panic!("{outcome:?}"),
                // Killed more often than it tries again.
                Err(error) => assert!(matches!(error, StoreError::Unreachable { .. }), "{error}"),
            }
            assert!(revision(&*reader, "a.txt") >= acknowledged);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(kills.into_inner() > 3, "the writer was hardly ever killed");
    is_sound(&*reader, &url, &schema);
}

/// A server of our own, which can be restarted.
struct Own {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Own {
    fn start() -> Option<(Self, String)> {
        let mut command = Command::new(servers::program("python")?);
        command.arg(servers::scripts().join("postgres.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut own = Self { input: child.stdin.take(), child, lines };
        let url = own.line();
        Some((own, url))
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap().split_once('=').unwrap().1.to_owned()
    }

    fn restart(&mut self) {
        writeln!(self.input.as_ref().unwrap()).unwrap();
        self.line();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_that_crashes_and_starts_again_is_read_and_written_as_before() {
    let Some((mut own, url)) = Own::start() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let store = open(&url, &schema, folder.path(), 2);
    assert_eq!(replace(&*store, "a.txt", 1).unwrap(), Outcome::Written);
    own.restart();
    assert_eq!(search(&*store, "common").unwrap().len(), 3);
    own.restart();
    assert_eq!(replace(&*store, "a.txt", 2).unwrap(), Outcome::Written);
    assert_eq!(revision(&*store, "a.txt"), 2);
    is_sound(&*store, &url, &schema);
}

#[test]
fn a_schema_is_a_tenant_that_sees_nothing_of_others() {
    let Some(url) = server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (unique(), format!("o'{}\"; --", unique()));
    let stores = [&first, &second].map(|schema| open(&url, &schema.replace('"', "%22"), folder.path(), 0));
    assert_eq!(replace(&*stores[0], "a.txt", 1).unwrap(), Outcome::Written);
    assert!(stores[1].open(C).is_err() && stores[1].collections().unwrap().is_empty());
    assert_eq!(replace(&*stores[1], "b.txt", 2).unwrap(), Outcome::Written);
    for (store, doc_id) in stores.iter().zip(["a.txt", "b.txt"]) {
        let documents = store.documents(&store.open(C).unwrap()).unwrap();
        assert_eq!(documents.iter().map(|info| &*info.doc_id).collect::<Vec<_>>(), [doc_id]);
    }
    // As libpq says it: the first schema of the search path.
    let path = format!("{url}&options=-csearch_path%3D%22{first}-%22");
    assert_eq!(revision(&*open_at(&path, folder.path(), Access::Read), "a.txt"), 1);
    stores[0].remove(&stores[0].open(C).unwrap()).unwrap();
    assert_eq!(revision(&*stores[1], "b.txt"), 2);
}

#[test]
fn roles_do_what_they_may_and_are_told_what_they_need() {
    let Some(url) = server() else { return };
    let (folder, schema, role) = (tempfile::tempdir().unwrap(), unique(), unique());
    let owner = open(&url, &schema, folder.path(), 0);
    assert_eq!(replace(&*owner, "a.txt", 1).unwrap(), Outcome::Written);
    let mut client = sql(&url);
    client.batch_execute(&format!("CREATE ROLE \"{role}\" LOGIN PASSWORD 'secret'")).unwrap();
    let own = on_server(&url, &schema).replace("postgres@", &format!("{role}:secret@"));
    let refused = |access: Access| {
        let store = open_at(&own, folder.path(), access);
        let error = match access {
            Access::Write => replace(&*store, "a.txt", 2).unwrap_err(),
            Access::Read => search(&*store, "common").unwrap_err(),
        };
        let error = error.to_string();
        assert!(error.contains("permission denied for ") && error.contains("reading needs USAGE"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    };
    refused(Access::Read);
    // Rights to read.
    client
        .batch_execute(&format!(
            "GRANT USAGE ON SCHEMA \"{schema}-\" TO \"{role}\"; GRANT SELECT ON ALL TABLES IN SCHEMA \"{schema}-\" TO \"{role}\""
        ))
        .unwrap();
    let reader = open_at(&own, folder.path(), Access::Read);
    assert_eq!(search(&*reader, "common").unwrap().len(), 3);
    refused(Access::Write);
    // Rights to write documents, but not to begin a generation.
    client
        .batch_execute(&format!(
            "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"{schema}-\" TO \"{role}\""
        ))
        .unwrap();
    let writer = open_at(&own, folder.path(), Access::Write);
    assert_eq!(replace(&*writer, "a.txt", 3).unwrap(), Outcome::Written);
    let error = writer.begin("other", &GenerationSpec::default()).unwrap_err().to_string();
    assert!(error.contains("permission denied for schema"), "{error}");
    // A store of its own it may not make either.
    let elsewhere = own.replace(&format!("schema={schema}-"), &format!("schema={role}"));
    let writer = open_at(&elsewhere, folder.path(), Access::Write);
    let error = replace(&*writer, "a.txt", 1).unwrap_err().to_string();
    assert!(error.contains("permission denied for database"), "{error}");
    is_sound(&*owner, &url, &schema);
}

#[test]
fn what_a_database_lacks_is_named_and_no_password_with_it() {
    let Some(url) = server() else { return };
    let (folder, database, schema) = (tempfile::tempdir().unwrap(), unique().to_lowercase(), unique());
    sql(&url).batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
    let there = url.replace("postgres@/postgres", &format!("postgres:secret@/{database}"));
    let failure = |location: &str| {
        let error = open_at(location, folder.path(), Access::Read).collections().unwrap_err();
        let (shown, inner) = (error.to_string(), format!("{error:?}"));
        assert!(!shown.contains("secret") && !inner.contains("secret"), "{shown} {inner}");
        shown
    };
    assert_eq!(
        failure(&there),
        format!(
            "`postgres:///{database}` cannot be a store: database `{database}` lacks the extension pgvector; a superuser, or at a provider \
             the role that it names for extensions, runs `CREATE EXTENSION vector` in it once"
        )
    );
    sql(&there).batch_execute("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions").unwrap();
    // The extension may be anywhere, and what was made by a newer version stays as it is.
    let store = open(&there, &schema, folder.path(), 0);
    assert_eq!(replace(&*store, "a.txt", 1).unwrap(), Outcome::Written);
    sql(&there).batch_execute(&format!("UPDATE \"{schema}-\".chunkwright_layout SET version = 3")).unwrap();
    let newer = failure(&on_server(&there, &schema));
    assert_eq!(
        newer,
        "the store has layout 3, this program reads layout 2; use a newer version of this program"
    );
    let gone = failure(&there.replace(&database, "gone"));
    assert!(gone.contains("database \"gone\" does not exist"), "{gone}");
    let unknown = failure(&url.replace("postgres@", "nobody:secret@"));
    assert!(unknown.contains("role \"nobody\" does not exist"), "{unknown}");
}

#[test]
fn a_text_with_the_character_that_postgres_has_not_comes_back_as_it_was() {
    let Some(url) = server() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let store = open(&url, &schema, folder.path(), 0);
    let generation = store.begin(C, &GenerationSpec::default()).unwrap();
    let new = document("a.txt", 0, &["Before \0 and after."]);
    store.write(&generation, &[Change::Replace(Box::new(new.clone()))]).unwrap();
    assert_eq!(store.records(&generation, "a.txt").unwrap(), [new.chunks[0].record.clone()]);
    assert_eq!(store.document(&generation, "a.txt").unwrap().unwrap().source, new.document.source);
    assert_eq!(search(&*store, "after").unwrap().len(), 1);
    is_sound(&*store, &url, &schema);
}

#[test]
fn tables_of_the_first_layout_are_renewed_by_who_may_write() {
    let Some(url) = server() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let store = open(&url, &schema, folder.path(), 0);
    for number in 0..4 {
        replace(&*store, &format!("{number}.txt"), number).unwrap();
    }
    let generation = store.open(C).unwrap();
    let before = search(&*store, "second part of revision 2").unwrap();
    let s = format!("\"{schema}-\"");
    sql(&url)
        .batch_execute(&format!(
            "ALTER TABLE {s}.chunks_{0} ADD words sparsevec, ADD word_ids int[];
             UPDATE {s}.chunks_{0} chunk SET words = own.words, word_ids = own.word_ids FROM {s}.words_{0} own WHERE own.id = chunk.id;
             DROP TABLE {s}.words_{0};
             UPDATE {s}.chunkwright_layout SET version = 1",
            generation.number
        ))
        .unwrap();
    let location = on_server(&url, &schema);
    let read = || open_at(&location, folder.path(), Access::Read);
    let error = read().collections().unwrap_err().to_string();
    assert!(error.contains("the next `chunkwright index` renews them"), "{error}");
    let stores: Vec<_> = (0..3).map(|_| open(&url, &schema, folder.path(), 0)).collect();
    std::thread::scope(|scope| {
        for store in &stores {
            scope.spawn(|| assert_eq!(search(&**store, "second part of revision 2").unwrap(), before));
        }
    });
    assert_eq!(search(&*read(), "second part of revision 2").unwrap(), before);
    assert_eq!(replace(&*stores[0], "1.txt", 9).unwrap(), Outcome::Written);
    assert_eq!(revision(&*stores[1], "1.txt"), 9);
    is_sound(&*stores[2], &url, &schema);
}

/// Vectors on a circle, so that every neighbour is known.
#[test]
fn vectors_of_many_chunks_are_indexed_and_filters_lose_none() {
    const MANY: usize = 10_200;
    let Some(url) = server() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let store = open(&url, &schema, folder.path(), 0);
    let model = Some(Model { name: "m".into(), dimension: 2, sparse: false });
    let generation = store.begin(C, &GenerationSpec { model, ..GenerationSpec::default() }).unwrap();
    let angle = |n: usize| n as f32 / MANY as f32 * std::f32::consts::PI;
    let mut ids = Vec::new();
    for part in 0..34 {
        let texts: Vec<String> = (0..MANY / 34)
            .map(|n| format!("Number {} of many. {}", part * (MANY / 34) + n, "It is long. ".repeat(16)))
            .collect();
        let new = document(&format!("{part}.txt"), 0, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(new.chunks.len(), texts.len());
        let vector = |n: usize| -> Vector { vec![angle(n).cos(), angle(n).sin()].into() };
        let vectors: Vec<_> = new
            .chunks
            .iter()
            .enumerate()
            .map(|(at, chunk)| (chunk.text_hash, vector(ids.len() + at)))
            .collect();
        store.cache().put_vectors("m", &vectors).unwrap();
        ids.extend(new.chunks.iter().map(|chunk| chunk.record.chunk_id));
        store.write(&generation, &[Change::Replace(Box::new(new))]).unwrap();
    }
    let indexed = || {
        let name = format!("\"{schema}-\".chunks_{}_vector", generation.number);
        sql(&url).query_one("SELECT to_regclass($1) IS NOT NULL", &[&name]).unwrap().get::<_, bool>(0)
    };
    // While it is written, vectors are not indexed one by one.
    assert!(!indexed());
    store.switch(&generation).unwrap();
    assert!(indexed());
    let found = |n: usize, filter: &Filter| {
        let found = store.dense(&generation, &[angle(n).cos(), angle(n).sin()], filter, 9).unwrap();
        found.iter().map(|hit| ids.iter().position(|id| *id == hit.id).unwrap()).collect::<Vec<_>>()
    };
    for n in (100..MANY).step_by(1_010) {
        let mut near = found(n, &Filter::default());
        near.sort_unstable();
        assert_eq!(near, (n - 4..=n + 4).collect::<Vec<_>>());
    }
    // The last of the farthest document.
    let mut far = found(100, &Filter::is(Field::DOC_ID, "33.txt"));
    far.sort_unstable();
    assert_eq!(far, (MANY / 34 * 33..MANY / 34 * 33 + 9).collect::<Vec<_>>());
    // A writer that may not index the table leaves it to one that may.
    let role = unique();
    sql(&url)
        .batch_execute(&format!(
            "DROP INDEX \"{schema}-\".chunks_{}_vector; CREATE ROLE \"{role}\" LOGIN PASSWORD 'secret';
             GRANT USAGE ON SCHEMA \"{schema}-\" TO \"{role}\";
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"{schema}-\" TO \"{role}\"",
            generation.number
        ))
        .unwrap();
    let own = on_server(&url, &schema).replace("postgres@", &format!("{role}:secret@"));
    for (writer, indexes) in
        [(open_at(&own, folder.path(), Access::Write), false), (Arc::clone(&store), true)]
    {
        let base = writer.document_info(&generation, "more.txt").unwrap().map_or(0, |info| info.version);
        let new = document("more.txt", base, &[&format!("One more, after version {base}.")]);
        let outcomes = writer.write(&generation, &[Change::Replace(Box::new(new))]).unwrap();
        assert_eq!((outcomes, indexed()), (vec![Outcome::Written], indexes));
    }
    is_sound(&*store, &url, &schema);
}

#[test]
fn certificates_are_verified_as_the_address_says() {
    let Some(url) = server() else { return };
    let (folder, schema) = (tempfile::tempdir().unwrap(), unique());
    let tls = |name: &str| -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../chunkwright-server/tests/it/tls").join(name)
    };
    let proxy = Proxy::with_tls(&url, &tls("first.pem"), &tls("first.key.pem"));
    let port = proxy.port();
    let connect = |host: &str, options: &str| {
        let location = format!(
            "postgres://postgres@{host}:{port}/postgres?hostaddr=127.0.0.1&schema={schema}&{options}"
        );
        let place = StoreLocation {
            location,
            cache: folder.path().to_owned(),
            key: Some(Secret::new("unused")),
            http: HttpOptions { retries: 0, ..HttpOptions::default() },
            ..StoreLocation::default()
        };
        let store = chunkwright_index::open_store(&place, Access::Read);
        store.and_then(|store| store.collections()).map(drop).map_err(|error| error.to_string())
    };
    let root = |name: &str| format!("sslrootcert={}", tls(name).display());
    let (first, second) = (root("first.pem"), root("second.pem"));
    for (host, options) in [
        ("localhost", "sslmode=require".to_owned()),
        ("localhost", format!("sslmode=verify-full&{first}")),
        ("other.example", format!("sslmode=verify-ca&{first}")),
        ("other.example", format!("sslmode=require&{first}")),
    ] {
        assert_eq!(connect(host, &options), Ok(()), "{host} {options}");
    }
    for (host, options) in [
        ("other.example", format!("sslmode=verify-full&{first}")),
        ("localhost", format!("sslmode=verify-full&{second}")),
        ("localhost", format!("sslmode=verify-ca&{second}")),
        ("localhost", "sslmode=verify-full".to_owned()),
    ] {
        let error = connect(host, &options).unwrap_err();
        assert!(error.contains("invalid peer certificate"), "{host} {options} {error}");
    }
    let error = connect("localhost", "sslmode=verify-full&sslrootcert=/nowhere").unwrap_err();
    assert!(error.contains("the certificates of `sslrootcert` cannot be used"), "{error}");
}
