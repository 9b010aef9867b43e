//! The compiled tables of a language, which the outline queries: by number instead of name, made once.

use std::num::NonZeroU16;
use std::ops::Range;

use chunkwright::SymbolKind;
use tree_sitter::Node;

use crate::language::{Language, Role};

/// The tables of a language that the outline queries, by number instead of name.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) grammar: tree_sitter::Language,
    kinds: Vec<Kind>,
    titles: Vec<Step>,
    owner: Option<(u16, &'static str)>,
    body: Option<u16>,
    inner_type: Option<u16>,
    language: &'static Language,
}

/// A step from a symbol towards its name.
#[derive(Clone, Copy, Debug)]
enum Step {
    Field(u16),
    Kind(u16),
}

/// The spans of the words in a symbol's title.
#[derive(Clone, Debug)]
pub(crate) struct Title<'t> {
    pub(crate) name: Range<usize>,
    /// The type that it is a method of, if it names one.
    pub(crate) owner: Option<Node<'t>>,
}

/// The properties of a node kind that the outline uses.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the tables of a language do not exclude each other")]
pub(crate) struct Kind {
    pub(crate) role: Role,
    pub(crate) is_body: bool,
    pub(crate) is_clause: bool,
    is_name: bool,
    is_head: bool,
    pub(crate) docstring: Option<Docstring>,
    /// The kind of type of which it is a child.
    type_word: Option<SymbolKind>,
}

/// The part of a docstring that a node may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Docstring {
    Statement,
    Text,
}

/// The meaning of a node after its text and children were examined: a role that is neither `Binding` nor `Call`, and
/// the node that has the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'t> {
    pub(crate) role: Role,
    pub(crate) value: Node<'t>,
}

/// Children of a binding that are examined, and levels of bindings: the declaring node is near.
const MAX_LOOKS: usize = 12;

/// Steps from a symbol to its name. Types nest (`&mut [Box<T>]`), but hostile ones need not be followed to
/// their end.
const MAX_STEPS: usize = 16;

