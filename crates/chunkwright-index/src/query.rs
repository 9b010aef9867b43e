//! Query syntax and limits: `symbol:render path:src/* -path:tests/ "page break" -draft how are pages made`.

use std::borrow::Cow;

use chunkwright_store::analysis;
use chunkwright_store::bm25::query_ids;
use chunkwright_store::filter::{Condition, Field, Filter, FilterError, Test, quoted};

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
    /// It has conditions and no words.
    #[error("the query has nothing to look for beside `{conditions}`; add words that chunks should have")]
    OnlyConditions {
        /// The conditions, as they were given.
        conditions: String,
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
    match query_ids(analysis::terms(query)).len() {
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

/// Most phrases and words left out that are conditions: those after them are words as any other.
const MAX_WORD_CONDITIONS: usize = 16;

/// A query in its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The words, phrases in their quotation marks included.
    pub words: String,
    /// The conditions, but for the phrases.
    pub filter: Filter,
    /// The phrases that a chunk must have.
    pub phrases: Vec<String>,
    /// The words and phrases that a chunk must not have, as they were given.
    pub excluded: Vec<String>,
}

impl Query {
    /// The conditions with those that demand the phrases.
    pub fn strict(&self) -> Filter {
        let phrases = self.phrases.iter().map(|phrase| text(Test::Phrase(phrase.clone())));
        phrases.fold(self.filter.clone(), |filter, condition| filter.and(Filter::new(condition)))
    }

    /// Checks that there is something to look for, in `query` as it was given.
    ///
    /// # Errors
    ///
    /// [`QueryError::OnlyConditions`].
    pub fn check(&self, query: &str) -> Result<(), QueryError> {
        if self.words.is_empty() && !query.trim().is_empty() {
            let conditions = query.trim().chars().take(80).collect();
            return Err(QueryError::OnlyConditions { conditions });
        }
        Ok(())
    }
}

/// Parses a query.
///
/// `symbol:NAME` (qualified as far as wanted), `path:PATTERN` (a [`Glob`]; without wildcards, any path that contains
/// it), `lang:NAME`, `prose:NAME`, `artifact:NAME`, `category:NAME`, `type:CONTENT_TYPE`; a leading `-` excludes. Of
/// several conditions on one field, one must hold. A value may be quoted, as in a [`Filter`]. Other words with a colon
/// are ordinary words.
///
/// `"a phrase"` demands the words side by side, as they are written; `-word` leaves out chunks with a word in any form,
/// `-"a phrase"` those with a phrase. What looks like a flag or a number (`--all`, `-v`, `-1`), quotation marks within a
/// word or without an end, and a phrase of one letter are ordinary words.
///
/// # Errors
///
/// A value that no chunk can have, such as a language that does not exist.
pub fn parse_query(query: &str, filter: Filter) -> Result<Query, FilterError> {
    let mut words: Vec<&str> = Vec::new();
    let (mut wanted, mut unwanted): (Vec<(Field, Vec<Condition>)>, Vec<Condition>) = Default::default();
    let (mut phrases, mut excluded) = (Vec::new(), Vec::new());
    let mut symbol = None;
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let is_full = phrases.len() + excluded.len() >= MAX_WORD_CONDITIONS;
        if let Some((field, negated, after)) = condition(rest) {
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
        } else if let Some((test, length)) = exclusion(rest).filter(|_| !is_full) {
            unwanted.push(Condition::Not(Box::new(text(test))));
            excluded.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        } else if let Some((phrase, length)) = phrase(rest).filter(|_| !is_full) {
            phrases.push(phrase.to_owned());
            words.push(&rest[..length]);
            rest = rest[length..].trim_start();
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            words.push(&rest[..end]);
            rest = rest[end..].trim_start();
        }
    }
    let wanted = wanted.into_iter().map(|(_, mut conditions)| match conditions.len() {
        1 => conditions.swap_remove(0),
        _ => Condition::Or(conditions),
    });
    let filter = wanted.chain(unwanted).fold(filter, |filter, condition| filter.and(Filter::new(condition)));
    // A query of a symbol alone searches for its name.
    let words = if words.is_empty() { symbol.unwrap_or_default() } else { words.join(" ") };
    Ok(Query { words, filter, phrases, excluded })
}

fn text(test: Test) -> Condition {
    Condition::Field { field: Field::TEXT, test }
}

/// What a word or phrase at the start of `text` leaves out, and its length in bytes.
fn exclusion(text: &str) -> Option<(Test, usize)> {
    let after = text.strip_prefix('-')?;
    if let Some((phrase, length)) = phrase(after) {
        return Some((Test::Phrase(phrase.to_owned()), 1 + length));
    }
    let word = &after[..after.find(char::is_whitespace).unwrap_or(after.len())];
    // `-v`, `-1`, `-Dkey=value`, `->` are not words to leave out.
    let is_of_word = |c: char| c.is_alphanumeric() || "-_.'+#&/".contains(c);
    let is_word = word.starts_with(char::is_alphabetic) && word.chars().all(is_of_word);
    let is_long = word.chars().nth(1).is_some() || word.starts_with(analysis::is_unspaced);
    (is_word && is_long).then(|| (Test::Word(word.to_owned()), 1 + word.len()))
}

