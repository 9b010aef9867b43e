//! What a reader is shown of a record.

use super::Record;

impl Record {
    /// The text that a reader is shown: the content, or what stands for it in `text`, where that was rendered (HTML,
    /// notebooks), written about a symbol (a summary) or edited by hand. Line breaks alone make no difference.
    pub fn shown(&self) -> &str {
        let Some(body) = self.text.strip_prefix(&*self.context) else { return &self.text };
        if self.artifact.is_some() || !says(body, &self.content) { body } else { &self.content }
    }

    /// The part of the context that its path and heading path do not say: the lines that announce a class, the header
    /// of a table, the opening of a fence.
    pub fn borrowed(&self) -> &str {
        let mut rest = self.context.as_str();
        while let Some(line) = rest.split_inclusive('\n').next() {
            let said = line.trim();
            let is_path = said.contains(&*self.doc_id) && said.len() <= self.doc_id.len() + COMMENT;
            let said = said.trim_start_matches('#').trim_start();
            let mut titles = (0..self.section_path.len()).map(|from| self.section_path[from..].join(" > "));
            let is_title = self.language.is_none()
                && (titles.any(|path| path == said) || self.section_path.iter().any(|title| title == said));
            if !(said.is_empty() || is_path || is_title) {
                break;
            }
            rest = &rest[line.len()..];
        }
        rest
    }
}

/// Most bytes of the marks of a comment and the blanks in them.
const COMMENT: usize = 12;

/// Whether `body` is `content` and perhaps the fence that closes it; lines may end otherwise.
fn says(body: &str, content: &str) -> bool {
    let mut rest = body.bytes().filter(|byte| *byte != b'\r');
    content.bytes().filter(|byte| *byte != b'\r').all(|byte| rest.next() == Some(byte))
        && rest.all(|byte| matches!(byte, b'`' | b'~') || byte.is_ascii_whitespace())
}
