//! The catalog: what a store keeps beside its points. Each entry is one point on the server, written as a whole.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::RemoteStore;
use crate::entry::{Entry, Kind, key};
use chunkwright_store::analysis;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::{DocumentInfo, Generation, StoreError};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Counter {
    pub(super) last_generation: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CollectionEntry {
    pub(super) name: String,
    pub(super) current: i64,
    /// The name that its generations are kept under, if that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stored: Option<String>,
    /// The name that it is being given. Once there is an entry of that name, this one is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<String>,
}

impl CollectionEntry {
    pub(super) fn of(generation: &Generation) -> Self {
        Self {
            name: generation.collection.clone(),
            current: generation.number,
            stored: generation.stored.clone(),
            to: None,
        }
    }

    /// The name that its generations are kept under.
    pub(super) fn stored_as(&self) -> &str {
        self.stored.as_deref().unwrap_or(&self.name)
    }

    /// Returns whether a generation is its.
    pub(super) fn has(&self, generation: &Generation) -> bool {
        self.stored_as() == generation.stored_as()
    }

    pub(super) fn entry(&self) -> Result<Entry, StoreError> {
        Entry::new(Kind::Collection, "", &self.name, self)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GenerationEntry {
    pub(super) generation: Generation,
    pub(super) was_current: bool,
    /// As [`GenerationStatus::change`](super::GenerationStatus::change).
    pub(super) change: u64,
    /// The greatest version ever given to a document.
    pub(super) last_version: i64,
    /// A write is in progress, or was interrupted.
    pub(super) unfinished: bool,
    /// A number that the last writer drew.
    pub(super) writer: i64,
    /// The [`analysis::VERSION`] of the terms of all its points. If it is not recorded, it matches no version: the
    /// terms were the same then, but their weights, which servers keep, were not.
    #[serde(default)]
    pub(super) analysis: u32,
}

impl GenerationEntry {
    pub(super) fn new(generation: &Generation) -> Self {
        Self {
            generation: generation.clone(),
            was_current: false,
            change: 0,
            last_version: 0,
            unfinished: false,
            writer: 0,
            analysis: analysis::VERSION,
        }
    }

    /// Returns whether its terms are of the version that queries use.
    pub(super) fn has_our_terms(&self) -> bool {
        self.analysis == analysis::VERSION
    }

    /// Checks that its terms are of the version that queries use.
    ///
    /// # Errors
    ///
    /// [`StoreError::Analysis`] if they are not.
    pub(super) fn check_terms(&self) -> Result<(), StoreError> {
        if self.has_our_terms() {
            return Ok(());
        }
        Err(StoreError::Analysis { path: self.generation.to_string() })
    }

    pub(super) fn entry(&self) -> Result<Entry, StoreError> {
        let mut stored = self.clone();
        self.generation.stored_as().clone_into(&mut stored.generation.collection);
        Entry::new(Kind::Generation, "", &self.generation.key(), &stored)
    }

    /// The entry of a generation of this collection, which may have had another name when the entry was written.
    pub(super) fn of(mut self, collection: &CollectionEntry) -> Self {
        self.generation.collection.clone_from(&collection.name);
        self.generation.stored.clone_from(&collection.stored);
        self
    }
}

/// A document. Its text is stored under a separate version, since manual changes of chunks give the document a new
/// version but no new text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DocumentEntry {
    pub(super) info: DocumentInfo,
    pub(super) doc_toc: String,
    #[serde(default)]
    pub(super) summary: String,
    /// The version that its text was written for.
    pub(super) body: i64,
    /// Number of parts of its text.
    pub(super) source_parts: usize,
    /// Number of parts of its file, if its bytes differ from the text.
    pub(super) raw_parts: Option<usize>,
}

impl DocumentEntry {
    pub(super) fn entry(&self, generation: &Generation) -> Result<Entry, StoreError> {
        Entry::new(Kind::Document, &generation.key(), &self.info.doc_id, self)
    }

    /// Keys of the parts of its text.
    pub(super) fn source_keys(&self, generation: &Generation) -> Vec<String> {
        part_keys(generation, self.body, "source", self.source_parts)
    }

    /// Keys of the parts of its file.
    pub(super) fn raw_keys(&self, generation: &Generation) -> Vec<String> {
        part_keys(generation, self.body, "raw", self.raw_parts.unwrap_or(0))
    }

    /// Keys of all parts.
    pub(super) fn part_keys(&self, generation: &Generation) -> Vec<String> {
        [self.source_keys(generation), self.raw_keys(generation)].concat()
    }
}

/// The name of a part.
pub(super) fn part_name(version: i64, what: &str, number: usize) -> String {
    format!("{version}/{what}/{number}")
}

fn part_keys(generation: &Generation, version: i64, what: &str, count: usize) -> Vec<String> {
    let owner = generation.key();
    (0..count).map(|number| key(Kind::Part, &owner, &part_name(version, what, number))).collect()
}

/// The version that the part with this key was written for.
pub(super) fn part_version(key: &str) -> Option<i64> {
    key.rsplit('/').nth(2)?.parse().ok()
}

pub(super) fn document_key(generation: &Generation, doc_id: &str) -> String {
    key(Kind::Document, &generation.key(), doc_id)
}

impl RemoteStore {
    pub(super) fn entry<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        let found = self.database.get(&[key.to_owned()])?.pop().flatten();
        found.map(|value| read(&value)).transpose()
    }

    pub(super) fn list<T: DeserializeOwned>(&self, kind: Kind, owner: &str) -> Result<Vec<T>, StoreError> {
        self.database.list(kind, owner)?.iter().map(|value| read(value)).collect()
    }

    /// The entry of a generation.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownGeneration`] if it is gone.
    pub(super) fn generation_entry(&self, generation: &Generation) -> Result<GenerationEntry, StoreError> {
        let found: Option<GenerationEntry> = self.entry(&key(Kind::Generation, "", &generation.key()))?;
        let found = found.ok_or_else(|| unknown_generation(generation))?;
        Ok(GenerationEntry { generation: generation.clone(), ..found })
    }

    /// The entries of all collections.
    pub(super) fn collection_entries(&self) -> Result<Vec<CollectionEntry>, StoreError> {
        let all: Vec<CollectionEntry> = self.list(Kind::Collection, "")?;
        let is_void = |entry: &CollectionEntry| {
            let new = entry.to.as_ref().and_then(|to| all.iter().find(|other| other.name == *to));
            new.is_some_and(|new| new.stored_as() == entry.stored_as())
        };
        Ok(all.iter().filter(|entry| !is_void(entry)).cloned().collect())
    }

    /// The entries of all generations: those of `collections` by their names, and what crashes left behind.
    pub(super) fn generation_entries(
        &self,
        collections: &[CollectionEntry],
    ) -> Result<Vec<GenerationEntry>, StoreError> {
        let all: Vec<GenerationEntry> = self.list(Kind::Generation, "")?;
        let named = all.into_iter().map(|entry| {
            match collections.iter().find(|collection| collection.has(&entry.generation)) {
                Some(collection) => entry.of(collection),
                None => entry,
            }
        });
        Ok(named.collect())
    }

    /// The entries of documents, in order, read in one request.
    pub(super) fn document_entries(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<Vec<Option<DocumentEntry>>, StoreError> {
        let keys: Vec<String> = doc_ids.iter().map(|doc_id| document_key(generation, doc_id)).collect();
        let found = self.database.get(&keys)?;
        found.iter().map(|value| value.as_deref().map(read).transpose()).collect()
    }
}

pub(super) fn read<T: DeserializeOwned>(value: &str) -> Result<T, StoreError> {
    serde_json::from_str(value).map_err(|error| StoreError::Damaged {
        problem: format!("an entry of the catalog cannot be read: {error}"),
    })
}
