//! A language as a parser, and what parsing may cost.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use chunkwright::{BlockKind, DocumentBuilder, Parser};
use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::compiled::Compiled;
use crate::language::Language;
use crate::{macros, outline, plain};

/// A parser for a language that has a grammar.
#[derive(Debug)]
pub struct CodeParser {
    language: &'static Language,
    compiled: OnceLock<Compiled>,
}

// What parsing may cost, counted in operations of the parser and not in time: a document must read the
// same on every machine. Real source takes 0.3 to 2.2 operations a byte and about 50 bytes of memory an
// operation.

/// Operations for each byte of source.
const OPERATIONS_PER_BYTE: usize = 16;

/// Operations that any source may take, however short.
const LEAST_OPERATIONS: usize = 100_000;

/// Operations that no source may exceed: about 10 MB of usual source, 400 MB of memory, and at worst
/// some seconds.
const MOST_OPERATIONS: usize = 6_000_000;

/// What an operation counts while the parser recovers from an error: each takes many times longer then.
const RECOVERY_WEIGHT: usize = 8;

/// Bytes of a word that ends a text, where the grammar keeps its length in one byte.
const MAX_WORD: usize = 255;

/// Bytes that the parser is given at a time.
const PIECE: usize = 4 << 10;

/// How often it may be given each byte on average: some grammars look for the end of a string or comment
/// that has none from every place where it could begin.
const READ_PER_BYTE: usize = 24;

/// Bytes that the parser of any source may be given, however short.
const LEAST_READ: usize = 4 << 20;

/// Operations between two calls of the parser's progress callback.
const OPERATIONS_PER_CALL: usize = 100;

/// Percent of a source that may stand in errors; with more of them the symbols beside mean nothing.
const MOST_ERRORS: usize = 50;

/// Bytes of what the grammar did not understand; what it did understand inside and that spans lines left out.
fn errors(tree: &Tree) -> usize {
    let mut cursor = tree.walk();
    let (mut bytes, mut depth) = (0_usize, 0_usize);
    loop {
        let node = cursor.node();
        let spans_lines = node.start_position().row < node.end_position().row;
        if node.is_error() {
            bytes += node.end_byte() - node.start_byte();
        }
        let enters = node.has_error() && depth < MAX_ERROR_DEPTH;
        if !enters && spans_lines && node.parent().is_some_and(|parent| parent.is_error()) {
            bytes = bytes.saturating_sub(node.end_byte() - node.start_byte());
        }
        if enters && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if depth == 0 {
                return bytes;
            }
            cursor.goto_parent();
            depth -= 1;
        }
    }
}

/// Levels of the tree on which errors are looked for.
const MAX_ERROR_DEPTH: usize = 64;

impl CodeParser {
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

    /// The syntax tree, or `None` where it would cost too much.
    pub(crate) fn tree(&self, source: &str) -> Option<Tree> {
        if self.language.limited_heredoc.is_some_and(|opening| has_overlong_word(source, opening)) {
            return None;
        }
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&self.compiled().grammar).ok()?;
        let operations = source.len().saturating_mul(OPERATIONS_PER_BYTE);
        let mut left = operations.clamp(LEAST_OPERATIONS, MOST_OPERATIONS) / OPERATIONS_PER_CALL;
        let mut count = |state: &ParseState| {
            let cost = if state.has_error() { RECOVERY_WEIGHT } else { 1 };
            left = left.saturating_sub(cost);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
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
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        tree.filter(|_| served <= most)
    }
}

/// Whether a word that ends a text, quoted or not, has more than 255 bytes.
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
        match self.tree(&source) {
            Some(tree) if 100 * errors(&tree) <= MOST_ERRORS * source.len() => {
                outline::report(self.compiled(), &tree, &source, out);
            }
            _ => plain::read(out),
        }
    }
}
