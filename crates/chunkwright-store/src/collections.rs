//! Pages of collections: the request, the order and the total.
//!
//! A page in the order of names costs what it holds plus the names that are filtered out on the way, however many
//! collections there are. The order of counts reads the count of every collection.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::generation::Collection;
use crate::list::Direction;
use crate::name::normalized_name;

/// A request for a page of collections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionsBehind<'a> {
    /// Only collections whose name contains each of these words, whatever the case; empty for all.
    pub name: &'a str,
    /// The sort key.
    pub sort: CollectionSort,
    /// The direction of the order.
    pub direction: Direction,
    /// The last collection of the page before; `None` for the first page. It may have been removed since.
    pub after: Option<CollectionPlace<'a>>,
    /// Most collections of the page; `None` for no limit.
    pub limit: Option<usize>,
}

/// What collections are ordered by. Equal ones are in the order of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectionSort {
    /// The name, by its bytes.
    #[default]
    Name,
    /// Number of documents of the generation that searches see.
    Documents,
    /// Number of chunks of the generation that searches see.
    Chunks,
}

/// The place of a collection in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionPlace<'a> {
    /// The number that is sorted by; 0 in the order of names.
    pub count: usize,
    /// The name.
    pub name: &'a str,
}

/// Some collections of a list, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedCollections {
    /// The collections.
    pub collections: Vec<Collection>,
    /// Number of all collections of the list, those on other pages included.
    pub total: usize,
    /// Whether there are collections after the last one of the page.
    pub is_more: bool,
}

impl CollectionSort {
    /// The number that this order sorts a collection by.
    pub fn count(self, collection: &Collection) -> usize {
        let visible = collection.visible();
        match self {
            Self::Name => 0,
            Self::Documents => visible.map_or(0, |status| status.documents),
            Self::Chunks => visible.map_or(0, |status| status.chunks),
        }
    }
}

impl CollectionsBehind<'_> {
    /// Whether the list has every name.
    pub(super) fn has_all(&self) -> bool {
        self.name.trim().is_empty()
    }

    /// Returns whether a collection is on the list, by its name.
    pub fn names(&self) -> impl Fn(&str) -> bool + use<> {
        let words = normalized_name(self.name).to_lowercase();
        move |name| {
            let name = name.to_lowercase();
            words.split_whitespace().all(|word| name.contains(word))
        }
    }

    /// Number of collections of a full page.
    fn page_size(&self) -> usize {
        self.limit.map_or(usize::MAX, |limit| limit.max(1))
    }

    /// Takes names in the order of the list, beginning after `after`; returns those of the page and whether there are
    /// more.
    pub(super) fn take<E>(
        &self,
        names: impl Iterator<Item = Result<String, E>>,
    ) -> Result<(Vec<String>, bool), E> {
        let (fits, mut page) = (self.names(), Vec::new());
        for name in names {
            let name = name?;
            if !fits(&name) {
                continue;
            }
            if page.len() == self.page_size() {
                return Ok((page, true));
            }
            page.push(name);
        }
        Ok((page, false))
    }

    /// Cuts the page from all entries of the list; returns the number of all entries, the names on the page in order,
    /// and whether there are more.
    pub fn page(&self, mut all: Vec<(usize, String)>) -> (usize, Vec<String>, bool) {
        let total = all.len();
        if let Some(after) = self.after {
            all.retain(|(count, name)| self.compare((*count, name), (after.count, after.name)).is_gt());
        }
        all.sort_unstable_by(|a, b| self.compare((a.0, &a.1), (b.0, &b.1)));
        let is_more = all.len() > self.page_size();
        all.truncate(self.page_size());
        (total, all.into_iter().map(|(_, name)| name).collect(), is_more)
    }

    /// Compares two entries. Equal counts are in the order of names in either direction.
    fn compare(&self, a: (usize, &str), b: (usize, &str)) -> Ordering {
        let by_key = if self.sort == CollectionSort::Name { a.1.cmp(b.1) } else { a.0.cmp(&b.0) };
        let by_key = if self.direction == Direction::Descending { by_key.reverse() } else { by_key };
        by_key.then(a.1.cmp(b.1))
    }
}
