//! Collections that are moved between stores, and what is related to what.

use chunkwright_index::transfer::{ImportError, Importer, Row, Vectors, export};
use chunkwright_index::{
    GenerationSpec, Mode, Models, SearchOptions, Store, StoreError, related, search, siblings,
};

use crate::fixture::{COLLECTION, Fixture, for_each_store, now, open};

const FILES: [(&str, &str); 5] = [
    ("docs/apples.md", "# Apples\n\nApples are red and grow on trees in the garden behind the house.\n"),
    ("docs/pears.md", "# Pears\r\n\r\nPears are green and grow on trees in the garden too.\r\n"),
    ("docs/цены.md", "# Цены\n\nЯблоки и груши продаются на рынке по утрам.\n"),
    ("docs/锅.md", "# 锅\n\n冷水上锅，中火烧开。\n"),
    ("src/code.py", "def pick(tree):\n    return tree.apples.pop()\n"),
];

fn rows(store: &dyn Store, vectors: Vectors) -> Vec<Row> {
    let mut rows = Vec::new();
    export::<StoreError>(store, &now(store), vectors, &mut |row| {
        rows.push(row);
        Ok(())
    })
    .unwrap();
    rows
}

fn import(store: &dyn Store, rows: Vec<Row>) -> Result<chunkwright_index::transfer::Imported, ImportError> {
    let mut importer = Importer::new(store, COLLECTION);
    rows.into_iter().try_for_each(|row| importer.push(row))?;
    importer.finish()
}

#[test]
fn what_is_exported_is_the_same_collection_where_it_is_imported() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        let latin =
            encoding_rs::WINDOWS_1251.encode("Старый текст в старой кодировке, довольно длинный.\n").0;
        fixture.write("old.txt", &latin);
        fixture.index();
        let before = rows(&*fixture.store, Vectors::Moved);
        assert!(before.iter().all(|row| row.vector.is_some()));
        for other in ["sqlite", "memory"] {
            let folder = tempfile::tempdir().unwrap();
            let store = open(other, &folder.path().join("store"));
            let json: Vec<String> = before.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
            let read = || json.iter().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Row>>();
            let imported = import(&*store, read()).unwrap();
            assert_eq!((imported.documents, imported.rebuilt), (6, 0));
            assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
            let without_versions = |rows: Vec<Row>| -> Vec<Row> {
                let plain = |mut row: Row| {
                    row.document.iter_mut().for_each(|document| document.info.version = 0);
                    row
                };
                rows.into_iter().map(plain).collect()
            };
            assert_eq!(
                without_versions(rows(&*store, Vectors::Moved)),
                without_versions(before.clone()),
                "{kind} to {other}"
            );
            let options = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
            let found =
                search(&*store, &now(&*store), Models::embedder(&*fixture.bag), "apples", &options).unwrap();
            assert!(found.hits[0].record.doc_id.ends_with("apples.md"));
            assert_eq!(import(&*store, read()).unwrap().unchanged, 6);
        }
    });
}

#[test]
fn records_without_their_documents_are_read_and_say_so() {
    let fixture = Fixture::new("sqlite", &FILES);
    fixture.index();
    let mut bare = rows(&*fixture.store, Vectors::Left);
    for row in &mut bare {
        row.document = None;
    }
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        let imported = import(&*store, bare.clone()).unwrap();
        assert_eq!((imported.documents, imported.rebuilt), (5, 5));
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        for row in &bare {
            let records = store.records(&now(&*store), &row.record.doc_id).unwrap();
            assert_eq!(records[row.record.chunk_index as usize], row.record);
        }
    });
}

#[test]
fn records_that_cannot_be_one_collection_are_refused_with_a_reason() {
    let fixture = Fixture::new("memory", &FILES);
    fixture.index();
    let good = rows(&*fixture.store, Vectors::Left);
    let refused = |change: &dyn Fn(&mut Vec<Row>)| {
        let store = open("memory", std::path::Path::new(""));
        let mut rows = good.clone();
        change(&mut rows);
        import(&*store, rows).unwrap_err().to_string()
    };
    assert!(refused(&|rows| rows[0].record.content.push('x')).contains("is not at bytes 0 to"));
    assert!(refused(&|rows| rows[1].record.config_hash = "other".into()).contains("was cut by"));
    assert!(refused(&|rows| rows[0].record.chunk_index = 7).contains("are not together and in order"));
    assert!(refused(&|rows| rows.push(rows[0].clone())).contains("are not together and in order"));
    let broken = |rows: &mut Vec<Row>| rows[0].document.as_mut().unwrap().raw_base64 = Some("?".into());
    assert!(refused(&broken).contains("is no base64"));
    assert!(open("memory", std::path::Path::new("")).begin(COLLECTION, &GenerationSpec::default()).is_ok());
}

#[test]
fn siblings_are_of_one_folder_and_related_documents_are_about_the_same() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        fixture.write("docs/inner/deep.md", b"Apples again, and trees.\n");
        fixture.index();
        let store = &*fixture.store;
        let beside = siblings(store, &now(store), "docs/pears.md", 2).unwrap();
        assert_eq!((beside.folder.as_str(), beside.count), ("docs", 3));
        assert_eq!(beside.nearest, ["docs/apples.md", "docs/цены.md"]);
        assert_eq!(siblings(store, &now(store), "src/code.py", 2).unwrap().count, 0);
        assert_eq!(
            siblings(store, &now(store), "docs/锅.md", 2).unwrap().nearest,
            ["docs/pears.md", "docs/цены.md"]
        );
        let about = related(store, &now(store), "docs/apples.md", 2).unwrap();
        assert_eq!(about[0].doc_id, "docs/pears.md");
        assert_eq!(about.len(), 2);
        assert!(about.iter().all(|found| found.doc_id != "docs/apples.md"));
    });
}
