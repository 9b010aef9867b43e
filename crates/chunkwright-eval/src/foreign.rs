//! Chunks that another program made, as JSON Lines.
//!
//! One object a line, as chunkers and vector databases write them. Fields are read from the object, else from its
//! `metadata`:
//!
//! * the text: `content`, `text` or `page_content`; `embed_text` or `text` beside it is what is searched;
//! * the document: `doc_id`, `source`, `file_path`, `path` or `file`, an id or a path that ends in one; it may be left
//!   out where there is one document;
//! * where in it the text stands, if that is known: `start_char` and `end_char` (also `start_index`, `start_char_idx` or
//!   `start` and so on) in Unicode scalar values, or `start_byte` and `end_byte`. A start alone is enough.
//!
//! If a chunk gives no position, its text is looked up in the document, ignoring blanks, from the chunk before it on. A
//! text that is not found, because the program rewrote it, is searched and takes room in answers, but counts as holding
//! none of them.

use std::collections::{BTreeMap, HashMap};

use chunkwright::span::is_blank;
use chunkwright::stats::TokenLevel;
use chunkwright::{ChunkId, Cut, Record};
use serde_json::{Map, Value};

use crate::corpus::{Corpus, Passage};
use crate::retrieval::visible;
use crate::size::Tally;

/// Chunks that another program made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignChunks {
    /// The chunks, by document and place.
    pub chunks: Vec<ForeignChunk>,
    /// Lines of chunks whose text is not in their document, from 1.
    pub unplaced: Vec<usize>,
    /// Lines that hold no chunk: their numbers, from 1, and why.
    pub refused: Vec<(usize, ForeignError)>,
}

/// A chunk that another program made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignChunk {
    /// Its place in the document; empty if its text is not in it.
    pub place: Passage,
    /// Its line, from 1.
    pub line: usize,
    /// The text that a reader gets.
    pub content: String,
    /// The text that is searched.
    pub text: String,
}

/// Why a line is not a chunk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// The line is not a JSON object.
    #[error("not a JSON object ({0}); expected {{\"doc_id\": .., \"text\": ..}}")]
    NoObject(String),
    /// It has no text.
    #[error(
        "the chunk has no text; `text`, `content` or `page_content` must be text with a visible character"
    )]
    NoText,
    /// It names no document.
    #[error("the chunk names no document; set `doc_id` or `source` to its path relative to the given folder")]
    NoDocument,
    /// There is no such document, or more than one.
    #[error("`{0}` is none of the documents; `doc_id` is the path relative to the given folder")]
    UnknownDocument(String),
    /// The place is outside its document.
    #[error("{start} to {end} are no place in `{doc_id}`")]
    OutOfRange {
        /// The first.
        start: u64,
        /// One past the last.
        end: u64,
        /// The document.
        doc_id: String,
    },
}

impl ForeignChunks {
    /// Reads `jsonl` and finds every chunk in `corpus`. Blank lines are skipped.
    pub fn read(jsonl: &str, corpus: &Corpus) -> Self {
        let mut read = Self::default();
        let mut sources: HashMap<usize, Visible> = HashMap::new();
        for (index, line) in jsonl.trim_start_matches('\u{feff}').lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match chunk(line, index + 1, corpus, &mut sources) {
                Ok(chunk) => {
                    if chunk.place.is_empty() {
                        read.unplaced.push(index + 1);
                    }
                    read.chunks.push(chunk);
                }
                Err(error) => read.refused.push((index + 1, error)),
            }
        }
        read.chunks.sort_unstable();
        read
    }

    /// Counts their tokens and characters: each character that several chunks hold counts once.
    pub(crate) fn tally(&self, corpus: &Corpus, tokens: &[usize]) -> Tally {
        let mut tally = Tally { tokens: tokens.to_vec(), ..Tally::default() };
        for (at, document) in corpus.documents().iter().enumerate() {
            tally.visible += visible(document.source());
            let first = self.chunks.partition_point(|chunk| chunk.place.document < at);
            let places = self.chunks[first..].iter().map(|chunk| chunk.place);
            let mut characters = document.source().chars();
            let mut end = 0;
            for place in places.take_while(|place| place.document == at) {
                let new = place.start.max(end)..place.end.max(end);
                let skipped = new.start - end;
                let held = characters.by_ref().skip(skipped).take(new.len());
                tally.visible_in_chunks += held.filter(|&c| !is_blank(c)).count();
                if !new.is_empty() {
                    end = new.end;
                }
            }
        }
        tally
    }
}

