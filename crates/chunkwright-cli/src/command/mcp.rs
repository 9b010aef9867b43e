//! `chunkwright mcp`

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use chunkwright_engine::{Access, Background, Engine, IndexReport, ServedFolders, Settings, Watched};
use chunkwright_server::agents::{AGENTS, Agent, Reach, Snippet};
use chunkwright_server::mcp::{Format, McpOptions, McpServer, Profile, serve_stdio};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::choice::choice;
use crate::interrupt;
use crate::keys::{FileFlags, ServingFlags};
use crate::output::note;
use crate::text::{count, plain};

/// What the command does, in full.
const ABOUT: &str = "\
With a folder, that folder is indexed into a store of its own, which is kept among the user's data, and nothing is \
written to the folder. The server answers at once, says how far the index is, and follows every change of a file. \
Words are found first; vectors that take long are added behind, as long as `--embed-minutes` allows. With several \
folders, each is a collection. Without one, the store of the settings is served as it is.\n\n\
Standard output belongs to the protocol; everything else goes to standard error. The command ends when the client \
closes standard input.";

/// Serve the index to AI agents over standard input and output (MCP)
#[derive(Debug, clap::Args)]
#[command(after_long_help = ABOUT)]
pub(crate) struct Mcp {
    /// Folders to index and serve; several are a collection each
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print the configuration that connects a client, and start nothing
    #[arg(long, value_name = "CLIENT", value_parser = client, conflicts_with = "print_rules")]
    print_config: Option<&'static Agent>,
    /// Print the files that make the agent of a client search before it greps, and start nothing
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    print_rules: Option<&'static Agent>,
    /// With `--print-config`: connect to the server at this address instead of starting one
    #[arg(long, value_name = "URL", requires = "print_config", conflicts_with = "paths")]
    address: Option<String>,
    /// Tools to offer
    #[arg(long, value_name = "PROFILE", default_value = "all", value_parser = choice::<Profile>(TOOLS))]
    tools: Profile,
    /// Most tokens of an answer
    #[arg(long, value_name = "N", default_value = "6000", value_parser = tokens)]
    answer_tokens: usize,
    /// Where answers are
    #[arg(long, value_name = "WHERE", default_value = "text", value_parser = choice::<Format>(ANSWERS))]
    answers: Format,
    /// Offer a tool that brings a collection up to date with its folders
    #[arg(long)]
    allow_write: bool,
    #[command(flatten)]
    files: FileFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    serving: ServingFlags,
    #[command(flatten)]
    cut: CutFlags,
}

/// The profiles of tools.
const TOOLS: &[(&str, &str)] =
    &[("all", "All"), ("chatgpt", "`search(query)` and `fetch(id)` alone, as OpenAI's clients expect")];

/// The places of texts in answers.
const ANSWERS: &[(&str, &str)] = &[
    ("text", "Markdown in a text block, which every client shows its model"),
    ("structured", "In `structuredContent`, as the listed schemas say"),
];

fn client(name: &str) -> Result<&'static Agent, String> {
    let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    Agent::find(name).ok_or_else(|| format!("known clients are {}", known.join(", ")))
}

fn tokens(text: &str) -> Result<usize, String> {
    let tokens = text.parse::<NonZeroUsize>().ok().map(NonZeroUsize::get);
    let tokens = tokens.filter(|tokens| *tokens >= McpOptions::LEAST_TOKENS);
    tokens.ok_or_else(|| format!("it must be a number from {}", McpOptions::LEAST_TOKENS))
}

impl Mcp {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        if let Some(agent) = self.print_config.or(self.print_rules) {
            return self.print(global, agent);
        }
        interrupt::keeps("stored data is intact; indexing resumes when the server is started again");
        let settings = global.settings(&[&self.cut, &self.files, &self.collection, &self.serving])?;
        // The engine ends after the server, whether a signal or the client ended it.
        let stop = Arc::new(AtomicBool::new(false));
        let (engine, background) = match &self.paths[..] {
            [] => (self.open(settings, &stop)?, None),
            paths => follow(global, &settings, paths, &stop)?,
        };
        let options = McpOptions {
            max_tokens: self.answer_tokens,
            profile: self.tools,
            format: self.answers,
            allow_write: self.allow_write,
            background: background.clone(),
            log: None,
        };
        let served = serve_stdio(McpServer::new(engine, options), &interrupt::flag());
        stop.store(true, Ordering::SeqCst);
        if let Some(background) = background {
            background.join();
        }
        interrupt::check()?;
        served?;
        Ok(Outcome::Success)
    }

    /// Prints what connects a client, or its rules. What it belongs to goes to standard error, so that standard output
    /// can be written to the file.
    fn print(&self, global: &Global, agent: &Agent) -> Result<Outcome> {
        let mut out = std::io::stdout().lock();
        if self.print_rules.is_some() {
            let rules = agent.rules();
            anyhow::ensure!(!rules.is_empty(), "{} reads no file of rules", agent.title);
            for Snippet { file, text } in rules {
                writeln!(out, "=== {file}\n{text}")?;
            }
            return Ok(Outcome::Success);
        }
        let folders = self.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let reach = match &self.address {
            Some(url) => Reach::Address { url: url.clone(), has_keys: true },
            None => Reach::Command(folders),
        };
        let Some(Snippet { file, text }) = agent.config(&reach) else {
            let way = if self.address.is_some() { "a command; leave out `--address`" } else { "an address; give `--address`" };
            anyhow::bail!("{} is connected by {way}", agent.title);
        };
        write!(out, "{text}")?;
        if global.quiet {
            return Ok(Outcome::Success);
        }
        note(&format!("{}: merge this into `{file}`", agent.title));
        if let Some(run) = agent.adds(&reach) {
            note(&format!("or run `{run}`"));
        }
        if !agent.rules().is_empty() {
            note(&format!("`chunkwright mcp --print-rules {}` prints files that make its agent search first", agent.name));
        }
        Ok(Outcome::Success)
    }

    /// Opens the store of the settings, for reading unless a tool writes.
    fn open(&self, settings: Settings, stop: &Arc<AtomicBool>) -> Result<Engine> {
        let builder = Engine::builder(settings).cancel(Arc::clone(stop));
        let engine =
            if self.allow_write { builder.owner().open(Access::Write)? } else { builder.open(Access::Read)? };
        // Calls that name no collection mean all of them where that of the settings does not exist.
        if self.collection.is_named() {
            engine.default_collection().snapshot()?;
        }
        Ok(engine)
    }
}

/// Opens the store of a folder, and starts to keep it in step with the folder.
fn follow(
    global: &Global,
    settings: &Settings,
    paths: &[PathBuf],
    stop: &Arc<AtomicBool>,
) -> Result<(Engine, Option<Background>)> {
    let is_quiet = global.quiet;
    let on_event = move |event: &Watched| match event {
        Watched::Run(answer) if !is_quiet && answer.changed_anything() => {
            let IndexReport { indexed, unchanged, .. } = answer.report;
            note(&format!("{} indexed; {unchanged} unchanged", count(indexed, "document")));
        }
        Watched::Failed(error) => note(&format!("error: {}", plain(&error.to_string()))),
        Watched::Notice(notice) if !is_quiet => note(&plain(&notice.message)),
        _ => {}
    };
    let ServedFolders { engine, background, notice } = ServedFolders::open(settings, paths, stop, on_event)?;
    global.tell(notice.as_slice());
    Ok((engine, background))
}
