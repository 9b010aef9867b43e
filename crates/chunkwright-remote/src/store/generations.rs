//! The life of generations: begun, switched to, removed, and repaired after a crash.

use super::catalog::{CollectionEntry, Counter, GenerationEntry};
use super::{RemoteStore, sweep};
use crate::entry::{self, Entry, Kind};
use chunkwright_store::error::check_model;
use chunkwright_store::{Access, Generation, GenerationSpec, StoreError};

impl RemoteStore {
    /// See [`GenerationStore::begin`](chunkwright_store::GenerationStore::begin).
    pub(super) fn begin_generation(
        &self,
        collection: &str,
        spec: &GenerationSpec,
    ) -> Result<Generation, StoreError> {
        let known: Vec<GenerationEntry> = self.list(Kind::Generation, "")?;
        let all = self.current()?;
        let current = all.get(collection).copied();
        let found = current.and_then(|_| fitting(&known, collection, spec));
        if self.access == Access::Write {
            self.repair(&known, collection, current)?;
        }
        if let Some(found) = found {
            return Ok(found);
        }
        self.writable()?;
        if current.is_none() {
            // Left over from a crash.
            for entry in known.iter().filter(|entry| entry.generation.collection == collection) {
                self.forget_generation(&entry.generation)?;
            }
            self.database.forget(&self.database.keys(Kind::Overlay, collection)?)?;
            self.database.forget(&[entry::key(Kind::Runs, "", collection)])?;
        }
        if let Some(model) = &spec.model {
            let models = known.iter().filter_map(|entry| entry.generation.spec.model.as_ref());
            let mut stored = models.filter(|stored| stored.name == model.name);
            stored.try_for_each(|stored| check_model(stored, model))?;
        }
        let counter = entry::key(Kind::Store, "", "counter");
        let number = self.entry::<Counter>(&counter)?.map_or(0, |counter| counter.last_generation) + 1;
        let generation = Generation { collection: collection.into(), number, spec: spec.clone() };
        let others = known.iter().map(|entry| &entry.generation);
        self.check_server_names(&generation, others.filter(|other| all.contains_key(&other.collection)))?;
        if current.is_none() {
            self.database.check_free(&generation)?;
            if self.database.foreign(collection)?.is_some() {
                return Err(StoreError::Foreign { name: collection.into() });
            }
        }
        self.database.put(&[Entry::new(
            Kind::Store,
            "",
            "counter",
            &Counter { last_generation: number },
        )?])?;
        self.database.create_points(&generation)?;
        self.database.put(&[GenerationEntry::new(&generation).entry()?])?;
        if current.is_none() {
            self.database.put(&[CollectionEntry::of(&generation).entry()?])?;
            self.database.publish(&generation)?;
        }
        Ok(generation)
    }

    /// See [`GenerationStore::switch`](chunkwright_store::GenerationStore::switch).
    pub(super) fn switch_generation(&self, generation: &Generation) -> Result<(), StoreError> {
        let entry = self.generation_entry(generation)?;
        self.database.put(&[GenerationEntry { was_current: true, ..entry }.entry()?])?;
        // A single point: a reader sees the previous generation or this one.
        self.database.put(&[CollectionEntry::of(generation).entry()?])?;
        self.database.publish(generation)
    }

    /// See [`GenerationStore::remove`](chunkwright_store::GenerationStore::remove).
    pub(super) fn remove_generation(&self, generation: &Generation) -> Result<(), StoreError> {
        let key = entry::key(Kind::Collection, "", &generation.collection);
        let entry = self.collection_entry(&generation.collection)?;
        if entry.is_none_or(|entry| entry.current != generation.number) {
            return self.forget_generation(generation);
        }
        self.database.withdraw(&generation.collection)?;
        self.database.forget(&[key, entry::key(Kind::Runs, "", &generation.collection)])?;
        self.database.forget(&self.database.keys(Kind::Overlay, &generation.collection)?)?;
        for entry in self.list::<GenerationEntry>(Kind::Generation, "")? {
            if entry.generation.collection == generation.collection {
                self.forget_generation(&entry.generation)?;
            }
        }
        Ok(())
    }

    /// Repairs what a crash left inconsistent between the catalog and the generations on the server.
    fn repair(
        &self,
        known: &[GenerationEntry],
        collection: &str,
        current: Option<i64>,
    ) -> Result<(), StoreError> {
        sweep::sweep_generations(self, known, collection)?;
        let is_current = |generation: &&Generation| {
            generation.collection == collection && Some(generation.number) == current
        };
        match known.iter().map(|entry| &entry.generation).find(is_current) {
            Some(current) if !self.database.is_published(current)? => self.database.publish(current),
            _ => Ok(()),
        }
    }

    /// Checks that no other collection has one of the names that the generation would use on the server.
    fn check_server_names<'a>(
        &self,
        generation: &Generation,
        known: impl Iterator<Item = &'a Generation>,
    ) -> Result<(), StoreError> {
        let names = self.database.names(generation);
        for other in known.filter(|other| other.collection != generation.collection) {
            if let Some(physical) = self.database.names(other).into_iter().find(|name| names.contains(name)) {
                let (name, holder) = (generation.collection.clone(), other.collection.clone());
                return Err(StoreError::SameName { name, physical, holder });
            }
        }
        Ok(())
    }

    fn forget_generation(&self, generation: &Generation) -> Result<(), StoreError> {
        // Its entry goes first, so that no reader sees what a crash leaves.
        self.database.forget(&[entry::key(Kind::Generation, "", &generation.to_string())])?;
        let owner = generation.to_string();
        for kind in [Kind::Document, Kind::Part] {
            self.database.forget(&self.database.keys(kind, &owner)?)?;
        }
        self.database.drop_points(generation)?;
        self.live.lock().remove(generation);
        self.indexes.lock().remove(generation);
        self.columns.lock().remove(generation);
        self.totals.forget(generation.number);
        Ok(())
    }
}

/// The newest generation that matches `spec` and whose terms are current. Generations without an entry of their
/// collection are left from a crash.
pub(super) fn fitting(
    known: &[GenerationEntry],
    collection: &str,
    spec: &GenerationSpec,
) -> Option<Generation> {
    let fits = |entry: &&GenerationEntry| {
        let Generation { collection: of, spec: described, .. } = &entry.generation;
        of == collection && described == spec && entry.has_our_terms()
    };
    let fitting = known.iter().filter(fits).max_by_key(|entry| entry.generation.number);
    fitting.map(|entry| entry.generation.clone())
}
