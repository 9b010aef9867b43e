//! Summaries of source code: a function, a class or a file in a few lines.
//!
//! A template fills in what the parser found, so that the same source has the same summaries on every machine: where
//! the symbol stands, its signature, the first paragraph of its documentation, its members or a file's imports and
//! symbols. A summary is a record beside the chunks; it owns no text, and it points at the lines that announce its
//! symbol.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::chunk::Chunker;
use crate::document::{BlockKind, Document, SectionId, SectionKind, SymbolKind};
use crate::record::imports::Imports;
use crate::record::{Record, RecordContext};
use crate::span::Span;

/// What a summary is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SummaryKind {
    /// A function, method or macro.
    #[serde(rename = "function_summary")]
    Function,
    /// A class, struct, enum, interface, trait, implementation or module.
    #[serde(rename = "class_summary")]
    Class,
    /// A file.
    #[serde(rename = "file_summary")]
    File,
}

impl SummaryKind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::Function, Self::Class, Self::File];

    /// The name that records use: the `artifact` of a summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function_summary",
            Self::Class => "class_summary",
            Self::File => "file_summary",
        }
    }
}

/// A summary of a document or of one of its symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it is of.
    pub kind: SummaryKind,
    /// The symbol; [`SectionId::ROOT`] for a file.
    pub section: SectionId,
    /// The lines that announce it: a symbol's signature, or the first line of a file.
    pub span: Span,
    /// Its text; never over the limit of the configuration.
    pub text: String,
}

/// The result of chunking a document: chunks that own its text, and summaries of its symbols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkingResult {
    /// The chunks, in order.
    pub chunks: Vec<Record>,
    /// The summaries: the file's, then the symbols', in order; empty unless the document is source code.
    pub summaries: Vec<Record>,
}

/// Most members, imports or symbols that a summary lists.
const MAX_LISTED: usize = 40;

impl Chunker {
    /// The chunks and summaries of a document.
    pub fn process(&self, document: &Document, context: &RecordContext) -> ChunkingResult {
        let chunks = self.chunk(document).records(context);
        ChunkingResult {
            chunks,
            summaries: self.summary_records(document, &self.summaries(document), context),
        }
    }

    /// Summaries of a file of source code, of its types and functions; those inside functions are left out.
    pub fn summaries(&self, document: &Document) -> Vec<Summary> {
        let Some(first) = document.blocks().first().filter(|_| document.language().is_some()) else {
            return Vec::new();
        };
        let (lines, line) = (document.lines(), document.lines().line(first.span.start));
        let end = if line < lines.count() { lines.start(line + 1) } else { first.span.end };
        let end = end.min(first.span.end);
        let children = Children::of(document);
        let mut summaries = vec![Summary {
            kind: SummaryKind::File,
            section: SectionId::ROOT,
            span: Span { start: first.span.start, end },
            text: self.fitted(&file(document, &children)),
        }];
        for (id, section) in (0..).map(SectionId).zip(document.sections()) {
            let SectionKind::Symbol(symbol) = section.kind else { continue };
            if section.title.is_empty() || section.signature.is_empty() || is_inside_function(document, id) {
                continue;
            }
            let kind = if is_function(symbol) { SummaryKind::Function } else { SummaryKind::Class };
            let text = self.fitted(&self::symbol(document, id, &children));
            summaries.push(Summary { kind, section: id, span: section.signature, text });
        }
        summaries
    }

    /// The records of summaries, those of [`Self::summaries`] or with texts from elsewhere.
    pub fn summary_records(
        &self,
        document: &Document,
        summaries: &[Summary],
        context: &RecordContext,
    ) -> Vec<Record> {
        let mut ordinals: HashMap<(&str, &str), u64> = HashMap::new();
        let count = summaries.len() as u32;
        let imports = Imports::new(document.imports());
        let (mut at, mut chars) = (0, 0);
        let mut records = Vec::with_capacity(summaries.len());
        for (index, summary) in (0..).zip(summaries) {
            let ordinal = ordinals.entry((summary.kind.name(), &summary.text)).or_default();
            *ordinal += 1;
            // Summaries are in order, so that this is one pass over the source.
            let start = summary.span.start as usize;
            if start < at {
                (at, chars) = (0, 0);
            }
            chars += document.source()[at..start].chars().count() as u32;
            at = start;
            let record = self.summary_record(document, summary, *ordinal - 1, chars, &imports, context);
            records.push(Record { chunk_index: index, total_chunks: count, ..record });
        }
        records
    }

