//! Verification of records: every field of a record is changed, one at a time, in a consistent store, and a check must
//! notice. A field that cannot be verified is on a list, with the reason.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chunkwright::verify::UNPROVEN;
use chunkwright::{ChunkConfig, Chunker, Record, Words};
use chunkwright_index::{Change, IndexReport, NewChunk, NewDocument, Outcome, Pipeline, Store, StoreError};
use serde_json::{Value, json};

use crate::fixture::{Fixture, chunker, now};
use crate::kinds::for_each_local_store;

/// A field and what it may say.
type Said = (&'static str, fn() -> Value);

/// Fields that not every record has.
const OPTIONAL: &[Said] = &[
    ("artifact", || json!("file_summary")),
    ("previous", || json!("0".repeat(32))),
    ("next", || json!("0".repeat(32))),
    ("position", || json!({"unit": "page", "first": 1, "last": 1})),
    ("language", || json!("python")),
    ("symbols", || json!({"function_name": "x"})),
    ("imports", || json!(["import x"])),
    ("part", || json!({"index": 0, "total": 2})),
    ("indexed_at", || json!("1999-01-01T00:00:00Z")),
];

/// Another value of the same type.
fn another(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            json!(text.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect::<String>())
        }
        // The only names that it may have.
        Value::String(text) if text == "normal" => json!("large"),
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(number) => json!(number.as_u64().unwrap() + 1),
        Value::Bool(flag) => json!(!flag),
        Value::Array(values) => {
            let mut values = values.clone();
            values.push(json!("x"));
            Value::Array(values)
        }
        Value::Object(fields) => {
            let mut fields = fields.clone();
            if let Some((_, value)) = fields.iter_mut().find(|(_, value)| !value.is_string()) {
                *value = another(value);
            } else {
                fields.insert("function_name".into(), json!("another"));
            }
            Value::Object(fields)
        }
        Value::Null => Value::Null,
    }
}

/// Writes a document as it is stored, but for what `change` does to its second record, or its only one.
pub(crate) fn write_changed(
    fixture: &Fixture,
    doc_id: &str,
    change: &dyn Fn(&mut Value),
) -> Result<Outcome, StoreError> {
    let store = &*fixture.store;
    let mut records = store.records(&now(store), doc_id).unwrap();
    let at = 1.min(records.len() - 1);
    let mut value = serde_json::to_value(&records[at]).unwrap();
    change(&mut value);
    // What is not even a record is noticed when it is read.
    records[at] = serde_json::from_value(value)
        .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
    write(store, doc_id, records)
}

fn write(store: &dyn Store, doc_id: &str, records: Vec<Record>) -> Result<Outcome, StoreError> {
    let generation = now(store);
    let mut document = store.document(&generation, doc_id).unwrap().unwrap();
    let base = document.info.version;
    // Else there is nothing to do: the file is the same.
    document.info.root.push('x');
    let chunks = records.into_iter().map(NewChunk::new).collect();
    let outcomes =
        store.write(&generation, &[Change::Replace(Box::new(NewDocument { document, base, chunks }))])?;
    Ok(outcomes[0])
}

/// A corpus in which every kind of field occurs.
fn corpus(kind: &str) -> Fixture {
    let steps: String =
        (0..30).map(|n| format!("Step {n} is done with care, шаг {n}, 第{n}步。\n")).collect();
    let code: String = (0..9)
        .map(|n| format!("    def f{n}(self):\n        return os.path.join('a', 'b{n}')\n\n"))
        .collect();
    let fixture = Fixture::new(
        kind,
        &[
            ("guide.md", &format!("# Guide\n\nIntro.\n\n## Steps\n\n```text\n{steps}```\n\nThe end.\n")),
            ("plain.txt", "Один абзац.\n\nДругой абзац.\n"),
            ("page.html", "<h1>Title</h1>\n<p>One &amp; two, <b>three</b>.</p>\n<ul><li>four</li></ul>\n"),
            ("code.py", &format!("import os\n\nclass A:\n{code}")),
        ],
    );
    fixture.index();
    fixture
}

#[test]
fn every_field_of_a_record_is_proven_or_on_the_list_of_those_that_cannot_be() {
    // A server takes minutes for so many checks.
    for_each_local_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let mut unnoticed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for doc_id in ["guide.md", "plain.txt", "page.html", "code.py"] {
            let sound = store.records(&now(store), doc_id).unwrap();
            let record = serde_json::to_value(&sound[1.min(sound.len() - 1)]).unwrap();
            let mut fields: BTreeMap<String, Value> = record
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, value)| (name.clone(), another(value)))
                .collect();
            for (name, value) in OPTIONAL {
                fields.entry((*name).to_owned()).or_insert_with(value);
            }
            for (name, value) in fields {
                let written = write_changed(&fixture, doc_id, &|record| record[&name] = value.clone());
                // What a store refuses is noticed too.
                let noticed = written.is_err() || !store.check().unwrap().problems.is_empty();
                if !noticed {
                    unnoticed.entry(name).or_default().push(doc_id.to_owned());
                }
                write(store, doc_id, sound.clone()).unwrap();
                assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{kind} {doc_id}");
            }
        }
        unnoticed.retain(|name, _| UNPROVEN.iter().all(|(field, _)| field != name));
        assert!(unnoticed.is_empty(), "{kind}: {unnoticed:?}");
    });
}

#[test]
fn every_format_preset_and_strategy_makes_records_that_can_be_proven() {
    let text = "# A\n\n## B\n\nOne line.\n\n### C\n\n";
    let lines: String = (0..60).map(|n| format!("- item {n} with `code`\n  goes on, {n}\n")).collect();
    let table: String = (0..40).map(|n| format!("| {n} | cell {n} |\n")).collect();
    let markdown = format!(
        "---\ntitle: x\n---\n{text}{lines}\n\n| a | b |\n|---|---|\n{table}\n<div>\n\nПривет, 世界。\n\n</div>\n"
    );
    for preset in chunkwright::preset::PRESETS {
        let fixture = Fixture::new(
            "memory",
            &[
                ("a.md", &markdown),
                ("empty.md", ""),
                ("crlf.md", &markdown.replace('\n', "\r\n")),
                ("cr.md", &markdown.replace('\n', "\r")),
            ],
        );
        for entry in
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../chunkwright-code/tests/samples"))
                .unwrap()
        {
            let path = entry.unwrap().path();
            if path.is_file() {
                let (name, bytes) = (path.file_name().unwrap(), std::fs::read_to_string(&path).unwrap());
                fixture.write(name, bytes.as_bytes());
                fixture.write(Path::new("crlf").join(name), bytes.replace('\n', "\r\n").as_bytes());
            }
        }
        let config = (preset.config)();
        let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
        let pipeline =
            Pipeline::new(Arc::clone(&fixture.store), "test", chunker, preset.name).with_summaries(true);
        let report: IndexReport = pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert!(report.indexed > 20, "{}: {report:?}", preset.name);
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{}", preset.name);
    }
    for strategy in chunkwright::STRATEGIES {
        let fixture = Fixture::new("memory", &[("a.md", &markdown)]);
        let config = ChunkConfig { strategy: strategy.name().into(), ..chunker().config().clone() };
        let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
        let pipeline = Pipeline::new(Arc::clone(&fixture.store), "test", chunker, "own");
        pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{}", strategy.name());
    }
}
