//! Collections on a Chroma server, by version 2 of its HTTP interface.
//!
//! * The current generation is the collection with the name as [`chroma_name`] makes it, so that a client that knows
//!   only this name reads it; every other one is `{name}-g{N}`. Switching renames both, and their ids stay. The name as
//!   the user wrote it and the number are in the metadata; a second name that becomes the same is refused.
//! * This program computes the lexical and sparse rankings from what records carry: the server's own lexical ranking
//!   splits text into other words, and self-hosted servers do not offer it. So BM25 is that of every other store.
//! * Chroma has no records without a vector. A chunk without one carries zeros, and a mark by which searches leave it
//!   out.
//! * A separate collection has one record that names the current generation, and one per document that names its live
//!   version. Each is written at once: a reader sees the old record or the new one. It is in a database of its own, so
//!   that clients of the user's database do not see it; earlier versions created it there, where it stays.
//! * The dense ranking is by Chroma's approximate neighbour graph, which is wide here and still not exact.

mod name;
mod options;
mod place;
mod record;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use chunkwright_http::{Client, HttpError, HttpOptions, Method, Secret};
use serde_json::{Value, json};

use crate::database::{Database, Found, Mark, Part, Point, Which, Written, point_id};
use crate::entry::{Entry, Kind};
use crate::requests::Missing;
use crate::store::RemoteStore;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::{Access, Filter, Generation, StoreError, StoreLocation};
pub use name::chroma_name;
pub use options::ChromaOptions;
use place::{Of, is_of};
use record::{DIALECT, read, record};

/// A Chroma server.
#[derive(Debug)]
struct Chroma {
    client: Client,
    options: ChromaOptions,
    /// Paths of collections by their ids, which outlive renaming.
    paths: Mutex<HashMap<String, String>>,
    max_batch: OnceLock<usize>,
}

/// Records per page.
const PAGE: usize = 500;

/// Keys or versions in one request.
const KEYS: usize = 200;

/// Most repetitions of a query because records were deleted meanwhile.
const ATTEMPTS: usize = 8;

/// Most repetitions of a request because Chroma lost a record meanwhile, beside the client's own retries.
const LOST: usize = 2;

/// Chroma's error, with status 500, when a record is deleted between the reads of its metadata and its vector.
const DELETED_MEANWHILE: &str = "Error finding id";

/// Records in one request if the server states no limit.
const MAX_BATCH: usize = 5_461;

impl RemoteStore {
    /// Opens a store on the Chroma server at `url`. `cache` is the folder of the local cache.
    ///
    /// # Errors
    ///
    /// An invalid address; a cache that cannot be opened. Nothing is sent yet.
    pub fn chroma(
        url: &str,
        key: Option<&Secret>,
        options: ChromaOptions,
        http: HttpOptions,
        cache: &Path,
        access: Access,
    ) -> Result<Self, StoreError> {
        let mut client = Client::new(url, http).map_err(StoreError::other)?;
        if let Some(key) = key {
            client = client.with_header("x-chroma-token", key).map_err(StoreError::other)?;
        }
        let chroma = Chroma { client, options, paths: Mutex::default(), max_batch: OnceLock::new() };
        Self::new(Box::new(chroma), cache, access)
    }

    /// Opens the store at an address `chroma://HOST`.
    ///
    /// # Errors
    ///
    /// As [`chroma`](Self::chroma), and unknown or invalid options.
    pub fn open_chroma(place: &StoreLocation, access: Access) -> Result<Self, StoreError> {
        let options = ChromaOptions::of(place)?;
        let key = place.key.as_ref();
        Self::chroma(&place.url(8000), key, options, place.http.clone(), &place.cache, access)?.locked(place)
    }
}

impl Chroma {
    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Option<Value>, StoreError> {
        let mut attempts = LOST;
        loop {
            match self.client.send(method, path, body) {
                Err(HttpError::Status { message, .. })
                    if message.contains(DELETED_MEANWHILE) && attempts > 0 =>
                {
                    attempts -= 1;
                }
                answer => return answer.or_missing(self.client.base()),
            }
        }
    }

    /// Calls an operation on the records of a collection; `None` if it does not exist.
    fn post(&self, of: Of<'_>, what: &str, body: &Value) -> Result<Option<Value>, StoreError> {
        let key = match of {
            Of::Catalog => String::new(),
            Of::Points(generation) => generation.key(),
        };
        // A known id may be of a collection that was removed and created again.
        for _ in 0..2 {
            let known = self.paths.lock().get(&key).cloned();
            let Some(path) = known.map_or_else(|| self.path(of), |path| Ok(Some(path)))? else {
                return Ok(None);
            };
            let found = self.send(Method::Post, &format!("{path}/{what}"), Some(body))?;
            let mut paths = self.paths.lock();
            if found.is_some() {
                paths.insert(key, path);
                return Ok(found);
            }
            paths.remove(&key);
        }
        Ok(None)
    }

