//! Repairs brackets by layout: changes source whose syntax is broken so that it parses as its lines are indented.
//!
//! To a parser one lost brace makes the rest of a file the body of one function, which changes every chunk of it. But
//! indentation still shows what the author meant. Where brackets and indentation disagree, a bracket is written or
//! blanked in a copy of the same length that is parsed in place of the source; texts and spans are those of the source.
//! A copy is only used if it has fewer errors, and only source with errors is repaired.

mod indentation;
mod layout;

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::Tree;

use self::layout::Repair;
use crate::language::Language;
use crate::parser::{Parsed, errors};

/// Most parses of a source: unchanged, and with two changes, each kept if it helps.
const MOST_PARSES: usize = 3;

/// Errors with which a source is not one that a few repairs make whole: one for four lines, but within this.
const MANY_ERRORS: Range<usize> = 64..256;

/// Average bytes of a line from which on indentation means nothing.
const LONG_LINE: usize = 200;

/// The syntax tree of `source` as `parse` gives it, or of a copy of the same length that has fewer errors because its
/// brackets are as its lines are indented. `None` where parsing would cost too much.
///
/// Lines that stand where none can are put right first: a grammar may see no error in them.
///
/// Source without errors is parsed once, and so is source that is hard to parse, whose errors end where they begin, or
/// that has many of them.
pub(crate) fn least_broken(
    source: &str,
    language: &Language,
    parse: &dyn Fn(&str) -> Option<Parsed>,
) -> Option<Tree> {
    let indented = indentation::repair(source, language);
    let source =
        if indented.is_empty() { Cow::Borrowed(source) } else { layout::made(source, &indented).into() };
    let Parsed { tree, was_hard } = parse(&source)?;
    if was_hard || !tree.root_node().has_error() {
        return Some(tree);
    }
    let damage = Damage::of(&tree, &source);
    let lines = source.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let is_hopeless = damage.count > (lines / 4).clamp(MANY_ERRORS.start, MANY_ERRORS.end);
    if damage.wide == 0 || is_hopeless || source.len() / lines > LONG_LINE {
        return Some(tree);
    }
    let changed = |text: &str, repair: &Repair| {
        let text = layout::made(text, repair);
        let Parsed { tree, .. } = parse(&text).filter(|parsed| !parsed.was_hard)?;
        Some(Attempt { damage: Damage::of(&tree, &text), tree, text })
    };
    let mut repairs = layout::repairs(&source, language, damage.first);
    repairs.truncate(MOST_PARSES - 1);
    let mut best = Attempt { text: source.into_owned(), tree, damage };
    for repair in &repairs {
        let Some(attempt) = changed(&best.text, repair) else { return Some(best.tree) };
        if attempt.damage.is_less_than(best.damage) {
            best = attempt;
        }
        if best.damage.count == 0 {
            return Some(best.tree);
        }
    }
    // A line that costs more than itself is left out, if the rest is whole then.
    let lines = layout::lines_of_error(&best.text, best.damage.first, language);
    for line in lines.iter().take(MOST_PARSES - 1 - repairs.len()).filter(|_| best.damage.wide > 0) {
        let Some(attempt) = changed(&best.text, line) else { break };
        if attempt.damage.count == 0 {
            return Some(attempt.tree);
        }
    }
    Some(best.tree)
}

/// A text that was parsed, and how broken it is.
struct Attempt {
    text: String,
    tree: Tree,
    damage: Damage,
}

/// How broken a tree is.
#[derive(Clone, Copy)]
struct Damage {
    /// Errors, and tokens that the parser had to add.
    count: usize,
    /// Those of them that change more than a line: what was added, errors of several lines, and brackets too many.
    wide: usize,
    /// Bytes that stand in errors.
    bytes: usize,
    /// Position of the first of them that holds no other.
    first: usize,
}

/// Bytes of a line of code: a repair that saves fewer bytes from errors proves nothing.
const LINE: usize = 80;

impl Damage {
    fn of(tree: &Tree, text: &str) -> Self {
        let mut cursor = tree.walk();
        let mut damage = Self { count: 0, wide: 0, bytes: errors(tree), first: usize::MAX };
        let mut depth = 0_usize;
        loop {
            let node = cursor.node();
            if node.is_error() || node.is_missing() {
                let text = text.get(node.byte_range()).unwrap_or_default();
                let is_wide = node.is_missing()
                    || text.contains('\n')
                    || text.bytes().all(|byte| b"{}()[];, ".contains(&byte));
                damage.count += 1;
                damage.wide += usize::from(is_wide);
                if !node.children(&mut node.walk()).any(|child| child.has_error()) {
                    damage.first = damage.first.min(node.start_byte());
                }
            }
            if node.has_error() && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if depth == 0 {
                    return damage;
                }
                cursor.goto_parent();
                depth -= 1;
            }
        }
    }

    fn is_less_than(self, other: Self) -> bool {
        let more = self.bytes > other.bytes + LINE;
        let fewer = self.bytes + LINE < other.bytes;
        self.wide < other.wide && !more || self.wide == other.wide && fewer
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::LANGUAGES;

    #[test]
    fn a_source_is_parsed_at_most_three_times_whatever_its_length() {
        let rust = LANGUAGES.iter().find(|known| known.language().name == "rust").expect("Rust is built in");
        let parses = |source: &str| {
            let count = Cell::new(0);
            let parse = |text: &str| {
                assert_eq!(text.len(), source.len());
                count.set(count.get() + 1);
                rust.tree(text)
            };
            assert!(least_broken(source, rust.language(), &parse).is_some());
            count.get()
        };
        // Nothing repairs this: each function has lost something else.
        let broken =
            "fn f(x: u8 {\n    g(\"x);\n    if x {\n        h(;\n}\n}\n\nfn ) {\n    let 'y = [;\n}\n\n";
        let whole = "fn f() {\n    if x {\n        g();\n    }\n}\n\nfn h() {\n    g();\n}\n";
        assert_eq!(parses(whole), 1, "no error");
        assert_eq!(parses(&whole.replacen("    }\n", "", 1)), 2, "one bracket");
        for times in [1, 2, 4, 8] {
            assert_eq!(parses(&(broken.to_owned() + &whole.repeat(40 * times))), MOST_PARSES, "{times}");
            assert!(parses(&broken.repeat(40 * times)) <= MOST_PARSES, "{times}");
        }
    }
}
