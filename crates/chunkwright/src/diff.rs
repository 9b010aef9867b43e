//! Compares the chunks of two runs: which survive an edit or a change of configuration, which do not, and what
//! embedding them again costs.
//!
//! Two questions are kept apart. *Identity*: a chunk survives if its id does, wherever it stands now.
//! *Cost*: a text is embedded again only if no old chunk had exactly that text, whatever its id; a
//! renamed file changes every id and costs nothing.
//!
//! A document that only the new side has counts as renamed from one that only the old side has if they share most of
//! their lines, by length, as in git.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkId;
use crate::record::Record;

/// The difference between two sets of chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diff {
    /// Every chunk of either side, once: documents in order of their id; within one the new chunks in
    /// order, each removed chunk after the new ones that took its place.
    pub changes: Vec<Change>,
    /// The counts.
    pub summary: Summary,
}

/// How much of each kind there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Chunks on the old side.
    pub old_chunks: usize,
    /// Chunks on the new side.
    pub new_chunks: usize,
    /// Chunks with [`ChangeKind::Kept`].
    pub kept: usize,
    /// Chunks with [`ChangeKind::Moved`].
    pub moved: usize,
    /// Chunks with [`ChangeKind::Renamed`].
    #[serde(default)]
    pub renamed: usize,
    /// Chunks with [`ChangeKind::Changed`].
    pub changed: usize,
    /// Chunks with [`ChangeKind::Added`].
    pub added: usize,
    /// Chunks with [`ChangeKind::Removed`].
    pub removed: usize,
    /// Tokens of all texts on the new side.
    pub new_tokens: usize,
    /// Different texts of the new side that no chunk of the old side has.
    pub texts_to_embed: usize,
    /// Tokens of those texts.
    pub tokens_to_embed: usize,
}

/// What became of one chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The document.
    pub doc_id: String,
    /// What the document was called on the old side, if it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_doc_id: Option<String>,
    /// Heading or symbol path, of the new side where there is one.
    pub header_path: String,
    /// Where it stood; `None` if it was added.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old: Option<Place>,
    /// Where it stands; `None` if it was removed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub new: Option<Place>,
    /// Whether its text has to be embedded: no old chunk has it.
    pub embed: bool,
}

/// Kinds of [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Same id on the same lines.
    Kept,
    /// Same id on other lines.
    Moved,
    /// Same text in a document that was renamed: another id, and a vector that stays.
    Renamed,
    /// Another id in the place of an old one: what it says or what it borrows was edited.
    Changed,
    /// No old chunk stood in its place.
    Added,
    /// No new chunk stands in its place.
    Removed,
}

impl ChangeKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Kept, Self::Moved, Self::Renamed, Self::Changed, Self::Added, Self::Removed];

    /// The name that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Moved => "moved",
            Self::Renamed => "renamed",
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// A chunk on one side of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// Its identity.
    pub chunk_id: ChunkId,
    /// Position in its document, from 0.
    pub chunk_index: u32,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// Tokens of its text.
    pub token_count: u32,
}

impl Diff {
    /// Compares two sets of chunks. Each side holds the chunks of a document together and in order;
    /// the documents may come in any order. Documents are the same if their ids are, or if one was renamed.
    ///
    /// Linear in the number of chunks.
    pub fn of(old: &[Record], new: &[Record]) -> Self {
        let (old_documents, new_documents) = (documents(old), documents(new));
        let renamed = renamed(&old_documents, &new_documents);
        let old_names: HashSet<&str> = renamed.values().copied().collect();
        let mut ids: Vec<&str> = old_documents.keys().chain(new_documents.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let mut comparison = Comparison::new(old.iter().map(|record| TextKey::of(&record.text)));
        let side = |documents: &HashMap<&str, &[Record]>, id: &str| -> Vec<Fingerprint> {
            documents.get(id).copied().unwrap_or_default().iter().map(Fingerprint::of).collect()
        };
        let mut changes = Vec::with_capacity(new.len());
        for id in ids.into_iter().filter(|id| !old_names.contains(id)) {
            let old_id = renamed.get(id).copied().unwrap_or(id);
            changes.extend(
                comparison.document((old_id, &side(&old_documents, old_id)), (id, &side(&new_documents, id))),
            );
        }
        Self { changes, summary: comparison.summary }
    }
}

/// A text, as far as a comparison tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextKey([u8; 16]);

impl TextKey {
    /// The key of a text.
    pub fn of(text: &str) -> Self {
        Self::of_parts([text])
    }

