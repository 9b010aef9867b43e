//! The table of keys that configure cutting, and the configuration that results when only some are set.
//!
//! [`KEYS`] says for every key which values it takes and what it does. Configuration files, variables, flags, schemas
//! and the keywords of other languages are made from it.

mod aliases;
mod least;
mod sizes;
mod topic;
mod values;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chunk::{
    ChunkConfig, ConfigError, ContextRule, Keep, Kind, Packing, STRATEGIES, Unit, UnknownFiles,
};
use crate::preset;
use values::quoted;

pub use aliases::{Aliased, resolve_aliases};
pub use topic::{Counts, TOPICS, Topic};
pub use values::{Choice, ValueError, Values};

/// A key of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name: that of the field, of the flag with `-` for `_`, and of the variable in capitals.
    pub name: &'static str,
    /// The values that it takes.
    pub values: Values,
    /// Its help text, in Markdown: one sentence, then further explanation after a blank line. What its choices mean is
    /// apart, in [`choices`](Self::choices).
    pub help: &'static str,
    /// Its subject.
    pub about: About,
}

/// The subject of a key, and how it relates to others.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The subject, under which front ends show the key.
    pub topic: Topic,
    /// The unit of its numbers.
    pub counts: Option<Counts>,
    /// The only strategy that reads the key.
    pub strategy: Option<&'static str>,
    /// Whether it is a size, which follows `max_size` and `unit` unless it is set itself.
    pub is_size: bool,
    /// Whether changing its value can change chunks.
    pub moves_boundaries: bool,
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
        /// The error of the value.
        error: ValueError,
    },
    /// An alias and the key it stands for have different values.
    #[error("`{alias}` makes `{key}` {value}, but it is {other} there; set only one")]
    Contradiction {
        /// The alias.
        alias: &'static str,
        /// The key.
        key: String,
        /// The value that results from the alias.
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
        /// What was expected.
        expected: String,
    },
    /// The configuration that results cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

const SIZE: Values = Values::Number(0, ChunkConfig::GREATEST_SIZE as u64);
const KINDS: Values = Values::SomeOf(&[("code", "fenced and indented code in prose"), ("table", "tables")]);
const LEVEL: Values = Values::Number(1, 6);
const UNITS: Values =
    Values::OneOf(&[("tokens", "what the tokenizer counts"), ("chars", "Unicode scalar values")]);
const CONTEXTS: Values = Values::OneOf(&[
    ("none", "nothing"),
    ("path", "all titles above the chunk"),
    ("title", "the title of the innermost section"),
    ("heading", "the heading as in the source, if the chunk has none"),
]);
const PACKINGS: Values = Values::OneOf(&[
    ("balanced", "toward `target_size`, at places that an edit elsewhere does not move"),
    ("even", "toward `target_size`, all chunks alike; an edit may move every cut of the section"),
    ("first_fit", "as much as the limit allows, from the first on"),
]);

const UNKNOWN_FILES: Values = Values::OneOf(&[
    ("text", "as plain text, by its paragraphs"),
    ("lines", "as source code without a grammar, by `fixed_chunk_lines`"),
]);

/// Declares [`ChunkOptions`] and [`KEYS`] together, so that neither can lack what the other has.
macro_rules! keys {
    ($($(#[doc = $help:literal])+ $name:ident: $type:ty = $values:expr, $about:expr;)*) => {
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

            /// The keys whose values `to` has otherwise than `from`, with the values of `to`.
            fn differences(from: &ChunkConfig, to: &ChunkConfig) -> Self {
                Self { preset: None, $($name: (from.$name != to.$name).then(|| to.$name.clone()),)* }
            }

            /// The number of keys that are set.
            fn count(&self) -> usize {
                [$(self.$name.is_some()),*].into_iter().filter(|is_set| *is_set).count()
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
            about: $about,
        }),*];
    };
}

