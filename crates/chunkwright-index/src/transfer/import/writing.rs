//! The second reading of an import: documents are written, and what was written is proved.

use std::collections::{HashMap, HashSet};

use chunkwright::Record;
use chunkwright_models::{TextHash, text_hash};

use super::proof::Proof;
use super::rows::{Read, Rows, each_document, read};
use super::{ImportError, Imported, RowFile};
use chunkwright_store::verify::{self, Counters};
use chunkwright_store::{
    Change, Generation, GenerationSpec, NewChunk, NewDocument, Outcome, Overlay, Overlays, Store, Vector,
};

/// Most attempts to write a document that another run writes too.
const ATTEMPTS: usize = 8;

/// Most documents that are written at once.
const GROUP: usize = 64;

/// Bytes of text at which a group of documents is written, which bounds memory (4 MiB).
const GROUP_BYTES: usize = 4 << 20;

/// Number of documents whose records are read back.
const SAMPLE: usize = 128;

/// Writes documents into a generation, from any number of threads.
pub(super) struct Writing<'a> {
    store: &'a dyn Store,
    pub(super) generation: Generation,
    counters: &'a Counters,
    /// The overlays after the import.
    overlays: Overlays,
    /// The documents that are read back.
    sample: HashSet<String>,
}

/// What was written of a file.
#[derive(Default)]
pub(super) struct Written {
    pub(super) imported: Imported,
    /// The records of the documents of the sample, as hashes.
    sample: Vec<(String, Vec<TextHash>)>,
}

impl Written {
    /// Adds what was written of another file.
    pub(super) fn and(mut self, other: Self) -> Self {
        let Imported { documents, unchanged, chunks, rebuilt, .. } = other.imported;
        self.imported.documents += documents;
        self.imported.unchanged += unchanged;
        self.imported.chunks += chunks;
        self.imported.rebuilt += rebuilt;
        self.sample.extend(other.sample);
        self
    }
}

impl<'a> Writing<'a> {
    /// Begins the generation of `spec`, and writes the manual changes that do not contradict those of the collection.
    pub(super) fn begin(
        store: &'a dyn Store,
        collection: &str,
        spec: &GenerationSpec,
        proof: &Proof,
        counters: &'a Counters,
    ) -> Result<(Self, Written), ImportError> {
        let generation = store.begin(collection, spec)?;
        let mut overlays = store.overlays(collection)?;
        let mut written = Written::default();
        for overlay in proof.overlays.all() {
            match overlays.get(&overlay.chunk_id) {
                None => {
                    store.put_overlay(collection, overlay)?;
                    overlays.put(overlay.clone());
                    written.imported.overlays += 1;
                }
                Some(here) if is_same_change(here, overlay) => {}
                Some(_) => written.imported.kept_overlays.push(overlay.chunk_id.clone()),
            }
        }
        let every = proof.documents.len().div_ceil(SAMPLE).max(1);
        let sample = proof.documents.iter().step_by(every).map(|document| document.doc_id.clone()).collect();
        Ok((Self { store, generation, counters, overlays, sample }, written))
    }

    /// Writes the documents of a file, in groups.
    pub(super) fn file(&self, file: &dyn RowFile) -> Result<Written, ImportError> {
        let mut written = Written::default();
        let (mut group, mut bytes) = (Vec::new(), 0);
        each_document(file, &mut |rows| {
            let (new, is_rebuilt) = self.document(rows)?;
            bytes += new.document.source.len();
            group.push((new, is_rebuilt));
            if group.len() == GROUP || bytes >= GROUP_BYTES {
                bytes = 0;
                self.write(std::mem::take(&mut group), &mut written)?;
            }
            Ok(())
        })?;
        self.write(group, &mut written)?;
        Ok(written)
    }

