//! Subjects of keys, and units of their numbers.

use super::{About, Key, Values};

/// A subject of keys. Front ends show the keys of one subject together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The name in schemas.
    pub name: &'static str,
    /// The title, in English.
    pub title: &'static str,
}

/// The subjects of [`KEYS`](super::KEYS), in the order in which front ends show them.
pub static TOPICS: &[Topic] = &[
    Topic::SIZES,
    Topic::STRATEGY,
    Topic::CONTEXT,
    Topic::BLOCKS,
    Topic::ADAPTIVE,
    Topic::CODE,
    Topic::DOCUMENTS,
];

impl Topic {
    /// Sizes of chunks.
    pub const SIZES: Self = Self { name: "sizes", title: "Sizes" };
    /// Where documents are cut.
    pub const STRATEGY: Self = Self { name: "strategy", title: "Strategy" };
    /// What chunks borrow.
    pub const CONTEXT: Self = Self { name: "context", title: "Context" };
    /// Treatment of single blocks.
    pub const BLOCKS: Self = Self { name: "blocks", title: "Blocks" };
    /// Sizes that tell short, medium and long documents apart.
    pub const ADAPTIVE: Self = Self { name: "adaptive", title: "By size of the document" };
    /// Source code that is cut by lines.
    pub const CODE: Self = Self { name: "code", title: "Source code without a grammar" };
    /// Kinds of documents.
    pub const DOCUMENTS: Self = Self { name: "documents", title: "Kinds of documents" };
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Counts {
    /// What the key `unit` says: tokens or characters.
    Size,
    /// Unicode scalar values.
    Chars,
    /// Lines.
    Lines,
    /// Levels of headings.
    Levels,
    /// Bytes.
    Bytes,
    /// Generations of a collection.
    Generations,
    /// Minutes.
    Minutes,
}

impl Counts {
    /// The name in schemas.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Chars => "chars",
            Self::Lines => "lines",
            Self::Levels => "levels",
            Self::Bytes => "bytes",
            Self::Generations => "generations",
            Self::Minutes => "minutes",
        }
    }
}

impl About {
    /// A subject whose keys can move boundaries.
    pub const fn of(topic: Topic) -> Self {
        Self { topic, counts: None, strategy: None, is_size: false, moves_boundaries: true }
    }

    /// The same for a key whose numbers have this unit.
    #[must_use]
    pub const fn counting(self, counts: Counts) -> Self {
        Self { counts: Some(counts), ..self }
    }

    /// The same for a size that follows `max_size` and `unit`.
    #[must_use]
    pub const fn size(self) -> Self {
        Self { is_size: true, ..self.counting(Counts::Size) }
    }

    /// The same for a key that only this strategy reads.
    #[must_use]
    pub const fn only_in(self, strategy: &'static str) -> Self {
        Self { strategy: Some(strategy), ..self }
    }

    /// The same for a key that moves no boundary.
    #[must_use]
    pub const fn moving_nothing(self) -> Self {
        Self { moves_boundaries: false, ..self }
    }
}

impl Key {
    /// The unit of its numbers.
    pub fn counts(&self) -> Option<Counts> {
        self.about.counts.or(matches!(self.values, Values::Bytes).then_some(Counts::Bytes))
    }

    /// The keys that its value follows unless it is set itself: the first of them that is set.
    pub fn follows(&self) -> &'static [&'static str] {
        match (self.about.is_size, self.name) {
            (false, _) => &[],
            (true, "max_size") => &["unit"],
            (true, _) => &["max_size", "unit"],
        }
    }
}
