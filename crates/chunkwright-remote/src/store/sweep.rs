//! Deletes what crashes left behind, checks stored documents, and lists the vectors in use.

use std::collections::{HashMap, HashSet};

use super::RemoteStore;
use super::catalog::{self, CollectionEntry, DocumentEntry, GenerationEntry};
use crate::database::{Part, Point, Which};
use crate::entry::Kind;
use chunkwright_store::local_cache::Used;
use chunkwright_store::verify::{self, Counters, Kept, Unsound};
use chunkwright_store::{CheckReport, Generation, NewChunk, OverlayStore, Overlays, StoreError, Vector};

/// Removes leftovers of a collection's generations that the catalog does not list, by the name that it is kept under.
pub(super) fn sweep_generations(
    store: &RemoteStore,
    known: &[GenerationEntry],
    stored: &str,
) -> Result<(), StoreError> {
    for left in left_generations(store, known)?.iter().filter(|left| left.collection == stored) {
        store.database.drop_points(left)?;
    }
    Ok(())
}

fn left_generations(store: &RemoteStore, known: &[GenerationEntry]) -> Result<Vec<Generation>, StoreError> {
    store.database.left(&known.iter().map(|entry| &entry.generation).collect::<Vec<_>>())
}

/// Removes points and parts of texts that no document's entry refers to.
pub(super) fn sweep(store: &RemoteStore, generation: &Generation) -> Result<(), StoreError> {
    let left = Left::of(store, generation)?;
    store.database.delete(generation, &left.versions)?;
    store.database.forget(&left.parts)
}

/// Orphaned points and parts, and counts of live ones.
struct Left {
    versions: Vec<i64>,
    points: usize,
    parts: Vec<String>,
    documents: Vec<DocumentEntry>,
    /// Live points, by version.
    chunks: HashMap<i64, usize>,
    /// Number of live points whose id another live point has.
    doubles: usize,
}

impl Left {
    fn of(store: &RemoteStore, generation: &Generation) -> Result<Self, StoreError> {
        let marks = store.database.marks(generation, Which::All)?;
        let parts = store.database.keys(Kind::Part, &generation.key())?;
        // Read after the points, so that versions committed in between count as live.
        let documents: Vec<DocumentEntry> = store.list(Kind::Document, &generation.key())?;
        let live: HashMap<i64, &str> =
            documents.iter().map(|entry| (entry.info.version, entry.info.doc_id.as_str())).collect();
        let bodies: HashSet<i64> = documents.iter().map(|entry| entry.body).collect();
        let (mut versions, mut chunks, mut ids) = (HashSet::new(), HashMap::new(), HashSet::new());
        let (mut points, mut doubles) = (0, 0);
        for mark in &marks {
            if live.get(&mark.version) == Some(&mark.doc_id.as_str()) {
                *chunks.entry(mark.version).or_default() += 1;
                doubles += usize::from(!ids.insert(mark.id));
            } else {
                points += 1;
                versions.insert(mark.version);
            }
        }
        let is_left = |key: &String| catalog::part_version(key).is_none_or(|body| !bodies.contains(&body));
        Ok(Self {
            versions: versions.into_iter().collect(),
            points,
            parts: parts.into_iter().filter(is_left).collect(),
            chunks,
            doubles,
            documents,
        })
    }
}

/// See [`Store::check_documents_of`](super::super::Store::check_documents_of).
pub(super) fn check(store: &RemoteStore, collection: Option<&str>) -> Result<CheckReport, StoreError> {
    let mut report = CheckReport::default();
    let counters = Counters::default();
    let collections = store.collection_entries()?;
    let known = store.generation_entries(&collections)?;
    for left in left_generations(store, &known)? {
        report.problems.push(format!(
            "`{left}` was not made to its end, or not removed to its end; the next run into `{}` removes it",
            left.collection
        ));
    }
    for entry in store.list::<CollectionEntry>(Kind::Collection, "")? {
        if let Some(to) = entry.to {
            let name = entry.name;
            report.problems.push(format!(
                "`{name}` was not renamed to its end; the next run completes that, or undoes it: look for `{to}`"
            ));
        }
    }
    let is_wanted =
        |entry: &GenerationEntry| collection.is_none_or(|wanted| wanted == entry.generation.collection);
    for entry in known.into_iter().filter(is_wanted) {
        let generation = entry.generation;
        let is_current =
            |entry: &CollectionEntry| entry.has(&generation) && entry.current == generation.number;
        if collections.iter().any(is_current) && !store.database.is_published(&generation)? {
            report.problems.push(format!(
                "`{generation}` is current, and other programs are shown another under its name; the next run corrects that"
            ));
        }
        let left = Left::of(store, &generation)?;
        let mut tell = |count: usize, what: &str| {
            if count > 0 {
                report.problems.push(format!("`{generation}` has {count} {what}"));
            }
        };
        let later = "of versions that are not live, which the next write removes";
        tell(left.points, &format!("points {later}"));
        tell(left.parts.len(), &format!("pieces of texts {later}"));
        tell(left.doubles, "chunks with the id of another");
        report.documents += left.documents.len();
        report.chunks += left.chunks.values().sum::<usize>();
        let overlays = store.overlays(&generation.collection)?;
        for documents in left.documents.chunks(DOCUMENTS) {
            check_documents(store, &generation, documents, &overlays, &counters, &mut report)?;
        }
    }
    Ok(report)
}

/// Documents read at once.
const DOCUMENTS: usize = 64;

fn check_documents(
    store: &RemoteStore,
    generation: &Generation,
    documents: &[DocumentEntry],
    overlays: &Overlays,
    counters: &Counters,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let versions: Vec<i64> = documents.iter().map(|document| document.info.version).collect();
    let points = store.database.points(generation, Which::Versions(&versions), Part::Whole)?;
    let mut by_version: HashMap<i64, Vec<Point>> = HashMap::new();
    for point in points {
        let vector = point.vector.as_ref().zip(generation.spec.model.as_ref());
        if let Some((dense, model)) = vector {
            let sparse = model.sparse.then(|| point.sparse.clone());
            if let Err(problem) =
                verify::of_vector(&Vector { dense: dense.clone(), sparse, codes: None }, model)
            {
                report.problems.push(format!("`{generation}`, chunk `{}`: {problem}", point.id));
            }
        }
        by_version.entry(point.version).or_default().push(point);
    }
    let mut window = Vec::with_capacity(documents.len());
    for entry in documents {
        let doc_id = entry.info.doc_id.clone();
        let Some(document) = store.body(generation, entry)? else {
            let problem = format!("document `{doc_id}` has no source");
            report.add(generation, vec![Unsound { doc_id, problem }]);
            continue;
        };
        let mut points = by_version.remove(&entry.info.version).unwrap_or_default();
        points.sort_by_key(|point| point.place);
        let chunk = |point: Point| NewChunk {
            record: point.record,
            text_hash: point.text_hash,
            terms: point.terms,
            enabled: point.enabled,
        };
        window.push(Kept { document, chunks: points.into_iter().map(chunk).collect() });
    }
    report.add(generation, verify::stored(&generation.spec, &window, overlays, counters));
    Ok(())
}

/// The vectors that chunks use.
pub(super) fn used(store: &RemoteStore) -> Result<Used, StoreError> {
    let mut used = Used::new();
    for entry in store.generation_entries(&store.collection_entries()?)? {
        let Some(model) = &entry.generation.spec.model else { continue };
        let marks = store.database.marks(&entry.generation, Which::All)?;
        used.extend(marks.into_iter().map(|mark| (model.name.clone(), mark.text_hash)));
    }
    Ok(used)
}
