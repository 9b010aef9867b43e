//! Lists documents and chunks, and describes one.

use chunkwright_index::{
    ChunkPage, DocumentInfo, DocumentsBehind, FetchError, ListRequest, ListedChunk, Metadata, Statistics,
    StatisticsRequest, chunk_id, overlay_on,
};

use crate::error::Error;
use crate::noun::snapshot::Snapshot;
use crate::paging::{cursor, entry_before};
use crate::places::name_of;
use crate::request::list::{ChunkDetail, DocumentPage, ListDocumentsRequest, Neighbours};

impl Snapshot {
    /// A page of the chunks that pass a filter, in an order.
    ///
    /// # Errors
    ///
    /// A cursor of another list, a generation that is gone, a store that fails.
    pub fn chunks(&self, request: &ListRequest) -> Result<ChunkPage, Error> {
        self.engine().stoppable(|| Ok(self.store().list(self.generation(), request)?))
    }

    /// Statistics of the chunks that pass a filter.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn statistics(&self, request: &StatisticsRequest) -> Result<Statistics, Error> {
        self.engine().stoppable(|| Ok(self.store().statistics(self.generation(), request)?))
    }

    /// Information about one document.
    ///
    /// # Errors
    ///
    /// A document that the generation does not have, a store that fails.
    pub fn document(&self, doc_id: &str) -> Result<DocumentInfo, Error> {
        let found = self.store().document_info(self.generation(), doc_id)?;
        let collection = || self.generation().collection.clone();
        found.ok_or_else(|| Error::UnknownDocument { doc_id: doc_id.into(), collection: collection() })
    }

    /// A page of the documents whose id matches a pattern.
    ///
    /// # Errors
    ///
    /// A cursor of another list, a generation that is gone, a store that fails.
    pub fn list_documents(&self, request: &ListDocumentsRequest) -> Result<DocumentPage, Error> {
        let list = (&self.generation().collection, &request.source);
        let after = request.after.as_ref().map(|cursor| entry_before(&list, cursor)).transpose()?;
        let (source, skip, limit) = (request.source.as_ref(), request.skip, request.limit);
        let behind = DocumentsBehind { source, after: after.as_deref(), skip, limit };
        let page = self.store().list_documents(self.generation(), &behind)?;
        let next = page.documents.last().filter(|_| page.is_more);
        let next = next.map(|info| cursor(&list, &info.doc_id)).transpose()?;
        Ok(DocumentPage { documents: page.documents, total: page.total, next })
    }

    /// Information about a document, as far as the caller may see it.
    pub fn shown(&self, info: DocumentInfo) -> DocumentInfo {
        if !self.engine().hides_places() {
            return info;
        }
        let root = name_of(&info.root).to_owned();
        DocumentInfo { root, ..info }
    }

    /// The documents whose ids follow `after`, by id: at most `limit`, and at most 1,000.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn documents_behind(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>, Error> {
        let behind = DocumentsBehind { after, limit, ..DocumentsBehind::default() };
        Ok(self.store().list_documents(self.generation(), &behind)?.documents)
    }

    /// A chunk by its id, or as `DOC_ID#INDEX` (also `DOC_ID_chunkINDEX`).
    ///
    /// # Errors
    ///
    /// A reference that the generation does not have, a store that fails.
    pub fn chunk(&self, reference: &str) -> Result<ChunkDetail, Error> {
        let (store, generation) = (self.store(), self.generation());
        let id = chunk_id(store, generation, reference)?;
        let stored = store.chunks(generation, &[id])?.pop().flatten().ok_or_else(|| FetchError::Unknown {
            collection: generation.collection.clone(),
            reference: reference.to_owned(),
        })?;
        let overlay = overlay_on(store, generation, &stored.record)?;
        Ok(ChunkDetail {
            collection: generation.collection.clone(),
            generation: generation.number,
            metadata: Metadata::new(&stored.record, None, &stored.doc_toc),
            chunk: ListedChunk::from(&*stored),
            overlay,
        })
    }

    /// A chunk and at most `window` chunks on each side of it.
    ///
    /// # Errors
    ///
    /// As [`chunk`](Self::chunk).
    pub fn neighbours(&self, reference: &str, window: usize) -> Result<Neighbours, Error> {
        let chunk = self.chunk(reference)?.chunk.record;
        let mut records = self.store().records(self.generation(), &chunk.doc_id)?;
        records.retain(|record| record.artifact.is_none());
        let at = records.iter().position(|record| record.chunk_id == chunk.chunk_id);
        let (before, after) = match at {
            None => (Vec::new(), Vec::new()),
            Some(at) => {
                let after = records.split_off(at + 1);
                records.truncate(at);
                let first = records.len().saturating_sub(window);
                (records.split_off(first), after.into_iter().take(window).collect())
            }
        };
        Ok(Neighbours { before, chunk, after })
    }
}
