//! The collections of a store: pages of them, found by a part of their name, and what each holds.

use chunkwright_index::{CollectionPlace, CollectionsBehind, MAX_PAGE, folders};

use crate::core::engine::Engine;
use crate::core::watching::watched;
use crate::error::Error;
use crate::paging::{cursor, entry_before};
use crate::request::collections::{
    CollectionPage, CollectionStatus, ListCollectionsRequest, ListedCollection,
};

impl Engine {
    /// A page of the collections, without reading their documents.
    ///
    /// # Errors
    ///
    /// A cursor of another list, a store that fails.
    pub fn list_collections(&self, request: &ListCollectionsRequest) -> Result<CollectionPage, Error> {
        let ListCollectionsRequest { name, watched: only, sort, direction, after, limit } = request;
        let watched = watched(self);
        if *only && watched.is_empty() {
            return Ok(CollectionPage { collections: Vec::new(), total: 0, next: None });
        }
        let order = ("collections", name, sort, direction);
        let behind = after.as_ref().map(|after| entry_before(&order, after)).transpose()?;
        let place = match (&behind, after) {
            (Some(key), Some(after)) => {
                let unknown = || Error::Cursor { cursor: after.as_str().to_owned() };
                Some(place(key).ok_or_else(unknown)?)
            }
            _ => None,
        };
        let (sort, direction) = (*sort, *direction);
        let limit = (!only).then(|| (*limit).clamp(1, MAX_PAGE));
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
        let listed = page.collections.iter().filter_map(|found| ListedCollection::of(found, &watched));
        let collections: Vec<_> = listed.filter(|listed| !only || !listed.watched.is_empty()).collect();
        let total = if *only { collections.len() } else { page.total };
        Ok(CollectionPage { collections, total, next })
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
