//! The one serialized shape of a chunk.
//!
//! Everything in a record but its text is bounded, whatever its document holds: a list that grew with the document
//! would make all records together grow with its square.

mod course;
mod fields;
pub(crate) mod imports;
mod json;
mod shown;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chunk::{ChunkId, ChunkIn, Chunked, Chunker, Cut, Part};
use crate::document::{Document, SectionId};
use crate::position::Position;
use crate::stats::TokenLevel;
use crate::summary::{Summary, SummaryKind};
use crate::tokens::{TokenCounter, Words};
use fields::{Common, Fields};
use imports::Imports;

pub use course::{COURSE_FIELDS, course_metadata, course_of};
pub use fields::CONTENT_TYPES;
pub(crate) use fields::{content_type, header_path, symbols, within_path};
pub use imports::{MAX_IMPORT_LEN, MAX_IMPORTS};
pub use json::RecordLines;

/// Most bytes of the titles in `section_path`, and of those in `header_path`: of longer paths the innermost titles
/// are kept.
pub const MAX_PATH_LEN: usize = 4096;

/// Most names in [`Symbols::names`], and most bytes of them together.
pub const MAX_NAMES: (usize, usize) = (256, 8192);

/// A chunk as it leaves the library: JSON Lines, Parquet columns, store payloads, answers to agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Identity, 32 hex digits.
    pub chunk_id: ChunkId,
    /// Key of the document in its collection.
    pub doc_id: String,
    /// What it is if it is no chunk: `function_summary`, `class_summary`, `file_summary`. A summary owns no
    /// text: its `content` is the lines that announce its symbol, its `text` what was written about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub artifact: Option<SummaryKind>,
    /// Position in the document, from 0.
    pub chunk_index: u32,
    /// Number of chunks in the document.
    pub total_chunks: u32,
    /// Where the smallest section stands that holds this chunk and has visible text beside it: `DOC_ID#L10-L80`,
    /// or the document's id where there is no such section. A reference for fetch that always holds the chunk
    /// (see [`Record::holding_parent`]).
    pub parent: String,
    /// Id of the chunk before it; none for the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous: Option<ChunkId>,
    /// Id of the chunk after it; none for the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<ChunkId>,
    /// Exactly `source[start_byte..end_byte]` of the decoded UTF-8 source.
    pub content: String,
    /// Borrowed text before it.
    pub context: String,
    /// What is embedded and searched.
    pub text: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// First byte.
    pub start_byte: u32,
    /// One past the last byte.
    pub end_byte: u32,
    /// First Unicode scalar value.
    pub start_char: u32,
    /// One past the last Unicode scalar value.
    pub end_char: u32,
    /// Where it stands in the file that the document was converted from: pages, slides, sheets, paragraphs, and boxes on
    /// pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub position: Option<Position>,
    /// `H1 Guide > H2 Install`, cut at the configured level.
    pub header_path: String,
    /// All titles from the outermost ([`MAX_PATH_LEN`]).
    pub section_path: Vec<String>,
    /// The kind of block that takes most of it.
    pub content_type: String,
    /// What the preset calls it.
    pub chunk_type: String,
    /// `api`, `doc`, `demo`, `code` or a user rule's value.
    pub category: String,
    /// Programming language, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub language: Option<String>,
    /// Language of the document's prose, where it was detected: a code of ISO 639-1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prose_language: Option<String>,
    /// Symbol names, for source code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbols: Option<Symbols>,
    /// For source code the import statements of the file whose names occur in the chunk, [`MAX_IMPORTS`] at most, each
    /// of [`MAX_IMPORT_LEN`] bytes at most. The whole list is [`Document::imports`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imports: Option<Vec<String>>,
    /// Unicode scalar values of `text`.
    pub char_count: u32,
    /// Words of `text` by Unicode segmentation.
    pub word_count: u32,
    /// Tokens of `text` by `tokenizer`.
    pub token_count: u32,
    /// Name of the counter; `estimate:` first where it is one.
    pub tokenizer: String,
    /// `normal`, `warning`, `large` or `oversized`, by `token_count`.
    pub token_level: TokenLevel,
    /// Over the limit because a block is kept whole.
    pub oversize: bool,
    /// Piece of a block or symbol that was too large.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<Part>,
    /// Why it begins here.
    pub cut: Cut,
    /// What the strategy `adaptive` adds.
    #[serde(flatten, skip_serializing_if = "Option::is_none", default)]
    pub adaptive: Option<AdaptiveFields>,
    /// `<strategy>-v<major>.<minor>`.
    pub strategy_version: String,
    /// Name of the preset.
    pub preset: String,
    /// Hash of every setting that moves a boundary.
    pub config_hash: String,
    /// BLAKE3 of the raw file.
    pub file_hash: String,
    /// When it was stored, ISO 8601; only in a store.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub indexed_at: Option<String>,
    /// What the document says of itself in its front matter, such as `tags`: lists by name, in lower case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub properties: BTreeMap<String, Vec<String>>,
    /// What the caller said of the document, such as `course_id`; only in a store.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub meta: BTreeMap<String, String>,
}

/// Names of the symbols around a chunk of source code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Symbols {
    /// The innermost function or method.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub function_name: Option<String>,
    /// The innermost class, struct, trait or implementation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub class_name: Option<String>,
    /// The class that a method or inner class belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_class: Option<String>,
    /// Every symbol that it holds some of, qualified by those around it: `Report.render` ([`MAX_NAMES`]).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<String>,
}

