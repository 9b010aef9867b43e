//! The keys beside those of cutting, and the groups that front ends offer them in.

use chunkwright::options::{About, Counts, KEYS, Topic, paragraphs, with_choices};
use chunkwright::preset::PRESETS;
use chunkwright::{ALIASES, Key, Values};
use chunkwright_models::{COUNTERS, DIALECTS, EMBEDDERS, ONNX, RERANK_DIALECTS, RERANKERS, WRITERS};

/// A group of keys, which front ends show together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Keys of cutting.
    Cutting,
    /// Keys that select files in folders.
    Files,
    /// Keys of the collection and its embedder.
    Collection,
    /// Keys of the embedder.
    Embedding,
    /// Keys of the reranker.
    Reranking,
    /// Keys of the writer of notes.
    Writing,
    /// Keys of the data folder.
    Data,
    /// Keys of what a store keeps: generations, and what it holds in memory.
    Generations,
    /// Keys of folders that are indexed while they are served.
    Serving,
}

/// The selection of files.
const FILES: Topic = Topic { name: "files", title: "Files" };
/// The collection and its store.
const STORES: Topic = Topic { name: "store", title: "Store" };
/// Models and services.
const MODELS: Topic = Topic { name: "models", title: "Models" };

/// The subjects of all keys, in the order in which front ends show them.
#[cfg(feature = "schema")]
pub(crate) fn topics() -> impl Iterator<Item = Topic> {
    chunkwright::options::TOPICS.iter().copied().chain([FILES, STORES, MODELS])
}

/// Declares a text key that does not move boundaries by itself.
macro_rules! text_key {
    ($constant:ident, $name:literal, $value:literal, $topic:ident, $help:literal) => {
        #[doc = concat!("The key `", $name, "`.")]
        pub(super) const $constant: Key = Key {
            name: $name,
            values: Values::Text($value),
            help: $help,
            about: About::of($topic).moving_nothing(),
        };
    };
}

/// The key `preset`.
pub(super) const PRESET: Key = Key {
    name: "preset",
    values: Values::Text("NAME"),
    help: "Configuration to start from",
    about: About::of(Topic::STRATEGY),
};

/// The key `tokenizer`.
pub(super) const TOKENIZER: Key = Key {
    name: "tokenizer",
    values: Values::Text("NAME|FILE"),
    help: "What counts tokens",
    about: About::of(Topic::SIZES),
};

text_key!(COLLECTION, "collection", "NAME", STORES, "The collection");
text_key!(
    STORE,
    "store",
    "DIR|URL",
    STORES,
    "Folder of the collections, by default one in the user's data folder; or a server, qdrant://HOST:6333 or chroma://HOST:8000 (with TLS qdrant+https://, chroma+https://) or postgres://USER@HOST/DATABASE, whose key or password is in CHUNKWRIGHT_STORE_KEY or a file"
);
text_key!(
    STORE_KEY_FILE,
    "store_key_file",
    "FILE",
    STORES,
    "File that holds the key of a store on a server, and nothing else"
);
text_key!(EMBEDDER, "embedder", "none|SPEC", MODELS, "Model that embeds texts");
text_key!(
    EMBEDDER_URL,
    "embedder_url",
    "URL",
    MODELS,
    "Address of the embedder, for a service that is not at its default address"
);
text_key!(RERANKER, "reranker", "none|SPEC", MODELS, "Model that reranks the best hits");
text_key!(
    RERANKER_URL,
    "reranker_url",
    "URL",
    MODELS,
    "Address of the reranker, for a service that is not at its default address"
);
text_key!(WRITER, "writer", "none|SPEC", MODELS, "Model that writes notes");
text_key!(WRITER_URL, "writer_url", "URL", MODELS, "Address of the writer, if not the default");
/// The key `keep_generations`.
pub(super) const KEEP_GENERATIONS: Key = Key {
    name: "keep_generations",
    values: Values::Number(1, 1_000),
    help: "How many generations of a collection stay when searches switch to another, that one among them; by default 2",
    about: About::of(STORES).counting(Counts::Generations).moving_nothing(),
};

