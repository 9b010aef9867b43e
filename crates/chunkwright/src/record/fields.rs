//! What a chunk's record says, borrowed from its document where it can be: a [`Record`](super::Record) owns it, a line of
//! JSON is written from it.

use std::collections::HashSet;

use super::imports::Imports;
use super::{AdaptiveFields, MAX_NAMES, MAX_PATH_LEN, RecordContext, Symbols};
use crate::chunk::{Chunk, ChunkId, ChunkIn, Chunked, Kind, Unit};
use crate::context::Rendered;
use crate::document::{BlockKind, Document, SectionId, SectionKind, SymbolKind};
use crate::position::Position;
use crate::span::Span;
use crate::stats::TokenLevel;
use crate::tokens::{TokenCounter, Words};

/// What all records of a document share.
pub(super) struct Common<'c> {
    pub(super) context: &'c RecordContext,
    pub(super) strategy_version: String,
    pub(super) config_hash: String,
    pub(super) category: &'c str,
    pub(super) tokenizer: &'c str,
    kind: Option<&'c Kind>,
    imports: Imports<'c>,
}

impl<'c> Common<'c> {
    pub(super) fn of(chunks: &'c Chunked<'_>, context: &'c RecordContext) -> Self {
        let (chunker, document) = (chunks.chunker(), chunks.document());
        let kind = chunker.config().kind(document.id());
        let category = match (context.category.as_str(), kind, document.language()) {
            ("", Some(kind), _) => kind.name.as_str(),
            ("", None, Some(_)) => "code",
            ("", None, None) => "doc",
            (category, ..) => category,
        };
        Self {
            context,
            strategy_version: chunker.strategy_version(),
            config_hash: chunker.config_hash(),
            category,
            tokenizer: chunker.counter().name(),
            kind,
            imports: Imports::new(document.imports()),
        }
    }
}

/// What the record of one chunk says beside that and beside what the chunk itself says.
pub(super) struct Fields<'c> {
    pub(super) parent: String,
    pub(super) previous: Option<ChunkId>,
    pub(super) next: Option<ChunkId>,
    pub(super) rendered: Rendered,
    pub(super) lines: (u32, u32),
    pub(super) chars: (u32, u32),
    pub(super) position: Option<Position>,
    pub(super) header_path: String,
    pub(super) section_path: Vec<String>,
    pub(super) content_type: &'static str,
    pub(super) chunk_type: &'c str,
    pub(super) symbols: Option<Symbols>,
    pub(super) imports: Option<Vec<String>>,
    pub(super) char_count: u32,
    pub(super) word_count: u32,
    pub(super) token_count: u32,
    pub(super) token_level: TokenLevel,
    pub(super) adaptive: Option<AdaptiveFields>,
}

impl<'c> Fields<'c> {
    pub(super) fn of(chunk_in: ChunkIn<'c>, common: &Common<'c>) -> Self {
        let (chunks, index) = (chunk_in.chunks(), chunk_in.index());
        let (chunker, document, chunk) = (chunks.chunker(), chunks.document(), &chunks[index]);
        let rendered = chunk_in.render();
        let (start_line, end_line) = document.lines().lines(chunk.span);
        let token_count = match chunker.config().unit {
            Unit::Tokens => chunk.size,
            Unit::Chars => chunker.counter().count(rendered.text()),
        };
        let content_type = content_type(document, chunk);
        let chunk_type = match (chunk.document_type.as_deref(), common.kind) {
            (Some(document_type), _) => document_type,
            (None, Some(kind)) if !kind.chunk_type.is_empty() => kind.chunk_type.as_str(),
            _ if chunker.config().cuts_by_lines(document) => FIXED,
            _ if document.language().is_some() => content_type,
            _ => common.category,
        };
        Self {
            parent: document.parent_of(chunk.span),
            previous: index.checked_sub(1).map(|previous| chunks[previous].id),
            next: chunks.get(index + 1).map(|next| next.id),
            lines: (start_line as u32, end_line as u32),
            chars: chunks.chars(index),
            position: document.position(chunk.span),
            header_path: header_path(document, chunk, chunker.config().max_heading_level_for_path),
            section_path: within_path(document.titles(chunk.section)),
            content_type,
            chunk_type,
            symbols: document.language().map(|_| symbols(document, chunk.section, chunk.span)),
            imports: document.language().map(|_| common.imports.used_in(chunk_in.content())),
            char_count: rendered.text().chars().count() as u32,
            word_count: Words.count(rendered.text()) as u32,
            token_count: token_count as u32,
            token_level: TokenLevel::of(token_count),
            adaptive: chunk.document_type.as_ref().map(|_| AdaptiveFields {
                adaptive_chunking: true,
                is_complete_document: chunks.len() == 1,
                section_title: document.section(chunk.section).title.clone(),
                section_index: chunk.section.0,
            }),
            rendered,
        }
    }
}

