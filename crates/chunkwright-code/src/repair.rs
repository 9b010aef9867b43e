//! Repairs brackets by layout: changes source whose syntax is broken so that it parses as its lines are indented.
//!
//! To a parser one lost brace makes the rest of a file the body of one function, which changes every chunk of it. But
//! indentation still shows what the author meant. Where brackets and indentation disagree, a bracket is written or
//! blanked in a copy of the same length that is parsed in place of the source; texts and spans are those of the source.
//! A copy is only used if it has fewer errors, and only source with errors is repaired.

mod indentation;
mod layout;
mod line;

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::Tree;

use self::layout::{Repair, Repairs};
use crate::language::Language;
use crate::parser::{Parsed, errors};

/// Most parses of broken source: unchanged, with repairs made together, alone, without lines, and the best.
const MOST_PARSES: usize = 1 + 3 + layout::MOST_ALONE + 2 + 1;

/// Bytes that are parsed at most for the sake of repairs, but for two attempts.
const MOST_BYTES: usize = 2 << 20;

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
/// There is one tree at a time: they are large.
pub(crate) fn least_broken(
    source: &str,
    language: &Language,
    parse: &dyn Fn(&str) -> Option<Parsed>,
) -> Option<Tree> {
    let indented = indentation::repair(source, language);
    let source =
        &*if indented.is_empty() { Cow::Borrowed(source) } else { layout::made(source, &[&indented]).into() };
    let Parsed { tree, was_hard } = parse(source)?;
    if was_hard || !tree.root_node().has_error() {
        return Some(tree);
    }
    let damage = Damage::of(&tree, source);
    let lines = source.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let is_hopeless = damage.count > (lines / 4).clamp(MANY_ERRORS.start, MANY_ERRORS.end);
    if damage.wide == 0 || is_hopeless || source.len() / lines > LONG_LINE {
        return Some(tree);
    }
    drop(tree);
    let whole = Attempt { text: source.to_owned(), damage };
    let mut left = (MOST_BYTES / source.len().max(1)).clamp(2, MOST_PARSES);
    let mut attempt = |copy: &Attempt, repairs: &[&Repair]| {
        left = left.checked_sub(1)?;
        let text = layout::made(&copy.text, repairs);
        let Some(Parsed { tree, was_hard: false }) = parse(&text) else {
            left = 0;
            return None;
        };
        let damage = Damage::of(&tree, &text);
        Some((Attempt { text, damage }, (damage.count == 0).then_some(tree)))
    };
    let repairs = Repairs::of(source, language);
    let mut best = whole.clone();
    // All together; else one after the other, each kept that makes it better.
    for together in repairs.together() {
        match attempt(&whole, &together) {
            Some((_, Some(tree))) => return Some(tree),
            Some((copy, None)) => best = best.or(copy),
            None => {}
        }
    }
    let mut alone = whole;
    for repair in repairs.alone(alone.damage) {
        match attempt(&alone, &[repair]) {
            Some((_, Some(tree))) => return Some(tree),
            Some((copy, None)) => alone = alone.or(copy),
            None => {}
        }
    }
    best = best.or(alone);
    // A line that costs more than itself is left out, if the rest is whole then.
    let is_wide = best.damage.wide > 0;
    for line in layout::lines_of_error(&best.text, best.damage.first, language).iter().filter(|_| is_wide) {
        if let Some((_, Some(tree))) = attempt(&best, &[line]) {
            return Some(tree);
        }
    }
    parse(&best.text).map(|parsed| parsed.tree)
}

/// A copy of a source that was parsed, and how broken it is.
#[derive(Clone)]
struct Attempt {
    text: String,
    damage: Damage,
}

impl Attempt {
    /// The less broken of two.
    fn or(self, other: Self) -> Self {
        if other.damage.is_less_than(self.damage) { other } else { self }
    }
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
    /// Position of the first of them.
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
                damage.first = damage.first.min(node.start_byte());
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
    fn broken_source_is_parsed_a_few_times_whatever_its_length() {
        let parser =
            LANGUAGES.iter().find(|parser| parser.language().name == "rust").expect("Rust is built in");
        // Nothing repairs this: each function has lost something else.
        let broken =
            "fn f(x: u8 {\n    g(\"x);\n    if x {\n        h(;\n}\n}\n\nfn ) {\n    let 'y = [;\n}\n\n";
        for times in [1, 2, 4, 8] {
            let source = broken.repeat(40 * times);
            let bytes = Cell::new(0);
            let parse = |text: &str| {
                bytes.set(bytes.get() + text.len());
                parser.tree(text)
            };
            assert!(least_broken(&source, parser.language(), &parse).is_some());
            assert!(bytes.get() <= MOST_PARSES * source.len(), "{} bytes of {}", bytes.get(), source.len());
        }
        let count = Cell::new(0);
        let parse = |text: &str| {
            count.set(count.get() + 1);
            parser.tree(text)
        };
        assert!(least_broken("fn f() {}\n", parser.language(), &parse).is_some());
        assert_eq!(count.get(), 1, "what is not broken is parsed once");
    }
}
