//! Shards of a set of documents: tables that say what they hold, so that they can be resumed and joined.
//!
//! A table of a shard has a manifest in its footer: by what it was cut, of which documents, and how many rows each of them
//! has. A run that finds a table whose manifest is the one it would write has nothing to do. [`join`] proves by the
//! manifests that tables are the shards of one whole, and puts them together as one process would have written them.

pub(crate) mod join;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use chunkwright_arrow::Reader;
use serde::{Deserialize, Serialize};

use crate::core::engine::Engine;
use crate::error::{Error, ShardsError};
use crate::noun::documents::Documents;
use crate::noun::share::Share;
use crate::request::documents::{ChunkRequest, DocumentsRequest};
use crate::request::shard::Shard;
use crate::table::RecordTable;

/// The key of a manifest in the footer of a table.
const NOTE: &str = "chunkwright.shard";

/// What the table of a shard holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    shard: Shard,
    /// Version of the program.
    version: String,
    /// What decides the chunks of a document beside its bytes: the strategy's version, the configuration and the preset.
    cut_by: [String; 3],
    summaries: bool,
    /// Hash of the ids of all documents, whichever shard they are of.
    listing: String,
    /// Number of all documents.
    found: u32,
    /// Hash of what its documents hold.
    content: String,
    /// Its documents: their places among all, and their numbers of rows; `None` for one that was left out when it was read.
    documents: Vec<(u32, Option<u32>)>,
}

impl Manifest {
    fn begin(share: &Share, documents: &Documents, request: ChunkRequest) -> Self {
        let chunker = documents.chunker();
        Self {
            shard: share.shard,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cut_by: [chunker.strategy_version(), chunker.config_hash(), documents.preset().to_owned()],
            summaries: request.summaries,
            listing: share.listing.clone(),
            found: share.found,
            content: String::new(),
            documents: Vec::new(),
        }
    }

    /// That of a table; `None` if it has none.
    fn of(path: &Path) -> Result<Option<(Self, Reader)>, ShardsError> {
        let unreadable = |reason: String| ShardsError::Unreadable { path: shown(path), reason };
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        let reader = Reader::new(file).map_err(|error| unreadable(error.to_string()))?;
        let manifest = reader.note(NOTE).and_then(|note| serde_json::from_str(note).ok());
        Ok(manifest.map(|manifest| (manifest, reader)))
    }

    /// What differs between two tables that are shards of one whole only if nothing does.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            ("numbers of shards", self.shard.of() != other.shard.of()),
            ("versions of the program", self.version != other.version),
            ("settings", self.cut_by != other.cut_by || self.summaries != other.summaries),
            ("lists of documents", self.listing != other.listing || self.found != other.found),
        ]
        .into_iter()
        .find_map(|(what, differs)| differs.then_some(what))
    }
}

/// Gathers the documents of a manifest in order.
struct Gathering {
    places: std::vec::IntoIter<u32>,
    content: blake3::Hasher,
    documents: Vec<(u32, Option<u32>)>,
}

impl Gathering {
    fn of(share: &Share) -> Self {
        let places = share.places.clone().into_iter();
        Self { places, content: blake3::Hasher::new(), documents: Vec::new() }
    }

    /// Adds a document with the hash of its bytes and its number of rows; `None` for one that was left out.
    fn add(&mut self, read: Option<(&str, usize)>) {
        let place = self.places.next().expect("every document of a shard has a place");
        let (hash, rows) = read.unzip();
        self.content.update(hash.unwrap_or("-").as_bytes()).update(b"\n");
        self.documents.push((place, rows.map(|rows| rows as u32)));
    }

    fn content(&self) -> String {
        self.content.finalize().to_hex().to_string()
    }
}

/// What a path holds where the table of a shard is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardState {
    /// Nothing.
    Missing,
    /// The table that would be written, with its numbers of documents and rows.
    Complete {
        /// Number of its documents.
        documents: usize,
        /// Number of its rows.
        rows: usize,
    },
    /// The table of a shard that is another now; what differs, in words.
    Stale(&'static str),
}

impl Engine {
    /// Compares the table at a path with the shard that would be cut: by settings, version, the list of all documents and
    /// the bytes of its own, which are read.
    ///
    /// # Errors
    ///
    /// A file that is no table of a shard: it is not ours to replace. Those of [`Engine::documents`].
    ///
    /// # Panics
    ///
    /// If the request has no shard.
    pub fn shard_state(
        &self,
        path: &Path,
        request: &DocumentsRequest,
        how: ChunkRequest,
    ) -> Result<ShardState, Error> {
        if !path.exists() {
            return Ok(ShardState::Missing);
        }
        let Some((there, _)) = Manifest::of(path)? else {
            return Err(ShardsError::NoManifest { path: shown(path) }.into());
        };
        let mut documents = self.documents(request)?;
        let share = documents.share.clone().expect("a shard is asked for");
        let now = Manifest::begin(&share, &documents, how);
        if there.shard != now.shard {
            return Ok(ShardState::Stale("it is another shard"));
        }
        match there.difference(&now) {
            None => {}
            Some("settings") => return Ok(ShardState::Stale("its settings were others")),
            Some("lists of documents") => return Ok(ShardState::Stale("documents came or went")),
            Some(_) => return Ok(ShardState::Stale("another version of the program cut it")),
        }
        let mut gathering = Gathering::of(&share);
        documents.each::<_, Error>(
            |source| source.source.file_hash,
            String::len,
            |hash| {
                gathering.add(hash.as_deref().map(|hash| (hash, 0)));
                Ok(())
            },
        )?;
        if gathering.content() != there.content {
            return Ok(ShardState::Stale("its documents changed"));
        }
        let rows = there.documents.iter().filter_map(|(_, rows)| *rows).map(|rows| rows as usize).sum();
        Ok(ShardState::Complete { documents: there.documents.len(), rows })
    }
}

impl Documents {
    /// Cuts all documents and adds their records to a table, which gets a manifest if they are a shard. `done` hears of each
    /// document how many chunks it has, and `None` for one that could not be read.
    ///
    /// # Errors
    ///
    /// A table that cannot be written, and [`Error::Cancelled`].
    pub fn write_table<W: Write + Send>(
        &mut self,
        request: ChunkRequest,
        mut table: RecordTable<W>,
        mut done: impl FnMut(Option<usize>),
    ) -> Result<W, Error> {
        let share = self.share.clone();
        let manifest = share.as_ref().map(|share| Manifest::begin(share, self, request));
        let mut gathering = share.as_ref().map(Gathering::of);
        self.chunk::<_, Error>(
            request,
            |cut| (cut.chunks.len(), cut.file_hash, [cut.chunks, cut.summaries].concat()),
            |(_, _, records)| records.iter().map(|record| 3 * record.text.len()).sum(),
            |cut| {
                done(cut.as_ref().map(|(chunks, ..)| *chunks));
                if let Some(gathering) = &mut gathering {
                    gathering.add(cut.as_ref().map(|(_, hash, records)| (hash.as_str(), records.len())));
                }
                cut.map_or(Ok(()), |(_, _, records)| table.write(records))
            },
        )?;
        if let (Some(manifest), Some(gathering)) = (manifest, gathering) {
            let content = gathering.content();
            let manifest = Manifest { content, documents: gathering.documents, ..manifest };
            table.note(NOTE, serde_json::to_string(&manifest)?);
        }
        table.finish()
    }
}

/// A path, for messages.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
