//! Resolves keys of other systems to our own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::values::quoted;
use super::{Key, OptionsError};
use crate::chunk::{ALIASES, Means, OtherName, Unit};

/// The aliases found among values, resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliased {
    /// The preset of the system that the aliases belong to; `None` if there are no aliases, or those of several
    /// systems.
    pub preset: Option<&'static str>,
    /// The alias that each key was set by.
    pub names: BTreeMap<String, &'static str>,
}

/// Replaces every alias in `values` by what it stands for.
///
/// # Errors
///
/// A value that an alias does not take, or that contradicts the key that it stands for.
pub fn resolve_aliases(values: &mut Map<String, Value>) -> Result<Aliased, OptionsError> {
    let mut names = BTreeMap::new();
    let mut presets = BTreeSet::new();
    if let Some(strategy) = values.get_mut("strategy")
        && let Some(other) = strategy.as_str().and_then(OtherName::find)
    {
        *strategy = Value::from(other.strategy);
        presets.insert(other.preset);
    }
    for alias in ALIASES {
        let Some(value) = values.remove(alias.name) else { continue };
        presets.insert(alias.preset);
        for (key, value) in meaning(alias.name, alias.means, value)? {
            // What an alias brings along gives way to what is set beside it.
            if ["band", "unknown_files"].contains(&&*key) && values.contains_key(&key) {
                continue;
            }
            let value =
                Key::find(&key).map_or(Ok(value.clone()), |key| key.values.read(&value)).unwrap_or(value);
            let known = |other: &Value| {
                Key::find(&key).is_some_and(|key| key.values.read(other) == Ok(value.clone()))
            };
            let other =
                values.insert(key.clone(), value.clone()).filter(|other| *other != value && !known(other));
            if let Some(other) = other {
                let (value, other) = (value.to_string(), other.to_string());
                return Err(OptionsError::Contradiction { alias: alias.name, key, value, other });
            }
            names.insert(key, alias.name);
        }
    }
    let preset = if presets.len() == 1 { presets.pop_first() } else { None };
    Ok(Aliased { preset, names })
}

/// The keys and values that an alias with this value stands for.
fn meaning(alias: &'static str, means: Means, value: Value) -> Result<Vec<(String, Value)>, OptionsError> {
    let unit = |unit| match unit {
        Unit::Tokens => Value::from("tokens"),
        Unit::Chars => Value::from("chars"),
    };
    Ok(match means {
        Means::Key(key) => vec![(key.into(), value)],
        Means::Banded(key) => {
            let size = match &value {
                Value::String(text) => text.parse().ok(),
                value => value.as_u64(),
            };
            let band = size.filter(|size| *size >= 5).map(around);
            let band = band.map(|[least, greatest]| ("band".to_owned(), Value::from(vec![least, greatest])));
            [(key.to_owned(), value)].into_iter().chain(band).collect()
        }
        Means::Size(key, size) => vec![(key.into(), value), ("unit".into(), unit(size))],
        Means::CodeSize(key, size) => {
            let lines = ("unknown_files".to_owned(), Value::from("lines"));
            vec![(key.into(), value), ("unit".into(), unit(size)), lines]
        }
        Means::Values(meanings) => {
            let given = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // Python writes `True`.
            let found = meanings.iter().find(|(name, _)| name.eq_ignore_ascii_case(&given));
            let (_, assignments) = found.ok_or_else(|| OptionsError::AliasValue {
                alias,
                value: given.clone(),
                expected: quoted(meanings.iter().map(|(name, _)| *name)),
            })?;
            assignments.iter().map(|&(key, text)| (key.into(), Value::from(text))).collect()
        }
    })
}

/// The whole numbers within a fifth around a size, as the design rounds them: 410 to 614 for 512.
fn around(size: u64) -> [u64; 2] {
    let fifth = size as f64 / 5.0;
    [size as f64 - fifth, size as f64 + fifth].map(|end| end.round() as u64)
}
