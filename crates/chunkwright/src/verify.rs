//! Verifies records against their document.
//!
//! Most of what a record says follows from its document and its span: lines, characters, counts, the section it is in,
//! its neighbours, its text, its id. Records from a file or a store can therefore be verified without knowing the
//! configuration that cut the document. One function does it, so that an import, a check of a store and a restore never
//! disagree about what is sound.
//!
//! Fields that depend on a configuration or on another file cannot be verified: see [`UNPROVEN`].

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};
use std::sync::Arc;

use crate::chunk::{Chunk, ChunkId, Cut, STRATEGIES, blocks_in, dominant_kind, number_parts, section_of};
use crate::document::Document;
use crate::record::{Record, content_type, header_path, symbols, within_path};
use crate::span::{Span, is_blank};
use crate::stats::TokenLevel;
use crate::tokens::{TokenCounter, Words};

/// Fields that no document can prove, and why.
pub const UNPROVEN: &[(&str, &str)] = &[
    ("category", "a rule of the user's configuration may say anything"),
    ("chunk_type", "a rule of the user's configuration may say anything"),
    ("cut", "only that it is a known reason: the strategy's choice is not repeated"),
    ("oversize", "the limit is part of the configuration, of which only the hash is stored"),
    (
        "tokenizer",
        "only that a document has one: its hash is part of `config_hash`, and its counts are proven where it is known",
    ),
    ("position", "only that it is in order: the file would have to be converted again"),
];

/// One statement of a record that is not true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Index of the record among those given; `None` if the finding concerns the document.
    pub record: Option<usize>,
    /// The field.
    pub field: &'static str,
    /// The value found, abbreviated.
    pub found: String,
    /// The expected value, in words.
    pub expected: String,
}

impl Finding {
    /// A statement that is not true: `field` is `found`.
    pub fn new(
        record: Option<usize>,
        field: &'static str,
        found: impl Display,
        expected: impl Into<String>,
    ) -> Self {
        Self { record, field, found: abbreviated(&found.to_string()), expected: expected.into() }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is `{}`; expected {}", self.field, self.found, self.expected)
    }
}

/// Most characters of a value in a message.
const SHOWN: usize = 60;

/// A value as messages show it: on one line, and not longer than they can be read.
fn abbreviated(value: &str) -> String {
    let mut shown: String = value.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if value.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

/// What is known about a document besides its text.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    /// Whether sections, blocks and markup of the document are those that its records were made from.
    pub structure: Structure,
    /// Whether a model's note may stand before the context.
    pub notes: Notes,
    /// The text of a record as it was rendered, which may have been replaced by hand since; `None` if unknown.
    pub rendered: &'a (dyn Fn(usize) -> Option<&'a str> + 'a),
    /// The counter of a name, where it is available.
    pub counter: &'a dyn Fn(&str) -> Option<Arc<dyn TokenCounter>>,
}

/// Whether a document was parsed in the same way as when its records were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// It was.
    Known,
    /// Only its text is known.
    Unknown,
}

/// Whether a model's note may stand before the context of a chunk. The chunk's id does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    /// None does.
    Without,
    /// One may.
    Possible,
}

/// Whether this program makes records of `strategy_version`. Those of another version followed other rules.
pub fn is_current(strategy_version: &str) -> bool {
    STRATEGIES.iter().any(|strategy| {
        let (major, minor) = strategy.version();
        strategy_version == format!("{}-v{major}.{minor}", strategy.name())
    })
}

/// Findings of false fields in `records`, the chunks of a document in order followed by its summaries. Empty if all are
/// true.
pub fn verify<'a>(document: &'a Document, records: &'a [Record], basis: Basis<'a>) -> Vec<Finding> {
    let chunks = records.iter().take_while(|record| record.artifact.is_none()).count();
    let mut proof = Proof {
        document,
        basis,
        at: None,
        counter: None,
        ids: HashSet::with_capacity(records.len()),
        ordinals: HashMap::new(),
        findings: Vec::new(),
    };
    let (chunks, summaries) = records.split_at(chunks);
    let spans = proof.spans(chunks);
    let parts = proof.parts(&spans);
    for (index, (record, span)) in chunks.iter().zip(&spans).enumerate() {
        proof.at = Some(index);
        proof.place(record, index, chunks);
        if let Some(span) = *span {
            proof.text(record, span, index);
            proof.lines(record, span);
            if basis.structure == Structure::Known && is_current(&record.strategy_version) {
                let part = parts.as_ref().and_then(|parts| parts.get(index));
                proof.structure(record, span, chunks.len(), part);
            }
        }
        proof.common(record, &records[0]);
    }
    proof.characters(chunks, &spans);
    for (index, record) in summaries.iter().enumerate() {
        proof.at = Some(chunks.len() + index);
        proof.summary(record, index, summaries.len());
        proof.common(record, &records[0]);
    }
    proof.findings
}