impl ForeignChunk {
    /// The chunk as a search finds it, which reads its texts and nothing else.
    pub(crate) fn record(&self, doc_id: &str, index: usize, tokens: usize) -> Record {
        Record {
            chunk_id: ChunkId((self.line as u128).to_be_bytes()),
            doc_id: doc_id.to_owned(),
            artifact: None,
            chunk_index: index as u32,
            total_chunks: 0,
            parent: doc_id.to_owned(),
            previous: None,
            next: None,
            content: self.content.clone(),
            context: String::new(),
            text: self.text.clone(),
            start_line: 0,
            end_line: 0,
            start_byte: 0,
            end_byte: 0,
            start_char: self.place.start as u32,
            end_char: self.place.end as u32,
            position: None,
            header_path: String::new(),
            section_path: Vec::new(),
            content_type: String::new(),
            chunk_type: String::new(),
            category: String::new(),
            language: None,
            prose_language: None,
            symbols: None,
            imports: None,
            char_count: self.text.chars().count() as u32,
            word_count: 0,
            token_count: tokens as u32,
            tokenizer: String::new(),
            token_level: TokenLevel::of(tokens),
            oversize: false,
            part: None,
            cut: Cut::Document,
            adaptive: None,
            strategy_version: String::new(),
            preset: String::new(),
            config_hash: String::new(),
            file_hash: String::new(),
            indexed_at: None,
            properties: BTreeMap::new(),
            meta: BTreeMap::new(),
        }
    }
}

/// A document without its blanks, and where each of its characters stands.
struct Visible {
    text: String,
    characters: Vec<Place>,
    /// Number of characters and bytes of the document.
    len: (usize, usize),
    /// Start of the previous chunk in `text`.
    last: Option<usize>,
}

/// A visible character: its byte in the text without blanks, its number and its byte in the document.
struct Place {
    compact: usize,
    character: usize,
    byte: usize,
}

impl Visible {
    fn new(source: &str) -> Self {
        let (mut text, mut characters, mut count) = (String::with_capacity(source.len()), Vec::new(), 0);
        for (character, (byte, c)) in source.char_indices().enumerate() {
            count = character + 1;
            if !is_blank(c) {
                characters.push(Place { compact: text.len(), character, byte });
                text.push(c);
            }
        }
        Self { text, characters, len: (count, source.len()), last: None }
    }

    /// The range of visible characters after those for which `is_before_start` holds and within those for which
    /// `is_before_end` holds.
    fn between(
        &self,
        is_before_start: impl Fn(&Place) -> bool,
        is_before_end: impl Fn(&Place) -> bool,
    ) -> (usize, usize) {
        let first = self.characters.partition_point(is_before_start);
        let last = self.characters[first..].partition_point(is_before_end);
        let inside = &self.characters[first..first + last];
        inside
            .first()
            .zip(inside.last())
            .map_or((0, 0), |(first, last)| (first.character, last.character + 1))
    }

    /// The position of `wanted`, in characters of the document: after the start of the chunk before it, or else
    /// anywhere.
    fn find(&mut self, wanted: &str) -> Option<(usize, usize)> {
        let wanted: String = wanted.chars().filter(|c| !is_blank(*c)).collect();
        let next = |last: usize| last + self.text[last..].chars().next().map_or(0, char::len_utf8);
        let from = self.last.map_or(0, next);
        let behind = self.text[from..].find(&wanted).map(|at| from + at);
        let start = behind.or_else(|| self.text.find(&wanted))?;
        self.last = Some(start);
        let end = start + wanted.len();
        Some(self.between(|place| place.compact < start, |place| place.compact < end))
    }
}

