//! The fields of a data file that is metadata: each key at the top with the texts that it holds.

use super::{Members, unquoted};
use crate::span::Span;

/// A key outside all others.
pub(in crate::parse) struct Field {
    pub(in crate::parse) name: String,
    /// Its value, or the elements of its list.
    pub(in crate::parse) texts: Vec<String>,
    /// The key with its value.
    pub(in crate::parse) span: Span,
}

/// Most texts of a field.
const MAX_TEXTS: usize = 64;

/// A table whose keys count as keys at the top: Zola has tags and categories in it.
const TRANSPARENT: &str = "taxonomies";

impl Members {
    /// The fields of `source`; `None` if something at the top has no key, so that it is not a mapping.
    pub(in crate::parse) fn fields(mut self, source: &str) -> Option<Vec<Field>> {
        self.finish(source);
        let mut fields: Vec<Field> = Vec::new();
        // Depth of the keys that count as fields: 0, or 1 inside a transparent table.
        let mut top = 0;
        for member in &self.all {
            let key = || unquoted(member.key.of(source));
            if member.depth == 0 {
                if member.key.is_empty() {
                    return None;
                }
                top = u32::from(key() == TRANSPARENT);
            }
            if member.depth == top && !member.key.is_empty() {
                let texts = if member.value.is_empty() {
                    Vec::new()
                } else {
                    texts(source, member.value, member.span)
                };
                fields.push(Field { name: key().into_owned(), texts, span: member.span });
            } else if member.depth > top
                && !member.value.is_empty()
                && (member.key.is_empty() || key() == "name")
            {
                // An element of a list, or the name of an author with more about them.
                let Some(field) = fields.last_mut().filter(|field| field.texts.len() < MAX_TEXTS) else {
                    continue;
                };
                field.texts.extend(texts(source, member.value, member.span));
            }
        }
        Some(fields)
    }
}

/// The texts of a value, which may be a list in brackets and may continue to the end of its member.
fn texts(source: &str, value: Span, member: Span) -> Vec<String> {
    let (start, end) = (value.start as usize, (member.end as usize).max(value.end as usize));
    let first = value.of(source);
    // What follows on the same line is a comment.
    let whole = if source[start..end].contains('\n') { &source[start..end] } else { first };
    let block = first.trim_end_matches(['+', '-']);
    let whole = if matches!(block, "|" | ">") { &whole[first.len()..] } else { whole };
    let words: Vec<&str> = whole.split_whitespace().collect();
    let line = words.join(" ");
    match line.strip_prefix('[').and_then(|list| list.trim_end_matches(',').strip_suffix(']')) {
        Some(list) => elements(list),
        None => text(&line).into_iter().collect(),
    }
}

/// The elements of a list, commas inside quotes left alone.
fn elements(list: &str) -> Vec<String> {
    let mut quote = None;
    let parts = list.split(|c| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        quote.is_none() && c == ','
    });
    parts.filter_map(text).take(MAX_TEXTS).collect()
}

/// A scalar without quotes, unless it says nothing.
fn text(scalar: &str) -> Option<String> {
    let scalar = scalar.trim();
    let long = ["\"\"\"", "'''"].iter().find_map(|quote| scalar.strip_prefix(quote)?.strip_suffix(quote));
    let text = long.map_or_else(|| unquoted(scalar), Into::into);
    let text = text.trim();
    (!matches!(text, "" | "~" | "null" | "{}")).then(|| text.to_owned())
}
