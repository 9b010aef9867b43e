//! What a query says beside its words: `symbol:render path:src/* -path:tests/ how are pages made`.

use crate::store::Filter;
use chunkwright::SummaryKind;

/// A query that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A condition was given twice.
    #[error("`{key}:` was given twice; a chunk has one value")]
    Twice {
        /// The condition.
        key: String,
    },
    /// Only paths can be left out.
    #[error("`-{key}:` is not known; only `-path:` leaves something out")]
    Negated {
        /// The condition.
        key: String,
    },
    /// No artifact has this name.
    #[error("unknown artifact `{name}`; known are {}", artifacts())]
    Artifact {
        /// The name that was asked for.
        name: String,
    },
}

/// The names that `artifact` takes, in backticks.
fn artifacts() -> String {
    let kinds = SummaryKind::ALL.iter().map(|kind| kind.name());
    let names = Filter::ARTIFACTS.iter().copied().chain(kinds);
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Conditions that a query may hold, as words `KEY:VALUE`.
const KEYS: &[&str] = &["symbol", "path", "lang", "language", "artifact", "category", "type"];

/// Takes the conditions out of a query: the words that are left, and `filter` with the conditions added.
///
/// `symbol:NAME` (qualified as far as wanted), `path:PATTERN` and `-path:PATTERN` (`*` stands for any text;
/// without one, anywhere in the path), `lang:NAME`, `artifact:NAME`, `category:NAME`, `type:CONTENT_TYPE`. A
/// value may stand in quotes. Other words with a colon are words.
///
/// # Errors
///
/// A condition that is given twice or cannot be negated, and an unknown artifact.
pub fn parse_query(query: &str, mut filter: Filter) -> Result<(String, Filter), QueryError> {
    let mut words: Vec<&str> = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let Some((key, negated, after)) = condition(rest) else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            words.push(&rest[..end]);
            rest = rest[end..].trim_start();
            continue;
        };
        let (value, after) = value(after);
        add(&mut filter, key, negated, value)?;
        rest = after.trim_start();
    }
    // A symbol alone is looked for by its name.
    let words = if words.is_empty() { filter.symbol.clone().unwrap_or_default() } else { words.join(" ") };
    Ok((words, filter))
}

/// Adds a condition to a filter.
///
/// # Errors
///
/// As [`parse_query`].
fn add(filter: &mut Filter, key: &str, negated: bool, value: &str) -> Result<(), QueryError> {
    if negated && key != "path" {
        return Err(QueryError::Negated { key: key.into() });
    }
    if negated {
        filter.not_doc_ids.push(anywhere(value));
        return Ok(());
    }
    let (field, value) = match key {
        "symbol" => (&mut filter.symbol, value.to_owned()),
        "path" => (&mut filter.doc_id, anywhere(value)),
        "artifact" => (&mut filter.artifact, check_artifact(value)?),
        "category" => (&mut filter.category, value.to_owned()),
        "type" => (&mut filter.content_type, value.to_owned()),
        _ => (&mut filter.language, value.to_lowercase()),
    };
    match field.replace(value) {
        Some(_) => Err(QueryError::Twice { key: key.into() }),
        None => Ok(()),
    }
}

/// Checks the name of an artifact.
///
/// # Errors
///
/// [`QueryError::Artifact`] if there is none.
pub fn check_artifact(name: &str) -> Result<String, QueryError> {
    let known = Filter::ARTIFACTS.contains(&name) || SummaryKind::ALL.iter().any(|kind| kind.name() == name);
    if known { Ok(name.into()) } else { Err(QueryError::Artifact { name: name.into() }) }
}

/// The condition that `text` begins with: its key, whether it is negated, and what follows.
fn condition(text: &str) -> Option<(&'static str, bool, &str)> {
    let (negated, plain) = text.strip_prefix('-').map_or((false, text), |plain| (true, plain));
    let key = KEYS.iter().find(|key| plain.strip_prefix(**key).is_some_and(|rest| rest.starts_with(':')))?;
    let after = &plain[key.len() + 1..];
    // `std::path::Path` and `type: ignore` are words.
    (!after.starts_with([':', ' ']) && !after.is_empty()).then_some((*key, negated, after))
}

/// The value at the start of `text`, quotes taken off, and what follows.
fn value(text: &str) -> (&str, &str) {
    if let Some((value, after)) = text.strip_prefix('"').and_then(|text| text.split_once('"')) {
        return (value, after);
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// A pattern of a path; one without a star may stand anywhere in it.
fn anywhere(pattern: &str) -> String {
    if pattern.contains('*') { pattern.into() } else { format!("*{pattern}*") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_taken_out_of_a_query() {
        let query = r#"how symbol:Report.render path:src/* -path:tests/ -path:"a b" lang:Rust are pages std::path::Path made"#;
        let (words, filter) = parse_query(query, Filter::default()).expect("a query");
        assert_eq!(words, "how are pages std::path::Path made");
        assert_eq!(filter.symbol.as_deref(), Some("Report.render"));
        assert_eq!(filter.doc_id.as_deref(), Some("src/*"));
        assert_eq!(filter.not_doc_ids, ["*tests/*", "*a b*"]);
        assert_eq!(filter.language.as_deref(), Some("rust"));
    }

    #[test]
    fn what_cannot_be_understood_says_what_would_be_right() {
        let error = |query: &str| parse_query(query, Filter::default()).expect_err(query).to_string();
        assert_eq!(error("path:a path:b"), "`path:` was given twice; a chunk has one value");
        assert_eq!(error("-symbol:a"), "`-symbol:` is not known; only `-path:` leaves something out");
        assert!(
            error("artifact:notes").starts_with("unknown artifact `notes`; known are `chunk`, `summary`")
        );
    }
}
