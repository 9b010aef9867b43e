//! The table of keys that configure cutting, and the configuration that results when only some are set.
//!
//! [`KEYS`] says for every key which values it takes and what it does. Configuration files, variables, flags, schemas
//! and the keywords of other languages are made from it.

mod aliases;
mod sizes;
mod values;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chunk::{ChunkConfig, ConfigError, ContextRule, Keep, Kind, Packing, STRATEGIES, Unit};
use crate::preset;
use values::quoted;

pub use aliases::{Aliased, resolve_aliases};
pub use values::{ValueError, Values};

/// A key of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name: that of the field, of the flag with `-` for `_`, and of the variable in capitals.
    pub name: &'static str,
    /// The values that it takes.
    pub values: Values,
    /// Its help text, in Markdown: one sentence, then further explanation after a blank line.
    pub help: &'static str,
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

/// A help text with each of its paragraphs on one line.
pub fn paragraphs(help: &str) -> String {
    let lines = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let help = help.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    help.trim().split("\n\n").map(lines).collect::<Vec<_>>().join("\n\n")
}

/// The help of a key, as paragraphs of one line each with blank lines between them; with the members of the registry
/// that its values come from.
pub fn help_of(key: &Key) -> String {
    let help = paragraphs(key.help);
    if key.name != "strategy" {
        return help;
    }
    let names = STRATEGIES.iter().map(|strategy| format!("`{}` ({})", strategy.name(), strategy.summary()));
    format!("{help}: {}", names.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sizes::sizes;
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
