//! A language as a parser: its tables by number instead of name, made once, and what parsing may cost.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use chunkwright::{BlockKind, DocumentBuilder, Parser};
use tree_sitter::{Node, ParseOptions, ParseState, Tree};

use crate::language::{Language, Role};
use crate::{outline, plain};

/// A parser for a language that has a grammar.
#[derive(Debug)]
pub struct CodeParser {
    language: &'static Language,
    compiled: OnceLock<Compiled>,
}

/// What the outline asks of a language, by number instead of name.
#[derive(Debug)]
pub(crate) struct Compiled {
    grammar: tree_sitter::Language,
    kinds: Vec<Kind>,
    titles: Vec<Step>,
    owner: Option<(u16, &'static str)>,
    body: Option<u16>,
    inner_type: Option<u16>,
    language: &'static Language,
}

/// What leads from a symbol towards its name.
#[derive(Clone, Copy, Debug)]
enum Step {
    Field(u16),
    Kind(u16),
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

/// What a node is once its text and what it holds are looked at: a role that is neither `Binding` nor
/// `Call`, and the node that has the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'t> {
    pub(crate) role: Role,
    pub(crate) value: Node<'t>,
}

/// Children of a binding that are looked at, and levels of bindings: what declares something stands near.
const MAX_LOOKS: usize = 12;

/// Steps from a symbol to its name. Types nest (`&mut [Box<T>]`), but hostile ones need not be followed to
/// their end.
const MAX_STEPS: usize = 16;

impl Compiled {
    fn new(language: &'static Language) -> Self {
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
        let field = |name: &str| grammar.field_id_for_name(name).map(u16::from);
        let step = |name: &&str| {
            let kind = || Some(grammar.id_for_node_kind(name, true)).filter(|&id| id != 0).map(Step::Kind);
            field(name).map(Step::Field).or_else(kind)
        };
        Self {
            kinds: (0..grammar.node_kind_count()).map(|id| kind(id as u16)).collect(),
            titles: language.titles.iter().filter_map(step).collect(),
            owner: language.owner.and_then(|(name, joint)| Some((field(name)?, joint))),
            body: field("body"),
            inner_type: field("type"),
            language,
            grammar,
        }
    }

    /// How comments begin that belong to what is around them.
    pub(crate) fn inner_comments(&self) -> &'static [&'static str] {
        self.language.inner_comments
    }

    /// Whether functions of one name in a row are one.
    pub(crate) fn joins_equations(&self) -> bool {
        self.language.joins_equations
    }

    /// What is known of the kind of `node`.
    pub(crate) fn kind(&self, node: Node<'_>) -> Kind {
        self.kinds.get(node.kind_id() as usize).copied().unwrap_or_default()
    }

