//! Write plans: changes are worked out first, so that a rejected change writes nothing, and then applied in the one
//! order in which no reader sees half of them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use chunkwright::ChunkId;

use super::catalog::{self, DocumentEntry, GenerationEntry};
use super::{RemoteStore, sweep};
use crate::database::{Part, Point, Which, Written, hex};
use crate::entry::{Entry, Kind};
use chunkwright_store::{
    Change, Generation, NewChunk, NewDocument, Outcome, StoreError, StoredDocument, Vector,
};

/// Length of a part of a text, in bytes: small compared to the largest request that servers accept.
pub(super) const PIECE: usize = 2 << 20;

/// The planned change of one document.
#[derive(Default)]
struct Draft {
    before: Option<DocumentEntry>,
    now: Option<DocumentEntry>,
    /// The points of the new version, if there is one.
    points: Option<Vec<Point>>,
    /// The document with its text, if that is new.
    body: Option<StoredDocument>,
}

struct Plan<'a> {
    store: &'a RemoteStore,
    generation: &'a Generation,
    drafts: BTreeMap<String, Draft>,
    /// The documents of the live chunks that matter to this write.
    owners: HashMap<ChunkId, String>,
    last_version: i64,
    /// The low bits of every version of this write.
    mark: i64,
}

/// Random bits of a version, drawn for each write, so that two concurrent writers do not give two versions the same
/// number.
const MARK_BITS: u32 = 16;

/// See [`Store::write`](super::super::Store::write).
pub(super) fn write(
    store: &RemoteStore,
    generation: &Generation,
    changes: &[Change],
) -> Result<Vec<Outcome>, StoreError> {
    let mut entry = store.generation_entry(generation)?;
    if changes.iter().any(|change| matches!(change, Change::Replace(_) | Change::Amend { .. })) {
        // All terms of a generation are of one version of the analysis.
        entry.check_terms()?;
    }
    // The standard hasher's keys are random, and different at each call.
    entry.writer = RandomState::new().hash_one(entry.change).cast_signed() & ((1 << MARK_BITS) - 1);
    if entry.unfinished {
        // Written first: if the other writer is still running, it can no longer commit.
        store.database.put(&[entry.entry()?])?;
        sweep::sweep(store, generation)?;
        entry.unfinished = false;
        store.database.put(&[entry.entry()?])?;
    }
    let mut plan = Plan::load(store, generation, changes, &entry)?;
    let mut outcomes = Vec::with_capacity(changes.len());
    let mut is_visible = false;
    for change in changes {
        let outcome = plan.change(change)?;
        is_visible |= outcome == Outcome::Written && !matches!(change, Change::Touch { .. });
        outcomes.push(outcome);
    }
    if outcomes.iter().all(|outcome| *outcome != Outcome::Written) {
        return Ok(outcomes);
    }
    entry.last_version = plan.last_version;
    entry.change += u64::from(is_visible);
    let lost = plan.commit(&entry, is_visible)?;
    for (change, outcome) in changes.iter().zip(&mut outcomes) {
        let doc_id = match change {
            Change::Replace(new) => &new.document.info.doc_id,
            Change::Remove { doc_id } | Change::Touch { doc_id, .. } | Change::Amend { doc_id, .. } => doc_id,
        };
        if *outcome == Outcome::Written && lost.contains(doc_id) {
            *outcome = Outcome::Stale;
        }
    }
    Ok(outcomes)
}

