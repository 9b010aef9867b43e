//! Splits a chunk by hand, or merges two.

use chunkwright::chunk::BoundaryKind;
use chunkwright::{Document, Record};
use chunkwright_index::{AmendError, Generation, Overlay, Store, chunk_id, parsed, plan_boundary};

use crate::error::Error;
use crate::noun::collection::Collection;
use crate::request::boundary::{BoundaryAnswer, BoundaryChange, BoundaryRequest};
use crate::request::task::Task;
use crate::work::amend::chunker_of;

impl Collection {
    /// Divides a chunk, or merges it with its neighbour, in the generation that searches see. The boundary is stored,
    /// and applied whenever the document is cut again.
    ///
    /// # Errors
    ///
    /// A chunk that does not exist, a place that is not inside of it, a merge over the limit.
    pub fn set_boundary(&self, request: &BoundaryRequest) -> Result<BoundaryAnswer, Error> {
        let engine = self.engine();
        if let Some(owner) = engine.owner()? {
            let task = Task::SetBoundary { collection: self.name().to_owned(), request: request.clone() };
            return engine.through(&owner, task, &|_| {});
        }
        // The turn keeps other runs from cutting the document between the look at its chunks and the end of the run.
        let turn = engine.turn(self.name())?;
        let store = engine.writable_store()?;
        let generation = store.open(self.name())?;
        let (document, at, kind) = place(&*store, &generation, request)?;
        let embedder = engine.embedder_of(generation.spec.model.as_ref())?;
        let chunker = chunker_of(engine, &generation, embedder.as_deref())?;
        let overlays = store.overlays(&generation.collection)?;
        let changes = plan_boundary(&overlays, &chunker, &document, (at, kind), &engine.now())?;
        for overlay in &changes {
            store.put_overlay(&generation.collection, overlay)?;
        }
        self.indexer_alike()?.put_in_turn([], &turn)?;
        let generation = store.open(self.name())?;
        let records = store.records(&generation, document.id())?;
        let beside = |record: &&Record| match kind {
            BoundaryKind::Split => at <= record.start_byte + blanks(&document, record.start_byte, at),
            BoundaryKind::Merge => at < record.end_byte,
        };
        let own: Vec<&Record> = records.iter().filter(|record| record.artifact.is_none()).collect();
        let chunks = match (own.iter().position(beside), kind) {
            (Some(index), BoundaryKind::Split) => &own[index.saturating_sub(1)..=index],
            (Some(index), BoundaryKind::Merge) => &own[index..=index],
            (None, _) => &[],
        };
        Ok(BoundaryAnswer {
            doc_id: document.id().to_owned(),
            boundary: changes.into_iter().find(|change| !change.is_empty()).map(|set| set.chunk_id),
            chunks: chunks.iter().map(|record| record.chunk_id.to_string()).collect(),
        })
    }

    /// Removes the named boundaries, or accepts them where they are now.
    pub(crate) fn amend_boundaries(
        &self,
        boundaries: &[Overlay],
        accept: bool,
    ) -> Result<Vec<Overlay>, Error> {
        let engine = self.engine();
        let turn = engine.turn(self.name())?;
        let store = engine.writable_store()?;
        let generation = store.open(self.name())?;
        let mut changed = Vec::with_capacity(boundaries.len());
        for overlay in boundaries {
            let mut now = Overlay { chunk_id: overlay.chunk_id.clone(), ..Overlay::default() };
            if accept {
                let document = parsed(&*store, &generation, &overlay.doc_id)?;
                let accepted =
                    document.and_then(|document| overlay.accepted(document.source(), &engine.now()));
                let (id, generation) = (overlay.chunk_id.clone(), generation.to_string());
                let accepted = accepted.ok_or(AmendError::Orphaned { id, generation })?;
                store.put_overlay(self.name(), &accepted)?;
                if accepted.chunk_id == overlay.chunk_id {
                    changed.push(accepted);
                    continue;
                }
                store.put_overlay(self.name(), &now)?;
                now = accepted;
            } else {
                store.put_overlay(self.name(), &now)?;
            }
            changed.push(now);
        }
        self.indexer_alike()?.put_in_turn([], &turn)?;
        Ok(changed)
    }
}

/// Returns the document of a chunk, and the offset of the requested boundary.
fn place(
    store: &dyn Store,
    generation: &Generation,
    request: &BoundaryRequest,
) -> Result<(Document, u32, BoundaryKind), Error> {
    let id = chunk_id(store, generation, &request.chunk)?;
    let unknown = || AmendError::Unknown { id: request.chunk.clone(), generation: generation.to_string() };
    let chunk = store.chunks(generation, &[id])?.pop().flatten().ok_or_else(unknown)?;
    let record = &chunk.record;
    let document = parsed(store, generation, &record.doc_id)?.ok_or_else(unknown)?;
    let records = store.records(generation, &record.doc_id)?;
    let own: Vec<&Record> = records.iter().filter(|record| record.artifact.is_none()).collect();
    let index = own.iter().position(|own| own.chunk_id == id).ok_or_else(unknown)?;
    let begin = |record: &&Record| (record.start_byte, BoundaryKind::Merge);
    let alone = || Error::NoNeighbour { chunk: request.chunk.clone() };
    let (at, kind) = match request.change {
        BoundaryChange::SplitAtLine(line) => (document.lines().start(line as usize), BoundaryKind::Split),
        BoundaryChange::SplitAtByte(byte) => (byte, BoundaryKind::Split),
        BoundaryChange::MergeWithNext => own.get(index + 1).map(begin).ok_or_else(alone)?,
        BoundaryChange::MergeWithPrevious if index == 0 => return Err(alone()),
        BoundaryChange::MergeWithPrevious => begin(&own[index]),
    };
    let is_inside =
        record.start_byte < at && at < record.end_byte && document.source().is_char_boundary(at as usize);
    if kind == BoundaryKind::Split && !is_inside {
        let (first, last) = (record.start_line, record.end_line);
        return Err(Error::NotInChunk { chunk: request.chunk.clone(), first, last });
    }
    Ok((document, at, kind))
}

/// Bytes of whitespace between the start of a chunk and a later offset; 0 if there is text between them.
fn blanks(document: &Document, start: u32, at: u32) -> u32 {
    let between = document.source().get(start as usize..at as usize).unwrap_or_default();
    if between.trim().is_empty() { between.len() as u32 } else { 0 }
}
