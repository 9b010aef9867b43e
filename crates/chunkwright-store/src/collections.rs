//! Pages of collections: which are asked for, in which order, and how many there are.
//!
//! A page in the order of names costs what it holds and the names that are passed over on the way, however many collections
//! there are. The order of counts costs one look at the count of every collection.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::generation::Collection;
use crate::list::Direction;
use crate::name::normalized_name;

/// Which collections are on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionsBehind<'a> {
    /// Only collections whose name contains each of these words, whatever the case; empty for all.
    pub name: &'a str,
    /// What they are ordered by.
    pub sort: CollectionSort,
    /// From which end.
    pub direction: Direction,
    /// The last collection of the page before; none for the first page. It need not exist any more.
    pub after: Option<CollectionPlace<'a>>,
    /// Most collections of the page; none for no limit.
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
    /// What the order counts; 0 in the order of names.
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
    /// Whether there are collections behind the last one of the page.
    pub is_more: bool,
}

impl CollectionSort {
    /// What the order counts of a collection.
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

    /// Of names in the order of the list, beginning behind `after`: those of the page, and whether there are more.
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

    /// The entries of the page, of all entries of the list: their number, the names on the page in order, and whether there
    /// are more.
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

    /// How two entries are ordered. Equal counts are in the order of names from either end.
    fn compare(&self, a: (usize, &str), b: (usize, &str)) -> Ordering {
        let by_key = if self.sort == CollectionSort::Name { a.1.cmp(b.1) } else { a.0.cmp(&b.0) };
        let by_key = if self.direction == Direction::Descending { by_key.reverse() } else { by_key };
        by_key.then(a.1.cmp(b.1))
    }
}
