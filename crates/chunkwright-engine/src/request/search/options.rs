//! The table of options that searches take.
//!
//! [`SEARCH_OPTIONS`] says for every option which values it takes, which it has by default and what it does. Requests,
//! flags, parameters of addresses, schemas and the page are made from it, as settings are from the table of keys.

pub(crate) mod values;

use std::fmt;

#[cfg(feature = "schema")]
use chunkwright_index::MAX_QUERY_CHARS;
use chunkwright_index::filter::suggestion;
use chunkwright_index::{Duplicates, Expand, Expansion, Filter, Fusion, Mode, NameRanking, SearchOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;

#[cfg(feature = "schema")]
pub(crate) use values::FilterForm;
pub use values::OptionValues;
pub(crate) use values::filter;

/// An option of searches.
#[derive(Clone, Copy, Debug)]
pub struct SearchOption {
    /// Its name: that of the parameter of an address, and of the flag with `-` for `_`.
    pub name: &'static str,
    /// Where it stands in the JSON of a [`SearchRequest`].
    pub pointer: &'static str,
    /// The values that it takes.
    pub values: OptionValues,
    /// Its value in a search that does not give it; null for none.
    pub default: fn() -> Value,
    /// Its help text, in Markdown: one sentence, then further explanation after a blank line.
    pub help: &'static str,
    /// The group that front ends show it in.
    pub group: OptionGroup,
    /// The option without which it has no effect.
    pub needs: Option<Needs>,
    /// The flag that gives it one value, in place of a flag that takes its values.
    pub switch: Option<Switch>,
    /// What it does in the fewest words, where agents are offered it as an argument of a tool; else empty.
    pub brief: &'static str,
}

/// A group of options, which front ends show together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OptionGroup {
    /// Options of what is in the answer.
    Answer,
    /// Options of how far hits are ranked.
    Ranking,
    /// Options of how rankings become one.
    Fusion,
    /// Options of the text around hits.
    Expansion,
    /// Options of the collections that are searched.
    Collections,
    /// Options of the fields that a hit has; a command selects fields otherwise.
    Fields,
}

/// What an option has no effect without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// The name of the other option.
    pub option: &'static str,
    /// The value that it must have; none for any.
    pub value: Option<&'static str>,
}

/// A flag that stands for one value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The name of the flag.
    pub flag: &'static str,
    /// The value of the option.
    pub value: &'static str,
    /// The help text of the flag.
    pub help: &'static str,
}

/// What a chunk is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExpandRequest {
    /// `parent`, `merge` or a number of neighbours.
    pub with: Expand,
    /// Most tokens of an expanded text, at least 1; by default 1,000, and no limit for neighbours.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_tokens: Option<usize>,
}

/// The switch that an entry of the table ends with, if it has one.
macro_rules! switch {
    () => {
        None
    };
    ($switch:expr) => {
        Some($switch)
    };
}

/// The words for agents that an entry of the table ends with, if it has some.
macro_rules! brief {
    () => {
        ""
    };
    ($brief:literal) => {
        $brief
    };
}

