//! Lists of collections, and their renaming.

use std::convert::Infallible;
use std::ops::Bound;

use super::generation::MemoryGeneration;
use super::{MemoryCollection, State};
use crate::collections::{CollectionSort, CollectionsBehind, ListedCollections};
use crate::error::StoreError;
use crate::list::Direction;

impl MemoryCollection {
    /// The number that an order of collections sorts by.
    fn count(&self, sort: CollectionSort) -> usize {
        match sort {
            CollectionSort::Name => 0,
            CollectionSort::Documents => self.visible().map_or(0, |held| held.documents.len()),
            CollectionSort::Chunks => self.visible().map_or(0, MemoryGeneration::chunk_count),
        }
    }
}

impl State {
    pub(super) fn list(&self, request: &CollectionsBehind<'_>) -> ListedCollections {
        let fits = request.names();
        let listed = || self.collections.iter().filter(|(name, _)| fits(name));
        let (total, names, is_more) = if request.sort == CollectionSort::Name {
            let total = if request.has_all() { self.collections.len() } else { listed().count() };
            let edge = request.after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.name));
            let name = |(name, _): (&String, _)| Ok::<_, Infallible>(name.clone());
            let behind = |range: (Bound<&str>, Bound<&str>)| self.collections.range::<str, _>(range);
            let Ok((names, is_more)) = match request.direction {
                Direction::Ascending => request.take(behind((edge, Bound::Unbounded)).map(name)),
                Direction::Descending => request.take(behind((Bound::Unbounded, edge)).rev().map(name)),
            };
            (total, names, is_more)
        } else {
            request.page(listed().map(|(name, kept)| (kept.count(request.sort), name.clone())).collect())
        };
        let collections = names.iter().filter_map(|name| self.collection(name)).collect();
        ListedCollections { collections, total, is_more }
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<(), StoreError> {
        self.kept(from)?;
        if self.collections.contains_key(to) {
            return Err(StoreError::NameTaken { name: to.into() });
        }
        if let Some(mut kept) = self.collections.remove(from) {
            kept.generations.values_mut().for_each(|held| held.generation.collection = to.into());
            self.collections.insert(to.into(), kept);
        }
        Ok(())
    }
}
