//! Expansion: the text around what was found.
//!
//! Small chunks are found well, and what answers a question is often more than one of them. A reader
//! gets the section around a chunk, or its neighbours, as one passage of the source. Hits whose passages
//! meet share one, so that nothing is read twice.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use chunkwright::{LineIndex, Record, Span, TokenCounter};
use serde::Serialize;

use crate::fetch::Place;
use crate::search::{Answer, Hit, Mode, Stage};
use crate::store::{Store, StoreError, StoredDocument};

/// What a chunk is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expand {
    /// The section around it: its record's `parent`. Where that is over the limit, as many whole
    /// neighbours inside the section as fit.
    Parent,
    /// This number of neighbours on each side, or as many as fit.
    Neighbours(usize),
}

/// A text that names no expansion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no expansion; it is `parent` or a number of neighbours, such as `1`")]
pub struct ParseExpandError(String);

impl FromStr for Expand {
    type Err = ParseExpandError;

    fn from_str(text: &str) -> Result<Self, ParseExpandError> {
        match text {
            "parent" => Ok(Self::Parent),
            number => number.parse().map(Self::Neighbours).map_err(|_| ParseExpandError(text.into())),
        }
    }
}

impl fmt::Display for Expand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parent => f.write_str("parent"),
            Self::Neighbours(number) => write!(f, "{number}"),
        }
    }
}

/// How to expand.
#[derive(Clone, Copy)]
pub struct Expansion<'a> {
    /// What a chunk is read with.
    pub expand: Expand,
    /// Most tokens of a passage; a chunk that alone has more is a passage alone. Unless it is given,
    /// [`DEFAULT_TOKENS`](Self::DEFAULT_TOKENS) for a section, and no limit for a number of neighbours.
    pub max_tokens: Option<usize>,
    /// What counts them.
    pub counter: &'a dyn TokenCounter,
}

/// Most bytes of a token, on average over a passage: a longer text is over the limit uncounted.
const TOKEN_BYTES: usize = 64;

impl Expansion<'_> {
    /// Most tokens of a section's text where no limit is given.
    pub const DEFAULT_TOKENS: usize = 1000;

    fn limit(&self) -> Option<usize> {
        let default = matches!(self.expand, Expand::Parent).then_some(Self::DEFAULT_TOKENS);
        self.max_tokens.or(default)
    }

    fn fits(&self, text: &str) -> bool {
        self.limit().is_none_or(|limit| {
            text.len() <= limit.saturating_mul(TOKEN_BYTES) && self.counter.count(text) <= limit
        })
    }
}

/// A stretch of a document's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The document.
    pub doc_id: String,
    /// What fetches the lines that hold it: `DOC_ID#L10-L80`.
    pub reference: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// First byte.
    pub start_byte: u32,
    /// One past the last byte.
    pub end_byte: u32,
    /// Tokens of the text by `tokenizer`.
    pub token_count: usize,
    /// Name of the counter.
    pub tokenizer: String,
    /// Exactly `source[start_byte..end_byte]` of the decoded source.
    pub text: String,
}

/// A search's answer, expanded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpandedAnswer {
    /// The passages, in the order of the best hit in each. No byte of a document is in two.
    pub passages: Vec<FoundPassage>,
    /// The stages of the search that ran.
    pub mode: Mode,
    /// Why the dense stage did not run although it was asked for; none if it ran.
    pub degraded: Option<String>,
}

/// A passage and the hits inside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundPassage {
    /// Position in the answer, from 1.
    pub rank: usize,
    /// The passage.
    #[serde(flatten)]
    pub passage: Passage,
    /// Outline of the document.
    pub doc_toc: String,
    /// What was found: every hit that is inside, best first, without its text.
    pub hits: Vec<FoundChunk>,
}

/// A hit without its text, which its passage has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundChunk {
    /// Position among the hits, from 1.
    pub rank: usize,
    /// What the hits are ordered by.
    pub score: f64,
    /// Rank and dot product in the dense stage.
    pub dense: Option<Stage>,
    /// Rank and BM25 in the lexical stage.
    pub lexical: Option<Stage>,
    /// Terms of the query that the chunk's text has.
    pub matched_terms: Vec<String>,
    /// The chunk.
    pub chunk_id: String,
    /// Its position in the document, from 0.
    pub chunk_index: u32,
    /// Its first line, 1-based.
    pub start_line: u32,
    /// Its last line, 1-based, inclusive.
    pub end_line: u32,
    /// Titles of the sections around it.
    pub section_path: Vec<String>,
}