struct Proof<'a> {
    document: &'a Document,
    basis: Basis<'a>,
    /// The record under verification.
    at: Option<usize>,
    /// The counter of the first record's tokenizer, and that name.
    counter: Option<(&'a str, Option<Arc<dyn TokenCounter>>)>,
    ids: HashSet<ChunkId>,
    /// Number of chunks so far with the same content and borrowed text.
    ordinals: HashMap<ChunkId, u64>,
    findings: Vec<Finding>,
}

impl<'a> Proof<'a> {
    fn tell(&mut self, field: &'static str, found: impl Display, expected: impl Into<String>) {
        self.findings.push(Finding::new(self.at, field, found, expected));
    }

    /// Tells of a value that is not the one expected.
    fn expect<T, U>(&mut self, field: &'static str, found: T, expected: U)
    where
        T: Display + PartialEq<U>,
        U: Display,
    {
        if found != expected {
            let expected = format!("`{}`", abbreviated(&expected.to_string()));
            self.tell(field, found, expected);
        }
    }

    /// Like [`expect`](Self::expect), for values shown as JSON.
    fn expect_json<T: PartialEq + serde::Serialize>(&mut self, field: &'static str, found: &T, expected: &T) {
        if found != expected {
            let json = |value: &T| serde_json::to_string(value).unwrap_or_default();
            self.tell(field, json(found), format!("`{}`", abbreviated(&json(expected))));
        }
    }

    /// The spans of chunks that are in the source; tells of the others, of those out of order, and of text between them.
    fn spans(&mut self, chunks: &[Record]) -> Vec<Option<Span>> {
        let source = self.document.source();
        let visible = |from: usize, to: usize| {
            source.get(from..to).is_some_and(|gap| gap.contains(|c: char| !is_blank(c)))
        };
        let mut spans = Vec::with_capacity(chunks.len());
        let mut end = 0;
        for (index, record) in chunks.iter().enumerate() {
            self.at = Some(index);
            let span = Span { start: record.start_byte, end: record.end_byte };
            let content = source.get(span.start as usize..span.end as usize);
            let Some(content) = content.filter(|content| !content.is_empty()) else {
                let bytes = format!("{}..{}", span.start, span.end);
                self.tell(
                    "start_byte..end_byte",
                    bytes,
                    format!("characters of {} bytes of source", source.len()),
                );
                spans.push(None);
                continue;
            };
            if record.content != content {
                self.tell("content", &record.content, "exactly the bytes of the source that it names");
            }
            if (span.start as usize) < end {
                self.tell("start_byte", span.start, format!("at least `{end}`, where the chunk before ends"));
                spans.push(None);
                continue;
            }
            if visible(end, span.start as usize) {
                self.tell("start_byte", span.start, "no text between the chunk before and this one");
            }
            end = span.end as usize;
            spans.push(Some(span));
        }
        if visible(end, source.len()) {
            self.tell("end_byte", end, "no text after the last chunk");
        }
        spans
    }

    /// The position of each chunk within its block; `None` if some span is unknown.
    fn parts(&self, spans: &[Option<Span>]) -> Option<Vec<Chunk>> {
        let known: Option<Vec<Span>> = spans.iter().copied().collect();
        let is_whole = |span: &Span| !blocks_in(self.document, *span).is_empty();
        let spans =
            known.filter(|spans| self.basis.structure == Structure::Known && spans.iter().all(is_whole))?;
        let mut chunks: Vec<Chunk> = spans.into_iter().map(|span| self.chunk(span)).collect();
        number_parts(self.document, &mut chunks);
        Some(chunks)
    }

    /// The chunk that owns `span`, as far as the document alone determines it.
    fn chunk(&self, span: Span) -> Chunk {
        Chunk {
            id: ChunkId([0; 16]),
            span,
            section: section_of(self.document, span),
            size: 0,
            cut: Cut::Full,
            kind: dominant_kind(self.document, span),
            part: None,
            borrows: Vec::new(),
            oversize: false,
            document_type: None,
        }
    }

    /// Its place among the others.
    fn place(&mut self, record: &'a Record, index: usize, chunks: &'a [Record]) {
        self.expect("chunk_index", record.chunk_index as usize, index);
        self.expect("total_chunks", record.total_chunks as usize, chunks.len());
        let id = |at: Option<usize>| at.and_then(|at| chunks.get(at)).map(|chunk| chunk.chunk_id);
        self.expect_json("previous", &record.previous, &id(index.checked_sub(1)));
        self.expect_json("next", &record.next, &id(index.checked_add(1)));
    }

    /// Verifies the fields of every record, summaries included; fields of the document must equal those of `first`.
    fn common(&mut self, record: &'a Record, first: &'a Record) {
        self.expect("doc_id", record.doc_id.as_str(), self.document.id());
        if !self.ids.insert(record.chunk_id) {
            self.tell("chunk_id", record.chunk_id, "an id that no other chunk of the document has");
        }
        for (field, found, expected) in [
            ("strategy_version", &record.strategy_version, &first.strategy_version),
            ("config_hash", &record.config_hash, &first.config_hash),
            ("preset", &record.preset, &first.preset),
            ("file_hash", &record.file_hash, &first.file_hash),
        ] {
            self.expect(field, found.as_str(), expected.as_str());
        }
        // A text given by hand may have been counted by another program.
        let rendered = |index: usize| (self.basis.rendered)(index);
        let is_rendered = self.at.and_then(rendered) == Some(record.text.as_str());
        if is_rendered && rendered(0) == Some(first.text.as_str()) {
            self.expect("tokenizer", record.tokenizer.as_str(), first.tokenizer.as_str());
        }
        self.counts(record);
        if let Some(position) =
            record.position.as_ref().filter(|position| position.first == 0 || position.last < position.first)
        {
            self.tell(
                "position",
                format!("{} to {}", position.first, position.last),
                "numbers from 1, in order",
            );
        }
    }

    fn counts(&mut self, record: &'a Record) {
        let text = &record.text;
        self.expect("char_count", record.char_count as usize, text.chars().count());
        self.expect("word_count", record.word_count as usize, Words.count(text));
        let counter = match &self.counter {
            Some((name, counter)) if *name == record.tokenizer => counter.clone(),
            _ => {
                let counter = (self.basis.counter)(&record.tokenizer);
                self.counter = Some((&record.tokenizer, counter.clone()));
                counter
            }
        };
        let tokens = record.token_count as usize;
        if let Some(counter) = counter {
            self.expect("token_count", tokens, counter.count(text));
        } else if tokens > text.len() || tokens == 0 && !text.trim().is_empty() {
            self.tell("token_count", tokens, format!("from 1 to `{}`, the bytes of the text", text.len()));
        }
        self.expect_json("token_level", &record.token_level, &TokenLevel::of(tokens));
    }

    fn lines(&mut self, record: &Record, span: Span) {
        let (start, end) = self.document.lines().lines(span);
        self.expect("start_line", record.start_line as usize, start);
        self.expect("end_line", record.end_line as usize, end);
        // Older versions named parents that do not hold their chunk.
        if is_current(&record.strategy_version) {
            self.parent_holds(record);
        }
        if matches!(record.cut, Cut::Summary | Cut::Unknown) {
            self.tell("cut", record.cut, "a known reason, such as `heading` or `full`");
        }
    }

    /// Which section the parent is depends on the program's version; that it contains the chunk does not.
    fn parent_holds(&mut self, record: &Record) {
        if record.holding_parent(self.document.lines().count()).is_none() {
            let expected =
                format!("`{}`, or lines of it that hold the chunk", abbreviated(self.document.id()));
            self.tell("parent", &record.parent, expected);
        }
    }

    /// Positions in characters: one forward pass over the source.
    fn characters(&mut self, chunks: &[Record], spans: &[Option<Span>]) {
        let source = self.document.source();
        let (mut at, mut chars) = (0, 0);
        for (index, (record, span)) in chunks.iter().zip(spans).enumerate() {
            let Some(span) = span else { continue };
            self.at = Some(index);
            for (field, found, byte) in
                [("start_char", record.start_char, span.start), ("end_char", record.end_char, span.end)]
            {
                chars += source[at..byte as usize].chars().count();
                at = byte as usize;
                self.expect(field, found as usize, chars);
            }
        }
    }

    /// Verifies fields that follow from the sections and blocks of the document.
    fn structure(&mut self, record: &Record, span: Span, total: usize, part: Option<&Chunk>) {
        if blocks_in(self.document, span).is_empty() {
            self.tell("content", &record.content, "visible text");
            return;
        }
        let document = self.document;
        let chunk = self.chunk(span);
        let titles = within_path(document.titles(chunk.section));
        self.expect_json("section_path", &record.section_path, &titles);
        // Its depth is configured.
        let mut paths = (0..=6).rev().map(|level| header_path(document, &chunk, level));
        if paths.all(|path| path != record.header_path) {
            let expected = format!("`{}`, or less of it", abbreviated(&header_path(document, &chunk, 6)));
            self.tell("header_path", &record.header_path, expected);
        }
        self.expect("content_type", record.content_type.as_str(), content_type(document, &chunk));
        self.expect_json("language", &record.language, &document.language().map(str::to_owned));
        let of_code = document.language();
        self.expect_json(
            "symbols",
            &record.symbols,
            &of_code.map(|_| symbols(document, chunk.section, span)),
        );
        // A record need not name all of them.
        let is_import = |import: &String| {
            let is_start = |start| document.imports().iter().any(|own| own.starts_with(start));
            document.imports().contains(import) || import.strip_suffix("...").is_some_and(is_start)
        };
        if record.imports.is_some() != of_code.is_some() || !record.imports.iter().flatten().all(is_import) {
            let imports = serde_json::to_string(&record.imports).unwrap_or_default();
            self.tell("imports", imports, "imports of the document, of source code only");
        }
        if let Some(part) = part {
            self.expect_json("part", &record.part, &part.part);
        }
        let is_adaptive = record.strategy_version.starts_with("adaptive-");
        match &record.adaptive {
            Some(adaptive) => {
                let section = document.section(chunk.section);
                self.expect("adaptive_chunking", adaptive.adaptive_chunking, is_adaptive);
                self.expect("is_complete_document", adaptive.is_complete_document, total == 1);
                self.expect("section_title", adaptive.section_title.as_str(), section.title.as_str());
                self.expect("section_index", adaptive.section_index, chunk.section.0);
            }
            None if is_adaptive && !document.is_unparsed() => {
                self.tell("adaptive_chunking", "null", "`true` of this strategy");
            }
            None => {}
        }
    }

    /// The text is the context, the rendered content, and the closing text; the id is the hash of these.
    fn text(&mut self, record: &Record, span: Span, index: usize) {
        let Some(text) = (self.basis.rendered)(index) else { return };
        let Some(rest) = text.strip_prefix(record.context.as_str()) else {
            self.tell("text", text, "its `context` first");
            return;
        };
        let is_known = self.basis.structure == Structure::Known && is_current(&record.strategy_version);
        let read = self.document.read(span);
        let tail = match rest.strip_prefix(&*read) {
            Some(tail) => tail,
            // Another version, or another parser, may have read its markup otherwise.
            None if !is_known => return,
            None => {
                self.tell("text", rest, "what its `content` reads as, after its `context`");
                return;
            }
        };
        let closes = |close: &str| tail.strip_prefix('\n') == Some(close) && !close.is_empty();
        let is_closed =
            self.document.enclosure_at(span.end).is_some_and(|enclosure| closes(&enclosure.close));
        if is_known && !tail.is_empty() && !is_closed {
            self.tell("text", tail, "nothing after its `content` but what closes it");
            return;
        }
        if is_current(&record.strategy_version) {
            self.identity(record, tail);
        }
    }

    fn identity(&mut self, record: &Record, tail: &str) {
        let mut contexts = vec![record.context.as_str()];
        if self.basis.notes == Notes::Possible {
            let ends = record.context.match_indices(NOTE_END).take(MOST_NOTE_ENDS);
            contexts.extend(ends.map(|(at, end)| &record.context[at + end.len()..]));
        }
        for context in contexts {
            let borrowed = [context, tail].concat();
            let parts = [self.document.id(), &borrowed, &record.content];
            let ordinal = self.ordinals.entry(ChunkId::of(&parts, 0)).or_default();
            if ChunkId::of(&parts, *ordinal) == record.chunk_id {
                *ordinal += 1;
                return;
            }
        }
        self.tell("chunk_id", record.chunk_id, "the hash of `doc_id`, `context` and `content`");
    }

    fn summary(&mut self, record: &'a Record, index: usize, total: usize) {
        self.expect("chunk_index", record.chunk_index as usize, index);
        self.expect("total_chunks", record.total_chunks as usize, total);
        let Some(artifact) = record.artifact else {
            self.tell("artifact", "null", "the name of a kind of summary; chunks stand before summaries");
            return;
        };
        let span = Span { start: record.start_byte, end: record.end_byte };
        let source = self.document.source();
        if source.get(span.start as usize..span.end as usize) != Some(&record.content) {
            self.tell("content", &record.content, "exactly the bytes of the source that it names");
            return;
        }
        let start_char = source[..span.start as usize].chars().count();
        self.expect("start_char", record.start_char as usize, start_char);
        self.expect("end_char", record.end_char as usize, start_char + record.content.chars().count());
        let (start, end) = self.document.lines().lines(span);
        self.expect("start_line", record.start_line as usize, start);
        self.expect("end_line", record.end_line as usize, end);
        self.parent_holds(record);
        let at = self.at.unwrap_or_default();
        if let Some(text) = (self.basis.rendered)(at).filter(|_| is_current(&record.strategy_version)) {
            let parts = [self.document.id(), artifact.name(), text];
            let ordinal = self.ordinals.entry(ChunkId::of(&parts, 0)).or_default();
            let id = ChunkId::of(&parts, *ordinal);
            *ordinal += 1;
            self.expect("chunk_id", record.chunk_id, id);
        }
    }
}

/// The separator between a note and the context.
const NOTE_END: &str = "\n\n";

/// Most places where a note may end.
const MOST_NOTE_ENDS: usize = 64;
