//! Which keys configure cutting, and which configuration results where only some of them are set?
//!
//! One table, [`KEYS`], says of every key what its values are and what it does. Configuration files, variables, flags,
//! schemas and the keywords of other languages are made from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chunk::{
    ALIASES, ChunkConfig, ConfigError, ContextRule, Keep, Kind, Means, OtherName, Packing, STRATEGIES, Unit,
};
use crate::preset;

/// A key of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name: that of the field, of the flag with `-` for `_`, and of the variable in capitals.
    pub name: &'static str,
    /// Which values it takes.
    pub values: Values,
    /// What it does, in Markdown: one sentence, and whatever else a reader needs after a blank line.
    pub help: &'static str,
    /// Whether it is a size, which follows `max_size` and `unit` where it is not set itself.
    pub is_size: bool,
    /// Whether another value can give other chunks.
    pub moves_boundaries: bool,
}

/// Which values a key takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values {
    /// Any text; the name says what of, for help texts.
    Text(&'static str),
    /// A whole number from the first to the second.
    Number(u64, u64),
    /// One of a few names.
    OneOf(&'static [&'static str]),
    /// Some of a few names, as a list or with commas between them.
    SomeOf(&'static [&'static str]),
    /// A least and a greatest number, as a list or with `-` between them.
    Range,
    /// A list of tables, which only files have.
    Tables,
    /// A list of texts; as text with commas between them, but for those in braces. The name says what of.
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
            Self::SomeOf(names) => write!(f, "a list of {}", quoted(names.iter().copied())),
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
    /// What would be right.
    pub expected: String,
}

