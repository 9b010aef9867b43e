//! The report of a run, whose counts add up.

use std::collections::BTreeMap;

use chunkwright_source::Skipped;
use chunkwright_store::{PastRun, Timings};
use serde::{Deserialize, Serialize};

use crate::settle::OverlayCounts;

/// What one run of [`Pipeline::index`](crate::Pipeline::index) did.
///
/// Every file system entry that was seen is counted once:
/// `seen == indexed + unchanged + empty + skipped.len() + failed.len()`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexReport {
    /// Entries seen. An ignored folder is one entry: nothing in it is looked at.
    pub seen: usize,
    /// Documents written: new, changed, or cut by another configuration than before.
    pub indexed: usize,
    /// Documents whose stored version is still right.
    pub unchanged: usize,
    /// Documents without a visible character: known to the store, without chunks.
    pub empty: usize,
    /// Entries that were left out, in order, each with the reason.
    pub skipped: Vec<Skipped>,
    /// Documents that could not be indexed; their last good version stays.
    pub failed: Vec<Failure>,
    /// Documents removed because their files are gone.
    pub pruned: Vec<String>,
    /// Folders whose documents stay although their files were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub away: Vec<Away>,
    /// Documents of files that were renamed or moved, edited or not: what is new and says most of what a file said that is
    /// gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Renamed>,
    /// Documents removed because their files are left out now for what they are, such as drawings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The kind of files that more than half of the tokens written are of, if it is data rather than text or code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dominant: Option<Dominant>,
    /// Folders that were found in another place than before, and their documents with them.
    #[serde(default)]
    pub moved_folders: Vec<Moved>,
    /// Number of the generation that was brought up to date; none if it would be begun.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generation: Option<i64>,
    /// Number of the generation that was current until this run made its own the current one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub switched: Option<i64>,
    /// Numbers of the generations that were removed when this run made its own the current one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub dropped: Vec<i64>,
    /// Why the generation that was built is not the current one yet; the next run goes on with it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub withheld: Option<String>,
    /// How the overlays stand to the chunks that searches see after the run, or would see after it.
    pub overlays: OverlayCounts,
    /// Documents cut again of what the store has of them, because they are not in the paths scanned.
    pub carried: usize,
    /// Chunks that are what and where they were.
    pub kept: usize,
    /// Chunks that are what they were, on other lines.
    pub moved: usize,
    /// Chunks in the place of others that were edited.
    pub changed: usize,
    /// Chunks where there was none.
    pub added: usize,
    /// Chunks that are gone, and nothing is in their place.
    pub removed: usize,
    /// Tokens of the texts whose vectors were not known.
    pub tokens_to_embed: usize,
    /// What embedding those costs, where a price is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// Documents written that a program wrote, as they say or their names do (see [`chunkwright_source::generated`]).
    pub generated: usize,
    /// Documents written whose line breaks were taken out.
    pub minified: usize,
    /// Documents written whose text has NUL characters, which are kept: a fault left them, as a rule.
    #[serde(default)]
    pub nuls: Vec<Nuls>,
    /// Parts of the documents written that were left out or have no text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<Omitted>,
    /// Chunks of the documents written.
    pub chunks: usize,
    /// Different texts embedded in this run.
    pub embedded: usize,
    /// Different texts of the documents written whose vectors were known already.
    pub reused: usize,
    /// Chunks of the documents looked at that have no vector because the embedder failed, or has none
    /// for such a text; the next run tries again. They are found by their words.
    pub pending: usize,
    /// Texts embedded in this run that are longer than the model reads: chunks that the configuration
    /// keeps whole.
    pub truncated: usize,
    /// What the embedder said when it failed last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub embed_error: Option<String>,
    /// Notes that a chat model wrote in this run.
    pub notes: usize,
    /// Notes that were written before.
    pub notes_reused: usize,
    /// Notes that could not be had; the next run tries again.
    pub notes_pending: usize,
    /// Tokens that the chat model read and wrote.
    pub notes_tokens: usize,
    /// What that cost, where prices are given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notes_cost: Option<f64>,
    /// What the chat model said when it failed last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notes_error: Option<String>,
    /// Where the time went; none where the caller gives no clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
    /// The tokens of each chunk written, by the type of the chunk. Not part of the report's JSON.
    #[serde(skip)]
    pub written: BTreeMap<String, Vec<u32>>,
    /// Whether the run was told to stop before its end.
    pub cancelled: bool,
}

impl IndexReport {
    /// Returns whether [`seen`](Self::seen) is the sum of the outcomes. True for every run that was not cancelled.
    pub fn adds_up(&self) -> bool {
        self.seen == self.indexed + self.unchanged + self.empty + self.skipped.len() + self.failed.len()
    }

