//! The source of a document, read in the parts that the server keeps.

use super::RemoteStore;
use super::plan::PIECE;
use super::read::damaged;
use crate::database::unhex;
use chunkwright_store::{Generation, SourceForm, SourcePart, SourceRange, StoreError};

impl RemoteStore {
    /// A range of a source, in memory proportional to the range and one stored part. Parts of a file have equal
    /// lengths, so those before the range are not read; parts of a text end at character boundaries, so they are.
    pub(super) fn read_source(
        &self,
        generation: &Generation,
        range: SourceRange<'_>,
    ) -> Result<Option<SourcePart>, StoreError> {
        let SourceRange { document, form, offset, limit } = range;
        self.generation_entry(generation)?;
        let entry = self.document_entries(generation, &[&document.doc_id])?.pop().flatten();
        let Some(entry) = entry.filter(|entry| entry.info.version == document.version) else {
            return Ok(None);
        };
        let is_file = entry.raw_parts.is_some() && form == SourceForm::File;
        let keys = if is_file { entry.raw_keys(generation) } else { entry.source_keys(generation) };
        // If the text is the file, its length is known; otherwise it is the sum of all parts.
        let known = (is_file || entry.raw_parts.is_none()).then_some(document.bytes);
        let end = offset.saturating_add(limit as u64);
        let mut part = SourcePart { doc_toc: entry.doc_toc.clone(), ..SourcePart::default() };
        let first = if is_file { usize::try_from(offset).unwrap_or(usize::MAX) / (PIECE / 2) } else { 0 };
        let mut at = (first as u64).saturating_mul(PIECE as u64 / 2);
        for key in keys.iter().skip(first) {
            if known.is_some() && at >= end {
                break;
            }
            let Some(piece) = self.database.get(std::slice::from_ref(key))?.pop().flatten() else {
                // The document was replaced meanwhile; otherwise it is damaged.
                return if self.is_replaced(generation, &document.doc_id, document.version)? {
                    Ok(None)
                } else {
                    Err(damaged(format!("document `{}` has no source", document.doc_id)))
                };
            };
            let piece = if is_file { unhex(&piece) } else { Some(piece.into_bytes()) };
            let piece = piece.ok_or_else(|| damaged("the bytes of a file cannot be read".into()))?;
            let within =
                |place: u64| usize::try_from(place.saturating_sub(at)).unwrap_or(usize::MAX).min(piece.len());
            part.bytes.extend_from_slice(&piece[within(offset)..within(end)]);
            at += piece.len() as u64;
        }
        part.length = known.unwrap_or(at);
        Ok(Some(part))
    }
}
