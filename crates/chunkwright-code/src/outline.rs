//! From a syntax tree to sections, blocks and seams.
//!
//! One walk with a cursor, never recursive: trees 65,000 deep exist. It only enters what matters: at
//! the level of declarations whatever may hold a symbol, and below that, for seams, what spans more
//! than one line. What is found is noted as events first, because a group (`if TYPE_CHECKING:`) is one
//! block unless a symbol turns up inside.

use std::collections::HashSet;
use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, SectionKind, SymbolKind};
use tree_sitter::{Node, Tree, TreeCursor};

use crate::language::{Compiled, Kind, Role};
use crate::lines;

/// Lines of a signature that are kept.
const SIGNATURE_LINES: usize = 5;

/// Reports what `tree` holds to `out`.
pub(crate) fn report(language: &Compiled, tree: &Tree, source: &str, out: &mut DocumentBuilder) {
    let mut outline = Outline {
        language,
        source,
        out,
        probe: tree.walk(),
        imports: HashSet::new(),
        events: Vec::new(),
        scopes: vec![Scope::new(Members::Units, None)],
    };
    outline.walk(tree);
    outline.flush_lead();
    outline.flush_run();
    let Outline { events, out, .. } = outline;
    for event in events {
        match event {
            Event::Open { kind, title, start, signature } => {
                out.open_section(SectionKind::Symbol(kind), title, start);
                out.set_signature(signature.start, signature.end);
            }
            Event::Block(run) => out.block(run.kind, run.start, run.end),
            Event::Close(end) => out.close_section(end),
        }
    }
}

/// What is told to the builder once it is certain.
enum Event {
    Open { kind: SymbolKind, title: String, start: usize, signature: Range<usize> },
    Block(Run),
    Close(usize),
}

/// A block that may still grow.
#[derive(Clone, Copy)]
struct Run {
    kind: BlockKind,
    start: usize,
    end: usize,
}

/// Comments, attributes and decorators that wait for what they belong to.
struct Lead {
    start: usize,
    end: usize,
    /// Holds an attribute: not even a blank line parts it from what follows.
    bound: bool,
}

/// How the members of a scope that are not symbols become blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Members {
    /// Each its own block; imports together. A module.
    Units,
    /// All between two symbols together. A class.
    Class,
    /// Those without a blank line between together. A statement that turned out to hold symbols.
    Group,
    /// As a group, but source that holds no symbol is cut at blank lines. What the grammar did not understand.
    Broken,
}

/// A node whose members are being read.
struct Scope {
    members: Members,
    /// The symbol whose members these are; a group has the one around it.
    symbol: Option<SymbolKind>,
    /// Depth of seams between members.
    depth: usize,
    /// First byte, comments above included, and where members begin: what is before is the head.
    start: usize,
    head_end: usize,
    end: usize,
    /// Number of events, and the open run of the scope around, when a group began.
    mark: usize,
    outer_run: Option<Run>,
    /// Whether a symbol was found inside.
    has_symbols: bool,
    /// Whether no member was seen yet since the last header line.
    fresh: bool,
    lead: Option<Lead>,
    run: Option<Run>,
}