    fn points_post(&self, generation: &Generation, what: &str, body: &Value) -> Result<Value, StoreError> {
        let found = self.post(Of::Points(generation), what, body)?;
        found.ok_or_else(|| unknown_generation(generation))
    }

    /// Upserts records, in requests of a size that the server accepts; `false` if the collection does not exist.
    fn upsert_all(&self, of: Of<'_>, records: Vec<Value>) -> Result<bool, StoreError> {
        let most = *self.max_batch.get_or_init(|| self.max_batch());
        for batch in crate::requests::batches(records) {
            for batch in batch.chunks(most) {
                let column = |key: &str| batch.iter().map(|record| record[key].clone()).collect::<Vec<_>>();
                let body = json!({
                    "ids": column("id"),
                    "embeddings": column("embedding"),
                    "metadatas": column("metadata"),
                    "documents": column("document"),
                });
                if self.post(of, "upsert", &body)?.is_none() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn max_batch(&self) -> usize {
        let said = self.client.get("/api/v2/pre-flight-checks").ok();
        let said = said.and_then(|said| said["max_batch_size"].as_u64()).map(|most| most as usize);
        said.filter(|most| *most > 0).unwrap_or(MAX_BATCH)
    }

    /// The catalog records of a kind and owner, in one request: pages would not be consistent with each other.
    fn entries(&self, kind: Kind, owner: &str, field: &str) -> Result<Vec<String>, StoreError> {
        let both = [json!({"kind": kind.as_str()}), json!({"owner": owner})];
        let body = json!({"where": {"$and": both}, "include": ["metadatas"]});
        let found = self.post(Of::Catalog, "get", &body)?.unwrap_or_default();
        Ok(rows(&found, false).filter_map(|row| row.metadata[field].as_str().map(str::to_owned)).collect())
    }

    /// Records of a generation, whole.
    fn get_points(
        &self,
        generation: &Generation,
        which: Which<'_>,
        part: Part,
        each: &mut dyn FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if which.is_empty() {
            return Ok(());
        }
        let mut include = vec!["metadatas", "documents"];
        if part == Part::Whole {
            include.push("embeddings");
        }
        for condition in record::conditions(which) {
            let mut offset = 0;
            loop {
                let mut body = json!({"include": include, "limit": PAGE, "offset": offset});
                if !condition.is_null() {
                    body["where"] = condition.clone();
                }
                let found = self.points_post(generation, "get", &body)?;
                let mut count = 0;
                for row in rows(&found, false) {
                    each(&row)?;
                    count += 1;
                }
                if count < PAGE {
                    break;
                }
                offset += count;
            }
        }
        Ok(())
    }
}

impl Database for Chroma {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError> {
        let mut found: HashMap<String, String> = HashMap::new();
        for keys in keys.chunks(KEYS) {
            let ids: Vec<String> = keys.iter().map(|key| point_id(&[key.as_bytes()])).collect();
            let body = json!({"ids": ids, "include": ["metadatas"]});
            let answer = self.post(Of::Catalog, "get", &body)?.unwrap_or_default();
            for row in rows(&answer, false) {
                let text = |field: &str| row.metadata[field].as_str().unwrap_or_default().to_owned();
                found.insert(text("key"), text("value"));
            }
        }
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        self.entries(kind, owner, "value")
    }

    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        self.entries(kind, owner, "key")
    }

    fn put(&self, entries: &[Entry]) -> Result<(), StoreError> {
        let record = |entry: &Entry| {
            let Entry { kind, owner, key, value } = entry;
            let metadata = json!({"kind": kind.as_str(), "owner": owner, "key": key, "value": value});
            json!({"id": point_id(&[key.as_bytes()]), "embedding": [0.0], "metadata": metadata})
        };
        let records: Vec<Value> = entries.iter().map(record).collect();
        if !self.upsert_all(Of::Catalog, records.clone())? {
            self.create_catalog()?;
            self.upsert_all(Of::Catalog, records)?;
        }
        Ok(())
    }

    fn forget(&self, keys: &[String]) -> Result<(), StoreError> {
        for keys in keys.chunks(KEYS) {
            let ids: Vec<String> = keys.iter().map(|key| point_id(&[key.as_bytes()])).collect();
            self.post(Of::Catalog, "delete", &json!({"ids": ids}))?;
        }
        Ok(())
    }

    fn names(&self, generation: &Generation) -> Vec<String> {
        let Generation { collection, number, .. } = generation;
        vec![self.mapped(collection), self.behind(generation.stored_as(), *number)]
    }

    fn check_free(&self, generation: &Generation) -> Result<(), StoreError> {
        self.require_free(generation)
    }

    fn create_points(&self, generation: &Generation) -> Result<(), StoreError> {
        let name = self.behind(generation.stored_as(), generation.number);
        self.create(&(self.collections(), name), Of::Points(generation))
    }

    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError> {
        self.paths.lock().remove(&generation.key());
        // Collections are deleted by their names.
        let Some(found) = self.points_of(generation)? else { return Ok(()) };
        let name = found["name"].as_str().unwrap_or_default();
        self.send(Method::Delete, &format!("{}/{name}", self.collections()), None).map(|_| ())
    }

    fn publish(&self, generation: &Generation) -> Result<(), StoreError> {
        self.make_current(generation)
    }

    fn hide(&self, generation: &Generation) -> Result<(), StoreError> {
        self.put_behind(generation)
    }

    fn relabel(&self, generation: &Generation) -> Result<(), StoreError> {
        let mut labels = Vec::new();
        self.get_points(generation, Which::All, Part::WithoutVectors, &mut |row| {
            labels.extend(record::label(row, &generation.collection)?);
            Ok(())
        })?;
        for some in labels.chunks(*self.max_batch.get_or_init(|| self.max_batch())) {
            let (ids, metadatas): (Vec<&String>, Vec<&Value>) =
                some.iter().map(|(id, metadata)| (id, metadata)).unzip();
            self.points_post(generation, "update", &json!({"ids": ids, "metadatas": metadatas}))?;
        }
        Ok(())
    }

    fn is_published(&self, generation: &Generation) -> Result<bool, StoreError> {
        let found = self.named(&self.collections(), &self.mapped(&generation.collection))?;
        Ok(found.is_some_and(|found| is_of(&found, generation)))
    }

    fn left(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError> {
        self.left_among(known)
    }

    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError> {
        let dimension = generation.spec.model.as_ref().map_or(1, |model| model.dimension);
        let records = points.iter().map(|written| record(written, &generation.collection, dimension));
        let records = records.collect::<Result<Vec<Value>, _>>()?;
        let is_there = self.upsert_all(Of::Points(generation), records)?;
        if is_there { Ok(()) } else { Err(unknown_generation(generation)) }
    }

    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError> {
        for versions in versions.chunks(KEYS) {
            let body = json!({"where": {"version": {"$in": versions}}});
            self.points_post(generation, "delete", &body)?;
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
        self.get_points(generation, which, part, &mut |row| {
            points.push(read(row)?);
            Ok(())
        })?;
        Ok(points)
    }

    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError> {
        let mut marks = Vec::new();
        self.get_points(generation, which, Part::WithoutVectors, &mut |row| {
            marks.push(record::mark(row)?);
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
        let pushed = DIALECT.push(filter);
        let both = [pushed.condition, json!({"embedded": true})];
        let mut include = vec!["metadatas", "distances"];
        if !pushed.is_exact {
            include.push("documents");
        }
        let body = json!({
            "query_embeddings": [query],
            "n_results": limit,
            "where": {"$and": both},
            "include": include,
        });
        let mut answer = self.points_post(generation, "query", &body)?;
        // The graph may lead to a record deleted since; repeating the query finds its replacement.
        for _ in 0..ATTEMPTS {
            if rows(&answer, true).all(|row| !row.metadata.is_null()) {
                break;
            }
            answer = self.points_post(generation, "query", &body)?;
        }
        let there = rows(&answer, true).filter(|row| !row.metadata.is_null());
        there.map(|row| record::found(&row, pushed.is_exact)).collect()
    }
}

/// One record of a response, which is columnar.
struct Row<'a> {
    metadata: &'a Value,
    document: &'a str,
    embedding: &'a Value,
    distance: f64,
}

/// The records of a response; of a query's response, which is a list of results, those of the first.
fn rows(answer: &Value, is_query: bool) -> impl Iterator<Item = Row<'_>> {
    let column = move |name: &str| if is_query { &answer[name][0] } else { &answer[name] };
    let count = column("ids").as_array().map_or(0, Vec::len);
    (0..count).map(move |at| Row {
        metadata: &column("metadatas")[at],
        document: column("documents")[at].as_str().unwrap_or_default(),
        embedding: &column("embeddings")[at],
        distance: column("distances")[at].as_f64().unwrap_or_default(),
    })
}
