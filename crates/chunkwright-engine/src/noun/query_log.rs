//! A log of queries and tool calls, in a file beside the store that only the user can read. Off by default, because
//! queries reveal what people look for.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::PathBuf;

use chunkwright::ChunkId;
use chunkwright_index::atomic_file::AtomicFile;
use chunkwright_index::{Cursor, MAX_PAGE};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use crate::core::engine::Engine;
use crate::error::Error;
use crate::json_lines::to_line;
use crate::paging::page;

/// The name of the file.
const FILE: &str = "queries.jsonl";

/// Number of queries kept.
const KEPT: usize = 10_000;

/// A query in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoggedQuery {
    /// Its number; later ones have greater numbers.
    pub number: u64,
    /// When it was answered, ISO 8601.
    pub at: String,
    /// What was asked.
    #[serde(flatten)]
    pub call: QueryCall,
}

/// A query, or the call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryCall {
    /// Where it came from.
    pub door: Door,
    /// What was asked for: `search`, or the name of a tool.
    pub kind: String,
    /// The query, or what was fetched.
    pub query: String,
    /// The collections that were named; none for that of the settings.
    pub collections: Vec<String>,
    /// Number of hits; none where nothing is searched, or where it failed.
    pub hits: Option<usize>,
    /// The relevance of the best hit, where it is known.
    pub relevance: Option<f64>,
    /// How long it took.
    pub took_ms: f64,
    /// The chunks that were found or fetched, by collection.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chunks: BTreeMap<String, Vec<ChunkId>>,
}

/// What a query came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Door {
    /// The HTTP API.
    Http,
    /// MCP.
    Mcp,
}

/// Which queries are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Only those of this kind.
    pub kind: Option<String>,
    /// Only searches that found nothing.
    pub zero_hits: bool,
    /// `next` of the page before.
    pub after: Option<Cursor>,
    /// Most queries of the page; at least 1.
    pub limit: usize,
}

/// The log of queries.
#[derive(Debug)]
pub struct QueryLog {
    engine: Engine,
    path: PathBuf,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    file: File,
    /// The latest last.
    queries: VecDeque<LoggedQuery>,
    /// Number of lines in the file, which is rewritten when it has twice as many as are kept.
    lines: usize,
}

impl QueryLog {
    /// Opens the log of the engine's store.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or written.
    pub fn open(engine: &Engine) -> Result<Self, Error> {
        let path = engine.state_dir()?.join(FILE);
        let held = Held::open(&path).map_err(Error::Log)?;
        Ok(Self { engine: engine.clone(), path, held: Mutex::new(held) })
    }

    /// Adds a query.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn add(&self, call: QueryCall) -> Result<(), Error> {
        let mut held = self.held();
        let number = held.queries.back().map_or(1, |last| last.number + 1);
        let query = LoggedQuery { number, at: self.engine.now(), call };
        held.file.write_all(&to_line(&query)?).map_err(Error::Log)?;
        held.lines += 1;
        held.queries.push_back(query);
        if held.queries.len() > KEPT {
            held.queries.pop_front();
        }
        if held.lines >= 2 * KEPT {
            *held = self.rewritten(&held.queries).map_err(Error::Log)?;
        }
        Ok(())
    }

    /// A page of the queries, latest first, and the cursor of the next page.
    ///
    /// # Errors
    ///
    /// A cursor of another list.
    pub fn page(&self, request: &LoggedRequest) -> Result<(Vec<LoggedQuery>, Option<Cursor>), Error> {
        let passes = |query: &&LoggedQuery| {
            request.kind.as_ref().is_none_or(|kind| *kind == query.call.kind)
                && (!request.zero_hits || query.call.hits == Some(0))
        };
        let all: Vec<LoggedQuery> = self.held().queries.iter().rev().filter(passes).cloned().collect();
        let list = ("queries", &request.kind, request.zero_hits);
        // Keys ascend, so the latest must have the smallest.
        let key = |query: &LoggedQuery| format!("{:020}", u64::MAX - query.number);
        page(all, key, &list, request.after.as_ref(), request.limit.clamp(1, MAX_PAGE))
    }

    /// Passes every query to `each`, the oldest first.
    pub(crate) fn each(&self, each: impl FnMut(&LoggedQuery)) {
        self.held().queries.iter().for_each(each);
    }

    /// Deletes all queries.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn clear(&self) -> Result<(), Error> {
        let mut held = self.held();
        *held = self.rewritten(&VecDeque::new()).map_err(Error::Log)?;
        Ok(())
    }

    fn rewritten(&self, queries: &VecDeque<LoggedQuery>) -> io::Result<Held> {
        let mut file = AtomicFile::create_private(&self.path)?;
        for query in queries {
            file.write_all(&to_line(query)?)?;
        }
        file.persist()?;
        Held::open(&self.path)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
    }
}

impl Held {
    fn open(path: &PathBuf) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true).read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        let (mut queries, mut lines) = (VecDeque::new(), 0);
        for line in BufReader::new(File::open(path)?).lines() {
            lines += 1;
            // A line that a kill cut off is skipped.
            if let Ok(query) = serde_json::from_str(&line?) {
                queries.push_back(query);
                if queries.len() > KEPT {
                    queries.pop_front();
                }
            }
        }
        // Otherwise a truncated line would swallow the next one.
        if lines > 0 && !fs::read(path)?.ends_with(b"\n") {
            (&file).write_all(b"\n")?;
        }
        Ok(Self { file, queries, lines })
    }
}
