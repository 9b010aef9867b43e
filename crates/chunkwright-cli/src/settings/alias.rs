//! Aliases of keys, in files, variables and flags.

use std::fmt::Display;

use anyhow::{Result, anyhow, bail};
use chunkwright::{ALIASES, Alias, Means, Unit};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use serde::Serialize;
use toml::{Table, Value};

use super::listed;

/// The names of all aliases.
pub(super) fn names() -> impl Iterator<Item = String> {
    ALIASES.iter().map(|alias| alias.name.to_owned())
}

/// The keys that are no aliases: what messages name.
pub(super) fn without(keys: &[String]) -> Vec<String> {
    keys.iter().filter(|key| !names().any(|alias| alias == **key)).cloned().collect()
}

/// Replaces every alias in `values` by what it stands for. `place` is where the values came from.
pub(super) fn resolve(values: &mut Table, place: &dyn Display) -> Result<()> {
    for alias in ALIASES {
        let Some(value) = values.remove(alias.name) else { continue };
        for (key, value) in meaning(alias, value, place)? {
            let other = values.insert(key.clone(), value.clone()).filter(|other| *other != value);
            if let Some(other) = other {
                let name = alias.name;
                bail!("`{name}` in {place} makes `{key}` {value}, but it is {other} there; say only one");
            }
        }
    }
    Ok(())
}

/// The keys and values that an alias with this value stands for.
fn meaning(alias: &Alias, value: Value, place: &dyn Display) -> Result<Vec<(String, Value)>> {
    let unit = |unit| match unit {
        Unit::Tokens => Value::from("tokens"),
        Unit::Chars => Value::from("chars"),
    };
    Ok(match alias.means {
        Means::Key(key) => vec![(key.into(), value)],
        Means::Size(key, size) => vec![(key.into(), value), ("unit".into(), unit(size))],
        Means::Values(meanings) => {
            let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let found = meanings.iter().find(|(name, _)| *name == said).ok_or_else(|| {
                let known: Vec<String> = meanings.iter().map(|(name, _)| (*name).to_owned()).collect();
                let name = alias.name;
                anyhow!("`{name}` in {place} is `{said}`; it must be one of {}", listed(&known))
            })?;
            found.1.iter().map(|&(key, text)| (key.into(), Value::from(text))).collect()
        }
        // Other crates may be newer than this one.
        _ => bail!("`{}` in {place} is not known to this program", alias.name),
    })
}

/// A list written as text: `code,table` or `410-614`.
pub(super) fn list(text: &str) -> Value {
    let items =
        text.trim_matches(['[', ']']).split([',', '-']).map(str::trim).filter(|item| !item.is_empty());
    let item = |item: &str| item.parse::<i64>().map_or_else(|_| Value::from(item), Value::from);
    Value::Array(items.map(item).collect())
}

/// Every alias as a flag, `--max-chars 1800`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct AliasFlags(Table);

impl AliasFlags {
    fn read(matches: &ArgMatches) -> Self {
        let given = ALIASES.iter().filter_map(|alias| {
            let value = matches.get_one::<String>(alias.name)?;
            let value = value.parse::<i64>().map_or_else(|_| Value::from(value.as_str()), Value::from);
            Some((alias.name.to_owned(), value))
        });
        Self(given.collect())
    }
}

impl FromArgMatches for AliasFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self::read(matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::read(matches);
        Ok(())
    }
}

impl Args for AliasFlags {
    fn augment_args(command: Command) -> Command {
        ALIASES.iter().fold(command, |command, alias| {
            let long = alias.name.replace('_', "-");
            // Hidden: with them the help would be twice as long.
            let help = "A key of another design, taken over as it is";
            command.arg(Arg::new(alias.name).long(long).value_name("VALUE").help(help).hide(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