    fn of_parts<'t>(parts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        Self(key)
    }
}

/// The part of a chunk that a comparison reads. It holds no text, so that the fingerprints of a large collection fit
/// into memory.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    place: Place,
    header_path: String,
    text: TextKey,
    content: TextKey,
    path: TextKey,
}

impl Fingerprint {
    /// The fingerprint of the chunk with this record.
    pub fn of(record: &Record) -> Self {
        Self {
            place: Place::of(record),
            header_path: record.header_path.clone(),
            text: TextKey::of(&record.text),
            content: TextKey::of(&record.content),
            path: TextKey::of_parts(record.section_path.iter().map(String::as_str)),
        }
    }
}

/// A comparison under way, one document after another.
#[derive(Clone, Debug)]
pub struct Comparison {
    summary: Summary,
    /// A text is paid for once, however many chunks have it.
    known: HashSet<TextKey>,
}

impl Comparison {
    /// A comparison with an old side that has these texts, in whatever document.
    pub fn new(old: impl IntoIterator<Item = TextKey>) -> Self {
        Self { summary: Summary::default(), known: old.into_iter().collect() }
    }

    /// The counts of the documents compared so far.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Compares the chunks of one document, each side with its id there. If the ids differ, it was renamed.
    pub fn document(
        &mut self,
        (old_id, old): (&str, &[Fingerprint]),
        (id, new): (&str, &[Fingerprint]),
    ) -> Vec<Change> {
        let pairs = if old_id == id { pair(old, new, chunk_ids) } else { pair(old, new, texts) };
        pairs.into_iter().filter_map(|(old, new)| self.change((old_id, old), (id, new))).collect()
    }

    fn change(
        &mut self,
        (old_id, old): (&str, Option<&Fingerprint>),
        (id, new): (&str, Option<&Fingerprint>),
    ) -> Option<Change> {
        let summary = &mut self.summary;
        let kind = match (old, new) {
            (Some(old), Some(new)) if old_id != id && old.text == new.text => ChangeKind::Renamed,
            (Some(old), Some(new)) if old.place.chunk_id != new.place.chunk_id => ChangeKind::Changed,
            (Some(old), Some(new)) if old.place.lines() == new.place.lines() => ChangeKind::Kept,
            (Some(_), Some(_)) => ChangeKind::Moved,
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
        };
        *match kind {
            ChangeKind::Kept => &mut summary.kept,
            ChangeKind::Moved => &mut summary.moved,
            ChangeKind::Renamed => &mut summary.renamed,
            ChangeKind::Changed => &mut summary.changed,
            ChangeKind::Added => &mut summary.added,
            ChangeKind::Removed => &mut summary.removed,
        } += 1;
        summary.old_chunks += usize::from(old.is_some());
        summary.new_chunks += usize::from(new.is_some());
        let embed = new.is_some_and(|new| self.known.insert(new.text));
        let tokens = new.map_or(0, |new| new.place.token_count as usize);
        summary.new_tokens += tokens;
        if embed {
            summary.texts_to_embed += 1;
            summary.tokens_to_embed += tokens;
        }
        let doc_id = if new.is_some() { id } else { old_id };
        Some(Change {
            kind,
            doc_id: doc_id.to_owned(),
            old_doc_id: old.map(|_| old_id).filter(|old_id| *old_id != doc_id).map(str::to_owned),
            header_path: new.or(old)?.header_path.clone(),
            old: old.map(|old| old.place.clone()),
            new: new.map(|new| new.place.clone()),
            embed,
        })
    }
}

impl Place {
    fn of(record: &Record) -> Self {
        Self {
            chunk_id: record.chunk_id,
            chunk_index: record.chunk_index,
            start_line: record.start_line,
            end_line: record.end_line,
            token_count: record.token_count,
        }
    }

