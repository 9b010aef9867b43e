//! Consistent reads: every result has only versions that were live at one moment.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chunkwright::{ChunkId, Record};
use chunkwright_models::TextHash;

use super::catalog::{self, DocumentEntry, GenerationEntry};
use super::{FOREIGN, RemoteStore};
use crate::database::{Found, Mark, Part, Point, Which, unhex};
use crate::entry::{self, Kind};
use chunkwright_store::cancel;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::filter::facts;
use chunkwright_store::index::disk::NoDisk;
use chunkwright_store::index::{Decided, Located, NewRow, Records, SearchIndex, Selection, top};
use chunkwright_store::{
    DocumentInfo, DocumentKind, Filter, Generation, Origin, Scored, StoreError, StoredChunk, StoredDocument,
};

/// Most repetitions of a read because documents were replaced meanwhile.
pub(super) const ATTEMPTS: usize = 8;

/// Upper bound on points per request; larger queries must be narrowed.
const MOST: usize = 100_000;

/// Versions requested at once.
const VERSIONS: usize = 500;

/// The live version of each document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// Another program's collection: everything has one version.
    Everything,
    Versions(BTreeMap<String, LiveVersion>),
}

/// The live version of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveVersion {
    pub(super) version: i64,
    /// Number of its chunks.
    pub(super) chunks: u32,
    kind: DocumentKind,
}

impl Live {
    fn has(&self, found: &Found) -> bool {
        match self {
            Self::Everything => true,
            Self::Versions(versions) => {
                versions.get(&found.doc_id).is_some_and(|live| live.version == found.version)
            }
        }
    }

    /// Returns whether a found point may be newer than the known live versions.
    fn is_behind(&self, found: &Found) -> bool {
        match self {
            Self::Everything => false,
            Self::Versions(versions) => {
                versions.get(&found.doc_id).is_none_or(|live| live.version < found.version)
            }
        }
    }
}

/// An index ranked in memory, and what filters selected of it as it is, with the live versions and the number of rows.
#[derive(Debug, Default)]
pub(super) struct RankedHere {
    index: SearchIndex,
    decided: Option<(Arc<Live>, usize, Decided)>,
}

/// The records of a generation.
struct RemoteRecords<'a> {
    store: &'a RemoteStore,
    generation: &'a Generation,
}

impl RemoteRecords<'_> {
    fn points(&self, which: Which<'_>) -> Result<Vec<Point>, StoreError> {
        self.store.database.points(self.generation, which, Part::WithoutVectors)
    }
}

impl Records for RemoteRecords<'_> {
    fn passing(&self, filter: &Filter) -> Result<HashSet<ChunkId>, StoreError> {
        let points = self.points(Which::All)?;
        let passing = points.iter().filter(|point| filter.passes_record(&point.record));
        Ok(passing.map(|point| point.id).collect())
    }

    fn each_text(&self, chunks: &[Located], each: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let ids: Vec<ChunkId> = chunks.iter().map(|chunk| chunk.id).collect();
        let points = self.points(Which::Chunks(&ids))?;
        let texts: HashMap<ChunkId, &str> =
            points.iter().map(|point| (point.id, &*point.record.text)).collect();
        for id in ids {
            each(texts.get(&id).copied().unwrap_or_default());
        }
        Ok(())
    }
}

impl RemoteStore {
    /// The live versions, cached until the next write begins. Every search calls this, so the terms are checked here:
    /// they must be of the version that queries use.
    pub(super) fn live(&self, generation: &Generation) -> Result<Arc<Live>, StoreError> {
        if generation.number == FOREIGN {
            return Ok(Arc::new(Live::Everything));
        }
        let entry = self.generation_entry(generation)?;
        entry.check_terms()?;
        self.live_of(generation, &entry)
    }

    /// The live versions, without a check of their terms.
    pub(super) fn live_documents(&self, generation: &Generation) -> Result<Arc<Live>, StoreError> {
        if generation.number == FOREIGN {
            return Ok(Arc::new(Live::Everything));
        }
        self.live_of(generation, &self.generation_entry(generation)?)
    }