fn chunk(
    line: &str,
    number: usize,
    corpus: &Corpus,
    sources: &mut HashMap<usize, Visible>,
) -> Result<ForeignChunk, ForeignError> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| ForeignError::NoObject(error.to_string()))?;
    let row = Row { object: &object, metadata: object.get("metadata").and_then(Value::as_object) };
    let is_visible = |text: &&str| text.chars().any(|c| !is_blank(c));
    let content = row.text(&["content", "text", "page_content"]).filter(is_visible);
    let content = content.ok_or(ForeignError::NoText)?;
    let document = in_document(&row, corpus)?;
    let new = || Visible::new(corpus.documents()[document].source());
    let source = sources.entry(document).or_insert_with(new);
    let (start, end) = match place(&row, content, document, source, corpus)? {
        Some(place) => place,
        None => source.find(content).unwrap_or((0, 0)),
    };
    let place = Passage { document, start, end };
    let text = row.text(&["embed_text", "text"]).unwrap_or(content);
    Ok(ForeignChunk { place, line: number, content: content.to_owned(), text: text.to_owned() })
}

/// A line, and the object in it that many programs use for metadata.
struct Row<'a> {
    object: &'a Map<String, Value>,
    metadata: Option<&'a Map<String, Value>>,
}

impl<'a> Row<'a> {
    fn get<T>(&self, names: &[&str], read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let objects = [Some(self.object), self.metadata];
        let mut found = objects.into_iter().flatten();
        found.find_map(|object| names.iter().find_map(|name| read(object.get(*name)?)))
    }

    fn text(&self, names: &[&str]) -> Option<&'a str> {
        self.get(names, Value::as_str)
    }

    fn number(&self, names: &[&str]) -> Option<u64> {
        self.get(names, Value::as_u64)
    }
}

/// Position of the document that a chunk names.
fn in_document(row: &Row<'_>, corpus: &Corpus) -> Result<usize, ForeignError> {
    let Some(name) = row.text(&["doc_id", "source", "file_path", "path", "file"]) else {
        return if corpus.documents().len() == 1 { Ok(0) } else { Err(ForeignError::NoDocument) };
    };
    let ends_alike = |id: &str| {
        let (long, short) = if id.len() > name.len() { (id, name) } else { (name, id) };
        long.strip_suffix(short).is_some_and(|before| before.ends_with(['/', '\\']))
    };
    let alike = || {
        let mut alike = corpus.documents().iter().enumerate().filter(|(_, it)| ends_alike(it.id()));
        // Of `a.md` and `docs/a.md` the path that ends in the longer id means that one.
        let best = alike.by_ref().max_by_key(|(_, document)| document.id().len());
        best.map(|(at, _)| at)
    };
    corpus.find(name).or_else(alike).ok_or_else(|| ForeignError::UnknownDocument(name.to_owned()))
}

/// The position that a chunk gives, in characters without blanks at the ends; `None` if it gives none.
fn place(
    row: &Row<'_>,
    content: &str,
    document: usize,
    source: &Visible,
    corpus: &Corpus,
) -> Result<Option<(usize, usize)>, ForeignError> {
    let wrong = |start, end| {
        let doc_id = corpus.documents()[document].id().to_owned();
        ForeignError::OutOfRange { start, end, doc_id }
    };
    let (characters, bytes) = source.len;
    if let Some(start) = row.number(&["start_char", "start_index", "start_char_idx", "start"]) {
        let end = row.number(&["end_char", "end_index", "end_char_idx", "end"]);
        let end = end.unwrap_or(start.saturating_add(content.chars().count() as u64));
        if start > end || end > characters as u64 {
            return Err(wrong(start, end));
        }
        let is_before = |at: u64| move |place: &Place| (place.character as u64) < at;
        return Ok(Some(source.between(is_before(start), is_before(end))));
    }
    let Some(start) = row.number(&["start_byte"]) else { return Ok(None) };
    let end = row.number(&["end_byte"]).unwrap_or(start.saturating_add(content.len() as u64));
    let text = corpus.documents()[document].source();
    let is_boundary = |at: u64| text.is_char_boundary(at as usize);
    if start > end || end > bytes as u64 || !is_boundary(start) || !is_boundary(end) {
        return Err(wrong(start, end));
    }
    let is_before = |at: u64| move |place: &Place| (place.byte as u64) < at;
    Ok(Some(source.between(is_before(start), is_before(end))))
}