    /// What `node` is, by its kind, its first word and what it holds.
    pub(crate) fn declared<'t>(&self, node: Node<'t>, source: &str) -> Declared<'t> {
        let role = match self.kind(node).role {
            Role::Binding => return self.bound(node, source),
            Role::Call => self.called(node, source),
            Role::Type(_) if self.language.announces_types && self.body(node).is_none() => Role::Statement,
            // What kind of type it is may stand inside: `type Reader interface {..}`.
            role @ Role::Type(_) => self.inner_type(node).unwrap_or(role),
            role => role,
        };
        Declared { role, value: node }
    }

    fn inner_type(&self, symbol: Node<'_>) -> Option<Role> {
        let inner = symbol.child_by_field_id(self.inner_type?)?;
        Some(self.kind(inner).role).filter(|role| matches!(role, Role::Type(_)))
    }

    /// What a binding holds, or a statement.
    fn bound<'t>(&self, binding: Node<'t>, source: &str) -> Declared<'t> {
        let (mut node, mut looks) = (binding, 0);
        'deeper: while looks < MAX_LOOKS {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor).take(MAX_LOOKS - looks) {
                looks += 1;
                let role = match self.kind(child).role {
                    Role::Binding => {
                        node = child;
                        continue 'deeper;
                    }
                    Role::Call => Some(self.called(child, source)).filter(|&role| role == Role::Import),
                    role @ Role::Type(_) => self.body(child).map(|_| role),
                    role @ Role::Function(_) => Some(role),
                    _ => None,
                };
                if let Some(role) = role {
                    return Declared { role, value: child };
                }
            }
            break;
        }
        Declared { role: Role::Statement, value: binding }
    }

    /// What a call is by its first word.
    fn called(&self, call: Node<'_>, source: &str) -> Role {
        let mut word = call;
        for _ in 0..MAX_STEPS {
            let Some(first) = word.named_child(0) else { break };
            word = first;
        }
        let word = source.get(word.byte_range()).unwrap_or_default();
        let role = self.language.calls.iter().find(|(name, _)| *name == word);
        role.map(|&(_, role)| role).unwrap_or_default()
    }

    /// The body of a symbol.
    pub(crate) fn body<'t>(&self, symbol: Node<'t>) -> Option<Node<'t>> {
        let by_field = self.body.and_then(|field| symbol.child_by_field_id(field));
        by_field.or_else(|| {
            let mut cursor = symbol.walk();
            symbol.named_children(&mut cursor).find(|&child| self.kind(child).is_body)
        })
    }

    /// Where a symbol's name stands, and where what it is a method of, if it says so.
    pub(crate) fn title<'t>(&self, symbol: Node<'t>) -> (Option<Node<'t>>, Option<Node<'t>>) {
        let owner = |node: Node<'t>| self.owner.and_then(|(field, _)| node.child_by_field_id(field));
        let (mut node, mut receiver) = (symbol, owner(symbol));
        if self.kind(symbol).role == Role::Call {
            // What is declared is the first thing that the word is applied to.
            let arguments = symbol.child_by_field_name("arguments").or_else(|| symbol.named_child(1));
            node = arguments.and_then(|arguments| arguments.named_child(0)).unwrap_or(symbol);
        }
        for _ in 0..MAX_STEPS {
            let next = self.titles.iter().find_map(|&step| match step {
                Step::Field(field) => node.child_by_field_id(field),
                Step::Kind(kind) => {
                    let mut cursor = node.walk();
                    node.named_children(&mut cursor).find(|child| child.kind_id() == kind)
                }
            });
            let binding = |child: &Node<'t>| self.kind(*child).role == Role::Binding;
            let next = next.or_else(|| {
                let mut cursor = node.walk();
                Some(node).filter(binding)?.named_children(&mut cursor).take(MAX_LOOKS).find(binding)
            });
            let Some(next) = next else { break };
            node = next;
            receiver = owner(node).or(receiver);
        }
        (Some(node).filter(|&node| node != symbol), receiver)
    }

    /// What stands between a type and its method in the method's title.
    pub(crate) fn joint(&self) -> &'static str {
        self.owner.map_or("", |(_, joint)| joint)
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

#[cfg(test)]
mod tests {
    use crate::LANGUAGES;

    #[test]
    fn every_kind_and_field_that_a_language_names_is_in_its_grammar() {
        let mut unknown = Vec::new();
        for parser in LANGUAGES {
            let language = parser.language();
            let grammar = (language.grammar)();
            tree_sitter::Parser::new().set_language(&grammar).expect("the grammar fits the parser");
            let is_kind = |kind: &&str| grammar.id_for_node_kind(kind, true) != 0;
            let is_field = |field: &&str| grammar.field_id_for_name(field).is_some();
            let roles = language.roles.iter().map(|(kind, _)| kind);
            let docstring = language.docstring.iter().flat_map(|(statement, string)| [statement, string]);
            let kinds = roles.chain(language.bodies).chain(language.clauses).chain(docstring);
            let titles = language.titles.iter().filter(|title| !is_field(title));
            let owner = language.owner.iter().map(|(field, _)| field).filter(|field| !is_field(field));
            let missing = kinds.chain(titles).filter(|kind| !is_kind(kind)).chain(owner);
            unknown.extend(missing.map(|name| format!("{} {name}", language.name)));
        }
        assert!(unknown.is_empty(), "not in their grammars: {unknown:?}");
    }
}