    /// The document of `rows` with the manual changes of the collection, and whether its source was put together.
    fn document(&self, mut rows: Rows) -> Result<(NewDocument, bool), ImportError> {
        let mut known: Vec<(TextHash, Vector)> = Vec::new();
        for (_, row) in &mut rows {
            if let Some(dense) = row.vector.take() {
                known.push((
                    text_hash(&row.record.text),
                    Vector { dense, sparse: row.sparse.take(), codes: row.codes.take() },
                ));
            }
        }
        if let Some(model) = &self.generation.spec.model
            && !known.is_empty()
        {
            self.store.cache().put_vectors(&model.name, &known)?;
        }
        let at = rows.first().map(|(at, _)| *at);
        let Read { mut document, mut records, is_rebuilt } = read(&mut rows)?;
        // The file may have been replaced since the first reading.
        let found = verify::records(&self.generation.spec, &document, &records, self.counters);
        if let (Some(finding), Some(at)) = (found.into_iter().next(), at) {
            let doc_id = document.info.doc_id.clone();
            return Err(ImportError::Untrue { at, doc_id, finding: finding.into(), more: 0 });
        }
        let in_force = records.clone();
        verify::without_by_hand(&document, &mut records);
        let mut chunks: Vec<NewChunk> = records.into_iter().map(NewChunk::new).collect();
        document.info.set_applied(&self.overlays.put_on(&mut chunks, None, &[]));
        for (chunk, record) in
            chunks.iter_mut().zip(in_force).filter(|(chunk, record)| chunk.record.text == record.text)
        {
            // Token counts are those of the file, which were verified.
            chunk.record = record;
        }
        Ok((NewDocument { base: 0, document, chunks }, is_rebuilt))
    }

    /// Writes a group of documents, each over the version that is there.
    fn write(&self, group: Vec<(NewDocument, bool)>, written: &mut Written) -> Result<(), ImportError> {
        let mut group = group;
        for (new, _) in &group {
            let doc_id = &new.document.info.doc_id;
            if self.sample.contains(doc_id) {
                let hashes = new.chunks.iter().map(|chunk| hash(&chunk.record)).collect();
                written.sample.push((doc_id.clone(), hashes));
            }
        }
        for _ in 0..ATTEMPTS {
            if group.is_empty() {
                return Ok(());
            }
            let mut changes = Vec::with_capacity(group.len());
            for (new, _) in &mut group {
                let stored = self.store.document_info(&self.generation, &new.document.info.doc_id)?;
                new.base = stored.map_or(0, |info| info.version);
                changes.push(Change::Replace(Box::new(new.clone())));
            }
            let outcomes = self.store.write(&self.generation, &changes)?;
            let mut stale = Vec::new();
            for ((new, is_rebuilt), outcome) in group.into_iter().zip(outcomes) {
                match outcome {
                    Outcome::Stale => stale.push((new, is_rebuilt)),
                    Outcome::Written => {
                        written.imported.documents += 1;
                        written.imported.chunks += new.chunks.len();
                        written.imported.rebuilt += usize::from(is_rebuilt);
                    }
                    Outcome::Unchanged => written.imported.unchanged += 1,
                }
            }
            group = stale;
        }
        let busy = group.into_iter().next().map(|(new, _)| new.document.info.doc_id);
        busy.map_or(Ok(()), |doc_id| Err(ImportError::Busy { doc_id }))
    }

    /// Proves that every document is there with all its chunks, and reads back the records of a sample.
    pub(super) fn prove(&self, proof: &Proof, written: &Written) -> Result<(), ImportError> {
        let stored = self.store.documents(&self.generation)?;
        let stored: HashMap<&str, usize> =
            stored.iter().map(|info| (info.doc_id.as_str(), info.chunks as usize)).collect();
        let other = |doc_id: &str, found: String| ImportError::Unproved { doc_id: doc_id.to_owned(), found };
        for document in &proof.documents {
            match stored.get(document.doc_id.as_str()) {
                Some(&chunks) if chunks == document.chunks => {}
                Some(chunks) => {
                    let found = format!("{chunks} chunks are stored of {}", document.chunks);
                    return Err(other(&document.doc_id, found));
                }
                None => return Err(other(&document.doc_id, "it is not stored".into())),
            }
        }
        for (doc_id, hashes) in &written.sample {
            let records = self.store.records(&self.generation, doc_id)?;
            if !records.iter().map(hash).eq(hashes.iter().copied()) {
                return Err(other(doc_id, "its records differ from those that were written".into()));
            }
        }
        Ok(())
    }
}

/// A hash of what a record says, whenever it was indexed.
fn hash(record: &Record) -> TextHash {
    let record = Record { indexed_at: None, ..record.clone() };
    text_hash(&serde_json::to_string(&record).unwrap_or_default())
}

/// Returns whether two overlays of a chunk make the same change, whenever they were made.
fn is_same_change(here: &Overlay, moved: &Overlay) -> bool {
    let said = |overlay: &Overlay| {
        (overlay.disabled, overlay.text.clone(), overlay.keywords.clone(), overlay.pins.clone())
    };
    said(here) == said(moved)
}
