//! Branches of a preprocessor that open or close braces which another branch opens or closes, too.
//!
//! Each branch of `#ifdef A` .. `if (a) {` .. `#else` .. `if (b) {` .. `#endif` is meant to be read alone. A grammar reads
//! both, so one brace is never closed, and the functions below become part of this one. Where a branch is not balanced,
//! the source is parsed with its first branch only; the others and the directives are blanks of the same length.

use std::ops::Range;

/// A conditional that is not closed yet.
struct Open {
    /// The lines of its directives.
    directives: Vec<Range<usize>>,
    /// Of each branch so far, the braces that it opens and does not close, and whether it closes some from above.
    branches: Vec<(i32, bool)>,
    /// Of the branch that is read, the braces that are open.
    depth: i32,
    dips: bool,
}

/// `source` with only the first branch of each conditional whose branches are not balanced, or `None` if there is none.
pub(crate) fn first_branches(source: &str) -> Option<String> {
    let mut blanks: Vec<Range<usize>> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let (mut at, mut in_comment) = (0, false);
    for line in source.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let word = line.trim_start().strip_prefix('#').filter(|_| !in_comment).map(str::trim_start);
        let Some(word) = word else {
            let (depth, least) = braces(line, &mut in_comment);
            if let Some(open) = open.last_mut() {
                open.dips |= open.depth + least < 0;
                open.depth += depth;
            }
            continue;
        };
        if word.starts_with("if") {
            open.push(Open { directives: vec![range], branches: Vec::new(), depth: 0, dips: false });
            continue;
        }
        let is_else = word.starts_with("el");
        let Some(last) = open.last_mut().filter(|_| is_else || word.starts_with("endif")) else { continue };
        last.directives.push(range);
        last.branches.push((last.depth, last.dips));
        (last.depth, last.dips) = (0, false);
        if is_else {
            continue;
        }
        let Some(Open { directives, branches, .. }) = open.pop() else { continue };
        let (depth, _) = branches[0];
        let is_even = branches.iter().all(|&branch| branch == (0, false));
        if branches.len() > 1 && !is_even && branches.iter().all(|&(other, _)| other == depth) {
            blanks.push(directives[0].clone());
            blanks.push(directives[1].start..directives[directives.len() - 1].end);
        }
        if let Some(around) = open.last_mut() {
            around.depth += depth;
            around.dips |= around.depth < 0;
        }
    }
    if blanks.is_empty() {
        return None;
    }
    let mut bytes = source.as_bytes().to_owned();
    for range in blanks {
        bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).ok()
}

/// Braces that a line opens and does not close, and the least of that sum on the way; strings and comments left out.
fn braces(line: &str, in_comment: &mut bool) -> (i32, i32) {
    let bytes = line.as_bytes();
    let (mut depth, mut least, mut at) = (0, 0, 0);
    while at < bytes.len() {
        match (&bytes[at..], *in_comment) {
            ([b'*', b'/', ..], true) => {
                *in_comment = false;
                at += 1;
            }
            (_, true) => {}
            ([b'/', b'/', ..], _) => break,
            ([b'/', b'*', ..], _) => {
                *in_comment = true;
                at += 1;
            }
            ([quote @ (b'"' | b'\''), ..], _) => {
                at += 1;
                while at < bytes.len() && bytes[at] != *quote {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            ([b'{', ..], _) => depth += 1,
            ([b'}', ..], _) => {
                depth -= 1;
                least = least.min(depth);
            }
            _ => {}
        }
        at += 1;
    }
    (depth, least)
}
