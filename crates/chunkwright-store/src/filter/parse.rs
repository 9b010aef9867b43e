//! Filters as text: `language=rust and (token_count>=100 or not doc_id~docs/**)`.

use std::borrow::Cow;

use serde_json::Value;

use super::check::{right, suggestion};
use super::{Condition, Field, FieldType, Filter, Glob, GlobError, Range, Test};
use crate::meta::is_of_name;

/// Errors of parsing and checking filters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A name that no field has.
    #[error("unknown field `{name}`; {right}", right = right_field(name))]
    Field {
        /// The name.
        name: String,
    },
    /// A value that the field cannot have.
    #[error("`{field}` cannot be `{value}`; {right}")]
    Value {
        /// The field.
        field: &'static str,
        /// The value.
        value: String,
        /// What would be right.
        right: String,
    },
    /// `==`, as in programming languages.
    #[error("`==` is not an operator of filters; did you mean `{field}={value}`?")]
    Equals {
        /// The field.
        field: String,
        /// The text after it.
        value: String,
    },
    /// A pattern that is not a glob.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// A text that cannot be read.
    #[error(
        "invalid filter at `{rest}`; conditions are `FIELD=VALUE` (or `!=`, `>`, `>=`, `<`, `<=`, `^=` for a prefix, `~` for a glob), joined by `and`, `or`, `not` and parentheses, values with blanks in double quotes, where `\\\"` is a quote and `\\\\` a backslash"
    )]
    Syntax {
        /// The text from where parsing failed.
        rest: String,
    },
    /// Parentheses or negations too deep.
    #[error("the filter is nested more than {max} levels deep", max = MAX_DEPTH)]
    Depth,
}

/// Deepest nesting: filters are untrusted input.
const MAX_DEPTH: usize = 32;

/// Operators; one that is a prefix of another comes after it.
const OPERATORS: [&str; 8] = ["!=", ">=", "<=", "^=", "=", ">", "<", "~"];

fn right_field(name: &str) -> String {
    suggestion(name, Field::all().map(Field::name))
}

impl Filter {
    /// Parses a filter: conditions such as `FIELD=VALUE`, joined by `and`, `or`, `not` and parentheses; `and` binds
    /// tighter than `or`. Every chunk passes a blank filter. `~` takes a [`Glob`]; other operators compare texts
    /// exactly. A value in double quotes may hold anything: `\"` in it is a quote, `\\` a backslash, and any other
    /// backslash stands for itself.
    ///
    /// # Errors
    ///
    /// [`FilterError`].
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut parser = Parser { rest: text.trim() };
        if parser.rest.is_empty() {
            return Ok(Self::default());
        }
        let condition = parser.any(0)?;
        if parser.rest.is_empty() { Ok(Self::new(condition)) } else { Err(parser.error()) }
    }
}

/// The prefix of metadata names.
const META: &str = "meta.";

