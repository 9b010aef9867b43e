//! Chunks, their configuration, and the one place that makes them.

mod adaptive;
mod alias;
mod boundary;
mod chunked;
mod config;
mod fill;
mod finish;
mod hash;
mod identity;
mod kind;
mod lanes;
mod lines;
mod pack;
mod recursive;
mod sections;
mod split;
mod strategy;
mod tile;
mod tree;
mod unknown;
mod window;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::context::Borrow;
use crate::document::{BlockKind, Document, SectionId};
use crate::span::Span;
use crate::tokens::{Chars, TokenCounter};

pub use adaptive::Adaptive;
pub use alias::{ALIASES, Alias, Assignments, Means, OTHER_NAMES, OtherName};
pub use boundary::{Boundary, BoundaryKind, BoundaryOutcome};
pub use chunked::{ChunkIn, Chunked};
pub use config::{ChunkConfig, ConfigError, ContextRule, Keep, Packing, Unit};
pub(crate) use finish::{blocks_in, dominant_kind, number_parts, section_of};
pub use kind::Kind;
pub use lines::Lines;
pub use recursive::Recursive;
pub use sections::Sections;
pub(crate) use strategy::Draft;
pub use strategy::{Plan, STRATEGIES, Strategy};
pub use tree::Tree;
pub use unknown::UnknownFiles;
pub use window::Window;

/// A chunk of one document: the span it owns, what it borrows, and why it begins where it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chunk {
    /// Identity: what the chunk says and where it belongs (see [`ChunkId`]).
    pub id: ChunkId,
    /// The bytes it owns. Spans of a document's chunks are disjoint, in order, and hold every
    /// non-blank byte.
    pub span: Span,
    /// The innermost section that holds all of it.
    pub section: SectionId,
    /// Size of its text (see [`ChunkIn::render`]) in the unit of the configuration.
    pub size: usize,
    /// Why it begins where it does.
    pub cut: Cut,
    /// The kind of block that takes most of it.
    pub kind: BlockKind,
    /// Which piece it is, if it is one of a block or symbol that was too large.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<Part>,
    /// What it borrows.
    pub borrows: Vec<Borrow>,
    /// Whether its text is over the limit: a block is kept whole, or not even one `char` (or what one
    /// stretch of markup reads as) fits.
    pub oversize: bool,
    /// What the strategy calls a chunk of such a document, if it says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub document_type: Option<Cow<'static, str>>,
}

/// A piece of a block or symbol that was too large for one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Position among the pieces, from 0.
    pub index: u32,
    /// Number of pieces.
    pub total: u32,
}

/// Why a chunk begins where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cut {
    /// The document begins.
    Document,
    /// The section of a heading or of a key of a data file begins.
    Heading,
    /// A symbol of source code begins.
    Symbol,
    /// Several small sections, of which the first begins here, were joined.
    Merged,
    /// The chunk before was full; a block or line begins here.
    Full,
    /// Inside a block: at a list item or at the border of a block within a block.
    #[serde(rename = "split:item")]
    Item,
    /// Inside a block: after a blank line.
    #[serde(rename = "split:blank_line")]
    BlankLine,
    /// Inside a block: at a statement.
    #[serde(rename = "split:statement")]
    Statement,
    /// Inside a block: at a line, the lower its indentation the better.
    #[serde(rename = "split:indent")]
    Indent,
    /// Inside prose: at a line, where no sentence ends.
    #[serde(rename = "split:line")]
    Line,
    /// Inside a block: at a row of a table.
    #[serde(rename = "split:row")]
    Row,
    /// Inside a row of a table that alone is over the limit: at a cell.
    #[serde(rename = "split:cell")]
    Cell,
    /// Inside a block: at a sentence.
    #[serde(rename = "split:sentence")]
    Sentence,
    /// Inside a block: at a word.
    #[serde(rename = "split:word")]
    Word,
    /// Inside a word, between grapheme clusters: the word alone is over the limit.
    #[serde(rename = "split:grapheme")]
    Grapheme,
    /// The window before was full.
    Window,
    /// Somebody divided the chunk here by hand (see [`Boundary`]).
    Manual,
    /// What a summary is of begins here; no chunk has it.
    Summary,
    /// It is not known why: another program cut the document.
    #[serde(rename = "")]
    Unknown,
}

impl Cut {
    /// Every reason that is known.
    pub const ALL: &[Self] = &[
        Self::Document,
        Self::Heading,
        Self::Symbol,
        Self::Merged,
        Self::Full,
        Self::Item,
        Self::BlankLine,
        Self::Statement,
        Self::Indent,
        Self::Line,
        Self::Row,
        Self::Cell,
        Self::Sentence,
        Self::Word,
        Self::Grapheme,
        Self::Window,
        Self::Manual,
        Self::Summary,
    ];