    pub(super) fn live_of(
        &self,
        generation: &Generation,
        entry: &GenerationEntry,
    ) -> Result<Arc<Live>, StoreError> {
        if let Some((change, live)) = self.live.lock().get(generation)
            && !entry.unfinished
            && *change == entry.change
        {
            return Ok(Arc::clone(live));
        }
        let documents: Vec<DocumentEntry> = self.list(Kind::Document, &generation.key())?;
        let version = |DocumentInfo { doc_id, version, chunks, format, .. }| {
            (doc_id, LiveVersion { version, chunks, kind: DocumentKind::of_format(&format) })
        };
        let versions = documents.into_iter().map(|entry| version(entry.info));
        let live = Arc::new(Live::Versions(versions.collect()));
        if !entry.unfinished {
            self.live.lock().insert(generation.clone(), (entry.change, Arc::clone(&live)));
        }
        Ok(live)
    }

    /// The live versions, read again.
    pub(super) fn live_again(&self, generation: &Generation) -> Result<Arc<Live>, StoreError> {
        self.live.lock().remove(generation);
        self.live(generation)
    }

    /// The `limit` best points from `ask` that are live and pass, best first. `ask` takes the number of points to find,
    /// and is called with greater numbers while too few pass; `can` becomes `false` if the server has no such ranking.
    pub(super) fn answer(
        &self,
        generation: &Generation,
        filter: &Filter,
        limit: usize,
        ask: &dyn Fn(usize) -> Result<Option<Vec<Found>>, StoreError>,
        can: &mut bool,
    ) -> Result<Vec<Scored>, StoreError> {
        let mut live = self.live(generation)?;
        let limit = limit.min(MOST);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut asked = (limit + limit / 4 + 16).min(MOST);
        let mut renewed = 0;
        loop {
            cancel::check()?;
            let Some(found) = ask(asked)? else {
                *can = false;
                return Ok(Vec::new());
            };
            if renewed < ATTEMPTS && found.iter().any(|found| live.is_behind(found)) {
                renewed += 1;
                let again = self.live_again(generation)?;
                // Otherwise the newer version is not committed, and may never be.
                if again != live {
                    live = again;
                    continue;
                }
            }
            let passes = |found: &&Found| {
                live.has(found) && found.record.as_ref().is_none_or(|record| filter.passes_record(record))
            };
            let scored = |found: &Found| Scored { id: found.id, score: found.score };
            let passing: Vec<Scored> = found.iter().filter(passes).map(scored).collect();
            // The server chooses which of several equal scores it returns, but we order them by chunk id.
            let is_settled =
                || passing.get(limit - 1).zip(found.last()).is_some_and(|(own, last)| last.score < own.score);
            if found.len() < asked || is_settled() || asked >= MOST {
                return Ok(top(passing, limit));
            }
            asked = (asked * 4).min(MOST);
        }
    }

    /// A ranking that the server does not compute: by an in-memory index, updated by whole documents.
    pub(super) fn ranked_here(
        &self,
        generation: &Generation,
        filter: &Filter,
        rank: impl FnOnce(&SearchIndex, &Selection) -> Result<Vec<Scored>, StoreError>,
    ) -> Result<Vec<Scored>, StoreError> {
        let shared = Arc::clone(self.indexes.lock().entry(generation.clone()).or_default());
        let mut here = shared.write();
        let RankedHere { index, decided } = &mut *here;
        let mut live = self.live(generation)?;
        for _ in 0..ATTEMPTS {
            if self.refresh(generation, &live, index)? {
                break;
            }
            live = self.live_again(generation)?;
        }
        // Until the next write, the live versions are the same object.
        let is_as_it_is = |of: &Arc<Live>, rows: usize| Arc::ptr_eq(of, &live) && rows == index.row_count();
        let (.., decided) = match decided {
            Some(known) if is_as_it_is(&known.0, known.1) => known,
            other => other.insert((Arc::clone(&live), index.row_count(), Decided::default())),
        };
        let records = RemoteRecords { store: self, generation };
        let passing = decided.get(filter, || index.passing(filter, &NoDisk, &records))?;
        rank(index, &passing)
    }

