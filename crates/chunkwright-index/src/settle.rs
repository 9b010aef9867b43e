//! Settles overlays: updates what a generation stores to the current overlays.
//!
//! Every operation that changes overlays, or the chunks they are on, settles afterwards: after an indexing, before a
//! generation becomes the current one, and after a manual change in every generation that can be searched. So it does
//! not matter what happened to a generation while searches did not see it, or when a run was killed: until the
//! generation is settled, [`list_overlays`] lists what searches do, and the next run settles it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chunkwright::{ChunkId, Chunker, Record};
use chunkwright_models::{Embedder, Role, TextHash, text_hash};
use serde::{Deserialize, Serialize};

use chunkwright_store::overlay::{Elsewhere, OverlaySearch, place_in};
use chunkwright_store::{
    Applied, AppliedBoundary, Change, DocumentInfo, Generation, NewChunk, Outcome, Overlay, OverlayState,
    Overlays, Store, StoreError,
};

/// How many overlays stand how to the chunks of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverlayCounts {
    /// In force on the chunks that they were made for.
    pub on: usize,
    /// In force on chunks that are like those that they were made for; to be reviewed.
    pub carried: usize,
    /// With a text that is not in force because what it replaces changed.
    pub conflict: usize,
    /// On no chunk.
    pub orphaned: usize,
}

impl OverlayCounts {
    /// Returns whether any overlay needs review.
    pub fn need_review(&self) -> bool {
        self.carried + self.conflict + self.orphaned > 0
    }

    pub(crate) fn count(&mut self, state: OverlayState) {
        *match state {
            OverlayState::On => &mut self.on,
            OverlayState::Carried => &mut self.carried,
            OverlayState::Conflict => &mut self.conflict,
            OverlayState::Orphaned => &mut self.orphaned,
        } += 1;
    }
}

/// The tools that count and embed texts of overlays.
#[derive(Clone, Copy, Default)]
pub struct Tools<'a> {
    /// Counts tokens and knows the limit.
    pub chunker: Option<&'a Chunker>,
    /// Embeds new texts. Without an embedder, or if it fails, only lexical searches find the chunks until the next run.
    pub embedder: Option<&'a dyn Embedder>,
}

/// Most attempts to write a document that another run wrote meanwhile.
const ATTEMPTS: usize = 8;

/// Applies overlays to the chunks of `generation`, and reverts changes that overlays no longer make.
///
/// # Errors
///
/// A removed generation, a failing store, documents that another run keeps writing.
pub fn settle(
    store: &dyn Store,
    generation: &Generation,
    tools: Tools<'_>,
) -> Result<OverlayCounts, StoreError> {
    until_unchanged(generation, || {
        let infos = store.documents(generation)?;
        settle_once(store, generation, &store.overlays(&generation.collection)?, &infos, tools)
    })
}

/// Calls `attempt` until no other run writes a document meanwhile.
fn until_unchanged<T>(
    generation: &Generation,
    mut attempt: impl FnMut() -> Result<Option<T>, StoreError>,
) -> Result<T, StoreError> {
    for _ in 0..ATTEMPTS {
        if let Some(settled) = attempt()? {
            return Ok(settled);
        }
    }
    Err(StoreError::Locked { path: generation.to_string(), holder: "another run".into() })
}

/// [Settles](settle) all complete generations of a collection; a run settles the generation that it completes. Returns
/// the counts of the current one.
///
/// # Errors
///
/// As [`settle`].
pub fn settle_all(
    store: &dyn Store,
    collection: &str,
    tools: Tools<'_>,
) -> Result<OverlayCounts, StoreError> {
    in_all(store, collection, &|generation| settle(store, generation, tools))
}

/// [Settles](settle_all) the documents that some overlays were made for, whose overlays are `overlays` now.
pub(crate) fn settle_documents(
    store: &dyn Store,
    collection: &str,
    overlays: &Overlays,
    doc_ids: &BTreeSet<String>,
    tools: Tools<'_>,
) -> Result<(), StoreError> {
    let settle = |generation: &Generation| {
        until_unchanged(generation, || {
            let Some(infos) = concerned(store, generation, overlays, doc_ids)? else {
                return settle_once(store, generation, overlays, &store.documents(generation)?, tools);
            };
            let own = infos.iter().flat_map(|info| overlays.of_document(&info.doc_id)).cloned().collect();
            settle_once(store, generation, &own, &infos, tools)
        })
    };
    in_all(store, collection, &settle).map(drop)
}

