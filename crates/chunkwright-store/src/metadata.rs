//! Chunk metadata: the file and place of a chunk, for readers that do not know records.

use std::borrow::Cow;

use chunkwright::Record;
use serde::Serialize;

use crate::document::DocumentInfo;

/// Most bytes of the outline: each chunk of the document repeats it. The document has all of it.
const MAX_TOC: usize = 4 << 10;

/// The metadata of a chunk, as payloads on servers and hits have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metadata {
    /// Path of the file; of a document from memory its id.
    pub file_path: String,
    /// The document's id.
    pub relative_path: String,
    /// The last part of that.
    pub file_name: String,
    /// The parts before it.
    pub path_hierarchy: Vec<String>,
    /// `api`, `doc`, `demo`, `code` or a user rule's value.
    pub category: String,
    /// Position of the chunk in the document, from 0.
    pub chunk_index: u32,
    /// Number of chunks in the document.
    pub total_chunks: u32,
    /// What the preset calls the chunk.
    pub chunk_type: String,
    /// Titles of the sections around the chunk, from the outermost.
    pub section_path: Vec<String>,
    /// Outline of the document, a title a line: as many whole lines as 4 KiB hold, then `...`.
    pub doc_toc: String,
}

impl Metadata {
    /// The metadata of a chunk of a document with this outline. `info` is what is known of the document.
    pub fn new(record: &Record, info: Option<&DocumentInfo>, doc_toc: &str) -> Self {
        let mut folders: Vec<String> = record.doc_id.split('/').map(str::to_owned).collect();
        let file_name = folders.pop().unwrap_or_default();
        let (root, prefix) =
            info.map_or(("", ""), |info| (info.root.trim_end_matches('/'), info.prefix.as_str()));
        let path = record.doc_id.strip_prefix(prefix).unwrap_or(&record.doc_id);
        let file_path = match (root, path.trim_start_matches('/')) {
            ("", _) => record.doc_id.clone(),
            (root, "") => root.to_owned(),
            (root, path) => format!("{root}/{path}"),
        };
        Self {
            file_path,
            relative_path: record.doc_id.clone(),
            file_name,
            path_hierarchy: folders,
            category: record.category.clone(),
            chunk_index: record.chunk_index,
            total_chunks: record.total_chunks,
            chunk_type: record.chunk_type.clone(),
            section_path: record.section_path.clone(),
            doc_toc: beginning(doc_toc, MAX_TOC).into_owned(),
        }
    }
}

/// As many whole lines of `text` as `most` bytes hold, and `...` where some are left out.
fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let end = text.as_bytes()[..most].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    format!("{}...", &text[..end]).into()
}
