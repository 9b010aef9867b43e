//! Stores on servers, and Qdrant's own engine, rank as the embedded store does.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use chunkwright::{ChunkId, Record};
use chunkwright_http::{Client, HttpOptions, Method};
use chunkwright_index::analysis::terms;
use chunkwright_index::bm25::{TermCounts, TermField, TermId, query_ids};
use chunkwright_index::{
    Access, ChunkStore, CollectionStore, DocumentStore, Field, Filter, GenerationSpec, GenerationStore,
    IndexOptions, Mode, Model, Pipeline, QdrantOptions, Ranked, RemoteStore, Scored, SearchOptions,
    StoreError, Vector, rank,
};
use chunkwright_models::{Embedder, Role, text_hash};
use serde_json::{Value, json};

use crate::fixture::{Bag, COLLECTION, Fixture, chunker, for_each_store, now};
use crate::kinds::unique;
use crate::servers;
use crate::stride::one_in;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus")
}

/// Some questions in each language of the corpus.
fn questions() -> Vec<String> {
    let lines = std::fs::read_to_string(corpus().with_file_name("questions.jsonl")).unwrap();
    let question = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    lines
        .lines()
        .step_by(3 * one_in(3))
        .map(|line| question(line)["question"].as_str().unwrap().to_owned())
        .collect()
}

/// The corpus in a store of this kind, in more than 500 chunks.
fn indexed(kind: &str) -> Fixture {
    let fixture = Fixture::with_bag(kind, &[], Bag::with_sparse(256));
    let report = fixture.pipeline.index(&[corpus()], &fixture.options, &|_| {}).unwrap();
    assert!(report.chunks > 500 && report.failed.is_empty(), "{report:?}");
    fixture
}

/// The terms of a question in every field, of which every other one weighs half.
fn weighted(question: &str) -> Vec<(TermId, f32)> {
    let fields = [TermField::Text, TermField::File, TermField::Symbols];
    let ids = query_ids(terms(question)).into_iter().flat_map(|id| fields.map(|field| field.id(id)));
    ids.zip([1.0, 0.5].into_iter().cycle()).collect()
}

/// The best few by words, for which a server need not look at chunks that have frequent words alone.
fn few(fixture: &Fixture, question: &str, filter: &Filter) -> Vec<Scored> {
    fixture.store.lexical(&now(&*fixture.store), &weighted(question), filter, 3).unwrap()
}

fn ranked(fixture: &Fixture, question: &str, filter: &Filter) -> Ranked {
    let options = SearchOptions { filter: filter.clone(), candidates: 100, ..SearchOptions::default() };
    rank(&*fixture.store, &now(&*fixture.store), Some(&*fixture.bag), question, &options).unwrap()
}

/// The same chunks in the same order, but for those whose scores differ by less than they are exact to.
#[track_caller]
fn same(ours: &[Scored], theirs: &[Scored], place: &str) {
    const EXACT: f64 = 1e-5;
    assert_eq!(ours.len(), theirs.len(), "{place}");
    let scores: HashMap<ChunkId, f64> = ours.iter().map(|hit| (hit.id, hit.score)).collect();
    let is_near = |a: f64, b: f64| (a - b).abs() <= EXACT * a.abs().max(1.0);
    for (at, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!(is_near(ours.score, theirs.score), "{place}: {at} {ours:?} {theirs:?}");
        let own = scores.get(&theirs.id).copied().unwrap_or(ours.score);
        assert!(is_near(own, theirs.score), "{place}: {at} {theirs:?} has {own}");
    }
}

