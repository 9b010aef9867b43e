//! Collections on a Qdrant server, by its REST interface.
//!
//! * A generation is the collection `{name}-g{N}`; the alias `{name}` points to the current one and is moved in one
//!   step, so that other clients of Qdrant see exactly the current generation. A renamed collection gets another alias. (While a version is being written, they
//!   see it beside the live one for a moment.)
//! * Qdrant computes the lexical ranking: a sparse vector holds each term's BM25 weight, and the modifier `idf`
//!   multiplies it by [`bm25::idf`](crate::bm25), which is the same formula. Document frequency counts all points,
//!   including those of versions not yet deleted.
//! * The sparse vector that a model gives is stored beside that of the words, without the modifier.
//! * Every write waits until it is applied: a response that does not wait guarantees nothing.
//! * A collection that another program made can be read, if it has the fields that [`QdrantOptions`] name.

mod foreign;
mod options;
mod payload;

use std::collections::HashSet;
use std::path::Path;

use chunkwright_http::{Client, HttpOptions, Method, Secret, path_segment};
use serde_json::{Map, Value, json};

use crate::database::{Database, Found, Mark, Part, Point, Which, Written, numbered, point_id};
use crate::entry::{Entry, Kind};
use crate::filter::Pushed;
use crate::requests::{Missing, batches};
use crate::store::{FOREIGN, RemoteStore};
use chunkwright_store::bm25::TermId;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::name::CATALOG;
use chunkwright_store::{Access, Filter, Generation, GenerationSpec, StoreError, StoreLocation};
pub use options::QdrantOptions;
use payload::DIALECT;

/// A Qdrant server.
#[derive(Debug)]
struct Qdrant {
    client: Client,
    options: QdrantOptions,
}

/// Points per page.
const PAGE: usize = 256;

/// Keys or versions in one request.
const KEYS: usize = 512;

impl RemoteStore {
    /// Opens a store on the Qdrant server at `url`. `cache` is the folder of the local cache.
    ///
    /// # Errors
    ///
    /// An invalid address; a cache that cannot be opened. Nothing is sent yet.
    pub fn qdrant(
        url: &str,
        key: Option<&Secret>,
        options: QdrantOptions,
        http: HttpOptions,
        cache: &Path,
        access: Access,
    ) -> Result<Self, StoreError> {
        let mut client = Client::new(url, http).map_err(StoreError::other)?;
        if let Some(key) = key {
            client = client.with_header("api-key", key).map_err(StoreError::other)?;
        }
        Self::new(Box::new(Qdrant { client, options }), cache, access)
    }

    /// Opens the store at an address `qdrant://HOST`.
    ///
    /// # Errors
    ///
    /// As [`qdrant`](Self::qdrant), and unknown or invalid options.
    pub fn open_qdrant(place: &StoreLocation, access: Access) -> Result<Self, StoreError> {
        let options = QdrantOptions::of(place)?;
        let key = place.key.as_ref();
        Self::qdrant(&place.url(6333), key, options, place.http.clone(), &place.cache, access)?.locked(place)
    }
}

impl Qdrant {
    fn catalog(&self) -> String {
        format!("{}{CATALOG}", self.options.prefix)
    }

    fn alias(&self, collection: &str) -> String {
        format!("{}{collection}", self.options.prefix)
    }

    /// The name of the collection of points.
    fn physical(&self, generation: &Generation) -> String {
        let alias = self.alias(generation.stored_as());
        if generation.number == FOREIGN { alias } else { format!("{alias}-g{}", generation.number) }
    }

