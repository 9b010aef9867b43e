//! Changes to chunks by hand: visibility, edited text, keywords, pinned queries.

use std::collections::HashSet;

use chunkwright::{ChunkId, Chunker};
use chunkwright_index::{
    Generation, ListRequest, MAX_PAGE, Overlay, OverlayState, Overlays, Review, SearchError, Store, Tools,
    amend_all, check_query, chunk_id, list_overlays,
};
use chunkwright_models::Embedder;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::noun::collection::Collection;
use crate::noun::configured::{cut_by, windowed};
use crate::noun::snapshot::Snapshot;
use crate::request::amend::{AmendRequest, OverlaysAnswer, OverlaysRequest};
use crate::request::task::Task;

impl AmendRequest {
    fn apply(&self, overlay: &mut Overlay, now: &str) {
        let given = |words: &Vec<String>| {
            let words = words.iter().map(|word| word.trim().to_owned());
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>()
        };
        if self.reset {
            (overlay.text, overlay.keywords, overlay.pins) = (None, Vec::new(), Vec::new());
        }
        if let Some(enabled) = self.enabled {
            overlay.disabled = !enabled;
        }
        if let Some(text) = &self.text {
            overlay.text = Some(text.clone()).filter(|text| !text.is_empty());
        }
        if let Some(keywords) = &self.keywords {
            overlay.keywords = given(keywords);
        }
        if let Some(pins) = &self.pins {
            overlay.pins = given(pins);
        }
        now.clone_into(&mut overlay.changed_at);
    }

    /// Splits the request into a copy without boundaries and the boundaries it names. A boundary can only be reset or
    /// accepted.
    fn without_boundaries(&self, overlays: &Overlays) -> Result<(Self, Vec<Overlay>), Error> {
        let mut request = self.clone();
        let named = |id: &String| overlays.get(id).filter(|overlay| overlay.boundary.is_some()).cloned();
        let boundaries: Vec<Overlay> = self.chunks.iter().filter_map(named).collect();
        request.chunks.retain(|id| boundaries.iter().all(|overlay| overlay.chunk_id != *id));
        let Self { enabled, text, keywords, pins, reset, accept, .. } = self;
        let is_text = text.is_some() || keywords.is_some() || pins.is_some() || *enabled == Some(false);
        match boundaries.first() {
            Some(first) if is_text || reset == accept => {
                Err(Error::NotForBoundary { boundary: first.chunk_id.clone() })
            }
            _ => Ok((request, boundaries)),
        }
    }

    /// The ids of the chunks to change, each once.
    fn selected(&self, store: &dyn Store, generation: &Generation) -> Result<Vec<ChunkId>, Error> {
        let named = self.chunks.iter().map(|chunk| chunk_id(store, generation, chunk));
        let mut selected = named.collect::<Result<Vec<ChunkId>, _>>()?;
        if self.filter.is_empty() {
            return if selected.is_empty() { Err(Error::NoChunk) } else { Ok(selected) };
        }
        if self.text.as_ref().is_some_and(|text| !text.is_empty()) {
            return Err(Error::TextByFilter);
        }
        let mut known: HashSet<ChunkId> = selected.iter().copied().collect();
        let mut request =
            ListRequest { filter: self.filter.clone(), limit: MAX_PAGE, ..ListRequest::default() };
        let mut passing = 0;
        loop {
            let page = store.list(generation, &request)?;
            passing += page.chunks.len();
            let ids = page.chunks.iter().map(|chunk| chunk.record.chunk_id);
            selected.extend(ids.filter(|id| known.insert(*id)));
            request.after = page.next;
            if request.after.is_none() {
                break;
            }
        }
        if passing == 0 {
            return Err(Error::NothingMatches { collection: generation.collection.clone() });
        }
        Ok(selected)
    }

    fn changes_nothing(&self) -> bool {
        let Self { enabled, text, keywords, pins, reset, accept, .. } = self;
        enabled.is_none() && text.is_none() && keywords.is_none() && pins.is_none() && !reset && !accept
    }
}

impl Collection {
    /// Changes chunks by hand: all of them or none. Returns the overlay of each, in order.
    ///
    /// # Errors
    ///
    /// A request that changes nothing, a chunk that does not exist, a filter that no chunk passes, a text that is empty
    /// or over the limit.
    pub fn amend(&self, request: &AmendRequest) -> Result<Vec<Overlay>, Error> {
        if request.changes_nothing() {
            return Err(Error::NothingToChange);
        }
        // A query that no search may contain cannot be pinned.
        request.pins.iter().flatten().try_for_each(|pin| check_query(pin)).map_err(SearchError::from)?;
        let engine = self.engine();
        if let Some(owner) = engine.owner()? {
            let task = Task::Amend { collection: self.name().to_owned(), request: request.clone() };
            return engine.through(&owner, task, &|_| {});
        }
        // Nothing else is changed by hand between the look at the chunks and the change.
        let _change = engine.change(self.name())?;
        self.check_expected(request)?;
        let store = engine.writable_store()?;
        let mut generation = store.open(self.name())?;
        let mut overlays = store.overlays(&generation.collection)?;
        let (request, boundaries) = request.without_boundaries(&overlays)?;
        let mut changed = Vec::new();
        if !boundaries.is_empty() {
            changed = self.amend_boundaries(&boundaries, request.accept)?;
            if request.chunks.is_empty() && request.filter.is_empty() {
                return Ok(changed);
            }
            // Their documents were cut again.
            generation = store.open(self.name())?;
            overlays = store.overlays(&generation.collection)?;
        }
        let chunks = request.selected(&*store, &generation)?;
        let embedder = engine.embedder_of(generation.spec.model.as_ref())?;
        let chunker = chunker_of(engine, &generation, embedder.as_deref())?;
        let now = engine.now();
        let change = |overlay: &mut Overlay| request.apply(overlay, &now);
        let review = if request.accept { Review::Accept } else { Review::Leave };
        let tools = Tools { chunker: Some(&chunker), embedder: embedder.as_deref() };
        changed.extend(amend_all(&*store, (&generation, overlays), tools, &chunks, review, &change)?);
        Ok(changed)
    }

    /// Fails unless every chunk that is named is one that the caller expects.
    fn check_expected(&self, request: &AmendRequest) -> Result<(), Error> {
        if request.expected.is_empty() {
            return Ok(());
        }
        let snapshot = self.snapshot()?;
        for chunk in &request.chunks {
            let version = snapshot.chunk(chunk)?.version()?;
            if !request.expected.iter().any(|expected| expected == "*" || *expected == version) {
                return Err(Error::Changed { chunk: chunk.clone() });
            }
        }
        Ok(())
    }
}

impl Snapshot {
    /// Lists the changes made by hand, and the chunk that each applies to.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn overlays(&self, request: OverlaysRequest) -> Result<OverlaysAnswer, Error> {
        let mut overlays = list_overlays(self.store(), self.generation())?;
        let total = overlays.len();
        overlays.retain(|listed| !request.review || listed.state != OverlayState::On || listed.pending);
        Ok(OverlaysAnswer { overlays, total })
    }
}

/// The chunker that cut a generation, whose limit a text must keep. If no known settings cut it, the chunker of the
/// settings in force.
pub(crate) fn chunker_of(
    engine: &Engine,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
) -> Result<Chunker, Error> {
    match cut_by(engine, generation, embedder)? {
        Some((_, chunker)) => Ok(chunker),
        None => Ok(windowed(engine.chunker()?, embedder)),
    }
}