#[test]
fn every_store_ranks_as_the_embedded_one() {
    let sqlite = indexed("sqlite");
    let filters =
        [Filter::default(), Filter::parse("category=doc and not doc_id~ru/** and start_line>5").unwrap()];
    // Ranked once, and compared with all.
    let mut rankings = Vec::new();
    for question in questions() {
        for filter in &filters {
            let ours = (ranked(&sqlite, &question, filter), few(&sqlite, &question, filter));
            rankings.push((question.clone(), filter, ours));
        }
    }
    let check = |kind: &str| {
        let other = indexed(kind);
        for (question, filter, (ours, best)) in &rankings {
            let place = format!("{kind} {question} {filter:?}");
            same(best, &few(&other, question, filter), &place);
            let theirs = ranked(&other, question, filter);
            same(ours.lexical.as_ref().unwrap(), theirs.lexical.as_ref().unwrap(), &place);
            same(ours.dense.as_ref().unwrap(), theirs.dense.as_ref().unwrap(), &place);
            same(ours.sparse.as_ref().unwrap(), theirs.sparse.as_ref().unwrap(), &place);
        }
        // What is too little relevant is told by the index of one, and by reading in the others.
        for (mode, min_relevance) in [(Mode::Hybrid, Some(0.0)), (Mode::Lexical, None)] {
            let options = SearchOptions { mode, min_relevance, top_k: 3, ..SearchOptions::default() };
            for question in questions().iter().step_by(4) {
                assert_eq!(
                    sqlite.search(question, &options),
                    other.search(question, &options),
                    "{kind} {question}"
                );
            }
        }
    };
    check("double");
    for_each_store(check);
}

fn sparse(terms: &TermCounts) -> Value {
    let (mut indices, mut values): (Vec<u32>, Vec<f64>) = terms.weights().unzip();
    if indices.is_empty() {
        (indices, values) = (vec![u32::MAX], vec![1.0]);
    }
    json!({"indices": indices, "values": values})
}

/// A sparse vector of a model as Qdrant has them.
fn pairs(weights: &[(u32, f32)]) -> Value {
    let (indices, values): (Vec<u32>, Vec<f32>) = weights.iter().copied().unzip();
    json!({"indices": indices, "values": values})
}

