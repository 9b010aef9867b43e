//! Collections on a server: their names come from the catalog, the counts of a page from the entries of documents.

use super::catalog::{CollectionEntry, DocumentEntry, GenerationEntry};
use super::generations::fitting;
use super::{FOREIGN, RemoteStore};
use crate::entry::{self, Kind};
use chunkwright_store::error::unknown_generation;
use chunkwright_store::name::{no_collection, parse_name};
use chunkwright_store::{
    Collection, CollectionSort, CollectionsBehind, DocumentInfo, Generation, GenerationSpec, GenerationState,
    GenerationStatus, ListedCollections, StoreError, normalized_name,
};

impl RemoteStore {
    /// The entry of a collection; `None` if there is no such collection.
    pub(super) fn collection_entry(&self, name: &str) -> Result<Option<CollectionEntry>, StoreError> {
        let read = |name: &str| self.entry::<CollectionEntry>(&entry::key(Kind::Collection, "", name));
        let Some(found) = read(name)? else { return Ok(None) };
        let Some(to) = &found.to else { return Ok(Some(found)) };
        let is_void = read(to)?.is_some_and(|new| new.stored_as() == found.stored_as());
        Ok(Some(found).filter(|_| !is_void))
    }

    /// A page of collections. Unless the order requires all counts, only the collections on the page are counted.
    pub(super) fn page_of_collections(
        &self,
        request: &CollectionsBehind<'_>,
    ) -> Result<ListedCollections, StoreError> {
        let fits = request.names();
        let mut entries = self.collection_entries()?;
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
        let own = all.iter().filter(|known| entry.has(&known.generation));
        let mut generations = own
            .map(|known| self.status(&known.clone().of(entry), entry.current))
            .collect::<Result<Vec<_>, _>>()?;
        generations.sort_by_key(|status| status.generation.number);
        Ok(Collection { name: entry.name.clone(), generations })
    }

    fn status(&self, entry: &GenerationEntry, current: i64) -> Result<GenerationStatus, StoreError> {
        let generation = entry.generation.clone();
        let documents: Vec<DocumentEntry> = self.list(Kind::Document, &generation.key())?;
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
        let collections = self.collection_entries()?;
        let is_current = |generation: &Generation| {
            collections.iter().any(|entry| entry.has(generation) && entry.current == generation.number)
        };
        let all = self.generation_entries(&collections)?.into_iter().map(|entry| entry.generation);
        let mut visible: Vec<Generation> = all.filter(is_current).collect();
        visible.sort_by(|a, b| a.collection.cmp(&b.collection));
        Ok(visible)
    }

    /// The generation that a name means.
    pub(super) fn look_up(&self, name: &str) -> Result<Option<Generation>, StoreError> {
        let (collection, number) = parse_name(name);
        let collection = &*collection;
        let Some(entry) = self.collection_entry(collection)? else {
            let foreign = self.database.foreign(collection)?;
            let of = |spec| Generation { collection: collection.into(), number: FOREIGN, spec, stored: None };
            return foreign.map_or_else(|| no_collection(collection), |spec| Ok(Some(of(spec))));
        };
        let found = self.entry_of(&entry, number.unwrap_or(entry.current))?;
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
        let current = self.entry_of(&entry, entry.current)?;
        let fits = current.and_then(|current| fitting(&[current], collection, spec));
        Ok(match fits {
            Some(found) => Some(found),
            None => fitting(&self.generation_entries(&[entry])?, collection, spec),
        })
    }

    /// The entry of a generation of a collection by its number.
    fn entry_of(
        &self,
        collection: &CollectionEntry,
        number: i64,
    ) -> Result<Option<GenerationEntry>, StoreError> {
        let key = format!("{}@{number}", collection.stored_as());
        let found: Option<GenerationEntry> = self.entry(&entry::key(Kind::Generation, "", &key))?;
        Ok(found.map(|found| found.of(collection)))
    }
}