    /// The name that records use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Heading => "heading",
            Self::Symbol => "symbol",
            Self::Merged => "merged",
            Self::Full => "full",
            Self::Item => "split:item",
            Self::BlankLine => "split:blank_line",
            Self::Statement => "split:statement",
            Self::Indent => "split:indent",
            Self::Line => "split:line",
            Self::Row => "split:row",
            Self::Cell => "split:cell",
            Self::Sentence => "split:sentence",
            Self::Word => "split:word",
            Self::Grapheme => "split:grapheme",
            Self::Window => "window",
            Self::Manual => "manual",
            Self::Summary => "summary",
            Self::Unknown => "",
        }
    }
}

impl Cut {
    /// Whether a chunk that begins this way continues the subject of the chunk before it.
    pub(crate) fn continues(self) -> bool {
        !matches!(self, Self::Document | Self::Heading | Self::Symbol | Self::Merged)
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Identity of a chunk in its collection: the first 128 bits of BLAKE3 over the document's id, what the
/// chunk borrows, its content, each with its length before it, and its ordinal among the chunks of the
/// document for which those are equal.
///
/// So an id changes exactly when the text to embed changes. Lines, bytes and index are not part of it,
/// and of the titles above only those that the text has: an edit elsewhere in the document changes no id.
/// Line breaks are hashed as LF: converting a file between LF, CRLF and CR keeps its ids. Printed as
/// 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId(pub [u8; 16]);

impl ChunkId {
    /// Calls `then` with the 32 hex digits.
    pub(crate) fn with_hex<T>(self, then: impl FnOnce(&str) -> T) -> T {
        let mut digits = [0; 32];
        for (byte, pair) in self.0.iter().zip(digits.chunks_exact_mut(2)) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        then(str::from_utf8(&digits).unwrap_or_default())
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_hex(|digits| f.pad(digits))
    }
}

impl fmt::Debug for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkId({self})")
    }
}

impl FromStr for ChunkId {
    type Err = ParseChunkIdError;

    fn from_str(text: &str) -> Result<Self, ParseChunkIdError> {
        let digit = |digit: &u8| char::from(*digit).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        let id = bytes.and_then(|bytes| bytes.try_into().ok());
        id.map(Self).ok_or_else(|| ParseChunkIdError(text.into()))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ChunkId {
    fn schema_name() -> Cow<'static, str> {
        "ChunkId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The id of a chunk: 32 hex digits.",
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
        })
    }
}

impl Serialize for ChunkId {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.with_hex(|digits| s.serialize_str(digits))
    }
}

impl<'de> Deserialize<'de> for ChunkId {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        /// Reads digits without taking a copy of them.
        struct Digits;

        impl serde::de::Visitor<'_> for Digits {
            type Value = ChunkId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of a chunk: 32 hex digits")
            }

            fn visit_str<E: serde::de::Error>(self, digits: &str) -> Result<ChunkId, E> {
                digits.parse().map_err(E::custom)
            }
        }

        d.deserialize_str(Digits)
    }
}

/// A text that is not a chunk id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid chunk id `{0}`: expected 32 hex digits")]
pub struct ParseChunkIdError(String);

/// Cuts documents by one checked configuration. Deterministic, infallible, and free of state: one
/// chunker serves any number of threads.
#[derive(Clone)]
pub struct Chunker {
    config: ChunkConfig,
    strategy: Arc<dyn Strategy>,
    /// Whether the strategy is a custom one, not one of [`STRATEGIES`].
    is_own: bool,
    counter: Arc<dyn TokenCounter>,
    window: Option<(Arc<dyn TokenCounter>, usize)>,
    /// Made once: records of every document have it.
    config_hash: OnceLock<String>,
}

impl fmt::Debug for Chunker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunker")
            .field("config", &self.config)
            .field("tokenizer", &self.counter.name())
            .finish_non_exhaustive()
    }
}

impl Chunker {
    /// Checks `config`. `counter` measures sizes if the unit is tokens; records report its counts in
    /// any case.
    ///
    /// # Errors
    ///
    /// The first value of `config` that cannot be used, and what would be right.
    pub fn new(config: ChunkConfig, counter: Arc<dyn TokenCounter>) -> Result<Self, ConfigError> {
        config.check()?;
        let strategy = Arc::new(strategy::known(&config.strategy)?);
        Ok(Self { config, strategy, is_own: false, counter, window: None, config_hash: OnceLock::new() })
    }

    /// As [`new`](Self::new), with a strategy of the caller's own: `config.strategy` becomes its name.
    ///
    /// Whatever it reports, chunks are disjoint, in order, hold every visible byte, keep the limit, and have
    /// ids like any others. Its name and version are part of [`strategy_version`](Self::strategy_version) and
    /// [`config_hash`](Self::config_hash).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and a name that one of [`STRATEGIES`] has or that is not a word of lower-case
    /// letters, digits, `_` and `-`.
    pub fn with_strategy(
        mut config: ChunkConfig,
        counter: Arc<dyn TokenCounter>,
        strategy: Arc<dyn Strategy>,
    ) -> Result<Self, ConfigError> {
        strategy::check_name(strategy.name())?;
        config.strategy = strategy.name().into();
        config.check_values()?;
        Ok(Self { config, strategy, is_own: true, counter, window: None, config_hash: OnceLock::new() })
    }

