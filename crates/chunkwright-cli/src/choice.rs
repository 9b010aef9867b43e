//! Flags whose values are the names of an engine type.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value parser that accepts these names, each with its help, and converts them as JSON would.
pub(crate) fn choice<T>(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let possible = names.iter().map(|&(name, help)| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    });
    let possible = PossibleValuesParser::new(possible.collect::<Vec<_>>());
    possible.try_map(|name| serde_json::from_value(Value::String(name)))
}
