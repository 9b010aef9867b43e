//! Stores of older programs: their tables, filled as those filled them, opened by this one.

use std::path::Path;

use chunkwright::Record;
use chunkwright_index::{
    Access, Damaged, DocumentInfo, Mode, Models, Overlay, OverlayState, Pipeline, SearchOptions, SqliteStore,
    Store, StoreError, amend, list_overlays, search,
};
use rusqlite::{Connection, params};

use crate::fixture::{Bag, COLLECTION, Fixture, chunker, now};

pub(crate) const LAYOUTS: [(i64, &str); 3] = [
    (1, include_str!("../layouts/1.sql")),
    (2, include_str!("../layouts/1.sql")),
    (3, include_str!("../layouts/3.sql")),
];

/// Writes into `folder` the store that a program with the tables `sql` would have made of what `fixture`
/// holds; the last document as one of another configuration, the first chunk disabled.
pub(crate) fn write_old(fixture: &Fixture, folder: &Path, layout: i64, sql: &str) {
    let old = Connection::open(folder.join(SqliteStore::FILE)).unwrap();
    old.execute_batch(sql).unwrap();
    old.execute_batch("CREATE VIRTUAL TABLE words_1 USING fts5(terms, content='', contentless_delete=1)")
        .unwrap();
    old.pragma_update(None, "application_id", 0x4357_5254).unwrap();
    old.pragma_update(None, "user_version", layout).unwrap();
    old.execute("INSERT INTO meta VALUES ('analysis', 1)", []).unwrap();
    let generation = now(&*fixture.store);
    let model = generation.spec.model.clone().unwrap();
    old.execute(
        "INSERT INTO collections VALUES (1, ?1, ?2, ?3, 5)",
        params![COLLECTION, model.name, model.dimension],
    )
    .unwrap();
    let documents = fixture.store.documents(&generation).unwrap();
    let last = i64::try_from(documents.len()).unwrap();
    for (at, info) in (1_i64..).zip(documents) {
        let DocumentInfo { doc_id, root, file_hash, preset, format, encoding, indexed_at, .. } = &info;
        let config_hash = if at == last { "another" } else { &generation.spec.config_hash };
        old.execute(
            "INSERT INTO documents VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, ?11, 0, ?12)",
            params![
                at,
                doc_id,
                root,
                file_hash,
                info.bytes,
                config_hash,
                generation.spec.strategy_version,
                preset,
                format,
                encoding,
                info.chunks,
                indexed_at
            ],
        )
        .unwrap();
        let document = fixture.store.document(&generation, doc_id).unwrap().unwrap();
        old.execute(
            "INSERT INTO sources VALUES (?1, ?2, ?3, ?4)",
            params![at, document.doc_toc, document.source.as_bytes(), document.raw],
        )
        .unwrap();
        for record in fixture.store.records(&generation, doc_id).unwrap() {
            write_chunk(&old, fixture, layout, at, &record);
        }
    }
    old.execute("INSERT INTO disabled SELECT 1, chunk_id FROM chunks WHERE key = 1", []).unwrap();
}

fn write_chunk(old: &Connection, fixture: &Fixture, layout: i64, document: i64, record: &Record) {
    let hash = chunkwright_models::text_hash(&record.text);
    let mut json = serde_json::to_value(record).unwrap();
    let fields = json.as_object_mut().unwrap();
    fields.insert("content".into(), "".into());
    fields.insert("text".into(), "".into());
    if layout == 1 {
        fields.remove("parent");
    }
    let tail = record
        .text
        .strip_prefix(record.context.as_str())
        .unwrap()
        .strip_prefix(record.content.as_str())
        .unwrap();
    let columns = if layout < 3 { "" } else { ", artifact, symbols" };
    let values = if layout < 3 { "" } else { ", NULL, ''" };
    old.execute(
        &format!(
            "INSERT INTO chunks (collection, document, idx, chunk_id, text_hash, start, end, category, language, content_type, tail, record{columns})
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11{values})"
        ),
        params![
            document,
            record.chunk_index,
            record.chunk_id.0,
            hash,
            record.start_byte,
            record.end_byte,
            record.category,
            record.language,
            record.content_type,
            tail,
            json.to_string()
        ],
    )
    .unwrap();
    let model = &now(&*fixture.store).spec.model.unwrap().name;
    let vector = fixture.store.cache().vectors(model, &[hash]).unwrap().remove(0).unwrap().dense;
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    old.execute(
        "INSERT OR IGNORE INTO vectors (model, text_hash, vector) VALUES (?1, ?2, ?3)",
        params![model, hash, bytes],
    )
    .unwrap();
}