#[cfg(test)]
mod tests {
    use chunkwright::Document;
    use chunkwright::parse::Markdown;

    use super::*;

    fn corpus() -> Corpus {
        let document = |id: &str, text: &str| Document::parse(id, text, &Markdown);
        Corpus::new(vec![
            document("en/a.md", "# Title\n\nOne two\nthree. One more.\n\nOne two\nthree. Last.\n"),
            document("zh.md", "# 标题\n\n第一句。第二句。\n"),
        ])
    }

    /// The part of the documents that each line is, or the error.
    #[track_caller]
    fn check(lines: &[&str], expected: &[&str]) {
        let corpus = corpus();
        let read = ForeignChunks::read(&lines.join("\n"), &corpus);
        let text = |chunk: &ForeignChunk| -> String {
            let source = corpus.documents()[chunk.place.document].source();
            source.chars().skip(chunk.place.start).take(chunk.place.len()).collect()
        };
        let mut said: Vec<(usize, String)> =
            read.chunks.iter().map(|chunk| (chunk.line, text(chunk))).collect();
        said.extend(read.refused.iter().map(|(line, error)| (*line, error.to_string())));
        said.sort();
        let said: Vec<&str> = said.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn a_chunk_is_found_by_its_text_or_where_it_says() {
        check(&[r#"{"doc_id":"zh.md","text":"第一句。"}"#], &["第一句。"]);
        check(&[r#"{"doc_id":"zh.md","content":"x","start_char":6,"end_char":10}"#], &["第一句。"]);
        check(&[r#"{"doc_id":"zh.md","content":"x","start_byte":10,"end_byte":22}"#], &["第一句。"]);
        let langchain =
            r#"{"page_content":"第二句。","metadata":{"source":"/data/docs/zh.md","start_index":10}}"#;
        check(&[langchain], &["第二句。"]);
        let llama = r#"{"text":"One  two three.","metadata":{"file_path":"C:\\docs\\en/a.md"}}"#;
        check(&[llama, llama], &["One two\nthree.", "One two\nthree."]);
        check(&[r#"{"doc_id":"a.md","text":"rewritten"}"#], &[""]);
    }

    #[test]
    fn equal_texts_are_found_one_after_the_other() {
        let corpus = corpus();
        let line = r#"{"doc_id":"en/a.md","text":"One two three."}"#;
        let read = ForeignChunks::read(&[line, line].join("\n"), &corpus);
        let starts: Vec<usize> = read.chunks.iter().map(|chunk| chunk.place.start).collect();
        assert_eq!(starts, [9, 35]);
    }

    #[test]
    fn a_line_that_is_no_chunk_says_what_would_be_right() {
        check(
            &["[]"],
            &[
                "not a JSON object (invalid type: sequence, expected a map at line 1 column 0); expected {\"doc_id\": .., \"text\": ..}",
            ],
        );
        check(
            &[r#"{"doc_id":"zh.md","text":" "}"#],
            &[
                "the chunk has no text; `text`, `content` or `page_content` must be text with a visible character",
            ],
        );
        check(
            &[r#"{"text":"x"}"#],
            &[
                "the chunk names no document; set `doc_id` or `source` to its path relative to the given folder",
            ],
        );
        check(
            &[r#"{"doc_id":"b.md","text":"x"}"#],
            &["`b.md` is none of the documents; `doc_id` is the path relative to the given folder"],
        );
        check(
            &[r#"{"doc_id":"zh.md","text":"x","start_char":9,"end_char":90}"#],
            &["9 to 90 are no place in `zh.md`"],
        );
        check(
            &[r#"{"doc_id":"zh.md","text":"x","start_byte":11,"end_byte":12}"#],
            &["11 to 12 are no place in `zh.md`"],
        );
    }
}
