//! The rows of a document, and the document that they describe.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chunkwright::{Record, TokenCounter as _, Words};

use super::{ImportError, MovedDocument, Row, RowAt, RowFile, rebuilt};
use chunkwright_store::overlay::write_applied;
use chunkwright_store::{Applied, OriginalText, OverlayState, Overlays, StoredDocument};

/// The rows of one document, in order.
pub(super) type Rows = Vec<(RowAt, Row)>;

/// Calls `each` with the rows of every document of a file.
pub(super) fn each_document(
    file: &dyn RowFile,
    each: &mut dyn FnMut(Rows) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut document: Rows = Vec::new();
    for row in file.rows()? {
        let (at, row) = row?;
        if document.first().is_some_and(|(_, first)| first.record.doc_id != row.record.doc_id) {
            each(std::mem::take(&mut document))?;
        }
        if row.record.chunk_index as usize != document.len() {
            return Err(ImportError::Order { at, doc_id: row.record.doc_id });
        }
        document.push((at, row));
    }
    if document.is_empty() { Ok(()) } else { each(document) }
}

/// A document that was read, and its records as they were originally rendered.
pub(super) struct Read {
    pub(super) document: StoredDocument,
    pub(super) records: Vec<Record>,
    pub(super) is_rebuilt: bool,
}

/// Reads the document of `rows`, and takes `document` out of them.
pub(super) fn read(rows: &mut Rows) -> Result<Read, ImportError> {
    let moved = rows.first_mut().and_then(|(at, row)| Some((*at, row.document.take()?)));
    let records: Vec<Record> = rows.iter().map(|(_, row)| row.record.clone()).collect();
    let is_rebuilt = moved.is_none();
    let document = if let Some((at, moved)) = moved {
        whole(at, moved)?
    } else {
        let overlays: Overlays = rows.iter().flat_map(|(_, row)| row.overlays.clone()).collect();
        let mut document = rebuilt(&records);
        document.info.overlays = write_applied(&replaced(&records, &overlays), &[]);
        document
    };
    Ok(Read { document, records, is_rebuilt })
}

fn whole(at: RowAt, moved: MovedDocument) -> Result<StoredDocument, ImportError> {
    let MovedDocument { info, source, raw_base64, doc_toc, summary, .. } = moved;
    let decode = |raw: String| {
        let doc_id = info.doc_id.clone();
        BASE64.decode(raw).map_err(|error| ImportError::Base64 { at, doc_id, error })
    };
    let raw = raw_base64.map(decode).transpose()?;
    Ok(StoredDocument { info, source: source.into(), raw, doc_toc, summary })
}

/// Finds the texts given by hand among records without their document.
fn replaced(records: &[Record], overlays: &Overlays) -> Vec<Applied> {
    let on = |record: &Record| {
        let overlay = overlays.get(&record.chunk_id.to_string())?;
        let text = overlay.original.clone().filter(|_| overlay.text.as_ref() == Some(&record.text))?;
        let original = OriginalText {
            char_count: text.chars().count() as u32,
            word_count: Words.count(&text) as u32,
            text,
            ..OriginalText::from(record)
        };
        Some(Applied {
            chunk_id: record.chunk_id.to_string(),
            overlay: overlay.chunk_id.clone(),
            state: OverlayState::On,
            effect: overlay.effect(OverlayState::On),
            original: Some(original),
        })
    };
    records.iter().filter_map(on).collect()
}
