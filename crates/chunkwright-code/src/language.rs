//! What a language is: a grammar, and a table that gives its kinds of syntax a meaning.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use chunkwright::{BlockKind, DocumentBuilder, Parser, SymbolKind};
use tree_sitter::{Node, ParseOptions, ParseState, Tree};

use crate::{PLAIN, TABLES, lines, outline};

/// A programming language, as data.
///
/// Kinds of syntax are the named node kinds of the grammar (its `node-types.json`).
#[derive(Debug)]
pub struct Language {
    /// Name, lower case: `python`.
    pub name: &'static str,
    /// File name extensions, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names that mean this language.
    pub file_names: &'static [&'static str],
    /// Programs that a `#!` line names, without version numbers.
    pub interpreters: &'static [&'static str],
    /// The grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// What kinds of syntax mean for the outline; those not listed are [`Role::Statement`].
    pub roles: &'static [(&'static str, Role)],
    /// Fields that lead from a symbol to its name, tried in order and followed as long as one is there:
    /// `impl Foo<T>` -`type`-> `Foo<T>` -`type`-> `Foo`.
    pub titles: &'static [&'static str],
    /// Kinds whose children, where they begin a line, are places to cut: blocks, match arms, large literals.
    pub bodies: &'static [&'static str],
    /// Kinds that are a place to cut inside a statement: `else`, `except`.
    pub clauses: &'static [&'static str],
    /// A statement of the first kind that holds only the second and opens a module documents it.
    pub docstring: Option<(&'static str, &'static str)>,
    /// How comments begin that belong to what is around them, never to the symbol below: `//!`.
    pub inner_comments: &'static [&'static str],
    /// Made from the above at first use: write `Table::new()`.
    pub table: Table,
}

/// What a kind of syntax means for the outline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A statement, a field, or whatever has no role of its own.
    #[default]
    Statement,
    /// A comment: travels with what stands directly below it.
    Comment,
    /// A decorator or attribute: always travels with what follows.
    Attribute,
    /// An import.
    Import,
    /// A function or macro: one block, in a section of its own. Inside a type it is a method.
    Function(SymbolKind),
    /// A type or module: a section with members. A module without a body is an import.
    Type(SymbolKind),
    /// A wrapper whose children count as if they stood in its place: a body, a decorated definition.
    Inline,
    /// A statement that may hold symbols (`if`, `try`): one block if it holds none, else opened.
    Group,
}

/// [`Language`]'s table by node kind, made once.
#[derive(Debug, Default)]
pub struct Table(OnceLock<Compiled>);

impl Table {
    /// A table to be made at first use.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

/// What the outline asks of a language, by number instead of name.
#[derive(Debug)]
pub(crate) struct Compiled {
    grammar: tree_sitter::Language,
    kinds: Vec<Kind>,
    titles: Vec<u16>,
    body: Option<u16>,
    pub(crate) inner_comments: &'static [&'static str],
}

/// What the outline knows of a node kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kind {
    pub(crate) role: Role,
    pub(crate) is_body: bool,
    pub(crate) is_clause: bool,
    pub(crate) docstring: Option<Docstring>,
}

/// What part of a docstring a node may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Docstring {
    Statement,
    Text,
}

impl Compiled {
    fn new(language: &Language) -> Self {
        let grammar = (language.grammar)();
        let kind = |id: u16| {
            let name = grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id));
            let Some(name) = name else { return Kind::default() };
            let role = language.roles.iter().find(|(kind, _)| *kind == name);
            Kind {
                role: role.map(|&(_, role)| role).unwrap_or_default(),
                is_body: language.bodies.contains(&name),
                is_clause: language.clauses.contains(&name),
                docstring: language.docstring.and_then(|(statement, text)| match name {
                    name if name == statement => Some(Docstring::Statement),
                    name if name == text => Some(Docstring::Text),
                    _ => None,
                }),
            }
        };
        let field = |name: &str| grammar.field_id_for_name(name).map(Into::into);
        Self {
            kinds: (0..grammar.node_kind_count()).map(|id| kind(id as u16)).collect(),
            titles: language.titles.iter().filter_map(|name| field(name)).collect(),
            body: field("body"),
            inner_comments: language.inner_comments,
            grammar,
        }
    }

    /// What is known of the kind of `node`.
    pub(crate) fn kind(&self, node: Node<'_>) -> Kind {
        self.kinds.get(node.kind_id() as usize).copied().unwrap_or_default()
    }

    /// The body of a symbol.
    pub(crate) fn body<'t>(&self, symbol: Node<'t>) -> Option<Node<'t>> {
        symbol.child_by_field_id(self.body?)
    }

    /// Where a symbol's name stands; the symbol itself if it has none.
    pub(crate) fn title<'t>(&self, symbol: Node<'t>) -> Node<'t> {
        let mut node = symbol;
        // Types nest (`&mut [Box<T>]`), but hostile ones need not be followed to their end.
        for _ in 0..16 {
            let next = self.titles.iter().find_map(|&field| node.child_by_field_id(field));
            let Some(next) = next else { break };
            node = next;
        }
        node
    }
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

