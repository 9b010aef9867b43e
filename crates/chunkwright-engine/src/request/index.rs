//! Runs that index.

pub(crate) mod progress;
pub(crate) mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;

use chunkwright_index::{Embed, IndexReport, Prefix, Prune};
use serde::{Deserialize, Serialize};

use crate::notice::Notice;

/// What is indexed, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct IndexRequest {
    /// Files and folders; in this process also addresses of sites and repositories (`git+https://..`).
    pub paths: Vec<PathBuf>,
    /// Write nothing, and answer what would be done.
    pub dry_run: bool,
    /// What happens to documents of the paths whose files are gone.
    pub prune: Prune,
    /// What stands before the ids of the documents of the paths.
    pub prefix: Option<Prefix>,
    /// The folder that ids are relative to; it holds the paths.
    pub root: Option<PathBuf>,
    /// The folder of the collection that the one path is now.
    pub moved_from: Option<PathBuf>,
    /// What is said of every document, by name; an empty text takes a name back.
    pub meta: BTreeMap<String, String>,
    /// Read every file, even if its size and modification time are unchanged.
    pub rehash: bool,
    /// Price of embedding a million tokens; adds the cost to the report.
    pub price: Option<f64>,
    /// Store summaries of functions, classes and files of source code beside their chunks.
    pub summaries: bool,
    /// Leave out files that are generated or minified.
    pub skip_generated: bool,
    /// When texts without a vector are embedded.
    #[serde(skip_serializing_if = "is_now")]
    pub embed: Embed,
    /// Take documents from memory even if their names or contents are those of files with credentials.
    pub force: bool,
    /// Let the writer add a note to each chunk that says what it is about, within the limit.
    pub context_notes: bool,
    /// Have the writer summarise each document.
    pub document_summaries: bool,
    /// Files that list addresses of pages, one a line; the pages are indexed.
    #[serde(skip)]
    pub urls: Vec<PathBuf>,
    /// Fetch addresses too whose hosts are in a private network or on this machine.
    #[serde(skip)]
    pub allow_private: bool,
    /// What is known of single files, by their paths: where they were fetched from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub files_meta: Vec<(PathBuf, BTreeMap<String, String>)>,
    /// A file that is left out wherever it is: the one that results are written to.
    #[serde(skip)]
    pub exclude: Option<PathBuf>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_now(embed: &Embed) -> bool {
    *embed == Embed::Now
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IndexAnswer {
    /// The collection.
    pub collection: String,
    /// Where its store is.
    pub store: String,
    /// The model of its vectors; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether nothing was written, because the request was a dry run.
    pub dry_run: bool,
    /// What was done.
    #[serde(flatten)]
    pub report: IndexReport,
    /// Share of the documents read that could not be indexed, from 0 to 1.
    #[serde(default)]
    pub failed_ratio: f64,
    /// How many entries were skipped for each reason.
    #[serde(default)]
    pub skipped_reasons: BTreeMap<String, usize>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Number of skipped entries that are printed: a folder of compiled files has thousands.
const SKIPPED_PRINTED: usize = 20;

impl IndexAnswer {
    /// A shortened answer for printing, with only the first skipped entries.
    pub fn brief(&self) -> Self {
        let mut brief = self.clone();
        brief.report.skipped.truncate(SKIPPED_PRINTED);
        brief
    }

    /// Returns whether anything was written or failed.
    pub fn changed_anything(&self) -> bool {
        self.report.changed_anything()
    }

    /// Returns whether no document was found, neither at paths nor in the collection to be cut again.
    pub fn is_empty(&self) -> bool {
        is_empty(&self.report)
    }
}

/// Returns whether a run had no documents.
pub(crate) fn is_empty(report: &IndexReport) -> bool {
    let IndexReport { indexed, unchanged, empty, carried, failed, .. } = report;
    failed.is_empty() && indexed + unchanged + empty + carried == 0
}
