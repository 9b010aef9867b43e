//! How is a document that is stored parsed again?

use std::path::Path;

use chunkwright::Document;
use chunkwright::parse::Markdown;
use chunkwright_source::Format;
use chunkwright_source::format::parse;

use crate::store::{DocumentInfo, StoredDocument};

/// A document that is stored, parsed again as its file was.
pub(crate) fn parsed(stored: &StoredDocument) -> Document {
    let parser = match format_of(&stored.info, stored.bytes()) {
        Format::Text(parser) => parser,
        Format::Binary(_) => &Markdown,
    };
    parse(&stored.info.doc_id, stored.source.as_str(), parser)
}

/// The format of a document that is stored. The id of one that is of no folder need not say it.
pub(crate) fn format_of(info: &DocumentInfo, bytes: &[u8]) -> Format {
    let named = if info.root.is_empty() { Format::named(&info.format) } else { None };
    named.unwrap_or_else(|| Format::of(Path::new(&info.doc_id), bytes))
}
