//! From a syntax tree to sections, blocks and seams.
//!
//! One walk with a cursor, never recursive: trees 65,000 deep exist. It only enters what matters: at
//! the level of declarations whatever may hold a symbol, and below that, for seams, what spans more
//! than one line.

mod members;

use std::collections::HashSet;
use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, SymbolKind};
use tree_sitter::{Node, Tree, TreeCursor};

use self::members::{Blocks, Members};
use crate::language::{Compiled, Docstring, Kind, Role};
use crate::lines;

/// Lines of a signature that are kept.
const SIGNATURE_LINES: usize = 5;

/// Reports what `tree` holds to `out`.
pub(crate) fn report(language: &Compiled, tree: &Tree, source: &str, out: &mut DocumentBuilder) {
    let blocks = Blocks::new(source);
    let mut outline = Outline { language, source, out, blocks, probe: tree.walk(), imports: HashSet::new() };
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
}

/// What the walk knows of a node it has entered.
enum Level {
    /// Members of a new scope.
    Scope,
    /// More members of the scope around.
    Inline,
    /// Inside a statement or function: only seams are wanted.
    Inside(Inside),
}

#[derive(Clone, Copy)]
struct Inside {
    /// Depth of seams.
    depth: usize,
    /// Whether the children are places to cut.
    is_body: bool,
    /// Whether no child was seen yet: the first follows its header and is no place to cut.
    fresh: bool,
    /// Where the comment directly above ends.
    comment_end: Option<usize>,
}

impl Inside {
    fn new(depth: usize, kind: Kind) -> Self {
        Self {
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
                Some(Level::Scope | Level::Inline) => self.member(cursor.node()),
                None => return,
            };
        }
    }

    fn leave(&mut self, level: &Level) {
        if matches!(level, Level::Scope) {
            self.blocks.close_scope();
        }
    }

    /// Reads a node at the level of declarations.
    fn member(&mut self, node: Node<'a>) -> Option<Level> {
        let kind = self.language.kind(node);
        let (start, end) = (node.start_byte(), node.end_byte());
        if kind.role == Role::Inline {
            let scope = self.blocks.scope();
            scope.fresh |= kind.is_body;
            let depth = scope.depth;
            if kind.is_clause {
                self.blocks.seam_at(start, depth);
            }
            return Some(Level::Inline);
        }
        if start < self.blocks.scope().head_end || start == end {
            return None;
        }
        match kind.role {
            Role::Comment if self.is_inner(node) => self.blocks.inner_comment(start, end),
            Role::Comment => self.blocks.comment(start, end),
            Role::Attribute => self.blocks.attribute(start, end),
            Role::Import => self.import(node),
            Role::Function(symbol) => return self.function(symbol, node, kind),
            Role::Type(SymbolKind::Module) if self.language.body(node).is_none() => self.import(node),
            Role::Type(symbol) => return Some(self.open_type(symbol, node)),
            Role::Group if spans_lines(node) => return Some(self.group(node, Members::Group)),
            _ if node.has_error() && spans_lines(node) => return Some(self.group(node, Members::Broken)),
            _ if !node.is_named() => self.blocks.token(start, end),
            _ => return self.statement(node, kind),
        }
        None
    }

    /// Reads a node inside a function or statement, for the sake of seams.
    fn inside(&mut self, node: Node<'a>, around: &mut Inside) -> Option<Level> {
        let kind = self.language.kind(node);
        if kind.role == Role::Import {
            self.note_import(node);
        }
        let (start, end) = (node.start_byte(), node.end_byte());
        if kind.is_clause {
            self.blocks.seam_at(start, around.depth);
        } else if around.is_body && node.is_named() && lines::starts_line(self.source, start) {
            let comment_end = around.comment_end.take();
            let below = comment_end.is_some_and(|end| lines::breaks(self.source, end, start) <= 1);
            if !around.fresh && !below {
                self.blocks.seam_at(start, around.depth - 1);
            }
            around.fresh = false;
            around.comment_end = matches!(kind.role, Role::Comment | Role::Attribute).then_some(end);
        }
        inside(node, around.depth, kind)
    }

    fn is_inner(&self, comment: Node<'a>) -> bool {
        let text = self.text(comment);
        self.language.inner_comments.iter().any(|opening| text.starts_with(opening))
    }

    fn import(&mut self, node: Node<'a>) {
        self.note_import(node);
        self.blocks.member(BlockKind::Import, node.start_byte(), node.end_byte());
    }

    fn note_import(&mut self, node: Node<'a>) {
        let text = self.text(node).trim();
        if self.imports.insert(text) {
            self.out.import(text);
        }
    }

    fn statement(&mut self, node: Node<'a>, kind: Kind) -> Option<Level> {
        let documents = kind.docstring == Some(Docstring::Statement)
            && self.blocks.scope().opens_module()
            && node.named_child_count() == 1
            && node
                .named_child(0)
                .is_some_and(|child| self.language.kind(child).docstring == Some(Docstring::Text));
        let block = if documents { BlockKind::Comment } else { BlockKind::Statement };
        self.blocks.member(block, node.start_byte(), node.end_byte());
        inside(node, self.blocks.scope().inner_depth(), kind)
    }

    fn group(&mut self, node: Node<'a>, members: Members) -> Level {
        self.blocks.open_group(members, node.byte_range());
        Level::Scope
    }

    fn function(&mut self, symbol: SymbolKind, node: Node<'a>, kind: Kind) -> Option<Level> {
        let head_end = self.head_end(node);
        self.blocks.function(symbol, self.title(node), node.byte_range(), self.signature(node, head_end));
        inside(node, 0, kind)
    }

    fn open_type(&mut self, symbol: SymbolKind, node: Node<'a>) -> Level {
        let head_end = self.head_end(node);
        let signature = self.signature(node, head_end);
        self.blocks.open_type(symbol, self.title(node), node.byte_range(), head_end, signature);
        Level::Scope
    }

    fn title(&self, symbol: Node<'a>) -> String {
        let name = self.language.title(symbol);
        let name = if name == symbol { "" } else { self.text(name) };
        name.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The lines that announce a symbol, decorators and attributes left out.
    fn signature(&self, symbol: Node<'a>, head_end: usize) -> Range<usize> {
        let start = lines::indented_start(self.source, symbol.start_byte());
        let end = lines::first_lines(self.source, start, head_end, SIGNATURE_LINES);
        start..end.max(start)
    }

    /// Where the part of a symbol ends that announces it: with the bracket that opens its body, or what
    /// stands before a body without one.
    fn head_end(&mut self, symbol: Node<'a>) -> usize {
        let Some(body) = self.language.body(symbol) else {
            return self.text(symbol).find('{').map_or(symbol.end_byte(), |at| symbol.start_byte() + at + 1);
        };
        match self.source.as_bytes().get(body.start_byte()) {
            Some(b'{') => return body.start_byte() + 1,
            Some(b'(') => return symbol.end_byte(),
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

    fn text(&self, node: Node<'a>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }
}

/// Enters a node for seams, `depth` bodies deep, if it can hold any: they begin lines.
fn inside(node: Node<'_>, depth: usize, kind: Kind) -> Option<Level> {
    spans_lines(node).then(|| Level::Inside(Inside::new(depth, kind)))
}

fn spans_lines(node: Node<'_>) -> bool {
    node.start_position().row < node.end_position().row
}
