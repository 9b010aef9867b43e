//! Pages of chunks, and statistics. No server can order live chunks only, so in document order the catalog names the
//! next documents and their chunks are requested from the server. Other orders and statistics use columns in memory,
//! for which every chunk is read once and new ones afterwards.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use chunkwright::ChunkId;

use super::read::{ATTEMPTS, Live, LiveVersion, by_version, damaged};
use super::{FOREIGN, RemoteStore};
use crate::database::{Part, Point, Which};
use chunkwright_store::columns::{Columns, NewRow, Selection};
use chunkwright_store::list::{PageBuilder, Position};
use chunkwright_store::{ChunkPage, Direction, Filter, Generation, ListRequest, ListedChunk, StoreError};

/// Columns, the live versions that they were built from, and the chunks that passed the last filter for which records
/// were read.
#[derive(Debug, Default)]
pub(super) struct ColumnsHere {
    live: Option<Arc<Live>>,
    columns: Columns,
    passed: Option<(Filter, HashSet<ChunkId>)>,
}

/// Most chunks requested at once for a page, if few pass the filter.
const MOST_AT_ONCE: u32 = 4_000;

/// Why filling a page stopped.
enum Stop {
    Full,
    /// A document was replaced meanwhile.
    Replaced,
}

/// A page and the source that it is filled from.
struct Filling<'a, 'p> {
    store: &'a RemoteStore,
    generation: &'a Generation,
    request: &'a ListRequest,
    page: &'a mut PageBuilder<'p>,
    /// Documents that are requested together, and their number of chunks.
    together: Vec<(&'a str, LiveVersion)>,
    chunks: u32,
    /// Number of chunks requested at once.
    at_once: u32,
}

impl RemoteStore {
    pub(super) fn read_page(
        &self,
        generation: &Generation,
        request: &ListRequest,
    ) -> Result<ChunkPage, StoreError> {
        let after = request.position(generation)?;
        if !request.is_in_document_order() || generation.number == FOREIGN {
            return self.page_by_columns(generation, request, after);
        }
        let mut live = self.live_documents(generation)?;
        for _ in 0..ATTEMPTS {
            let mut page = PageBuilder::new(request, generation)?;
            let Live::Versions(documents) = &*live else { break };
            let after = after
                .clone()
                .map(|after| self.found_again(generation, request, documents, after))
                .transpose()?;
            let at_once = page.wanted() as u32;
            let (together, chunks) = (Vec::new(), 0);
            let mut filling =
                Filling { store: self, generation, request, page: &mut page, together, chunks, at_once };
            if let ControlFlow::Continue(()) | ControlFlow::Break(Stop::Full) =
                filling.fill(documents, after.as_ref())?
            {
                return Ok(page.finish());
            }
            live = self.live_again(generation)?;
        }
        Err(damaged(format!("documents of `{generation}` are replaced faster than they can be read")))
    }

    /// Translates a position to the document's current version.
    fn found_again(
        &self,
        generation: &Generation,
        request: &ListRequest,
        documents: &BTreeMap<String, LiveVersion>,
        after: Position,
    ) -> Result<Position, StoreError> {
        let Some(live) = documents.get(&after.doc_id) else { return Ok(after) };
        after.at(request, live.version, |id| {
            let points = self.database.points(generation, Which::Chunks(&[id]), Part::WithoutVectors)?;
            let found = points.into_iter().find(|point| point.version == live.version);
            Ok(found.map(|point| point.place))
        })
    }

    /// A page in the order of columns.
    fn page_by_columns(
        &self,
        generation: &Generation,
        request: &ListRequest,
        after: Option<Position>,
    ) -> Result<ChunkPage, StoreError> {
        let mut page = PageBuilder::new(request, generation)?;
        let listed: Vec<(u32, i64, ChunkId)> =
            self.with_columns(generation, &request.filter, |columns, passing| {
                let listed = columns.page(request, after, passing);
                listed.iter().map(|listed| (listed.place, listed.version, listed.id)).collect()
            })?;
        let ids: Vec<ChunkId> = listed.iter().map(|(.., id)| *id).collect();
        for ((place, version, _), chunk) in listed.into_iter().zip(self.read_chunks(generation, &ids)?) {
            let Some(chunk) = chunk else { continue };
            if page.push(place, version, ListedChunk::from(&*chunk)).is_break() {
                break;
            }
        }
        Ok(page.finish())
    }

