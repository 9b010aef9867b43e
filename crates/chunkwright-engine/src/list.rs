//! Which chunks are there, and what are they?

use chunkwright_index::{ChunkPage, DocumentInfo, ListRequest, Statistics, StatisticsRequest};

use crate::error::Error;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// A page of the chunks that pass a filter, in an order.
    ///
    /// # Errors
    ///
    /// A cursor of another list, a generation that is gone, a store that fails.
    pub fn chunks(&self, request: &ListRequest) -> Result<ChunkPage, Error> {
        self.engine().on_threads(|| Ok(self.store().list(self.generation(), request)?))
    }

    /// Statistics of the chunks that pass a filter.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn statistics(&self, request: &StatisticsRequest) -> Result<Statistics, Error> {
        self.engine().on_threads(|| Ok(self.store().statistics(self.generation(), request)?))
    }

    /// What is known about one document.
    ///
    /// # Errors
    ///
    /// A document that the generation does not have, a store that fails.
    pub fn document(&self, doc_id: &str) -> Result<DocumentInfo, Error> {
        let found = self.store().document_info(self.generation(), doc_id)?;
        let collection = || self.generation().collection.clone();
        found.ok_or_else(|| Error::UnknownDocument { doc_id: doc_id.into(), collection: collection() })
    }
}
