//! The life of generations: begun, switched to, removed, and repaired after a crash.

use super::catalog::{CollectionEntry, Counter, GenerationEntry};
use super::{RemoteStore, sweep};
use crate::entry::{self, Entry, Kind};
use chunkwright_store::error::unknown_generation;
use chunkwright_store::vector::check_model;
use chunkwright_store::{Access, Generation, GenerationSpec, StoreError};

impl RemoteStore {
    /// See [`GenerationStore::begin`](chunkwright_store::GenerationStore::begin).
    pub(super) fn begin_generation(
        &self,
        collection: &str,
        spec: &GenerationSpec,
    ) -> Result<Generation, StoreError> {
        let all = match self.access {
            Access::Write => self.settled_entries()?,
            Access::Read => self.collection_entries()?,
        };
        let known = self.generation_entries(&all)?;
        let current = all.iter().find(|entry| entry.name == collection);
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
            let is_left = |entry: &&GenerationEntry| {
                let is_own = |stored: &str| stored == collection || is_second(stored, collection);
                is_own(entry.generation.stored_as()) && !all.iter().any(|other| other.has(&entry.generation))
            };
            for entry in known.iter().filter(is_left) {
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
        let stored = match current {
            Some(entry) => entry.stored.clone(),
            // A collection that had this name is still kept under it.
            None => all
                .iter()
                .any(|other| other.stored_as() == collection)
                .then(|| format!("{collection}{SECOND}{number}")),
        };
        let generation = Generation { collection: collection.into(), number, spec: spec.clone(), stored };
        self.check_server_names(&generation, &known, &all)?;
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
        if !self.collection_entry(&generation.collection)?.is_some_and(|known| known.has(generation)) {
            // It was renamed since.
            return Err(unknown_generation(generation));
        }
        self.database.prepare(generation)?;
        self.database.put(&[GenerationEntry { was_current: true, ..entry }.entry()?])?;
        // A single point: a reader sees the previous generation or this one.
        self.database.put(&[CollectionEntry::of(generation).entry()?])?;
        self.database.publish(generation)
    }

    /// See [`GenerationStore::remove`](chunkwright_store::GenerationStore::remove).
    pub(super) fn remove_generation(&self, generation: &Generation) -> Result<(), StoreError> {
        let key = entry::key(Kind::Collection, "", &generation.collection);
        let entry = self.collection_entry(&generation.collection)?.filter(|entry| entry.has(generation));
        let Some(entry) = entry else {
            // Only what crashes left is no collection's; the rest was renamed since.
            let is_kept = self.collection_entries()?.iter().any(|entry| entry.has(generation));
            return if is_kept { Ok(()) } else { self.forget_generation(generation) };
        };
        if entry.current != generation.number {
            return self.forget_generation(generation);
        }
        if entry.stored.is_some() {
            // What a crash leaves is found by the name that it is kept under.
            self.database.hide(generation)?;
        }
        self.database.withdraw(&generation.collection)?;
        self.database.forget(&[key, entry::key(Kind::Runs, "", &generation.collection)])?;
        self.database.forget(&self.database.keys(Kind::Overlay, &generation.collection)?)?;
        for other in self.generation_entries(&[entry])? {
            if other.generation.stored_as() == generation.stored_as() {
                self.forget_generation(&other.generation)?;
            }
        }
        Ok(())
    }

    /// Repairs what a crash left inconsistent between the catalog and the generations on the server.
    fn repair(
        &self,
        known: &[GenerationEntry],
        collection: &str,
        current: Option<&CollectionEntry>,
    ) -> Result<(), StoreError> {
        sweep::sweep_generations(self, known, current.map_or(collection, CollectionEntry::stored_as))?;
        let is_current = |generation: &&Generation| {
            current.is_some_and(|entry| entry.has(generation) && entry.current == generation.number)
        };
        match known.iter().map(|entry| &entry.generation).find(is_current) {
            Some(current) if !self.database.is_published(current)? => self.database.publish(current),
            _ => Ok(()),
        }
    }

    /// Checks that no other collection has one of the names that the generation would use on the server.
    pub(super) fn check_server_names(
        &self,
        generation: &Generation,
        known: &[GenerationEntry],
        all: &[CollectionEntry],
    ) -> Result<(), StoreError> {
        let names = self.database.names(generation);
        let others = known.iter().map(|entry| &entry.generation).filter(|other| {
            other.stored_as() != generation.stored_as() && all.iter().any(|entry| entry.has(other))
        });
        for other in others {
            if let Some(physical) = self.database.names(other).into_iter().find(|name| names.contains(name)) {
                let (name, holder) = (generation.collection.clone(), other.collection.clone());
                return Err(StoreError::SameName { name, physical, holder });
            }
        }
        Ok(())
    }

    fn forget_generation(&self, generation: &Generation) -> Result<(), StoreError> {
        // Its entry goes first, so that no reader sees what a crash leaves.
        self.database.forget(&[entry::key(Kind::Generation, "", &generation.key())])?;
        let owner = generation.key();
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

/// Between the name of a collection and a number, in the name that it is kept under because another collection, which had
/// its name before, still is. No name of a user has it.
const SECOND: char = '~';

/// Returns whether a collection of this name may be kept under `stored`, beside one that had its name before.
fn is_second(stored: &str, collection: &str) -> bool {
    stored.strip_prefix(collection).is_some_and(|rest| rest.starts_with(SECOND))
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
