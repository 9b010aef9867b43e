//! Collections on a server: their names come from the catalog, the counts of a page from the entries of documents.

use super::catalog::{CollectionEntry, DocumentEntry, GenerationEntry};
use super::generations::fitting;
use super::{FOREIGN, RemoteStore};
use crate::entry::{self, Kind};
use chunkwright_store::error::{no_collection, unknown_generation};
use chunkwright_store::name::parse_name;
use chunkwright_store::{
    Collection, CollectionSort, CollectionsBehind, DocumentInfo, Generation, GenerationSpec, GenerationState,
    GenerationStatus, ListedCollections, StoreError, normalized_name,
};

impl RemoteStore {
    /// The entry of a collection; `None` if there is no such collection.
    pub(super) fn collection_entry(&self, name: &str) -> Result<Option<CollectionEntry>, StoreError> {
        self.entry(&entry::key(Kind::Collection, "", name))
    }

    /// A page of collections. Unless the order requires all counts, only the collections on the page are counted.
    pub(super) fn page_of_collections(
        &self,
        request: &CollectionsBehind<'_>,
    ) -> Result<ListedCollections, StoreError> {
        let fits = request.names();
        let mut entries: Vec<CollectionEntry> = self.list(Kind::Collection, "")?;
        entries.retain(|entry| fits(&entry.name));
        let generations: Vec<GenerationEntry> = self.list(Kind::Generation, "")?;
        let read = |name: &str| {
            let entry = entries.iter().find(|entry| entry.name == name);
            entry.map(|entry| self.statuses(entry, &generations)).transpose()
        };
        let (total, names, is_more) = if request.sort == CollectionSort::Name {
            request.page(entries.iter().map(|entry| (0, entry.name.clone())).collect())
        } else {
            let counted = entries.iter().map(|entry| {
                let collection = self.statuses(entry, &generations)?;
                Ok((request.sort.count(&collection), entry.name.clone()))
            });
            request.page(counted.collect::<Result<_, StoreError>>()?)
        };
        let collections = names.iter().map(|name| read(name)).filter_map(Result::transpose);
        Ok(ListedCollections { collections: collections.collect::<Result<_, _>>()?, total, is_more })
    }

    /// One collection with its generations.
    pub(super) fn read_collection(&self, name: &str) -> Result<Option<Collection>, StoreError> {
        let Some(entry) = self.collection_entry(&normalized_name(name))? else { return Ok(None) };
        self.statuses(&entry, &self.list(Kind::Generation, "")?).map(Some)
    }

    /// A collection with those of `all` that are its generations.
    fn statuses(&self, entry: &CollectionEntry, all: &[GenerationEntry]) -> Result<Collection, StoreError> {
        let own = all.iter().filter(|known| known.generation.collection == entry.name);
        let mut generations =
            own.map(|known| self.status(known, entry.current)).collect::<Result<Vec<_>, _>>()?;
        generations.sort_by_key(|status| status.generation.number);
        Ok(Collection { name: entry.name.clone(), generations })
    }

    fn status(&self, entry: &GenerationEntry, current: i64) -> Result<GenerationStatus, StoreError> {
        let generation = entry.generation.clone();
        let documents: Vec<DocumentEntry> = self.list(Kind::Document, &generation.to_string())?;
        let total =
            |of: fn(&DocumentInfo) -> u32| documents.iter().map(|document| of(&document.info) as usize).sum();
        let state = match (generation.number == current, entry.was_current) {
            (true, true) => GenerationState::Current,
            (false, true) => GenerationState::Old,
            (_, false) => GenerationState::Building,
        };
        Ok(GenerationStatus {
            state,
            documents: documents.len(),
            chunks: total(|info| info.chunks),
            pending: total(|info| info.pending),
            change: entry.change,
            generation,
        })
    }

    /// The generation that searches see of every collection, by name.
    pub(super) fn visible_generations(&self) -> Result<Vec<Generation>, StoreError> {
        let current = self.current()?;
        let mut visible: Vec<Generation> = self
            .list::<GenerationEntry>(Kind::Generation, "")?
            .into_iter()
            .map(|entry| entry.generation)
            .collect();
        visible.retain(|generation| current.get(&generation.collection) == Some(&generation.number));
        visible.sort_by(|a, b| a.collection.cmp(&b.collection));
        Ok(visible)
    }

    /// The generation that a name means.
    pub(super) fn look_up(&self, name: &str) -> Result<Option<Generation>, StoreError> {
        let (collection, number) = parse_name(name);
        let collection = &*collection;
        let Some(entry) = self.collection_entry(collection)? else {
            let foreign = self.database.foreign(collection)?;
            let of = |spec| Generation { collection: collection.into(), number: FOREIGN, spec };
            return foreign.map_or_else(|| no_collection(collection), |spec| Ok(Some(of(spec))));
        };
        let found = self.entry_of(collection, number.unwrap_or(entry.current))?;
        found.map(|entry| Some(entry.generation)).ok_or_else(|| unknown_generation(&name))
    }

    /// The newest generation of a collection that matches `spec`. If that is the current one, no other is read.
    pub(super) fn find_generation(
        &self,
        collection: &str,
        spec: &GenerationSpec,
    ) -> Result<Option<Generation>, StoreError> {
        let collection = &*normalized_name(collection);
        let Some(entry) = self.collection_entry(collection)? else { return Ok(None) };
        let current = self.entry_of(collection, entry.current)?;
        let fits = current.and_then(|current| fitting(&[current], collection, spec));
        Ok(match fits {
            Some(found) => Some(found),
            None => fitting(&self.list(Kind::Generation, "")?, collection, spec),
        })
    }

    /// The entry of a generation by its number.
    fn entry_of(&self, collection: &str, number: i64) -> Result<Option<GenerationEntry>, StoreError> {
        self.entry(&entry::key(Kind::Generation, "", &format!("{collection}@{number}")))
    }
}