keys! {
    /// How documents are cut
    strategy: String = Values::Text("NAME"), About::of(Topic::STRATEGY);
    /// What sizes are counted in
    ///
    /// The sizes of a preset made for the other unit are scaled by 4 characters per token: `--unit chars` alone turns
    /// 256, 200 and 64 of `auto` into 1024, 800 and 256.
    unit: Unit = UNITS, About::of(Topic::SIZES);
    /// Hard limit of the text that is embedded, borrowed context included
    ///
    /// Sizes that are not set keep their proportion to it: in `auto`, the target is 200/256 and the minimum 64/256 of
    /// it.
    max_size: usize = SIZE, About::of(Topic::SIZES).size();
    /// Size aimed at where a section is split
    target_size: usize = SIZE, About::of(Topic::SIZES).size();
    /// A chunk below this size joins a neighbour where it can
    min_size: usize = SIZE, About::of(Topic::SIZES).size();
    /// Size of the text before a chunk that is repeated as its context
    overlap_size: usize = SIZE, About::of(Topic::SIZES).size();
    /// What a chunk borrows
    ///
    /// Of source code, each but `none` borrows signatures.
    context: ContextRule = CONTEXTS, About::of(Topic::CONTEXT);
    /// Deepest heading level in `header_path`, 1 to 6
    max_heading_level_for_path: u8 = LEVEL, About::of(Topic::CONTEXT).counting(Counts::Levels).moving_nothing();
    /// `sections`: deepest heading level that begins a section, 1 to 6
    section_level: u8 = LEVEL, About::of(Topic::STRATEGY).counting(Counts::Levels).only_in("sections");
    /// How a section that is too large is split
    packing: Packing = PACKINGS, About::of(Topic::STRATEGY);
    /// Blocks that are never split, and marked `oversize` if over the limit
    keep_whole: Vec<Keep> = KINDS, About::of(Topic::BLOCKS);
    /// Blocks that become chunks of their own
    set_apart: Vec<Keep> = KINDS, About::of(Topic::BLOCKS);
    /// A paragraph shorter than this, in characters, may introduce the code, table or list after it
    lead_in_chars: usize = SIZE, About::of(Topic::BLOCKS).counting(Counts::Chars);
    /// `adaptive`: a document below this size is one chunk
    short_size: usize = SIZE, About::of(Topic::ADAPTIVE).size().only_in("adaptive");
    /// `adaptive`: a document above this size is cut at its headings
    long_size: usize = SIZE, About::of(Topic::ADAPTIVE).size().only_in("adaptive");
    /// `adaptive`: limit in documents between these sizes
    medium_max_size: usize = SIZE, About::of(Topic::ADAPTIVE).size().only_in("adaptive");
    /// `adaptive`: overlap in documents between these sizes
    medium_overlap_size: usize = SIZE, About::of(Topic::ADAPTIVE).size().only_in("adaptive");
    /// Wanted sizes, such as 410-614: reports count the share inside, `adaptive` aims at it
    band: [usize; 2] = Values::Range, About::of(Topic::SIZES).counting(Counts::Size);
    /// Lines per chunk of source code without a grammar; 0 cuts it like everything else
    fixed_chunk_lines: usize = SIZE, About::of(Topic::CODE).counting(Counts::Lines);
    /// How a file is cut whose extension nothing knows
    unknown_files: UnknownFiles = UNKNOWN_FILES, About::of(Topic::CODE);
    /// Lines that a chunk cut by lines repeats from the one before
    overlap_lines: usize = SIZE, About::of(Topic::CODE).counting(Counts::Lines);
    /// What documents are, by their paths: tables with `name`, `paths` and what differs for them
    kinds: Vec<Kind> = Values::Tables, About::of(Topic::DOCUMENTS);
}

impl Key {
    /// The key called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
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
}

impl Key {
    /// The values that it takes, each with what it means: a closed list or the members of its registry. Empty where any
    /// value of a type is possible.
    pub fn choices(&self) -> Vec<Choice> {
        match (self.name, self.values) {
            ("strategy", _) => {
                STRATEGIES.iter().map(|strategy| (strategy.name(), strategy.summary())).collect()
            }
            (_, Values::OneOf(choices) | Values::SomeOf(choices)) => choices.to_vec(),
            _ => Vec::new(),
        }
    }
}

/// A help text with each of its paragraphs on one line.
pub fn paragraphs(help: &str) -> String {
    let lines = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let help = help.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    help.trim().split("\n\n").map(lines).collect::<Vec<_>>().join("\n\n")
}

/// A help text whose first paragraph lists these choices.
pub fn with_choices(
    help: &str,
    choices: impl IntoIterator<Item = (impl fmt::Display, &'static str)>,
) -> String {
    let choices = choices.into_iter().map(|(name, means)| format!("`{name}` ({means})"));
    let choices = choices.collect::<Vec<_>>().join("; ");
    let (what, rest) = help.split_at(help.find("\n\n").unwrap_or(help.len()));
    let joint = if choices.is_empty() { "" } else { ": " };
    format!("{what}{joint}{choices}{rest}")
}
