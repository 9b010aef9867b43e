//! Pages of documents: the entries of a page are read from the catalog; the order of ids is cached until the next
//! write.

use std::convert::Infallible;

use super::read::{ATTEMPTS, Live, damaged};
use super::{FOREIGN, RemoteStore};
use chunkwright_store::documents::{DocumentsBehind, ListedDocuments};
use chunkwright_store::{Generation, StoreError};

impl RemoteStore {
    pub(super) fn read_documents_behind(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError> {
        // Another program's collection has no catalog: its documents are those that its points name.
        if generation.number == FOREIGN {
            let all = self.read_documents(generation)?;
            let all = all.into_iter().map(|info| (info.doc_id.clone(), info)).collect();
            let found = request.range(&all).map(|(doc_id, info)| Ok((doc_id.clone(), info.clone())));
            let Ok::<_, Infallible>((page, is_more)) = request.take(found);
            let documents = page.into_iter().map(|(_, info)| info).collect();
            return Ok(ListedDocuments { documents, total: request.count(&all), is_more });
        }
        for _ in 0..ATTEMPTS {
            let entry = self.generation_entry(generation)?;
            let live = self.live_of(generation, &entry)?;
            let Live::Versions(all) = &*live else { break };
            let count = || Ok::<_, Infallible>(request.count(all));
            // While a write is in progress, the change number may not cover all of it.
            let total = if entry.unfinished {
                request.count(all)
            } else {
                let Ok(total) = self.totals.get(generation, entry.change, request.source, count);
                total
            };
            let ids = request.range(all).map(|(doc_id, _)| Ok((doc_id.clone(), ())));
            let Ok::<_, Infallible>((page, is_more)) = request.take(ids);
            let doc_ids: Vec<&str> = page.iter().map(|(doc_id, ())| doc_id.as_str()).collect();
            let mut entries = self.entries_at_once(generation, &doc_ids)?;
            let infos = doc_ids.iter().map(|doc_id| entries.remove(*doc_id).map(|entry| entry.info));
            if let Some(documents) = infos.collect() {
                return Ok(ListedDocuments { documents, total, is_more });
            }
            // Some documents were removed meanwhile.
            self.live.lock().remove(generation);
        }
        Err(damaged(format!("documents of `{generation}` are removed faster than they can be read")))
    }
}
