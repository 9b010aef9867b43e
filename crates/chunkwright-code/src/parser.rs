//! A language as a parser, with bounds on the cost of parsing.

mod memory;
mod strain;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::thread;

use chunkwright::{BlockKind, DocumentBuilder, Parser};
use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::compiled::Compiled;
use crate::language::Language;
use crate::{by_line, directives, item_macros, macros, outline, plain, repair};
use memory::Memory;
use strain::Strain;

/// A parser for a language that has a grammar.
#[derive(Debug)]
pub struct CodeParser {
    language: &'static Language,
    compiled: OnceLock<Compiled>,
}

// Bound on the cost of parsing, in operations of the parser and not in time: a document must parse the same on every
// machine. Real source takes 0.3 to 2.2 operations a byte. Their memory is estimated separately (`memory`), and so is
// the extra time of slow ones (`strain`).

/// Operations for each byte of source.
const OPERATIONS_PER_BYTE: usize = 16;

/// Operations that any source may take, however short.
const LEAST_OPERATIONS: usize = 100_000;

/// Operations that no source may exceed: about 10 MB of usual source, and at worst some seconds.
const MOST_OPERATIONS: usize = 6_000_000;

/// Bytes of a word that ends a text, where the grammar keeps its length in one byte.
const MAX_WORD: usize = 255;

/// Bytes that the parser is given at a time.
const PIECE: usize = 4 << 10;

/// Most times that the parser may read each byte on average: for an unclosed string or comment, some grammars search
/// for the end from every place where it could begin.
const READ_PER_BYTE: usize = 24;

/// Bytes that the parser of any source may be given, however short.
const LEAST_READ: usize = 4 << 20;

/// Operations between two calls of the parser's progress callback.
const OPERATIONS_PER_CALL: usize = 100;

// The parser frees its own stack by recursion: 128 KB of `({` in Java overflowed 2 MB. So larger source is parsed in a
// thread whose stack is large enough for the memory that the source is allowed.

/// Bytes of source that any thread's stack is large enough for: 32 KB of `({` overflow 1 MB.
const SMALL: usize = 16 << 10;

/// Stack of a parsing thread, in bytes; it is reserved, not used.
const LEAST_STACK: usize = 16 << 20;

/// Additional stack for each byte of source.
const STACK_PER_BYTE: usize = 24;

/// Most additional stack for a source.
const MOST_STACK: usize = 224 << 20;

/// Percent of a source that may be in errors; with more, the remaining symbols mean nothing.
const MOST_ERRORS: usize = 50;

/// Bytes of what the grammar did not understand; what it did understand inside and that spans lines left out.
pub(crate) fn errors(tree: &Tree) -> usize {
    let mut cursor = tree.walk();
    let mut bytes = 0_usize;
    // Whether each entered node is an error: finding a node's parent takes a search from the root.
    let mut around: Vec<bool> = Vec::new();
    loop {
        let node = cursor.node();
        let spans_lines = node.start_position().row < node.end_position().row;
        if node.is_error() {
            bytes += node.end_byte() - node.start_byte();
        }
        let enters = node.has_error() && around.len() < MAX_ERROR_DEPTH;
        if !enters && spans_lines && around.last() == Some(&true) {
            bytes = bytes.saturating_sub(node.end_byte() - node.start_byte());
        }
        if enters && cursor.goto_first_child() {
            around.push(node.is_error());
            continue;
        }
        while !cursor.goto_next_sibling() {
            if around.pop().is_none() {
                return bytes;
            }
            cursor.goto_parent();
        }
    }
}

/// Levels of the tree on which errors are searched.
const MAX_ERROR_DEPTH: usize = 64;

/// The result of parsing a source.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    /// Whether parsing was so expensive that it should not be repeated with a change.
    pub(crate) was_hard: bool,
}

impl CodeParser {
    #[cfg_attr(not(feature = "languages-common"), allow(dead_code, reason = "there may be no language"))]
    pub(crate) const fn new(language: &'static Language) -> Self {
        Self { language, compiled: OnceLock::new() }
    }