impl FoundChunk {
    fn new(hit: &Hit) -> Self {
        let record = &hit.record;
        Self {
            rank: hit.rank,
            score: hit.score,
            dense: hit.dense,
            lexical: hit.lexical,
            matched_terms: hit.matched_terms.clone(),
            chunk_id: record.chunk_id.clone(),
            chunk_index: record.chunk_index,
            start_line: record.start_line,
            end_line: record.end_line,
            section_path: record.section_path.clone(),
        }
    }
}

/// Expands the hits of `answer`. A hit that went away since it was found, because its document was
/// replaced or removed, is left out.
///
/// # Errors
///
/// An unknown collection, a store that fails.
pub fn expand(
    store: &dyn Store,
    collection: &str,
    answer: &Answer,
    expansion: Expansion<'_>,
) -> Result<ExpandedAnswer, StoreError> {
    let mut documents: HashMap<&str, Vec<&Hit>> = HashMap::new();
    for hit in &answer.hits {
        documents.entry(&hit.record.doc_id).or_default().push(hit);
    }
    let mut passages = Vec::new();
    for (doc_id, hits) in documents {
        let Some(shown) = Shown::load(store, collection, doc_id)? else { continue };
        let index = |hit: &Hit| {
            let index = hit.record.chunk_index as usize;
            shown.records.get(index).is_some_and(|now| now.chunk_id == hit.record.chunk_id).then_some(index)
        };
        let hits: Vec<(&Hit, usize)> = hits.iter().filter_map(|hit| Some((*hit, index(hit)?))).collect();
        let found: Vec<usize> = hits.iter().map(|(_, index)| *index).collect();
        for area in shown.areas(&found, expansion)? {
            passages.push(FoundPassage {
                rank: 0,
                passage: shown.passage(area.span, expansion.counter),
                doc_toc: shown.document.doc_toc.clone(),
                hits: area.found.iter().map(|&position| FoundChunk::new(hits[position].0)).collect(),
            });
        }
    }
    passages.sort_by_key(|passage| passage.hits.first().map(|hit| hit.rank));
    for (index, passage) in passages.iter_mut().enumerate() {
        passage.rank = index + 1;
    }
    Ok(ExpandedAnswer { passages, mode: answer.mode, degraded: answer.degraded.clone() })
}

/// A document that is shown, with its chunks.
pub(crate) struct Shown {
    pub(crate) document: StoredDocument,
    pub(crate) records: Vec<Record>,
    lines: LineIndex,
}

/// A stretch of a document, and the positions in the list of what was found that are inside it.
pub(crate) struct Area {
    pub(crate) span: Span,
    found: Vec<usize>,
}

/// How often a document that is replaced while it is read is read again.
const READINGS: usize = 8;

impl Shown {
    /// Reads a document and its chunks, of one version; `None` if there is no such document.
    pub(crate) fn load(
        store: &dyn Store,
        collection: &str,
        doc_id: &str,
    ) -> Result<Option<Self>, StoreError> {
        for _ in 0..READINGS {
            let Some(document) = store.document(collection, doc_id)? else { return Ok(None) };
            let records = store.records(collection, doc_id)?;
            let is_of = |record: &Record| document.source.get(span(record).range()) == Some(&*record.content);
            if records.len() == document.info.chunks as usize && records.iter().all(is_of) {
                let lines = LineIndex::new(&document.source);
                return Ok(Some(Self { document, records, lines }));
            }
        }
        let problem = format!("the chunks of `{doc_id}` are not those of its text");
        Err(StoreError::Damaged { problem })
    }

    /// The passages to show for the chunks `found`, best first: disjoint, and every chunk in one.
    pub(crate) fn areas(&self, found: &[usize], expansion: Expansion<'_>) -> Result<Vec<Area>, StoreError> {
        let mut areas: Vec<Area> = Vec::new();
        for (position, &index) in found.iter().enumerate() {
            let own = span(&self.records[index]);
            let inside = areas.iter().position(|area| holds(area.span, own));
            if let (Some(inside), Expand::Parent) = (inside, expansion.expand) {
                areas[inside].found.push(position);
                continue;
            }
            let wanted = self.wanted(index, expansion.expand)?;
            let met = areas.iter().filter(|area| overlap(area.span, wanted));
            let union = met.fold(wanted, |union, area| Span {
                start: union.start.min(area.span.start),
                end: union.end.max(area.span.end),
            });
            if expansion.fits(union.of(&self.document.source)) {
                let mut found = vec![position];
                areas.retain_mut(|area| {
                    let met = overlap(area.span, union);
                    if met {
                        found.append(&mut area.found);
                    }
                    !met
                });
                found.sort_unstable();
                areas.push(Area { span: union, found });
            } else if let Some(inside) = inside {
                areas[inside].found.push(position);
            } else {
                let span = self.grow(index, wanted, &areas, expansion);
                areas.push(Area { span, found: vec![position] });
            }
        }
        Ok(areas)
    }

