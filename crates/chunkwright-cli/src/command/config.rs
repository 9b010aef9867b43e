//! `chunkwright config show` and `chunkwright config init`

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use chunkwright_engine::Layers;
use chunkwright_engine::settings::{FILE_NAME, Source, TABLES};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::keys::{FileFlags, GenerationFlags, KeyFlags, RerankerFlags, ServingFlags, WriterFlags};
use crate::output::{OutputFlags, OutputPath, Reads, existing, print};
use crate::text::{Table, bold, dim, plain};

/// Show the configuration, or begin one
#[derive(Debug, clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Show(Box<Show>),
    Init(Box<Init>),
}

/// Print every value and where it came from
///
/// Layers, lowest first: the preset; the nearest `chunkwright.toml` upward from the working directory;
/// variables such as CHUNKWRIGHT_MAX_SIZE; flags. A layer that names a preset starts from it: what
/// layers below say about cutting is dropped.
#[derive(Debug, clap::Args)]
#[command(after_help = TABLES)]
struct Show {
    #[command(flatten)]
    keys: AllFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// Write a configuration file with every key, what it does and its value
///
/// Keys that are given as flags are set in the file, all others are commented out.
#[derive(Debug, clap::Args)]
#[command(after_help = TABLES)]
struct Init {
    /// The file; `-` for standard output
    #[arg(default_value = FILE_NAME)]
    file: OutputPath,
    /// Replace the file if it exists; it is replaced atomically
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    keys: AllFlags,
}

/// Flags of every key.
#[derive(Debug, clap::Args)]
struct AllFlags {
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    files: FileFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    generations: GenerationFlags,
    #[command(flatten)]
    serving: ServingFlags,
    #[command(flatten)]
    reranker: RerankerFlags,
    #[command(flatten)]
    writer: WriterFlags,
}

impl AllFlags {
    fn all(&self) -> [&dyn KeyFlags; 7] {
        [&self.cut, &self.files, &self.collection, &self.generations, &self.serving, &self.reranker, &self.writer]
    }
}

impl Reads for AllFlags {
    fn files(&self) -> Vec<PathBuf> {
        [self.cut.files(), self.writer.files(), self.reranker.files()].concat()
    }
}

impl Config {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        match &self.action {
            Action::Show(show) => show.run(global),
            Action::Init(init) => init.run(global),
        }
    }
}

impl Show {
    fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[&self.keys])?;
        let settings = global.settings(&self.keys.all())?;
        results.list(&settings.list(), |settings| {
            let mut table = Table::new(["key", "value", "from"]);
            for setting in settings {
                let value = setting.value.as_ref().map(|value| plain(&value.to_string()));
                let value = value.unwrap_or_else(|| dim("not set"));
                table.row([bold(&setting.key), value, dim(&plain(&setting.origin))]);
            }
            table.to_string()
        })?;
        Ok(Outcome::Success)
    }
}

impl Init {
    fn run(&self, global: &Global) -> Result<Outcome> {
        let given = self.keys.all();
        let given = given.iter().flat_map(|flags| flags.values()).cloned();
        let template = Layers::default().settings(Source::Flags, given)?.template();
        if self.file.is_stdout() {
            print(template.as_bytes())?;
            return Ok(Outcome::Success);
        }
        let existing = existing(self.force);
        self.file.check(&[], existing)?;
        let mut file = self.file.begin(existing)?;
        file.write_all(template.as_bytes()).context("the configuration could not be written")?;
        file.finish();
        global.say(&format!("wrote `{}`; `chunkwright config show` prints what is in force", self.file));
        Ok(Outcome::Success)
    }
}