/// Additional fields of records that the strategy `adaptive` made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdaptiveFields {
    /// Always true.
    pub adaptive_chunking: bool,
    /// Whether the chunk is the whole document.
    pub is_complete_document: bool,
    /// Title of the section the chunk is in; empty before the first heading.
    pub section_title: String,
    /// Position of that section among the document's, 0 being what stands before the first heading.
    pub section_index: u32,
}

/// The fields of a record that its document does not know.
#[derive(Clone, Debug, Default)]
pub struct RecordContext {
    /// Name of the preset.
    pub preset: String,
    /// BLAKE3 of the raw file, hex.
    pub file_hash: String,
    /// Language of its prose, where it is known.
    pub prose_language: Option<String>,
    /// Category by path rules; empty for the default (`code` for source code, else `doc`).
    pub category: String,
}

impl Chunked<'_> {
    /// The records of the chunks, in order.
    pub fn records(&self, context: &RecordContext) -> Vec<Record> {
        self.iter_records(context).collect()
    }

    /// The records of the chunks, in order, each made on demand.
    pub fn iter_records<'c>(&'c self, context: &'c RecordContext) -> impl Iterator<Item = Record> + 'c {
        let common = Common::of(self, context);
        self.iter().map(move |chunk| chunk.record_with(&common))
    }
}

impl ChunkIn<'_> {
    /// Its record. Those of all chunks are made faster by [`Chunked::records`].
    pub fn record(self, context: &RecordContext) -> Record {
        self.record_with(&Common::of(self.chunks(), context))
    }

    fn record_with(self, common: &Common<'_>) -> Record {
        let fields = Fields::of(self, common);
        let (document, chunk, context) = (self.chunks().document(), &*self, common.context);
        Record {
            chunk_id: chunk.id,
            doc_id: document.id().to_owned(),
            artifact: None,
            chunk_index: self.index() as u32,
            total_chunks: self.chunks().len() as u32,
            parent: fields.parent,
            previous: fields.previous,
            next: fields.next,
            content: self.content().to_owned(),
            context: fields.rendered.context().to_owned(),
            start_line: fields.lines.0,
            end_line: fields.lines.1,
            start_byte: chunk.span.start,
            end_byte: chunk.span.end,
            start_char: fields.chars.0,
            end_char: fields.chars.1,
            position: fields.position,
            header_path: fields.header_path,
            section_path: fields.section_path,
            content_type: fields.content_type.to_owned(),
            chunk_type: fields.chunk_type.to_owned(),
            category: common.category.to_owned(),
            language: document.language().map(str::to_owned),
            prose_language: context.prose_language.clone(),
            symbols: fields.symbols,
            imports: fields.imports,
            char_count: fields.char_count,
            word_count: fields.word_count,
            token_count: fields.token_count,
            tokenizer: common.tokenizer.to_owned(),
            token_level: fields.token_level,
            oversize: chunk.oversize,
            part: chunk.part,
            cut: chunk.cut,
            adaptive: fields.adaptive,
            strategy_version: common.strategy_version.clone(),
            preset: context.preset.clone(),
            config_hash: common.config_hash.clone(),
            file_hash: context.file_hash.clone(),
            indexed_at: None,
            properties: document.properties().clone(),
            meta: BTreeMap::new(),
            text: fields.rendered.into_text(),
        }
    }
}

impl Chunker {
    /// The record of a summary; `ordinal` distinguishes equal summaries of a document, `start_char` is the start of its
    /// span.
    pub(crate) fn summary_record(
        &self,
        document: &Document,
        summary: &Summary,
        ordinal: u64,
        start_char: u32,
        imports: &Imports<'_>,
        context: &RecordContext,
    ) -> Record {
        let Summary { kind, section, span, text } = summary;
        let (source, artifact) = (document.source(), kind.name());
        let (start_line, end_line) = document.lines().lines(*span);
        let parent = match *section {
            SectionId::ROOT => document.id().to_owned(),
            section => document.lines_around(section, *span),
        };
        let token_count = self.counter().count(text);
        let id = ChunkId::of(&[document.id(), artifact, text], ordinal);
        let titles = within_path(document.titles(*section));
        Record {
            chunk_id: id,
            doc_id: document.id().to_owned(),
            artifact: Some(*kind),
            chunk_index: 0,
            total_chunks: 1,
            parent,
            previous: None,
            next: None,
            content: span.of(source).to_owned(),
            context: String::new(),
            text: text.clone(),
            start_line: start_line as u32,
            end_line: end_line as u32,
            start_byte: span.start,
            end_byte: span.end,
            start_char,
            end_char: start_char + span.of(source).chars().count() as u32,
            position: document.position(*span),
            header_path: titles.join(" > "),
            section_path: titles,
            content_type: artifact.to_owned(),
            chunk_type: artifact.to_owned(),
            category: if context.category.is_empty() { "code".to_owned() } else { context.category.clone() },
            language: document.language().map(str::to_owned),
            prose_language: context.prose_language.clone(),
            symbols: Some(symbols(document, *section, *span)),
            imports: Some(imports.used_in(text)),
            char_count: text.chars().count() as u32,
            word_count: Words.count(text) as u32,
            token_count: token_count as u32,
            tokenizer: self.counter().name().to_owned(),
            token_level: TokenLevel::of(token_count),
            oversize: false,
            part: None,
            cut: Cut::Summary,
            adaptive: None,
            strategy_version: self.strategy_version(),
            preset: context.preset.clone(),
            config_hash: self.config_hash(),
            file_hash: context.file_hash.clone(),
            indexed_at: None,
            properties: document.properties().clone(),
            meta: BTreeMap::new(),
        }
    }
}
