//! Finds the definitions of a symbol.

use std::collections::BTreeSet;

use chunkwright_index::{Filter, ListRequest, parse_query};

use crate::error::Error;
use crate::noun::snapshot::Snapshot;

/// Maximum number of chunks that are read to find the documents of a symbol.
const CHUNKS: usize = 200;

/// Maximum number of documents that are read for its definitions.
const DOCUMENTS: usize = 20;

impl Snapshot {
    /// What fetches the definitions of a symbol, which may be qualified: `Report.render` or `Report::render`. At most
    /// `most`; those that the fewest symbols are around first.
    ///
    /// # Errors
    ///
    /// A name that cannot be searched for, a store that fails.
    pub fn definitions(&self, symbol: &str, most: usize) -> Result<Vec<String>, Error> {
        let filter = parse_query(&format!("symbol:\"{}\"", symbol.trim()), Filter::default())?.filter;
        let page = self.chunks(&ListRequest { filter, limit: CHUNKS, ..ListRequest::default() })?;
        let symbol = symbol.trim().replace("::", ".");
        let documents: BTreeSet<&str> =
            page.chunks.iter().map(|chunk| chunk.record.doc_id.as_str()).collect();
        let mut found = Vec::new();
        for doc_id in documents.into_iter().take(DOCUMENTS) {
            for row in self.outline(doc_id)?.sections {
                let titles: Vec<String> =
                    row.section_path.iter().map(|title| title.replace("::", ".")).collect();
                let path = titles.join(".");
                let is_it = path == symbol || path.ends_with(&format!(".{symbol}"));
                if is_it && !row.signature.is_empty() {
                    found.push((titles.len(), format!("{doc_id}#L{}-L{}", row.start_line, row.end_line)));
                }
            }
        }
        if found.is_empty() {
            // A name that the outline writes otherwise: the chunks that hold it.
            let chunk = |chunk: &chunkwright_index::ListedChunk| (0, chunk.record.chunk_id.to_string());
            found.extend(page.chunks.iter().map(chunk));
        }
        found.sort_by_key(|(depth, _)| *depth);
        Ok(found.into_iter().take(most).map(|(_, reference)| reference).collect())
    }
}
