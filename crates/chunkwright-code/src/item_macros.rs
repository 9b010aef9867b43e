//! Macros around items: `cfg_rt! { pub fn spawn() {} }`.
//!
//! To the grammar, the content of a macro's braces is a list of tokens. Where it can be read as items, a copy of the
//! source is parsed in which the opening of the macro is an attribute of its first item and the closing brace an empty
//! statement: `#[a ] pub fn spawn() {} ;`. The copy has the same length, so spans are those of the source.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::compiled::Compiled;
use crate::language::Role;

/// Macros within macros that are looked into.
const MAX_DEPTH: usize = 4;

/// `source`, which was read as `tree`, with each macro opened that has symbols in its braces; `None` if no macro has.
/// `parse` reads what stands between braces.
pub(crate) fn opened(
    language: &Compiled,
    tree: &Tree,
    source: &str,
    parse: &dyn Fn(&str) -> Option<Tree>,
) -> Option<String> {
    let mut changes = Vec::new();
    find(language, tree, source, parse, MAX_DEPTH, &mut changes);
    if changes.is_empty() {
        return None;
    }
    let mut copy = source.to_owned();
    for (range, change) in changes {
        copy.replace_range(range, &change);
    }
    Some(copy)
}

/// A part of a source, and its replacement for parsing.
type Change = (Range<usize>, String);

/// Adds the changes that open the macros of `source`, and returns whether it declares a symbol.
fn find(
    language: &Compiled,
    tree: &Tree,
    source: &str,
    parse: &dyn Fn(&str) -> Option<Tree>,
    depth: usize,
    changes: &mut Vec<Change>,
) -> bool {
    let mut has_symbols = false;
    let mut cursor = tree.walk();
    let mut enters = true;
    loop {
        if enters && cursor.goto_first_child() || cursor.goto_next_sibling() {
            let node = cursor.node();
            let role = language.kind(node).role;
            has_symbols |= matches!(role, Role::Function(_) | Role::Type(_));
            enters = matches!(role, Role::Type(_) | Role::Inline);
            let call = std::iter::successors(Some(node), |node| node.named_child(0)).take(2);
            if let Some(call) = call.into_iter().find(|node| language.kind(*node).role == Role::ItemMacro) {
                has_symbols |= open(language, call, source, parse, depth, changes);
            }
        } else if cursor.goto_parent() {
            enters = false;
        } else {
            return has_symbols;
        }
    }
}

/// Adds the changes that open one macro, and those in its braces. Returns whether it has symbols there.
fn open(
    language: &Compiled,
    call: Node<'_>,
    source: &str,
    parse: &dyn Fn(&str) -> Option<Tree>,
    depth: usize,
    changes: &mut Vec<Change>,
) -> bool {
    let items = || {
        let last = call.named_child(call.named_child_count().checked_sub(1)? as u32)?;
        let inside = last.start_byte() + 1..last.end_byte().checked_sub(1)?;
        let has_braces =
            source.get(last.byte_range())?.starts_with('{') && source.get(inside.end..)?.starts_with('}');
        let head = call.start_byte()..inside.start;
        Some((attribute(source.get(head.clone())?)?, head, inside)).filter(|_| has_braces)
    };
    let Some((attribute, head, inside)) = items().filter(|_| depth > 0) else { return false };
    let text = &source[inside.clone()];
    let Some(tree) = parse(text).filter(|tree| !tree.root_node().has_error()) else { return false };
    let mut inner = Vec::new();
    if !find(language, &tree, text, parse, depth - 1, &mut inner) {
        return false;
    }
    changes.push((head, attribute));
    let within = |(range, change): Change| (range.start + inside.start..range.end + inside.start, change);
    changes.extend(inner.into_iter().map(within));
    changes.push((inside.end..inside.end + 1, ";".into()));
    true
}

/// An attribute as long as the opening of a macro, with the same lines.
fn attribute(head: &str) -> Option<String> {
    let blank = |c: char| if matches!(c, '\n' | '\r') { c } else { ' ' };
    let rest = head.strip_suffix('{').filter(|rest| rest.is_ascii())?.get(3..)?;
    (!head[..3].contains(['\n', '\r']))
        .then(|| format!("#[a{}]", rest.chars().map(blank).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn the_opening_of_a_macro_is_an_attribute_of_the_same_length() {
        for (head, expected) in [
            ("cfg_rt! {", Some("#[a     ]")),
            ("m! {", Some("#[a]")),
            ("a::b!\n  {", Some("#[a  \n  ]")),
            ("m!{", None),
            ("m!\n{", None),
            ("m\u{e9}! {", None),
        ] {
            assert_eq!(attribute(head).as_deref(), expected, "{head:?}");
        }
    }
}