#[test]
fn a_store_of_an_older_layout_is_brought_up_to_date_and_loses_nothing() {
    let text = |word: &str| {
        format!(
            "# {word}\n\nSome words about {word} that are long enough.\n\n## More\n\nMore about {word}, 数据库连接.\n"
        )
    };
    let files = [("a.md", text("apples")), ("b.md", text("pears")), ("c.md", text("plums"))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let fixture = Fixture::new("sqlite", &files);
    fixture.index();
    for (layout, sql) in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        write_old(&fixture, folder.path(), layout, sql);
        let error = SqliteStore::open(folder.path(), Access::Read).err().unwrap();
        assert!(matches!(error, StoreError::Layout { found, .. } if found == layout), "{error}");
        let store = SqliteStore::open(folder.path(), Access::Write).unwrap();
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "layout {layout}");
        let generation = store.open(COLLECTION).unwrap();
        assert_eq!(generation.spec, now(&*fixture.store).spec);
        let before = |doc_id: &str| fixture.store.records(&now(&*fixture.store), doc_id).unwrap();
        for (doc_id, _) in &files {
            let mut expected = before(doc_id);
            if layout == 1 {
                for record in &mut expected {
                    record.parent.clone_from(&record.doc_id);
                }
            }
            assert_eq!(store.records(&generation, doc_id).unwrap(), expected, "layout {layout}");
        }
        let found = |query: &str, mode| {
            let options = SearchOptions { mode, ..SearchOptions::default() };
            search(&store, &generation, Models::embedder(&*fixture.bag), query, &options).unwrap().hits
        };
        assert_eq!(found("pears", Mode::Lexical)[0].record.doc_id, "b.md");
        assert_eq!(found("pears", Mode::Dense)[0].record.doc_id, "b.md");
        assert!(!found("数据库", Mode::Lexical).is_empty());
        // What was disabled is an overlay now.
        let disabled = &before("a.md")[0].chunk_id;
        assert!(store.overlays(COLLECTION).unwrap().get(&disabled.to_string()).unwrap().disabled);
        assert!(found("apples", Mode::Hybrid).iter().all(|hit| hit.record.chunk_id != *disabled));
        // The next run cuts again what was cut otherwise, and embeds nothing.
        drop(store);
        fixture.bag.take_texts();
        let pipeline =
            Pipeline::new(crate::fixture::open("sqlite", folder.path()), COLLECTION, chunker(), "test")
                .with_embedder(fixture.bag.clone());
        let report = pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert_eq!((report.indexed, report.unchanged), (2, 1), "layout {layout}");
        assert!(fixture.bag.take_texts().is_empty());
        assert_eq!(pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap().unchanged, 3);
    }
}

/// Writes into `folder` the store that a program of layout 4 or 5, with the tables `sql`, would have made of what
/// `fixture` holds.
fn write_newer(fixture: &Fixture, folder: &Path, layout: i64, sql: &str) -> Connection {
    let old = Connection::open(folder.join(SqliteStore::FILE)).unwrap();
    old.execute_batch(sql).unwrap();
    old.pragma_update(None, "application_id", 0x4357_5254).unwrap();
    old.pragma_update(None, "user_version", layout).unwrap();
    let new = fixture.store_path().join(SqliteStore::FILE);
    old.execute("ATTACH ?1 AS new", [new.to_str().unwrap()]).unwrap();
    let mut tables_of =
        old.prepare("SELECT name FROM main.sqlite_master WHERE sql LIKE 'CREATE TABLE%'").unwrap();
    let tables: Vec<String> =
        tables_of.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables {
        let columns = format!("SELECT group_concat(name) FROM pragma_table_info('{table}', 'main')");
        let columns: String = old.query_row(&columns, [], |row| row.get(0)).unwrap();
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}");
        old.execute_batch(&copy).unwrap();
    }
    drop(tables_of);
    old
}

