//! Atoms: the smallest units that packing moves. Splits a block that is too large into them.
//!
//! A block that fits is one atom. One that does not is cut at its seams (list items, statements), then by kind of text:
//! code at lines, tables at rows and then at cells, prose at sentences; a sentence that is too large at words, a word
//! that is too large at grapheme clusters. Each level measures each byte once, and there is a fixed number of levels,
//! so the work is linear.

mod marker;
mod together;

use std::cell::Cell;

use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

use crate::chunk::{ChunkConfig, Cut};
use crate::document::{Begins, Block, BlockKind, Document, Enclosure, EnclosureKind};
use crate::span::{Span, is_blank, is_cluster_start};
use crate::words::{self, is_terminator};

use marker::marker_at;
pub(crate) use marker::marker_before;

/// Why a cut before an atom is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// A section begins.
    Section,
    /// A block begins.
    Block,
    /// A symbol of embedded code, or another block of it after a blank line, by depth.
    Embedded(u8),
    /// A seam of prose: a list item or a block in a block, by depth.
    Item(u8),
    /// A line of code after a blank line, by indentation in columns.
    BlankLine(u8),
    /// A statement, by depth.
    Statement(u8),
    /// A row of a table.
    Row,
    /// A cell of a row that alone is over the limit.
    Cell,
    /// A line of code, by indentation in columns.
    Indent(u8),
    /// A sentence.
    Sentence,
    /// A line of prose.
    Line,
    /// A word after a blank, in scripts that have none between words.
    Phrase,
    /// A word.
    Word,
    /// A grapheme cluster, or a part of one that alone is over the limit.
    Grapheme,
}

impl Level {
    /// The reason for a chunk to begin here. The caller distinguishes sections.
    pub(crate) fn cut(self) -> Cut {
        match self {
            Self::Section => Cut::Heading,
            Self::Block => Cut::Full,
            Self::Item(_) => Cut::Item,
            Self::BlankLine(_) => Cut::BlankLine,
            Self::Embedded(_) | Self::Statement(_) => Cut::Statement,
            Self::Row => Cut::Row,
            Self::Cell => Cut::Cell,
            Self::Indent(_) => Cut::Indent,
            Self::Sentence => Cut::Sentence,
            Self::Line => Cut::Line,
            Self::Phrase | Self::Word => Cut::Word,
            Self::Grapheme => Cut::Grapheme,
        }
    }

    /// The cost of a cut, in thousandths of that of a chunk that misses its whole target.
    fn cost(self) -> u32 {
        match self {
            Self::Section => 0,
            Self::Block => 20,
            Self::Embedded(depth) => 20 + 40 * u32::from(depth.min(10)),
            Self::Item(depth) => 80 + 40 * u32::from(depth.min(10)),
            Self::BlankLine(indent) => 100 + 10 * u32::from(indent.min(40)),
            Self::Statement(depth) => 200 + 60 * u32::from(depth.min(10)),
            Self::Row => 150,
            Self::Cell | Self::Phrase => 600,
            Self::Indent(indent) => 500 + 10 * u32::from(indent.min(40)),
            Self::Sentence => 300,
            Self::Line => 400,
            Self::Word => 1000,
            Self::Grapheme => 2000,
        }
    }
}

/// A cut that would leave a heading, the opening line of a fence or a table's header alone.
const TEARING: u32 = 20_000;
/// A cut between a sentence that announces something and what it announces.
pub(crate) const LEAD_IN: u32 = 1200;
/// A cut inside what no blank divides: `lead-in`, `call(argument)`.
const COMPOUND: u32 = 500;
/// Cuts differ in cost by up to this, by a hash of the text that begins there: among places that are
/// about as good the same ones are chosen before and after an edit nearby.
const JITTER: u32 = 160;

/// The least that packing moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atom {
    /// Its text, blanks before the next atom left out.
    pub(crate) span: Span,
    /// Its size with the blanks up to the next atom.
    pub(crate) size: u32,
    /// Why a cut before it is possible.
    pub(crate) level: Level,
    /// The cost of a cut before it.
    pub(crate) cost: u32,
    /// Whether it is over the limit but kept whole.
    pub(crate) whole: bool,
    /// Whether it is a chunk of its own, whatever its neighbours are.
    pub(crate) alone: bool,
    /// Whether it continues an item that is within the limit.
    pub(crate) inside: bool,
}

