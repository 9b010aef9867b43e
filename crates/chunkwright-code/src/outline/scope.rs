//! Scopes: nodes whose members are being read, with members whose role is not yet certain.

use std::ops::Range;

use chunkwright::{BlockKind, SymbolKind};

/// A block that may still grow.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) kind: BlockKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Comments, attributes and decorators that wait for what they belong to.
pub(super) struct Lead {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The comments among them, up to the first attribute.
    pub(super) comments: Range<usize>,
    /// Holds an attribute: not even a blank line parts it from what follows.
    pub(super) bound: bool,
}

/// How the members of a scope that are not symbols become blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Members {
    /// Each its own block; imports together. A module.
    Units,
    /// All between two symbols together. A class.
    Class,
    /// Those without a blank line between together. A statement that turned out to hold symbols.
    Group,
    /// As a group, but cut at blank lines. Source that the grammar did not understand.
    Broken,
}

/// A node whose members are being read.
pub(crate) struct Scope {
    pub(crate) members: Members,
    /// The symbol whose members these are; a group has the one around it.
    pub(crate) symbol: Option<SymbolKind>,
    /// Depth of seams between members.
    pub(crate) depth: usize,
    /// First byte, comments above included, and the start of the members: the text before them is the head.
    pub(super) start: usize,
    pub(crate) head_end: usize,
    pub(super) end: usize,
    /// Number of events, and the open run of the scope around, when a group began.
    pub(super) mark: usize,
    pub(super) outer_run: Option<Run>,
    /// Whether a symbol was found inside.
    pub(super) has_symbols: bool,
    /// Whether no member was seen yet since the last header line.
    pub(crate) fresh: bool,
    pub(super) lead: Option<Lead>,
    pub(super) run: Option<Run>,
}

impl Scope {
    pub(super) fn new(members: Members, symbol: Option<SymbolKind>) -> Self {
        Self {
            members,
            symbol,
            depth: 0,
            start: 0,
            head_end: 0,
            end: 0,
            mark: 0,
            outer_run: None,
            has_symbols: false,
            fresh: true,
            lead: None,
            run: None,
        }
    }
}

impl Scope {
    pub(super) fn in_class(&self) -> bool {
        self.symbol.is_some_and(SymbolKind::is_type)
    }

    /// Whether the next member is the first of the whole source.
    pub(crate) fn opens_module(&self) -> bool {
        self.members == Members::Units && self.symbol.is_none() && self.fresh
    }

    /// The kind of a block in this scope: a class has one kind for all but methods.
    pub(super) fn block_kind(&self, kind: BlockKind) -> BlockKind {
        if self.in_class() { BlockKind::ClassBody } else { kind }
    }

    /// Depth of seams one level further in. Each member of a module is a block and starts anew.
    pub(crate) fn inner_depth(&self) -> usize {
        if self.members == Members::Units { 0 } else { self.depth + 1 }
    }
}
