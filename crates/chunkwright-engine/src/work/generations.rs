//! The generations of a collection, and the removal of generations and documents.

use std::sync::Arc;

use chunkwright_index::{GenerationState, GenerationStatus, Store, remove_documents, remove_folder};

use crate::core::owner::Owner;
use crate::error::Error;
use crate::noun::collection::Collection;
use crate::request::generations::{
    DeleteRequest, Deleted, DeletedDocument, GenerationsAnswer, PruneRequest, PrunedGeneration,
};
use crate::request::task::Task;

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
            return self.engine().through(&owner, task, &|_| {});
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
            return Err(Error::OneGeneration { name: self.name().to_owned(), action: "delete" });
        }
        if let Some(owner) = self.owner_unless(request.dry_run)? {
            let task = Task::Delete { collection: self.name().to_owned(), request: request.clone() };
            return self.engine().through(&owner, task, &|_| {});
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
