//! The log of what agents ask for.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use chunkwright_engine::{ChunkId, Door, Found, QueryCall};
use tokio::time::Instant;

use crate::mcp::McpServer;
use crate::mcp::scope;
use crate::mcp::uri::Uri;
use crate::traces;

impl McpServer {
    /// Logs the use of a tool, if logging is on. A call does not fail if the log cannot be written.
    pub(super) fn log(
        &self,
        kind: &str,
        query: &str,
        collection: Option<&str>,
        started: Instant,
        found: Option<&Found>,
    ) {
        let Some(log) = &self.options().log else { return };
        traces::query(query);
        let hits = match found {
            Some(Found::Hits { hits }) => Some(hits),
            _ => None,
        };
        let kept = log.add(QueryCall {
            door: Door::Mcp,
            kind: kind.to_owned(),
            query: query.to_owned(),
            collections: collection.map(str::to_owned).into_iter().collect(),
            hits: hits.map(Vec::len),
            relevance: hits.and_then(|hits| hits.first()?.found.relevance),
            took_ms: started.elapsed().as_secs_f64() * 1e3,
            chunks: found.map_or_else(|| self.named_chunk(query, collection), Found::chunks),
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "a query was not logged");
        }
    }

    /// The chunk that a reference names by its id; none for documents and lines.
    fn named_chunk(&self, reference: &str, collection: Option<&str>) -> BTreeMap<String, Vec<ChunkId>> {
        let uri = Uri::from_str(reference).ok();
        let id = ChunkId::from_str(uri.as_ref().map_or(reference, |uri| &uri.reference)).ok();
        let collection = uri.map(|uri| uri.collection).or_else(|| collection.map(str::to_owned));
        let collection = collection.or_else(|| scope::collection(self.engine(), None).ok());
        id.zip(collection).map(|(id, collection)| (collection, vec![id])).into_iter().collect()
    }
}