    /// Calls `path` of the collection `name`; `None` if it does not exist.
    fn call(
        &self,
        method: Method,
        name: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Option<Value>, StoreError> {
        let path = format!("/collections/{}{path}", path_segment(name));
        let answer = self.client.send(method, &path, body).map(|mut answer| answer["result"].take());
        answer.or_missing(self.client.base())
    }

    fn post(&self, name: &str, path: &str, body: &Value) -> Result<Option<Value>, StoreError> {
        self.call(Method::Post, name, path, Some(body))
    }

    /// Calls `path` of a generation's points, which must exist.
    fn points_call(&self, generation: &Generation, path: &str, body: &Value) -> Result<Value, StoreError> {
        let found = self.post(&self.physical(generation), path, body)?;
        found.ok_or_else(|| unknown_generation(generation))
    }

    /// All points that `body` requests, page by page; `None` if there is no such collection.
    fn scroll(&self, name: &str, mut body: Value) -> Result<Option<Vec<Value>>, StoreError> {
        let mut all = Vec::new();
        body["limit"] = PAGE.into();
        loop {
            let Some(mut page) = self.post(name, "/points/scroll", &body)? else { return Ok(None) };
            if let Value::Array(points) = page["points"].take() {
                all.extend(points);
            }
            let next = page["next_page_offset"].take();
            if next.is_null() {
                return Ok(Some(all));
            }
            body["offset"] = next;
        }
    }

    /// Points of the catalog.
    fn entries(&self, kind: Kind, owner: &str, field: &str) -> Result<Vec<String>, StoreError> {
        let filter = json!({"must": [matches("kind", kind.as_str()), matches("owner", owner)]});
        let body = json!({"filter": filter, "with_payload": {"include": [field]}});
        let points = self.scroll(&self.catalog(), body)?.unwrap_or_default();
        Ok(points.into_iter().filter_map(|mut point| text(point["payload"][field].take())).collect())
    }

    fn create(&self, name: &str, body: &Value, indexes: &[(String, &str)]) -> Result<(), StoreError> {
        match self.client.send(Method::Put, &format!("/collections/{}", path_segment(name)), Some(body)) {
            Ok(_) => {}
            // It exists: created by the same request, whose response was lost, or by another writer.
            Err(error) if error.status() == Some(409) => {}
            Err(error) => return Err(StoreError::of_call(self.client.base(), error)),
        }
        for (field, schema) in indexes {
            let body = json!({"field_name": field, "field_schema": schema});
            self.call(Method::Put, name, "/index?wait=true", Some(&body))?;
        }
        Ok(())
    }

    fn create_catalog(&self) -> Result<(), StoreError> {
        let indexes = ["kind", "owner"].map(|field| (field.to_owned(), "keyword"));
        self.create(&self.catalog(), &json!({"vectors": {}}), &indexes)
    }

    /// Writes points into the collection `name`, in requests of a size that servers accept; `false` if it does not
    /// exist.
    fn put_points(&self, name: &str, points: Vec<Value>) -> Result<bool, StoreError> {
        for batch in batches(points) {
            if self.call(Method::Put, name, "/points?wait=true", Some(&json!({"points": batch})))?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Requests a ranking by `query`.
    fn query(
        &self,
        generation: &Generation,
        mut query: Value,
        pushed: &Pushed,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        query["limit"] = limit.into();
        query["with_payload"] = match generation.number {
            FOREIGN => true.into(),
            _ => json!({"include": self.options.found_fields(pushed.is_exact)}),
        };
        let mut answer = self.points_call(generation, "/points/query", &query)?;
        let Value::Array(points) = answer["points"].take() else { return Ok(Vec::new()) };
        points.into_iter().map(|point| self.found(generation, point, pushed.is_exact)).collect()
    }

    fn found(&self, generation: &Generation, point: Value, is_exact: bool) -> Result<Found, StoreError> {
        if generation.number == FOREIGN {
            return Ok(self.foreign_found(&point));
        }
        self.options.found(point, is_exact)
    }

    /// Adds the vector that a query is compared with: a named one, or the only one.
    fn using(&self, mut query: Value) -> Value {
        if !self.options.dense.is_empty() {
            query["using"] = self.options.dense.as_str().into();
        }
        query
    }
}

impl Database for Qdrant {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError> {
        let mut found: Map<String, Value> = Map::new();
        for keys in keys.chunks(KEYS) {
            let ids: Vec<String> = keys.iter().map(|key| point_id(&[key.as_bytes()])).collect();
            let body = json!({"ids": ids, "with_payload": {"include": ["key", "value"]}});
            let Some(Value::Array(points)) = self.post(&self.catalog(), "/points", &body)? else { continue };
            for mut point in points {
                if let Some(key) = text(point["payload"]["key"].take()) {
                    found.insert(key, point["payload"]["value"].take());
                }
            }
        }
        Ok(keys.iter().map(|key| found.get(key).and_then(Value::as_str).map(str::to_owned)).collect())
    }

    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        self.entries(kind, owner, "value")
    }

    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        self.entries(kind, owner, "key")
    }

    fn put(&self, entries: &[Entry]) -> Result<(), StoreError> {
        let point = |entry: &Entry| {
            let Entry { kind, owner, key, value } = entry;
            let payload = json!({"kind": kind.as_str(), "owner": owner, "key": key, "value": value});
            json!({"id": point_id(&[key.as_bytes()]), "vector": {}, "payload": payload})
        };
        let points: Vec<Value> = entries.iter().map(point).collect();
        if !self.put_points(&self.catalog(), points.clone())? {
            self.create_catalog()?;
            self.put_points(&self.catalog(), points)?;
        }
        Ok(())
    }

    fn forget(&self, keys: &[String]) -> Result<(), StoreError> {
        for keys in keys.chunks(KEYS) {
            let ids: Vec<String> = keys.iter().map(|key| point_id(&[key.as_bytes()])).collect();
            self.post(&self.catalog(), "/points/delete?wait=true", &json!({"points": ids}))?;
        }
        Ok(())
    }

    fn names(&self, generation: &Generation) -> Vec<String> {
        vec![self.alias(&generation.collection), self.physical(generation)]
    }

    fn create_points(&self, generation: &Generation) -> Result<(), StoreError> {
        let (options, name) = (&self.options, self.physical(generation));
        let mut vectors = json!({});
        if let Some(model) = &generation.spec.model {
            // Scores of this program are dot products, whatever the length of vectors.
            let params = json!({"size": model.dimension, "distance": "Dot"});
            vectors = if options.dense.is_empty() { params } else { json!({options.dense.as_str(): params}) };
        }
        let mut body = json!({
            "vectors": vectors,
            "sparse_vectors": {options.words.as_str(): {"modifier": "idf"}},
            "metadata": {"collection": generation.stored_as()},
        });
        if gives_sparse(generation) {
            // The model's weights are final: no `idf` is applied.
            body["sparse_vectors"][options.sparse.as_str()] = json!({});
        }
        for (key, number) in [("shard_number", options.shards), ("replication_factor", options.replicas)] {
            if let Some(number) = number {
                body[key] = number.into();
            }
        }
        self.create(&name, &body, &options.indexes())?;
        // An existing collection is usable only if its settings match.
        let info = self.call(Method::Get, &name, "", None)?.unwrap_or_default();
        let params = &info["config"]["params"];
        let has_sparse = !params["sparse_vectors"][options.sparse.as_str()].is_null();
        let found = &params["vectors"];
        let found = if options.dense.is_empty() { found } else { &found[options.dense.as_str()] };
        let dimension = generation.spec.model.as_ref().map(|model| model.dimension as u64);
        let is_right = found["size"].as_u64() == dimension
            && has_sparse == gives_sparse(generation)
            && (dimension.is_none() || found["distance"].as_str() == Some("Dot"));
        let holder = info["config"]["metadata"]["collection"].as_str();
        if is_right && holder.is_none_or(|holder| holder == generation.stored_as()) {
            return Ok(());
        }
        let holder = holder.unwrap_or("of another program").into();
        Err(StoreError::SameName { name: generation.collection.clone(), physical: name, holder })
    }

    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError> {
        self.call(Method::Delete, &self.physical(generation), "", None).map(|_| ())
    }

    fn left(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError> {
        let known: HashSet<String> = known.iter().map(|generation| self.physical(generation)).collect();
        let mut left = Vec::new();
        for collection in self.ask("/collections")?["collections"].as_array().into_iter().flatten() {
            let Some(name) = collection["name"].as_str().filter(|name| !known.contains(*name)) else {
                continue;
            };
            let Some(number) = name.strip_prefix(&self.options.prefix).and_then(numbered) else { continue };
            // The collection may be another program's.
            let info = self.call(Method::Get, name, "", None)?.unwrap_or_default();
            let Some(owner) = info["config"]["metadata"]["collection"].as_str() else { continue };
            let spec = GenerationSpec::default();
            let generation = Generation { collection: owner.into(), number, spec, stored: None };
            if self.physical(&generation) == name {
                left.push(generation);
            }
        }
        Ok(left)
    }

    fn is_published(&self, generation: &Generation) -> Result<bool, StoreError> {
        let shown = self.shown(&self.alias(&generation.collection))?;
        Ok(shown.is_some_and(|shown| shown == self.physical(generation)))
    }

    fn publish(&self, generation: &Generation) -> Result<(), StoreError> {
        let alias = self.alias(&generation.collection);
        let create =
            json!({"create_alias": {"collection_name": self.physical(generation), "alias_name": alias}});
        let remove = json!({"delete_alias": {"alias_name": alias}});
        self.aliases(&json!({"actions": [remove, create]}))
    }

    fn withdraw(&self, collection: &str) -> Result<(), StoreError> {
        self.aliases(&json!({"actions": [{"delete_alias": {"alias_name": self.alias(collection)}}]}))
    }

    fn foreign(&self, collection: &str) -> Result<Option<GenerationSpec>, StoreError> {
        self.foreign_spec(collection)
    }

    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError> {
        let points = points.iter().map(|written| self.options.point(written));
        let points = points.collect::<Result<Vec<Value>, _>>()?;
        let is_there = self.put_points(&self.physical(generation), points)?;
        if is_there { Ok(()) } else { Err(unknown_generation(generation)) }
    }

    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError> {
        for versions in versions.chunks(KEYS) {
            let filter = json!({"must": [{"key": "version", "match": {"any": versions}}]});
            self.points_call(generation, "/points/delete?wait=true", &json!({"filter": filter}))?;
        }
        Ok(())
    }

    fn points(
        &self,
        generation: &Generation,
        which: Which<'_>,
        part: Part,
    ) -> Result<Vec<Point>, StoreError> {
        if generation.number == FOREIGN {
            return self.foreign_points(generation, which);
        }
        let dense = &self.options.dense;
        let vectors = match part {
            Part::Whole if dense.is_empty() => json!(true),
            Part::Whole if gives_sparse(generation) => json!([dense, self.options.sparse]),
            Part::Whole => json!([dense]),
            Part::WithoutVectors => json!(false),
        };
        let mut points = Vec::new();
        for filter in self.options.filters(which) {
            let body = json!({"filter": filter, "with_payload": true, "with_vector": vectors});
            let found = self.scroll(&self.physical(generation), body)?;
            for point in found.ok_or_else(|| unknown_generation(generation))? {
                points.push(self.options.read(point)?);
            }
        }
        Ok(points)
    }

    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError> {
        if generation.number == FOREIGN {
            return self.foreign_marks(generation);
        }
        let mut marks = Vec::new();
        for filter in self.options.filters(which) {
            let body = json!({"filter": filter, "with_payload": {"include": self.options.mark_fields()}});
            let found = self.scroll(&self.physical(generation), body)?;
            for point in found.ok_or_else(|| unknown_generation(generation))? {
                marks.push(self.options.mark(&point["payload"])?);
            }
        }
        Ok(marks)
    }

    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let pushed = push(generation, filter);
        let params = json!({"exact": self.options.exact});
        let body = json!({"query": query, "filter": pushed.condition, "params": params});
        self.query(generation, self.using(body), &pushed, limit)
    }

    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        let pushed = push(generation, filter);
        let query = json!({"query": sparse(query), "using": self.options.sparse, "filter": pushed.condition});
        self.query(generation, query, &pushed, limit).map(Some)
    }

