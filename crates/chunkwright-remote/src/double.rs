//! An in-memory database behind [`RemoteStore`], for tests of server stores without a server.
//!
//! It ranks by dense vectors, exactly, and decides no filter by itself, so that the code shared by all server stores
//! keeps every promise.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::database::{Database, Found, Mark, Part, Point, Which, Written};
use crate::entry::{Entry, Kind};
use crate::store::RemoteStore;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::index::dot;
use chunkwright_store::{Access, Filter, Generation, GenerationSpec, StoreError};

/// A server in memory, reached by a link into which faults can be injected. Clones share the link.
#[derive(Clone, Debug, Default)]
pub struct Double {
    server: Arc<Server>,
    link: Arc<Mutex<Link>>,
}

/// A fault of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// All requests pass.
    #[default]
    None,
    /// This many requests pass; the next one and all after it never arrive.
    LostFrom(usize),
    /// This many requests pass; the next one arrives but its response is lost, and nothing after it arrives.
    UnansweredFrom(usize),
}

#[derive(Debug, Default)]
struct Link {
    fault: Fault,
    /// Requests since the fault was set.
    requests: usize,
    /// Text to be replaced in entries, and its replacement.
    rewrite: Option<[String; 2]>,
}

/// The data of the server.
#[derive(Debug, Default)]
struct Server {
    /// By key.
    entries: Mutex<BTreeMap<String, Entry>>,
    /// By collection and number of the generation.
    generations: Mutex<BTreeMap<(String, i64), Points>>,
}

/// The points of a generation with the ids of their documents, by version and place.
type Points = BTreeMap<(i64, u32), (String, Point)>;

impl Double {
    /// Opens a store on the server; `cache` is the folder of the local cache.
    ///
    /// # Errors
    ///
    /// A cache that cannot be opened.
    pub fn open(&self, cache: &Path, access: Access) -> Result<RemoteStore, StoreError> {
        RemoteStore::new(Box::new(self.clone()), cache, access)
    }

    /// The same server by another link, which passes all requests.
    pub fn beside(&self) -> Self {
        Self { server: Arc::clone(&self.server), link: Arc::default() }
    }

    /// Sets the fault, and restarts the count of requests.
    pub fn set(&self, fault: Fault) {
        let mut link = self.link.lock();
        (link.fault, link.requests) = (fault, 0);
    }

    /// Requests since the fault was set.
    pub fn requests(&self) -> usize {
        self.link.lock().requests
    }

    /// Replaces `what` by `by` in every entry that is written from now on.
    pub fn rewrite(&self, what: &str, by: &str) {
        self.link.lock().rewrite = Some([what, by].map(str::to_owned));
    }

    /// Passes a request on, or fails according to the fault.
    fn pass<T>(&self, request: impl FnOnce(&Server) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let (fault, at) = {
            let mut link = self.link.lock();
            link.requests += 1;
            (link.fault, link.requests - 1)
        };
        match fault {
            Fault::LostFrom(from) if at >= from => Err(lost()),
            Fault::UnansweredFrom(from) if at > from => Err(lost()),
            Fault::UnansweredFrom(from) if at == from => request(&self.server).and(Err(lost())),
            _ => request(&self.server),
        }
    }
}

fn lost() -> StoreError {
    StoreError::Unreachable { url: "double".into(), reason: "the request was lost".into() }
}

fn name(generation: &Generation) -> (String, i64) {
    (generation.stored_as().to_owned(), generation.number)
}

impl Server {
    fn entries_of(&self, kind: Kind, owner: &str, part: fn(&Entry) -> &String) -> Vec<String> {
        let entries = self.entries.lock();
        let of = entries.values().filter(|entry| entry.kind == kind && entry.owner == owner);
        of.map(part).cloned().collect()
    }

    /// Runs a function on the points of a generation.
    fn with<T>(
        &self,
        generation: &Generation,
        change: impl FnOnce(&mut Points) -> T,
    ) -> Result<T, StoreError> {
        let mut generations = self.generations.lock();
        generations.get_mut(&name(generation)).map(change).ok_or_else(|| unknown_generation(generation))
    }

