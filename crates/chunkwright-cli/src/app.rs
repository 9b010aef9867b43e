//! What all commands share: global flags, the flags that configure cutting, and what is made of them.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anstream::ColorChoice;
use anyhow::{Result, bail};
use chunkwright::preset::PRESETS;
use chunkwright::{Chunker, STRATEGIES, TokenCounter};
use chunkwright_index::source::WalkOptions;
use chunkwright_index::{Access, Model, Place, Store, open_store};
use chunkwright_models::http::Secret;
use chunkwright_models::{COUNTERS, EmbedError, Embedder};
use clap::{Args, Parser};
use serde::Serialize;
use toml::Table;

use crate::command::Command;
use crate::interrupt;
pub(crate) use crate::services::{embedder, embedder_help, query_embedder, reranker, writer};
use crate::settings::{self, AliasFlags, ConfigFile, Layer, STORE_KEY, Services, Settings, Source};
use crate::text::{plain, yellow};

/// Stable, explainable, token-bounded chunks of documents and source code, indexed and searched.
///
/// Results go to standard output: a table on a terminal, JSON Lines when piped. Everything else goes to
/// standard error.
#[derive(Debug, Parser)]
#[command(name = "chunkwright", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
    /// When to use colours
    ///
    /// `auto` uses them on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub(crate) color: Color,
}

const AFTER_HELP: &str = "\
Configuration, lowest first: the preset, the nearest `chunkwright.toml` upward from the working \
directory, CHUNKWRIGHT_* in the environment, flags. `chunkwright config show` prints every value and \
where it came from.

Exit status: 0 success; 1 nothing was found, or violations were; 2 an error, with one sentence that says \
what is wrong and what would be right; 3 some documents could not be indexed, the others were; 130 and 143 \
ended by SIGINT and SIGTERM, with one sentence that says what is kept. With 1 and 2 no file is replaced.";

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more on standard error: every entry that is left out, and how much was read
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Read this configuration file instead of the nearest `chunkwright.toml`
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder of models and of the default store instead of the user's data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<String>,
    /// The output, where it is in a folder that is read but holds the results of an earlier run.
    #[arg(skip)]
    pub(crate) replaced: Option<PathBuf>,
}