impl<'a> Plan<'a> {
    /// Reads the documents that the changes concern, and the owners of their chunk ids.
    fn load(
        store: &'a RemoteStore,
        generation: &'a Generation,
        changes: &[Change],
        entry: &GenerationEntry,
    ) -> Result<Self, StoreError> {
        let mut ids = Vec::new();
        let mut doc_ids: Vec<String> = Vec::new();
        for change in changes {
            match change {
                Change::Replace(new) => {
                    doc_ids.push(new.document.info.doc_id.clone());
                    for chunk in &new.chunks {
                        ids.push(chunk.id());
                    }
                }
                Change::Remove { doc_id } | Change::Touch { doc_id, .. } | Change::Amend { doc_id, .. } => {
                    doc_ids.push(doc_id.clone());
                }
            }
        }
        let marks = store.database.marks(generation, Which::Chunks(&ids))?;
        doc_ids.extend(marks.iter().map(|mark| mark.doc_id.clone()));
        doc_ids.sort();
        doc_ids.dedup();
        let names: Vec<&str> = doc_ids.iter().map(String::as_str).collect();
        let found = store.document_entries(generation, &names)?;
        let draft =
            |entry: Option<DocumentEntry>| Draft { before: entry.clone(), now: entry, ..Draft::default() };
        let drafts: BTreeMap<String, Draft> =
            doc_ids.iter().cloned().zip(found.into_iter().map(draft)).collect();
        let is_live = |doc_id: &str, version: i64| {
            let now = drafts.get(doc_id).and_then(|draft| draft.now.as_ref());
            now.is_some_and(|now| now.info.version == version)
        };
        let live = marks.into_iter().filter(|mark| is_live(&mark.doc_id, mark.version));
        let owners = live.map(|mark| (mark.id, mark.doc_id)).collect();
        let (last_version, mark) = (entry.last_version, entry.writer);
        Ok(Self { store, generation, drafts, owners, last_version, mark })
    }

    /// A version greater than all earlier ones.
    fn next_version(&mut self) -> i64 {
        self.last_version = ((self.last_version >> MARK_BITS) + 1) << MARK_BITS | self.mark;
        self.last_version
    }

    fn change(&mut self, change: &Change) -> Result<Outcome, StoreError> {
        match change {
            Change::Replace(new) => self.replace(new),
            Change::Remove { doc_id } => Ok(self.remove(doc_id)),
            Change::Amend { doc_id, chunks, base, overlays } => self.amend(doc_id, chunks, *base, overlays),
            Change::Touch { doc_id, modified } => {
                let now = self.drafts.get_mut(doc_id).and_then(|draft| draft.now.as_mut());
                Ok(match now.filter(|now| now.info.modified != *modified) {
                    Some(now) => {
                        now.info.modified = *modified;
                        Outcome::Written
                    }
                    None => Outcome::Unchanged,
                })
            }
        }
    }

    fn replace(&mut self, new: &NewDocument) -> Result<Outcome, StoreError> {
        let info = &new.document.info;
        let doc_id = &info.doc_id;
        let stored = self.drafts.get(doc_id).and_then(|draft| draft.now.as_ref()).map(|now| &now.info);
        if stored.map_or(0, |stored| stored.version) != new.base {
            return Ok(Outcome::Stale);
        }
        let vectors = self.vectors(&new.chunks)?;
        let pending = self.pending(vectors.iter().filter(|vector| vector.is_none()).count());
        if stored.is_some_and(|stored| stored.is_same_input(info) && stored.pending <= pending) {
            return Ok(Outcome::Unchanged);
        }
        let version = self.next_version();
        let mut points = Vec::with_capacity(new.chunks.len());
        let mut own: HashMap<ChunkId, String> = HashMap::with_capacity(new.chunks.len());
        for (place, (chunk, vector)) in new.chunks.iter().zip(vectors).enumerate() {
            let point = Point::new(chunk, place, version, vector);
            let is_taken = self.owners.get(&point.id).is_some_and(|other| other != doc_id);
            if is_taken || own.insert(point.id, doc_id.clone()).is_some() {
                return Err(StoreError::IdCollision { id: point.id, doc_id: doc_id.clone() });
            }
            points.push(point);
        }
        self.owners.retain(|_, owner| owner != doc_id);
        self.owners.extend(own);
        let mut info = info.clone();
        (info.version, info.chunks, info.pending) = (version, points.len() as u32, pending);
        let draft = self.drafts.entry(doc_id.clone()).or_default();
        draft.now = Some(DocumentEntry {
            info,
            doc_toc: new.document.doc_toc.clone(),
            summary: new.document.summary.clone(),
            body: version,
            source_parts: pieces(&new.document.source).count(),
            raw_parts: new.document.raw.as_ref().map(|raw| raw.chunks(PIECE / 2).count()),
        });
        draft.points = Some(points);
        draft.body = Some(new.document.clone());
        Ok(Outcome::Written)
    }

