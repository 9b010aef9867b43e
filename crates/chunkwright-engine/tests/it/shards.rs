//! Tables of shards that somebody has changed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chunkwright_arrow::{Columns, ExportRow, Reader, Writer};
use chunkwright_engine::settings::Source;
use chunkwright_engine::{
    Access, ChunkRequest, DocumentsRequest, Engine, Input, Layers, RecordTable, Shard, TableFormat,
    join_shards,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const NOTE: &str = "chunkwright.shard";

/// Cuts three documents as two shards.
fn shards(folder: &Path) -> Vec<PathBuf> {
    let docs = folder.join("docs");
    fs::create_dir(&docs).unwrap();
    let text = "Words that fill a chunk. ".repeat(3);
    for name in ["a", "b", "c", "d", "e"] {
        fs::write(
            docs.join(format!("{name}.md")),
            format!("# {name}\n\n{text}\n\n# Two of {name}\n\n{text}\n"),
        )
        .unwrap();
    }
    let values = [("tokenizer".to_owned(), json!("words")), ("max_size".to_owned(), json!(16))];
    let settings = Layers::default().settings(Source::Request, values).unwrap();
    let engine = Engine::open(settings, Access::NoStore).unwrap();
    let cut = |shard: &str| {
        let path = folder.join(shard.replace('/', "-"));
        let (inputs, shard) = (vec![Input::Path(docs.clone())], Some(shard.parse().unwrap()));
        let request = DocumentsRequest { inputs, shard, ..DocumentsRequest::default() };
        let mut documents = engine.documents(&request).unwrap();
        let table = RecordTable::new(File::create(&path).unwrap(), TableFormat::Parquet, None).unwrap();
        documents.write_table(ChunkRequest::default(), table, |_| {}).unwrap();
        path
    };
    ["1/2", "2/2"].map(cut).to_vec()
}

/// An id that the second of two shards has.
fn of_the_other_shard() -> String {
    let other: Shard = "2/2".parse().unwrap();
    (0..100).map(|number| format!("{number}.md")).find(|name| other.holds(name)).unwrap()
}

/// Writes a table again with its rows and its manifest changed.
fn change(path: &Path, rows: impl FnOnce(&mut Vec<ExportRow>), manifest: impl FnOnce(&mut Value)) {
    let reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut said: Value = serde_json::from_str(reader.note(NOTE).unwrap()).unwrap();
    let mut all: Vec<ExportRow> = reader.flat_map(Result::unwrap).collect();
    rows(&mut all);
    manifest(&mut said);
    let mut writer = Writer::new(File::create(path).unwrap(), Columns::default()).unwrap();
    writer.write(&all).unwrap();
    writer.note(NOTE, said.to_string());
    writer.finish().unwrap();
}

#[test]
fn a_table_that_contradicts_its_manifest_is_refused_with_the_reason() {
    type Rows = fn(&mut Vec<ExportRow>);
    type Said = fn(&mut Value);
    let kept: Rows = |_| {};
    let same: Said = |_| {};
    let cases: [(Rows, Said, &str); 9] = [
        (|rows| drop(rows.pop()), same, "it has fewer rows than its manifest says"),
        (|rows| rows.push(rows[0].clone()), same, "it has more rows than its manifest says"),
        (|rows| drop(rows.remove(0)), same, "are not as many as were written"),
        (|rows| rows[1] = rows[0].clone(), same, "is there twice"),
        (
            |rows| rows.iter_mut().for_each(|row| row.record.doc_id = of_the_other_shard()),
            same,
            "belongs to another shard",
        ),
        (kept, |said| said["found"] = json!(4_000_000_000_u32), "lists of documents differ"),
        (
            kept,
            |said| drop(said["documents"].as_array_mut().unwrap().pop()),
            "all shards together have 4 of 5 documents",
        ),
        (kept, |said| said["documents"][0][0] = json!(99), "there is no document 100"),
        (kept, |said| said["documents"][0][0] = said["documents"][1][0].clone(), "is in two shards"),
    ];
    for (number, (rows, manifest, reason)) in cases.into_iter().enumerate() {
        let folder = TempDir::new().unwrap();
        let tables = shards(folder.path());
        assert!(join_shards(&tables, Vec::new()).is_ok());
        change(&tables[0], rows, manifest);
        let joined = join_shards(&tables, Vec::new());
        let refused = joined.map(|_| (number, reason)).unwrap_err().to_string();
        assert!(refused.contains(reason), "case {number}: {refused}");
    }
}