    /// What is shown of a chunk where there is no limit.
    fn wanted(&self, index: usize, expand: Expand) -> Result<Span, StoreError> {
        match expand {
            Expand::Neighbours(number) => {
                let last = index.saturating_add(number).min(self.records.len() - 1);
                Ok(self.span(index.saturating_sub(number), last))
            }
            Expand::Parent => self.section(&self.records[index]),
        }
    }

    /// The lines that a chunk's `parent` names.
    fn section(&self, record: &Record) -> Result<Span, StoreError> {
        let damaged = || StoreError::Damaged {
            problem: format!("`{}` is no parent of a chunk of `{}`", record.parent, record.doc_id),
        };
        let place = record.parent.strip_prefix(&record.doc_id).ok_or_else(damaged)?;
        if place.is_empty() {
            return Ok(Span::new(0, self.document.source.len()));
        }
        match place.strip_prefix('#').and_then(Place::parse) {
            Some(Place::Lines(start, end)) if (1..=end).contains(&start) && end <= self.lines.count() => {
                let len = self.document.source.len() as u32;
                let end = if end < self.lines.count() { self.lines.start(end + 1) } else { len };
                let section = Span { start: self.lines.start(start), end };
                if holds(section, span(record)) { Ok(section) } else { Err(damaged()) }
            }
            _ => Err(damaged()),
        }
    }

    /// A chunk with as many whole neighbours inside `within` as fit, on both sides in turn; none that is
    /// shown already.
    fn grow(&self, index: usize, within: Span, shown: &[Area], expansion: Expansion<'_>) -> Span {
        let may_come = |index: usize| {
            self.records.get(index).is_some_and(|record| {
                let span = span(record);
                holds(within, span) && !shown.iter().any(|area| overlap(area.span, span))
            })
        };
        let limit = expansion.limit().unwrap_or(usize::MAX);
        let count = |span: Span| expansion.counter.count(span.of(&self.document.source));
        let (mut first, mut last) = (index, index);
        // The sum of what was added, each counted alone: near enough to choose, and each counted once.
        let mut tokens = count(self.span(first, last));
        let mut added = Vec::new();
        let mut open = [Side::After, Side::Before].map(Some);
        while open.iter().any(Option::is_some) {
            for slot in &mut open {
                let Some(side) = *slot else { continue };
                let (from, to) = match side {
                    Side::After => (first, last + 1),
                    // Past the first there is none.
                    Side::Before => (first.wrapping_sub(1), last),
                };
                let new = if side == Side::After { to } else { from };
                *slot = None;
                if !may_come(new) {
                    continue;
                }
                let grown = self.span(from, to);
                let before = self.span(first, last);
                let piece = match side {
                    Side::After => Span { start: before.end, end: grown.end },
                    Side::Before => Span { start: grown.start, end: before.start },
                };
                let mut sum = tokens.saturating_add(count(piece));
                if sum > limit {
                    sum = count(grown);
                }
                if sum <= limit {
                    (first, last, tokens) = (from, to, sum);
                    added.push(side);
                    *slot = Some(side);
                }
            }
        }
        // The whole may have a token more than its pieces.
        while count(self.span(first, last)) > limit {
            match added.pop() {
                Some(Side::After) => last -= 1,
                Some(Side::Before) => first += 1,
                None => break,
            }
        }
        self.span(first, last)
    }

    /// From the start of one chunk to the end of another.
    fn span(&self, first: usize, last: usize) -> Span {
        Span { start: self.records[first].start_byte, end: self.records[last].end_byte }
    }

    /// First and last line of a stretch.
    pub(crate) fn lines(&self, span: Span) -> (u32, u32) {
        let (start, end) = self.lines.lines(span);
        (start as u32, end as u32)
    }

    fn passage(&self, span: Span, counter: &dyn TokenCounter) -> Passage {
        let (start_line, end_line) = self.lines(span);
        let text = span.of(&self.document.source).to_owned();
        let doc_id = self.document.info.doc_id.clone();
        Passage {
            reference: format!("{doc_id}#L{start_line}-L{end_line}"),
            doc_id,
            start_line,
            end_line,
            start_byte: span.start,
            end_byte: span.end,
            token_count: counter.count(&text),
            tokenizer: counter.name().to_owned(),
            text,
        }
    }
}

/// Where a neighbour stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

fn span(record: &Record) -> Span {
    Span { start: record.start_byte, end: record.end_byte }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn overlap(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}
