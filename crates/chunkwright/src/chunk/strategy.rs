//! Strategies: their trait, their registry, and what they may read and report.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::chunk::{Adaptive, ChunkConfig, ConfigError, Cut, Lines, Recursive, Sections, Tree, Window};
use crate::context::{self, Measured};
use crate::document::{Block, Document, SectionId};
use crate::span::Span;
use crate::tokens::TokenCounter;

/// A way to cut a document.
///
/// A strategy determines where chunks begin. Borrowing, enforcing the limit and computing ids follow, in the same way
/// for every strategy. One that is not among [`STRATEGIES`] is handed to
/// [`Chunker::with_strategy`](crate::Chunker::with_strategy):
///
/// ```
/// use chunkwright::chunk::{Plan, Strategy};
/// use chunkwright::{Chars, ChunkConfig, Chunker, Cut, Document, parse::Markdown};
/// use std::sync::Arc;
///
/// /// One chunk a block.
/// struct Blocks;
///
/// impl Strategy for Blocks {
///     fn name(&self) -> &'static str {
///         "blocks"
///     }
///     fn version(&self) -> (u16, u16) {
///         (1, 0)
///     }
///     fn summary(&self) -> &'static str {
///         "one chunk a block"
///     }
///     fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
///         for block in document.blocks() {
///             plan.push(block.span, Cut::Full);
///         }
///     }
/// }
///
/// let document = Document::parse("a.md", "One.\n\nTwo.\n", &Markdown);
/// let chunker = Chunker::with_strategy(ChunkConfig::default(), Arc::new(Chars), Arc::new(Blocks))?;
/// let chunks = chunker.chunk(&document);
/// assert_eq!(chunks.iter().map(|chunk| chunk.content()).collect::<Vec<_>>(), ["One.", "Two."]);
/// assert_eq!(chunker.strategy_version(), "blocks-v1.0");
/// # Ok::<(), chunkwright::ConfigError>(())
/// ```
pub trait Strategy: Send + Sync {
    /// The name that configuration and records use.
    fn name(&self) -> &'static str;

    /// Major and minor version. Anything that moves a boundary or an id raises it.
    fn version(&self) -> (u16, u16);

    /// Summary of what it does, in one sentence, for help texts.
    fn summary(&self) -> &'static str;

    /// Cuts `document`: reports, in order, spans that hold every block, through [`Plan::push`].
    ///
    /// The same document and plan must give the same spans, whatever was cut before.
    fn cut(&self, document: &Document, plan: &mut Plan<'_>);
}

impl Strategy for &dyn Strategy {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn version(&self) -> (u16, u16) {
        (**self).version()
    }

    fn summary(&self) -> &'static str {
        (**self).summary()
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        (**self).cut(document, plan);
    }
}

/// All strategies that configurations can name.
pub static STRATEGIES: &[&dyn Strategy] = &[&Tree, &Sections, &Adaptive, &Window, &Recursive, &Lines];

/// The one of [`STRATEGIES`] called `name`.
pub(super) fn known(name: &str) -> Result<&'static dyn Strategy, ConfigError> {
    let found = STRATEGIES.iter().find(|strategy| strategy.name() == name);
    found.copied().ok_or_else(|| ConfigError::UnknownStrategy { name: name.into() })
}

/// Fails if a custom strategy cannot be called `name`: it would be taken for another, or could not be separated from
/// its version.
pub(super) fn check_name(name: &str) -> Result<(), ConfigError> {
    let is_word = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
    if is_word && known(name).is_err() {
        Ok(())
    } else {
        Err(ConfigError::StrategyName { name: name.into() })
    }
}

/// The configuration and the measure that a strategy may read, and the cuts that it reports.
pub struct Plan<'a> {
    /// The configuration for this document, checked.
    pub config: Cow<'a, ChunkConfig>,
    counter: &'a dyn TokenCounter,
    pub(super) document_type: Option<Cow<'static, str>>,
    pub(super) drafts: Vec<Draft>,
    /// Sizes of the blocks, once measured.
    pub(super) sizes: OnceCell<Sizes>,
    /// Sizes of what was to be borrowed.
    pub(super) measured: Measured,
}