    fn lines(&self) -> (u32, u32) {
        (self.start_line, self.end_line)
    }
}

type Pair<'f> = (Option<&'f Fingerprint>, Option<&'f Fingerprint>);

/// The records of each document.
fn documents(records: &[Record]) -> HashMap<&str, &[Record]> {
    records
        .chunk_by(|a, b| a.doc_id == b.doc_id)
        .map(|records| (records[0].doc_id.as_str(), records))
        .collect()
}

/// Most old documents that may share a line: a line in more of them says nothing about renames.
const MAX_HOLDERS: usize = 8;

/// The old name of each document that was renamed, by its new name, of those that only one side has.
fn renamed<'r>(
    old: &HashMap<&'r str, &'r [Record]>,
    new: &HashMap<&'r str, &'r [Record]>,
) -> HashMap<&'r str, &'r str> {
    let only = |side: &HashMap<&'r str, &'r [Record]>, other: &HashMap<&'r str, &'r [Record]>| {
        let alone = side.iter().filter(|(id, _)| !other.contains_key(*id));
        alone.map(|(id, records)| (*id, content_lines(*records).collect())).collect::<HashMap<_, _>>()
    };
    renamed_documents(&only(old, new), &only(new, old))
}

/// The lines of a document, each by what tells it apart, with its length.
pub type Lines<K> = Vec<(K, usize)>;

/// The lines of the chunks of a document that are not blank, without blanks at their ends, each with its length.
pub fn content_lines<'r>(
    records: impl IntoIterator<Item = &'r Record>,
) -> impl Iterator<Item = (&'r str, usize)> {
    let lines = records.into_iter().flat_map(|record| record.content.lines()).map(str::trim);
    lines.filter(|line| !line.is_empty()).map(|line| (line, line.len()))
}

/// The old name of each document that was renamed, by its new name: of documents that are gone and documents that are
/// new, the pairs that share most, if that is at least half of either.
pub fn renamed_documents<'r, K: Copy + Eq + Hash, S: BuildHasher>(
    gone: &HashMap<&'r str, Lines<K>, S>,
    new: &HashMap<&'r str, Lines<K>, S>,
) -> HashMap<&'r str, &'r str> {
    let mut holders: HashMap<K, Vec<&'r str>> = HashMap::new();
    for (&id, lines) in gone {
        for line in lines.iter().map(|(line, _)| *line).collect::<HashSet<K>>() {
            let holders = holders.entry(line).or_default();
            // One too many is enough to know it.
            if holders.len() <= MAX_HOLDERS {
                holders.push(id);
            }
        }
    }
    let total = |lines: &Lines<K>| lines.iter().map(|(_, length)| length).sum::<usize>();
    let mut pairs = Vec::new();
    for (&id, lines) in new {
        let mut shared: HashMap<&str, usize> = HashMap::new();
        for (line, length) in lines {
            let holders = holders.get(line).filter(|holders| holders.len() <= MAX_HOLDERS);
            for &holder in holders.into_iter().flatten() {
                *shared.entry(holder).or_default() += length;
            }
        }
        let is_most =
            |&(holder, shared): &(&str, usize)| 2 * shared >= total(lines).max(total(&gone[holder]));
        pairs
            .extend(shared.into_iter().filter(is_most).map(|(holder, shared)| (Reverse(shared), id, holder)));
    }
    pairs.sort_unstable();
    let (mut renamed, mut taken) = (HashMap::new(), HashSet::new());
    for (_, id, holder) in pairs {
        if !renamed.contains_key(id) && taken.insert(holder) {
            renamed.insert(id, holder);
        }
    }
    renamed
}

/// Keys that identify the chunks of one document in every version of it.
fn chunk_ids(chunks: &[Fingerprint]) -> Vec<ChunkId> {
    chunks.iter().map(|chunk| chunk.place.chunk_id).collect()
}