/// The subject of a condition.
enum Subject<'a> {
    /// A field by its name.
    Field(&'a str),
    /// Metadata of the document, by its name.
    Meta(&'a str),
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn any(&mut self, depth: usize) -> Result<Condition, FilterError> {
        let mut all = vec![self.all(depth)?];
        while self.take_word("or") {
            all.push(self.all(depth)?);
        }
        Ok(one_or(all, Condition::Or))
    }

    fn all(&mut self, depth: usize) -> Result<Condition, FilterError> {
        let mut all = vec![self.one(depth)?];
        while self.take_word("and") {
            all.push(self.one(depth)?);
        }
        Ok(one_or(all, Condition::And))
    }

    fn one(&mut self, depth: usize) -> Result<Condition, FilterError> {
        if depth > MAX_DEPTH {
            return Err(FilterError::Depth);
        }
        if self.take_word("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.take("(") {
            let inner = self.any(depth + 1)?;
            return if self.take(")") { Ok(inner) } else { Err(self.error()) };
        }
        self.field()
    }

    fn field(&mut self) -> Result<Condition, FilterError> {
        let subject = self.subject()?;
        let found = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator));
        let operator = *found.ok_or_else(|| self.error())?;
        let subject = match subject {
            Subject::Field(name) => {
                Ok(Field::of(name).ok_or_else(|| FilterError::Field { name: name.into() })?)
            }
            Subject::Meta(name) => Err(name),
        };
        self.rest = self.rest[operator.len()..].trim_start();
        if let Some(value) = self.rest.strip_prefix('=').filter(|_| operator == "=") {
            let value = value.split(|c: char| c.is_whitespace() || c == ')').find(|value| !value.is_empty());
            let field = subject.map_or_else(|name| format!("{META}{name}"), |field| field.name().to_owned());
            return Err(FilterError::Equals { field, value: value.unwrap_or("VALUE").into() });
        }
        let given = self.value()?;
        let value = subject.map_or_else(|_| Ok((*given).into()), |field| literal(field, &given))?;
        let range = |range| Test::Range(Box::new(range));
        let test = match operator {
            "=" | "!=" => Test::Is(value),
            "^=" => Test::Prefix(given.into_owned()),
            "~" => Test::Glob(Glob::new(given.into_owned())?),
            ">" => range(Range { gt: Some(value), ..Range::default() }),
            ">=" => range(Range { gte: Some(value), ..Range::default() }),
            "<" => range(Range { lt: Some(value), ..Range::default() }),
            _ => range(Range { lte: Some(value), ..Range::default() }),
        };
        let condition = match subject {
            Ok(field) => Condition::Field { field, test }.checked()?,
            Err(name) => Condition::Meta { meta: name.to_owned(), test },
        };
        Ok(if operator == "!=" { Condition::Not(Box::new(condition)) } else { condition })
    }

    /// Parses the subject of the next condition; blanks after it are skipped.
    fn subject(&mut self) -> Result<Subject<'a>, FilterError> {
        let (is_meta, text) = match self.rest.strip_prefix(META) {
            Some(name) => (true, name),
            None => (false, self.rest),
        };
        let is_of_field = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let ends = |c: char| !if is_meta { is_of_name(c) } else { is_of_field(c) };
        let end = text.find(ends).filter(|end| *end > 0).ok_or_else(|| self.error())?;
        let (name, after) = text.split_at(end);
        self.rest = after.trim_start();
        Ok(if is_meta { Subject::Meta(name) } else { Subject::Field(name) })
    }

    fn value(&mut self) -> Result<Cow<'a, str>, FilterError> {
        let (value, after) = if let Some(text) = self.rest.strip_prefix('"') {
            let (value, after) = quoted(text).ok_or_else(|| self.error())?;
            (value.into(), after)
        } else {
            let end = self.rest.find(|c: char| c.is_whitespace() || c == ')').unwrap_or(self.rest.len());
            if end == 0 {
                return Err(self.error());
            }
            let (value, after) = self.rest.split_at(end);
            (value.into(), after)
        };
        self.rest = after.trim_start();
        Ok(value)
    }

    fn take(&mut self, token: &str) -> bool {
        let after = self.rest.strip_prefix(token);
        self.rest = after.map_or(self.rest, str::trim_start);
        after.is_some()
    }

    /// Takes a word that ends here.
    fn take_word(&mut self, word: &str) -> bool {
        let ends = |after: &&str| after.starts_with(|c: char| c.is_whitespace() || c == '(');
        let after = self.rest.strip_prefix(word).filter(ends);
        self.rest = after.map_or(self.rest, str::trim_start);
        after.is_some()
    }

    fn error(&self) -> FilterError {
        FilterError::Syntax { rest: self.rest.chars().take(40).collect() }
    }
}

/// The quoted value at the start of `text`, whose opening quote is already removed, and the text after its closing
/// quote.
pub fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut rest) = (String::new(), text);
    loop {
        let (before, after) = rest.split_at(rest.find(['"', '\\'])?);
        value.push_str(before);
        if let Some(after) = after.strip_prefix('"') {
            return Some((value, after));
        }
        // A backslash before anything else stands for itself, as globs have it.
        let escaped = after[1..].chars().next().filter(|c| matches!(c, '"' | '\\'));
        value.push(escaped.unwrap_or('\\'));
        rest = &after[1 + escaped.map_or(0, char::len_utf8)..];
    }
}

fn one_or(mut all: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    if all.len() == 1 { all.swap_remove(0) } else { join(all) }
}