const LAYOUT_4: &str = include_str!("../layouts/4.sql");
const LAYOUT_5: &str = include_str!("../layouts/5.sql");

#[test]
fn parents_that_older_programs_stored_and_that_do_not_hold_their_chunks_are_put_right() {
    let lines: String = (0..40).map(|n| format!("Строка {n} of a long enough section.\n\n")).collect();
    let text = format!("# A\n\n## B\n\nOne line.\n\n### C\n\n{lines}");
    let fixture = Fixture::new("sqlite", &[("a.md", &text), ("b.md", "# 数据库\n\n数据库连接。\n")]);
    fixture.index();
    let records = |store: &dyn Store| store.records(&store.open(COLLECTION).unwrap(), "a.md").unwrap();
    let before = records(&*fixture.store);
    for (layout, sql) in [(4, LAYOUT_4), (5, LAYOUT_5)] {
        for wrong in ["a.md#L3-L9", "a.md#L86-L88", "b.md", "", "a.md#3"] {
            let folder = tempfile::tempdir().unwrap();
            let old = write_newer(&fixture, folder.path(), layout, sql);
            let changed =
                "UPDATE chunks SET record = json_set(record, '$.p', ?1) WHERE document = 1 AND idx < 2";
            assert_eq!(old.execute(changed, [wrong]).unwrap(), 2);
            drop(old);
            let store = crate::fixture::open("sqlite", folder.path());
            assert_eq!(records(&*store), before, "layout {layout}, `{wrong}`");
            assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
            let pipeline = Pipeline::new(store.clone(), COLLECTION, chunker(), "test")
                .with_embedder(fixture.bag.clone());
            let report = pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
            assert_eq!((report.unchanged, report.indexed), (2, 0), "layout {layout}, `{wrong}`");
            assert_eq!(records(&*store), before);
        }
    }
}

#[test]
fn a_store_of_layout_4_gets_room_for_sparse_vectors_and_is_otherwise_as_it_was() {
    let files = [("a.md", "# Apples\n\nSome words about apples."), ("b.md", "# 数据库\n\n数据库连接。")];
    let fixture = Fixture::new("sqlite", &files);
    fixture.index();
    let folder = tempfile::tempdir().unwrap();
    drop(write_newer(&fixture, folder.path(), 4, LAYOUT_4));
    let copy = folder.path().join("copy");
    std::fs::copy(folder.path().join(SqliteStore::FILE), &copy).unwrap();
    let error = SqliteStore::open(folder.path(), Access::Read).err().unwrap();
    assert!(matches!(error, StoreError::Layout { found: 4, .. }), "{error}");
    assert!(
        error.to_string().ends_with("open it to write once, as `index` does, and it has that"),
        "{error}"
    );
    let restored = folder.path().join("restored");
    SqliteStore::restore(&copy, &restored, Damaged::Refused).unwrap();
    for folder in [folder.path(), &restored] {
        let store = crate::fixture::open("sqlite", folder);
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        assert_eq!(store.collections().unwrap(), fixture.store.collections().unwrap());
        assert_eq!(store.cache().usage().unwrap(), fixture.store.cache().usage().unwrap());
        let mode = |mode| SearchOptions { mode, ..SearchOptions::default() };
        for mode in [mode(Mode::Hybrid), mode(Mode::Dense)] {
            let models = Models::embedder(&*fixture.bag);
            let found = search(&*store, &now(&*store), models, "apples", &mode).unwrap();
            let expected = search(&*fixture.store, &now(&*fixture.store), models, "apples", &mode).unwrap();
            assert_eq!(found, expected);
        }
        // It takes sparse vectors from now on.
        let bag = Bag::with_sparse(256);
        let pipeline = Pipeline::new(store.clone(), COLLECTION, chunker(), "test").with_embedder(bag.clone());
        pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        let found = search(&*store, &now(&*store), Models::embedder(&*bag), "apples", &mode(Mode::Sparse));
        assert_eq!(found.unwrap().hits[0].record.doc_id, "a.md");
    }
}

