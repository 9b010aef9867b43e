//! Rebuilds a document from its chunks, where only these are available.

use chunkwright::Record;
use chunkwright_source::format::file_hash;

use chunkwright_store::{DocumentInfo, StoredDocument};

/// A document as its records describe it: the gaps between chunks are filled with blanks and line breaks, so that
/// lines, characters and bytes are as the records count them. Wrong records are found when they are verified against
/// it.
pub(super) fn rebuilt(records: &[Record]) -> StoredDocument {
    let mut source = String::new();
    let (mut chars, mut line) = (0_u32, 1_u32);
    for record in records {
        let bytes = (record.start_byte as usize).saturating_sub(source.len());
        // Guards against impossible records: a gap is at most `MAX_GAP` bytes.
        let bytes = bytes.min(MAX_GAP);
        let count = (record.start_char.saturating_sub(chars) as usize).min(bytes);
        let breaks = (record.start_line.saturating_sub(line) as usize).min(count);
        source.push_str(&"\n".repeat(breaks));
        // Blanks of one, two and three bytes give any number of bytes for a number of characters.
        let (mut extra, left) = (bytes - count, count - breaks);
        for _ in 0..left {
            let blank = match extra {
                0 => ' ',
                1 => '\u{a0}',
                _ => '\u{3000}',
            };
            extra -= blank.len_utf8() - 1;
            source.push(blank);
        }
        source.push_str(&record.content);
        chars = record.end_char;
        line = record.end_line + u32::from(record.content.ends_with(['\n', '\r']));
    }
    let first = records.first();
    let info = DocumentInfo {
        doc_id: first.map(|record| record.doc_id.clone()).unwrap_or_default(),
        file_hash: file_hash(source.as_bytes()),
        bytes: source.len() as u64,
        preset: first.map(|record| record.preset.clone()).unwrap_or_default(),
        indexed_at: first.and_then(|record| record.indexed_at.clone()).unwrap_or_default(),
        meta: first.map(|record| record.meta.clone()).unwrap_or_default(),
        ..DocumentInfo::default()
    };
    StoredDocument { info, source: source.into(), ..StoredDocument::default() }
}

/// Most bytes of blanks between two chunks (1 MiB).
const MAX_GAP: usize = 1 << 20;
