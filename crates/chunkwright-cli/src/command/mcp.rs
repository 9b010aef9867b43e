//! `chunkwright mcp`

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use chunkwright_engine::{Access, Background, Engine, IndexReport, ServedFolder, Settings, Watched};
use chunkwright_server::mcp::{Format, McpOptions, McpServer, Profile, serve_stdio};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::choice::choice;
use crate::interrupt;
use crate::keys::FileFlags;
use crate::output::note;
use crate::text::{count, plain};

/// Serve the index to AI agents over standard input and output (MCP)
///
/// With a folder, that folder is indexed into a store of its own, which is kept among the user's data, and nothing is
/// written to the folder. The server answers at once, says how far the index is, and follows every change of a file.
/// Without one, the store of the settings is served as it is.
///
/// Standard output belongs to the protocol; everything else goes to standard error. The command ends when the client
/// closes standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// Folder to index and serve
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
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

fn tokens(text: &str) -> Result<usize, String> {
    let tokens = text.parse::<NonZeroUsize>().ok().map(NonZeroUsize::get);
    let tokens = tokens.filter(|tokens| *tokens >= McpOptions::LEAST_TOKENS);
    tokens.ok_or_else(|| format!("it must be a number from {}", McpOptions::LEAST_TOKENS))
}

impl Mcp {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        interrupt::keeps("stored data is intact; indexing resumes when the server is started again");
        let settings = global.settings(&[&self.cut, &self.files, &self.collection])?;
        // The engine ends after the server, whether a signal or the client ended it.
        let stop = Arc::new(AtomicBool::new(false));
        let (engine, background) = match &self.path {
            Some(path) => follow(global, &settings, path, &stop)?,
            None => (self.open(settings, &stop)?, None),
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

    /// Opens the store of the settings, for reading unless a tool writes.
    fn open(&self, settings: Settings, stop: &Arc<AtomicBool>) -> Result<Engine> {
        let builder = Engine::builder(settings).cancel(Arc::clone(stop));
        Ok(if self.allow_write {
            builder.owner().open(Access::Write)?
        } else {
            builder.open(Access::Read)?
        })
    }
}

/// Opens the store of a folder, and starts to keep it in step with the folder.
fn follow(
    global: &Global,
    settings: &Settings,
    path: &Path,
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
    let ServedFolder { engine, background, notice } = ServedFolder::open(settings, path, stop, on_event)?;
    global.tell(notice.as_slice());
    Ok((engine, background))
}