/// The key `search_memory`.
pub(super) const SEARCH_MEMORY: Key = Key {
    name: "search_memory",
    values: Values::Bytes,
    help: "Most memory for what searches read of a store in a folder and may read again, posting lists and vectors, such as `64M` or `2G`; by default 512M",
    about: About::of(STORES).moving_nothing(),
};

/// The key `embed_minutes`.
pub(super) const EMBED_MINUTES: Key = Key {
    name: "embed_minutes",
    values: Values::Number(0, 100_000),
    help: "How many minutes `mcp PATH` spends on the vectors of a folder before it asks whether to go on; by default 30",
    about: About::of(MODELS).counting(Counts::Minutes).moving_nothing(),
};

text_key!(
    DATA,
    "data",
    "DIR",
    STORES,
    "Folder of models and of the default store instead of the user's data folder"
);

/// Declares a key that selects files.
macro_rules! file_key {
    ($constant:ident, $name:literal, $values:expr, $help:literal) => {
        #[doc = concat!("The key `", $name, "`.")]
        pub(super) const $constant: Key =
            Key { name: $name, values: $values, help: $help, about: About::of(FILES).moving_nothing() };
    };
}

file_key!(
    INCLUDE,
    "include",
    Values::List("GLOB"),
    "Take only files that match, or are in a folder that matches; a pattern for a kind that is left out by default, such as `*.svg`, adds that kind to the others"
);
file_key!(
    EXCLUDE,
    "exclude",
    Values::List("GLOB"),
    "Leave out files that match, or are in a folder that matches; a pattern without `/` is for names at any depth"
);
file_key!(
    TYPE,
    "type",
    Values::List("NAME"),
    "Take only files of these types, by ripgrep's names, such as `md`, `py` or `rust`"
);
file_key!(HIDDEN, "hidden", Values::Flag, "Take files and folders whose names start with a dot");
file_key!(NO_IGNORE, "no_ignore", Values::Flag, "Take what `.gitignore` and `.ignore` leave out");
file_key!(
    MAX_FILESIZE,
    "max_filesize",
    Values::Bytes,
    "Leave out files larger than this, such as `64K` or `1M`; by default 256M"
);

file_key!(
    REDACT_SECRETS,
    "redact_secrets",
    Values::Flag,
    "Replace keys and passwords in documents by `[REDACTED:KIND]`, before they are cut, embedded and stored; lines stay as they are"
);

static OF_FILES: [Key; 7] = [INCLUDE, EXCLUDE, TYPE, HIDDEN, NO_IGNORE, MAX_FILESIZE, REDACT_SECRETS];
static OF_PRESET: [Key; 1] = [PRESET];
static OF_TOKENS: [Key; 1] = [TOKENIZER];
static OF_COLLECTION: [Key; 5] = [COLLECTION, STORE, STORE_KEY_FILE, EMBEDDER, EMBEDDER_URL];
static OF_RERANKING: [Key; 2] = [RERANKER, RERANKER_URL];
static OF_WRITING: [Key; 2] = [WRITER, WRITER_URL];
static OF_DATA: [Key; 1] = [DATA];
static OF_GENERATIONS: [Key; 2] = [KEEP_GENERATIONS, SEARCH_MEMORY];
static OF_SERVING: [Key; 1] = [EMBED_MINUTES];

/// The keys of a group, in the order of help texts.
pub fn keys(group: Group) -> Vec<&'static Key> {
    match group {
        Group::Cutting => OF_PRESET.iter().chain(KEYS).chain(&OF_TOKENS).collect(),
        Group::Files => OF_FILES.iter().collect(),
        Group::Collection => OF_COLLECTION.iter().collect(),
        Group::Embedding => OF_COLLECTION[3..].iter().collect(),
        Group::Reranking => OF_RERANKING.iter().collect(),
        Group::Writing => OF_WRITING.iter().collect(),
        Group::Data => OF_DATA.iter().collect(),
        Group::Generations => OF_GENERATIONS.iter().collect(),
        Group::Serving => OF_SERVING.iter().collect(),
    }
}

