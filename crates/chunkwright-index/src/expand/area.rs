//! The ranges of one document that are shown: around each chunk as much as is wanted and fits, no byte twice.

use std::borrow::Cow;
use std::cell::OnceCell;

use chunkwright::{Document, LineIndex, Parent, Record, Span, TokenCounter};

use super::{Expand, Expansion, Passage};
use chunkwright_store::parsed::parse_again;
use chunkwright_store::{Generation, Store, StoreError, StoredDocument};

/// A document that is shown, with its chunks.
pub(crate) struct Shown {
    pub(crate) document: StoredDocument,
    pub(crate) records: Vec<Record>,
    lines: LineIndex,
    /// The parsed document, if it was needed.
    parsed: OnceCell<Document>,
}

/// A range of a document, and the indexes of the found chunks inside it.
pub(crate) struct Area {
    pub(crate) span: Span,
    pub(crate) found: Vec<usize>,
}

/// Most attempts to read a document that is replaced meanwhile.
const READINGS: usize = 8;

impl Shown {
    /// Reads a document and its chunks, of one version; `None` if there is no such document.
    pub(crate) fn load(
        store: &dyn Store,
        generation: &Generation,
        doc_id: &str,
    ) -> Result<Option<Self>, StoreError> {
        for _ in 0..READINGS {
            let Some(document) = store.document(generation, doc_id)? else { return Ok(None) };
            let records = store.records(generation, doc_id)?;
            let is_of = |record: &Record| document.source.get(span(record).range()) == Some(&*record.content);
            // Summaries are counted among a document's chunks, but are not among its records.
            let total = records.first().map_or(document.info.chunks, |first| first.total_chunks);
            if records.len() == total as usize && records.iter().all(is_of) {
                let lines = LineIndex::new(&document.source);
                return Ok(Some(Self { document, records, lines, parsed: OnceCell::new() }));
            }
        }
        let problem = format!("the chunks of `{doc_id}` are not those of its text");
        Err(StoreError::Damaged { problem })
    }

    /// A document whose chunks are not needed.
    pub(crate) fn without_chunks(document: StoredDocument) -> Self {
        let lines = LineIndex::new(&document.source);
        Self { document, records: Vec::new(), lines, parsed: OnceCell::new() }
    }

    fn parsed(&self) -> &Document {
        self.parsed.get_or_init(|| parse_again(&self.document))
    }

    /// The text of a range as it is shown: rendered where the format is, else exactly the source.
    fn read(&self, span: Span) -> Cow<'_, str> {
        if self.document.info.is_rendered() {
            self.parsed().read(span)
        } else {
            Cow::Borrowed(span.of(&self.document.source))
        }
    }

    /// The passages to show for the chunks `found`, best first: disjoint, and every chunk in one.
    pub(crate) fn areas(&self, found: &[usize], expansion: Expansion<'_>) -> Vec<Area> {
        let mut areas: Vec<Area> = Vec::new();
        for (position, &index) in found.iter().enumerate() {
            let own = span(&self.records[index]);
            let inside = areas.iter().position(|area| holds(area.span, own));
            if let (Some(inside), Expand::Parent) = (inside, expansion.expand) {
                areas[inside].found.push(position);
                continue;
            }
            let wanted = self.wanted(index, expansion.expand);
            // Adjacent hits touch without sharing a byte.
            let reach = match expansion.expand {
                Expand::Merge => self.span(index.saturating_sub(1), (index + 1).min(self.records.len() - 1)),
                _ => wanted,
            };
            let met = areas.iter().filter(|area| overlap(area.span, reach));
            let union = met.fold(wanted, |union, area| Span {
                start: union.start.min(area.span.start),
                end: union.end.max(area.span.end),
            });
            if expansion.fits(&self.read(union)) {
                let mut found = vec![position];
                areas.retain_mut(|area| {
                    let met = overlap(area.span, union) || overlap(area.span, reach);
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
        areas
    }

    /// The range shown for a chunk if there is no limit.
    fn wanted(&self, index: usize, expand: Expand) -> Span {
        match expand {
            Expand::Neighbours(number) => {
                let last = index.saturating_add(number).min(self.records.len() - 1);
                self.span(index.saturating_sub(number), last)
            }
            Expand::Merge => span(&self.records[index]),
            Expand::Parent => self.section(&self.records[index]),
        }
    }

    /// The range that a chunk's `parent` refers to. Older versions stored some parents that do not contain their chunk;
    /// those are recomputed.
    fn section(&self, record: &Record) -> Span {
        let whole = Span::new(0, self.document.source.len());
        let lines = self.lines.count();
        let parent = record.holding_parent(lines).or_else(|| {
            let parent = self.parsed().parent_of(span(record));
            Record { parent, ..record.clone() }.holding_parent(lines)
        });
        let Some(Parent::Lines(start, end)) = parent else { return whole };
        let (start, end) = (start as usize, end as usize);
        let end = if end < lines { self.lines.start(end + 1) } else { whole.end };
        let section = Span { start: self.lines.start(start), end };
        if holds(section, span(record)) { section } else { whole }
    }

    /// A chunk with as many whole neighbours inside `within` as fit, added on both sides in turn, without those already
    /// shown.
    fn grow(&self, index: usize, within: Span, shown: &[Area], expansion: Expansion<'_>) -> Span {
        let may_come = |index: usize| {
            self.records.get(index).is_some_and(|record| {
                let span = span(record);
                holds(within, span) && !shown.iter().any(|area| overlap(area.span, span))
            })
        };
        let limit = expansion.limit().unwrap_or(usize::MAX);
        let count = |span: Span| expansion.counter.count(&self.read(span));
        let (mut first, mut last) = (index, index);
        // The sum of the parts, each counted once and alone: precise enough to choose.
        let mut tokens = count(self.span(first, last));
        let mut added = Vec::new();
        let mut open = [Side::After, Side::Before].map(Some);
        while open.iter().any(Option::is_some) {
            for slot in &mut open {
                let Some(side) = *slot else { continue };
                let (from, to) = match side {
                    Side::After => (first, last + 1),
                    // Before the first chunk, the index wraps to one that does not exist.
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
        // The whole may have a token more than the sum of its parts.
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

    /// First and last line of a range.
    pub(crate) fn lines(&self, span: Span) -> (u32, u32) {
        let (start, end) = self.lines.lines(span);
        (start as u32, end as u32)
    }

    pub(crate) fn passage(&self, span: Span, counter: &dyn TokenCounter) -> Passage {
        let (start_line, end_line) = self.lines(span);
        let text = self.read(span).into_owned();
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

/// The side of a neighbour.
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