    fn lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        if generation.number == FOREIGN && !self.has_words(&generation.collection)? {
            return Ok(Some(Vec::new()));
        }
        let pushed = push(generation, filter);
        let query = json!({"query": sparse(terms), "using": self.options.words, "filter": pushed.condition});
        self.query(generation, query, &pushed, limit).map(Some)
    }
}

impl Qdrant {
    fn ask(&self, path: &str) -> Result<Value, StoreError> {
        let answer = self.client.get(path).map(|mut answer| answer["result"].take());
        answer.map_err(|error| StoreError::of_call(self.client.base(), error))
    }

    /// The collection that is seen under an alias.
    fn shown(&self, alias: &str) -> Result<Option<String>, StoreError> {
        let aliases = self.ask("/aliases")?;
        let mut aliases = aliases["aliases"].as_array().into_iter().flatten();
        let shown = aliases.find(|shown| shown["alias_name"] == alias);
        Ok(shown.and_then(|shown| shown["collection_name"].as_str()).map(str::to_owned))
    }

    fn aliases(&self, body: &Value) -> Result<(), StoreError> {
        self.client
            .post("/collections/aliases", body)
            .map(|_| ())
            .map_err(|error| StoreError::of_call(self.client.base(), error))
    }
}

fn gives_sparse(generation: &Generation) -> bool {
    generation.spec.model.as_ref().is_some_and(|model| model.sparse)
}

/// Converts the filter of a generation. For another program's points, only their records can decide it.
fn push(generation: &Generation, filter: &Filter) -> Pushed {
    if generation.number == FOREIGN {
        return Pushed { condition: json!({}), is_exact: false };
    }
    DIALECT.push(filter)
}

/// A sparse vector in Qdrant's form.
fn sparse(weights: &[(u32, f32)]) -> Value {
    let (indices, values): (Vec<u32>, Vec<f32>) = weights.iter().copied().unzip();
    json!({"indices": indices, "values": values})
}

fn matches(key: &str, value: &str) -> Value {
    json!({"key": key, "match": {"value": value}})
}

fn text(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}
