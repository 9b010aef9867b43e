//! Turns members into blocks: attaches comments, and joins members that form one block.
//!
//! Knows bytes and lines but no syntax tree. Findings are first recorded as events, because a group such as
//! `if TYPE_CHECKING:` is one block unless a symbol turns up inside.

use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, SectionKind, SymbolKind};

use super::scope::{Lead, Members, Run, Scope};
use crate::lines;

/// A call of the builder, made once it is certain.
enum Event {
    Open(Symbol),
    Block(Run),
    Close(usize),
}

/// The parts of a section.
pub(crate) struct Symbol {
    pub(crate) kind: SymbolKind,
    pub(crate) title: String,
    /// Whether it names the type it belongs to, which makes it a method wherever it is.
    pub(crate) is_owned: bool,
    pub(crate) span: Range<usize>,
    pub(crate) signature: Range<usize>,
    /// A docstring inside; without one, the comments above take its place.
    pub(crate) documentation: Range<usize>,
}

impl Symbol {
    fn open(self, out: &mut DocumentBuilder) {
        out.open_section(SectionKind::Symbol(self.kind), &self.title, self.span.start);
        out.set_signature(self.signature.start, self.signature.end);
        out.set_documentation(self.documentation.start, self.documentation.end);
    }
}

/// Most symbols ending on one line that are considered for a comment after them.
const MAX_CLOSED: usize = 8;

