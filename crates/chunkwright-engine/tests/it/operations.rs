//! Applies the operations of `diff` to a minimal vector database.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chunkwright::{ChunkId, Record};
use chunkwright_engine::settings::Source;
use chunkwright_engine::{
    Access, ChunkRequest, DiffAnswer, DiffSide, DocumentsRequest, Engine, Error, Input, Layers, NoticeCode,
    Operation, Revision,
};
use serde_json::json;
use tempfile::TempDir;

fn engine(preset: &str) -> Engine {
    let values = [("tokenizer", "words"), ("embedder", "none"), ("preset", preset)];
    let values = values.map(|(key, value)| (key.to_owned(), json!(value)));
    Engine::open(Layers::default().settings(Source::Request, values).unwrap(), Access::NoStore).unwrap()
}

/// The records of a folder, as `chunk` writes them.
fn records(engine: &Engine, folder: &Path) -> Vec<Record> {
    let request =
        DocumentsRequest { inputs: vec![Input::Path(folder.into())], ..DocumentsRequest::default() };
    let mut all = Vec::new();
    let mut documents = engine.documents(&request).unwrap();
    let emit = |chunks: Option<Vec<Record>>| {
        all.extend(chunks.into_iter().flatten());
        Ok::<(), Error>(())
    };
    documents.chunk(ChunkRequest::default(), |cut| cut.chunks, |_| 0, emit).unwrap();
    all
}