    fn remove(&mut self, doc_id: &str) -> Outcome {
        self.owners.retain(|_, owner| owner != doc_id);
        let Some(draft) = self.drafts.get_mut(doc_id) else { return Outcome::Unchanged };
        (draft.points, draft.body) = (None, None);
        if draft.now.take().is_some() { Outcome::Written } else { Outcome::Unchanged }
    }

    /// Replaces chunks by id. All chunks of the document are written again, so that they are of one version.
    fn amend(
        &mut self,
        doc_id: &str,
        chunks: &[NewChunk],
        base: i64,
        overlays: &str,
    ) -> Result<Outcome, StoreError> {
        let Some(draft) = self.drafts.get(doc_id) else { return Ok(Outcome::Stale) };
        let Some(mut now) = draft.now.clone().filter(|now| now.info.version == base) else {
            return Ok(Outcome::Stale);
        };
        let mut points = match &draft.points {
            Some(points) => points.clone(),
            None => self.store.database.points(self.generation, Which::Versions(&[base]), Part::Whole)?,
        };
        points.sort_by_key(|point| point.place);
        let places: HashMap<ChunkId, usize> =
            points.iter().enumerate().map(|(at, point)| (point.id, at)).collect();
        for (chunk, vector) in chunks.iter().zip(self.vectors(chunks)?) {
            let Some(&at) = places.get(&chunk.id()) else { return Ok(Outcome::Stale) };
            points[at] = Point::new(chunk, points[at].place as usize, base, vector);
        }
        let version = self.next_version();
        for point in &mut points {
            point.version = version;
        }
        now.info.version = version;
        overlays.clone_into(&mut now.info.overlays);
        now.info.pending = self.pending(points.iter().filter(|point| !point.embedded).count());
        let draft = self.drafts.entry(doc_id.to_owned()).or_default();
        (draft.now, draft.points) = (Some(now), Some(points));
        Ok(Outcome::Written)
    }

    fn vectors(&self, chunks: &[NewChunk]) -> Result<Vec<Option<Vector>>, StoreError> {
        let Some(model) = &self.generation.spec.model else { return Ok(vec![None; chunks.len()]) };
        let hashes: Vec<_> = chunks.iter().map(|chunk| chunk.text_hash).collect();
        self.store.cache.vectors(&model.name, &hashes)
    }

    fn pending(&self, without: usize) -> u32 {
        if self.generation.spec.model.is_some() { without as u32 } else { 0 }
    }

