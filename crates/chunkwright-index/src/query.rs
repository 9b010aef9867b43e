//! Query syntax and limits: `symbol:render path:src/* -path:tests/ how are pages made`.

use std::borrow::Cow;

use chunkwright_store::analysis;
use chunkwright_store::bm25::query_ids;
use chunkwright_store::filter::{Condition, Field, Filter, FilterError, quoted};

/// Longest query, in characters.
pub const MAX_QUERY_CHARS: usize = 10_000;

/// Most distinct terms of a query.
pub const MAX_QUERY_TERMS: usize = 4_096;

/// Errors of queries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// It has too many characters.
    #[error("the query has {chars} characters; the limit is {MAX_QUERY_CHARS}: ask for less at once")]
    Long {
        /// How many it has.
        chars: usize,
    },
    /// It has too many terms.
    #[error("the query has {terms} different terms; the limit is {MAX_QUERY_TERMS}: ask for less at once")]
    ManyTerms {
        /// How many it has.
        terms: usize,
    },
}

/// Checks that a query is not too long.
///
/// # Errors
///
/// [`QueryError`].
pub fn check_query(query: &str) -> Result<(), QueryError> {
    if query.len() > MAX_QUERY_CHARS {
        let chars = query.chars().count();
        if chars > MAX_QUERY_CHARS {
            return Err(QueryError::Long { chars });
        }
    }
    match query_ids(&analysis::terms(query)).len() {
        terms if terms > MAX_QUERY_TERMS => Err(QueryError::ManyTerms { terms }),
        _ => Ok(()),
    }
}

/// The keys of conditions `KEY:VALUE` in queries, and their fields.
const KEYS: &[(&str, Field)] = &[
    ("symbol", Field::SYMBOL),
    ("path", Field::PATH),
    ("lang", Field::LANGUAGE),
    ("language", Field::LANGUAGE),
    ("prose", Field::PROSE_LANGUAGE),
    ("prose_language", Field::PROSE_LANGUAGE),
    ("artifact", Field::ARTIFACT),
    ("category", Field::CATEGORY),
    ("type", Field::CONTENT_TYPE),
];

/// Extracts the conditions from a query; returns the remaining words, and `filter` with the conditions added.
///
/// `symbol:NAME` (qualified as far as wanted), `path:PATTERN` (a [`Glob`]; without wildcards, any path that contains
/// it), `lang:NAME`, `prose:NAME`, `artifact:NAME`, `category:NAME`, `type:CONTENT_TYPE`; a leading `-` excludes. Of
/// several conditions on one field, one must hold. A value may be quoted, as in a [`Filter`]. Other words with a colon
/// are ordinary words.
///
/// # Errors
///
/// A value that no chunk can have, such as a language that does not exist.
pub fn parse_query(query: &str, filter: Filter) -> Result<(String, Filter), FilterError> {
    let mut words: Vec<&str> = Vec::new();
    let (mut wanted, mut unwanted): (Vec<(Field, Vec<Condition>)>, Vec<Condition>) = Default::default();
    let mut symbol = None;
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let Some((field, negated, after)) = condition(rest) else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            words.push(&rest[..end]);
            rest = rest[end..].trim_start();
            continue;
        };
        let (value, after) = value(after);
        rest = after.trim_start();
        let condition = Condition::is(field, value.as_ref()).checked()?;
        if negated {
            unwanted.push(Condition::Not(Box::new(condition)));
            continue;
        }
        if field == Field::SYMBOL {
            symbol.get_or_insert(value.into_owned());
        }
        match wanted.iter_mut().find(|(known, _)| *known == field) {
            Some((_, conditions)) => conditions.push(condition),
            None => wanted.push((field, vec![condition])),
        }
    }
    let wanted = wanted.into_iter().map(|(_, mut conditions)| match conditions.len() {
        1 => conditions.swap_remove(0),
        _ => Condition::Or(conditions),
    });
    let filter = wanted.chain(unwanted).fold(filter, |filter, condition| filter.and(Filter::new(condition)));
    // A query of a symbol alone searches for its name.
    let words = if words.is_empty() { symbol.unwrap_or_default() } else { words.join(" ") };
    Ok((words, filter))
}

/// The condition at the start of `text`: its field, whether it is negated, and the rest.
fn condition(text: &str) -> Option<(Field, bool, &str)> {
    let (negated, plain) = text.strip_prefix('-').map_or((false, text), |plain| (true, plain));
    let begins = |key: &str| plain.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    let (key, field) = KEYS.iter().find(|(key, _)| begins(key))?;
    let after = &plain[key.len() + 1..];
    // `std::path::Path` and `type: ignore` are not conditions.
    (!after.starts_with([':', ' ']) && !after.is_empty()).then_some((*field, negated, after))
}

/// The value at the start of `text`, without quotes, and the rest.
fn value(text: &str) -> (Cow<'_, str>, &str) {
    if let Some((value, after)) = text.strip_prefix('"').and_then(quoted) {
        return (value.into(), after);
    }
    let (value, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (value.into(), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_a_bound_that_says_itself() {
        let said = |query: &str| check_query(query).expect_err("too long").to_string();
        assert_eq!(check_query(&"字".repeat(MAX_QUERY_CHARS)), Ok(()));
        assert!(
            said(&"字".repeat(MAX_QUERY_CHARS + 1))
                .starts_with("the query has 10001 characters; the limit is 10000")
        );
        let pairs: String =
            (0..=MAX_QUERY_TERMS as u32 + 1).filter_map(|number| char::from_u32(0x4E00 + number)).collect();
        assert!(said(&pairs).starts_with("the query has 4097 different terms; the limit is 4096"));
    }

    #[test]
    fn conditions_are_taken_out_of_a_query() {
        let query = r#"how symbol:Report.render path:src/* path:lib -path:tests/ -lang:C -path:"a b" lang:Rust are pages std::path::Path made"#;
        let (words, filter) = parse_query(query, Filter::default()).expect("a query");
        assert_eq!(words, "how are pages std::path::Path made");
        let text = "symbol=Report.render and (doc_id~src/* or doc_id~{**/*lib*,**/*lib*/**}) and language=rust and not \
                    doc_id~{**/*tests/*,**/*tests/*/**} and language!=c and not doc_id~\"{**/*a b*,**/*a b*/**}\"";
        assert_eq!(filter, Filter::parse(text).expect("a filter"));
        let text = "symbol=Report.render and (path=src/* or path=lib) and lang=rs and path!=tests/ and lang!=C and path!=\"a b\"";
        assert_eq!(filter, Filter::parse(text).expect("a filter"));
        assert_eq!(parse_query("symbol:a", Filter::default()).expect("a query").0, "a");
    }

    #[test]
    fn a_value_in_quotes_may_hold_quotes() {
        let (words, filter) = parse_query(r#"path:"a\"b" pears"#, Filter::default()).expect("a query");
        assert_eq!((words.as_str(), filter), ("pears", Filter::parse(r#"path="a\"b""#).expect("a filter")));
    }

    #[test]
    fn what_cannot_be_understood_says_what_would_be_right() {
        let error = parse_query("artifact:notes", Filter::default()).expect_err("no artifact").to_string();
        assert!(error.starts_with("`artifact` cannot be `notes`; known are `chunk`, `summary`"), "{error}");
        let error = parse_query("lang:pyhton how", Filter::default()).expect_err("no language").to_string();
        assert_eq!(error, "`language` cannot be `pyhton`; did you mean `python`?");
    }
}
