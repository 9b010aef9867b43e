//! Finds the chunk that an overlay applies to: the one with the id it was made for; else the one with the same content;
//! else the only similar one.
//!
//! This depends on the present overlays and chunks alone, not on history. So it is the same in every store, and
//! returning to an earlier configuration or text returns each overlay to its earlier chunk.
//!
//! If the overlay's own document exists, only its chunks are compared: a copy elsewhere is not what was changed. A
//! missing document may have been renamed, so its overlays look for their chunks in all other documents.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use chunkwright::Record;

use super::likeness::{LEAST_LEAD, LEAST_LIKENESS, Likenesses};
use super::{Overlay, OverlayState, content_hash};

/// An overlay and how it is on its chunk.
pub(crate) type Placed<'o> = (&'o Overlay, OverlayState);

/// A chunk that an overlay may belong to.
#[derive(Clone, Debug)]
struct Candidate<P> {
    likeness: f64,
    /// How much the heading path and document differ; less is better.
    distance: u8,
    place: P,
}

impl<P: Ord> Candidate<P> {
    /// Best first.
    fn order(&self, other: &Self) -> Ordering {
        let by_path = self.distance.cmp(&other.distance);
        other.likeness.total_cmp(&self.likeness).then(by_path).then_with(|| self.place.cmp(&other.place))
    }
}

/// Best candidates kept for each overlay: with more, none is the only one.
const KEPT: usize = 4;

fn keep<P: Ord>(kept: &mut Vec<Candidate<P>>, candidate: Candidate<P>) {
    let at = kept.partition_point(|known| known.order(&candidate) == Ordering::Less);
    if at < KEPT {
        kept.insert(at, candidate);
        kept.truncate(KEPT);
    }
}

/// The only good candidate: none with as near a path is almost as similar.
fn only<P>(candidates: &[Candidate<P>]) -> Option<&Candidate<P>> {
    let (best, others) = candidates.split_first()?;
    let is_rival =
        |other: &Candidate<P>| other.likeness > best.likeness - LEAST_LEAD && other.distance <= best.distance;
    (best.likeness >= LEAST_LIKENESS && !others.iter().any(is_rival)).then_some(best)
}

/// The state of an overlay on a chunk that it was not found on by id.
fn state(overlay: &Overlay, same_content: Same) -> OverlayState {
    match (same_content, &overlay.text) {
        (Same::Yes, _) => OverlayState::On,
        (Same::No, None) => OverlayState::Carried,
        (Same::No, Some(_)) => OverlayState::Conflict,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Same {
    Yes,
    No,
}

/// Assigns the overlays of one document to its chunks.
pub fn place_in<'o>(overlays: &[&'o Overlay], records: &[&Record]) -> Vec<Option<Placed<'o>>> {
    let mut placed: Vec<Option<Placed<'o>>> = vec![None; records.len()];
    let mut rest: HashMap<&str, &'o Overlay> =
        overlays.iter().map(|overlay| (overlay.chunk_id.as_str(), *overlay)).collect();
    for (record, place) in records.iter().zip(&mut placed) {
        *place = rest.remove(record.chunk_id.to_string().as_str()).map(|overlay| (overlay, OverlayState::On));
    }
    if rest.is_empty() {
        return placed;
    }
    let mut rest: Vec<&Overlay> = rest.into_values().collect();
    rest.sort_unstable_by(|a, b| a.chunk_id.cmp(&b.chunk_id));
    let mut by_content: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        if placed[at].is_none() && record.artifact.is_none() {
            by_content.entry(content_hash(&record.content)).or_default().push(at);
        }
    }
    rest.retain(|overlay| {
        let Some(equal) = by_content.get_mut(&overlay.content_hash) else { return true };
        let same_path = equal.iter().position(|at| records[*at].header_path == overlay.header_path);
        let Some(chosen) = same_path.or((equal.len() == 1).then_some(0)) else { return true };
        placed[equal.remove(chosen)] = Some((*overlay, state(overlay, Same::Yes)));
        false
    });
    if rest.is_empty() {
        return placed;
    }
    let likenesses = Likenesses::new(rest);
    let mut found: Vec<Vec<Candidate<usize>>> = vec![Vec::new(); likenesses.overlays().len()];
    for (at, record) in records.iter().enumerate() {
        if placed[at].is_some() || record.artifact.is_some() {
            continue;
        }
        for (of, likeness) in likenesses.of(&record.content) {
            let distance = u8::from(likenesses.overlays()[of].header_path != record.header_path);
            keep(&mut found[of], Candidate { likeness, distance, place: at });
        }
    }
    for (overlay, at) in settled(&likenesses, &found) {
        placed[at] = Some((overlay, state(overlay, Same::No)));
    }
    placed
}

/// The overlays that have one good candidate. If two share it, the more similar one gets it.
fn settled<'o, P: Ord + Clone + std::hash::Hash>(
    likenesses: &Likenesses<'o>,
    found: &[Vec<Candidate<P>>],
) -> Vec<(&'o Overlay, P)> {
    let overlays = likenesses.overlays().iter().zip(found);
    let mut claims: Vec<(f64, &'o Overlay, &P)> = overlays
        .filter_map(|(overlay, found)| only(found).map(|best| (best.likeness, *overlay, &best.place)))
        .collect();
    claims.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.chunk_id.cmp(&b.1.chunk_id)));
    let mut taken = HashSet::new();
    claims.retain(|(.., place)| taken.insert(*place));
    claims.into_iter().map(|(_, overlay, place)| (overlay, place.clone())).collect()
}

/// A chunk of another document: the document, and its id.
pub type Elsewhere = (String, String);

