//! Stable, explainable, token-bounded chunks of documents.
//!
//! This crate is the pure core of Chunkwright: it turns the text of one document into a tree of
//! [sections](Section) and [blocks](Block), and cuts that tree into [chunks](Chunk). It knows no
//! files, clock, network, environment, threads or models; parsing and chunking cannot fail, only a
//! configuration can.
//!
//! Three ideas carry it:
//!
//! * A heading and a class are the same thing, a named **section**; a paragraph and a statement are
//!   the same thing, a **block**. Every [`Parser`] yields only those and every [`Strategy`] reads
//!   only those, so prose and code are cut by one algorithm.
//! * A chunk **owns a span and borrows its context**: `content` is exactly
//!   `source[start_byte..end_byte]`; the heading path, a table's header row or the opening line of a
//!   cut fence are borrowed, count toward the size limit, and never blur which bytes are whose.
//! * **Identity** is what a chunk says and where it belongs, not where it stands: inserting a line
//!   at the top of a document changes no id below it.
//!
//! ```
//! use chunkwright::{Chars, ChunkConfig, Chunker, Document, parse::Markdown};
//! use std::sync::Arc;
//!
//! let source = "# Guide\n\nWelcome.\n\n## Install\n\nRun the installer.\n";
//! let document = Document::parse("guide.md", source, &Markdown);
//! let config = ChunkConfig { unit: chunkwright::Unit::Chars, max_size: 40, target_size: 30, min_size: 10, ..ChunkConfig::default() };
//! let chunker = Chunker::new(config, Arc::new(Chars))?;
//! for chunk in &chunker.chunk(&document) {
//!     assert!(chunk.render().text().chars().count() <= 40);
//!     assert!(source.contains(chunk.content()));
//! }
//! # Ok::<(), chunkwright::ConfigError>(())
//! ```

pub mod chunk;
pub mod context;
pub mod diff;
pub mod document;
pub mod explain;
pub mod options;
pub mod parent;
pub mod parse;
pub mod position;
pub mod preset;
pub mod record;
pub mod span;
pub mod stats;
pub mod summary;
pub mod tokens;
pub mod verify;
mod words;

pub use chunk::{
    ALIASES, Alias, Assignments, Chunk, ChunkConfig, ChunkId, ChunkIn, Chunked, Chunker, ConfigError,
    ContextRule, Cut, Keep, Kind, Means, OTHER_NAMES, OtherName, Packing, Part, Plan, STRATEGIES, Strategy,
    Unit, UnknownFiles,
};
pub use context::{Borrow, Rendered};
pub use document::{
    Block, BlockKind, Document, DocumentBuilder, Languages, Section, SectionId, SectionKind, SymbolKind,
    with_lf,
};
pub use options::{ChunkOptions, Key, OptionsError, ValueError, Values};
pub use parent::Parent;
pub use parse::{PARSERS, Parser};
pub use position::{PageBox, Position, PositionUnit, Positions};
pub use record::{CONTENT_TYPES, Record, RecordContext, RecordLines};
pub use span::{LineIndex, Span};
pub use summary::{ChunkingResult, Summary, SummaryKind};
pub use tokens::{Chars, TokenCounter, Words};