    /// Updates `index` to the live versions; returns whether all of them could be read.
    fn refresh(
        &self,
        generation: &Generation,
        live: &Live,
        index: &mut SearchIndex,
    ) -> Result<bool, StoreError> {
        let Live::Versions(live) = live else { return Ok(true) };
        let versions: HashSet<i64> = live.values().map(|live| live.version).collect();
        index.retain(&versions);
        if index.last_version() == 0 {
            *index = SearchIndex::new(0);
        } else if index.is_fragmented() {
            *index = index.compacted();
        }
        let is_whole =
            self.each_since(generation, live, index.last_version(), &mut |version, doc_id, points| {
                index.begin(version, doc_id);
                for point in points {
                    let symbols = point.symbols();
                    let facts = facts(&point.record, &symbols);
                    let Point { id, ref terms, ref sparse, enabled, .. } = point;
                    let row = NewRow { id, facts, terms, sparse, enabled, vector: None };
                    index.push(&row, None::<std::iter::Empty<f32>>);
                }
            })?;
        index.finish();
        Ok(is_whole)
    }

    /// Calls `each` with every live version after `last_version`, its document and its points in order; returns whether
    /// all of them could be read.
    pub(super) fn each_since(
        &self,
        generation: &Generation,
        live: &BTreeMap<String, LiveVersion>,
        last_version: i64,
        each: &mut dyn FnMut(i64, &str, Vec<Point>),
    ) -> Result<bool, StoreError> {
        let mut new: Vec<(i64, &String)> = live.iter().map(|(doc_id, live)| (live.version, doc_id)).collect();
        new.retain(|(version, _)| *version > last_version);
        new.sort_unstable();
        for batch in new.chunks(VERSIONS) {
            let wanted: Vec<i64> = batch.iter().map(|(version, _)| *version).collect();
            let points = self.database.points(generation, Which::Versions(&wanted), Part::WithoutVectors)?;
            let mut by_version = by_version(points);
            for (version, doc_id) in batch {
                let points = by_version.remove(version).unwrap_or_default();
                if points.is_empty() && self.is_replaced(generation, doc_id, *version)? {
                    return Ok(false);
                }
                each(*version, doc_id, points);
            }
        }
        Ok(true)
    }

    /// Returns whether a document no longer has this version.
    pub(super) fn is_replaced(
        &self,
        generation: &Generation,
        doc_id: &str,
        version: i64,
    ) -> Result<bool, StoreError> {
        let found = self.document_entries(generation, &[doc_id])?.pop().flatten();
        Ok(found.is_none_or(|entry| entry.info.version != version))
    }

    pub(super) fn read_documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError> {
        let mut documents: Vec<DocumentInfo> = if generation.number == FOREIGN {
            let mut chunks: HashMap<String, u32> = HashMap::new();
            for mark in self.database.marks(generation, Which::All)? {
                *chunks.entry(mark.doc_id).or_default() += 1;
            }
            let info = |(doc_id, chunks)| DocumentInfo { doc_id, chunks, ..DocumentInfo::default() };
            chunks.into_iter().map(info).collect()
        } else {
            self.generation_entry(generation)?;
            let entries: Vec<DocumentEntry> = self.list(Kind::Document, &generation.key())?;
            entries.into_iter().map(|entry| entry.info).collect()
        };
        documents.sort_by(|a, b| a.doc_id.cmp(&b.doc_id));
        Ok(documents)
    }