    /// Runs `read` over the columns of the live versions and the selection of their passing rows.
    pub(super) fn with_columns<T>(
        &self,
        generation: &Generation,
        filter: &Filter,
        read: impl FnOnce(&Columns, Selection<'_>) -> T,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(self.columns.lock().entry(generation.clone()).or_default());
        let mut here = shared.lock();
        self.refresh_columns(generation, &mut here)?;
        if Columns::decide(filter) {
            return Ok(read(&here.columns, Selection::Filter(filter)));
        }
        if here.passed.as_ref().is_none_or(|(known, _)| known != filter) {
            let mut points = self.database.points(generation, Which::All, Part::WithoutVectors)?;
            if let Some(Live::Versions(live)) = here.live.as_deref() {
                let version = |point: &Point| live.get(&point.record.doc_id).map(|live| live.version);
                points.retain(|point| version(point) == Some(point.version));
            }
            points.retain(|point| filter.passes_record(&point.record));
            here.passed = Some((filter.clone(), points.iter().map(|point| point.id).collect()));
        }
        let nothing = HashSet::new();
        let passed = here.passed.as_ref().map_or(&nothing, |(_, passed)| passed);
        Ok(read(&here.columns, Selection::Chunks(passed)))
    }

    /// Updates columns to the live versions.
    fn refresh_columns(&self, generation: &Generation, here: &mut ColumnsHere) -> Result<(), StoreError> {
        let mut live = self.live_documents(generation)?;
        for _ in 0..ATTEMPTS {
            if here.live.as_ref().is_some_and(|known| *known == live && *live != Live::Everything) {
                return Ok(());
            }
            // After a failure, the columns are rebuilt from scratch.
            let mut columns = std::mem::take(here).columns;
            let Live::Versions(documents) = &*live else {
                columns = Columns::default();
                for point in self.foreign_points(generation)? {
                    push(&mut columns, 1, &point.record.doc_id, &point);
                }
                here.columns = columns;
                return Ok(());
            };
            let last_version = columns.last_version();
            let versions = documents.iter().map(|(doc_id, live)| (doc_id.as_str(), live.version));
            columns.retain(&versions.collect());
            let is_whole =
                self.each_since(generation, documents, last_version, &mut |version, doc_id, points| {
                    for point in &points {
                        push(&mut columns, version, doc_id, point);
                    }
                })?;
            if is_whole {
                *here = ColumnsHere { live: Some(live), columns, passed: None };
                return Ok(());
            }
            live = self.live_again(generation)?;
        }
        Err(damaged(format!("documents of `{generation}` are replaced faster than they can be read")))
    }

    /// The points of another program's collection, in order within each document.
    fn foreign_points(&self, generation: &Generation) -> Result<Vec<Point>, StoreError> {
        let points = self.database.points(generation, Which::All, Part::WithoutVectors)?;
        Ok(by_version(points).into_values().flatten().collect())
    }
}

fn push(columns: &mut Columns, version: i64, doc_id: &str, point: &Point) {
    let symbols = point.symbols();
    let row = NewRow::of(point.id, &point.record, &symbols, point.text_hash, point.enabled);
    columns.push(version, doc_id, &row);
}

type Flow = Result<ControlFlow<Stop>, StoreError>;

impl<'a> Filling<'a, '_> {
    /// Fills the page in the order of documents.
    fn fill(&mut self, documents: &'a BTreeMap<String, LiveVersion>, after: Option<&Position>) -> Flow {
        let edge = after.map_or(Bound::Unbounded, |after| Bound::Included(after.doc_id.as_str()));
        let direction = self.request.direction;
        let mut each = |(doc_id, live): (&'a String, &'a LiveVersion)| {
            let after = after.filter(|after| after.doc_id == *doc_id).map(|after| after.place);
            match self.document(doc_id, *live, after) {
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
                stopped => ControlFlow::Break(stopped),
            }
        };
        let stopped = match direction {
            Direction::Ascending => {
                documents.range::<str, _>((edge, Bound::Unbounded)).try_for_each(&mut each)
            }
            Direction::Descending => {
                documents.range::<str, _>((Bound::Unbounded, edge)).rev().try_for_each(&mut each)
            }
        };
        match stopped {
            ControlFlow::Break(stopped) => stopped,
            ControlFlow::Continue(()) => self.ask_together(),
        }
    }