/// All keys, without aliases.
pub fn all() -> Vec<&'static Key> {
    let groups = [
        Group::Cutting,
        Group::Files,
        Group::Collection,
        Group::Reranking,
        Group::Writing,
        Group::Data,
        Group::Generations,
        Group::Serving,
    ];
    groups.into_iter().flat_map(keys).collect()
}

/// The keys that a request from a network may set.
pub(crate) fn requestable() -> impl Iterator<Item = &'static Key> {
    let cutting_and_files = [Group::Cutting, Group::Files].into_iter().flat_map(keys);
    cutting_and_files.chain(OF_COLLECTION.iter().filter(|key| key.name == EMBEDDER.name))
}

/// Returns whether a request from a network may set a key.
pub(crate) fn is_requestable(name: &str) -> bool {
    requestable().any(|key| key.name == name)
}

/// The names of all keys.
pub(super) fn names() -> Vec<&'static str> {
    all().into_iter().map(|key| key.name).collect()
}

/// The names of the cutting keys.
pub(super) fn cutting_names() -> Vec<&'static str> {
    KEYS.iter().map(|key| key.name).collect()
}

/// Returns whether a key selects files.
pub(crate) fn is_of_files(name: &str) -> bool {
    OF_FILES.iter().any(|key| key.name == name)
}

/// Returns whether a name is an alias.
pub(super) fn is_alias(name: &str) -> bool {
    ALIASES.iter().any(|alias| alias.name == name)
}

/// Known values of a key with their descriptions: members of its registry, or a closed list. A key that takes any text
/// may have other values.
pub fn known_values(key: &Key) -> Vec<(String, &'static str)> {
    match key.name {
        "preset" => PRESETS.iter().map(|preset| (preset.name.to_owned(), preset.summary)).collect(),
        "tokenizer" => COUNTERS.iter().map(|info| (info.name.to_owned(), info.summary)).collect(),
        "embedder" => {
            let local = EMBEDDERS.iter().map(|info| (info.name.to_owned(), info.summary));
            local
                .chain([exported()])
                .chain(DIALECTS.iter().map(|dialect| (dialect.form(), dialect.summary)))
                .collect()
        }
        "reranker" => {
            let local = RERANKERS.iter().map(|info| (info.name.to_owned(), info.summary));
            local
                .chain([exported()])
                .chain(RERANK_DIALECTS.iter().map(|dialect| (dialect.form(), dialect.summary)))
                .collect()
        }
        "writer" => WRITERS.iter().map(|info| (format!("{}:MODEL", info.name), info.summary)).collect(),
        _ => key.choices().into_iter().map(|(name, means)| (name.to_owned(), means)).collect(),
    }
}

/// The form of a model that was exported.
fn exported() -> (String, &'static str) {
    (format!("{ONNX}DIR"), "a model in a folder, exported to ONNX")
}

/// The known values of a key, and `none` where it can be switched off.
fn choices(key: &Key) -> Vec<(String, &'static str)> {
    let none = match key.name {
        "embedder" => Some("lexical search only"),
        "reranker" | "writer" => Some("the default"),
        _ => None,
    };
    none.map(|means| ("none".to_owned(), means)).into_iter().chain(known_values(key)).collect()
}

/// The [choices](choices) of a key that are values as they are, not forms of values such as `openai:MODEL`.
#[cfg(feature = "schema")]
pub(crate) fn constants(key: &Key) -> Vec<(String, &'static str)> {
    choices(key).into_iter().filter(|(name, _)| !name.contains(':')).collect()
}

/// The help of a key, with the members of the registry that its values come from.
pub fn help(key: &Key) -> String {
    let own = match key.name {
        "preset" => "; or a `[presets.NAME]` of `chunkwright.toml`".to_owned(),
        "tokenizer" => "; or the path of a `tokenizer.json`".to_owned(),
        kind @ ("embedder" | "reranker" | "writer") => {
            format!("; or an `[{kind}s.NAME]` of `chunkwright.toml`")
        }
        _ => String::new(),
    };
    with_choices(&paragraphs(key.help), choices(key)) + &own
}
