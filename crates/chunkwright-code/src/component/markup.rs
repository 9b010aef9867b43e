//! Markup of components: one block, cut where elements begin.

use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, Parser};
use tree_sitter::{Node, Tree};

use crate::{CodeParser, Language, lines};

/// The markup of a component, read by the grammar of HTML.
#[derive(Clone, Copy, Debug)]
pub(super) struct Markup;

static LANGUAGE: Language =
    Language { name: "html", grammar: || tree_sitter_html::LANGUAGE.into(), ..Language::BASE };

static HTML: CodeParser = CodeParser::new(&LANGUAGE);

impl Parser for Markup {
    fn name(&self) -> &'static str {
        LANGUAGE.name
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        out.block(BlockKind::Html, 0, source.len());
        let readable = &source[..comments_end(&source)];
        let tree = if depth(readable) <= MAX_DEPTH {
            HTML.tree(&without_expressions(readable)).map(|parsed| parsed.tree)
        } else {
            None
        };
        if let Some(tree) = tree {
            seams(&tree, &source, out);
        }
    }
}

/// Elements nested deeper than this are not read: for each tag the grammar copies all open ones.
const MAX_DEPTH: usize = 1000;

/// The most elements that are open at one place, void ones and those that need no closing tag counted.
fn depth(source: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for pair in source.as_bytes().windows(2) {
        match pair {
            b"</" | b"/>" => depth = depth.saturating_sub(1),
            [b'<', next] if next.is_ascii_alphabetic() => depth += 1,
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// Start of an unclosed comment, or the end. The grammar would search for its end at each `<` inside.
fn comments_end(source: &str) -> usize {
    let closed = source.rfind("-->").unwrap_or(0);
    source[closed..].find("<!--").map_or(source.len(), |at| closed + at)
}

/// The source with a letter for each byte of what stands in braces: there `<` and `&` are operators.
fn without_expressions(source: &str) -> String {
    let mut open: Vec<usize> = Vec::new();
    let mut outermost: Vec<Range<usize>> = Vec::new();
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => {
                let Some(start) = open.pop() else { continue };
                while outermost.pop_if(|inner| start < inner.start).is_some() {}
                outermost.push(start..at + 1);
            }
            _ => {}
        }
    }
    let mut text = String::with_capacity(source.len());
    for Range { start, end } in outermost {
        text.push_str(&source[text.len()..start]);
        text.extend(std::iter::repeat_n('x', end - start));
    }
    text.push_str(&source[text.len()..]);
    text
}

/// The walk's state for an element that it is in.
struct Inside {
    /// Whether nothing was seen in it yet: what comes first stays with its opening tag.
    fresh: bool,
    /// End of what leads into the next element: a comment, `{#if ..}`.
    lead: Option<usize>,
}

/// Reports where elements begin, and what leads into them, by their depth.
fn seams(tree: &Tree, source: &str, out: &mut DocumentBuilder) {
    let mut cursor = tree.walk();
    let mut levels: Vec<Inside> = Vec::new();
    loop {
        let node = cursor.node();
        if levels.is_empty() || matches!(node.kind(), "element" | "ERROR") {
            let level = Inside { fresh: true, lead: None };
            if cursor.goto_first_child() {
                levels.push(level);
                let depth = levels.len() - 1;
                child(&mut levels[depth], cursor.node(), depth, source, out);
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if levels.pop().is_none() || !cursor.goto_parent() || levels.is_empty() {
                return;
            }
        }
        let depth = levels.len() - 1;
        child(&mut levels[depth], cursor.node(), depth, source, out);
    }
}

/// Reports what begins with a node inside an element.
fn child(inside: &mut Inside, node: Node<'_>, depth: usize, source: &str, out: &mut DocumentBuilder) {
    let range = node.byte_range();
    let lead = inside.lead.take();
    let leads_in = |at: usize| lead.is_some_and(|end| lines::breaks(source, end, at) <= 1);
    match node.kind() {
        "element" | "script_element" | "style_element" | "comment" => {
            if !inside.fresh && !leads_in(range.start) && lines::starts_line(source, range.start) {
                out.seam(range.start, depth);
            }
            inside.fresh = false;
            inside.lead = (node.kind() == "comment").then_some(range.end);
        }
        "text" => {
            let mut at = range.start;
            for line in source[range].split_inclusive('\n') {
                let start = at + (line.len() - line.trim_start().len());
                at += line.len();
                let opens = line.trim_start().starts_with("{#");
                if opens && !inside.fresh && lines::starts_line(source, start) {
                    out.seam(start, depth);
                }
                inside.fresh &= line.trim().is_empty();
                inside.lead = (opens || line.trim_start().starts_with("{:")).then_some(at);
            }
        }
        _ => {}
    }
}