/// Sizes of the blocks of a document.
#[derive(Default)]
pub(super) struct Sizes {
    /// Of each with the blanks after it.
    pub(super) with_blanks: Vec<u32>,
    /// Of each alone, where that needed no second measuring.
    pub(super) alone: Vec<Option<u32>>,
}

/// A chunk before it has an identity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub(crate) span: Span,
    pub(crate) cut: Cut,
    /// Whether it may be over the limit: a block that is kept whole.
    pub(crate) whole: bool,
    /// Whether it is a block that is set apart, with what leads into it.
    pub(crate) apart: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(config: Cow<'a, ChunkConfig>, counter: &'a dyn TokenCounter) -> Self {
        Self {
            config,
            counter,
            document_type: None,
            drafts: Vec::new(),
            sizes: OnceCell::new(),
            measured: Measured::default(),
        }
    }
}

impl Plan<'_> {
    /// Size of `text` in the configured unit.
    pub fn measure(&self, text: &str) -> usize {
        self.counter.count(text)
    }

    /// Size of each block of `document` with the blanks after it, measured once.
    pub fn sizes(&self, document: &Document) -> &[u32] {
        let sizes = self.sizes.get_or_init(|| {
            let blocks = document.blocks();
            let next = blocks.iter().skip(1).map(|next| next.span.start);
            let ends = next.chain(blocks.last().map(|last| last.span.end));
            let size = |(block, end): (&Block, u32)| {
                let text = document.read(Span { start: block.span.start, end });
                if document.has_markup() {
                    return (self.measure(&text) as u32, None);
                }
                let (size, alone) = self.counter.count_to(&text, block.span.len());
                (size as u32, alone.map(|alone| alone as u32))
            };
            let (with_blanks, alone) = blocks.iter().zip(ends).map(size).unzip();
            Sizes { with_blanks, alone }
        });
        &sizes.with_blanks
    }

    /// Size left for the text of a chunk in `section` after the path that it borrows. A larger chunk is divided again,
    /// after the strategy.
    pub fn room_in(&self, document: &Document, section: SectionId) -> usize {
        self.room(context::path_size(
            document,
            &self.config,
            section,
            (&|text| self.measure(text), &self.measured),
        ))
    }

    /// As [`context::fits`].
    pub(super) fn fits(&self, document: &Document, span: Span, size: usize) -> bool {
        context::fits(document, &self.config, span, size, (&|text| self.measure(text), &self.measured))
    }

    /// For this document, sets a lower limit of a chunk's text than the configuration's, and another size of its
    /// overlap. Values out of range are clamped.
    pub fn set_sizes(&mut self, max_size: usize, overlap_size: usize) {
        let config = self.config.to_mut();
        config.max_size = max_size.clamp(ChunkConfig::LEAST_MAX_SIZE, config.max_size);
        config.target_size = config.target_size.min(config.max_size);
        config.min_size = config.min_size.min(config.max_size);
        config.overlap_size = overlap_size.min(config.max_size / 2);
    }

    /// Says what the document is: `chunk_type` of its records.
    pub fn set_document_type(&mut self, document_type: impl Into<Cow<'static, str>>) {
        self.document_type = Some(document_type.into());
    }

    /// Size left for content after `borrowed`.
    pub(crate) fn room(&self, borrowed: usize) -> usize {
        self.config.max_size.saturating_sub(borrowed).max(1)
    }

    /// Reports a chunk that owns `span` and begins for the reason `cut`.
    ///
    /// A span over the limit is divided at its best places. The spans of a custom strategy are first put in order:
    /// where two overlap, the text belongs to the first; blanks around them are left out; no span begins inside a
    /// grapheme cluster or inside markup; and visible text in no span joins the chunk before it, or is a chunk of its
    /// own if it holds a letter or digit. A span that is a block of `keep_whole` is kept whole.
    pub fn push(&mut self, span: Span, cut: Cut) {
        self.drafts.push(Draft { span, cut, whole: false, apart: false });
    }

    pub(super) fn extend(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        self.drafts.extend(drafts);
    }
}