    /// As many of the lines as fit the limit, the first cut at a word if not even it does.
    fn fitted(&self, lines: &[String]) -> String {
        let mut text = String::new();
        for line in lines {
            let before = text.len();
            if before > 0 {
                text.push('\n');
            }
            text.push_str(line);
            if !self.fits(&text) {
                text.truncate(before);
                break;
            }
        }
        if text.is_empty() {
            let words = lines.first().map(String::as_str).unwrap_or_default().split_inclusive(' ');
            for word in words {
                let before = text.len();
                text.push_str(word);
                if !self.fits(&text) {
                    text.truncate(before);
                    break;
                }
            }
        }
        text
    }
}

/// The sections directly inside each section.
struct Children(Vec<Vec<SectionId>>);

impl Children {
    fn of(document: &Document) -> Self {
        let mut children = vec![Vec::new(); document.sections().len()];
        for (id, section) in (0..).zip(document.sections()) {
            if let Some(parent) = section.parent {
                children[parent.0 as usize].push(SectionId(id));
            }
        }
        Self(children)
    }

    fn inside(&self, id: SectionId) -> &[SectionId] {
        &self.0[id.0 as usize]
    }
}

fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro)
}

fn is_inside_function(document: &Document, id: SectionId) -> bool {
    let mut around = document.path(id);
    around.pop();
    let is_function =
        |id: &SectionId| matches!(document.section(*id).kind, SectionKind::Symbol(kind) if is_function(kind));
    around.iter().any(is_function)
}

/// The lines of a symbol's summary, most important first.
fn symbol(document: &Document, id: SectionId, children: &Children) -> Vec<String> {
    let section = document.section(id);
    let name = document.titles(id).join(".");
    let kind = kind_name(document, id);
    let mut lines = vec![format!("{kind} {name} in {}", document.id())];
    lines.extend(document.read(section.signature).lines().map(|line| line.trim().to_owned()));
    lines.extend(first_paragraph(&document.read(section.documentation)));
    let members = children.inside(id);
    if !members.is_empty() && !matches!(section.kind, SectionKind::Symbol(kind) if is_function(kind)) {
        lines.push("members:".into());
        lines.extend(members.iter().take(MAX_LISTED).map(|&member| announced(document, member)));
    }
    lines
}

/// The lines of a file's summary.
fn file(document: &Document, children: &Children) -> Vec<String> {
    let language = document.language().unwrap_or_default();
    let mut lines = vec![format!("file {} ({language})", document.id())];
    // A comment at the start of a file documents it, unless it is the usual license header.
    let first = document.blocks().first().filter(|block| block.kind == BlockKind::Comment);
    lines.extend(first.and_then(|block| first_paragraph(&document.read(block.span))));
    let symbols = children.inside(SectionId::ROOT);
    if !symbols.is_empty() {
        lines.push("symbols:".into());
        lines.extend(symbols.iter().take(MAX_LISTED).map(|&symbol| announced(document, symbol)));
    }
    if !document.imports().is_empty() {
        lines.push("imports:".into());
        let imports = document.imports().iter().take(MAX_LISTED);
        lines.extend(imports.map(|import| import.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    lines
}

fn kind_name(document: &Document, id: SectionId) -> &'static str {
    match document.section(id).kind {
        SectionKind::Symbol(kind) => kind.name(),
        _ => "",
    }
}

/// A symbol in one line: its kind and the first line of its signature.
fn announced(document: &Document, id: SectionId) -> String {
    let section = document.section(id);
    let signature = document.read(section.signature);
    let line = signature.lines().next().unwrap_or_default().trim().trim_end_matches(['{', ':', ' ']);
    format!("- {}", if line.is_empty() { &section.title } else { line })
}

/// The first paragraph of documentation, without the marks of comments and quotes.
fn first_paragraph(documentation: &str) -> Option<String> {
    let is_mark =
        |c: char| c.is_whitespace() || matches!(c, '/' | '*' | '#' | '!' | '-' | '%' | ';' | '"' | '\'');
    let mut words: Vec<&str> = Vec::new();
    for line in documentation.lines().filter(|line| !line.starts_with("#!/")) {
        let text = line.trim_start_matches(is_mark).trim_end_matches(['*', '/', '"', '\'']).trim_end();
        if text.is_empty() && !words.is_empty() {
            break;
        }
        words.extend(text.split_whitespace());
    }
    (!words.is_empty()).then(|| words.join(" "))
}