    /// Commits the plan; returns the documents that another writer committed in between.
    fn commit(&self, done: &GenerationEntry, is_visible: bool) -> Result<Vec<String>, StoreError> {
        let (database, generation) = (&self.store.database, self.generation);
        let changed = || self.drafts.iter().filter(|(_, draft)| draft.before != draft.now);
        if is_visible {
            database.put(&[GenerationEntry { unfinished: true, ..done.clone() }.entry()?])?;
            self.put_versions()?;
            if self.store.generation_entry(generation)?.writer != self.mark {
                let new = self.drafts.values().filter(|draft| draft.points.is_some());
                self.discard(new.filter_map(|draft| draft.now.as_ref()))?;
                let holder = "another process".into();
                return Err(StoreError::Locked { path: generation.to_string(), holder });
            }
        }
        let mut put = Vec::new();
        let mut gone = Vec::new();
        for (doc_id, draft) in changed() {
            match &draft.now {
                Some(now) => put.push(now.entry(generation)?),
                None => gone.push(catalog::document_key(generation, doc_id)),
            }
        }
        database.put(&put)?;
        database.forget(&gone)?;
        if !is_visible {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = changed().map(|(doc_id, _)| doc_id.as_str()).collect();
        let found = self.store.document_entries(generation, &names)?;
        let version = |entry: &Option<DocumentEntry>| entry.as_ref().map(|entry| entry.info.version);
        let lost: Vec<String> = changed()
            .zip(found)
            .filter(|((_, draft), found)| version(&draft.now) != version(found))
            .map(|((doc_id, _), _)| doc_id.clone())
            .collect();
        // A writer in between took the uncommitted points for leftovers of a crash.
        if self.store.generation_entry(generation)?.writer != self.mark {
            self.put_versions()?;
        }
        if done.was_current {
            database.prepare(generation)?;
        }
        // The write has succeeded even if the cleanup fails: the next write repeats the cleanup.
        let collected = self.collect(&lost);
        if collected.is_ok() {
            let _ = database.put(&[done.entry()?]);
        }
        Ok(lost)
    }

    /// Writes the texts and points of all new versions, which are invisible until they are committed.
    fn put_versions(&self) -> Result<(), StoreError> {
        let (mut parts, mut points) = (Vec::new(), Vec::new());
        for draft in self.drafts.values() {
            parts.extend(draft.parts(self.generation));
            let (Some(now), Some(new)) = (&draft.now, &draft.points) else { continue };
            let written = |point| Written { point, info: &now.info, doc_toc: &now.doc_toc };
            points.extend(new.iter().map(written));
        }
        self.store.database.put(&parts)?;
        self.store.database.upsert(self.generation, &points)
    }

    /// Removes versions that were written and not committed.
    fn discard<'e>(&self, entries: impl Iterator<Item = &'e DocumentEntry>) -> Result<(), StoreError> {
        let (mut versions, mut parts) = (Vec::new(), Vec::new());
        for entry in entries {
            versions.push(entry.info.version);
            if entry.body == entry.info.version {
                parts.extend(entry.part_keys(self.generation));
            }
        }
        self.store.database.delete(self.generation, &versions)?;
        self.store.database.forget(&parts)
    }

    /// Removes the replaced versions.
    fn collect(&self, lost: &[String]) -> Result<(), StoreError> {
        let (mut versions, mut parts) = (Vec::new(), Vec::new());
        for (doc_id, draft) in &self.drafts {
            let (mut old, mut new) = (draft.before.as_ref(), draft.now.as_ref());
            if lost.contains(doc_id) {
                (old, new) = (new, None);
            }
            let Some(old) = old else { continue };
            if new.is_none_or(|new| new.info.version != old.info.version) {
                versions.push(old.info.version);
            }
            if new.is_none_or(|new| new.body != old.body) {
                parts.extend(old.part_keys(self.generation));
            }
        }
        self.store.database.delete(self.generation, &versions)?;
        self.store.database.forget(&parts)
    }
}

impl Draft {
    /// The parts of its text and file, if they are new.
    fn parts(&self, generation: &Generation) -> Vec<Entry> {
        let (Some(now), Some(body)) = (&self.now, &self.body) else { return Vec::new() };
        let owner = generation.key();
        let part = |what, (number, text): (usize, String)| {
            Entry::text(Kind::Part, &owner, &catalog::part_name(now.body, what, number), text)
        };
        let source = pieces(&body.source).map(str::to_owned).enumerate().map(|piece| part("source", piece));
        let raw = body.raw.iter().flat_map(|raw| raw.chunks(PIECE / 2)).map(hex).enumerate();
        source.chain(raw.map(|piece| part("raw", piece))).collect()
    }
}

/// Splits a text into parts; an empty one has none.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}
