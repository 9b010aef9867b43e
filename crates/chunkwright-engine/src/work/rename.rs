//! Gives a collection another name, with what is kept of it in files beside the store.

use chunkwright_index::StoreError;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::noun::collection::Collection;
use crate::noun::renamed;
use crate::request::collections::{RenameRequest, RenamedCollection};
use crate::request::task::Task;

impl Collection {
    /// Gives the collection another name. Its generations, runs, manual changes, questions and planned settings stay with
    /// it, and the watches of this process follow; no document is read or embedded.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a name that is not valid or taken, a run over one of the two that is in progress
    /// or waits, a store that fails.
    pub fn rename(&self, request: &RenameRequest) -> Result<RenamedCollection, Error> {
        let (engine, from) = (self.engine(), self.name());
        if from.contains('@') {
            return Err(Error::OneGeneration { name: from.to_owned(), action: "rename" });
        }
        if let Some(owner) = engine.owner()? {
            let task = Task::Rename { collection: from.to_owned(), request: request.clone() };
            return engine.through(&owner, task, &|_| {});
        }
        let store = engine.writable_store()?;
        let new = engine.collection(&request.name);
        let to = new.name();
        let busy = |name: &str| Error::RunInProgress { collection: name.to_owned() };
        let _from = engine.free_turn(from).ok_or_else(|| busy(from))?;
        if from == to {
            return Err(StoreError::NameTaken { name: to.to_owned() }.into());
        }
        let _to = engine.free_turn(to).ok_or_else(|| busy(to))?;
        settle(engine)?;
        store.open(from)?;
        renamed::begin(engine, from, to)?;
        let done = store.rename(from, to);
        // A request that failed may have been performed.
        settle(engine)?;
        done?;
        Ok(RenamedCollection { collection: to.to_owned(), before: from.to_owned() })
    }
}

/// Moves the files beside the store of the collections whose rename began, if the store has renamed them.
fn settle(engine: &Engine) -> Result<(), Error> {
    let pending = renamed::pending(engine);
    if pending.is_empty() {
        return Ok(());
    }
    let store = engine.store()?;
    let mut done = Vec::new();
    for rename in pending {
        let is_there = |name: &str| Ok::<_, Error>(store.collection(name)?.is_some());
        if is_there(&rename.to)? && !is_there(&rename.from)? {
            let old = engine.collection(&rename.from);
            old.move_plan(&rename.to)?;
            old.move_questions(&rename.to)?;
            done.push(rename);
        }
    }
    renamed::end(engine, |rename| done.contains(rename))
}

impl Engine {
    /// Completes what a process that ended while it renamed a collection left in files beside the store.
    ///
    /// # Errors
    ///
    /// A store that fails, a file that cannot be written.
    pub(crate) fn settle_renames(&self) -> Result<(), Error> {
        let is_other = || Ok::<_, Error>(self.check_writable().is_err() || self.owner()?.is_some());
        if renamed::pending(self).is_empty() || is_other()? { Ok(()) } else { settle(self) }
    }
}
