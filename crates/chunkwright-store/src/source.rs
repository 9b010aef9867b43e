//! The source of a document, part by part, so that a whole file is never in memory.

use crate::document::{DocumentInfo, StoredDocument};

/// The form in which a document's source is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceForm {
    /// The raw file.
    #[default]
    File,
    /// The decoded text.
    Text,
}

/// A request for a part of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRange<'a> {
    /// The document, in the version to be read.
    pub document: &'a DocumentInfo,
    /// The raw file or the decoded text.
    pub form: SourceForm,
    /// The first byte.
    pub offset: u64,
    /// Most bytes; fewer are returned only at the end of the source.
    pub limit: usize,
}

/// A part of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePart {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Length of the whole source, in bytes.
    pub length: u64,
    /// Outline of the document.
    pub doc_toc: String,
}

impl SourceRange<'_> {
    /// The part of a document that is in memory.
    pub(super) fn of(&self, document: &StoredDocument) -> SourcePart {
        let bytes = match self.form {
            SourceForm::File => document.bytes(),
            SourceForm::Text => document.source.as_bytes(),
        };
        let from = usize::try_from(self.offset).unwrap_or(usize::MAX).min(bytes.len());
        let to = from.saturating_add(self.limit).min(bytes.len());
        SourcePart {
            bytes: bytes[from..to].to_vec(),
            length: bytes.len() as u64,
            doc_toc: document.doc_toc.clone(),
        }
    }
}