/// What is configured below the flags.
pub(crate) struct Configured {
    /// Lowest first.
    pub(crate) layers: Vec<Layer>,
    presets: Table,
    /// How services are used, by the file at this path.
    pub(crate) services: Option<(Services, PathBuf)>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Tells every stream.
    pub(crate) fn write_global(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// How a command that made no error ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked.
    Success,
    /// It found nothing, or found violations.
    Nothing,
    /// It did what could be done and has said what could not.
    Failed,
    /// It indexed the rest; some documents could not be.
    Partial,
}

/// Flags that say how documents are cut.
#[derive(Clone, Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Cutting")]
pub(crate) struct CutFlags {
    #[arg(short, long, value_name = "NAME", help = preset_help())]
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    #[arg(long, value_name = "NAME", help = strategy_help())]
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    /// What sizes are counted in: `tokens` or `chars` (Unicode scalar values)
    ///
    /// A preset made for the other unit has its sizes scaled by 4 characters a token: `--unit chars`
    /// alone makes 1024, 800 and 256 of auto's 256, 200 and 64.
    #[arg(long, value_name = "UNIT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Hard limit of what is embedded, borrowed context included
    ///
    /// Sizes that are not given with it keep their proportion to it: in `auto`, --target-size is 200/256
    /// and --min-size 64/256 of it.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_size: Option<usize>,
    /// Size aimed at where a section is divided
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    target_size: Option<usize>,
    /// A chunk below this size joins a neighbour where it can
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    min_size: Option<usize>,
    /// Size of the text before a chunk that is repeated as its context
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap_size: Option<usize>,
    /// What a chunk borrows: `title` (the innermost around it), `path` (all around it), `heading` (as it
    /// stands, where the chunk has none) or `none`; source code borrows signatures for each but `none`
    #[arg(long, value_name = "RULE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    /// Deepest heading level in `header_path`, 1 to 6
    #[arg(long, value_name = "LEVEL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_heading_level_for_path: Option<u8>,
    /// `sections`: deepest heading level that begins a section, 1 to 6
    #[arg(long, value_name = "LEVEL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    section_level: Option<u8>,
    /// How a section too large is put together: `balanced`, `even` or `first_fit`
    #[arg(long, value_name = "RULE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    packing: Option<String>,
    /// Blocks never divided, marked `oversize` over the limit: `code`, `table`, or both with a comma
    #[arg(long, value_name = "KINDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_whole: Option<String>,
    /// Blocks that are chunks of their own: `code`, `table`, or both with a comma
    #[arg(long, value_name = "KINDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    set_apart: Option<String>,
    /// A paragraph shorter than this, in characters, may lead into the code, table or list after it
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    lead_in_chars: Option<usize>,
    /// `adaptive`: a document below this size is one chunk
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    short_size: Option<usize>,
    /// `adaptive`: a document over this size is cut by its headings
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    long_size: Option<usize>,
    /// `adaptive`: limit in documents between the two
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    medium_max_size: Option<usize>,
    /// `adaptive`: overlap in documents between the two
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    medium_overlap_size: Option<usize>,
    /// Sizes wanted, such as 410-614: reports count the share within, `adaptive` aims at it
    #[arg(long, value_name = "A-B")]
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<String>,
    /// Source code whose structure is not known is cut every so many lines; 0: as everything else
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_chunk_lines: Option<usize>,
    /// Lines that a chunk cut by lines repeats of the one before
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap_lines: Option<usize>,
    #[command(flatten)]
    #[serde(flatten)]
    aliases: AliasFlags,
    #[arg(long, value_name = "NAME|FILE", help = tokenizer_help())]
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,
}

/// Flags that say which collection is meant.
#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Collection")]
pub(crate) struct CollectionFlags {
    /// The collection
    #[arg(short, long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<String>,
    /// The folder that holds the collections, by default one in the user's data directory; or a server,
    /// qdrant://HOST:6333 or chroma://HOST:8000 (over TLS qdrant+https://, chroma+https://), whose key is in
    /// CHUNKWRIGHT_STORE_KEY or a file
    #[arg(long, value_name = "DIR|URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    /// The file that holds the key of a store on a server, and nothing else
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    store_key_file: Option<String>,
    #[arg(long, value_name = "none|SPEC", help = embedder_help())]
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder: Option<String>,
    /// Where the embedder is, if it is a service that is not at its usual address
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder_url: Option<String>,
}

impl CutFlags {
    /// The presets named, in order, where a command compares several: separated by commas, `all` for every
    /// built-in one. Empty if none is named.
    pub(crate) fn presets(&self) -> Vec<String> {
        let names = self.preset.iter().flat_map(|names| names.split(',')).map(str::trim);
        let mut presets: Vec<String> = Vec::new();
        for name in names.filter(|name| !name.is_empty()) {
            let meant = match name {
                "all" => PRESETS.iter().map(|preset| preset.name).collect(),
                name => vec![name],
            };
            for name in meant {
                if !presets.iter().any(|preset| preset == name) {
                    presets.push(name.to_owned());
                }
            }
        }
        presets
    }

    /// These flags with another preset, and another limit if one is given.
    pub(crate) fn with(&self, preset: Option<&str>, max_size: Option<usize>) -> Self {
        Self { preset: preset.map(str::to_owned), max_size: max_size.or(self.max_size), ..self.clone() }
    }
}

impl Global {
    /// The configuration below the flags.
    pub(crate) fn layers(&self) -> Result<Configured> {
        let path = match &self.config {
            Some(path) => Some(path.clone()),
            // Without a working directory there is no nearest file.
            None => env::current_dir().ok().and_then(|folder| settings::nearest(&folder)),
        };
        let mut found = Configured { layers: Vec::new(), presets: Table::new(), services: None };
        if let Some(path) = path {
            let mut file = ConfigFile::read(&path)?;
            file.services.is_named = self.config.is_some();
            found.layers.push(file.layer);
            found.presets = file.presets;
            found.services = Some((file.services, path));
        }
        let variables = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        found.layers.push(settings::environment(
            variables.map(|(name, value)| (name, value.to_string_lossy().into_owned())),
        )?);
        Ok(found)
    }