#[test]
fn a_store_of_layout_5_keeps_its_overlays_and_finds_edited_chunks_from_now_on() {
    let text = "# Apples\n\nSome words about apples that are long enough to be recognized after an edit.\n\n\
        # Pears\n\nOther words, about pears, that somebody gave another text.\n";
    let fixture = Fixture::new("sqlite", &[("a.md", text)]);
    fixture.index();
    let records = fixture.store.records(&now(&*fixture.store), "a.md").unwrap();
    let amend = |at: usize, change: &dyn Fn(&mut Overlay)| {
        let id = records[at].chunk_id;
        amend(&*fixture.store, &now(&*fixture.store), Some(&*fixture.bag), None, id, change).unwrap();
    };
    amend(0, &|overlay| overlay.disabled = true);
    amend(1, &|overlay| overlay.text = Some("Quinces.".into()));
    let Fixture { folder, store, pipeline, bag, options, .. } = fixture;
    drop((store, pipeline));
    // What layout 5 had in place of contents and of what is on chunks.
    let old = Connection::open(folder.path().join("store").join(SqliteStore::FILE)).unwrap();
    old.execute_batch(
        "UPDATE overlays SET overlay = json_remove(overlay, '$.content', '$.header_path');
         UPDATE documents SET overlays = '0123456789abcdef' WHERE overlays <> '';
         ALTER TABLE documents DROP COLUMN prefix;
         PRAGMA user_version = 5;",
    )
    .unwrap();
    let Record { char_count, word_count, token_count, .. } = records[1];
    let counts = "UPDATE chunks SET record = json_set(record, '$.cc', ?1, '$.wc', ?2, '$.tc', ?3)
        WHERE record LIKE '%Quinces%'";
    assert_eq!(old.execute(counts, params![char_count, word_count, token_count]).unwrap(), 1);
    drop(old);
    let root = folder.path().join("files");
    let store = crate::fixture::open("sqlite", &folder.path().join("store"));
    let overlays = store.overlays(COLLECTION).unwrap();
    assert_eq!(overlays.get(&records[0].chunk_id.to_string()).unwrap().content, records[0].content);
    let listed = list_overlays(&*store, &now(&*store)).unwrap();
    assert!(listed.iter().all(|listed| listed.state == OverlayState::On), "{listed:?}");
    assert!(!store.chunks(&now(&*store), &[records[0].chunk_id]).unwrap()[0].as_ref().unwrap().enabled);
    let pipeline = Pipeline::new(store.clone(), COLLECTION, chunker(), "test").with_embedder(bag.clone());
    assert_eq!(pipeline.index(std::slice::from_ref(&root), &options, &|_| {}).unwrap().overlays.on, 2);
    assert!(list_overlays(&*store, &now(&*store)).unwrap().iter().all(|listed| !listed.pending));
    // The chunk that was edited is recognized by the content that the migration found.
    std::fs::write(root.join("a.md"), text.replace("recognized", "known")).unwrap();
    let report = pipeline.index(&[root], &options, &|_| {}).unwrap();
    assert_eq!((report.overlays.on, report.overlays.carried), (1, 1));
    // The text that was replaced comes back with its counts.
    let id = records[1].chunk_id;
    chunkwright_index::amend(&*store, &now(&*store), None, None, id, &|overlay| overlay.text = None).unwrap();
    let restored = store.records(&now(&*store), "a.md").unwrap().remove(1);
    let counts =
        |record: &Record| (record.text.clone(), record.char_count, record.word_count, record.token_count);
    assert_eq!(counts(&restored), counts(&records[1]));
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_store_of_a_newer_layout_is_left_as_it_is() {
    let fixture = Fixture::new("sqlite", &[("a.md", "Text.")]);
    fixture.index();
    let file = fixture.store_path().join(SqliteStore::FILE);
    let Fixture { store, pipeline, folder, .. } = fixture;
    drop((store, pipeline));
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&file).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = SqliteStore::open(&folder.path().join("store"), access).err().unwrap();
        assert!(
            error.to_string().starts_with("the store has layout 99, this program reads layout 6"),
            "{error}"
        );
    }
    assert!(std::fs::read(&file).unwrap() == before);
}
