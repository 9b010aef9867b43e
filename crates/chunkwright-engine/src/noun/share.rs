//! Takes the documents of a shard out of all.

use chunkwright_source::Item;

use crate::request::shard::Shard;

/// The documents of a shard among all that were found.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) shard: Shard,
    /// Hash of the ids of all documents, in order.
    pub(crate) listing: String,
    /// Number of all documents.
    pub(crate) found: u32,
    /// Places of its own documents among them, from 0.
    pub(crate) places: Vec<u32>,
}

impl Share {
    /// Leaves in `items` the documents of a shard.
    pub(crate) fn take(shard: Shard, items: &mut Vec<Item>) -> Self {
        let mut listing = blake3::Hasher::new();
        let (mut found, mut places) = (0, Vec::new());
        items.retain(|item| {
            let (id, holds) = (item.doc_id(), shard.holds(item.doc_id()));
            listing.update(&(id.len() as u64).to_le_bytes()).update(id.as_bytes());
            places.extend(holds.then_some(found));
            found += 1;
            holds
        });
        Self { shard, listing: listing.finalize().to_hex().to_string(), found, places }
    }
}
