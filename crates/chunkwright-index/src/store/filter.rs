//! Which chunks a search may find.

use chunkwright::Record;
use serde::{Deserialize, Serialize};

/// Which chunks a search may find. Empty fields let everything pass, but that summaries are found only
/// where `artifact` asks for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Pattern of the document's id; `*` stands for any text, `/` included.
    pub doc_id: Option<String>,
    /// Patterns of ids of documents that are left out.
    pub not_doc_ids: Vec<String>,
    /// `api`, `doc`, `demo`, `code`, ...
    pub category: Option<String>,
    /// Programming or natural language.
    pub language: Option<String>,
    /// `paragraph`, `function`, ...
    pub content_type: Option<String>,
    /// Name of a symbol that the chunk holds some of: `render`, or qualified as far as wanted,
    /// `Report.render`.
    pub symbol: Option<String>,
    /// `chunk`, `function_summary`, `class_summary`, `file_summary`, `summary` for all of these, or `all`.
    /// None: chunks.
    pub artifact: Option<String>,
}

/// What filters ask of a chunk beside its document's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts<'a> {
    pub(crate) category: &'a str,
    pub(crate) language: Option<&'a str>,
    pub(crate) content_type: &'a str,
    pub(crate) artifact: Option<&'a str>,
    /// By [`symbol_lines`].
    pub(crate) symbols: &'a str,
}

impl Filter {
    /// Values of `artifact` that are no kind of summary.
    pub const ARTIFACTS: &[&str] = &["chunk", "summary", "all"];

    /// Whether every chunk passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the document's id passes.
    pub(crate) fn passes_doc_id(&self, doc_id: &str) -> bool {
        self.doc_id.as_deref().is_none_or(|pattern| matches_pattern(pattern, doc_id))
            && !self.not_doc_ids.iter().any(|pattern| matches_pattern(pattern, doc_id))
    }

    /// Whether what a chunk says of itself passes.
    pub(crate) fn passes(&self, facts: Facts<'_>) -> bool {
        let is =
            |wanted: &Option<String>, value| wanted.as_deref().is_none_or(|wanted| Some(wanted) == value);
        is(&self.category, Some(facts.category))
            && is(&self.language, facts.language)
            && is(&self.content_type, Some(facts.content_type))
            && self.passes_artifact(facts.artifact)
            && self.symbol_line().is_none_or(|line| facts.symbols.contains(&line))
    }

    pub(crate) fn passes_artifact(&self, artifact: Option<&str>) -> bool {
        match self.artifact.as_deref() {
            None | Some("chunk") => artifact.is_none(),
            Some("all") => true,
            Some("summary") => artifact.is_some(),
            wanted => wanted == artifact,
        }
    }

    /// The line that [`symbol_lines`] of a chunk with the symbol has.
    pub(crate) fn symbol_line(&self) -> Option<String> {
        self.symbol.as_deref().map(|symbol| format!("\n{}\n", symbol.replace("::", ".")))
    }
}

/// The names by which a chunk's symbols may be asked for, a line each, `\n` at both ends: each qualified
/// name and what follows a dot in it. `::` counts as a dot.
pub(crate) fn symbol_lines(record: &Record) -> String {
    let names = record.symbols.as_ref().map_or(&[][..], |symbols| &symbols.names);
    let mut lines = String::new();
    for name in names {
        let name = name.replace("::", ".");
        let ends = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
        for end in [name.as_str()].into_iter().chain(ends) {
            let line = format!("\n{end}\n");
            if !lines.contains(&line) {
                lines.push_str(if lines.is_empty() { &line } else { &line[1..] });
            }
        }
    }
    lines
}

/// Whether `text` is what `pattern` says, in which `*` stands for any text. Linear but for the number
/// of stars.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_ids() {
        for (pattern, text, expected) in [
            ("a.md", "a.md", true),
            ("a.md", "b/a.md", false),
            ("docs/*", "docs/x/a.md", true),
            ("*.md", "docs/a.md", true),
            ("*.md", "docs/a.mdx", false),
            ("d*s/*.md", "docs/a.md", true),
            ("*", "", true),
            ("a*a", "a", false),
            ("", "a", false),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