/// A set of values that cannot be used together, or a key that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// No key has this name.
    #[error("unknown key `{name}`; known are {}", quoted(KEYS.iter().map(|key| key.name)))]
    UnknownKey {
        /// The name.
        name: String,
    },
    /// A key does not take this value.
    #[error("`{name}` {error}")]
    Value {
        /// The key.
        name: &'static str,
        /// What is wrong with the value.
        error: ValueError,
    },
    /// An alias and the key it stands for have different values.
    #[error("`{alias}` makes `{key}` {value}, but it is {other} there; set only one")]
    Contradiction {
        /// The alias.
        alias: &'static str,
        /// The key.
        key: String,
        /// What the alias makes of it.
        value: String,
        /// What it is.
        other: String,
    },
    /// An alias does not take this value.
    #[error("`{alias}` is `{value}`; it must be one of {expected}")]
    AliasValue {
        /// The alias.
        alias: &'static str,
        /// The value.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// The configuration that results cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

const SIZE: Values = Values::Number(0, ChunkConfig::GREATEST_SIZE as u64);
const KINDS: Values = Values::SomeOf(&["code", "table"]);
const LEVEL: Values = Values::Number(1, 6);

/// Declares [`ChunkOptions`] and [`KEYS`] together, so that neither can lack what the other has.
macro_rules! keys {
    ($($(#[doc = $help:literal])+ $name:ident: $type:ty = $values:expr, $is_size:literal, $moves:literal;)*) => {
        /// A configuration of which any key may be left out. What is left out is the preset's value, or follows from
        /// the keys that are set: see [`resolve`](Self::resolve).
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct ChunkOptions {
            /// Name of the preset to start from; without it `auto`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub preset: Option<String>,
            $($(#[doc = $help])+ #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<$type>,)*
        }

        impl ChunkOptions {
            /// Puts the keys that are set over `config`.
            fn assign(&self, config: &mut ChunkConfig) {
                $(if let Some(value) = &self.$name { config.$name.clone_from(value); })*
            }

            /// Whether a key is set.
            fn sets(&self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => self.$name.is_some(),)*
                    _ => false,
                }
            }
        }

        /// The keys that say how documents are cut, in the order of help texts: the fields of [`ChunkConfig`].
        pub static KEYS: &[Key] = &[$(Key {
            name: stringify!($name),
            values: $values,
            help: concat!($($help, "\n"),+),
            is_size: $is_size,
            moves_boundaries: $moves,
        }),*];
    };
}

keys! {
    /// How documents are cut
    strategy: String = Values::Text("NAME"), false, true;
    /// What sizes are counted in: `tokens` or `chars` (Unicode scalar values)
    ///
    /// The sizes of a preset made for the other unit are scaled by 4 characters per token: `--unit chars` alone turns
    /// 256, 200 and 64 of `auto` into 1024, 800 and 256.
    unit: Unit = Values::OneOf(&["tokens", "chars"]), false, true;
    /// Hard limit of the text that is embedded, borrowed context included
    ///
    /// Sizes that are not set keep their proportion to it: in `auto`, the target is 200/256 and the minimum 64/256 of
    /// it.
    max_size: usize = SIZE, true, true;
    /// Size aimed at where a section is split
    target_size: usize = SIZE, true, true;
    /// A chunk below this size joins a neighbour where it can
    min_size: usize = SIZE, true, true;
    /// Size of the text before a chunk that is repeated as its context
    overlap_size: usize = SIZE, true, true;
    /// What a chunk borrows: `title` (of the innermost section), `path` (all titles above it), `heading` (as in the
    /// source, if the chunk has none) or `none`; for source code, each but `none` borrows signatures
    context: ContextRule = Values::OneOf(&["none", "path", "title", "heading"]), false, true;
    /// Deepest heading level in `header_path`, 1 to 6
    max_heading_level_for_path: u8 = LEVEL, false, false;
    /// `sections`: deepest heading level that begins a section, 1 to 6
    section_level: u8 = LEVEL, false, true;
    /// How a section that is too large is split: `balanced`, `even` or `first_fit`
    packing: Packing = Values::OneOf(&["balanced", "even", "first_fit"]), false, true;
    /// Blocks that are never split, and marked `oversize` if over the limit: `code`, `table`, or both with a comma
    keep_whole: Vec<Keep> = KINDS, false, true;
    /// Blocks that become chunks of their own: `code`, `table`, or both with a comma
    set_apart: Vec<Keep> = KINDS, false, true;
    /// A paragraph shorter than this, in characters, may introduce the code, table or list after it
    lead_in_chars: usize = SIZE, false, true;
    /// `adaptive`: a document below this size is one chunk
    short_size: usize = SIZE, true, true;
    /// `adaptive`: a document above this size is cut at its headings
    long_size: usize = SIZE, true, true;
    /// `adaptive`: limit in documents between these sizes
    medium_max_size: usize = SIZE, true, true;
    /// `adaptive`: overlap in documents between these sizes
    medium_overlap_size: usize = SIZE, true, true;
    /// Wanted sizes, such as 410-614: reports count the share inside, `adaptive` aims at it
    band: [usize; 2] = Values::Range, false, true;
    /// Lines per chunk of source code without a grammar; 0 cuts it like everything else
    fixed_chunk_lines: usize = SIZE, false, true;
    /// Lines that a chunk cut by lines repeats from the one before
    overlap_lines: usize = SIZE, false, true;
    /// What documents are, by their paths: tables with `name`, `paths` and what differs for them
    kinds: Vec<Kind> = Values::Tables, false, true;
}

/// What sizes are multiplied by where the unit changes and they do not: about what English takes.
const CHARS_PER_TOKEN: usize = 4;

impl Key {
    /// The key called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
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
            (Self::Text(_), Value::String(_))
            | (Self::Tables, Value::Array(_))
            | (Self::Flag, Value::Bool(_)) => Ok(given.clone()),
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
            (Self::Tables, _) => Err(wrong("a list of tables".into())),
            (Self::Number(least, greatest), _) => {
                let number = given.as_u64().filter(|number| (least..=greatest).contains(number));
                number.map(Value::from).ok_or_else(|| wrong(number_in(least, greatest)))
            }
            (Self::OneOf(names), _) => {
                let name = given.as_str().filter(|name| names.contains(name));
                name.map(Value::from).ok_or_else(|| wrong(either(names)))
            }
            (Self::SomeOf(_) | Self::Range, Value::String(text)) => self.read(&items(text)),
            (Self::SomeOf(names), _) => {
                let is_name = |name: &Value| name.as_str().is_some_and(|name| names.contains(&name));
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

    /// The value that text stands for, as variables and flags have it.
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

fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl ChunkOptions {
    /// Reads keys, aliases among them, and their values.
    ///
    /// Aliases of one system select the preset that reproduces it, unless another preset is named; sizes that they
    /// leave out are that preset's.
    ///
    /// # Errors
    ///
    /// The first key that does not exist, or whose value it does not take.
    pub fn read(mut values: Map<String, Value>) -> Result<Self, OptionsError> {
        let system = resolve_aliases(&mut values)?.preset;
        let mut options = Self::read_keys(values)?;
        if let Some(system) = system
            && options.preset.as_deref().is_none_or(|name| name == system)
        {
            options.preset = Some(system.to_owned());
            options.set_sizes_of(&mut preset::preset(system)?);
        }
        Ok(options)
    }

    fn read_keys(mut values: Map<String, Value>) -> Result<Self, OptionsError> {
        let preset = values.remove("preset");
        let mut read = Map::new();
        for (name, value) in values {
            let key = Key::find(&name).ok_or(OptionsError::UnknownKey { name })?;
            let value =
                key.values.read(&value).map_err(|error| OptionsError::Value { name: key.name, error })?;
            read.insert(key.name.to_owned(), value);
        }
        if let Some(value) = preset {
            let value = Values::Text("NAME").read(&value);
            let value = value.map_err(|error| OptionsError::Value { name: "preset", error })?;
            read.insert("preset".into(), value);
        }
        let tables = read.get("kinds").map(ToString::to_string);
        // Of values that were read, only tables can be wrong still.
        serde_json::from_value(Value::Object(read)).map_err(|error| OptionsError::Value {
            name: "kinds",
            error: ValueError {
                value: tables.unwrap_or_default(),
                expected: error
                    .to_string()
                    .rsplit_once("expected ")
                    .map_or_else(|| error.to_string(), |(_, expected)| expected.to_owned()),
            },
        })
    }

    /// The configuration: that of the preset, with these options over it.
    ///
    /// # Errors
    ///
    /// A preset or strategy that does not exist, a value out of range.
    pub fn resolve(&self) -> Result<ChunkConfig, ConfigError> {
        let mut config = preset::preset(self.preset.as_deref().unwrap_or("auto"))?;
        self.apply(&mut config);
        config.check()?;
        Ok(config)
    }

    /// Puts the keys that are set over `config`, whatever `preset` is.
    ///
    /// Sizes that are not set follow those that are: in proportion to `max_size`; or, where only the unit changes, by
    /// four characters a token. Answers which did, and the key that they follow.
    pub fn apply(&self, config: &mut ChunkConfig) -> Vec<(&'static str, &'static str)> {
        let before = config.clone();
        self.assign(config);
        let (times, over, followed) = match (before.unit, config.unit) {
            _ if self.max_size.is_some() => (config.max_size, before.max_size, "max_size"),
            (Unit::Tokens, Unit::Chars) => (CHARS_PER_TOKEN, 1, "unit"),
            (Unit::Chars, Unit::Tokens) => (1, CHARS_PER_TOKEN, "unit"),
            _ => return Vec::new(),
        };
        let mut following = Vec::new();
        for (name, size) in sizes(config) {
            let scaled = (*size as u128 * times as u128 / over.max(1) as u128) as usize;
            if !self.sets(name) && scaled != *size {
                following.push((name, followed));
                *size = scaled;
            }
        }
        following
    }

    /// Puts the keys that are set over `config` as a configuration of the system that `config` reproduces means them:
    /// no size follows another. One that is not set and that those that are leave no room for becomes as large as they
    /// allow. Answers which did, and the key that limits them.
    pub fn apply_unscaled(&self, config: &mut ChunkConfig) -> Vec<(&'static str, &'static str)> {
        self.assign(config);
        let (max, short, long) = (config.max_size, config.short_size, config.long_size);
        let mut limited = Vec::new();
        let mut limit = |name, size: &mut usize, most, by| {
            if *size > most && !self.sets(name) {
                *size = most;
                limited.push((name, by));
            }
        };
        limit("target_size", &mut config.target_size, max, "max_size");
        limit("min_size", &mut config.min_size, max, "max_size");
        limit("overlap_size", &mut config.overlap_size, max / 2, "max_size");
        limit("short_size", &mut config.short_size, long, "long_size");
        if short > long && !self.sets("long_size") {
            config.long_size = config.short_size;
            limited.push(("long_size", "short_size"));
        }
        limited
    }

    /// Sets the sizes that are not set to those of `config`, as far as the others leave room for them.
    fn set_sizes_of(&mut self, config: &mut ChunkConfig) {
        self.apply_unscaled(config);
        let sizes = [
            (&mut self.max_size, config.max_size),
            (&mut self.target_size, config.target_size),
            (&mut self.min_size, config.min_size),
            (&mut self.overlap_size, config.overlap_size),
            (&mut self.short_size, config.short_size),
            (&mut self.long_size, config.long_size),
            (&mut self.medium_max_size, config.medium_max_size),
            (&mut self.medium_overlap_size, config.medium_overlap_size),
        ];
        for (option, size) in sizes {
            option.get_or_insert(size);
        }
    }
}

/// The sizes of a configuration: the keys of which [`Key::is_size`] is true.
fn sizes(config: &mut ChunkConfig) -> [(&'static str, &mut usize); 8] {
    [
        ("max_size", &mut config.max_size),
        ("target_size", &mut config.target_size),
        ("min_size", &mut config.min_size),
        ("overlap_size", &mut config.overlap_size),
        ("short_size", &mut config.short_size),
        ("long_size", &mut config.long_size),
        ("medium_max_size", &mut config.medium_max_size),
        ("medium_overlap_size", &mut config.medium_overlap_size),
    ]
}

/// What aliases among values stood for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliased {
    /// The preset of the system whose names they are; `None` where there are none, or those of several systems.
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
        Means::Size(key, size) => vec![(key.into(), value), ("unit".into(), unit(size))],
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

/// What a key does, as paragraphs of one line each with blank lines between them; with the members of the registry
/// that its values come from.
pub fn help_of(key: &Key) -> String {
    let lines = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let lines_of = key.help.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let help = lines_of.trim().split("\n\n").map(lines).collect::<Vec<_>>().join("\n\n");
    if key.name != "strategy" {
        return help;
    }
    let names = STRATEGIES.iter().map(|strategy| format!("`{}` ({})", strategy.name(), strategy.summary()));
    format!("{help}: {}", names.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(values: Value) -> Result<ChunkOptions, OptionsError> {
        match values {
            Value::Object(values) => ChunkOptions::read(values),
            _ => panic!("options are an object"),
        }
    }

    fn check(values: Value, expected: &ChunkConfig) {
        assert_eq!(&options(values).unwrap().resolve().unwrap(), expected);
    }

    fn refuses(values: Value, expected: &str) {
        let error = options(values).and_then(|options| Ok(options.resolve()?)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn every_field_of_a_configuration_is_a_key_and_every_size_scales() {
        let Value::Object(fields) = serde_json::to_value(ChunkConfig::default()).unwrap() else { panic!() };
        let fields: Vec<&str> = fields.keys().map(String::as_str).collect();
        let mut keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        let in_order = keys.clone();
        keys.sort_unstable();
        let mut sorted = fields.clone();
        sorted.sort_unstable();
        assert_eq!((keys, in_order.len()), (sorted, fields.len()));
        let mut config = ChunkConfig::default();
        let scaling: Vec<&str> = sizes(&mut config).into_iter().map(|(name, _)| name).collect();
        let sizes: Vec<&str> = KEYS.iter().filter(|key| key.is_size).map(|key| key.name).collect();
        assert_eq!(scaling, sizes);
    }

    #[test]
    fn sizes_follow_the_limit_or_the_unit() {
        let auto = ChunkConfig::default;
        check(json!({}), &auto());
        check(
            json!({"max_size": 512}),
            &ChunkConfig {
                max_size: 512,
                target_size: 400,
                min_size: 128,
                short_size: 600,
                long_size: 1600,
                medium_max_size: 1024,
                medium_overlap_size: 200,
                ..auto()
            },
        );
        let chars = options(json!({"unit": "chars"})).unwrap().resolve().unwrap();
        assert_eq!((chars.max_size, chars.target_size, chars.min_size), (1024, 800, 256));
        let both = options(json!({"unit": "chars", "max_size": 512})).unwrap().resolve().unwrap();
        assert_eq!((both.max_size, both.target_size, both.min_size), (512, 400, 128));
    }

    #[test]
    fn lists_may_be_text_and_aliases_stand_for_keys() {
        let given = json!({"keep_whole": "code,table", "band": "410-614"});
        let config = options(given).unwrap().resolve().unwrap();
        assert_eq!((config.keep_whole, config.band), (vec![Keep::Code, Keep::Table], [410, 614]));
        let config = options(json!({"max_chars": 1800})).unwrap().resolve().unwrap();
        assert_eq!((config.max_size, config.unit), (1800, Unit::Chars));
    }

    #[test]
    fn keys_of_another_system_select_its_preset_and_scale_nothing() {
        let of = |name| preset::preset(name).unwrap();
        check(json!({"max_chars": 1800}), &of("stable"));
        check(json!({"max_chars": 1000}), &ChunkConfig { max_size: 1000, target_size: 1000, ..of("stable") });
        check(
            json!({"max_chunk_size": 2000, "code_block_strategy": "hybrid"}),
            &ChunkConfig { max_size: 2000, ..of("course") },
        );
        check(
            json!({"chunk_size": 300}),
            &ChunkConfig { max_size: 300, target_size: 300, overlap_size: 150, ..of("course") },
        );
        check(
            json!({"chunk_strategy": "simple"}),
            &ChunkConfig { strategy: "window".into(), ..of("adaptive") },
        );
        check(
            json!({"adaptive_chunk_max_words_short": 900}),
            &ChunkConfig { short_size: 900, long_size: 900, ..of("adaptive") },
        );
        check(json!({"strategy": "semantic"}), &of("course"));
        check(json!({"preset": "semantic"}), &of("course"));
        check(json!({"max_tokens": 1024}), &ChunkConfig { max_size: 1024, ..of("code") });
        // A preset that is named wins, and names of several systems select none.
        let config = options(json!({"preset": "auto", "max_chars": 1024})).unwrap().resolve().unwrap();
        assert_eq!((config.strategy.as_str(), config.max_size, config.target_size), ("tree", 1024, 800));
        let mixed = options(json!({"max_chars": 1024, "chunk_overlap": 10})).unwrap();
        assert_eq!(mixed.preset, None);
    }

    #[test]
    fn lists_and_bytes_may_be_text() {
        let read = |values: Values, text: &str| values.parse(text).map_err(|error| error.to_string());
        assert_eq!(read(Values::List("GLOB"), "*.{a,b}, c"), Ok(json!(["*.{a,b}", "c"])));
        assert_eq!(read(Values::Bytes, "64K"), Ok(json!(65536)));
        assert_eq!(read(Values::Bytes, "10"), Ok(json!(10)));
        assert_eq!(read(Values::Flag, "true"), Ok(json!(true)));
        assert!(read(Values::Bytes, "1X").is_err() && read(Values::Flag, "yes").is_err());
    }

    #[test]
    fn what_is_wrong_says_what_would_be_right() {
        refuses(
            json!({"max_size": "big"}),
            "`max_size` is \"big\"; it must be a whole number of at most 4294967295",
        );
        refuses(json!({"max_size": 4}), "`max_size` is `4`; it must be at least `8`");
        refuses(json!({"unit": "bytes"}), "`unit` is \"bytes\"; it must be `tokens` or `chars`");
        refuses(json!({"section_level": 9}), "`section_level` is 9; it must be a whole number from 1 to 6");
        refuses(
            json!({"code_block_strategy": "none"}),
            "`code_block_strategy` is `none`; it must be one of `hybrid`, `whole`, `split`",
        );
        refuses(
            json!({"max_chars": 100, "max_size": 200}),
            "`max_chars` makes `max_size` 100, but it is 200 there; set only one",
        );
    }
}