/// Quotation marks of phrases, with those that end them.
const QUOTES: &[(char, &[char])] =
    &[('"', &['"']), ('“', &['”']), ('„', &['“', '”']), ('«', &['»']), ('「', &['」']), ('『', &['』'])];

/// The phrase in quotation marks at the start of `text`, and its length with them in bytes.
fn phrase(text: &str) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let (_, ends) = QUOTES.iter().find(|(known, _)| *known == open)?;
    let inner = &text[open.len_utf8()..];
    let end = inner.find(*ends)?;
    let length = open.len_utf8() + end + inner[end..].chars().next()?.len_utf8();
    // `"key": 1` is data.
    let is_end = |c: char| c.is_whitespace() || ",.;!?)".contains(c);
    let phrase = &inner[..end];
    let is_telling = phrase.chars().filter(|c| c.is_alphanumeric()).nth(1).is_some()
        || phrase.contains(analysis::is_unspaced)
        || phrase.contains(char::is_alphanumeric) && phrase.ends_with(['+', '#']);
    (is_telling && text[length..].chars().next().is_none_or(is_end)).then_some((phrase, length))
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
        let Query { words, filter, .. } = parse_query(query, Filter::default()).expect("a query");
        assert_eq!(words, "how are pages std::path::Path made");
        let text = "symbol=Report.render and (doc_id~src/* or doc_id~{**/*lib*,**/*lib*/**}) and language=rust and not \
                    doc_id~{**/*tests/*,**/*tests/*/**} and language!=c and not doc_id~\"{**/*a b*,**/*a b*/**}\"";
        assert_eq!(filter, Filter::parse(text).expect("a filter"));
        let text = "symbol=Report.render and (path=src/* or path=lib) and lang=rs and path!=tests/ and lang!=C and path!=\"a b\"";
        assert_eq!(filter, Filter::parse(text).expect("a filter"));
        assert_eq!(parse_query("symbol:a", Filter::default()).expect("a query").words, "a");
    }

    #[test]
    fn a_value_in_quotes_may_hold_quotes() {
        let Query { words, filter, .. } =
            parse_query(r#"path:"a\"b" pears"#, Filter::default()).expect("a query");
        assert_eq!((words.as_str(), filter), ("pears", Filter::parse(r#"path="a\"b""#).expect("a filter")));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[track_caller]
    fn check(query: &str, words: &str, phrases: &[&str], excluded: &[&str]) {
        let found = parse_query(query, Filter::default()).expect(query);
        assert_eq!(
            (found.words.as_str(), &*found.phrases, &*found.excluded),
            (words, &*owned(phrases), &*owned(excluded)),
            "{query}"
        );
    }

    #[test]
    fn phrases_are_demanded_and_words_left_out() {
        check(r#"a "lucky feat" b"#, r#"a "lucky feat" b"#, &["lucky feat"], &[]);
        check(
            "«красный свет», “b c” „d e“ 「你好」",
            "«красный свет» , “b c” „d e“ 「你好」",
            &["красный свет", "b c", "d e", "你好"],
            &[],
        );
        check(
            r#"pear -apple -"red pear" -猫 -e-mail -C++"#,
            "pear",
            &[],
            &["-apple", r#"-"red pear""#, "-猫", "-e-mail", "-C++"],
        );
        check(r#""--no-cache""#, r#""--no-cache""#, &["--no-cache"], &[]);
    }

    #[test]
    fn what_only_looks_like_syntax_is_words() {
        for query in [
            "e-mail well-known",
            "- a - b",
            "--flag -v -1 -0.5 -Dkey=value -> -(a) --",
            r#"x = "a""#,
            r#"{"ok": true} f("a b")"#,
            r#""name": "x"#,
            r#"an "open quote"#,
            r#""" " " "?!""#,
            "don't say 'a phrase'",
            "5\" pipe",
        ] {
            let words = query.split_whitespace().collect::<Vec<_>>().join(" ");
            check(query, &words, &[], &[]);
        }
        let many: String = (0..40).map(|number| format!("\"word {number}\" ")).collect();
        let found = parse_query(&many, Filter::default()).expect("a query");
        assert_eq!(found.phrases.len(), MAX_WORD_CONDITIONS);
        assert_eq!(found.words, many.trim());
    }

    #[test]
    fn a_query_of_conditions_alone_says_what_is_missing() {
        for query in ["-apple", "path:docs/", r#"-"red pear" lang:rust"#] {
            let error = parse_query(query, Filter::default()).expect(query).check(query).expect_err(query);
            let right = format!(
                "the query has nothing to look for beside `{query}`; add words that chunks should have"
            );
            assert_eq!(error.to_string(), right);
        }
        let symbol = parse_query("symbol:a -b", Filter::default()).expect("a query");
        assert_eq!(symbol.check("symbol:a -b"), Ok(()));
    }

    #[test]
    fn what_cannot_be_understood_says_what_would_be_right() {
        let error = parse_query("artifact:notes", Filter::default()).expect_err("no artifact").to_string();
        assert!(error.starts_with("`artifact` cannot be `notes`; known are `chunk`, `summary`"), "{error}");
        let error = parse_query("lang:pyhton how", Filter::default()).expect_err("no language").to_string();
        assert_eq!(error, "`language` cannot be `pyhton`; did you mean `python`?");
    }
}