#[test]
fn the_engine_of_qdrant_ranks_as_the_embedded_store() {
    let Some(python) = servers::program("python") else {
        println!("not checked: `CHUNKWRIGHT_SERVERS` does not say where the engine is");
        return;
    };
    let sqlite = indexed("sqlite");
    let generation = now(&*sqlite.store);
    let documents = sqlite.store.documents(&generation).unwrap();
    let records: Vec<Record> =
        documents.iter().flat_map(|info| sqlite.store.records(&generation, &info.doc_id).unwrap()).collect();
    let hashes: Vec<_> = records.iter().map(|record| text_hash(&record.text)).collect();
    let vectors = sqlite.store.cache().vectors("bag-256#sparse", &hashes).unwrap();
    let point = |(id, (record, vector)): (usize, (&Record, &Option<Vector>))| {
        let Vector { dense, sparse: weights, .. } = vector.clone().unwrap();
        let words = sparse(&TermCounts::of_chunk(&record.text, record));
        json!({"id": id, "dense": dense, "sparse": words, "weights": pairs(&weights.unwrap())})
    };
    let points: Vec<Value> = records.iter().zip(&vectors).enumerate().map(point).collect();
    let mut queries = Vec::new();
    for question in questions() {
        let embedding = sqlite.bag.embed(&[&question], Role::Query).unwrap().remove(0);
        queries.push(json!({"dense": embedding.vector, "limit": 100}));
        queries.push(json!({"weights": pairs(&embedding.sparse.unwrap()), "limit": 100}));
        queries.push(json!({"sparse": pairs(&weighted(&question)), "limit": 100}));
    }
    let mut command = Command::new(python);
    command.arg(servers::scripts().join("qdrant_edge_rank.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let given = json!({"dimensions": 256, "points": points, "queries": queries});
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let mut rankings = output.lines().map(|line| {
        let hits: Vec<(usize, f64)> = serde_json::from_str(line).unwrap();
        let scored = |(id, score): (usize, f64)| Scored { id: records[id].chunk_id, score };
        hits.into_iter().map(scored).collect::<Vec<_>>()
    });
    for question in questions() {
        let ours = ranked(&sqlite, &question, &Filter::default());
        same(&ours.dense.unwrap(), &rankings.next().unwrap(), &question);
        same(&ours.sparse.unwrap(), &rankings.next().unwrap(), &question);
        let lexical =
            sqlite.store.lexical(&generation, &weighted(&question), &Filter::default(), 100).unwrap();
        same(&lexical, &rankings.next().unwrap(), &question);
    }
}

/// A store on Qdrant, its server by HTTP, and the prefix of its names.
fn qdrant(options: QdrantOptions, folder: &Path) -> Option<(Arc<RemoteStore>, Client, String)> {
    let Some(url) = servers::url("qdrant") else {
        println!("not checked: `CHUNKWRIGHT_SERVERS` does not say where `qdrant` is");
        return None;
    };
    let (url, prefix) = (url.replace("qdrant://", "http://"), format!("{}-", unique()));
    let options = QdrantOptions { prefix: prefix.clone(), ..options };
    let http = HttpOptions::default();
    let store = RemoteStore::qdrant(&url, None, options, http.clone(), folder, Access::Write).unwrap();
    Some((Arc::new(store), Client::new(&url, http).unwrap(), prefix))
}

#[test]
fn other_readers_of_qdrant_find_the_current_generation_by_the_name_of_the_collection() {
    let folder = tempfile::tempdir().unwrap();
    let options = QdrantOptions {
        content: "page_content".into(),
        sparse: "lexical_weights".into(),
        ..QdrantOptions::default()
    };
    let Some((store, client, prefix)) = qdrant(options, folder.path()) else { return };
    let files = tempfile::tempdir().unwrap();
    std::fs::create_dir(files.path().join("docs")).unwrap();
    std::fs::write(files.path().join("docs/guide.md"), "# Guide\n\n## Install\n\nUnpack the archive.\n")
        .unwrap();
    let bag = Bag::with_sparse(8);
    let pipeline = Pipeline::new(store.clone(), COLLECTION, chunker(), "test").with_embedder(bag.clone());
    pipeline.index(&[files.path().to_owned()], &IndexOptions::default(), &|_| {}).unwrap();
    // Again, otherwise: a generation that is switched to.
    let plain = Pipeline::new(store.clone(), COLLECTION, chunker(), "test");
    plain.index(&[files.path().to_owned()], &IndexOptions::default(), &|_| {}).unwrap();
    pipeline.index(&[files.path().to_owned()], &IndexOptions::default(), &|_| {}).unwrap();
    let body = json!({"with_payload": true, "with_vector": true, "limit": 99});
    let found = client.post(&format!("/collections/{prefix}{COLLECTION}/points/scroll"), &body).unwrap();
    let points = found["result"]["points"].as_array().unwrap();
    let records = store.records(&now(&*store), "docs/guide.md").unwrap();
    assert_eq!(points.len(), records.len());
    let payload = &points[0]["payload"];
    let record = records.iter().find(|record| payload["chunk_id"] == json!(record.chunk_id)).unwrap();
    assert_eq!(payload["page_content"], json!(record.text));
    assert_eq!(
        (&payload["doc_id"], &payload["chunk_index"]),
        (&json!("docs/guide.md"), &json!(record.chunk_index))
    );
    let metadata = payload["metadata"].as_object().unwrap();
    let keys: Vec<&str> = metadata.keys().map(String::as_str).collect();
    let expected = [
        "file_path",
        "relative_path",
        "file_name",
        "path_hierarchy",
        "category",
        "chunk_index",
        "total_chunks",
        "chunk_type",
        "section_path",
        "doc_toc",
    ];
    assert_eq!(keys, expected);
    assert_eq!(metadata["path_hierarchy"], json!(["docs"]));
    assert!(metadata["doc_toc"].as_str().unwrap().contains("Install"));
    assert_eq!(points[0]["vector"]["dense"].as_array().unwrap().len(), 8);
    assert!(!points[0]["vector"]["bm25"]["indices"].as_array().unwrap().is_empty());
    let weights = crate::fixture::weights(&record.text);
    let (indices, values): (Vec<u32>, Vec<f32>) = weights.into_iter().unzip();
    assert_eq!(points[0]["vector"]["lexical_weights"], json!({"indices": indices, "values": values}));
    let info = client.send(Method::Get, &format!("/collections/{prefix}{COLLECTION}"), None).unwrap();
    let sparse = &info["result"]["config"]["params"]["sparse_vectors"];
    assert_eq!(sparse["bm25"]["modifier"], "idf");
    assert!(sparse["lexical_weights"].is_object() && sparse["lexical_weights"]["modifier"] != "idf");
    // By another name.
    store.rename(COLLECTION, "renamed").unwrap();
    let found = client.post(&format!("/collections/{prefix}renamed/points/scroll"), &body).unwrap();
    assert_eq!(found["result"]["points"].as_array().unwrap().len(), records.len());
    assert!(client.post(&format!("/collections/{prefix}{COLLECTION}/points/scroll"), &body).is_err());
    store.remove(&store.open("renamed").unwrap()).unwrap();
}

#[test]
fn a_collection_of_qdrant_that_another_program_made_can_be_searched_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = QdrantOptions { model: Some("m".into()), ..QdrantOptions::default() };
    let Some((store, client, prefix)) = qdrant(options, folder.path()) else { return };
    let path = format!("/collections/{prefix}theirs");
    let vectors = json!({"vectors": {"dense": {"size": 2, "distance": "Cosine"}}});
    client.send(Method::Put, &path, Some(&vectors)).unwrap();
    let point = |id: Value, n: usize, text: &str, vector: [f32; 2]| {
        let metadata = json!({"category": "api", "section_path": ["Basics"], "total_chunks": 2});
        json!({"id": id, "vector": {"dense": vector}, "payload": {
            "content": text, "doc_id": "docs_a", "chunk_index": n, "chunk_id": format!("docs_a_chunk{n}"),
            "metadata": metadata,
        }})
    };
    let points = [
        point(json!(7), 0, "Bind a path.", [1.0, 0.0]),
        point(json!("00000000-0000-4000-8000-000000000001"), 1, "Bind an array.", [0.0, 1.0]),
    ];
    client.send(Method::Put, &format!("{path}/points?wait=true"), Some(&json!({"points": points}))).unwrap();
    let generation = store.open("theirs").unwrap();
    assert_eq!(generation.spec.model, Some(Model { name: "m".into(), dimension: 2, sparse: false }));
    let found = store.dense(&generation, &[0.0, 2.0], &Filter::default(), 9).unwrap();
    let ids: Vec<ChunkId> = found.iter().map(|hit| hit.id).collect();
    let chunks = store.chunks(&generation, &ids).unwrap();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.as_ref().unwrap().record.text.as_str()).collect();
    assert_eq!(texts, ["Bind an array.", "Bind a path."]);
    let api = Filter::is(Field::CATEGORY, "api");
    assert_eq!(store.dense(&generation, &[0.0, 2.0], &api, 1).unwrap().len(), 1);
    let code = Filter::is(Field::CATEGORY, "code");
    assert_eq!(store.dense(&generation, &[0.0, 2.0], &code, 1).unwrap(), []);
    assert_eq!(store.lexical(&generation, &[(1, 1.0)], &Filter::default(), 9).unwrap(), []);
    assert_eq!(store.documents(&generation).unwrap()[0].chunks, 2);
    let records = store.records(&generation, "docs_a").unwrap();
    assert_eq!(records[0].section_path, ["Basics"]);
    let error = store.write(&generation, &[]).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    let error = store.begin("theirs", &GenerationSpec::default()).unwrap_err().to_string();
    assert!(error.starts_with("collection `theirs` was made by another program"), "{error}");
}

#[test]
fn collections_of_two_stores_that_would_have_one_name_are_told_apart() {
    crate::remote::for_each_server(|url| {
        // A store is a schema of its own there.
        if url.starts_with("postgres") {
            return;
        }
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        let open = |prefix: &str| crate::remote::open(url, prefix, folder.path(), 1);
        open(&prefix).begin("x-1", &GenerationSpec::default()).unwrap();
        let error = open(&format!("{prefix}-x")).begin("1", &GenerationSpec::default()).unwrap_err();
        assert!(matches!(error, StoreError::SameName { .. } | StoreError::Foreign { .. }), "{url} {error}");
    });
}
