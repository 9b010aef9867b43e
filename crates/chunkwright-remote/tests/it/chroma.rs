//! What other clients of a Chroma server see: the names of collections, and the fields that they filter by.

use chunkwright_http::{Client, HttpOptions, Method};
use chunkwright_index::{Change, GenerationSpec, NewDocument, Store, StoreError, chroma_name};
use serde_json::{Value, json};

use crate::contract::document;
use crate::kinds::{on_server, unique};
use crate::remote::open;
use crate::servers;

const COURSE: &str = "course_13.向量工程和RAG系统";

/// A client that knows nothing but the address, and the path of the collections of a database.
struct Other {
    client: Client,
    collections: String,
    prefix: String,
}

impl Other {
    fn new(url: &str) -> Self {
        let prefix = unique();
        let location = on_server(url, &prefix);
        let (_, database) = location.split_once("database=").unwrap();
        let collections = format!("/api/v2/tenants/default_tenant/databases/{database}/collections");
        let client = Client::new(&url.replace("chroma", "http"), HttpOptions::default()).unwrap();
        Self { client, collections, prefix }
    }

    fn send(&self, method: Method, path: &str, body: &Value) -> Value {
        let body = (!body.is_null()).then_some(body);
        self.client.send(method, path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The name of a collection for this store.
    fn name(&self, collection: &str) -> String {
        chroma_name(&format!("{}-{collection}", self.prefix))
    }

    fn get(&self, name: &str) -> Value {
        self.send(Method::Get, &format!("{}/{name}", self.collections), &Value::Null)
    }

    /// The names in the database that are of this store.
    fn names(&self) -> Vec<String> {
        let all = self.send(Method::Get, &format!("{}?limit=1000", self.collections), &Value::Null);
        let names = all.as_array().unwrap().iter().map(|found| found["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(&self.prefix)).collect();
        names.sort();
        names
    }

    /// The texts in a collection that pass a condition.
    fn texts(&self, name: &str, condition: &Value) -> Vec<String> {
        let id = self.get(name)["id"].as_str().unwrap().to_owned();
        let body = json!({"where": condition, "include": ["documents"]});
        let found = self.send(Method::Post, &format!("{}/{id}/get", self.collections), &body);
        let mut texts: Vec<String> = serde_json::from_value(found["documents"].clone()).unwrap();
        texts.sort();
        texts
    }

    fn rename(&self, name: &str, new: &str, metadata: &Value) {
        let id = self.get(name)["id"].as_str().unwrap().to_owned();
        let body = json!({"new_name": new, "new_metadata": metadata});
        self.send(Method::Put, &format!("{}/{id}", self.collections), &body);
    }
}

/// Writes a document of one text into the collection of a configuration, and makes it the current one.
fn write(store: &dyn Store, config_hash: &str, text: &str) {
    write_said(store, config_hash, text, |_| ());
}

/// As [`write`], after `said` has added to the document.
fn write_said(store: &dyn Store, config_hash: &str, text: &str, said: impl Fn(&mut NewDocument)) {
    let spec = GenerationSpec { config_hash: config_hash.into(), ..GenerationSpec::default() };
    let generation = store.begin(COURSE, &spec).unwrap();
    let mut new = document("章/01.md", 0, &[text]);
    said(&mut new);
    store.write(&generation, &[Change::Replace(Box::new(new))]).unwrap();
    store.switch(&generation).unwrap();
}

/// Runs `body` with a client and an opened store, if there is a server.
fn check(body: impl Fn(&Other, &dyn Store)) {
    let Some(url) = servers::url("chroma") else { return };
    let (other, folder) = (Other::new(&url), tempfile::tempdir().unwrap());
    body(&other, &*open(&url, &other.prefix, folder.path(), 0));
}

#[test]
fn a_client_that_knows_the_name_reads_the_current_generation_and_sees_no_catalog() {
    check(|other, store| {
        let name = other.name(COURSE);
        assert!(name.ends_with("-course_13._____RAG___0"), "{name}");
        write(store, "a", "Before.");
        assert_eq!(other.names(), [name.as_str()]);
        assert_eq!(other.texts(&name, &json!({"enabled": true})), ["Before."]);
        write(store, "b", "After.");
        let numbers: Vec<i64> = store.collections().unwrap()[0]
            .generations
            .iter()
            .map(|status| status.generation.number)
            .collect();
        assert_eq!(other.names(), [name.clone(), format!("{name}-g{}", numbers[0])]);
        assert_eq!(other.texts(&name, &json!({"enabled": true})), ["After."]);
        // Back to the one before, and without it.
        let spec = GenerationSpec { config_hash: "a".into(), ..GenerationSpec::default() };
        let before = store.find(COURSE, &spec).unwrap().unwrap();
        store.switch(&before).unwrap();
        assert_eq!(other.texts(&name, &json!({"enabled": true})), ["Before."]);
        let after = store.lookup(&format!("{COURSE}@{}", numbers[1])).unwrap().unwrap();
        assert_eq!(store.records(&after, "章/01.md").unwrap()[0].text, "After.");
        store.remove(&after).unwrap();
        assert_eq!(other.names(), [name]);
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        store.remove(&before).unwrap();
        assert!(other.names().is_empty());
    });
}

#[test]
fn a_renamed_collection_has_its_new_name_for_other_clients_and_so_have_its_points() {
    check(|other, store| {
        write(store, "a", "Before.");
        write(store, "b", "After.");
        let number = store.collections().unwrap()[0].generations[0].generation.number;
        store.rename(COURSE, "course_vectors").unwrap();
        let name = other.name("course_vectors");
        let behind = format!("{}-g{number}", other.name(COURSE));
        let mut names = [name.clone(), behind.clone()];
        names.sort();
        assert_eq!(other.names(), names);
        assert_eq!(other.texts(&name, &json!({"course_id": "vectors"})), ["After."]);
        assert_eq!(other.texts(&behind, &json!({"source_file": "vectors/章/01.md"})), ["Before."]);
        assert!(other.texts(&name, &json!({"course_id": {"$ne": "vectors"}})).is_empty());
        // A switch goes on renaming.
        let before = store.open(&format!("course_vectors@{number}")).unwrap();
        store.switch(&before).unwrap();
        assert_eq!(other.texts(&name, &json!({"enabled": true})), ["Before."]);
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        store.remove(&store.open("course_vectors").unwrap()).unwrap();
        assert!(other.names().is_empty());
    });
}

#[test]
fn points_carry_the_fields_that_other_programs_filter_by() {
    check(|other, store| {
        write_said(store, "a", "The only text.", |new| {
            for chunk in &mut new.chunks {
                chunk.record.indexed_at = Some("2026-01-01T00:00:00Z".into());
                chunk.record.meta.insert("teacher".into(), "李".into());
            }
        });
        let name = other.name(COURSE);
        for condition in [
            json!({"course_id": "13.向量工程和RAG系统"}),
            json!({"chapter_id": "章/01.md"}),
            json!({"source_file": "13.向量工程和RAG系统/章/01.md"}),
            json!({"position": 0}),
            json!({"content_type": "paragraph"}),
            json!({"char_count": {"$gte": 14}}),
            json!({"word_count": 3}),
            json!({"estimated_tokens": {"$lt": 100}}),
            json!({"token_level": "normal"}),
            json!({"strategy_version": {"$ne": ""}}),
            json!({"indexed_at": "2026-01-01T00:00:00Z"}),
            json!({"teacher": "李"}),
        ] {
            assert_eq!(other.texts(&name, &condition), ["The only text."], "{condition}");
        }
        assert!(other.texts(&name, &json!({"token_level": "large"})).is_empty());
    });
}

#[test]
fn a_name_of_another_program_is_refused_and_nothing_is_left() {
    check(|other, store| {
        let name = other.name(COURSE);
        other.send(Method::Post, &other.collections, &json!({"name": name}));
        let error = store.begin(COURSE, &GenerationSpec::default()).unwrap_err();
        assert!(
            matches!(&error, StoreError::SameName { holder, .. } if holder == "of another program"),
            "{error}"
        );
        assert_eq!(other.names(), [name.as_str()]);
        let own = "/api/v2/tenants/default_tenant/databases/chunkwright/collections";
        let catalogs = other.client.send(Method::Get, &format!("{own}?limit=1000"), None).unwrap_or_default();
        assert!(!catalogs.to_string().contains(&other.prefix), "{catalogs}");
        assert!(store.collections().unwrap().is_empty());
        other.send(Method::Delete, &format!("{}/{name}", other.collections), &Value::Null);
        write(store, "a", "Now it is free.");
        assert_eq!(other.names(), [name]);
    });
}

#[test]
fn a_store_of_earlier_versions_opens_and_its_next_run_publishes_it() {
    let Some(url) = servers::url("chroma") else { return };
    let (other, folder) = (Other::new(&url), tempfile::tempdir().unwrap());
    // As they made it: the catalog among the collections, and every generation with its number.
    let catalog = other.name("chunkwright-catalog");
    let body =
        json!({"name": catalog, "metadata": {"collection": ""}, "configuration": {"hnsw": {"space": "ip"}}});
    other.send(Method::Post, &other.collections, &body);
    let name = other.name(COURSE);
    {
        let store = open(&url, &other.prefix, folder.path(), 0);
        write(&*store, "a", "Text of before.");
        let number = store.open(COURSE).unwrap().number;
        other.rename(&name, &format!("{name}-g{number}"), &json!({"collection": COURSE}));
    }
    assert!(other.names().contains(&catalog));
    let store = open(&url, &other.prefix, folder.path(), 0);
    let generation = store.open(COURSE).unwrap();
    assert_eq!(store.records(&generation, "章/01.md").unwrap()[0].text, "Text of before.");
    assert_eq!(store.check().unwrap().problems.len(), 1, "it is not published");
    store.begin(COURSE, &generation.spec).unwrap();
    assert_eq!(other.texts(&name, &json!({"enabled": true})), ["Text of before."]);
    assert_eq!(other.names(), [catalog, name]);
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
}