    /// The configuration in force, with the flags of a command on top.
    pub(crate) fn settings(&self, flags: &[&dyn Flags]) -> Result<Settings> {
        let Configured { mut layers, presets, services } = self.layers()?;
        let mut values = Table::new();
        if let Some(data) = &self.data {
            values.insert("data".into(), data.clone().into());
        }
        for flags in flags {
            values.extend(flags.table()?);
        }
        settings::resolve_aliases(&mut values)?;
        layers.push(Layer { source: Source::Flags, values });
        let settings = Settings::resolve(&layers, &presets)?;
        Ok(match services {
            Some((services, path)) => settings.with_services(services, &path),
            None => settings,
        })
    }

    /// Says which variables of the environment are not known.
    pub(crate) fn warn_of_variables(&self) {
        // A configuration that cannot be read is reported by the command.
        let services = self.layers().ok().and_then(|found| found.services).map(|(services, _)| services);
        let values: Vec<_> = services.iter().flat_map(Services::values).collect();
        let names = values.iter().filter(|(key, _)| key.ends_with("key_variable"));
        let known: Vec<&str> = names.filter_map(|(_, value)| value.as_str()).collect();
        let given = env::vars_os().filter(|(_, value)| !value.is_empty());
        let given = given.filter_map(|(name, _)| name.into_string().ok());
        for warning in settings::unknown_variables(given, &known) {
            self.say(&format!("{} {}", yellow("warning:"), plain(&warning)));
        }
    }

    /// Which files are taken.
    pub(crate) fn walk(&self) -> WalkOptions {
        WalkOptions { exclude: self.replaced.clone(), ..WalkOptions::default() }
    }

    /// Says something on standard error, unless told to be quiet.
    pub(crate) fn say(&self, sentence: &str) {
        if !self.quiet {
            crate::output::note(sentence);
        }
    }
}

/// Flags that are configuration keys.
pub(crate) trait Flags {
    /// The keys that were given, and their values.
    fn table(&self) -> Result<Table>;
}

impl<T: Serialize> Flags for T {
    fn table(&self) -> Result<Table> {
        Ok(Table::try_from(self)?)
    }
}

/// The folder of models and of the default store in force.
pub(crate) fn data_dir(settings: &Settings) -> Result<PathBuf> {
    Ok(chunkwright_models::data_dir(settings.data.as_deref().map(Path::new))?)
}

/// The place of the store in force.
fn place(settings: &Settings) -> Result<Place> {
    let Some(location) = settings.store.as_deref().filter(|store| store.contains("://")) else {
        return Ok(Place::folder(&store_dir(settings)?));
    };
    let key = match (Secret::from_variable(STORE_KEY), &settings.store_key_file) {
        (None, Some(file)) => Some(Secret::from_file(Path::new(file))?),
        (key, _) => key,
    };
    // Stores on servers share what is remembered: a vector belongs to its text.
    let cache = data_dir(settings)?.join("cache");
    Ok(Place { location: location.to_owned(), key, cache, ..Place::default() })
}

/// Where the store in force is, for messages.
pub(crate) fn store_name(settings: &Settings) -> Result<String> {
    Ok(place(settings)?.address().to_owned())
}

/// The folder of the store in force.
pub(crate) fn store_dir(settings: &Settings) -> Result<PathBuf> {
    match &settings.store {
        Some(store) if store.contains("://") => {
            bail!("the store is `{store}`; this command is for stores in folders, a server has its own means")
        }
        Some(store) => Ok(PathBuf::from(store)),
        None => Ok(data_dir(settings)?.join("store")),
    }
}

/// Opens the store in force.
pub(crate) fn store(settings: &Settings, access: Access) -> Result<Arc<dyn Store>> {
    if access == Access::Write {
        interrupt::keeps("what was stored is kept and whole; run the same command again to do the rest");
    }
    Ok(open_store(&place(settings)?, access)?)
}

/// The counter of tokens in force.
pub(crate) fn counter(settings: &Settings) -> Result<Arc<dyn TokenCounter>> {
    // Counters without an installed vocabulary need no data directory, so a missing home is no error yet.
    let data_dir = data_dir(settings).unwrap_or_default();
    Ok(chunkwright_models::counter(&settings.tokenizer, &data_dir)?)
}

/// The chunker in force.
pub(crate) fn chunker(settings: &Settings) -> Result<Chunker> {
    Ok(Chunker::new(settings.chunk.clone(), counter(settings)?)?)
}

/// What embeds what is indexed.
pub(crate) enum IndexEmbedder {
    Nothing,
    One(Arc<dyn Embedder>),
    /// A service that is away, of whose vectors the collection has none and so does not know the length; why.
    Away(EmbedError),
}

impl From<Option<Arc<dyn Embedder>>> for IndexEmbedder {
    fn from(embedder: Option<Arc<dyn Embedder>>) -> Self {
        embedder.map_or(Self::Nothing, Self::One)
    }
}

/// The embedder to index with: the one that was asked for; else the one whose vectors the collection has,
/// so that a model that is missing today does not rebuild it; for a new collection the best installed.
pub(crate) fn index_embedder(settings: &Settings, store: &dyn Store) -> Result<IndexEmbedder> {
    let generation = store.open(&settings.collection).ok();
    let stored = generation.as_ref().and_then(|generation| generation.spec.model.as_ref());
    if generation.is_none() || settings.embedder.is_some() {
        // What the collection knows of a service's model need not be asked for, even where it is down.
        let found = if stored.is_some() { query_embedder(settings, stored) } else { embedder(settings) };
        return match found.map_err(anyhow::Error::downcast::<EmbedError>) {
            Ok(found) => Ok(found.into()),
            Err(Ok(error)) if stored.is_none() && error.is_away() => Ok(IndexEmbedder::Away(error)),
            Err(Ok(error)) => Err(error.into()),
            Err(Err(error)) => Err(error),
        };
    }
    let Some(model) = stored else { return Ok(IndexEmbedder::Nothing) };
    match query_embedder(settings, Some(model))? {
        Some(embedder) => Ok(IndexEmbedder::One(embedder)),
        None => bail!(
            "collection `{}` has vectors of `{}`, which is not to be had here; `chunkwright doctor` says what is installed, and `--embedder` names another model",
            settings.collection,
            model.name
        ),
    }
}

/// The embedder whose vectors are of `model`, if it is available.
pub(crate) fn embedder_of(settings: &Settings, model: &Model) -> Result<IndexEmbedder> {
    Ok(query_embedder(settings, Some(model))?.into())
}

/// The time, in nanoseconds since 1970.
pub(crate) fn now_nanos() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(0)
}

