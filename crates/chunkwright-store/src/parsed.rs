//! Parses a stored document again, as its file was.

use std::sync::Arc;

use std::path::Path;

use chunkwright::Document;
use chunkwright::parse::Markdown;
use chunkwright_source::Format;
use chunkwright_source::format::parse;

use crate::contract::Store;
use crate::document::{DocumentInfo, StoredDocument};
use crate::error::StoreError;
use crate::generation::Generation;

/// Parses the document `doc_id` of a generation again, as its file was; `None` if there is none.
///
/// # Errors
///
/// A removed generation, a failing store.
pub fn parsed(
    store: &dyn Store,
    generation: &Generation,
    doc_id: &str,
) -> Result<Option<Document>, StoreError> {
    Ok(store.document(generation, doc_id)?.map(|stored| parse_again(&stored)))
}

/// Parses a stored document again, as its file was.
pub fn parse_again(stored: &StoredDocument) -> Document {
    let parser = match format_of(&stored.info, stored.bytes()) {
        Format::Text(parser) => parser,
        Format::Binary(_) => &Markdown,
    };
    parse(&stored.info.doc_id, Arc::clone(&stored.source), parser)
}

/// The format of a stored document. The id of a document outside folders need not imply it.
pub fn format_of(info: &DocumentInfo, bytes: &[u8]) -> Format {
    let named = if info.root.is_empty() { Format::named(&info.format) } else { None };
    named.unwrap_or_else(|| Format::of(Path::new(&info.doc_id), bytes))
}
