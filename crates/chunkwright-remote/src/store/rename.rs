//! Renames collections. What is kept under the first name of a collection stays there: its entry says which name that is.
//!
//! One entry commits: that of the new name. The entry of the old name says before which name is to come, and is void once
//! that one is there, so a reader finds the collection by one of the two names at any moment. What a crash leaves is
//! completed if it was committed, else undone, before the next run begins.

use super::RemoteStore;
use super::catalog::{CollectionEntry, GenerationEntry};
use crate::entry::{self, Entry, Kind};
use chunkwright_store::error::unknown_generation;
use chunkwright_store::name::unknown_collection;
use chunkwright_store::{Generation, Overlay, OverlayStore, StoreError};

/// Overlays per request to the server.
pub(super) const OVERLAYS_AT_ONCE: usize = 100;

impl RemoteStore {
    /// See [`GenerationStore::rename`](chunkwright_store::GenerationStore::rename).
    pub(super) fn rename_collection(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let all = self.settled_entries()?;
        let Some(entry) = all.iter().find(|entry| entry.name == from) else {
            if self.database.foreign(from)?.is_some() {
                return Err(StoreError::Foreign { name: from.into() });
            }
            return Err(unknown_collection(from, all.iter().map(|entry| entry.name.as_str())));
        };
        if all.iter().any(|entry| entry.name == to) || self.database.foreign(to)?.is_some() {
            return Err(StoreError::NameTaken { name: to.into() });
        }
        let known = self.generation_entries(&all)?;
        let old = current_of(entry, &known)?;
        let stored = Some(entry.stored_as()).filter(|stored| *stored != to).map(str::to_owned);
        let new = Generation { collection: to.into(), stored, ..old.clone() };
        self.check_server_names(&new, &known, &all)?;
        self.database.check_free(&new)?;
        self.database.put(&[CollectionEntry { to: Some(to.into()), ..entry.clone() }.entry()?])?;
        self.copy_own(from, to)?;
        self.database.hide(&old)?;
        self.database.put(&[CollectionEntry::of(&new).entry()?])?;
        self.complete(from, &new, &known)
    }

    /// The entries of all collections, after the renames that were committed are completed and the others undone.
    pub(super) fn settled_entries(&self) -> Result<Vec<CollectionEntry>, StoreError> {
        let all: Vec<CollectionEntry> = self.list(Kind::Collection, "")?;
        if all.iter().all(|entry| entry.to.is_none()) {
            return Ok(all);
        }
        self.writable()?;
        let known: Vec<GenerationEntry> = self.list(Kind::Generation, "")?;
        for entry in &all {
            let Some(to) = &entry.to else { continue };
            match all.iter().find(|other| other.name == *to) {
                Some(new) if new.stored_as() == entry.stored_as() => {
                    self.complete(&entry.name, &current_of(new, &known)?, &known)?;
                }
                other => {
                    self.database.publish(&current_of(entry, &known)?)?;
                    if other.is_none() {
                        self.forget_own(to)?;
                    }
                    self.database.put(&[CollectionEntry { to: None, ..entry.clone() }.entry()?])?;
                }
            }
        }
        self.list(Kind::Collection, "")
    }

    /// Shows others the new name, and removes the old one.
    fn complete(&self, from: &str, new: &Generation, known: &[GenerationEntry]) -> Result<(), StoreError> {
        self.database.publish(new)?;
        for entry in known.iter().filter(|entry| entry.generation.stored_as() == new.stored_as()) {
            let GenerationEntry { generation, .. } = entry.clone().of(&CollectionEntry::of(new));
            self.database.relabel(&generation)?;
        }
        self.database.withdraw(from)?;
        self.forget_own(from)?;
        self.database.forget(&[entry::key(Kind::Collection, "", from)])?;
        // They are built anew for generations of the new name.
        let is_other = |generation: &Generation| generation.stored_as() != new.stored_as();
        self.live.lock().retain(|generation, _| is_other(generation));
        self.indexes.lock().retain(|generation, _| is_other(generation));
        self.columns.lock().retain(|generation, _| is_other(generation));
        Ok(())
    }

    /// Copies what is kept under the name of a collection and not under its generations.
    fn copy_own(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.forget_own(to)?;
        let overlays: Vec<Overlay> = self.list(Kind::Overlay, from)?;
        self.put_kept(to, &overlays.iter().collect::<Vec<_>>())?;
        let runs = self.runs(from)?;
        if runs.is_empty() { Ok(()) } else { self.database.put(&[Entry::new(Kind::Runs, "", to, &runs)?]) }
    }

    /// Writes overlays of a collection.
    pub(super) fn put_kept(&self, collection: &str, kept: &[&Overlay]) -> Result<(), StoreError> {
        for kept in kept.chunks(OVERLAYS_AT_ONCE) {
            let entry =
                |overlay: &&Overlay| Entry::new(Kind::Overlay, collection, &overlay.chunk_id, *overlay);
            self.database.put(&kept.iter().map(entry).collect::<Result<Vec<_>, _>>()?)?;
        }
        Ok(())
    }

    fn forget_own(&self, name: &str) -> Result<(), StoreError> {
        self.database.forget(&self.database.keys(Kind::Overlay, name)?)?;
        self.database.forget(&[entry::key(Kind::Runs, "", name)])
    }
}

/// The current generation of a collection.
fn current_of(collection: &CollectionEntry, known: &[GenerationEntry]) -> Result<Generation, StoreError> {
    let number = collection.current;
    let is_current =
        |entry: &&GenerationEntry| collection.has(&entry.generation) && entry.generation.number == number;
    let found = known.iter().find(is_current).map(|entry| entry.clone().of(collection).generation);
    found.ok_or_else(|| unknown_generation(&format!("{}@{number}", collection.name)))
}