impl Compiled {
    pub(crate) fn new(language: &'static Language) -> Self {
        let grammar = (language.grammar)();
        let kind = |id: u16| {
            let Some(name) = grammar.node_kind_for_id(id) else { return Kind::default() };
            let type_word = language.type_words.iter().find(|(word, _)| *word == name).map(|&(_, kind)| kind);
            if !grammar.node_kind_is_named(id) {
                return Kind { type_word, ..Kind::default() };
            }
            let mut roles = language.own_roles.iter().chain(language.roles);
            let role = roles.find(|(kind, _)| *kind == name);
            Kind {
                role: role.map(|&(_, role)| role).unwrap_or_default(),
                is_body: language.bodies.contains(&name),
                is_clause: language.clauses.contains(&name),
                is_name: language.names.contains(&name),
                is_head: language.heads.contains(&name),
                docstring: language.docstring.and_then(|(statement, text)| match name {
                    name if name == statement => Some(Docstring::Statement),
                    name if name == text => Some(Docstring::Text),
                    _ => None,
                }),
                type_word,
            }
        };
        let field = |name: &str| grammar.field_id_for_name(name).map(u16::from);
        let step = |name: &&str| {
            let kind =
                |named| Some(grammar.id_for_node_kind(name, named)).filter(|&id| id != 0).map(Step::Kind);
            field(name).map(Step::Field).or_else(|| kind(true)).or_else(|| kind(false))
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

    /// The starts of comments that belong to the enclosing item.
    pub(crate) fn inner_comments(&self) -> &'static [&'static str] {
        self.language.inner_comments
    }

    /// Whether a comment may document the item above it.
    pub(crate) fn has_comments_below(&self) -> bool {
        self.language.has_comments_below
    }

    /// Whether functions of one name in a row are one.
    pub(crate) fn joins_equations(&self) -> bool {
        self.language.joins_equations
    }

    /// Whether macros may define functions.
    pub(crate) fn has_macros(&self) -> bool {
        self.language.has_macros
    }

    /// Whether declarations inside a function are not symbols.
    pub(crate) fn has_local_values(&self) -> bool {
        self.language.has_local_values
    }

    /// The properties of the kind of `node`.
    pub(crate) fn kind(&self, node: Node<'_>) -> Kind {
        self.kinds.get(node.kind_id() as usize).copied().unwrap_or_default()
    }

    /// The meaning of `node`, by its kind, its first word and its children.
    pub(crate) fn declared<'t>(&self, node: Node<'t>, source: &str) -> Declared<'t> {
        let role = match self.kind(node).role {
            Role::Binding => return self.bound(node, source),
            Role::Call => self.called(node, source),
            Role::Equation => self.equated(node),
            Role::Type(kind) if self.announces(kind, node) => Role::Statement,
            // The kind of type may be given inside: `type Reader interface {..}`.
            role @ Role::Type(_) => self.inner_type(node).or_else(|| self.told_type(node)).unwrap_or(role),
            role => role,
        };
        Declared { role, value: node }
    }

    fn inner_type(&self, symbol: Node<'_>) -> Option<Role> {
        let inner = symbol.child_by_field_id(self.inner_type?)?;
        Some(self.kind(inner).role).filter(|role| matches!(role, Role::Type(_)))
    }

    /// Whether a type is only announced.
    fn announces(&self, kind: SymbolKind, symbol: Node<'_>) -> bool {
        self.language.announced.contains(&kind) && self.body(symbol).is_none()
    }

    /// The kind of type that `symbol` is, by its keywords and children.
    fn told_type(&self, symbol: Node<'_>) -> Option<Role> {
        if self.language.type_words.is_empty() {
            return None;
        }
        let mut cursor = symbol.walk();
        symbol.children(&mut cursor).find_map(|child| self.kind(child).type_word).map(Role::Type)
    }

    /// The symbol that a binding holds, or a statement.
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
                    Role::Call => match self.called(child, source) {
                        Role::Import => Some(Role::Import),
                        Role::Parameter if node.child_by_field_name("name").is_some() => {
                            Some(Role::Function(SymbolKind::Function))
                        }
                        _ => None,
                    },
                    Role::Equation => Some(self.equated(child)).filter(|&role| role != Role::Statement),
                    role @ Role::Type(kind) => Some(role).filter(|_| !self.announces(kind, child)),
                    role @ (Role::Function(_) | Role::Import) => Some(role),
                    Role::Parameter => Some(Role::Function(SymbolKind::Function)),
                    _ => None,
                };
                if let Some(role) = role {
                    // The body of a function may be that of the binding: `let f x = ..`.
                    let is_outer = matches!(role, Role::Function(_))
                        && !self.has_members(child)
                        && self.has_members(node);
                    let value = if is_outer { node } else { child };
                    return Declared { role, value };
                }
            }
            break;
        }
        Declared { role: Role::Statement, value: binding }
    }

    /// The role of a call, by its first word.
    fn called(&self, call: Node<'_>, source: &str) -> Role {
        let mut word = call;
        for _ in 0..MAX_STEPS {
            let Some(first) = word.named_child(0) else { break };
            word = first;
        }
        let word = source.get(word.byte_range()).unwrap_or_default();
        let role = self.language.calls.iter().find(|(name, _)| *name == word || *name == "*");
        role.map(|&(_, role)| role).unwrap_or_default()
    }

    /// The role of an equation, by its first part.
    fn equated(&self, equation: Node<'_>) -> Role {
        let mut first = equation;
        for _ in 0..MAX_STEPS {
            let Some(next) = first.named_child(0).filter(|&next| self.kind(next).is_head) else { break };
            if self.kind(next).role == Role::Call {
                return Role::Function(SymbolKind::Function);
            }
            first = next;
        }
        Role::Statement
    }

    /// Whether something says where what announces a symbol ends.
    pub(crate) fn has_members(&self, symbol: Node<'_>) -> bool {
        self.head(symbol).or(self.body(symbol)).is_some()
    }

    /// The first part of a symbol without a body, which announces it.
    pub(crate) fn head<'t>(&self, symbol: Node<'t>) -> Option<Node<'t>> {
        symbol.named_child(0).filter(|&first| self.kind(first).is_head)
    }

    /// The body of a symbol.
    pub(crate) fn body<'t>(&self, symbol: Node<'t>) -> Option<Node<'t>> {
        let by_field = self.body.and_then(|field| symbol.child_by_field_id(field));
        by_field.or_else(|| {
            if self.head(symbol).is_some() {
                return None;
            }
            let mut cursor = symbol.walk();
            symbol.named_children(&mut cursor).find(|&child| self.kind(child).is_body)
        })
    }

    /// The position of a symbol's name, if a step leads to it.
    pub(crate) fn title<'t>(&self, symbol: Node<'t>, source: &str) -> Option<Title<'t>> {
        let owner = |node: Node<'t>| self.owner.and_then(|(field, _)| node.child_by_field_id(field));
        let (mut node, mut receiver, mut word) = (symbol, owner(symbol), None);
        if self.titles.is_empty() {
            return None;
        }
        let begins = |node: Node<'_>| source.get(node.start_byte()..).and_then(|text| text.chars().next());
        if self.kind(symbol).role == Role::Call {
            if let Some(word) = symbol.named_child(0).filter(|&word| self.kind(word).is_name) {
                return Some(Title { name: word.byte_range(), owner: receiver });
            }
            // The declared item is the first argument of the word.
            let arguments = symbol.child_by_field_name("arguments").or_else(|| symbol.named_child(1));
            node = arguments.and_then(|arguments| arguments.named_child(0)).unwrap_or(symbol);
        }
        let (mut is_named, mut last) = (node != symbol, None);
        for _ in 0..MAX_STEPS {
            if self.kind(node).is_name {
                break;
            }
            let step = self.titles.iter().find_map(|&step| match step {
                Step::Field(field) => node.child_by_field_id(field).inspect(|_| last = Some((node, field))),
                Step::Kind(kind) => {
                    let mut cursor = node.walk();
                    node.children(&mut cursor).find(|child| child.kind_id() == kind)
                }
            });
            let step = step.or_else(|| self.head(node));
            is_named |= step.is_some();
            let binding = |child: &Node<'t>| self.kind(*child).role == Role::Binding;
            let next = step.or_else(|| {
                let mut cursor = node.walk();
                Some(node).filter(binding)?.named_children(&mut cursor).take(MAX_LOOKS).find(binding)
            });
            let Some(next) = next else { break };
            node = next;
            receiver = owner(node).or(receiver);
            word = Some(node).filter(|&node| begins(node).is_some_and(char::is_alphabetic)).or(word);
        }
        let name = match word {
            _ if !is_named => return None,
            // Before parameters may stand a name without a node: `operator bool()`.
            Some(word) if begins(node) == Some('(') => word.start_byte()..node.start_byte(),
            _ => {
                node.start_byte()
                    ..last.map_or(node.end_byte(), |(parent, field)| name_end(parent, field, node))
            }
        };
        Some(Title { name, owner: receiver })
    }

    /// The separator between a type and its method in the method's title.
    pub(crate) fn joint(&self) -> &'static str {
        self.owner.map_or("", |(_, joint)| joint)
    }
}

