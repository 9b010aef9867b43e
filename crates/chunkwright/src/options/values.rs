//! The values that a key takes, and their text form.

use std::fmt;

use serde_json::Value;

/// A value that a key takes, and what it means.
pub type Choice = (&'static str, &'static str);

/// The values that a key takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values {
    /// Any text; the name says of what, for help texts.
    Text(&'static str),
    /// A whole number from the first to the second.
    Number(u64, u64),
    /// One of a few names.
    OneOf(&'static [Choice]),
    /// Some of a few names, as a list or with commas between them.
    SomeOf(&'static [Choice]),
    /// A least and a greatest number, as a list or with `-` between them.
    Range,
    /// A list of tables, which only files have.
    Tables,
    /// A list of texts; in text form separated by commas, except those in braces. The name says of what.
    List(&'static str),
    /// Yes or no.
    Flag,
    /// A number of bytes, also as text with `K`, `M` or `G` after it.
    Bytes,
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(name) => f.write_str(name),
            Self::Number(least, greatest) if *greatest > 1_000 => write!(f, "a number from {least}"),
            Self::Number(least, greatest) => write!(f, "{least} to {greatest}"),
            Self::OneOf(names) => f.write_str(&either(names)),
            Self::SomeOf(names) => write!(f, "a list of {}", quoted(names.iter().map(|(name, _)| *name))),
            Self::Range => f.write_str("`LEAST-GREATEST`"),
            Self::Tables => f.write_str("tables"),
            Self::List(name) => write!(f, "a list of {name}"),
            Self::Flag => f.write_str("`true` or `false`"),
            Self::Bytes => f.write_str("bytes, such as `64K` or `1M`"),
        }
    }
}

/// A value that a key does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is {value}; it must be {expected}")]
pub struct ValueError {
    /// The value, as JSON.
    pub value: String,
    /// What was expected.
    pub expected: String,
}

impl Values {
    /// The value that `given` stands for: lists and ranges may be written as text (`code,table`, `410-614`).
    ///
    /// # Errors
    ///
    /// A value of another type, or out of range.
    pub fn read(self, given: &Value) -> Result<Value, ValueError> {
        let wrong = |expected: String| ValueError { value: given.to_string(), expected };
        let item = |item: &str| item.parse::<u64>().map_or_else(|_| Value::from(item), Value::from);
        let items = |text: &str| {
            let items = text.trim_matches(['[', ']']).split([',', '-']).map(str::trim);
            Value::Array(items.filter(|item| !item.is_empty()).map(item).collect())
        };
        match (self, given) {
            (Self::Text(_), Value::String(_)) | (Self::Flag, Value::Bool(_)) => Ok(given.clone()),
            (Self::Flag, Value::String(text)) if text == "true" || text == "false" => {
                Ok(Value::from(text == "true"))
            }
            (Self::Flag, _) => Err(wrong("`true` or `false`".into())),
            (Self::Bytes, Value::Number(_)) if given.is_u64() => Ok(given.clone()),
            (Self::Bytes, Value::String(text)) if bytes(text).is_some() => {
                Ok(bytes(text).map_or(Value::Null, Value::from))
            }
            (Self::Bytes, _) => Err(wrong("a number of bytes, such as `4096`, `64K` or `1M`".into())),
            (Self::List(_), Value::String(text)) => Ok(Value::Array(listed(text))),
            (Self::List(_), Value::Array(items)) if items.iter().all(Value::is_string) => Ok(given.clone()),
            (Self::List(name), _) => Err(wrong(format!("a list of {name} in quotes"))),
            (Self::Text(_), _) => Err(wrong("text in quotes".into())),
            // A list of the values of a table would be read in their order.
            (Self::Tables, Value::Array(tables)) if tables.iter().all(Value::is_object) => Ok(given.clone()),
            (Self::Tables, _) => Err(wrong("a list of tables".into())),
            (Self::Number(least, greatest), _) => {
                let number = given.as_u64().filter(|number| (least..=greatest).contains(number));
                number.map(Value::from).ok_or_else(|| wrong(number_in(least, greatest)))
            }
            (Self::OneOf(names), _) => {
                let name = given.as_str().filter(|given| names.iter().any(|(name, _)| name == given));
                name.map(Value::from).ok_or_else(|| wrong(either(names)))
            }
            (Self::SomeOf(_) | Self::Range, Value::String(text)) => self.read(&items(text)),
            (Self::SomeOf(names), _) => {
                let is_name = |given: &Value| names.iter().any(|(name, _)| given == name);
                let list = given.as_array().filter(|list| list.iter().all(is_name));
                list.map(|list| Value::Array(list.clone())).ok_or_else(|| wrong(either(names)))
            }
            (Self::Range, _) => {
                let list = given.as_array().filter(|list| list.len() == 2 && list.iter().all(Value::is_u64));
                let range = || "a least and a greatest size, such as `410-614`, or `0-0` for none".to_owned();
                list.map(|list| Value::Array(list.clone())).ok_or_else(|| wrong(range()))
            }
        }
    }

    /// Parses a value from text, as in variables and flags.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn parse(self, text: &str) -> Result<Value, ValueError> {
        let value = match self {
            Self::Number(..) => text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from),
            _ => Value::from(text),
        };
        self.read(&value)
    }
}

/// The number of bytes that text such as `64K` stands for.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << unit)
}

/// The texts between commas, but for commas in braces.
fn listed(text: &str) -> Vec<Value> {
    let mut depth = 0_usize;
    let is_border = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let items = text.split(is_border).map(str::trim);
    items.filter(|item| !item.is_empty()).map(Value::from).collect()
}

fn number_in(least: u64, greatest: u64) -> String {
    match (least, greatest) {
        (0, _) => format!("a whole number of at most {greatest}"),
        _ => format!("a whole number from {least} to {greatest}"),
    }
}

fn either(names: &[Choice]) -> String {
    let quoted: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

pub(super) fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