/// A value as its field has it.
fn literal(field: Field, text: &str) -> Result<Value, FilterError> {
    let wrong = || {
        let right = format!("expected {}", right(field));
        FilterError::Value { field: field.name(), value: text.into(), right }
    };
    match field.field_type() {
        FieldType::Number => {
            let number: f64 = text.parse().map_err(|_| wrong())?;
            serde_json::Number::from_f64(number).map(Value::Number).ok_or_else(wrong)
        }
        FieldType::Bool => text.parse().map(Value::Bool).map_err(|_| wrong()),
        FieldType::Text | FieldType::List => Ok(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_quotes_may_hold_anything() {
        for (text, value) in [
            (r#"doc_id="a b)c.md""#, "a b)c.md"),
            (r#"doc_id="a\"b.md""#, r#"a"b.md"#),
            (r#"doc_id="a\\b.md""#, r"a\b.md"),
            (r#"doc_id="a\b.md""#, r"a\b.md"),
            (r#"doc_id="\\\"""#, r#"\""#),
            (r#"doc_id="""#, ""),
            (r#"doc_id="==*{?[\]}""#, r"==*{?[\]}"),
            (r#"doc_id="茶\"и""#, r#"茶"и"#),
            // Without quotes in front, a quote or backslash is itself.
            (r#"doc_id=a"b\c.md"#, r#"a"b\c.md"#),
            ("doc_id=docs/*{a}.md", "docs/*{a}.md"),
        ] {
            assert_eq!(Filter::parse(text), Ok(Filter::is(Field::DOC_ID, value)), "{text}");
        }
        let text = r#"doc_id!="a\"b" and (path^="x\"" or doc_id~"a\*\"*")"#;
        let json = r#"{"and": [{"not": {"field": "doc_id", "is": "a\"b"}},
            {"or": [{"field": "doc_id", "prefix": "x\""}, {"field": "doc_id", "glob": "a\\*\"*"}]}]}"#;
        assert_eq!(Filter::parse(text).expect(text), serde_json::from_str(json).expect(json));
        for text in [r#"doc_id="a\""#, r#"doc_id="a\\\""#, r#"doc_id=""#] {
            assert!(matches!(Filter::parse(text), Err(FilterError::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn what_is_no_filter_says_what_would_be_right() {
        let error = |text: &str| Filter::parse(text).expect_err(text).to_string();
        assert_eq!(error("langage=rust"), "unknown field `langage`; did you mean `language`?");
        assert!(error("colour=red").starts_with("unknown field `colour`; known are `doc_id`, "));
        for (text, right) in [
            ("language==python", "`==` is not an operator of filters; did you mean `language=python`?"),
            ("doc_id == a.md", "`==` is not an operator of filters; did you mean `doc_id=a.md`?"),
            ("language=pyhton", "`language` cannot be `pyhton`; did you mean `python`?"),
            ("lang!=pythn", "`language` cannot be `pythn`; did you mean `python`?"),
            ("content_type=functon", "`content_type` cannot be `functon`; did you mean `function`?"),
            ("type=Paragraph", "`content_type` cannot be `Paragraph`; did you mean `paragraph`?"),
            ("cut=hedaing", "`cut` cannot be `hedaing`; did you mean `heading`?"),
            (
                "token_level=huge",
                "`token_level` cannot be `huge`; known are `normal`, `warning`, `large`, `oversized`",
            ),
            ("artifact=sumary", "`artifact` cannot be `sumary`; did you mean `summary`?"),
            ("chunk_id=5", "`chunk_id` cannot be `5`; expected 32 hex digits"),
        ] {
            assert_eq!(error(text), right);
        }
        assert_eq!(error("token_count>many"), "`token_count` cannot be `many`; expected a number");
        assert_eq!(error("oversize=1"), "`oversize` cannot be `1`; expected `true` or `false`");
        for text in [
            "language",
            "=",
            "language=",
            "preset=a preset=b",
            "(preset=a",
            "preset=a or",
            "preset=\"a",
            "and",
            "not",
        ] {
            assert!(error(text).starts_with("invalid filter at "), "{text}");
        }
        assert_eq!(Filter::parse(&"(".repeat(100_000)), Err(FilterError::Depth));
        assert_eq!(Filter::parse(&"not ".repeat(100_000)), Err(FilterError::Depth));
        assert!(Filter::parse("  ").expect("empty").is_empty());
    }
}