    /// Share of the documents that could not be indexed, from 0 to 1; 0 of none.
    pub fn failed_ratio(&self) -> f64 {
        let failed = self.failed.len();
        let read = self.indexed + self.unchanged + self.empty + failed;
        if read == 0 { 0.0 } else { failed as f64 / read as f64 }
    }

    /// Returns whether anything was written or failed.
    pub fn changed_anything(&self) -> bool {
        let Self { indexed, empty, carried, pruned, left_out, failed, switched, .. } = self;
        indexed + empty + carried + pruned.len() + left_out.len() + failed.len() > 0 || switched.is_some()
    }

    /// The run as the store records it; it began at `at`.
    pub(crate) fn past(&self, at: &str) -> PastRun {
        PastRun {
            number: 0,
            at: at.to_owned(),
            generation: self.generation,
            indexed: self.indexed + self.empty + self.carried,
            unchanged: self.unchanged,
            removed: self.pruned.len() + self.left_out.len(),
            failed: self.failed.len(),
            chunks: self.chunks,
            embedded: self.embedded,
            reused: self.reused,
            tokens: self.tokens_to_embed,
            skipped: self.skipped.iter().fold(BTreeMap::new(), |mut reasons, skipped| {
                *reasons.entry(skipped.reason.as_str().to_owned()).or_default() += 1;
                reasons
            }),
            cancelled: self.cancelled,
            timings: self.timings,
        }
    }
}

/// A document that has another id than the one before it, and all or most of its text. What it has of it needs no new
/// vectors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Renamed {
    /// Id of the document whose file is gone.
    pub from: String,
    /// Id of the document that was written.
    pub to: String,
}

/// A kind of files that more than half of the tokens are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dominant {
    /// The extension of the files.
    pub extension: String,
    /// Number of the files.
    pub files: usize,
    /// Tokens of their chunks.
    pub tokens: usize,
    /// Tokens of all chunks.
    pub all_tokens: usize,
}

/// Token counts by kind of file.
#[derive(Clone, Debug, Default)]
pub struct TokensByKind(BTreeMap<String, (usize, usize)>);

/// Extensions of data files, whose parts are rarely what a user searches for.
const DATA: &[&str] = &[
    "csv", "tsv", "json", "jsonl", "ndjson", "geojson", "ipynb", "log", "xml", "svg", "yaml", "yml", "lock",
    "map", "txt", "sql", "css",
];

/// Fewest tokens for which a dominant kind is reported.
const LEAST_TOKENS: usize = 2_000;

impl TokensByKind {
    /// Adds the chunks of a document.
    pub fn add(&mut self, doc_id: &str, tokens: usize) {
        let name = doc_id.rsplit('/').next().unwrap_or(doc_id);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let (files, sum) = self.0.entry(extension).or_default();
        *files += 1;
        *sum += tokens;
    }

    /// The kind of data that has more than half of the tokens, if there are other kinds.
    pub fn dominant(&self) -> Option<Dominant> {
        let all_tokens: usize = self.0.values().map(|(_, tokens)| tokens).sum();
        let (extension, (files, tokens)) = self.0.iter().max_by_key(|(_, (_, tokens))| *tokens)?;
        let is_news = self.0.len() > 1 && *tokens >= LEAST_TOKENS && *tokens * 2 > all_tokens;
        (is_news && DATA.contains(&extension.as_str())).then(|| Dominant {
            extension: extension.clone(),
            files: *files,
            tokens: *tokens,
            all_tokens,
        })
    }
}

/// A folder whose documents stay although their files were not found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Away {
    /// Where it is, absolute, printable like a document's id.
    pub folder: String,
    /// Number of its documents that stay.
    pub documents: usize,
    /// Why they stay.
    pub why: WhyAway,
}

/// Why documents stay whose files were not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhyAway {
    /// The path that was given does not exist; other paths do.
    Missing,
    /// The folder is empty, and nothing was removed from it: the file system that holds the files may not be mounted.
    Empty,
    /// More than half of the folder's documents are gone, and that they go was not asked for.
    Most,
    /// Their files are there, and this run leaves them out: by patterns, types or ignore files.
    LeftOut,
    /// Their files are gone, and they were to stay.
    Kept,
}

/// A folder of a collection that is in another place than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// Where it was, absolute, printable like a document's id.
    pub from: String,
    /// Where it is.
    pub to: String,
    /// Number of its documents.
    pub documents: usize,
}

/// A document with NUL characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nuls {
    /// The document.
    pub doc_id: String,
    /// How many its text has.
    pub count: usize,
}

/// A part of a document that was left out or has no text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Omitted {
    /// The document.
    pub doc_id: String,
    /// The part, as a clause for people.
    pub what: String,
}

/// A document that could not be indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The document.
    pub doc_id: String,
    /// What happened, in one sentence.
    pub message: String,
}
