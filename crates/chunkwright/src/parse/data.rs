//! The parts that JSON, YAML and TOML share: keys, their values, and the places to cut them.
//!
//! A key that holds keys is a section, its line a heading. Any other member is a block: a key with its value, or an
//! element of an array with all its keys as long as none of them holds keys. Members within blocks are seams. So cuts
//! fall between members, and the heading path shows what a value belongs to.

mod fields;

use std::borrow::Cow;

use crate::document::{BlockKind, DocumentBuilder, SectionKind};
use crate::span::Span;

pub(super) use fields::Field;

/// The members of a file in the order of their start, a parent before its children.
#[derive(Debug, Default)]
pub(super) struct Members {
    all: Vec<Member>,
    /// Members that are open, outermost first, with a number of the scanner's own.
    open: Vec<(u32, usize)>,
}

#[derive(Debug)]
struct Member {
    /// From the comments above it to the end of its value.
    span: Span,
    /// The key as written; empty if there is none.
    key: Span,
    /// The value as written, where it is a scalar.
    value: Span,
    /// The member around it, or [`NONE`].
    parent: u32,
    depth: u32,
}

const NONE: u32 = u32::MAX;

/// Keys that name what they stand in, so that an element of an array has a title.
const NAMES: &[&str] = &["name", "title", "id", "key", "label", "operationId"];

impl Members {
    /// Opens a member that begins at `start`, inside the one that is open now.
    pub(super) fn open(&mut self, start: usize, key: Span, mark: usize) {
        let parent = self.open.last().map_or(NONE, |&(parent, _)| parent);
        self.open.push((self.all.len() as u32, mark));
        let depth = self.open.len() as u32 - 1;
        let span = Span { start: start as u32, end: u32::MAX };
        self.all.push(Member { span, key, value: Span::default(), parent, depth });
    }

    /// Says what the member opened last has as its value.
    pub(super) fn value(&mut self, value: Span) {
        if let Some(member) = self.all.last_mut() {
            member.value = value;
        }
    }

    /// Closes the member opened last.
    pub(super) fn close(&mut self, end: usize) {
        if let Some((index, _)) = self.open.pop() {
            let span = &mut self.all[index as usize].span;
            span.end = span.start.max(end as u32);
        }
    }

    /// Adds a member that holds none.
    pub(super) fn leaf(&mut self, start: usize, key: Span, value: Span) {
        self.open(start, key, 0);
        self.value(value);
        self.close(value.end as usize);
    }

    /// Lets the member added last reach to `end`, if it is closed: a comment stands behind it.
    pub(super) fn extend(&mut self, end: usize) {
        if let Some(last) = self.all.last_mut().filter(|last| last.span.end != u32::MAX) {
            last.span.end = last.span.end.max(end as u32);
        }
    }

    /// Number of members that are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The scanner's mark for the member opened last.
    pub(super) fn mark(&self) -> Option<usize> {
        self.open.last().map(|&(_, mark)| mark)
    }

    /// Reports all members of `source`.
    pub(super) fn report(mut self, source: &str, out: &mut DocumentBuilder) {
        out.set_gap_kind(BlockKind::Data);
        self.finish(source);
        let (sections, names) = self.sections(source);
        // Sections that are open, by depth, and the depth of the block that holds what follows.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut block: Option<u32> = None;
        // Start of an element whose first member has not come yet.
        let mut lead: Option<u32> = None;
        for (index, member) in self.all.iter().enumerate() {
            if let Some(depth) = block.filter(|&depth| member.depth > depth) {
                out.seam(member.span.start as usize, (member.depth - depth - 1) as usize);
                continue;
            }
            block = None;
            while let Some((_, end)) = open.pop_if(|&mut (depth, _)| depth >= member.depth) {
                out.close_section(end as usize);
            }
            let start = lead.take().unwrap_or(member.span.start) as usize;
            let has_key = !member.key.is_empty();
            if !sections[index] {
                block = Some(member.depth);
                out.block(BlockKind::Data, start, member.span.end as usize);
                continue;
            }
            let title = match names[index] {
                _ if has_key => unquoted(member.key.of(source)),
                NONE => "".into(),
                name => unquoted(self.all[name as usize].value.of(source)),
            };
            out.open_section(SectionKind::Key, &title, start);
            open.push((member.depth, member.span.end));
            if has_key {
                let first = self.all.get(index + 1).map_or(member.span.end, |first| first.span.start);
                out.block(BlockKind::Heading, start, first.max(start as u32) as usize);
            } else {
                lead = Some(start as u32);
            }
        }
        while let Some((_, end)) = open.pop() {
            out.close_section(end as usize);
        }
    }

    /// Closes what is still open.
    fn finish(&mut self, source: &str) {
        while self.depth() > 0 {
            self.close(source.len());
        }
        self.all.iter_mut().for_each(|member| member.key = trimmed(source, member.key));
    }

    /// Which members are sections, and which member names each element of an array.
    fn sections(&self, source: &str) -> (Vec<bool>, Vec<u32>) {
        let mut holds_keys = vec![false; self.all.len()];
        let mut sections = vec![false; self.all.len()];
        let mut names = vec![NONE; self.all.len()];
        // Children come after their parent.
        for (index, member) in self.all.iter().enumerate().rev() {
            let has_key = !member.key.is_empty();
            sections[index] |= has_key && holds_keys[index];
            if member.parent != NONE {
                let parent = member.parent as usize;
                holds_keys[parent] |= has_key || holds_keys[index];
                // An element that holds a section is one itself.
                sections[parent] |= sections[index];
                if !member.value.is_empty()
                    && NAMES.contains(&member.key.of(source).trim_matches(['"', '\'']))
                {
                    names[parent] = index as u32;
                }
            }
        }
        (sections, names)
    }
}

/// A key without the blanks around it.
fn trimmed(source: &str, key: Span) -> Span {
    let text = key.of(source).trim_start();
    let start = key.end - text.len() as u32;
    Span { start, end: start + text.trim_end().len() as u32 }
}

/// A key or scalar without its quotes, escapes resolved; truncated to the length of a title.
fn unquoted(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let quote = text.chars().next().filter(|&c| c == '"' || c == '\'');
    let inner = quote.and_then(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text);
    let inner = match inner.char_indices().nth(MAX_TITLE_CHARS) {
        Some((at, _)) => &inner[..at],
        None => inner,
    };
    if quote != Some('"') || !inner.contains('\\') {
        return inner.into();
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.strip_prefix('u').and_then(|hex| u32::from_str_radix(hex.get(..4)?, 16).ok());
        rest = match (code.and_then(char::from_u32), after.chars().next()) {
            (Some(c), _) => {
                out.push(c);
                &after[5..]
            }
            (None, Some(c)) => {
                out.push(if matches!(c, 'n' | 't' | 'r') { ' ' } else { c });
                &after[c.len_utf8()..]
            }
            (None, None) => "",
        };
    }
    out.push_str(rest);
    out.into()
}

/// Longest title that a key or name gives.
const MAX_TITLE_CHARS: usize = 200;