impl Atom {
    /// Whether a cut before it would tear it from what announces it.
    pub(crate) fn is_announced(&self) -> bool {
        self.cost >= LEAD_IN && self.level < Level::Phrase
    }
}

/// Whether a span whose parts have this size is within the limit with what it borrows itself.
pub(crate) type Fits<'a> = dyn Fn(Span, usize) -> bool + 'a;

/// Makes atoms of the blocks of one document under one limit.
#[derive(Clone)]
pub(crate) struct Splitter<'a> {
    document: &'a Document,
    config: &'a ChunkConfig,
    measure: &'a dyn Fn(&str) -> usize,
    fits: &'a Fits<'a>,
    limit: usize,
    grain: usize,
    /// Start, end and size of the last measured span: a span that one level does not divide is measured again at the
    /// next.
    last: Cell<(u32, u32, u32)>,
}

impl<'a> Splitter<'a> {
    /// `limit` is the size of the largest atom wanted. Blocks, lines and sentences over `grain` are divided, words only if they
    /// are over the limit. What belongs together is not divided if `fits` says that a span of this size, which is over
    /// `limit`, fits with what it would borrow itself: its parts may borrow more.
    pub(crate) fn new(
        document: &'a Document,
        config: &'a ChunkConfig,
        (measure, fits): (&'a dyn Fn(&str) -> usize, &'a Fits<'a>),
        limit: usize,
        grain: usize,
    ) -> Self {
        Self { document, config, measure, fits, limit, grain, last: Cell::default() }
    }

    /// The atoms of `blocks[range]`, clipped to `within`. `sizes`, where known, are the sizes of the
    /// blocks with the blanks after them.
    pub(crate) fn atoms(&self, blocks: &[Block], sizes: Option<&[u32]>, within: Span) -> Vec<Atom> {
        let mut atoms = Vec::new();
        // Start and size of the headings right before a block: its first atom has to fit beside them.
        let (mut lead, mut headings) = (within.start, 0);
        for (index, block) in blocks.iter().enumerate() {
            let span =
                Span { start: block.span.start.max(within.start), end: block.span.end.min(within.end) };
            let next = blocks.get(index + 1).map_or(span.end, |next| next.span.start).min(within.end);
            let whole = span == block.span;
            let size = match sizes {
                Some(sizes) if whole => sizes[index],
                _ => self.size(span.start, next),
            };
            let section = self.document.section(block.section);
            let level =
                if section.span.start >= block.span.start && whole { Level::Section } else { Level::Block };
            let first = atoms.len();
            let limit = if headings <= self.limit / 2 { self.limit - headings } else { self.limit };
            let kept = size as usize > limit && self.config.keeps(block.kind) && whole;
            if kept || self.config.sets_apart(block.kind) && size as usize <= limit {
                let atom = self.atom(span, size, level);
                self.alone(blocks, index, Atom { whole: kept, ..atom }, &mut atoms);
            } else if size as usize <= limit.min(self.grain)
                || self.fits(
                    Span { start: if headings > 0 { lead } else { span.start }, ..span },
                    size + headings as u32,
                )
            {
                atoms.push(self.atom(span, size, level));
            } else {
                Self { limit, ..self.clone() }.divide(block, span, next, level, &mut atoms);
            }
            if headings == 0 {
                lead = span.start;
            }
            headings = if self.document.announces(block) { headings + size as usize } else { 0 };
            if index > 0
                && let Some(atom) = atoms.get_mut(first)
            {
                atom.cost += self.joint(blocks[index - 1], *block);
            }
        }
        self.together(atoms)
    }

    fn size(&self, start: u32, end: u32) -> u32 {
        let (from, to, known) = self.last.get();
        if (from, to) == (start, end) {
            return known;
        }
        let size = (self.measure)(&self.document.read(Span { start, end })) as u32;
        self.last.set((start, end, size));
        size
    }

    fn atom(&self, span: Span, size: u32, level: Level) -> Atom {
        let cost = level.cost() + jitter(span.of(self.document.source()));
        Atom { span, size, level, cost, whole: false, alone: false, inside: false }
    }

    /// One atom of a block that is kept whole or set apart, and of what leads into it: headings and a
    /// short paragraph right before it.
    fn alone(&self, blocks: &[Block], index: usize, kept: Atom, atoms: &mut Vec<Atom>) {
        let mut atom = kept;
        for (distance, block) in blocks[..index].iter().rev().enumerate() {
            let leads = block.kind == BlockKind::Heading
                || distance == 0 && block.kind == BlockKind::Paragraph && self.is_short(*block);
            match atoms.pop_if(|last| leads && !last.alone && last.span == block.span) {
                Some(last) => {
                    atom = Atom { span: last.span.to(atom.span), size: last.size + atom.size, ..last }
                }
                None => break,
            }
        }
        atoms.push(Atom { whole: kept.whole || atom.size as usize > self.limit, alone: true, ..atom });
    }

    /// Whether a paragraph is short enough to lead into what follows it.
    fn is_short(&self, paragraph: Block) -> bool {
        let text = self.document.read(paragraph.span);
        text.len() < 4 * self.config.lead_in_chars && text.chars().count() < self.config.lead_in_chars
    }

    /// The cost of a cut between two blocks, in addition to its level's.
    fn joint(&self, before: Block, after: Block) -> u32 {
        if self.document.announces(&before) {
            return TEARING;
        }
        let announces = before.kind == BlockKind::Paragraph
            && matches!(after.kind, BlockKind::Code | BlockKind::List | BlockKind::Table)
            && self.is_short(before)
            && before.span.of(self.document.source()).ends_with([':', '：']);
        if announces { LEAD_IN } else { 0 }
    }

    /// The atoms of a block that is over the limit.
    fn divide(&self, block: &Block, span: Span, next: u32, first: Level, atoms: &mut Vec<Atom>) {
        let by_line = block.kind.is_code()
            || matches!(
                block.kind,
                BlockKind::Table | BlockKind::Html | BlockKind::FrontMatter | BlockKind::Definition
            );
        let mut starts = vec![(span.start, first, 0)];
        if block.kind == BlockKind::Table && !self.document.seams(span).is_empty() {
            self.rows(span, &mut starts);
        } else if by_line {
            self.lines(span, &mut starts);
            if self.document.has_markup() {
                // Lines that one reads and the source has not.
                let is_line = |at: u32| self.document.lines().start(self.document.lines().line(at)) == at;
                let seams = self.document.seams(span).iter().filter(|seam| !is_line(seam.at));
                let level = |at: u32| self.code_level(at, false, 0).unwrap_or(Level::Indent(0));
                starts.extend(seams.map(|seam| (seam.at, level(seam.at), 0)));
                starts.sort_by_key(|&(start, ..)| start);
            }
        } else {
            let enclosures = self.document.enclosures(span);
            for seam in self.document.seams(span) {
                // A fence or table in an item belongs to the text of the item.
                let encloses = |enclosure: &Enclosure| {
                    self.document.lines().line(enclosure.span.start) == self.document.lines().line(seam.at)
                };
                let next = enclosures.partition_point(|enclosure| enclosure.span.start < seam.at);
                let belongs = seam.depth > 0 && enclosures.get(next).is_some_and(encloses);
                starts.push((seam.at, Level::Item(seam.depth), if belongs { LEAD_IN } else { 0 }));
            }
        }
        self.hold_lead(block, &mut starts);
        self.push(starts, span, next, atoms, self.limit.min(self.grain), |this, span, level, atoms| {
            if block.kind == BlockKind::Table {
                this.cells(span, level, atoms);
            } else if by_line {
                this.words(span, level, atoms);
            } else {
                this.prose(span, level, atoms);
            }
        });
    }

    /// Turns places to cut into atoms; what is larger than `fits` goes to `divide`.
    fn push(
        &self,
        mut starts: Vec<(u32, Level, u32)>,
        span: Span,
        next: u32,
        atoms: &mut Vec<Atom>,
        fits: usize,
        divide: impl Fn(&Self, Span, Level, &mut Vec<Atom>),
    ) {
        let source = self.document.source();
        starts.retain(|&(start, level, _)| {
            // Words and sentences may begin inside a grapheme cluster.
            let is_whole = level == Level::Grapheme || is_cluster_start(source, start as usize);
            start == span.start
                || is_whole && !self.document.tears_markup(start) && !self.tears_marker(span, start)
        });
        for (index, &(start, level, extra)) in starts.iter().enumerate() {
            let end = starts.get(index + 1).map_or(next, |&(start, ..)| start);
            let text = Span { start, end: end.min(span.end) }.of(self.document.source());
            let visible = Span { start, end: start + text.trim_end_matches(is_blank).len() as u32 };
            if visible.is_empty() {
                continue;
            }
            let first = atoms.len();
            let size = self.size(start, end);
            if size as usize <= fits {
                atoms.push(self.atom(visible, size, level));
            } else {
                divide(self, visible, level, atoms);
            }
            if let Some(atom) = atoms.get_mut(first) {
                atom.cost += extra;
            }
        }
    }

    /// Whether a cut at `at` would leave the marker of a line (`- `, `1. `, `> `, `## `) without its text, though it fits
    /// beside the beginning of that.
    fn tears_marker(&self, span: Span, at: u32) -> bool {
        let source = self.document.source();
        let Some(line) = marker_before(self.document, span, at).map(|line| line - span.start) else {
            return false;
        };
        let rest = Span { start: at, ..span }.of(source);
        let text = rest.trim_start_matches(|c| is_blank(c) || c == '#');
        let first = text.graphemes(true).next().map_or(0, str::len);
        let marked = Span { start: span.start + line, end: span.end - (text.len() - first) as u32 };
        // A token or character has at least one byte.
        let fits = |limit| marked.len() <= limit || self.size(marked.start, marked.end) as usize <= limit;
        self.limit > 1 && fits(self.config.max_size)
    }

    /// A part of prose too large: its fences and tables at lines, the rest at sentences.
    fn prose(&self, span: Span, first: Level, atoms: &mut Vec<Atom>) {
        let mut starts = vec![(span.start, first, 0)];
        let mut at = span.start;
        let enclosures = self.document.enclosures(span).iter();
        for enclosure in enclosures.filter(|enclosure| enclosure.kind != EnclosureKind::Quote) {
            let (start, end) = (enclosure.span.start.max(at), enclosure.span.end.min(span.end));
            if start > at {
                self.sentences(Span { start: at, end: start }, &mut starts);
                starts.push((start, Level::Item(0), 0));
            }
            self.lines(Span { start, end }, &mut starts);
            at = end;
        }
        self.sentences(Span { start: at, end: span.end }, &mut starts);
        starts.dedup_by_key(|&mut (start, ..)| start);
        self.push(starts, span, span.end, atoms, self.limit.min(self.grain), Self::words);
    }

    /// Places at the lines of `span` after its first, with the rows of tables and what must not be torn.
    fn lines(&self, span: Span, starts: &mut Vec<(u32, Level, u32)>) {
        let source = self.document.source();
        let lines = self.document.lines();
        let enclosures = self.document.enclosures(span);
        let seams = self.document.seams(span);
        let (mut enclosure, mut seam) = (0, 0);
        let mut blank_before = false;
        let (first, last) = lines.lines(span);
        for line in first + 1..=last {
            let start = lines.start(line);
            let text = Span { start, end: lines.start(line + 1).max(start).min(span.end).max(start) };
            let text = if line == last { Span { start, end: span.end } } else { text }.of(source);
            if text.trim().is_empty() {
                blank_before = true;
                continue;
            }
            while enclosures.get(enclosure).is_some_and(|enclosure| enclosure.span.end <= start) {
                enclosure += 1;
            }
            while seams.get(seam).is_some_and(|seam| seam.at < start) {
                seam += 1;
            }
            let inside = enclosures.get(enclosure).filter(|enclosure| enclosure.span.divided_by(start));
            let indent = (text.len() - text.trim_start().len()).min(255) as u8;
            let code = inside.and_then(|_| self.code_level(start, blank_before, indent));
            let level = match (inside, code, seams.get(seam).filter(|seam| seam.at == start)) {
                (Some(Enclosure { kind: EnclosureKind::Table, .. }), ..) => Level::Row,
                (_, Some(level), _) => level,
                _ if blank_before => Level::BlankLine(indent),
                (_, _, Some(seam)) => Level::Statement(seam.depth),
                _ => Level::Indent(indent),
            };
            let tears = inside.is_some_and(|inside| {
                // Right after what would be borrowed, before all of it, or before what closes it.
                let closes =
                    !inside.close.is_empty() && start + text.trim_end().len() as u32 >= inside.span.end;
                start <= inside.open.end + 2 || closes
            });
            starts.push((start, level, if tears { TEARING } else { 0 }));
            blank_before = false;
        }
    }

    /// Why a cut at byte `at` of a fence is possible, if the syntax of its code tells.
    fn code_level(&self, at: u32, blank_before: bool, indent: u8) -> Option<Level> {
        Some(match self.document.code_begins(at)? {
            Begins::Symbol(depth) => Level::Embedded(depth),
            Begins::Block(depth) if blank_before => Level::Embedded(depth),
            Begins::Inner(_) if blank_before => Level::BlankLine(indent),
            Begins::Block(depth) | Begins::Inner(depth) => Level::Statement(depth),
            // A blank line in a string is part of it.
            Begins::Nothing => Level::Indent(indent),
        })
    }

    /// Places at the rows of a table whose parser says where they begin: its outermost seams.
    fn rows(&self, span: Span, starts: &mut Vec<(u32, Level, u32)>) {
        for seam in self.document.seams(span).iter().filter(|seam| seam.depth == 0) {
            let tears = self.document.enclosure_at(seam.at).is_some_and(|it| seam.at <= it.open.end + 2);
            starts.push((seam.at, Level::Row, if tears { TEARING } else { 0 }));
        }
    }

    /// A row too large, at the cells that the parser reported, or else at the bars between them.
    fn cells(&self, span: Span, first: Level, atoms: &mut Vec<Atom>) {
        let mut starts = vec![(span.start, first, 0)];
        let seams = self.document.seams(span);
        starts.extend(seams.iter().map(|seam| (seam.at, Level::Cell, 0)));
        if seams.is_empty() {
            let text = span.of(self.document.source());
            // The bar that ends a row opens no cell.
            let opens = |at: usize| at > 0 && at + 1 < text.len() && !text[..at].ends_with('\\');
            let bars = text.match_indices('|').map(|(at, _)| at).filter(|&at| opens(at));
            starts.extend(bars.map(|at| (span.start + at as u32, Level::Cell, 0)));
        }
        self.push(starts, span, span.end, atoms, self.limit.min(self.grain), Self::words);
    }

    /// Places at the sentences of `span` after its first, and at lines where no sentence ends.
    fn sentences(&self, span: Span, starts: &mut Vec<(u32, Level, u32)>) {
        let text = span.of(self.document.source());
        let (mut ended, mut pauses) = (false, false);
        let mut places = words::sentences(text).peekable();
        while let Some(at) = places.next() {
            let sentence = &text[at..places.peek().copied().unwrap_or(text.len())];
            // UAX #29 ends a sentence at every line break; prose is often wrapped.
            let level = if ended { Level::Sentence } else { Level::Line };
            if at > 0 && !pauses {
                starts.push((span.start + at as u32, level, 0));
            }
            // Marks at which it ends none.
            let marks = if sentence.is_ascii() { "" } else { sentence };
            for (place, _) in marks.match_indices(['؛', '།', '༎']) {
                let after = sentence[place..].trim_start_matches(|c| is_blank(c) || is_terminator(c));
                if !after.is_empty() {
                    starts.push((
                        span.end - (text.len() - at - sentence.len() + after.len()) as u32,
                        Level::Sentence,
                        0,
                    ));
                }
            }
            ended = ends_sentence(sentence);
            // The comma of Burmese, at which it ends one.
            pauses = sentence.trim_end_matches(is_blank).ends_with('၊');
        }
    }

    /// A line, row or sentence too large, at words.
    fn words(&self, span: Span, first: Level, atoms: &mut Vec<Atom>) {
        let text = span.of(self.document.source());
        // Bytes bound tokens and characters from above, so a run of this many bytes always fits.
        let run = (self.limit / 16).max(1);
        let mut starts = vec![(span.start, first, 0)];
        let mut last = 0;
        let mut after_blank = false;
        let places = words::starts(text);
        for (index, &at) in places.iter().enumerate() {
            let word = &text[at..places.get(index + 1).copied().unwrap_or(text.len())];
            let first = word.chars().next().unwrap_or(' ');
            let begins = first.is_alphanumeric() || "([{<\"'“‘«（《「【".contains(first);
            let breaks = after_blank || !word.is_ascii();
            let is_phrase = after_blank && words::has_no_spaces(first);
            let is_far = at >= last + run || is_phrase;
            if is_far && begins && (breaks || at >= last + 4 * run && word.len() > 1) {
                let level = if is_phrase { Level::Phrase } else { Level::Word };
                starts.push((span.start + at as u32, level, if breaks { 0 } else { COMPOUND }));
                last = at;
            }
            after_blank = word.chars().all(is_blank);
        }
        let first = atoms.len();
        self.push(starts, span, span.end, atoms, self.limit, Self::graphemes);
        // Tokens cross the borders of words that no blank divides, so counts of these do not add up.
        if text.contains(words::has_no_spaces) {
            scale(&mut atoms[first..], self.size(span.start, span.end));
        }
    }

    /// A word too large, at grapheme clusters.
    fn graphemes(&self, span: Span, first: Level, atoms: &mut Vec<Atom>) {
        let text = span.of(self.document.source());
        let size = self.size(span.start, span.end);
        // A word that only its marker makes too large may fit with less of what it borrows.
        let word = text.find(char::is_alphanumeric);
        let is_marked = word.is_some_and(|at| marker_at(text, at) == Some(0));
        if is_marked && size as usize <= self.config.max_size && self.limit > 1 {
            atoms.push(self.atom(span, size, first));
            return;
        }
        let run = (self.limit / 8).max(1);
        let mut starts = vec![(span.start, first, 0)];
        let mut last = 0;
        for (at, _) in text.grapheme_indices(true) {
            if at >= last + run && !words::tears(text, at) {
                starts.push((span.start + at as u32, Level::Grapheme, 0));
                last = at;
            }
        }
        self.push(starts, span, span.end, atoms, self.limit, |this, span, level, atoms| {
            if is_cluster(span.of(this.document.source())) {
                // It may fit without what it would borrow.
                atoms.push(this.atom(span, this.size(span.start, span.end), level));
            } else {
                this.chars(span, level, atoms);
            }
        });
    }

    /// A grapheme cluster too large, at characters: the only cut inside a cluster there is.
    pub(crate) fn chars(&self, span: Span, first: Level, atoms: &mut Vec<Atom>) {
        let text = span.of(self.document.source());
        let run = (self.limit / 8).max(1);
        let mut starts = vec![(span.start, first, 0)];
        let mut last = 0;
        for (at, _) in text.char_indices() {
            if at >= last + run {
                starts.push((span.start + at as u32, Level::Grapheme, 0));
                last = at;
            }
        }
        self.push(starts, span, span.end, atoms, self.limit, |this, span, level, atoms| {
            let size = this.size(span.start, span.end);
            atoms.push(this.atom(span, size, level));
        });
    }
}

/// Changes the sizes of atoms in proportion so that they add up to `size`, and a little more: a part may have more tokens than
/// its share.
fn scale(atoms: &mut [Atom], size: u32) {
    let sum: u64 = atoms.iter().map(|atom| u64::from(atom.size)).sum();
    if sum == u64::from(size) {
        return;
    }
    let size = u64::from(size + size / 16);
    let (mut before, mut scaled) = (0, 0);
    for atom in atoms {
        before += u64::from(atom.size);
        let end = (before * size).div_ceil(sum.max(1));
        (atom.size, scaled) = ((end - scaled) as u32, end);
    }
}

/// Whether `text` is a single grapheme cluster of a length that occurs in writing.
pub(crate) fn is_cluster(text: &str) -> bool {
    text.len() <= 64 && text.graphemes(true).nth(1).is_none()
}

/// Whether a sentence, as segmentation returns it, ends with a terminator of sentences and not with an abbreviation.
fn ends_sentence(sentence: &str) -> bool {
    let visible = sentence.trim_end_matches(is_blank);
    let bare = visible.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '）', '」', '*', '_', '`']);
    let Some(last) = bare.chars().next_back() else { return false };
    if last != '.' {
        return is_terminator(last);
    }
    let word = bare[..bare.len() - 1].rsplit(|c: char| is_blank(c) || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    !initial && !ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Words whose full stop ends no sentence, lower case, without their last stop.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "approx", "dr", "mr", "mrs", "ms", "prof", "st", "no", "fig", "figs",
    "eq", "sec", "ch", "vol", "pp", "ed", "eds", "al", "inc", "ltd", "co", "corp", "dept", "est", "jan",
    "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "т.е", "т.д", "т.п", "т.к",
    "т.н", "др", "пр", "напр", "см", "рис", "табл", "гл", "стр", "им", "ул", "руб", "тыс", "млн", "млрд",
    "проф", "акад", "гг", "вв",
];

/// A small cost by a hash of how the text begins.
pub(crate) fn jitter(text: &str) -> u32 {
    let head = &text.as_bytes()[..text.len().min(64)];
    (xxh3_64(head) % u64::from(JITTER)) as u32
}
