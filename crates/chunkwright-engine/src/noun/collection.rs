//! A collection: the documents that are indexed and searched together.

use chunkwright_index::{FetchError, PastRun, SearchError, StoreError, folders, normalized_name};

use crate::core::engine::Engine;
use crate::core::watching::watched;
use crate::error::Error;
use crate::noun::snapshot::Snapshot;
use crate::request::collections::{CollectionStatus, ListedCollection};
use crate::request::search::SearchAnswer;
use crate::request::search::options::SearchRequest;

/// A collection: documents that are indexed and searched together. It need not exist yet.
///
/// Reads go through a [`Snapshot`]; changes are methods of the collection.
#[derive(Clone, Debug)]
pub struct Collection {
    engine: Engine,
    name: String,
}

impl Engine {
    /// The collection called `name`, which need not exist yet. `NAME@N` is one generation of it.
    pub fn collection(&self, name: impl AsRef<str>) -> Collection {
        Collection::new(self.clone(), name.as_ref())
    }

    /// The collection named in the settings, by its name now where it was renamed since the engine was opened.
    pub fn default_collection(&self) -> Collection {
        self.collection(self.default_name())
    }

    /// The name of the [default collection](Self::default_collection).
    pub fn default_name(&self) -> String {
        self.name_now(&self.settings().collection)
    }
}

impl Collection {
    pub(crate) fn new(engine: Engine, name: &str) -> Self {
        Self { engine, name: normalized_name(name).into_owned() }
    }

    /// The name of the collection, or `NAME@N` for one generation of it, in Unicode's normalization form C.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The collection by its name now, where it was renamed since the engine was opened.
    #[must_use]
    pub fn now(&self) -> Self {
        self.engine.collection(self.engine.name_now(&self.name))
    }

    /// The engine of the collection.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Takes a snapshot: all reads through it are of one generation.
    ///
    /// # Errors
    ///
    /// A collection or generation that does not exist.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        Snapshot::open(&self.engine, &self.name)
    }

    /// Calls `read` with a snapshot. Calls it once more with a newer snapshot if the generation was removed meanwhile,
    /// because another one became current or the whole store was replaced.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, and what `read` fails with.
    pub fn read<T>(&self, mut read: impl FnMut(&Snapshot) -> Result<T, Error>) -> Result<T, Error> {
        read_current(|| Ok([self.snapshot()?]), |[snapshot]| read(snapshot))
    }

    /// Counts of the collection, without reading its documents.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a store that fails.
    pub fn listed(&self) -> Result<ListedCollection, Error> {
        let name = self.snapshot()?.generation().collection.clone();
        let found = self.engine.store()?.collection(&name)?;
        let found = found.and_then(|found| ListedCollection::of(&found, &watched(&self.engine)));
        found.ok_or_else(|| StoreError::UnknownCollection { name, known: String::new() }.into())
    }

    /// Counts of the collection, and the folders of its documents.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a store that fails.
    pub fn status(&self) -> Result<CollectionStatus, Error> {
        let status = self.listed()?.status;
        let folders = folders(&*self.engine.store()?, &status.generation)?;
        Ok(CollectionStatus { status, folders })
    }

    /// The last runs that changed the collection, newest first.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a store that fails.
    pub fn history(&self) -> Result<Vec<PastRun>, Error> {
        self.read(|snapshot| Ok(snapshot.store().runs(&snapshot.generation().collection)?))
    }

    /// Searches the collection as it is now.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::search`].
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, Error> {
        self.read(|snapshot| snapshot.search(request))
    }
}

/// Calls `read` with the snapshots that `open` takes, and again with newer ones if a generation was removed meanwhile.
pub(crate) fn read_current<S: AsRef<[Snapshot]>, T>(
    open: impl Fn() -> Result<S, Error>,
    mut read: impl FnMut(&S) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut last = Vec::new();
    loop {
        let snapshots = open()?;
        let numbers = snapshots.as_ref().iter().map(|snapshot| snapshot.generation().number);
        let numbers: Vec<i64> = numbers.collect();
        match read(&snapshots) {
            Err(error) if is_gone(&error) && last != numbers => last = numbers,
            result => return result,
        }
    }
}

/// Returns whether the error means that the generation is gone.
fn is_gone(error: &Error) -> bool {
    let (Error::Store(error)
    | Error::Search(SearchError::Store(error))
    | Error::Fetch(FetchError::Store(error))) = error
    else {
        return false;
    };
    matches!(error, StoreError::UnknownGeneration { .. } | StoreError::Replaced)
}
