//! Which chunks a search may find.

use serde::{Deserialize, Serialize};

/// Which chunks a search may find. Empty fields let everything pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Pattern of the document's id; `*` stands for any text, `/` included.
    pub doc_id: Option<String>,
    /// `api`, `doc`, `demo`, `code`, ...
    pub category: Option<String>,
    /// Programming or natural language.
    pub language: Option<String>,
    /// `paragraph`, `function`, ...
    pub content_type: Option<String>,
}

impl Filter {
    /// Whether every chunk passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the document's id passes.
    pub(crate) fn passes_doc_id(&self, doc_id: &str) -> bool {
        self.doc_id.as_deref().is_none_or(|pattern| matches_pattern(pattern, doc_id))
    }

    /// Whether what a chunk says of itself passes.
    pub(crate) fn passes_facts(&self, category: &str, language: Option<&str>, content_type: &str) -> bool {
        self.category.as_deref().is_none_or(|wanted| wanted == category)
            && self.language.as_deref().is_none_or(|wanted| Some(wanted) == language)
            && self.content_type.as_deref().is_none_or(|wanted| wanted == content_type)
    }
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