    /// Adds the chunks of a document after the one at `after`.
    fn document(&mut self, doc_id: &'a str, live: LiveVersion, after: Option<i64>) -> Flow {
        if after.is_none() && live.chunks <= self.at_once {
            self.together.push((doc_id, live));
            self.chunks += live.chunks;
            let is_enough = self.chunks >= self.at_once;
            return if is_enough { self.ask_together() } else { Ok(ControlFlow::Continue(())) };
        }
        if let stopped @ ControlFlow::Break(_) = self.ask_together()? {
            return Ok(stopped);
        }
        let within = |place: i64| place.clamp(0, i64::from(live.chunks)) as u32;
        let (mut from, mut to) = match (self.request.direction, after) {
            (_, None) => (0, live.chunks),
            (Direction::Ascending, Some(after)) => (within(after + 1), live.chunks),
            (Direction::Descending, Some(after)) => (0, within(after)),
        };
        while from < to {
            let places = match self.request.direction {
                Direction::Ascending => (from, to.min(from + self.at_once)),
                Direction::Descending => (from.max(to.saturating_sub(self.at_once)), to),
            };
            let which = Which::Places(live.version, places);
            let points = self.store.database.points(self.generation, which, Part::WithoutVectors)?;
            let points = by_version(points).remove(&live.version).unwrap_or_default();
            if let stopped @ ControlFlow::Break(_) =
                self.push(doc_id, live.version, places.1 - places.0, points)?
            {
                return Ok(stopped);
            }
            match self.request.direction {
                Direction::Ascending => from = places.1,
                Direction::Descending => to = places.0,
            }
            self.ask_for_more();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Requests more at once, for filters that few chunks pass.
    fn ask_for_more(&mut self) {
        self.at_once = (self.at_once * 2).min(MOST_AT_ONCE.max(self.at_once));
    }

    /// Adds the chunks of the collected documents.
    fn ask_together(&mut self) -> Flow {
        let together = std::mem::take(&mut self.together);
        self.chunks = 0;
        if together.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let versions: Vec<i64> = together.iter().map(|(_, live)| live.version).collect();
        let which = Which::Versions(&versions);
        let points = self.store.database.points(self.generation, which, Part::WithoutVectors)?;
        let mut by_version = by_version(points);
        for (doc_id, live) in together {
            let points = by_version.remove(&live.version).unwrap_or_default();
            if let stopped @ ControlFlow::Break(_) = self.push(doc_id, live.version, live.chunks, points)? {
                return Ok(stopped);
            }
        }
        self.ask_for_more();
        Ok(ControlFlow::Continue(()))
    }

    /// Adds the passing points of a version; `points` must be `count` points in order.
    fn push(&mut self, doc_id: &str, version: i64, count: u32, mut points: Vec<Point>) -> Flow {
        if points.len() != count as usize {
            if self.store.is_replaced(self.generation, doc_id, version)? {
                return Ok(ControlFlow::Break(Stop::Replaced));
            }
            return Err(damaged(format!("document `{doc_id}` has other chunks than were stored")));
        }
        if self.request.direction == Direction::Descending {
            points.reverse();
        }
        for Point { place, record, enabled, embedded, .. } in points {
            let is_listed =
                self.request.visibility.shows(enabled) && self.request.filter.passes_record(&record);
            let chunk = ListedChunk { record, enabled, embedded };
            if is_listed && self.page.push(place, version, chunk).is_break() {
                return Ok(ControlFlow::Break(Stop::Full));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