/// End of a name that may be several nodes of `field` in a row: `Shape.square` in Dart.
fn name_end(parent: Node<'_>, field: u16, first: Node<'_>) -> usize {
    let mut end = first.end_byte();
    let Some(field) = NonZeroU16::new(field) else { return end };
    let mut cursor = parent.walk();
    let mut parts = parent.children_by_field_id(field, &mut cursor);
    if parts.next() == Some(first) {
        while let Some(part) = parts.next().filter(|part| part.start_byte() == end) {
            end = part.end_byte();
        }
    }
    end
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
            let is_word = |word: &&str| grammar.id_for_node_kind(word, false) != 0;
            let is_field = |field: &&str| grammar.field_id_for_name(field).is_some();
            let roles = language.own_roles.iter().chain(language.roles).map(|(kind, _)| kind);
            let docstring = language.docstring.iter().flat_map(|(statement, string)| [statement, string]);
            let whole = language.names.iter().chain(language.heads);
            let kinds = roles.chain(language.bodies).chain(language.clauses).chain(docstring).chain(whole);
            let words = language.type_words.iter().map(|(word, _)| word);
            let words = words.chain(language.titles.iter().filter(|title| !is_field(title)));
            let words = words.filter(|word| !is_word(word));
            let owner = language.owner.iter().map(|(field, _)| field).filter(|field| !is_field(field));
            let missing = kinds.chain(words).filter(|kind| !is_kind(kind)).chain(owner);
            unknown.extend(missing.map(|name| format!("{} {name}", language.name)));
        }
        assert!(unknown.is_empty(), "not in their grammars: {unknown:?}");
    }
}
