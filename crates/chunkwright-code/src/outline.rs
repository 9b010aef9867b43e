//! Turns a syntax tree into sections, blocks and seams.
//!
//! One walk with a cursor, never recursive: trees 65,000 deep exist. It only enters nodes that matter: at the level of
//! declarations those that may hold a symbol, and below that, for seams, those that span more than one line.

mod members;
mod scope;

use std::collections::HashSet;
use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, SymbolKind};
use tree_sitter::{Node, Tree, TreeCursor};

use self::members::{Blocks, Symbol};
use self::scope::Members;
use crate::compiled::{Compiled, Declared, Docstring, Kind};
use crate::language::Role;
use crate::{by_line, lines};

const FUNCTION: Role = Role::Function(SymbolKind::Function);

/// Lines of a signature that are kept.
const SIGNATURE_LINES: usize = 5;

/// Reports what `tree` holds to `out`.
pub(crate) fn report(language: &Compiled, tree: &Tree, source: &str, out: &mut DocumentBuilder) {
    let blocks = Blocks::new(source, language.has_comments_below());
    let mut outline = Outline {
        language,
        source,
        out,
        blocks,
        probe: tree.walk(),
        imports: HashSet::new(),
        declared_at: 0,
    };
    outline.walk(tree);
    outline.blocks.report(outline.out);
}

struct Outline<'a> {
    language: &'a Compiled,
    source: &'a str,
    out: &'a mut DocumentBuilder,
    blocks: Blocks<'a>,
    /// A second cursor, for looks at the children of a symbol.
    probe: TreeCursor<'a>,
    imports: HashSet<&'a str>,
    /// Start of the function or type that was read last: nodes that start before it are part of its declaration.
    declared_at: usize,
}

/// The walk's state for a node that it has entered.
enum Level {
    /// Members of a new scope.
    Scope,
    /// More members of the scope around.
    Inline,
    /// The one member of a wrapper, and the words before it.
    Wrapper,
    /// Inside a statement or function: only seams are wanted.
    Inside(Inside),
}

#[derive(Clone, Copy)]
struct Inside {
    /// First byte.
    start: usize,
    /// Depth of seams.
    depth: usize,
    /// Whether the children are places to cut.
    is_body: bool,
    /// Whether no child was seen yet: the first follows its header and is not a place to cut.
    fresh: bool,
    /// End of the comment directly above.
    comment_end: Option<usize>,
}

impl Inside {
    fn new(start: usize, depth: usize, kind: Kind) -> Self {
        Self {
            start,
            depth: depth + usize::from(kind.is_body),
            is_body: kind.is_body,
            fresh: true,
            comment_end: None,
        }
    }
}

impl<'a> Outline<'a> {
    fn walk(&mut self, tree: &'a Tree) {
        let mut cursor = tree.walk();
        let root = cursor.node();
        let mut levels = Vec::new();
        let around_all = self.only_member(root);
        let mut next = Some(if root.is_error() { self.group(root, Members::Broken) } else { Level::Inline });
        loop {
            match next.take() {
                Some(level) if cursor.goto_first_child() => levels.push(level),
                entered => {
                    if let Some(level) = entered {
                        self.leave(&level);
                    }
                    while !cursor.goto_next_sibling() {
                        let Some(level) = levels.pop() else { return };
                        self.leave(&level);
                        cursor.goto_parent();
                    }
                }
            }
            next = match levels.last_mut() {
                Some(Level::Inside(inside)) => self.inside(cursor.node(), inside),
                Some(Level::Wrapper) => self.wrapped(cursor.node()),
                Some(_) if around_all == Some(cursor.node()) => Some(Level::Inline),
                Some(Level::Scope | Level::Inline) => self.member(cursor.node()),
                None => return,
            };
        }
    }