    /// Maps the selected points and their documents by `read`.
    fn read<T>(
        &self,
        generation: &Generation,
        which: Which<'_>,
        read: impl Fn(&str, &Point) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let is_meant = |doc_id: &str, point: &Point| match which {
            Which::All => true,
            Which::Versions(versions) => versions.contains(&point.version),
            Which::Chunks(ids) => ids.contains(&point.id),
            Which::Document(meant) => doc_id == meant,
            Which::Places(version, (from, to)) => {
                point.version == version && (from..to).contains(&point.place)
            }
        };
        self.with(generation, |points| {
            let meant = points.values().filter(|(doc_id, point)| is_meant(doc_id, point));
            meant.map(|(doc_id, point)| read(doc_id, point)).collect()
        })
    }
}

impl Database for Double {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError> {
        self.pass(|server| {
            let entries = server.entries.lock();
            Ok(keys.iter().map(|key| entries.get(key).map(|entry| entry.value.clone())).collect())
        })
    }

    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        self.pass(|server| Ok(server.entries_of(kind, owner, |entry| &entry.value)))
    }

    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        self.pass(|server| Ok(server.entries_of(kind, owner, |entry| &entry.key)))
    }

    fn put(&self, entries: &[Entry]) -> Result<(), StoreError> {
        let rewrite = self.link.lock().rewrite.clone();
        let put = |entry: &Entry| {
            let mut entry = entry.clone();
            if let Some([what, by]) = &rewrite {
                entry.value = entry.value.replace(what, by);
            }
            (entry.key.clone(), entry)
        };
        self.pass(|server| {
            server.entries.lock().extend(entries.iter().map(put));
            Ok(())
        })
    }

    fn forget(&self, keys: &[String]) -> Result<(), StoreError> {
        self.pass(|server| {
            server.entries.lock().retain(|key, _| !keys.contains(key));
            Ok(())
        })
    }

    fn names(&self, generation: &Generation) -> Vec<String> {
        vec![generation.collection.clone()]
    }

    fn create_points(&self, generation: &Generation) -> Result<(), StoreError> {
        self.pass(|server| {
            server.generations.lock().entry(name(generation)).or_default();
            Ok(())
        })
    }

    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError> {
        self.pass(|server| {
            server.generations.lock().remove(&name(generation));
            Ok(())
        })
    }

    fn left(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError> {
        let known: Vec<_> = known.iter().map(|generation| name(generation)).collect();
        self.pass(|server| {
            let generations = server.generations.lock();
            let left = generations.keys().filter(|name| !known.contains(name)).cloned();
            let spec = GenerationSpec::default;
            Ok(left
                .map(|(collection, number)| Generation { collection, number, spec: spec(), stored: None })
                .collect())
        })
    }

    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError> {
        let put = |written: &Written<'_>| {
            let Written { point, info, .. } = written;
            ((point.version, point.place), (info.doc_id.clone(), (*point).clone()))
        };
        self.pass(|server| server.with(generation, |there| there.extend(points.iter().map(put))))
    }

    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError> {
        self.pass(|server| {
            server.with(generation, |points| points.retain(|(version, _), _| !versions.contains(version)))
        })
    }

    fn points(
        &self,
        generation: &Generation,
        which: Which<'_>,
        part: Part,
    ) -> Result<Vec<Point>, StoreError> {
        self.pass(|server| {
            server.read(generation, which, |_, point| Point {
                vector: point.vector.clone().filter(|_| part == Part::Whole),
                ..point.clone()
            })
        })
    }

    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError> {
        self.pass(|server| {
            server.read(generation, which, |doc_id, point| Mark {
                doc_id: doc_id.into(),
                version: point.version,
                id: point.id,
                text_hash: point.text_hash,
            })
        })
    }

    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        _filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let read = |doc_id: &str, point: &Point| {
            let vector = point.vector.as_ref().filter(|_| point.enabled)?;
            Some(Found {
                doc_id: doc_id.into(),
                version: point.version,
                id: point.id,
                score: f64::from(dot(query, vector)),
                record: Some(point.record.clone()),
            })
        };
        let found = self.pass(|server| server.read(generation, Which::All, read))?;
        let mut found: Vec<Found> = found.into_iter().flatten().collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(limit);
        Ok(found)
    }
}