    /// Adds a second hard limit: no text is over `limit` tokens of `counter`, the window of the model
    /// that will embed it. Moves boundaries only where a chunk would not fit the window.
    pub fn with_window(mut self, counter: Arc<dyn TokenCounter>, limit: usize) -> Self {
        self.window = Some((counter, limit.max(ChunkConfig::LEAST_MAX_SIZE)));
        self.config_hash.take();
        self
    }

    /// The configuration.
    pub fn config(&self) -> &ChunkConfig {
        &self.config
    }

    /// The counter of tokens.
    pub fn counter(&self) -> &dyn TokenCounter {
        &*self.counter
    }

    /// `<strategy>-v<major>.<minor>`.
    pub fn strategy_version(&self) -> String {
        let (major, minor) = self.strategy.version();
        format!("{}-v{major}.{minor}", self.strategy.name())
    }

    /// Hash of every setting that moves a boundary: configuration, strategy version, counter, window.
    /// 16 hex digits. Keys that are left at their default have no part in it, nor has the order of keys.
    pub fn config_hash(&self) -> String {
        self.config_hash.get_or_init(|| hash::of(self)).clone()
    }

    /// Cuts `document`.
    pub fn chunk<'a>(&'a self, document: &'a Document) -> Chunked<'a> {
        self.chunk_with(document, &[]).0
    }

    /// Cuts `document`, with boundaries set by hand; returns the outcome of each.
    ///
    /// Chunks away from every boundary are those of [`chunk`](Self::chunk), except for their overlaps. The limit holds:
    /// a merge that would exceed it is not applied.
    ///
    /// ```
    /// use chunkwright::chunk::{Boundary, BoundaryKind, BoundaryOutcome};
    /// use chunkwright::{Chars, ChunkConfig, Chunker, Document, parse::Markdown};
    /// use std::sync::Arc;
    ///
    /// let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Chars))?;
    /// let document = Document::parse("a.md", "One.\n\nTwo.\n", &Markdown);
    /// let (chunks, outcomes) = chunker.chunk_with(&document, &[Boundary { at: 6, kind: BoundaryKind::Split }]);
    /// assert_eq!(chunks.iter().map(|chunk| chunk.content()).collect::<Vec<_>>(), ["One.", "Two."]);
    /// assert_eq!(outcomes, [BoundaryOutcome::InForce { chunk: 1 }]);
    /// # Ok::<(), chunkwright::ConfigError>(())
    /// ```
    pub fn chunk_with<'a>(
        &'a self,
        document: &'a Document,
        boundaries: &[Boundary],
    ) -> (Chunked<'a>, Vec<BoundaryOutcome>) {
        let mut outcomes = Vec::new();
        let chunks = document.cut_with_lf(|document, place| {
            let placed: Vec<Boundary> =
                boundaries.iter().map(|it| Boundary { at: place(it.at), ..*it }).collect();
            let (chunks, became) = self.cut(document, &placed);
            outcomes = became;
            chunks
        });
        (Chunked::new(self, document, chunks), outcomes)
    }

    fn cut(&self, document: &Document, boundaries: &[Boundary]) -> (Vec<Chunk>, Vec<BoundaryOutcome>) {
        let mut config = self.config.for_document(document.id());
        let mut strategy = &*self.strategy;
        let mut is_own = self.is_own;
        if config.cuts_by_lines(document) {
            (strategy, is_own) = (&Lines, false);
            config.to_mut().strategy = strategy.name().into();
        }
        let mut plan = Plan::new(config, self.measure());
        strategy.cut(document, &mut plan);
        if is_own {
            plan.tile(document);
        }
        finish::finish(self, document, plan, boundaries)
    }

    /// Whether a text is within the limit and the model's window.
    pub fn fits(&self, text: &str) -> bool {
        self.excess(text).is_none()
    }

    /// Size, limit and unit of a text that is over the limit of the configuration, or over the window.
    pub fn excess(&self, text: &str) -> Option<(usize, usize, Unit)> {
        let size = self.measure().count(text);
        if size > self.config.max_size {
            return Some((size, self.config.max_size, self.config.unit));
        }
        let (counter, limit) = self.window.as_ref()?;
        let size = counter.count(text);
        (size > *limit).then_some((size, *limit, Unit::Tokens))
    }

    /// The measure of sizes.
    fn measure(&self) -> &dyn TokenCounter {
        match self.config.unit {
            Unit::Tokens => &*self.counter,
            Unit::Chars => &Chars,
        }
    }
}
