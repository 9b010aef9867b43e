//! The generations of a collection, and the removal of generations and documents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chunkwright_index::{GenerationState, GenerationStatus, Glob, Store, remove_documents, remove_folder};
use serde::{Deserialize, Serialize};

use crate::collection::Collection;
use crate::error::Error;
use crate::owner::Owner;
use crate::task::Task;

/// The generations of a collection.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationsAnswer {
    /// The collection.
    pub collection: String,
    /// Its generations, oldest first.
    pub generations: Vec<GenerationStatus>,
    /// Number of chunks by strategy version, over all generations.
    pub stats: BTreeMap<String, usize>,
}

/// Which generations are removed, or what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PruneRequest {
    /// Remove generations that were never completed too.
    pub unfinished: bool,
    /// Remove only this generation, by its number; it must not be the one that searches see.
    pub generation: Option<i64>,
    /// Remove only documents whose id matches this pattern.
    pub source: Option<Glob>,
    /// Remove nothing, and answer what would be removed.
    pub dry_run: bool,
}

/// What was removed of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrunedGeneration {
    /// The generation, as it was.
    pub generation: GenerationStatus,
    /// Number of documents removed.
    pub documents: usize,
    /// Number of chunks removed.
    pub chunks: usize,
    /// Whether nothing was removed, because the request was a dry run.
    pub dry_run: bool,
}

/// Which documents are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeleteRequest {
    /// The documents.
    pub what: Deleted,
    /// Remove nothing, and answer what would be removed.
    #[serde(default)]
    pub dry_run: bool,
}

/// Documents to be removed from a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Deleted {
    /// Those whose id matches this pattern.
    Source(Glob),
    /// Those of this folder and of folders inside it, which need not exist any more.
    Folder(PathBuf),
    /// The whole collection, including changes made by hand.
    All,
}

/// A document that was removed from a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeletedDocument {
    /// The document.
    pub doc_id: String,
    /// Number of the generation.
    pub generation: i64,
    /// Number of its chunks.
    pub chunks: u32,
    /// Whether nothing was removed, because the request was a dry run.
    pub dry_run: bool,
}

impl DeleteRequest {
    /// The folders named by the request.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        match &mut self.what {
            Deleted::Folder(folder) => Some(folder),
            Deleted::Source(_) | Deleted::All => None,
        }
        .into_iter()
    }
}

impl Collection {
    /// Lists the generations of the collection.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a store that fails.
    pub fn generations(&self) -> Result<GenerationsAnswer, Error> {
        let store = self.engine().store()?;
        let name = store.open(self.name())?.collection;
        let found = store.collection(&name)?;
        let stats = found.as_ref().map(chunkwright_index::Collection::version_stats).unwrap_or_default();
        let generations = found.map(|known| known.generations).unwrap_or_default();
        Ok(GenerationsAnswer { collection: name, generations, stats })
    }

    /// Removes generations that searches do not see: those that were current once and, if requested, those that were
    /// never completed.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a store that fails.
    pub fn prune(&self, request: &PruneRequest) -> Result<Vec<PrunedGeneration>, Error> {
        if let Some(owner) = self.owner_unless(request.dry_run)? {
            let task = Task::Prune { collection: self.name().to_owned(), request: request.clone() };
            return owner.perform(self.engine(), task, &|_| {});
        }
        let store = &*self.store_for(request.dry_run)?;
        let visible = store.open(self.generations()?.collection.as_str())?;
        let is_over = |status: &GenerationStatus| match status.state {
            GenerationState::Old => true,
            GenerationState::Building => {
                let is_asked = request.unfinished || request.generation.is_some();
                is_asked && status.generation != visible
            }
            GenerationState::Current => false,
        };
        let is_meant = |number: i64| request.generation.is_none_or(|only| only == number);
        let over = self.generations()?.generations.into_iter().filter(is_over);
        let over: Vec<GenerationStatus> = over.filter(|status| is_meant(status.generation.number)).collect();
        if let (Some(generation), true) = (request.generation, over.is_empty()) {
            return Err(Error::NotPrunable { collection: self.name().to_owned(), generation });
        }
        let mut pruned = Vec::new();
        for generation in over {
            let (documents, chunks) = if let Some(pattern) = &request.source {
                let removed =
                    remove_documents(store, &generation.generation, Some(pattern), request.dry_run)?;
                (removed.len(), removed.iter().map(|info| info.chunks as usize).sum())
            } else {
                if !request.dry_run {
                    store.remove(&generation.generation)?;
                }
                (generation.documents, generation.chunks)
            };
            pruned.push(PrunedGeneration { generation, documents, chunks, dry_run: request.dry_run });
        }
        Ok(pruned)
    }

    /// Removes documents from every generation, so that none of them brings a document back; or removes the whole
    /// collection.
    ///
    /// # Errors
    ///
    /// A name that is that of one generation, a collection that does not exist, a store that fails.
    pub fn delete(&self, request: &DeleteRequest) -> Result<Vec<DeletedDocument>, Error> {
        if self.name().contains('@') {
            return Err(Error::OneGeneration { name: self.name().to_owned() });
        }
        if let Some(owner) = self.owner_unless(request.dry_run)? {
            let task = Task::Delete { collection: self.name().to_owned(), request: request.clone() };
            return owner.perform(self.engine(), task, &|_| {});
        }
        let store = &*self.store_for(request.dry_run)?;
        let current = store.open(self.name())?;
        let mut deleted = Vec::new();
        for GenerationStatus { generation, .. } in self.generations()?.generations {
            let is_dry = request.dry_run || request.what == Deleted::All;
            let removed = match &request.what {
                Deleted::Folder(folder) => remove_folder(store, &generation, folder, is_dry)?,
                Deleted::Source(pattern) => remove_documents(store, &generation, Some(pattern), is_dry)?,
                Deleted::All => remove_documents(store, &generation, None, is_dry)?,
            };
            deleted.extend(removed.into_iter().map(|info| DeletedDocument {
                doc_id: info.doc_id,
                generation: generation.number,
                chunks: info.chunks,
                dry_run: request.dry_run,
            }));
        }
        if request.what == Deleted::All && !request.dry_run {
            store.remove(&current)?;
            self.forget_plan()?;
            self.forget_questions()?;
        }
        Ok(deleted)
    }

    /// The owner to write through, unless it is a dry run.
    fn owner_unless(&self, dry_run: bool) -> Result<Option<Owner>, Error> {
        if dry_run { Ok(None) } else { self.engine().owner() }
    }

    /// The store, for writing unless it is a dry run.
    fn store_for(&self, dry_run: bool) -> Result<Arc<dyn Store>, Error> {
        if dry_run { self.engine().store() } else { self.engine().writable_store() }
    }
}