/// Most documents that are read one by one.
pub(crate) const FEW: usize = 100;

/// The documents with these ids; `None` if they are many, if one of them is not there, or has an overlay of one that is not. Such an
/// overlay may be on a chunk of any document.
fn concerned(
    store: &dyn Store,
    generation: &Generation,
    overlays: &Overlays,
    doc_ids: &BTreeSet<String>,
) -> Result<Option<Vec<DocumentInfo>>, StoreError> {
    if doc_ids.len() > FEW {
        return Ok(None);
    }
    let mut infos = Vec::with_capacity(doc_ids.len());
    for doc_id in doc_ids {
        let Some(info) = store.document_info(generation, doc_id)? else { return Ok(None) };
        let is_own = |applied: &Applied| {
            overlays.get(&applied.overlay).is_none_or(|overlay| overlay.doc_id == info.doc_id)
        };
        if !info.applied().iter().all(is_own) {
            return Ok(None);
        }
        infos.push(info);
    }
    Ok(Some(infos))
}

/// Settles the current generation and those that were current before, and again if another became current meanwhile.
/// Returns the counts of the current one.
fn in_all(
    store: &dyn Store,
    collection: &str,
    settle: &dyn Fn(&Generation) -> Result<OverlayCounts, StoreError>,
) -> Result<OverlayCounts, StoreError> {
    loop {
        let current = store.open(collection)?;
        let counts = settle(&current)?;
        for other in other_generations(store, &current)? {
            match settle(&other) {
                // The generation was removed meanwhile, or has terms of another analysis and cannot be searched.
                Ok(_) | Err(StoreError::UnknownGeneration { .. } | StoreError::Analysis { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if store.open(collection)? == current {
            return Ok(counts);
        }
    }
}

/// All others: old ones can be named, and one that is being built may answer questions already.
fn other_generations(store: &dyn Store, current: &Generation) -> Result<Vec<Generation>, StoreError> {
    let known = store.collection(&current.collection)?;
    let all = known.into_iter().flat_map(|known| known.generations).map(|status| status.generation);
    Ok(all.filter(|generation| generation != current).collect())
}

/// Settles these documents with these overlays; `None` if a document was written meanwhile.
fn settle_once(
    store: &dyn Store,
    generation: &Generation,
    overlays: &Overlays,
    infos: &[DocumentInfo],
    tools: Tools<'_>,
) -> Result<Option<OverlayCounts>, StoreError> {
    let before = before(infos);
    if overlays.is_empty() && before.is_empty() {
        return Ok(Some(OverlayCounts::default()));
    }
    let (mut plan, searched) = plan(store, generation, overlays, infos, &before)?;
    let mut counts = OverlayCounts::default();
    let boundaries = infos.iter().flat_map(DocumentInfo::boundaries);
    let set = boundaries.filter(|applied| overlays.get(&applied.id).is_some());
    set.filter(|applied| applied.state != OverlayState::Orphaned)
        .for_each(|applied| counts.count(applied.state));
    plan.values().flatten().for_each(|(_, _, state)| counts.count(*state));
    counts.orphaned = overlays.len() - (counts.on + counts.carried + counts.conflict);
    let mut changes = Vec::new();
    for info in infos {
        let was = before.get(info.doc_id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let now = plan.remove(&info.doc_id).unwrap_or_default();
        if is_same(was, &now) {
            continue;
        }
        match rewrite(store, generation, info, was, &now, tools)? {
            Some(change) => changes.push(change),
            None => return Ok(None),
        }
    }
    for changes in changes.chunks(CHANGES_AT_ONCE) {
        if store.write(generation, changes)?.contains(&Outcome::Stale) {
            return Ok(None);
        }
    }
    // Not before what was found is stored: a run that is killed here searches again.
    if let Some(key) = searched {
        store.cache().put_notes(&[(key, String::new())])?;
    }
    Ok(Some(counts))
}

/// Documents written at once.
const CHANGES_AT_ONCE: usize = 128;

/// The overlays planned for the chunks of a document: the chunk, the overlay, and how it was found.
type Planned<'o> = Vec<(String, &'o Overlay, OverlayState)>;

/// An overlay of a missing document, how it was found, and its chunk.
type Found<'o> = (&'o Overlay, OverlayState, Elsewhere);

/// The overlays now on the chunks of documents, for documents that have any.
fn before(infos: &[DocumentInfo]) -> HashMap<&str, Vec<Applied>> {
    let mut before = HashMap::new();
    for info in infos {
        let applied = info.applied();
        if !applied.is_empty() {
            before.insert(info.doc_id.as_str(), applied);
        }
    }
    before
}

fn is_same(was: &[Applied], now: &Planned<'_>) -> bool {
    if was.len() != now.len() {
        return false;
    }
    let was: HashMap<&str, &Applied> = was.iter().map(|was| (was.chunk_id.as_str(), was)).collect();
    now.iter().all(|(chunk_id, overlay, state)| {
        was.get(chunk_id.as_str()).is_some_and(|was| was.is_of(overlay, *state))
    })
}

/// Assigns each overlay to its chunk, by document; also the [`search_key`], if all documents were searched.
fn plan<'o>(
    store: &dyn Store,
    generation: &Generation,
    overlays: &'o Overlays,
    infos: &[DocumentInfo],
    before: &HashMap<&str, Vec<Applied>>,
) -> Result<(HashMap<String, Planned<'o>>, Option<TextHash>), StoreError> {
    let mut plan: HashMap<String, Planned<'o>> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    let known: Vec<(ChunkId, &Overlay)> =
        overlays.iter().filter_map(|overlay| Some((overlay.chunk_id.parse().ok()?, overlay))).collect();
    let ids: Vec<ChunkId> = known.iter().map(|(id, _)| *id).collect();
    let mut rest: BTreeMap<&str, Vec<&Overlay>> = BTreeMap::new();
    for ((_, overlay), chunk) in known.into_iter().zip(store.chunks(generation, &ids)?) {
        let Some(chunk) = chunk else {
            rest.entry(&overlay.doc_id).or_default().push(overlay);
            continue;
        };
        taken.insert(overlay.chunk_id.clone());
        let planned = plan.entry(chunk.record.doc_id.clone()).or_default();
        planned.push((overlay.chunk_id.clone(), overlay, OverlayState::On));
    }
    let doc_ids: HashSet<&str> = infos.iter().map(|info| info.doc_id.as_str()).collect();
    let mut gone = Vec::new();
    for (doc_id, rest) in rest {
        if !doc_ids.contains(doc_id) {
            gone.extend(rest);
            continue;
        }
        let records = store.records(generation, doc_id)?;
        let records: Vec<&Record> = records.iter().collect();
        let own: Vec<&Overlay> = overlays.of_document(doc_id).collect();
        for (record, placed) in records.iter().zip(place_in(&own, &records)) {
            if let Some((overlay, state)) = placed
                && !taken.contains(&overlay.chunk_id)
            {
                let planned = plan.entry(doc_id.to_owned()).or_default();
                planned.push((record.chunk_id.to_string(), overlay, state));
            }
        }
    }
    taken.extend(plan.values().flatten().map(|(chunk_id, ..)| chunk_id.clone()));
    let (found, searched) = elsewhere(store, generation, gone, infos, before, &taken)?;
    for (overlay, state, (doc_id, chunk_id)) in found {
        plan.entry(doc_id).or_default().push((chunk_id, overlay, state));
    }
    Ok((plan, searched))
}

/// Searches the other documents for overlays of missing documents. They are read only if documents were added or
/// removed since the last search: only then can one have been renamed. Otherwise what was found is looked for where it was
/// found, and the rest is not to be found: it may have several successors, of which those documents have one.
fn elsewhere<'o>(
    store: &dyn Store,
    generation: &Generation,
    mut gone: Vec<&'o Overlay>,
    infos: &[DocumentInfo],
    before: &HashMap<&str, Vec<Applied>>,
    taken: &HashSet<String>,
) -> Result<(Vec<Found<'o>>, Option<TextHash>), StoreError> {
    if gone.is_empty() {
        return Ok((Vec::new(), None));
    }
    let key = search_key(generation, &gone, infos);
    let is_done = store.cache().notes(&[key])?.iter().all(Option::is_some);
    if is_done {
        let on: HashSet<&str> = before.values().flatten().map(|applied| &*applied.overlay).collect();
        gone.retain(|overlay| on.contains(&*overlay.chunk_id));
    }
    let ids: HashSet<&str> = gone.iter().map(|overlay| overlay.chunk_id.as_str()).collect();
    let has_one = |doc_id: &str| {
        let applied = before.get(doc_id).map(Vec::as_slice).unwrap_or_default();
        applied.iter().any(|applied| ids.contains(applied.overlay.as_str()))
    };
    let mut search = OverlaySearch::new(gone);
    for info in infos.iter().filter(|info| !is_done || has_one(&info.doc_id)) {
        for record in store.records(generation, &info.doc_id)? {
            if !taken.contains(&record.chunk_id.to_string()) {
                search.look_at(&record);
            }
        }
    }
    Ok((search.found(), (!is_done).then_some(key)))
}

/// Key of everything that a search in all documents depends on.
fn search_key(generation: &Generation, gone: &[&Overlay], infos: &[DocumentInfo]) -> TextHash {
    let mut key = format!("overlays of {generation}\n");
    let names = gone.iter().map(|overlay| &overlay.chunk_id);
    for name in names.chain(infos.iter().map(|info| &info.doc_id)) {
        key.push_str(name);
        key.push('\n');
    }
    text_hash(&key)
}

/// The change that replaces the overlays that were on a document's chunks by those planned `now`; `None` if the chunks
/// changed.
fn rewrite(
    store: &dyn Store,
    generation: &Generation,
    info: &DocumentInfo,
    was: &[Applied],
    now: &Planned<'_>,
    tools: Tools<'_>,
) -> Result<Option<Change>, StoreError> {
    let was: BTreeMap<&str, &Applied> = was.iter().map(|was| (was.chunk_id.as_str(), was)).collect();
    let now: BTreeMap<&str, (&Overlay, OverlayState)> =
        now.iter().map(|(id, overlay, state)| (id.as_str(), (*overlay, *state))).collect();
    let mut applied = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    for id in was.keys().chain(now.keys().filter(|id| !was.contains_key(*id))) {
        match (was.get(id), now.get(id)) {
            (Some(was), Some((overlay, state))) if was.is_of(overlay, *state) => {
                applied.push((*was).clone());
            }
            _ => ids.push(id),
        }
    }
    let parsed: Vec<ChunkId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let mut chunks = Vec::with_capacity(ids.len());
    for (id, chunk) in ids.iter().zip(store.chunks(generation, &parsed)?) {
        let Some(chunk) = chunk else { return Ok(None) };
        let mut record = chunk.record.clone();
        if let Some(original) = was.get(id).and_then(|was| was.original.clone()) {
            original.restore(&mut record);
        }
        let mut chunk = NewChunk::new(record);
        if let Some((overlay, state)) = now.get(id) {
            applied.push(overlay.put_on(*state, &mut chunk, tools.chunker));
        }
        chunks.push(chunk);
    }
    embed(store, generation, tools.embedder, &chunks)?;
    let mut info = info.clone();
    info.set_applied(&applied);
    let DocumentInfo { doc_id, version: base, overlays, .. } = info;
    Ok(Some(Change::Amend { doc_id, chunks, base, overlays }))
}

/// Embeds the texts of `chunks` that lack vectors, where possible.
fn embed(
    store: &dyn Store,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    chunks: &[NewChunk],
) -> Result<(), StoreError> {
    let (Some(model), Some(embedder)) = (&generation.spec.model, embedder) else { return Ok(()) };
    if embedder.model().name != model.name {
        return Ok(());
    }
    let hashes: Vec<TextHash> = chunks.iter().map(|chunk| chunk.text_hash).collect();
    let known = store.cache().vectors(&model.name, &hashes)?;
    for (chunk, _) in chunks.iter().zip(known).filter(|(_, known)| known.is_none()) {
        // The next run retries after a failure.
        if let Ok(embeddings) = embedder.embed(&[&chunk.record.text], Role::Passage) {
            let vectors = embeddings.into_iter().map(|embedding| (chunk.text_hash, embedding.into()));
            store.cache().put_vectors(&model.name, &vectors.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// An overlay as searches of a generation see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedOverlay {
    /// The overlay.
    #[serde(flatten)]
    pub overlay: Overlay,
    /// How it stands to the chunks.
    pub state: OverlayState,
    /// The chunk that it is on; none if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The document of that chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_doc_id: Option<String>,
    /// In a conflict, the text that the chunk has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether what it says now is still to be put on its chunk, because a run was killed: the next run does it.
    pub pending: bool,
}

/// Lists the overlays of a collection, by chunk id, as searches of `generation` see them.
///
/// # Errors
///
/// A removed generation, a failing store.
pub fn list_overlays(store: &dyn Store, generation: &Generation) -> Result<Vec<ListedOverlay>, StoreError> {
    let overlays = store.overlays(&generation.collection)?;
    if overlays.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: HashMap<String, (Applied, String)> = HashMap::new();
    let mut cut: HashMap<String, (AppliedBoundary, String)> = HashMap::new();
    for info in store.documents(generation)? {
        for applied in info.boundaries() {
            cut.insert(applied.id.clone(), (applied, info.doc_id.clone()));
        }
        for applied in info.applied() {
            found.insert(applied.overlay.clone(), (applied, info.doc_id.clone()));
        }
    }
    let mut listed = Vec::with_capacity(overlays.len());
    for overlay in overlays.all() {
        listed.push(if overlay.boundary.is_some() {
            ListedOverlay::of_boundary(overlay, cut.remove(&overlay.chunk_id))
        } else {
            ListedOverlay::of_chunk(store, generation, overlay, found.remove(&overlay.chunk_id))?
        });
    }
    Ok(listed)
}

/// The overlay on a chunk, as searches of `generation` see it.
///
/// # Errors
///
/// A removed generation, a failing store.
pub fn overlay_on(
    store: &dyn Store,
    generation: &Generation,
    chunk: &Record,
) -> Result<Option<ListedOverlay>, StoreError> {
    let Some(info) = store.document_info(generation, &chunk.doc_id)? else { return Ok(None) };
    let id = chunk.chunk_id.to_string();
    let Some(applied) = info.applied().into_iter().find(|applied| applied.chunk_id == id) else {
        return Ok(None);
    };
    let overlays = store.overlays(&generation.collection)?;
    let Some(overlay) = overlays.get(&applied.overlay) else { return Ok(None) };
    ListedOverlay::of_chunk(store, generation, overlay, Some((applied, info.doc_id))).map(Some)
}

impl ListedOverlay {
    /// A boundary, which was `cut` at a place of a document.
    fn of_boundary(overlay: &Overlay, cut: Option<(AppliedBoundary, String)>) -> Self {
        let pending = cut.is_none();
        let (applied, doc_id) = cut.unzip();
        let state = applied.as_ref().map_or(OverlayState::Orphaned, |applied| applied.state);
        let on = applied.and_then(|applied| applied.on);
        let on_doc_id = doc_id.filter(|_| on.is_some());
        Self { overlay: overlay.clone(), state, on, on_doc_id, source: None, pending }
    }

    /// An overlay that was `found` on a chunk of a document.
    fn of_chunk(
        store: &dyn Store,
        generation: &Generation,
        overlay: &Overlay,
        found: Option<(Applied, String)>,
    ) -> Result<Self, StoreError> {
        let state = found.as_ref().map_or(OverlayState::Orphaned, |(applied, _)| applied.state);
        let is_settled = match &found {
            Some((applied, _)) => applied.is_of(overlay, state),
            None => match overlay.chunk_id.parse::<ChunkId>() {
                Ok(id) => store.chunks(generation, &[id])?.iter().all(Option::is_none),
                Err(_) => true,
            },
        };
        let (on, on_doc_id) = found.map(|(applied, doc_id)| (applied.chunk_id, doc_id)).unzip();
        let source = match on.as_ref().map(|id| id.parse::<ChunkId>()) {
            Some(Ok(id)) if state == OverlayState::Conflict => {
                store.chunks(generation, &[id])?.pop().flatten().map(|chunk| chunk.record.text.clone())
            }
            _ => None,
        };
        Ok(Self { overlay: overlay.clone(), state, on, on_doc_id, source, pending: !is_settled })
    }
}