/// `H1 Guide > H2 Install` for prose, `Class > method` for source code.
pub(crate) fn header_path(document: &Document, chunk: &Chunk, max_level: u8) -> String {
    let mut path = Vec::new();
    for id in document.path(chunk.section) {
        let section = document.section(id);
        match section.kind {
            SectionKind::Heading(level) if level <= max_level => {
                path.push(format!("H{level} {}", section.title));
            }
            SectionKind::Symbol(_) | SectionKind::Key if !section.title.is_empty() => {
                path.push(section.title.clone());
            }
            _ => {}
        }
    }
    within_path(path).join(" > ")
}

/// The innermost titles of a path that keep within [`MAX_PATH_LEN`]; the innermost at least.
pub(crate) fn within_path<T: Into<String>>(titles: Vec<T>) -> Vec<String> {
    let mut titles: Vec<String> = titles.into_iter().map(Into::into).collect();
    let mut left = MAX_PATH_LEN;
    let fits = |title: &&String| {
        let fits = title.len() <= left;
        left = left.saturating_sub(title.len());
        fits
    };
    let kept = titles.iter().rev().take_while(fits).count().max(1).min(titles.len());
    titles.split_off(titles.len() - kept)
}

/// The type of chunks that are cut by lines.
const FIXED: &str = "fixed";

/// Every `content_type` of chunks; that of a summary is its `artifact`.
pub const CONTENT_TYPES: &[&str] = &[
    "paragraph",
    "heading",
    "list",
    "table",
    "code_block",
    "html",
    "front_matter",
    "data",
    "function",
    "method",
    "class",
    "module",
    "fixed",
];

pub(crate) fn content_type(document: &Document, chunk: &Chunk) -> &'static str {
    if document.is_unparsed() {
        return FIXED;
    }
    let symbol = match document.section(chunk.section).kind {
        SectionKind::Symbol(symbol) => Some(symbol),
        _ => None,
    };
    match (chunk.kind, symbol) {
        (BlockKind::Function, Some(SymbolKind::Method)) => "method",
        (BlockKind::Function, Some(kind)) if kind.is_type() => "class",
        (BlockKind::ClassBody, _) => "class",
        (BlockKind::Function, _) => "function",
        (BlockKind::Import | BlockKind::Comment | BlockKind::Statement, _)
            if document.language().is_some() =>
        {
            "module"
        }
        (BlockKind::Paragraph | BlockKind::Quote | BlockKind::Definition, _) => "paragraph",
        (BlockKind::Heading, _) => "heading",
        (BlockKind::Table, _) => "table",
        (BlockKind::List, _) => "list",
        (BlockKind::Html, _) => "html",
        (BlockKind::FrontMatter, _) => "front_matter",
        (BlockKind::Data, _) => "data",
        (BlockKind::Code | BlockKind::Import | BlockKind::Comment | BlockKind::Statement, _) => "code_block",
    }
}

/// The symbols around `section`, and those that `span` holds some of.
pub(crate) fn symbols(document: &Document, section: SectionId, span: Span) -> Symbols {
    let mut symbols = Symbols { names: names(document, span), ..Symbols::default() };
    for id in document.path(section) {
        let section = document.section(id);
        match section.kind {
            SectionKind::Symbol(kind) if kind.is_type() => {
                symbols.parent_class = symbols.class_name.replace(section.title.clone());
            }
            SectionKind::Symbol(SymbolKind::Method) => {
                // `Type.name`, `Type::name`: declared outside its class.
                let (class, name) = match section.title.rsplit_once(['.', ':']) {
                    Some((class, name)) => (Some(class.trim_end_matches(':').to_owned()), name),
                    None => (symbols.class_name.clone(), section.title.as_str()),
                };
                symbols.parent_class = class;
                symbols.function_name = Some(name.to_owned());
            }
            SectionKind::Symbol(SymbolKind::Function | SymbolKind::Macro) => {
                symbols.function_name = Some(section.title.clone());
            }
            _ => {}
        }
    }
    symbols
}

/// Qualified names of the symbols that `span` holds some of, in order.
fn names(document: &Document, span: Span) -> Vec<String> {
    let sections = document.sections();
    let from = sections.partition_point(|section| section.span.start < span.start);
    let to = sections.partition_point(|section| section.span.start < span.end);
    let mut ids = document.path(document.section_around(span.start));
    ids.extend((from as u32..to as u32).map(SectionId));
    let is_named = |id: &SectionId| {
        let section = document.section(*id);
        matches!(section.kind, SectionKind::Symbol(_)) && !section.title.is_empty()
    };
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    let (most, mut left) = MAX_NAMES;
    for name in ids.into_iter().filter(is_named).map(|id| document.titles(id).join(".")) {
        if names.len() == most || name.len() > left {
            break;
        }
        if known.insert(name.clone()) {
            left -= name.len();
            names.push(name);
        }
    }
    names
}