/// Turns the members of nested scopes, reported in the order of the source, into sections and blocks.
pub(crate) struct Blocks<'a> {
    source: &'a str,
    has_comments_below: bool,
    events: Vec<Event>,
    /// Never empty: the first is the module.
    scopes: Vec<Scope>,
    /// Places to cut, with their depths.
    seams: Vec<(usize, usize)>,
    /// Symbols inside functions and statements, in the order of the source.
    nested: Vec<Symbol>,
    /// Those that enclose the one noted last, outermost first.
    open_nested: Vec<usize>,
    /// The comments of the lead taken last.
    comments_above: Range<usize>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(source: &'a str, has_comments_below: bool) -> Self {
        let module = Scope::new(Members::Units, None);
        Self {
            source,
            has_comments_below,
            events: Vec::new(),
            scopes: vec![module],
            seams: Vec::new(),
            nested: Vec::new(),
            open_nested: Vec::new(),
            comments_above: 0..0,
        }
    }

    /// Tells the builder all that was found.
    pub(crate) fn report(mut self, out: &mut DocumentBuilder) {
        self.flush_lead();
        self.flush_run();
        let mut nested = self.nested.into_iter().peekable();
        for event in self.events {
            match event {
                Event::Open(symbol) => symbol.open(out),
                Event::Block(run) => {
                    out.block(run.kind, run.start, run.end);
                    let mut open: Vec<usize> = Vec::new();
                    while let Some(symbol) = nested.next_if(|symbol| symbol.span.start < run.end) {
                        while let Some(end) = open.pop_if(|end| *end <= symbol.span.start) {
                            out.close_section(end);
                        }
                        open.push(symbol.span.end);
                        symbol.open(out);
                    }
                    while let Some(end) = open.pop() {
                        out.close_section(end);
                    }
                }
                Event::Close(end) => out.close_section(end),
            }
        }
        for (at, depth) in self.seams {
            out.seam(at, depth);
        }
    }

    /// The scope whose members are being read.
    pub(crate) fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the scope of the module is never closed")
    }

    /// A comment: waits for what stands directly below it, unless it stands behind something.
    pub(crate) fn comment(&mut self, start: usize, end: usize) {
        let source = self.source;
        if let Some(lead) = &mut self.scope().lead {
            if lead.bound || lines::breaks(source, lead.end, start) <= 1 {
                lead.end = end;
                if !lead.bound {
                    lead.comments.end = end;
                }
                return;
            }
            self.flush_lead();
        }
        if lines::starts_line(source, start) {
            self.scope().lead = Some(Lead { start, end, comments: start..end, bound: false });
        } else if !self.trail(start, end, 0) {
            self.add(BlockKind::Comment, start, end);
        }
    }

    /// Adds a comment that belongs to the enclosing item, never to the one below.
    pub(crate) fn inner_comment(&mut self, start: usize, end: usize) {
        self.flush_lead();
        self.seam(start);
        self.add(BlockKind::Comment, start, end);
    }

    /// A decorator or attribute.
    pub(crate) fn attribute(&mut self, start: usize, end: usize) {
        let start = self.take_lead(start);
        let comments = self.comments_above.clone();
        self.scope().lead = Some(Lead { start, end, comments, bound: true });
    }

    /// Adds a member that is not a symbol, with its leading comments and attributes.
    pub(crate) fn member(&mut self, kind: BlockKind, start: usize, end: usize) {
        let start = self.take_lead(start);
        self.seam(start);
        // A member among errors may be anything, such as a string from one stray quote to the next.
        if self.scope().members == Members::Broken {
            self.add_paragraphs(start, end);
        } else {
            self.add(kind, start, end);
        }
    }

    fn add_paragraphs(&mut self, start: usize, end: usize) {
        for paragraph in lines::paragraphs(self.source, start, end) {
            self.add(BlockKind::Statement, paragraph.start, paragraph.end);
        }
    }

    /// Adds documentation of the symbol whose members are read: part of its head, if directly below it.
    pub(crate) fn doc(&mut self, start: usize, end: usize) {
        let scope = self.scope();
        match &mut scope.run {
            Some(head) if scope.fresh && scope.lead.is_none() => head.end = end,
            _ => self.member(BlockKind::Statement, start, end),
        }
    }

    /// A keyword or bracket between members: those of letters belong to a group's header, or to what stands
    /// above if the scope ends with them.
    pub(crate) fn token(&mut self, start: usize, end: usize) {
        let text = self.source.get(start..end).unwrap_or_default();
        if end == self.scope().end && self.close_with(end) {
            return;
        }
        if text.contains(char::is_alphanumeric) {
            let start = self.take_lead(start);
            self.add(BlockKind::Statement, start, end);
        } else {
            self.trail(start, end, 0);
        }
    }

    /// A bracket that belongs to the member above it.
    pub(crate) fn end(&mut self, start: usize, end: usize) {
        self.flush_lead();
        if !self.trail(start, end, usize::MAX) {
            self.add(BlockKind::Statement, start, end);
        }
    }

    /// Whether only comments and words that travel with the member around `start` were seen of it so far.
    pub(crate) fn opens_member(&mut self, start: usize) -> bool {
        let source = self.source;
        match &self.scope().lead {
            Some(lead) if lead.bound => true,
            _ => lines::starts_line(source, start),
        }
    }

    /// A function: one block in a section of its own. With `joins`, it continues the function of the same
    /// name directly above.
    pub(crate) fn function(&mut self, symbol: Symbol, joins: bool) {
        if joins && self.continues(&symbol.title, &symbol.span) {
            return;
        }
        let kind = self.function_kind(symbol.kind, symbol.is_owned);
        let end = symbol.span.end;
        let start = self.open_symbol(Symbol { kind, ..symbol });
        self.events.push(Event::Block(Run { kind: BlockKind::Function, start, end }));
        self.events.push(Event::Close(end));
    }

    fn function_kind(&mut self, kind: SymbolKind, is_owned: bool) -> SymbolKind {
        let is_method = kind == SymbolKind::Function && (is_owned || self.scope().in_class());
        if is_method { SymbolKind::Method } else { kind }
    }

    /// Makes `span` part of the function called `title` if that ends directly above, or above comments.
    fn continues(&mut self, title: &str, span: &Range<usize>) -> bool {
        let scope = self.scope();
        if scope.run.is_some() || scope.lead.as_ref().is_some_and(|lead| lead.bound) {
            return false;
        }
        let [.., Event::Open(symbol), Event::Block(run), Event::Close(end)] = self.events.as_mut_slice()
        else {
            return false;
        };
        if symbol.title != title {
            return false;
        }
        run.end = span.end;
        *end = span.end;
        let lead = self.scope().lead.take();
        self.seam_at(lead.map_or(span.start, |lead| lead.start), 0);
        true
    }

    /// A symbol inside a function or statement: a section without blocks of its own.
    pub(crate) fn nested(&mut self, mut symbol: Symbol) {
        while self.open_nested.pop_if(|at| self.nested[*at].span.end <= symbol.span.start).is_some() {}
        let in_type = self.open_nested.last().is_some_and(|&at| self.nested[at].kind.is_type());
        self.open_nested.push(self.nested.len());
        if symbol.kind == SymbolKind::Function && (symbol.is_owned || in_type) {
            symbol.kind = SymbolKind::Method;
        }
        self.nested.push(symbol);
    }

    /// Opens a type or module, whose members follow those that begin before `head_end`.
    pub(crate) fn open_type(&mut self, symbol: Symbol, head_end: usize) {
        let (kind, end) = (symbol.kind, symbol.span.end);
        let start = self.open_symbol(symbol);
        let members = if kind == SymbolKind::Module { Members::Units } else { Members::Class };
        let mut scope = Scope { head_end, end, ..Scope::new(members, Some(kind)) };
        scope.run = Some(Run { kind: scope.block_kind(BlockKind::Statement), start, end: head_end });
        self.scopes.push(scope);
    }

    /// Opens a section with what belongs to the symbol above it, and gives its start.
    fn open_symbol(&mut self, mut symbol: Symbol) -> usize {
        let start = self.take_lead(symbol.span.start);
        self.flush_run();
        let scope = self.scope();
        scope.has_symbols = true;
        scope.fresh = false;
        symbol.signature.start = self.announced_from(start, &symbol.signature);
        if symbol.documentation.is_empty() {
            symbol.documentation = self.comments_above.clone();
        }
        symbol.span.start = start;
        self.events.push(Event::Open(symbol));
        start
    }

    /// Start of the lines that announce a symbol, including the words before it on its first line.
    fn announced_from(&self, start: usize, signature: &Range<usize>) -> usize {
        let before = self.source.get(start..signature.start).unwrap_or_default();
        let line = before.rfind('\n').map_or(start, |at| start + at + 1);
        lines::indented_start(self.source, line).min(signature.start)
    }

    /// Opens a node that may hold symbols but is not one.
    pub(crate) fn open_group(&mut self, members: Members, span: Range<usize>) {
        let start = self.take_lead(span.start);
        self.seam(start);
        let mark = self.events.len();
        let outer_run = self.scope().run;
        // The head of a class and the group's header below it are not separate blocks.
        let joined = if self.scope().in_class() { self.scope().run.take() } else { None };
        self.flush_run();
        let outer = self.scope();
        let mut scope = Scope::new(members, outer.symbol);
        scope.depth = outer.inner_depth();
        let kind = scope.block_kind(BlockKind::Statement);
        let has_lead = start < span.start;
        let run = match joined {
            Some(run) if has_lead => Some(Run { end: span.start, ..run }),
            None if has_lead => Some(Run { kind, start, end: span.start }),
            joined => joined,
        };
        self.scopes.push(Scope { start, end: span.end, mark, outer_run, run, ..scope });
    }

    /// Closes the group or type opened last.
    pub(crate) fn close_scope(&mut self) {
        let is_group = matches!(self.scope().members, Members::Group | Members::Broken);
        if is_group && !self.scope().has_symbols {
            let Some(group) = self.scopes.pop() else { return };
            self.events.truncate(group.mark);
            self.scope().run = group.outer_run;
            if group.members == Members::Group {
                self.add(BlockKind::Statement, group.start, group.end);
                return;
            }
            self.add_paragraphs(group.start, group.end);
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

    /// A place to cut at `at`, if it begins its line.
    pub(crate) fn seam_at(&mut self, at: usize, depth: usize) {
        if lines::starts_line(self.source, at) {
            self.seams.push((at, depth));
        }
    }

    /// A place to cut before a member, unless it is the first below a header.
    pub(crate) fn seam(&mut self, at: usize) {
        let scope = self.scope();
        let depth = scope.depth;
        if !std::mem::take(&mut scope.fresh) {
            self.seam_at(at, depth);
        }
    }

    /// The start of what begins at `start`, with the comments and attributes that belong to it.
    fn take_lead(&mut self, start: usize) -> usize {
        let source = self.source;
        self.comments_above = 0..0;
        match self.scope().lead.take() {
            Some(lead) if lead.bound || lines::breaks(source, lead.end, start) <= 1 => {
                self.comments_above = lead.comments;
                lead.start
            }
            lead => {
                self.scope().lead = lead;
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

    /// Gives text that follows a member, at most `breaks` line breaks below, to that member. Returns whether there was
    /// one.
    fn trail(&mut self, start: usize, end: usize, breaks: usize) -> bool {
        let source = self.source;
        let follows = |run: &Run| lines::breaks(source, run.end, start) <= breaks;
        if let Some(run) = &mut self.scope().run {
            let follows = follows(run);
            if follows {
                run.end = run.end.max(end);
            }
            return follows;
        }
        // After a symbol: its closing bracket is in the block before, and so is the text that follows it.
        match self.events.last() {
            Some(&Event::Close(symbol)) if lines::breaks(source, symbol, start) <= breaks => {}
            _ => return false,
        }
        for event in self.events.iter_mut().rev().take(MAX_CLOSED) {
            match event {
                Event::Close(symbol) => *symbol = end,
                Event::Block(run) => {
                    run.end = end;
                    return true;
                }
                Event::Open(_) => break,
            }
        }
        false
    }

    /// Makes the word that ends the scope part of the last block in it, whichever item that belongs to. Returns whether
    /// there was one.
    fn close_with(&mut self, end: usize) -> bool {
        self.flush_lead();
        if let Some(run) = &mut self.scope().run {
            run.end = end;
            return true;
        }
        let mut last = self.events.iter_mut().rev().take(MAX_CLOSED);
        let block = last.find_map(|event| if let Event::Block(run) = event { Some(run) } else { None });
        block.map(|run| run.end = end).is_some()
    }

    fn flush_lead(&mut self) {
        let Some(lead) = self.scope().lead.take() else { return };
        let may_trail = self.has_comments_below && !lead.bound;
        if !(may_trail && self.trail(lead.start, lead.end, 1)) {
            self.seam(lead.start);
            self.add(BlockKind::Comment, lead.start, lead.end);
        }
    }

    fn flush_run(&mut self) {
        if let Some(run) = self.scope().run.take() {
            self.events.push(Event::Block(run));
        }
    }
}