/// Keys that identify the chunks of one document whatever its name: the text, and the number of its earlier
/// occurrences.
fn texts(chunks: &[Fingerprint]) -> Vec<(TextKey, usize)> {
    let mut times: HashMap<TextKey, usize> = HashMap::new();
    let key = |chunk: &Fingerprint| {
        let times = times.entry(chunk.text).or_default();
        *times += 1;
        (chunk.text, *times)
    };
    chunks.iter().map(key).collect()
}

/// Pairs the chunks of one document: equal keys first; remaining chunks are paired only after the same surviving chunk,
/// so that an edit in one place never counts as a change in another.
fn pair<'f, K: Copy + Eq + Hash>(
    old: &'f [Fingerprint],
    new: &'f [Fingerprint],
    keys: impl Fn(&'f [Fingerprint]) -> Vec<K>,
) -> Vec<Pair<'f>> {
    let (old_keys, new_keys) = (keys(old), keys(new));
    let old_by_key: HashMap<K, &Fingerprint> = old_keys.iter().copied().zip(old).collect();
    let kept: HashSet<K> = new_keys.iter().copied().filter(|key| old_by_key.contains_key(key)).collect();
    let mut gone: HashMap<Option<K>, Vec<&Fingerprint>> = gaps(old, &old_keys, &kept).into_iter().collect();
    let mut pairs = Vec::with_capacity(new.len());
    let mut survivors = new.iter().zip(&new_keys).filter(|(_, key)| kept.contains(key));
    for (survivor, changed) in gaps(new, &new_keys, &kept) {
        if let Some(key) = survivor {
            pairs.push((old_by_key.get(&key).copied(), survivors.next().map(|(record, _)| record)));
        }
        pairs.extend(pair_gap(&gone.remove(&survivor).unwrap_or_default(), &changed));
    }
    pairs
}

/// The records that do not survive, by the key of the survivor before them (`None`: the document's start), in order.
fn gaps<'f, K: Copy + Eq + Hash>(
    chunks: &'f [Fingerprint],
    keys: &[K],
    kept: &HashSet<K>,
) -> Vec<(Option<K>, Vec<&'f Fingerprint>)> {
    let mut gaps = vec![(None, Vec::new())];
    for (chunk, key) in chunks.iter().zip(keys) {
        if kept.contains(key) {
            gaps.push((Some(*key), Vec::new()));
        } else if let Some((_, gap)) = gaps.last_mut() {
            gap.push(chunk);
        }
    }
    gaps
}

/// Pairs what stands in one gap: by equal content (its path was edited), then by equal path, then by
/// order. Left-over old chunks come last.
fn pair_gap<'f>(old: &[&'f Fingerprint], new: &[&'f Fingerprint]) -> Vec<Pair<'f>> {
    let mut partners: Vec<Option<&Fingerprint>> = vec![None; new.len()];
    let mut taken = vec![false; old.len()];
    pair_by(old, new, &mut partners, &mut taken, |chunk| chunk.content);
    pair_by(old, new, &mut partners, &mut taken, |chunk| chunk.path);
    pair_by(old, new, &mut partners, &mut taken, |_| ());
    let gone = old.iter().zip(&taken).filter(|&(_, &taken)| !taken).map(|(&old, _)| (Some(old), None));
    partners.into_iter().zip(new).map(|(old, &new)| (old, Some(new))).chain(gone).collect()
}

/// Pairs, in order, the free records whose keys are equal.
fn pair_by<'f, K: Eq + Hash>(
    old: &[&'f Fingerprint],
    new: &[&'f Fingerprint],
    partners: &mut [Option<&'f Fingerprint>],
    taken: &mut [bool],
    key: impl Fn(&'f Fingerprint) -> K,
) {
    let mut free: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (index, record) in old.iter().enumerate().filter(|&(index, _)| !taken[index]) {
        free.entry(key(record)).or_default().push_back(index);
    }
    for (partner, record) in partners.iter_mut().zip(new).filter(|(partner, _)| partner.is_none()) {
        if let Some(index) = free.get_mut(&key(record)).and_then(VecDeque::pop_front) {
            *partner = Some(old[index]);
            taken[index] = true;
        }
    }
}