    /// The language it reads.
    pub fn language(&self) -> &'static Language {
        self.language
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::new(self.language))
    }

    /// The syntax tree of `source` or of a copy of the same length that shows more of what it holds. `None` where
    /// parsing would cost too much.
    fn opened(&self, source: &str) -> Option<Tree> {
        let parse = |text: &str| self.tree(text);
        let branches =
            if self.language.lines.has_directives { directives::first_branches(source) } else { None };
        let source = branches.as_deref().unwrap_or(source);
        let tree = repair::least_broken(source, self.language, &parse)?;
        let items = |text: &str| self.tree(text).filter(|parsed| !parsed.was_hard).map(|parsed| parsed.tree);
        match item_macros::opened(self.compiled(), &tree, source, &items) {
            Some(copy) => repair::least_broken(&copy, self.language, &parse).or(Some(tree)),
            None => Some(tree),
        }
    }

    /// The syntax tree, or `None` where it would cost too much.
    pub(crate) fn tree(&self, source: &str) -> Option<Parsed> {
        if source.len() <= SMALL {
            return self.parsed(source);
        }
        let stack = LEAST_STACK + source.len().saturating_mul(STACK_PER_BYTE).min(MOST_STACK);
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(stack);
            thread.spawn_scoped(scope, || self.parsed(source)).ok()?.join().ok()?
        })
    }

    fn parsed(&self, source: &str) -> Option<Parsed> {
        if self.language.limited_heredoc.is_some_and(|opening| has_overlong_word(source, opening)) {
            return None;
        }
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&self.compiled().grammar).ok()?;
        let operations = source.len().saturating_mul(OPERATIONS_PER_BYTE);
        let mut left = operations.clamp(LEAST_OPERATIONS, MOST_OPERATIONS) / OPERATIONS_PER_CALL;
        let (mut memory, mut strain) = (Memory::new(source), Strain::default());
        // The parser makes no token of trailing white space. At the end it balances the tree, which costs little.
        let visible = source.trim_ascii_end().as_bytes();
        let mut before = 0;
        let mut count = |state: &ParseState| {
            left = left.saturating_sub(1);
            let at = state.current_byte_offset();
            if at < visible.len() {
                let read = visible.get(before..at).unwrap_or_default();
                before = at.max(before);
                memory.count(read, state.has_error());
                strain.count(read, state.has_error());
            }
            let is_spent = left == 0 || memory.is_spent() || strain.is_too_much();
            if is_spent { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut count);
        let parsed = if self.language.has_macros { macros::as_comments(source) } else { None };
        let bytes = parsed.as_deref().unwrap_or(source).as_bytes();
        let most = source.len().saturating_mul(READ_PER_BYTE).max(LEAST_READ);
        let mut served = 0;
        let mut read = |at: usize, _| {
            // At the end of the source, a scanner stops.
            let end = if served > most { at } else { at.saturating_add(PIECE).min(bytes.len()) };
            let piece = bytes.get(at..end).unwrap_or_default();
            served += piece.len();
            piece
        };
        let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| served <= most)?;
        Some(Parsed { tree, was_hard: strain.is_high() })
    }
}

/// Whether the terminator of a heredoc, quoted or not, has more than 255 bytes.
fn has_overlong_word(source: &str, opening: &str) -> bool {
    source.match_indices(opening).any(|(at, _)| {
        let bytes = source.as_bytes().get(at + opening.len()..).unwrap_or_default();
        let bytes = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"~")).unwrap_or(bytes);
        let (word, ends): (&[u8], &dyn Fn(u8) -> bool) = match bytes {
            [quote @ (b'"' | b'\'' | b'`'), word @ ..] => (word, &|byte| byte == *quote),
            word => (word, &|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'_'),
        };
        word.len() > MAX_WORD && !word[..=MAX_WORD].iter().any(|&byte| ends(byte))
    })
}

impl Parser for CodeParser {
    fn name(&self) -> &'static str {
        self.language.name
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.language.extensions
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        out.set_language(self.language.name);
        out.set_comment(self.language.comment);
        out.set_gap_kind(BlockKind::Statement);
        let source = out.source();
        let tree = self.opened(&source).filter(|tree| 100 * errors(tree) <= MOST_ERRORS * source.len());
        let is_whole = tree.as_ref().is_some_and(|tree| !tree.root_node().has_error());
        let symbols = if is_whole { Vec::new() } else { by_line::symbols(&source, self.language) };
        match tree {
            Some(tree) if symbols.is_empty() || !self.loses(&tree, &source, &symbols) => {
                outline::report(self.compiled(), &tree, &source, out);
            }
            None if symbols.is_empty() => plain::read(out),
            _ => by_line::report(&symbols, out),
        }
    }
}

impl CodeParser {
    /// Whether the outline of a broken tree lacks more of the names that lines plainly declare than it has others.
    fn loses(&self, tree: &Tree, source: &str, symbols: &[by_line::Symbol]) -> bool {
        let mut outline = DocumentBuilder::new("", source);
        outline::report(self.compiled(), tree, source, &mut outline);
        let outline = outline.finish();
        let named: HashSet<&str> =
            outline.sections().iter().skip(1).map(|section| last_word(&section.title)).collect();
        let plain: HashSet<&str> = symbols.iter().map(|symbol| last_word(&symbol.title)).collect();
        plain.difference(&named).count() > named.difference(&plain).count()
    }
}

/// The last word of a title: names compare without what they belong to.
fn last_word(title: &str) -> &str {
    title.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty()).unwrap_or(title)
}
