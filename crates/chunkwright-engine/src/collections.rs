//! The collections of a store: pages of them, found by a part of their name, and what each holds.

use std::collections::BTreeMap;

use chunkwright_index::{
    CollectionPlace, CollectionSort, CollectionsBehind, Cursor, Direction, Folder, GenerationStatus,
    MAX_PAGE, folders,
};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::Error;
use crate::paging::{cursor, entry_before};

/// Which collections are listed, in which order, and from where on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListCollectionsRequest {
    /// Only collections whose name contains each of these words, whatever the case; empty for all.
    pub name: String,
    /// What they are ordered by.
    pub sort: CollectionSort,
    /// From which end.
    pub direction: Direction,
    /// Where the page before ended; none for the first page.
    pub after: Option<Cursor>,
    /// Most collections of the page, from 1 to 1,000.
    pub limit: usize,
}

impl Default for ListCollectionsRequest {
    fn default() -> Self {
        Self {
            name: String::new(),
            sort: CollectionSort::default(),
            direction: Direction::default(),
            after: None,
            limit: 100,
        }
    }
}

/// Some collections of the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionPage {
    /// The collections, in order.
    pub collections: Vec<ListedCollection>,
    /// Number of all collections of the list, those on other pages included.
    pub total: usize,
    /// Where the next page begins; none after the last collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Cursor>,
}

/// A collection in a list, and its generations as numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedCollection {
    /// The generation that searches see.
    #[serde(flatten)]
    pub status: GenerationStatus,
    /// Number of generations.
    pub generations: usize,
    /// Number of chunks by strategy version, over all generations.
    pub versions: BTreeMap<String, usize>,
}

/// A collection, by the generation that searches see, and its folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionStatus {
    /// The generation that searches see.
    #[serde(flatten)]
    pub status: GenerationStatus,
    /// The folders that its documents are of.
    pub folders: Vec<Folder>,
}

impl ListedCollection {
    /// The list entry of a collection; `None` if it has no generation.
    pub(crate) fn of(collection: &chunkwright_index::Collection) -> Option<Self> {
        let (status, versions) = (collection.visible()?.clone(), collection.version_stats());
        Some(Self { status, generations: collection.generations.len(), versions })
    }

    /// The name of the collection.
    pub fn name(&self) -> &str {
        &self.status.generation.collection
    }
}

impl Engine {
    /// A page of the collections, without reading their documents.
    ///
    /// # Errors
    ///
    /// A cursor of another list, a store that fails.
    pub fn list_collections(&self, request: &ListCollectionsRequest) -> Result<CollectionPage, Error> {
        let ListCollectionsRequest { name, sort, direction, after, limit } = request;
        let order = ("collections", name, sort, direction);
        let behind = after.as_ref().map(|after| entry_before(&order, after)).transpose()?;
        let place = match (&behind, after) {
            (Some(key), Some(after)) => {
                let unknown = || Error::Cursor { cursor: after.as_str().to_owned() };
                Some(place(key).ok_or_else(unknown)?)
            }
            _ => None,
        };
        let (sort, direction, limit) = (*sort, *direction, Some((*limit).clamp(1, MAX_PAGE)));
        let page = self.store()?.list_collections(&CollectionsBehind {
            name,
            sort,
            direction,
            after: place,
            limit,
        })?;
        let last = page.collections.last().filter(|_| page.is_more);
        let next =
            last.map(|last| cursor(&order, &format!("{}/{}", sort.count(last), last.name))).transpose()?;
        let collections = page.collections.iter().filter_map(ListedCollection::of).collect();
        Ok(CollectionPage { collections, total: page.total, next })
    }

    /// The names of all collections, in order.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn collection_names(&self) -> Result<Vec<String>, Error> {
        Ok(self.store()?.visible()?.into_iter().map(|generation| generation.collection).collect())
    }

    /// Whether there is a collection of this name.
    ///
    /// # Errors
    ///
    /// A name that no collection can have, a store that fails.
    pub fn has_collection(&self, name: &str) -> Result<bool, Error> {
        Ok(self.store()?.lookup(name)?.is_some())
    }

    /// All collections with their folders, by name.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn collections(&self) -> Result<Vec<CollectionStatus>, Error> {
        let store = self.store()?;
        let status = |collection: chunkwright_index::Collection| {
            let status = collection.visible()?.clone();
            Some(folders(&*store, &status.generation).map(|folders| CollectionStatus { status, folders }))
        };
        Ok(store.collections()?.into_iter().filter_map(status).collect::<Result<_, _>>()?)
    }
}

/// Parses the key of a cursor.
fn place(key: &str) -> Option<CollectionPlace<'_>> {
    let (count, name) = key.split_once('/')?;
    Some(CollectionPlace { count: count.parse().ok()?, name })
}
