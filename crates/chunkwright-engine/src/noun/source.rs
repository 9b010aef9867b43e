//! Reads the source of a document part by part, however large it is.
//!
//! All parts are of one version of the document, so that an answer takes only the memory of a part. Storage engines do
//! not notice a flipped bit inside a text. Therefore a source that is read from the beginning is hashed on the way, and
//! its last part is returned only if the hash is that of the file.

use std::fmt;
use std::sync::Arc;

use chunkwright_index::{
    DocumentInfo, FetchError, Generation, SourceForm, SourcePart, SourceRange, Store, StoreError,
};

use crate::error::Error;
use crate::noun::snapshot::Snapshot;
use crate::request::fetch::media_type_of;

/// Maximum number of bytes in a part.
pub const SOURCE_PART: usize = 1 << 20;

/// The source of one version of a document.
#[derive(Clone)]
pub struct Source {
    store: Arc<dyn Store>,
    generation: Generation,
    document: DocumentInfo,
    form: SourceForm,
}

impl Source {
    /// The document.
    pub fn document(&self) -> &DocumentInfo {
        &self.document
    }

    /// The media type of the source in this form.
    pub fn media_type(&self) -> String {
        match self.form {
            SourceForm::File => media_type_of(&self.document),
            SourceForm::Text => "text/plain; charset=utf-8".to_owned(),
        }
    }

    /// A tag that identifies the content: the hash of the file, or for texts the version of the document and that hash.
    pub fn tag(&self) -> String {
        let DocumentInfo { file_hash, version, .. } = &self.document;
        let hash = file_hash.get(..32).unwrap_or(file_hash);
        match self.form {
            SourceForm::File => hash.to_owned(),
            SourceForm::Text => format!("{version}-{hash}"),
        }
    }

    /// Reads at most `limit` bytes at `offset`, and at most [`SOURCE_PART`].
    ///
    /// # Errors
    ///
    /// A document that was replaced meanwhile, a store that fails.
    pub fn read(&self, offset: u64, limit: usize) -> Result<SourcePart, Error> {
        let limit = limit.min(SOURCE_PART);
        let range = SourceRange { document: &self.document, form: self.form, offset, limit };
        let replaced = || FetchError::Replaced { doc_id: self.document.doc_id.clone() };
        Ok(self.store.source(&self.generation, range)?.ok_or_else(replaced)?)
    }

    /// The whole source, part by part.
    pub fn parts(self) -> SourceParts {
        SourceParts { source: self, hasher: blake3::Hasher::new(), offset: 0, length: None }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("document", &self.document).finish_non_exhaustive()
    }
}

/// The parts of a source, from its beginning.
#[derive(Debug)]
pub struct SourceParts {
    source: Source,
    hasher: blake3::Hasher,
    offset: u64,
    length: Option<u64>,
}

impl SourceParts {
    /// Length of the whole source in bytes; known after the first part was read.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// The next part; `None` after the last. An empty source has no parts.
    ///
    /// # Errors
    ///
    /// A document that was replaced meanwhile, bytes that are not those of the file, a store that fails.
    pub fn next_part(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.length.is_some_and(|length| self.offset >= length) {
            return Ok(None);
        }
        let SourcePart { bytes, length, .. } = self.source.read(self.offset, SOURCE_PART)?;
        self.length = Some(length);
        self.offset += bytes.len() as u64;
        self.hasher.update(&bytes);
        let Source { document, form, .. } = &self.source;
        // Decoded or converted text has no hash to compare with.
        let is_file = *form == SourceForm::File;
        if bytes.is_empty() && self.offset < length
            || is_file
                && self.offset >= length
                && self.hasher.finalize().to_hex().as_str() != document.file_hash
        {
            let problem =
                format!("the stored text of `{}` is not that of the file it was made of", document.doc_id);
            return Err(StoreError::Damaged { problem }.into());
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

impl Snapshot {
    /// The current source of a document, to be read part by part.
    ///
    /// # Errors
    ///
    /// A document that the generation does not have, a store that fails.
    pub fn source(&self, doc_id: &str, form: SourceForm) -> Result<Source, Error> {
        let document = self.document(doc_id)?;
        let (store, generation) = (self.shared_store(), self.generation().clone());
        Ok(Source { store, generation, document, form })
    }
}