/// Declares [`SearchRequest`] and [`SEARCH_OPTIONS`] together, so that neither can lack what the other has: options that
/// are fields of a request, then those that are parts of its fields `fusion` and `expand`.
macro_rules! search_options {
    (
        $($(#[doc = $help:literal])+ $([$($attribute:meta),+])? $name:ident: $type:ty = $default:expr, $values:expr, $group:ident $(, $switch:expr)? $(=> $brief:literal)?;)*
        parts:
        $($(#[doc = $part_help:literal])+ $part:ident at $pointer:literal = $part_default:expr, $part_values:expr, $part_group:ident, $needs:expr $(=> $part_brief:literal)?;)*
    ) => {
        /// A search.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(transform = with_ranges))]
        #[serde(default, deny_unknown_fields)]
        pub struct SearchRequest {
            /// What to look for; may hold conditions such as `"a phrase" -word path:docs/ lang:rust`.
            #[cfg_attr(feature = "schema", schemars(length(max = MAX_QUERY_CHARS)))]
            pub query: String,
            /// Further queries. The hits of all come in turn, by rank, each chunk once.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub queries: Vec<String>,
            /// Names of the collections to search, each may be one generation, `NAME@N`; without a name, that of the settings, or
            /// the only one that there is.
            /// A [`Collection`](crate::Collection) and a [`Snapshot`](crate::Snapshot) search themselves, whatever is named here.
            pub collections: Vec<String>,
            $($(#[doc = $help])+ $($(#[$attribute])+)? pub $name: $type,)*
            /// How the rankings of the stages become one.
            pub fusion: Fusion,
            /// What hits are read with; none for the hits alone.
            pub expand: Option<ExpandRequest>,
        }

        impl Default for SearchRequest {
            fn default() -> Self {
                Self {
                    query: String::new(),
                    queries: Vec::new(),
                    collections: Vec::new(),
                    $($name: $default,)*
                    fusion: Fusion::default(),
                    expand: None,
                }
            }
        }

        /// The options of searches, in the order of help texts.
        pub static SEARCH_OPTIONS: &[SearchOption] = &[
            $(SearchOption {
                name: stringify!($name),
                pointer: concat!("/", stringify!($name)),
                values: $values,
                default: || json::<$type>($default),
                help: concat!($($help, "\n"),+),
                group: OptionGroup::$group,
                needs: None,
                switch: switch!($($switch)?),
                brief: brief!($($brief)?),
            },)*
            $(SearchOption {
                name: stringify!($part),
                pointer: $pointer,
                values: $part_values,
                default: || json($part_default),
                help: concat!($($part_help, "\n"),+),
                group: OptionGroup::$part_group,
                needs: $needs,
                switch: None,
                brief: brief!($($part_brief)?),
            },)*
        ];
    };
}

fn json<T: Serialize>(value: T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Any whole number from `least` on.
const fn from(least: u64) -> OptionValues {
    OptionValues::Number(least, u64::MAX)
}

const SHARE: OptionValues = OptionValues::Decimal(0.0, 1.0);
const MODES: OptionValues = OptionValues::OneOf(&["hybrid", "dense", "sparse", "lexical"]);
const KEEP_DUPLICATES: Switch = Switch {
    flag: "keep-duplicates",
    value: "keep",
    help: "Show hits that say what a better one says instead of collapsing them",
};
const OF_SUM: Option<Needs> = Some(Needs { option: "fusion", value: Some("sum") });
const OF_EXPANSION: Option<Needs> = Some(Needs { option: "expand", value: None });

search_options! {
    /// Search every collection of the store
    all_collections: bool = false, OptionValues::Flag, Collections;
    /// Stages to run; `hybrid` runs every stage that the collection has
    mode: Mode = Mode::Hybrid, MODES, Answer => "`lexical`: words alone; `dense`: meaning";
    /// Number of hits
    top_k: usize = SearchOptions::TOP_K, OptionValues::Number(1, SearchOptions::MAX_TOP_K as u64), Answer;
    /// Number of hits to leave out before the first: with 10 and a `top_k` of 10, the answer is the second page of 10
    ///
    /// The hits of two pages are those of one page of both. A page ends at `candidates` at the latest.
    offset: usize = 0, from(0), Answer => "Hits to skip";
    /// Maximum number of tokens of all text in the answer, counted by the configured `tokenizer`; hits that do not fit are left out
    max_tokens: Option<usize> = None, from(1), Answer => "Most tokens of texts";
    /// Only chunks that match: conditions FIELD=VALUE on any field of the record (also !=, >, >=, <, <=, ^= for a
    /// prefix, ~ for a glob), joined by `and`, `or`, `not` and parentheses
    [serde(deserialize_with = "filter"), cfg_attr(feature = "schema", schemars(with = "FilterForm"))]
    filter: Filter = Filter::default(), OptionValues::Filter, Answer => "Such as `language=rust and path=src/`";
    /// Search every generation of the collection, not only the current one
    all_versions: bool = false, OptionValues::Flag, Answer;
    /// Maximum number of hits per document
    per_document: Option<usize> = None, from(1), Answer => "Most hits of a document";
    /// What becomes of hits that say what a better one says: `near` names them in it if their words are the same, or if
    /// they are of the same file in another programming language; `collapse` only if their text is the same; `keep`
    /// shows them
    duplicates: Duplicates = Duplicates::Near, OptionValues::OneOf(&["near", "collapse", "keep"]), Answer, KEEP_DUPLICATES;
    /// Least relevance of a hit, from 0 to 1; 0 shows all [default: that of the model, see docs/searching.md]
    min_relevance: Option<f64> = None, SHARE, Answer => "0 shows all";
    /// Of a page that is there in several languages (docs/en/x.md, docs/ru/x.md, x.zh.md), show hits of one: that of the
    /// best hit
    collapse_translations: bool = false, OptionValues::Flag, Answer;
    /// Number of documents of the same folder, and of documents about the same, that each hit names
    related: usize = 0, from(0), Answer => "Documents like it that each hit names";
    /// Give hits their `text`, what is embedded and searched, beside the context and content that it is made of
    text: bool = false, OptionValues::Flag, Fields;
    /// Number of candidates that each stage hands to the fusion, and the last hit that pages can reach
    candidates: usize = SearchOptions::CANDIDATES, from(0), Ranking;
    /// Number of best hits that the reranker orders again
    rerank: usize = SearchOptions::RERANK, from(0), Ranking;
    /// Whether what a name in the query means comes `first`: the definition of an identifier, the section of a title
    names: NameRanking = NameRanking::First, OptionValues::OneOf(&["first", "off"]), Fusion;

    parts:
    /// How rankings are fused: `sum` (of scores scaled to 0..1) or `rrf` (reciprocal rank fusion)
    fusion at "/fusion/method" = "sum", OptionValues::OneOf(&["sum", "rrf"]), Fusion, None;
    /// Share of the dense score in a sum, from 0 (lexical only) to 1 (dense only) [default: that of the model, see
    /// docs/searching.md]
    dense_weight at "/fusion/dense_weight" = Value::Null, SHARE, Fusion, OF_SUM;
    /// Share of the sparse score in what the dense one leaves of a sum, from 0 (lexical only) to 1, for models with
    /// sparse vectors
    sparse_weight at "/fusion/sparse_weight" = Fusion::SPARSE_WEIGHT, SHARE, Fusion, OF_SUM;
    /// Share of late interaction in a second look at the best, from 0 (none) to 1, for models that give codes of tokens
    late_weight at "/fusion/late_weight" = Fusion::LATE_WEIGHT, SHARE, Fusion, OF_SUM;
    /// Constant of reciprocal rank fusion, at least 0; greater values weigh the first ranks less
    rrf_k at "/fusion/k" = Fusion::RRF_K, OptionValues::Decimal(0.0, f64::INFINITY), Fusion, Some(Needs { option: "fusion", value: Some("rrf") });
    /// What to show with a chunk: `parent` (the section around it), a number of neighbours on each side, or `merge`
    /// (adjacent hits as one passage)
    ///
    /// Of a section above --expand-tokens, the chunk is shown with as many whole neighbours on both sides as fit.
    /// Text that two chunks share is shown once.
    expand at "/expand/with" = Value::Null, OptionValues::Expand, Expansion, None => "`parent`: show the section around; a number: neighbours";
    /// Maximum number of tokens of an expanded text; by default 1000, and no limit for neighbours
    expand_tokens at "/expand/max_tokens" = Value::Null, from(1), Expansion, OF_EXPANSION;
}

impl SearchOption {
    /// The option called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        SEARCH_OPTIONS.iter().find(|option| option.name == name)
    }

    /// The flag of a command that gives this option, without the dashes; none if no flag does.
    pub fn flag(&self) -> Option<String> {
        match self.switch {
            Some(switch) => Some(switch.flag.to_owned()),
            None if self.group == OptionGroup::Fields => None,
            None => Some(self.name.replace('_', "-")),
        }
    }

    /// The help text with each paragraph on one line.
    pub fn help(&self) -> String {
        chunkwright::options::paragraphs(self.help)
    }

    /// The value that `given`, which may be text, stands for; null for none.
    ///
    /// # Errors
    ///
    /// A value of another type, or out of range.
    pub fn read(&self, given: &Value) -> Result<Value, Error> {
        if given.is_null() {
            return Ok(Value::Null);
        }
        if self.values == OptionValues::Filter
            && let Value::String(text) = given
        {
            return if text.trim().is_empty() { Ok(Value::Null) } else { Ok(json(Filter::parse(text)?)) };
        }
        self.values.read(given).ok_or_else(|| Error::OptionValue {
            pointer: self.pointer,
            option: self.name,
            value: match given {
                Value::String(text) => text.clone(),
                // `2.0` is shown as `2`.
                _ => given
                    .as_f64()
                    .filter(|_| given.is_f64())
                    .map_or_else(|| given.to_string(), |it| it.to_string()),
            },
            expected: self.values.expected(given),
        })
    }

    /// Adds the range of the values to their schema.
    #[cfg(feature = "schema")]
    pub(crate) fn put_range(&self, schema: &mut Value) {
        let Some((least, greatest)) = self.values.range() else { return };
        schema["minimum"] = least;
        if let Some(greatest) = greatest {
            schema["maximum"] = greatest;
        }
    }

    /// The value of this option in the JSON of requests. The names of all but one are those of JSON.
    pub fn json_of<'a>(&self, value: &'a str) -> &'a str {
        if self.name == "fusion" && value == "sum" { "weighted_sum" } else { value }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}={value}", self.option),
            None => f.write_str(self.option),
        }
    }
}

impl Needs {
    /// Whether the other option has the value, given the options that are set.
    fn is_met(self, given: &Map<String, Value>) -> bool {
        let default = || SearchOption::find(self.option).map(|option| (option.default)()).unwrap_or_default();
        let value = given.get(self.option).cloned().unwrap_or_else(default);
        self.value.map_or(!value.is_null(), |wanted| value == wanted)
    }
}

impl ExpandRequest {
    /// Checks the token limit.
    pub(crate) fn check(self) -> Result<Self, Error> {
        match self.max_tokens {
            Some(0) => Err(Error::TooSmall { field: "expand_tokens", value: 0, least: 1 }),
            _ => Ok(self),
        }
    }

    /// Lowers the limit to that of the whole answer.
    pub(crate) fn within(self, most: Option<usize>) -> Self {
        let usual = self.max_tokens.or(match self.with {
            Expand::Neighbours(_) => None,
            _ => Some(Expansion::DEFAULT_TOKENS),
        });
        Self { max_tokens: usual.into_iter().chain(most).min(), ..self }
    }
}

impl SearchRequest {
    /// A search for `query` with everything else at its default.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }

    /// A search for `query` with options by their names, each as JSON or as the text of a flag or an address.
    ///
    /// # Errors
    ///
    /// An unknown name, a value of another type or out of range, an option without the one that it needs.
    pub fn read<N: AsRef<str>>(
        query: impl Into<String>,
        options: impl IntoIterator<Item = (N, Value)>,
    ) -> Result<Self, Error> {
        let mut given = Map::new();
        for (name, value) in options {
            let option = SearchOption::find(name.as_ref()).ok_or_else(|| Error::UnknownOption {
                right: suggestion(name.as_ref(), SEARCH_OPTIONS.iter().map(|option| option.name)),
                name: name.as_ref().to_owned(),
            })?;
            let value = option.read(&value)?;
            if !value.is_null() {
                given.insert(option.name.to_owned(), value);
            }
        }
        let mut request = Value::Object(Map::new());
        for option in SEARCH_OPTIONS {
            if let Some(needs) = option.needs.filter(|needs| !needs.is_met(&given)) {
                match given.get(option.name) {
                    Some(_) => {
                        return Err(Error::OptionNeeds {
                            option: option.name,
                            pointer: option.pointer,
                            needed: needs.to_string(),
                        });
                    }
                    None => continue,
                }
            }
            let value = given.get(option.name).cloned().unwrap_or_else(option.default);
            if !value.is_null() {
                let value = value.as_str().map_or_else(|| value.clone(), |name| option.json_of(name).into());
                put(&mut request, option.pointer, value);
            }
        }
        Ok(Self { query: query.into(), ..serde_json::from_value(request)? })
    }

    /// Checks that every number is in its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let values = json(self);
        let ranges = SEARCH_OPTIONS.iter().filter(|option| option.values.range().is_some());
        ranges
            .filter_map(|option| Some((option, values.pointer(option.pointer)?)))
            .try_for_each(|(option, value)| option.read(value).map(drop))
    }
}

/// Puts a value where a JSON pointer of names says, in objects that are made as needed.
fn put(json: &mut Value, pointer: &str, value: Value) {
    let place = pointer.split('/').skip(1).fold(json, |json, name| &mut json[name]);
    *place = value;
}

/// Adds the ranges of the options that are fields of a request to its schema.
#[cfg(feature = "schema")]
fn with_ranges(schema: &mut schemars::Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for option in SEARCH_OPTIONS {
        if let Some(property) = properties.get_mut(&option.pointer[1..]) {
            option.put_range(property);
        }
    }
}