    pub(super) fn read_document_infos(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<Vec<Option<DocumentInfo>>, StoreError> {
        let infos: HashMap<String, DocumentInfo> = if generation.number == FOREIGN {
            let all = self.read_documents(generation)?;
            all.into_iter().map(|info| (info.doc_id.clone(), info)).collect()
        } else {
            let entries = self.entries_at_once(generation, doc_ids)?;
            entries.into_iter().map(|(doc_id, entry)| (doc_id, entry.info)).collect()
        };
        Ok(doc_ids.iter().map(|doc_id| infos.get(*doc_id).cloned()).collect())
    }

    pub(super) fn read_document(
        &self,
        generation: &Generation,
        doc_id: &str,
    ) -> Result<Option<StoredDocument>, StoreError> {
        if generation.number == FOREIGN {
            return Ok(None);
        }
        self.generation_entry(generation)?;
        for _ in 0..ATTEMPTS {
            let Some(entry) = self.document_entries(generation, &[doc_id])?.pop().flatten() else {
                return Ok(None);
            };
            if let Some(document) = self.body(generation, &entry)? {
                return Ok(Some(document));
            }
            if !self.is_replaced(generation, doc_id, entry.info.version)? {
                return Err(damaged(format!("document `{doc_id}` has no source")));
            }
        }
        Err(damaged(format!("document `{doc_id}` is replaced faster than it can be read")))
    }

    /// A document with its text; `None` if parts of the text are gone.
    pub(super) fn body(
        &self,
        generation: &Generation,
        entry: &DocumentEntry,
    ) -> Result<Option<StoredDocument>, StoreError> {
        let source = self.database.get(&entry.source_keys(generation))?;
        let Some(source) = source.into_iter().collect::<Option<Vec<String>>>() else { return Ok(None) };
        let mut raw = None;
        if entry.raw_parts.is_some() {
            let pieces = self.database.get(&entry.raw_keys(generation))?;
            let Some(pieces) = pieces.into_iter().collect::<Option<Vec<String>>>() else { return Ok(None) };
            let bytes = unhex(&pieces.concat());
            raw = Some(bytes.ok_or_else(|| damaged("the bytes of a file cannot be read".into()))?);
        }
        let DocumentEntry { info, doc_toc, summary, .. } = entry.clone();
        Ok(Some(StoredDocument { info, source: source.concat().into(), raw, doc_toc, summary }))
    }

    pub(super) fn read_records(
        &self,
        generation: &Generation,
        doc_id: &str,
    ) -> Result<Vec<Record>, StoreError> {
        let mut points = if generation.number == FOREIGN {
            self.database.points(generation, Which::Document(doc_id), Part::WithoutVectors)?
        } else {
            self.generation_entry(generation)?;
            self.live_points(generation, doc_id)?
        };
        points.sort_by_key(|point| point.place);
        let records = points.into_iter().map(|point| point.record);
        Ok(records.filter(|record| record.artifact.is_none()).collect())
    }

    fn live_points(&self, generation: &Generation, doc_id: &str) -> Result<Vec<Point>, StoreError> {
        for _ in 0..ATTEMPTS {
            let Some(entry) = self.document_entries(generation, &[doc_id])?.pop().flatten() else {
                return Ok(Vec::new());
            };
            let version = [entry.info.version];
            let points = self.database.points(generation, Which::Versions(&version), Part::WithoutVectors)?;
            if points.len() == entry.info.chunks as usize {
                return Ok(points);
            }
            if !self.is_replaced(generation, doc_id, entry.info.version)? {
                return Err(damaged(format!("document `{doc_id}` has other chunks than were stored")));
            }
        }
        Err(damaged(format!("document `{doc_id}` is replaced faster than it can be read")))
    }

    pub(super) fn read_chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Arc<StoredChunk>>>, StoreError> {
        for attempt in 1.. {
            let points = self.database.points(generation, Which::Chunks(ids), Part::WithoutVectors)?;
            let mut doc_ids: Vec<&str> = points.iter().map(|point| point.record.doc_id.as_str()).collect();
            doc_ids.sort_unstable();
            doc_ids.dedup();
            let entries = self.entries_at_once(generation, &doc_ids)?;
            let is_behind = points.iter().any(|point| {
                let entry = entries.get(point.record.doc_id.as_str());
                entry.is_some_and(|entry| entry.info.version > point.version)
            });
            let mut chunks: HashMap<ChunkId, Arc<StoredChunk>> = HashMap::with_capacity(points.len());
            for point in points {
                let entry = entries.get(&point.record.doc_id);
                let is_live = entry.is_some_and(|entry| entry.info.version == point.version);
                if is_live || generation.number == FOREIGN {
                    let (embedded, enabled) = (point.embedded, point.enabled);
                    let said = entry.map(|entry| (entry.doc_toc.clone(), entry.summary.clone()));
                    let (doc_toc, doc_summary) = said.unwrap_or_default();
                    let (record, terms) = (point.record, point.terms);
                    let chunk = StoredChunk { record, doc_toc, doc_summary, terms, embedded, enabled };
                    chunks.insert(point.id, Arc::new(chunk));
                }
            }
            // Chunks missed in an old version may exist in the new one.
            let is_whole = ids.iter().all(|id| chunks.contains_key(id));
            if is_whole || !is_behind || attempt == ATTEMPTS {
                return Ok(ids.iter().map(|id| chunks.get(id).cloned()).collect());
            }
        }
        Ok(Vec::new())
    }

    pub(super) fn read_origins(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Origin>>, StoreError> {
        let live = self.live(generation)?;
        let marks = self.database.marks(generation, Which::Chunks(ids))?;
        let origin = |mark: Mark| {
            let kind = match &*live {
                Live::Everything => DocumentKind::Prose,
                Live::Versions(versions) => {
                    versions.get(&mark.doc_id).filter(|live| live.version == mark.version)?.kind
                }
            };
            Some((mark.id, Origin { doc_id: mark.doc_id, kind }))
        };
        let origins: HashMap<ChunkId, Origin> = marks.into_iter().filter_map(origin).collect();
        Ok(ids.iter().map(|id| origins.get(id).cloned()).collect())
    }

    pub(super) fn read_codes(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let marks = self.database.marks(generation, Which::Chunks(ids))?;
        let hashes: HashMap<ChunkId, TextHash> =
            marks.into_iter().map(|mark| (mark.id, mark.text_hash)).collect();
        let wanted: Vec<TextHash> = ids.iter().filter_map(|id| hashes.get(id).copied()).collect();
        let model = generation.spec.model.as_ref().map_or("", |model| &model.name);
        let known = self.cache.vectors(model, &wanted)?;
        let codes = known.into_iter().map(|vector| vector.and_then(|vector| vector.codes));
        let by_text: HashMap<TextHash, Option<Vec<u8>>> = wanted.into_iter().zip(codes).collect();
        Ok(ids.iter().map(|id| by_text.get(hashes.get(id)?).cloned().flatten()).collect())
    }

    /// The entries of documents by id, with a check that their generation exists, in one request.
    pub(super) fn entries_at_once(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<HashMap<String, DocumentEntry>, StoreError> {
        if generation.number == FOREIGN {
            return Ok(HashMap::new());
        }
        let documents = doc_ids.iter().map(|doc_id| catalog::document_key(generation, doc_id));
        let own = entry::key(Kind::Generation, "", &generation.key());
        let mut found = self.database.get(&documents.chain([own]).collect::<Vec<_>>())?.into_iter();
        let mut entries = HashMap::with_capacity(doc_ids.len());
        for (doc_id, value) in doc_ids.iter().zip(found.by_ref()) {
            if let Some(value) = value {
                entries.insert((*doc_id).to_owned(), catalog::read(&value)?);
            }
        }
        let entry: Option<GenerationEntry> =
            found.next().flatten().map(|value| catalog::read(&value)).transpose()?;
        entry.map(|_| entries).ok_or_else(|| unknown_generation(generation))
    }
}

/// Points by version, each in order.
pub(super) fn by_version(points: Vec<Point>) -> HashMap<i64, Vec<Point>> {
    let mut by_version: HashMap<i64, Vec<Point>> = HashMap::new();
    for point in points {
        by_version.entry(point.version).or_default().push(point);
    }
    for points in by_version.values_mut() {
        points.sort_by_key(|point| (point.place, point.id));
    }
    by_version
}

pub(super) fn damaged(problem: String) -> StoreError {
    StoreError::Damaged { problem }
}
