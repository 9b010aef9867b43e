//! The values that options of searches take, and their text form.

use chunkwright_index::{Expand, Filter};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionValues {
    /// A whole number from the first to the second; up to `u64::MAX` stands for no limit.
    Number(u64, u64),
    /// A number from the first to the second; up to infinity stands for no limit.
    Decimal(f64, f64),
    /// One of a few names.
    OneOf(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// An expression that chunks pass, or its conditions.
    Filter,
    /// What a chunk is read with: see [`Expand`].
    Expand,
}

impl OptionValues {
    /// The least and the greatest number, where the values are numbers; no greatest for no limit.
    pub fn range(self) -> Option<(Value, Option<Value>)> {
        match self {
            Self::Number(least, u64::MAX) => Some((least.into(), None)),
            Self::Number(least, greatest) => Some((least.into(), Some(greatest.into()))),
            // A limit that is whole is written so.
            Self::Decimal(least, greatest) => {
                let whole = |number: f64| Value::from(number as u64);
                Some((whole(least), greatest.is_finite().then(|| whole(greatest))))
            }
            _ => None,
        }
    }

    /// The value that text, or JSON, stands for.
    pub(super) fn read(self, given: &Value) -> Option<Value> {
        let text = given.as_str();
        match self {
            Self::Number(least, greatest) => {
                let number = given.as_u64().or_else(|| text?.parse().ok())?;
                (least..=greatest).contains(&number).then(|| number.into())
            }
            Self::Decimal(least, greatest) => {
                let number = given.as_f64().or_else(|| text?.parse().ok())?;
                (least..=greatest).contains(&number).then(|| number.into())
            }
            Self::OneOf(names) => text.filter(|name| names.contains(name)).map(Value::from),
            Self::Flag => given.as_bool().or_else(|| text?.parse().ok()).map(Value::from),
            Self::Filter => Some(given.clone()),
            Self::Expand => {
                let number = given.as_u64().map(|number| number.to_string());
                let expand: Expand = number.as_deref().or(text)?.parse().ok()?;
                Some(expand.to_string().into())
            }
        }
    }

    /// What would be right in place of `given`.
    pub(super) fn expected(self, given: &Value) -> String {
        let number = given.as_f64().or_else(|| given.as_str()?.parse().ok()).filter(|it| it.is_finite());
        let (kind, is_kind) = match self {
            Self::Number(..) => ("a whole number", number.is_some_and(|number| number.fract() == 0.0)),
            Self::Decimal(..) => ("a number", number.is_some()),
            Self::OneOf([first @ .., last]) => return format!("`{}` or `{last}`", first.join("`, `")),
            Self::Flag => return "`true` or `false`".to_owned(),
            Self::Expand => return "`parent`, `merge` or a number of neighbours, such as `1`".to_owned(),
            Self::OneOf([]) | Self::Filter => return "an expression".to_owned(),
        };
        let (of, range) = match self.range() {
            Some((least, Some(greatest))) => ("", format!("from {least} to {greatest}")),
            Some((least, None)) if number.is_none_or(|number| number < u64::MAX as f64) => {
                ("of ", format!("at least {least}"))
            }
            _ => ("of ", format!("at most {}", u64::MAX)),
        };
        if is_kind { range } else { format!("{kind} {of}{range}") }
    }
}

/// What a filter may be in JSON: an expression, or its conditions.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it is for the schema only")]
pub(crate) enum FilterForm {
    #[schemars(extend("format" = "filter"))]
    Expression(String),
    Conditions(Filter),
}

pub(crate) fn filter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Filter, D::Error> {
    let filter = match Value::deserialize(deserializer)? {
        Value::String(text) => return Filter::parse(&text).map_err(serde::de::Error::custom),
        conditions => Filter::deserialize(conditions),
    };
    filter.map_err(serde::de::Error::custom)
}