    /// The group that stands around all members of the source: what guards a header of C.
    fn only_member(&mut self, root: Node<'a>) -> Option<Node<'a>> {
        let mut cursor = root.walk();
        let is_member = |node: &Node<'a>| node.is_named() && self.language.kind(*node).role != Role::Comment;
        let mut members = root.children(&mut cursor).filter(is_member);
        let only = members.next().filter(|_| members.next().is_none())?;
        Some(only).filter(|&node| self.language.kind(node).role == Role::Group)
    }

    fn leave(&mut self, level: &Level) {
        if matches!(level, Level::Scope) {
            self.blocks.close_scope();
        }
    }

    /// Reads a node inside a wrapper: its words travel with its member.
    fn wrapped(&mut self, node: Node<'a>) -> Option<Level> {
        let (start, end) = (node.start_byte(), node.end_byte());
        let is_word = !node.is_named() && self.text(node).contains(char::is_alphanumeric);
        if is_word && start >= self.blocks.scope().head_end {
            if self.blocks.opens_member(start) {
                self.blocks.attribute(start, end);
            } else {
                self.blocks.token(start, end);
            }
            return None;
        }
        self.member(node)
    }

    /// Reads a node at the level of declarations.
    fn member(&mut self, node: Node<'a>) -> Option<Level> {
        let kind = self.language.kind(node);
        let Range { start, end } = self.span(node);
        let scope = self.blocks.scope();
        // The node that a type's head extends into has its members.
        let holds_members = start < scope.head_end && scope.head_end < end;
        if matches!(kind.role, Role::Inline | Role::Wrapper) || holds_members {
            scope.fresh |= kind.is_body;
            let depth = scope.depth;
            if kind.is_clause {
                self.blocks.seam_at(start, depth);
            }
            return Some(if kind.role == Role::Wrapper { Level::Wrapper } else { Level::Inline });
        }
        if start < scope.head_end || start >= end {
            return None;
        }
        let declared = self.language.declared(node, self.source);
        match declared.role {
            Role::Comment if self.is_inner(node) => self.blocks.inner_comment(start, end),
            Role::Comment => self.blocks.comment(start, end),
            Role::Attribute => self.blocks.attribute(start, end),
            Role::Doc => self.blocks.doc(start, end),
            Role::End => self.blocks.end(start, end),
            Role::Import => self.import(node),
            Role::Function(symbol) => return self.function(symbol, node, declared),
            Role::Type(SymbolKind::Module) if !self.language.has_members(declared.value) => self.import(node),
            Role::Type(symbol) => return Some(self.open_type(symbol, node, declared)),
            Role::Group if spans_lines(node) => return Some(self.group(node, Members::Group)),
            _ if node.has_error() && spans_lines(node) => return Some(self.group(node, Members::Broken)),
            _ if !node.is_named() || self.closes(node) => self.blocks.token(start, end),
            _ => return self.statement(node, kind),
        }
        None
    }

    /// Reads a node inside a function or statement, for the sake of seams.
    fn inside(&mut self, node: Node<'a>, around: &mut Inside) -> Option<Level> {
        let kind = self.language.kind(node);
        let (start, end) = (node.start_byte(), node.end_byte());
        if !matches!(kind.role, Role::Statement | Role::Comment | Role::Inline | Role::Group)
            && start > self.declared_at
        {
            self.nested(node);
        }
        if kind.is_clause {
            self.blocks.seam_at(start, around.depth);
        } else if around.is_body
            && node.is_named()
            && !self.closes(node)
            && lines::starts_line(self.source, start)
        {
            let comment_end = around.comment_end.take();
            let below = comment_end.is_some_and(|end| lines::breaks(self.source, end, start) <= 1);
            if !around.fresh && !below {
                self.blocks.seam_at(start, around.depth - 1);
            }
            around.fresh = false;
            around.comment_end = matches!(kind.role, Role::Comment | Role::Attribute).then_some(end);
        }
        // A body that is nothing but another body is one with it.
        let is_same = around.is_body && kind.is_body && start == around.start;
        inside(node, around.depth - usize::from(is_same), kind)
    }

    /// Notes a symbol or import inside a function or statement. It has no blocks of its own.
    fn nested(&mut self, node: Node<'a>) {
        let declared = self.language.declared(node, self.source);
        match declared.role {
            Role::Import => self.note_import(node),
            Role::Function(kind) | Role::Type(kind) if !self.language.has_local_values() => {
                let (symbol, _) = self.symbol(kind, node, declared);
                if !symbol.title.is_empty() {
                    self.blocks.nested(symbol);
                }
            }
            _ => {}
        }
    }

    fn is_inner(&self, comment: Node<'a>) -> bool {
        let text = self.text(comment);
        self.language.inner_comments().iter().any(|opening| text.starts_with(opening))
    }

    fn import(&mut self, node: Node<'a>) {
        self.note_import(node);
        let Range { start, end } = self.span(node);
        self.blocks.member(BlockKind::Import, start, end);
    }

    fn note_import(&mut self, node: Node<'a>) {
        let text = self.text(node).trim();
        if self.imports.insert(text) {
            self.out.import(text);
        }
    }

    fn statement(&mut self, node: Node<'a>, kind: Kind) -> Option<Level> {
        let documents = self.blocks.scope().opens_module() && self.is_docstring(node);
        let block = if documents { BlockKind::Comment } else { BlockKind::Statement };
        let Range { start, end } = self.span(node);
        self.blocks.member(block, start, end);
        inside(node, self.blocks.scope().inner_depth(), kind)
    }

    fn group(&mut self, node: Node<'a>, members: Members) -> Level {
        self.blocks.open_group(members, self.span(node));
        Level::Scope
    }

    fn function(&mut self, kind: SymbolKind, node: Node<'a>, declared: Declared<'a>) -> Option<Level> {
        let (symbol, _) = self.symbol(kind, node, declared);
        if symbol.title.is_empty() {
            return Some(self.group(node, Members::Group));
        }
        self.blocks.function(symbol, self.language.joins_equations());
        inside(node, 0, self.language.kind(node))
    }

    fn open_type(&mut self, kind: SymbolKind, node: Node<'a>, declared: Declared<'a>) -> Level {
        let (symbol, head_end) = self.symbol(kind, node, declared);
        self.blocks.open_type(symbol, head_end);
        Level::Scope
    }

    /// The description of a symbol, and the end of the part that announces it.
    fn symbol(&mut self, kind: SymbolKind, node: Node<'a>, declared: Declared<'a>) -> (Symbol, usize) {
        self.declared_at = declared.value.start_byte();
        let (title, is_owned) = self.title(node, declared);
        let head_end = self.head_end(declared);
        let signature = self.signature(node, head_end);
        let documentation = self.docstring(declared.value);
        (Symbol { kind, title, is_owned, span: self.span(node), signature, documentation }, head_end)
    }

    /// The docstring that a symbol begins with, or nothing.
    fn docstring(&self, symbol: Node<'a>) -> Range<usize> {
        let first = self.language.body(symbol).and_then(|body| body.named_child(0));
        let is_documentation = |node: &Node<'a>| self.is_docstring(*node);
        first.filter(is_documentation).map_or(0..0, |node| node.byte_range())
    }

    fn is_docstring(&self, statement: Node<'a>) -> bool {
        let part = |node| self.language.kind(node).docstring;
        part(statement) == Some(Docstring::Statement)
            && statement.named_child_count() == 1
            && statement.named_child(0).is_some_and(|child| part(child) == Some(Docstring::Text))
    }

    /// The name of a symbol, and whether it names the type it belongs to. The title of a type without a name is the
    /// words before its body, if that is in brackets.
    fn title(&self, symbol: Node<'a>, declared: Declared<'a>) -> (String, bool) {
        let named = |node| self.language.title(node, self.source);
        let inside = || Some(declared.value).filter(|&value| value != symbol).and_then(named);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(title) = named(symbol).or_else(inside) else {
            let before = self.source.get(..symbol.start_byte()).unwrap_or_default().trim_end();
            if before.ends_with("export default") {
                return ("default".into(), false);
            }
            let body = self.language.body(declared.value).filter(|body| self.text(*body).starts_with('{'));
            let body = body.filter(|_| matches!(declared.role, Role::Type(_)));
            let head = body.and_then(|body| self.source.get(symbol.start_byte()..body.start_byte()));
            return (words(head.unwrap_or_default()), false);
        };
        let name = self.source.get(title.name).unwrap_or_default();
        let name = words(plain_name(name));
        // `TEST_F(Suite, opens) {` is a function by the name of its macro.
        if self.language.has_macros() && by_line::is_macro(&name) && declared.role == FUNCTION {
            let arguments = self.text(symbol).strip_prefix(name.as_str()).map(str::trim_start);
            let arguments = arguments.and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
            if let Some(name) = arguments.and_then(|(arguments, _)| by_line::defined_name(arguments)) {
                return (name, false);
            }
        }
        let owner = title.owner.map(|owner| self.text(owner)).and_then(type_name);
        match owner {
            Some(owner) => (format!("{owner}{}{name}", self.language.joint()), true),
            None => (name, false),
        }
    }

    /// The lines that announce a symbol, from where it starts; decorators and attributes left out.
    fn signature(&mut self, symbol: Node<'a>, head_end: usize) -> Range<usize> {
        let start = lines::indented_start(self.source, self.announced_at(symbol).min(head_end));
        let end = lines::first_lines(self.source, start, head_end, SIGNATURE_LINES);
        start..end.max(start)
    }

    /// Start of a symbol after the attributes that its node holds, at its top or among its modifiers.
    fn announced_at(&mut self, symbol: Node<'a>) -> usize {
        self.probe.reset(symbol);
        let mut inside = 0;
        while inside < 2 && self.probe.goto_first_child() {
            inside += 1;
            while matches!(self.language.kind(self.probe.node()).role, Role::Attribute | Role::Comment) {
                while !self.probe.goto_next_sibling() {
                    inside -= 1;
                    if inside == 0 || !self.probe.goto_parent() {
                        return symbol.start_byte();
                    }
                }
            }
        }
        self.probe.node().start_byte()
    }

    /// End of the part of a symbol that announces it: after the bracket that opens its body, or before a body without
    /// one.
    fn head_end(&mut self, declared: Declared<'a>) -> usize {
        let symbol = declared.value;
        let Some(body) = self.language.body(symbol) else {
            if let Some(head) = self.language.head(symbol) {
                return head.end_byte();
            }
            let bracket = self.text(symbol).lines().next().filter(|line| line.trim_end().ends_with('{'));
            return bracket.map_or(symbol.end_byte(), |line| symbol.start_byte() + line.trim_end().len());
        };
        match self.source.as_bytes().get(body.start_byte()) {
            Some(b'{') => return body.start_byte() + 1,
            Some(b'(') if matches!(declared.role, Role::Type(_)) => return symbol.end_byte(),
            _ => {}
        }
        let mut end = symbol.start_byte();
        self.probe.reset(symbol);
        let mut more = self.probe.goto_first_child();
        while more && self.probe.node() != body {
            let child = self.probe.node();
            if !child.is_extra() {
                end = child.end_byte();
            }
            more = self.probe.goto_next_sibling();
        }
        end
    }

    /// The span of a node, without the blank lines below it that some grammars include.
    fn span(&self, node: Node<'a>) -> Range<usize> {
        let start = node.start_byte();
        start..start + self.text(node).trim_end().len()
    }

    /// Whether a node is a closing bracket; some grammars name them.
    fn closes(&self, node: Node<'a>) -> bool {
        matches!(self.text(node), "}" | ")" | "]")
    }

    fn text(&self, node: Node<'a>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }
}

/// A name without quotes, and an operator without the brackets that make a name of it: `(<+>)`.
fn plain_name(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let bare = ['"', '\'', '`'].into_iter().find_map(within).unwrap_or(text);
    let operator = bare.strip_prefix('(').and_then(|bare| bare.strip_suffix(')')).map(str::trim);
    operator.filter(|name| !name.is_empty() && !name.contains(char::is_alphanumeric)).unwrap_or(bare)
}

/// The name of the type in the owner of a method: `Server` of `(s *Server[T])`.
fn type_name(owner: &str) -> Option<&str> {
    let plain = owner.split(['[', '<']).next().unwrap_or(owner);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.');
    plain.trim_end_matches([')', ' ']).rsplit(|c| !is_word(c)).find(|word| !word.is_empty())
}

/// Enters a node for seams, `depth` bodies deep, if it can hold any: they begin lines. A body may hold
/// symbols on one line.
fn inside(node: Node<'_>, depth: usize, kind: Kind) -> Option<Level> {
    (spans_lines(node) || kind.role == Role::Inline)
        .then(|| Level::Inside(Inside::new(node.start_byte(), depth, kind)))
}

fn spans_lines(node: Node<'_>) -> bool {
    node.start_position().row < node.end_position().row
}