/// Looks for overlays whose documents are gone among the chunks of all others.
pub struct Search<'o> {
    likenesses: Likenesses<'o>,
    by_content: HashMap<&'o str, Vec<usize>>,
    equal: Vec<Vec<Candidate<Elsewhere>>>,
    like: Vec<Vec<Candidate<Elsewhere>>>,
}

impl<'o> Search<'o> {
    /// A search for these overlays.
    pub fn new(mut overlays: Vec<&'o Overlay>) -> Self {
        overlays.sort_unstable_by(|a, b| a.chunk_id.cmp(&b.chunk_id));
        let mut by_content: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, overlay) in overlays.iter().enumerate() {
            by_content.entry(&overlay.content_hash).or_default().push(at);
        }
        let empty = vec![Vec::new(); overlays.len()];
        Self { likenesses: Likenesses::new(overlays), by_content, equal: empty.clone(), like: empty }
    }

    /// Compares a chunk that has no overlay.
    pub fn look_at(&mut self, record: &Record) {
        if record.artifact.is_some() {
            return;
        }
        let place = || (record.doc_id.clone(), record.chunk_id.to_string());
        let overlays = self.likenesses.overlays();
        let distance = |of: usize| {
            let path = u8::from(overlays[of].header_path != record.header_path);
            2 * path + u8::from(file_name(&overlays[of].doc_id) != file_name(&record.doc_id))
        };
        let equal = self.by_content.get(content_hash(&record.content).as_str());
        for of in equal.into_iter().flatten().copied() {
            // Short or common content occurs in many places.
            if self.likenesses.is_telling(of) || distance(of) < 2 {
                let candidate = Candidate { likeness: 1.0, distance: distance(of), place: place() };
                keep(&mut self.equal[of], candidate);
            }
        }
        for (of, likeness) in self.likenesses.of(&record.content) {
            keep(&mut self.like[of], Candidate { likeness, distance: distance(of), place: place() });
        }
    }

    /// The overlays that were found, with their chunks.
    pub fn found(mut self) -> Vec<(&'o Overlay, OverlayState, Elsewhere)> {
        let equal = settled(&self.likenesses, &self.equal);
        let taken: HashSet<&Elsewhere> = equal.iter().map(|(_, place)| place).collect();
        let known: HashSet<&str> = equal.iter().map(|(overlay, _)| overlay.chunk_id.as_str()).collect();
        for (overlay, found) in self.likenesses.overlays().iter().zip(&mut self.like) {
            found.retain(|candidate| {
                !taken.contains(&candidate.place) && !known.contains(overlay.chunk_id.as_str())
            });
        }
        let like = settled(&self.likenesses, &self.like).into_iter();
        let like = like.map(|(overlay, place)| (overlay, state(overlay, Same::No), place));
        let equal = equal.iter().map(|(overlay, place)| (*overlay, state(overlay, Same::Yes), place.clone()));
        equal.chain(like).collect()
    }
}

fn file_name(doc_id: &str) -> &str {
    doc_id.rsplit('/').next().unwrap_or(doc_id)
}

#[cfg(test)]
mod tests {
    use chunkwright::{Chunker, Document, RecordContext, Words, parse::Markdown};
    use std::sync::Arc;

    use super::super::likeness::WORK;
    use super::*;

    /// Records of a document of `count` sections, each with words of its own beside the shared ones.
    fn records(doc_id: &str, count: usize, word: &str) -> Vec<Record> {
        let section = |at: usize| {
            let own: String = (0..12).map(|word| format!("w{at}x{word} ")).collect();
            format!("# S{at}\n\nWhat all of them say is the same few words. {own}{word}\n\n")
        };
        let text: String = (0..count).map(section).collect();
        let config = chunkwright::ChunkConfig { min_size: 0, ..chunkwright::ChunkConfig::default() };
        let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
        let document = Document::parse(doc_id, text, &Markdown);
        chunker.chunk(&document).records(&RecordContext::default())
    }

    fn overlays(records: &[Record]) -> Vec<Overlay> {
        let overlay = |record| Overlay { disabled: true, ..Overlay::of(record) };
        records.iter().map(overlay).collect()
    }

    #[test]
    fn the_work_grows_as_chunks_and_overlays_do() {
        let work = [50, 100, 200, 400].map(|count| {
            let overlays = overlays(&records("a.md", count, "before"));
            let overlays: Vec<&Overlay> = overlays.iter().collect();
            let edited = records("a.md", count, "after");
            let moved = records("b.md", count, "after");
            WORK.set(0);
            let placed = place_in(&overlays, &edited.iter().collect::<Vec<_>>());
            assert_eq!(placed.iter().flatten().count(), count);
            let mut search = Search::new(overlays);
            for record in &moved {
                search.look_at(record);
            }
            assert_eq!(search.found().len(), count);
            WORK.get()
        });
        for (times, work_now) in [1, 2, 4, 8].into_iter().zip(work) {
            assert!(work_now > 0 && work_now <= times * work[0] * 5 / 4, "{work:?}");
        }
    }

    #[test]
    fn the_order_of_documents_does_not_matter() {
        let overlays = overlays(&records("a.md", 6, "before"));
        let (one, two) = (records("b.md", 3, "after"), records("c.md", 6, "after"));
        let find = |documents: [&[Record]; 2]| {
            let mut search = Search::new(overlays.iter().collect());
            documents.into_iter().flatten().for_each(|record| search.look_at(record));
            let found = search.found().into_iter();
            let mut found: Vec<_> =
                found.map(|(overlay, state, place)| (&overlay.chunk_id, state, place)).collect();
            found.sort_by(|a, b| a.0.cmp(b.0));
            found
        };
        assert_eq!(find([&one, &two]), find([&two, &one]));
        // Those with a chunk in each of two documents are a guess.
        assert_eq!(find([&one, &two]).len(), 3);
    }
}