impl Scope {
    fn new(members: Members, symbol: Option<SymbolKind>) -> Self {
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

struct Outline<'a> {
    language: &'a Compiled,
    source: &'a str,
    out: &'a mut DocumentBuilder,
    /// A second cursor, for looks at the children of a symbol.
    probe: TreeCursor<'a>,
    imports: HashSet<&'a str>,
    events: Vec<Event>,
    /// Never empty: the first is the module.
    scopes: Vec<Scope>,
}

impl<'a> Outline<'a> {
    fn walk(&mut self, tree: &'a Tree) {
        let mut cursor = tree.walk();
        let root = cursor.node();
        let mut levels = Vec::new();
        let mut next =
            Some(if root.is_error() { self.open_group(root, Members::Broken) } else { Level::Inline });
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
                Some(Level::Inside(inside)) => self.statement(cursor.node(), inside),
                Some(Level::Scope | Level::Inline) => self.member(cursor.node()),
                None => return,
            };
        }
    }

    fn leave(&mut self, level: &Level) {
        if matches!(level, Level::Scope) {
            self.close_scope();
        }
    }

    /// Reads a node at the level of declarations.
    fn member(&mut self, node: Node<'a>) -> Option<Level> {
        let kind = self.language.kind(node);
        let (start, end) = (node.start_byte(), node.end_byte());
        if kind.role == Role::Inline {
            let scope = self.scope();
            scope.fresh |= kind.is_body;
            let depth = scope.depth;
            if kind.is_clause && lines::starts_line(self.source, start) {
                self.out.seam(start, depth);
            }
            return Some(Level::Inline);
        }
        if start < self.scope().head_end || start == end {
            return None;
        }
        match kind.role {
            Role::Comment => self.comment(start, end),
            Role::Attribute => self.attribute(start, end),
            Role::Import => self.import(node),
            Role::Function(symbol) => return self.function(symbol, node, kind),
            Role::Type(SymbolKind::Module) if self.language.body(node).is_none() => self.import(node),
            Role::Type(symbol) => return Some(self.open_type(symbol, node)),
            Role::Group if spans_lines(node) => return Some(self.open_group(node, Members::Group)),
            _ if node.has_error() && spans_lines(node) => {
                return Some(self.open_group(node, Members::Broken));
            }
            _ if !node.is_named() => self.token(start, end),
            _ => return self.plain(node, kind),
        }
        None
    }

    /// Reads a node inside a function or statement, for the sake of seams.
    fn statement(&mut self, node: Node<'a>, inside: &mut Inside) -> Option<Level> {
        let kind = self.language.kind(node);
        if kind.role == Role::Import {
            self.note_import(node);
        }
        let (start, end) = (node.start_byte(), node.end_byte());
        if kind.is_clause {
            if lines::starts_line(self.source, start) {
                self.out.seam(start, inside.depth);
            }
        } else if inside.is_body && node.is_named() && lines::starts_line(self.source, start) {
            let comment_end = inside.comment_end.take();
            let below = comment_end.is_some_and(|end| lines::breaks(self.source, end, start) <= 1);
            if !inside.fresh && !below {
                self.out.seam(start, inside.depth - 1);
            }
            inside.fresh = false;
            inside.comment_end = matches!(kind.role, Role::Comment | Role::Attribute).then_some(end);
        }
        spans_lines(node).then(|| Level::Inside(Inside::new(inside.depth, kind)))
    }

    fn comment(&mut self, start: usize, end: usize) {
        let source = self.source;
        let text = source.get(start..end).unwrap_or_default();
        let inner = self.language.inner_comments.iter().any(|opening| text.starts_with(opening));
        if let Some(lead) = &mut self.scope().lead {
            if lead.bound || !inner && lines::breaks(source, lead.end, start) <= 1 {
                lead.end = end;
                return;
            }
            self.flush_lead();
        }
        if inner {
            self.seam(start);
            self.add(BlockKind::Comment, start, end);
        } else if lines::starts_line(source, start) {
            self.scope().lead = Some(Lead { start, end, bound: false });
        } else if !self.trail(start, end) {
            self.add(BlockKind::Comment, start, end);
        }
    }

    fn attribute(&mut self, start: usize, end: usize) {
        let start = self.take_lead(start);
        self.scope().lead = Some(Lead { start, end, bound: true });
    }

    fn import(&mut self, node: Node<'a>) {
        self.note_import(node);
        let start = self.take_lead(node.start_byte());
        self.seam(start);
        self.add(BlockKind::Import, start, node.end_byte());
    }

    fn note_import(&mut self, node: Node<'a>) {
        let text = self.source.get(node.byte_range()).unwrap_or_default().trim();
        if self.imports.insert(text) {
            self.out.import(text);
        }
    }

    /// A keyword or bracket between members: those of letters belong to a group's header.
    fn token(&mut self, start: usize, end: usize) {
        let text = self.source.get(start..end).unwrap_or_default();
        if text.contains(char::is_alphanumeric) {
            let start = self.take_lead(start);
            self.add(BlockKind::Statement, start, end);
        } else {
            self.trail(start, end);
        }
    }

    fn plain(&mut self, node: Node<'a>, kind: Kind) -> Option<Level> {
        let scope = self.scope();
        let opens_module = scope.members == Members::Units && scope.symbol.is_none() && scope.fresh;
        let start = self.take_lead(node.start_byte());
        let documents = opens_module
            && kind.states
            && node.named_child_count() == 1
            && node.named_child(0).is_some_and(|child| self.language.kind(child).quotes);
        self.seam(start);
        self.add(if documents { BlockKind::Comment } else { BlockKind::Statement }, start, node.end_byte());
        let depth = self.scope().inner_depth();
        spans_lines(node).then(|| Level::Inside(Inside::new(depth, kind)))
    }

    fn function(&mut self, symbol: SymbolKind, node: Node<'a>, kind: Kind) -> Option<Level> {
        let is_method = symbol == SymbolKind::Function && self.scope().in_class();
        let symbol = if is_method { SymbolKind::Method } else { symbol };
        let (start, _) = self.open_symbol(symbol, node);
        let end = node.end_byte();
        self.events.push(Event::Block(Run { kind: BlockKind::Function, start, end }));
        self.events.push(Event::Close(end));
        spans_lines(node).then(|| Level::Inside(Inside::new(0, kind)))
    }

    fn open_type(&mut self, symbol: SymbolKind, node: Node<'a>) -> Level {
        let (start, head_end) = self.open_symbol(symbol, node);
        let members = if symbol == SymbolKind::Module { Members::Units } else { Members::Class };
        let mut scope = Scope { head_end, end: node.end_byte(), ..Scope::new(members, Some(symbol)) };
        scope.run = Some(Run { kind: scope.block_kind(BlockKind::Statement), start, end: head_end });
        self.scopes.push(scope);
        Level::Scope
    }

    /// Opens the section of a symbol. Returns where it starts, comments and attributes above included,
    /// and where its signature ends.
    fn open_symbol(&mut self, kind: SymbolKind, node: Node<'a>) -> (usize, usize) {
        let start = self.take_lead(node.start_byte());
        self.flush_run();
        let scope = self.scope();
        scope.has_symbols = true;
        scope.fresh = false;
        let name = self.language.title(node);
        let name = if name == node { "" } else { self.source.get(name.byte_range()).unwrap_or_default() };
        let title = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = self.signature_end(node);
        let first = lines::indented_start(self.source, node.start_byte());
        let last = lines::first_lines(self.source, first, end, SIGNATURE_LINES);
        self.events.push(Event::Open { kind, title, start, signature: first..last.max(first) });
        (start, end)
    }

    /// Where the part of a symbol ends that announces it: with the bracket that opens its body, or what
    /// stands before a body without one.
    fn signature_end(&mut self, node: Node<'a>) -> usize {
        let text = self.source.get(node.byte_range()).unwrap_or_default();
        let Some(body) = self.language.body(node) else {
            return node.start_byte() + text.find('{').map_or(text.len(), |at| at + 1);
        };
        match self.source.as_bytes().get(body.start_byte()) {
            Some(b'{') => return body.start_byte() + 1,
            Some(b'(') => return node.end_byte(),
            _ => {}
        }
        let mut end = node.start_byte();
        self.probe.reset(node);
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

    /// Opens a node that may hold symbols but is none.
    fn open_group(&mut self, node: Node<'a>, members: Members) -> Level {
        let start = self.take_lead(node.start_byte());
        self.seam(start);
        let mark = self.events.len();
        let outer_run = self.scope().run;
        // The head of a class and the group's header below it are no blocks of their own.
        let joined = if self.scope().in_class() { self.scope().run.take() } else { None };
        self.flush_run();
        let outer = self.scope();
        let mut scope = Scope::new(members, outer.symbol);
        scope.depth = outer.inner_depth();
        let kind = scope.block_kind(BlockKind::Statement);
        let has_lead = start < node.start_byte();
        let run = match joined {
            Some(run) if has_lead => Some(Run { end: node.start_byte(), ..run }),
            None if has_lead => Some(Run { kind, start, end: node.start_byte() }),
            joined => joined,
        };
        self.scopes.push(Scope { start, end: node.end_byte(), mark, outer_run, run, ..scope });
        Level::Scope
    }

    fn close_scope(&mut self) {
        let is_group = matches!(self.scope().members, Members::Group | Members::Broken);
        if is_group && !self.scope().has_symbols {
            let Some(group) = self.scopes.pop() else { return };
            self.events.truncate(group.mark);
            self.scope().run = group.outer_run;
            if group.members == Members::Group {
                self.add(BlockKind::Statement, group.start, group.end);
                return;
            }
            for paragraph in lines::paragraphs(self.source, group.start, group.end) {
                self.add(BlockKind::Statement, paragraph.start, paragraph.end);
            }
            return;
        }
        self.flush_lead();
        let scope = self.scope();
        if let (Members::Class, Some(run)) = (scope.members, &mut scope.run) {
            run.end = run.end.max(scope.end);
        }
        self.flush_run();
        let Some(scope) = self.scopes.pop() else { return };
        if is_group {
            self.scope().has_symbols = true;
        } else {
            self.events.push(Event::Close(scope.end));
        }
        self.scope().fresh = false;
    }

    /// A place to cut before a member, unless it is the first below a header.
    fn seam(&mut self, at: usize) {
        let scope = self.scope();
        let depth = scope.depth;
        if !std::mem::take(&mut scope.fresh) && lines::starts_line(self.source, at) {
            self.out.seam(at, depth);
        }
    }

    /// The start of what begins at `start`, with the comments and attributes that belong to it.
    fn take_lead(&mut self, start: usize) -> usize {
        let source = self.source;
        match &self.scope().lead {
            Some(lead) if lead.bound || lines::breaks(source, lead.end, start) <= 1 => {
                let start = lead.start;
                self.scope().lead = None;
                start
            }
            _ => {
                self.flush_lead();
                start
            }
        }
    }

    /// Adds the text `start..end` to the members of the scope.
    fn add(&mut self, kind: BlockKind, start: usize, end: usize) {
        let source = self.source;
        let scope = self.scope();
        let kind = scope.block_kind(kind);
        let members = scope.members;
        if let Some(run) = &mut scope.run {
            let breaks = lines::breaks(source, run.end, start);
            let same = run.kind == kind;
            let joins = match members {
                Members::Class => true,
                Members::Units if kind == BlockKind::Import => same,
                Members::Units if kind == BlockKind::Comment => same && breaks <= 1,
                Members::Units => false,
                Members::Group | Members::Broken => breaks <= 1,
            };
            if joins || breaks == 0 {
                run.end = run.end.max(end);
                return;
            }
        }
        self.flush_run();
        self.scope().run = Some(Run { kind, start, end });
    }

    /// Gives what follows a member on its line to that member. Whether there was one.
    fn trail(&mut self, start: usize, end: usize) -> bool {
        let source = self.source;
        let follows = |run: &Run| lines::breaks(source, run.end, start) == 0;
        if let Some(run) = &mut self.scope().run {
            let follows = follows(run);
            if follows {
                run.end = run.end.max(end);
            }
            return follows;
        }
        match self.events.as_mut_slice() {
            [.., Event::Block(run), Event::Close(close)] if follows(run) => {
                run.end = run.end.max(end);
                *close = run.end;
                true
            }
            _ => false,
        }
    }

    fn flush_lead(&mut self) {
        if let Some(lead) = self.scope().lead.take() {
            self.seam(lead.start);
            self.add(BlockKind::Comment, lead.start, lead.end);
        }
    }

    fn flush_run(&mut self) {
        if let Some(run) = self.scope().run.take() {
            self.events.push(Event::Block(run));
        }
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the scope of the module is never closed")
    }
}

impl Scope {
    fn in_class(&self) -> bool {
        matches!(self.symbol, Some(SymbolKind::Class | SymbolKind::Trait | SymbolKind::Impl))
    }

    /// The kind of a block in this scope: a class has one kind for all but methods.
    fn block_kind(&self, kind: BlockKind) -> BlockKind {
        if self.in_class() { BlockKind::ClassBody } else { kind }
    }

    /// Depth of seams one level further in. Each member of a module is a block and starts anew.
    fn inner_depth(&self) -> usize {
        if self.members == Members::Units { 0 } else { self.depth + 1 }
    }
}

fn spans_lines(node: Node<'_>) -> bool {
    node.start_position().row < node.end_position().row
}
