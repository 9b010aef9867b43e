//! A database in the memory of this process, behind [`RemoteStore`]: what stores on servers do, without a server.
//!
//! For tests. It ranks by dense vectors, exactly, and decides no filter by itself, so that every promise of stores on servers
//! is kept by what is common to them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use super::index::dot;
use super::remote::{Database, Entry, Found, Kind, Mark, Part, Point, RemoteStore, Which, Written, lock};
use super::{Access, Filter, Generation, GenerationSpec, StoreError, unknown_generation};

/// What a server would hold.
#[derive(Debug, Default)]
struct Double {
    /// By key.
    entries: Mutex<BTreeMap<String, Entry>>,
    /// By collection and number of the generation.
    generations: Mutex<BTreeMap<(String, i64), Points>>,
}

/// The points of a generation with the ids of their documents, by version and place.
type Points = BTreeMap<(i64, u32), (String, Point)>;

impl RemoteStore {
    /// An empty store on a database in memory; `cache` is the folder of what is remembered on this machine.
    ///
    /// # Errors
    ///
    /// A cache that cannot be opened.
    pub fn double(cache: &Path, access: Access) -> Result<Self, StoreError> {
        Self::new(Box::new(Double::default()), cache, access)
    }
}

fn name(generation: &Generation) -> (String, i64) {
    (generation.collection.clone(), generation.number)
}

impl Double {
    fn entries_of(&self, kind: Kind, owner: &str, part: fn(&Entry) -> &String) -> Vec<String> {
        let entries = lock(&self.entries);
        let of = entries.values().filter(|entry| entry.kind == kind && entry.owner == owner);
        of.map(part).cloned().collect()
    }

    /// Does something with the points of a generation.
    fn with<T>(
        &self,
        generation: &Generation,
        change: impl FnOnce(&mut Points) -> T,
    ) -> Result<T, StoreError> {
        let mut generations = lock(&self.generations);
        generations.get_mut(&name(generation)).map(change).ok_or_else(|| unknown_generation(generation))
    }

    /// What `read` makes of the points that are meant and their documents.
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
        let entries = lock(&self.entries);
        Ok(keys.iter().map(|key| entries.get(key).map(|entry| entry.value.clone())).collect())
    }

    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.entries_of(kind, owner, |entry| &entry.value))
    }

    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.entries_of(kind, owner, |entry| &entry.key))
    }

    fn put(&self, entries: &[Entry]) -> Result<(), StoreError> {
        lock(&self.entries).extend(entries.iter().map(|entry| (entry.key.clone(), entry.clone())));
        Ok(())
    }

    fn forget(&self, keys: &[String]) -> Result<(), StoreError> {
        lock(&self.entries).retain(|key, _| !keys.contains(key));
        Ok(())
    }

    fn names(&self, generation: &Generation) -> Vec<String> {
        vec![generation.collection.clone()]
    }

    fn create_points(&self, generation: &Generation) -> Result<(), StoreError> {
        lock(&self.generations).entry(name(generation)).or_default();
        Ok(())
    }

    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError> {
        lock(&self.generations).remove(&name(generation));
        Ok(())
    }

    fn left(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError> {
        let known: Vec<_> = known.iter().map(|generation| name(generation)).collect();
        let generations = lock(&self.generations);
        let left = generations.keys().filter(|name| !known.contains(name)).cloned();
        let spec = GenerationSpec::default;
        Ok(left.map(|(collection, number)| Generation { collection, number, spec: spec() }).collect())
    }

    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError> {
        let put = |written: &Written<'_>| {
            let Written { point, info, .. } = written;
            ((point.version, point.place), (info.doc_id.clone(), (*point).clone()))
        };
        self.with(generation, |there| there.extend(points.iter().map(put)))
    }

    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError> {
        self.with(generation, |points| points.retain(|(version, _), _| !versions.contains(version)))
    }

    fn points(
        &self,
        generation: &Generation,
        which: Which<'_>,
        part: Part,
    ) -> Result<Vec<Point>, StoreError> {
        self.read(generation, which, |_, point| Point {
            vector: point.vector.clone().filter(|_| part == Part::Whole),
            ..point.clone()
        })
    }

    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError> {
        self.read(generation, which, |doc_id, point| Mark {
            doc_id: doc_id.into(),
            version: point.version,
            id: point.id,
            text_hash: point.text_hash,
        })
    }

    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        _filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let found = self.read(generation, Which::All, |doc_id, point| {
            let vector = point.vector.as_ref().filter(|_| point.enabled)?;
            Some(Found {
                doc_id: doc_id.into(),
                version: point.version,
                id: point.id,
                score: f64::from(dot(query, vector)),
                record: Some(point.record.clone()),
            })
        })?;
        let mut found: Vec<Found> = found.into_iter().flatten().collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(limit);
        Ok(found)
    }
}
