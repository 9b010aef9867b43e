//! Statements of MDX: `import`, `export`, and expressions in braces.
//!
//! They are JavaScript, which may hold blank lines and anything that looks like Markdown, so they are read as such: a
//! statement ends with the line on which no bracket, template or comment is open, before a blank line.

use std::ops::Range;

/// Longest statement in bytes, and most bytes that may be read of what turns out to be none.
const MAX_STATEMENT: usize = 1 << 16;
const MAX_LOST: usize = 1 << 20;

/// Finds the statements of a document.
#[derive(Default)]
pub(super) struct Modules {
    /// Those found so far, in order.
    pub(super) found: Vec<Range<usize>>,
    /// Bytes read of what was none.
    lost: usize,
}

impl Modules {
    /// The statement that begins at byte `start`, the beginning of a line between two blocks.
    pub(super) fn read(&mut self, source: &str, start: usize) -> Option<Range<usize>> {
        if self.lost > MAX_LOST || !begins(&source[start..]) {
            return None;
        }
        let near = &source.as_bytes()[start..source.len().min(start + MAX_STATEMENT)];
        let length = length(near, start + near.len() == source.len());
        match length {
            Some(length) => self.found.push(start..start + length),
            None => self.lost += near.len(),
        }
        length.map(|length| start..start + length)
    }
}

/// Whether a line begins a statement.
pub(super) fn begins(line: &str) -> bool {
    let rest = line.strip_prefix("import").or_else(|| line.strip_prefix("export"));
    line.starts_with('{') || rest.is_some_and(|rest| rest.starts_with([' ', '{', '"', '\'', '*']))
}

/// Length of the statement that `text` begins with; `None` if it is not closed.
fn length(text: &[u8], is_all: bool) -> Option<usize> {
    // Brackets that are open, and how many were at each `${` of a template.
    let (mut open, mut templates) = (0_usize, Vec::new());
    let mut in_template = false;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'`' => in_template = !in_template,
            b'$' if in_template && text.get(at) == Some(&b'{') => {
                templates.push(open);
                (open, in_template, at) = (open + 1, false, at + 1);
            }
            _ if in_template => {}
            b'"' | b'\'' => {
                let end = text[at..].iter().position(|&end| end == byte || end == b'\n')?;
                at += end + usize::from(text[at + end] == byte);
            }
            b'/' if text.get(at) == Some(&b'/') => {
                at += text[at..].iter().position(|&end| end == b'\n').unwrap_or(0);
            }
            b'/' if text.get(at) == Some(&b'*') => at += memchr::memmem::find(&text[at..], b"*/")? + 2,
            b'{' | b'(' | b'[' => open += 1,
            b'}' | b')' | b']' => {
                open = open.checked_sub(1)?;
                // What a template inserts has ended.
                in_template = templates.pop_if(|around| *around == open).is_some();
            }
            b'\n' if open == 0 && text[at..].split(|&end| end == b'\n').next()?.trim_ascii().is_empty() => {
                return Some(at);
            }
            _ => {}
        }
    }
    (is_all && open == 0 && !in_template).then_some(text.len())
}