/// The time, ISO 8601, in whole seconds.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// Help of `--strategy`, from the registry.
fn strategy_help() -> String {
    let names = STRATEGIES.iter().map(|strategy| format!("`{}` ({})", strategy.name(), strategy.summary()));
    format!("How documents are cut: {}", names.collect::<Vec<_>>().join("; "))
}

/// Help of `--preset`, from the registry.
fn preset_help() -> String {
    let names = PRESETS.iter().map(|preset| format!("`{}` ({})", preset.name, preset.summary));
    format!(
        "Configuration to start from: {}; or a `[presets.NAME]` of `chunkwright.toml`",
        names.collect::<Vec<_>>().join("; ")
    )
}

/// Help of `--tokenizer`, from the registry.
fn tokenizer_help() -> String {
    let names = COUNTERS.iter().map(|counter| format!("`{}` ({})", counter.name, counter.summary));
    format!("What counts tokens: {}; or the path of a `tokenizer.json`", names.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::settings::known_keys;

    #[test]
    fn every_key_is_a_flag_of_the_same_name_and_every_flag_has_a_help() {
        let cli = Cli::command();
        cli.clone().debug_assert();
        let config = cli.find_subcommand("config").and_then(|config| config.find_subcommand("show"));
        let flags = config.unwrap().get_arguments().chain(cli.get_arguments());
        let flags: Vec<&str> = flags.filter_map(|flag| flag.get_long()).collect();
        // Tables are written in files.
        for key in known_keys().iter().filter(|key| *key != "kinds") {
            assert!(flags.contains(&key.replace('_', "-").as_str()), "{key}");
        }
        for command in cli.get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for flag in command.get_arguments() {
                assert!(flag.get_help().is_some(), "{} {}", command.get_name(), flag.get_id());
            }
        }
    }
}
