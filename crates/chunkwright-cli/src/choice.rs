//! Flags whose values are names of a type of the engine.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Takes one of these names, each with its help, for the value that JSON means by it.
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