/// Operations between two calls of the parser's progress callback.
const OPERATIONS_PER_CALL: usize = 100;

impl Language {
    pub(crate) fn compiled(&self) -> &Compiled {
        self.table.0.get_or_init(|| Compiled::new(self))
    }

    /// The syntax tree, or `None` where it would cost too much.
    fn tree(&self, source: &str) -> Option<Tree> {
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
        let bytes = source.as_bytes();
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
    }
}

impl Parser for Language {
    fn name(&self) -> &'static str {
        self.name
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        out.set_language(self.name);
        out.set_gap_kind(BlockKind::Statement);
        let source = out.source();
        if let Some(tree) = self.tree(&source) {
            outline::report(self.compiled(), &tree, &source, out);
        } else {
            for paragraph in lines::paragraphs(&source, 0, source.len()) {
                out.block(BlockKind::Statement, paragraph.start, paragraph.end);
            }
        }
    }
}

/// The parser for a file, by its name, its extension, or the `#!` line it begins with. A language without
/// a grammar is read by its lines.
///
/// `name` may be a path; `first_line` may be empty.
pub fn language_for(name: &str, first_line: &str) -> Option<&'static dyn Parser> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let interpreter = interpreter(first_line);
    let by_name = TABLES.iter().find(|language| language.file_names.contains(&name));
    let by_extension = || {
        let extension = extension.as_deref()?;
        TABLES.iter().find(|language| language.extensions.contains(&extension))
    };
    let by_interpreter = || {
        let interpreter = interpreter.filter(|_| extension.is_none())?;
        TABLES.iter().find(|language| language.interpreters.contains(&interpreter))
    };
    let language: Option<&&'static Language> = by_name.or_else(by_extension).or_else(by_interpreter);
    if let Some(&language) = language {
        return Some(language);
    }
    let extension = extension.as_deref()?;
    let plain = PLAIN.iter().find(|plain| plain.extensions.contains(&extension))?;
    Some(plain)
}

/// The program that a `#!` line names: `python` of `#!/usr/bin/env -S LANG=C python3.11 -u`.
fn interpreter(first_line: &str) -> Option<&str> {
    let command = first_line.trim_start_matches('\u{feff}').strip_prefix("#!")?;
    let mut words = command.split_whitespace();
    let mut program = words.next()?;
    if program.ends_with("/env") || program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let program = program.rsplit('/').next().unwrap_or(program);
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_field_that_a_language_names_is_in_its_grammar() {
        for language in TABLES {
            let grammar = (language.grammar)();
            tree_sitter::Parser::new().set_language(&grammar).expect("the grammar fits the parser");
            let roles = language.roles.iter().map(|(kind, _)| kind);
            let docstring = language.docstring.iter().flat_map(|(statement, string)| [statement, string]);
            for kind in roles.chain(language.bodies).chain(language.clauses).chain(docstring) {
                let id = grammar.id_for_node_kind(kind, true);
                assert_ne!(id, 0, "`{}` has no kind `{kind}`", language.name);
            }
            for field in language.titles.iter().chain(&["body"]) {
                assert!(
                    grammar.field_id_for_name(field).is_some(),
                    "`{}` has no field `{field}`",
                    language.name
                );
            }
        }
    }
}
