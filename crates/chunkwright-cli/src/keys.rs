//! Flags that are keys of the settings, made from the engine's table of them.

use chunkwright::options::paragraphs;
use chunkwright::{ALIASES, Key, Values};
use chunkwright_engine::settings::key::{self, Group};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use serde_json::Value;

use crate::candidates;

/// Flags that are keys of the settings.
pub(crate) trait KeyFlags {
    /// The given keys, and their values as text.
    fn values(&self) -> &[(String, Value)];
}

/// Declares the flags of groups of keys.
macro_rules! flags_of {
    ($($(#[$doc:meta])* $Flags:ident = $group:ident, $heading:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $Flags(Vec<(String, Value)>);

        impl KeyFlags for $Flags {
            fn values(&self) -> &[(String, Value)] {
                &self.0
            }
        }

        impl FromArgMatches for $Flags {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Ok(Self(read(Group::$group, matches)))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                self.0 = read(Group::$group, matches);
                Ok(())
            }
        }

        impl Args for $Flags {
            fn augment_args(command: Command) -> Command {
                augment(Group::$group, $heading, command)
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }
    )*};
}

flags_of! {
    /// Flags that say how documents are cut.
    CutFlags = Cutting, "Cutting";
    /// Flags that say which files of folders are taken.
    FileFlags = Files, "Input";
    /// Flags that say which collection is meant, and what embeds its texts.
    CollectionFlags = Collection, "Collection";
    /// Flags that say what embeds texts.
    EmbedderFlags = Embedding, "Searching";
    /// Flags that say what ranks the best hits again.
    RerankerFlags = Reranking, "Searching";
    /// Flags that say how many generations of a collection stay.
    GenerationFlags = Generations, "Collection";
    /// Flags of a folder that is indexed while it is served.
    ServingFlags = Serving, "Searching";
    /// Flags that say what writes notes.
    WriterFlags = Writing, "Notes";
}

impl CollectionFlags {
    /// Whether a collection is named.
    pub(crate) fn is_named(&self) -> bool {
        self.0.iter().any(|(key, _)| key == "collection")
    }
}

/// Flags that say which collections are meant, one or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollectionsFlags {
    /// The flags of one collection, the first where several are named.
    pub(crate) one: CollectionFlags,
    /// Every collection that is named.
    pub(crate) named: Vec<String>,
}

impl FromArgMatches for CollectionsFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let named = matches.get_many::<String>("collection").unwrap_or_default().cloned().collect();
        Ok(Self { one: CollectionFlags::from_arg_matches(matches)?, named })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CollectionsFlags {
    fn augment_args(command: Command) -> Command {
        let help = "A collection to search; give it several times to search several";
        let several = |arg: Arg| arg.action(ArgAction::Append).help(help);
        CollectionFlags::augment_args(command).mut_arg("collection", several)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl CutFlags {
    /// The value of a flag, if it was given.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_str())
    }

    /// These flags without one of them.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(key, _)| key != name).cloned().collect())
    }
}

/// The keys that `--help` lists, for the first hour; `help COMMAND` lists all.
const LISTED: [&str; 11] = [
    "preset",
    "strategy",
    "max_size",
    "tokenizer",
    "include",
    "exclude",
    "type",
    "collection",
    "store",
    "embedder",
    "reranker",
];

/// Keys that a letter stands for too.
const LETTERS: [(&str, char); 3] = [("preset", 'p'), ("collection", 'c'), ("type", 't')];

fn read(group: Group, matches: &ArgMatches) -> Vec<(String, Value)> {
    let aliases = ALIASES.iter().map(|alias| alias.name).filter(|_| group == Group::Cutting);
    let names = flags(group).map(|key| key.name).chain(aliases);
    let value = |name: &str| match Key::find(name).or_else(|| flags(group).find(|key| key.name == name)) {
        Some(Key { values: Values::List(_), .. }) => {
            let given = matches.get_many::<String>(name)?;
            Some(Value::Array(given.cloned().map(Value::String).collect()))
        }
        _ => matches.get_one::<String>(name).cloned().map(Value::String),
    };
    names.filter_map(|name| Some((name.to_owned(), value(name)?))).collect()
}

/// The keys of a group that are flags: tables are written in files.
fn flags(group: Group) -> impl Iterator<Item = &'static Key> {
    key::keys(group).into_iter().filter(|key| !matches!(key.values, Values::Tables))
}

fn augment(group: Group, heading: &'static str, command: Command) -> Command {
    let mut command = command.next_help_heading(heading);
    for key in flags(group) {
        let mut arg = Arg::new(key.name)
            .long(key.name.replace('_', "-"))
            .value_name(value_name(key))
            .hide_short_help(!LISTED.contains(&key.name))
            .help(in_short(key))
            .long_help(key::help(key));
        arg = match key.values {
            Values::List(_) => arg.action(ArgAction::Append),
            Values::Flag => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .hide_possible_values(true),
            _ => arg,
        };
        if let Some(candidates) = candidates::of(key) {
            arg = arg.add(candidates);
        }
        if let Some((_, letter)) = LETTERS.iter().find(|(name, _)| *name == key.name) {
            arg = arg.short(*letter);
        }
        command = command.arg(arg);
    }
    if group == Group::Cutting {
        // Hidden: with them the help would be twice as long.
        let alias = |name: &'static str| Arg::new(name).long(name.replace('_', "-")).hide(true);
        let help = "A key of another tool, with its meaning there";
        command = command.args(ALIASES.iter().map(|other| alias(other.name).value_name("VALUE").help(help)));
    }
    command.next_help_heading(None)
}

/// The help of a key in `--help`: its values without what each means, which takes a paragraph.
fn in_short(key: &Key) -> String {
    let help = paragraphs(key.help);
    let what = help.split("\n\n").next().unwrap_or_default();
    let names = names(key);
    if names.is_empty() { what.to_owned() } else { format!("{what}: {}", names.join(", ")) }
}

/// The known values of a key.
fn names(key: &Key) -> Vec<String> {
    key::known_values(key).into_iter().map(|(name, _)| name).collect()
}

/// What help texts show in place of a value.
fn value_name(key: &Key) -> String {
    match key.values {
        Values::Text(name) | Values::List(name) => name.to_owned(),
        Values::OneOf(_) => names(key).join("|"),
        Values::SomeOf(_) => names(key).join(","),
        Values::Range => "A-B".to_owned(),
        Values::Flag => "true|false".to_owned(),
        Values::Bytes => "N[K|M|G]".to_owned(),
        _ => "N".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_help_lists_first_and_letters_stand_for_are_keys() {
        for name in LISTED.into_iter().chain(LETTERS.map(|(name, _)| name)) {
            assert!(key::all().iter().any(|key| key.name == name), "`{name}` is not a key");
        }
    }
}
