//! The part of a filter that PostgreSQL decides, as SQL.
//!
//! Every condition is true or false and never null, so that a negation is exact.

use serde_json::Value;

use crate::filter::Dialect;
use chunkwright_store::filter::{Field, FieldType, Range, Test};

/// Fields that have a column of their own, where what is absent is empty.
const COLUMNS: [Field; 4] = [Field::DOC_ID, Field::CATEGORY, Field::LANGUAGE, Field::CONTENT_TYPE];

/// A condition is a text of SQL.
pub(super) const DIALECT: Dialect = Dialect {
    field: |field, test| field_condition(field, test).map(Value::String),
    meta: |name, test| {
        let Test::Is(Value::String(text)) = test else { return None };
        let (given, own) = (quoted(name)?, quoted(&name.to_lowercase())?);
        let (text, listed) = (quoted(text)?, quoted(&Value::from(vec![text.as_str()]).to_string())?);
        Some(Value::String(format!(
            "(coalesce(record->'meta'->>{given} = {text}, false) OR coalesce(record->'properties'->{own} @> {listed}::jsonb, false))"
        )))
    },
    and: |all| joined(&all, " AND "),
    or: |any| joined(&any, " OR "),
    not: Some(|not| Value::String(format!("NOT ({})", not.as_str().unwrap_or("false")))),
    is_chunk: || "artifact = ''".into(),
    always: || "enabled".into(),
};

fn joined(all: &[Value], with: &str) -> Value {
    let all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
    Value::String(format!("({})", all.join(with)))
}

fn field_condition(field: Field, test: &Test) -> Option<String> {
    if field == Field::ARTIFACT {
        let Test::Is(Value::String(wanted)) = test else { return None };
        return match wanted.as_str() {
            "chunk" => Some("artifact = ''".into()),
            "summary" => Some("artifact <> ''".into()),
            "all" | "" => None,
            wanted => Some(format!("artifact = {}", quoted(wanted)?)),
        };
    }
    if field == Field::SYMBOL {
        let Test::Is(Value::String(symbol)) = test else { return None };
        return Some(format!("symbols @> ARRAY[{}]", quoted(&symbol.replace("::", "."))?));
    }
    if COLUMNS.contains(&field) {
        return text_condition(field.name(), test);
    }
    // The text is not in the record.
    if ["content", "context", "text"].contains(&field.name()) {
        return None;
    }
    let path = format!("'{{{}}}'", field.name().replace('.', ","));
    let decided = |condition: String| format!("coalesce({condition}, false)");
    match (field.field_type(), test) {
        (FieldType::Text, test) => text_condition(&format!("(record#>>{path})"), test).map(decided),
        (FieldType::Bool, Test::Is(Value::Bool(is))) => {
            Some(decided(format!("(record#>>{path})::bool = {is}")))
        }
        (FieldType::Number, Test::Is(Value::Number(number))) => {
            Some(decided(format!("(record#>>{path})::numeric = {number}")))
        }
        (FieldType::Number, Test::Range(range)) => {
            bounds(&format!("(record#>>{path})::numeric"), range).map(decided)
        }
        (FieldType::List, Test::Is(Value::String(element))) => {
            let listed = quoted(&Value::from(vec![element.as_str()]).to_string())?;
            Some(decided(format!("record#>{path} @> {listed}::jsonb")))
        }
        _ => None,
    }
}

/// A condition on a text; a missing value equals an empty one.
fn text_condition(of: &str, test: &Test) -> Option<String> {
    let full = |value: &Value| value.as_str().filter(|value| !value.is_empty()).and_then(quoted);
    match test {
        Test::Is(value) => Some(format!("{of} = {}", full(value)?)),
        Test::In(values) if !values.is_empty() => {
            let values: Vec<String> = values.iter().map(full).collect::<Option<_>>()?;
            Some(format!("{of} IN ({})", values.join(", ")))
        }
        Test::Prefix(prefix) if !prefix.is_empty() => Some(format!("starts_with({of}, {})", quoted(prefix)?)),
        _ => None,
    }
}

/// The bounds of a range of numbers; `None` if one is not a number, or there are none.
fn bounds(number: &str, range: &Range) -> Option<String> {
    let mut all = Vec::new();
    for (sign, bound) in [(">", &range.gt), (">=", &range.gte), ("<", &range.lt), ("<=", &range.lte)] {
        if let Some(bound) = bound {
            all.push(format!("{number} {sign} {}", bound.as_number()?));
        }
    }
    (!all.is_empty()).then(|| all.join(" AND "))
}

/// A text as SQL quotes it with `standard_conforming_strings`; `None` if PostgreSQL can hold no such text.
fn quoted(text: &str) -> Option<String> {
    (!text.contains('\0')).then(|| format!("'{}'", text.replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chunkwright_store::Filter;

    #[test]
    fn filters_become_conditions_that_are_never_null() {
        let check = |filter: &str, expected: &str, is_exact: bool| {
            let pushed = DIALECT.push(&Filter::parse(filter).unwrap());
            assert_eq!(pushed.condition, Value::from(format!("(enabled AND {expected})")), "{filter}");
            assert_eq!(pushed.is_exact, is_exact, "{filter}");
        };
        check("doc_id=\"o'brien\\\\.md\"", "artifact = '' AND doc_id = 'o''brien\\.md'", true);
        check("not lang=rust", "artifact = '' AND NOT (language = 'rust')", true);
        check(
            "start_line>5",
            "artifact = '' AND coalesce((record#>>'{start_line}')::numeric > 5.0, false)",
            true,
        );
        check("artifact=summary", "artifact <> ''", true);
        check("doc_id~ru/** and category=doc", "artifact = '' AND category = 'doc'", false);
        check("doc_id~ru/** or category=doc", "artifact = ''", false);
    }
}