/// A file of records as `chunk` writes it.
fn export(folder: &Path, records: &[Record]) -> PathBuf {
    let lines: Vec<String> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    let file = folder.join("yesterday.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    file
}

fn diff(engine: &Engine, old: &DiffSide, new: &DiffSide) -> DiffAnswer {
    engine.diff(old, new, &[], &mut |_, _| {}).unwrap()
}

fn folder(path: &Path) -> DiffSide {
    DiffSide::Documents(Input::Path(path.into()))
}

/// A vector database: the text that each vector is of, and the record.
#[derive(Debug, Default, PartialEq)]
struct Database(HashMap<ChunkId, (String, Record)>);

impl Database {
    fn of(records: &[Record]) -> Self {
        let entry = |record: &Record| (record.chunk_id, (record.text.clone(), record.clone()));
        Self(records.iter().map(entry).collect())
    }

    /// Does what it is told; answers how many texts it embedded.
    fn run(&mut self, operations: &[Operation<'_>]) -> usize {
        let mut embedded = 0;
        for operation in operations {
            match *operation {
                Operation::Upsert { chunk_id, vector_of, record } => {
                    embedded += usize::from(vector_of.is_none());
                    let vector = vector_of.map_or_else(|| record.text.clone(), |id| self.0[&id].0.clone());
                    self.0.insert(chunk_id, (vector, record.clone()));
                }
                Operation::Rename { chunk_id, old_chunk_id, record } => {
                    let (vector, _) = self.0.remove(&old_chunk_id).unwrap();
                    assert!(self.0.insert(chunk_id, (vector, record.clone())).is_none());
                }
                Operation::Update { chunk_id, record } => {
                    self.0.get_mut(&chunk_id).unwrap().1 = record.clone();
                }
                Operation::Delete { chunk_id } => drop(self.0.remove(&chunk_id).unwrap()),
            }
        }
        embedded
    }
}

/// The documents of the example corpus in a folder of their own.
fn corpus() -> TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
    let copy = TempDir::new().unwrap();
    for language in ["en", "ru", "zh"] {
        fs::create_dir(copy.path().join(language)).unwrap();
        for entry in fs::read_dir(root.join(language)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.path().join(language).join(path.file_name().unwrap())).unwrap();
        }
    }
    copy
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = |language| fs::read_dir(folder.join(language)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = ["en", "ru", "zh"].into_iter().flat_map(inside).collect();
    files.sort();
    files
}

/// Edits, renames, copies and removes files, the same in every run.
fn change(folder: &Path, round: usize) {
    let files = files(folder);
    let file = |step: usize| &files[(round * 7 + step * 5) % files.len()];
    let source = fs::read_to_string(file(0)).unwrap();
    let mut lines: Vec<&str> = source.lines().collect();
    lines.insert((round * 13) % lines.len(), "A new line, новая строка, 新的一行。");
    fs::write(file(0), lines.join("\n")).unwrap();
    fs::rename(file(1), file(1).with_file_name(format!("renamed-{round}.md"))).unwrap();
    if round.is_multiple_of(2) {
        fs::copy(file(2), file(2).with_file_name(format!("copy-{round}.md"))).unwrap();
    }
    if round.is_multiple_of(3) {
        fs::remove_file(file(3)).unwrap();
    }
}

#[test]
fn operations_make_the_new_chunks_of_the_old_ones_and_embed_only_new_texts() {
    for preset in ["auto", "stable", "course"] {
        let engine = engine(preset);
        let (old, new, exports) = (corpus(), corpus(), TempDir::new().unwrap());
        let mut renamed = 0;
        for round in 0..12 {
            change(new.path(), round);
            let (before, after) = (records(&engine, old.path()), records(&engine, new.path()));
            let exported = DiffSide::named(export(exports.path(), &before));
            assert!(matches!(exported, DiffSide::Records(_)));
            for side in [folder(old.path()), exported] {
                let answer = diff(&engine, &side, &folder(new.path()));
                let mut database = Database::of(&before);
                let embedded = database.run(&answer.operations());
                assert_eq!(database, Database::of(&after), "{preset}, round {round}");
                assert_eq!(embedded, answer.diff.summary.texts_to_embed);
                assert_eq!(answer.notices, []);
                renamed += answer.diff.summary.renamed;
            }
            change(old.path(), round);
        }
        assert!(renamed > 12, "{renamed}");
    }
}

#[test]
fn what_other_settings_cut_is_compared_with_a_notice() {
    let (auto, stable, corpus, exports) =
        (engine("auto"), engine("stable"), corpus(), TempDir::new().unwrap());
    let export = export(exports.path(), &records(&stable, corpus.path()));
    let answer = diff(&auto, &DiffSide::Records(export), &folder(corpus.path()));
    assert_eq!(answer.notices[0].code, NoticeCode::OtherSettings);
    assert!(answer.notices[0].message.contains("preset stable"), "{}", answer.notices[0]);
}

#[test]
fn a_revision_is_what_the_folder_was_and_leaves_it_alone() {
    let engine = engine("auto");
    let corpus = corpus();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]);
        let output = git.args(arguments).current_dir(corpus.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    let before = records(&engine, corpus.path());
    (0..4).for_each(|round| change(corpus.path(), round));
    let status = git(&["status", "--porcelain"]);
    let revision = |path: &str| {
        let path = Some(corpus.path().join(path));
        DiffSide::Revision(Revision { revision: "HEAD".into(), path })
    };
    let after = records(&engine, corpus.path());
    let answer = diff(&engine, &revision(""), &folder(corpus.path()));
    let mut database = Database::of(&before);
    database.run(&answer.operations());
    assert_eq!(database, Database::of(&after));
    assert_eq!(git(&["status", "--porcelain"]), status);
    // A folder below, and a file that is gone.
    let below = diff(&engine, &revision("zh"), &folder(&corpus.path().join("zh")));
    assert!(below.diff.changes.iter().all(|change| !change.doc_id.contains('/')));
    let gone = status.lines().find_map(|line| line.strip_prefix(" D ")).unwrap();
    let both = diff(&engine, &revision(gone), &revision(gone));
    assert!(both.diff.summary.kept > 0 && both.diff.summary.kept == both.diff.summary.new_chunks);
    let missing = engine.diff(&revision("nowhere"), &folder(corpus.path()), &[], &mut |_, _| {}).unwrap_err();
    assert!(missing.to_string().contains("in the revision `HEAD` could not be read: "), "{missing}");
}
