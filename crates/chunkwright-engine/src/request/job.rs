//! Jobs: work that a network client asks for, and its state.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::request::diff::PlannedDiffRequest;
use crate::request::evaluate::EvaluateRequest;
use crate::request::generations::PruneRequest;
use crate::request::index::IndexRequest;
use crate::request::index::progress::RunProgress;
use crate::request::task::Task;

/// Work that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// Its number, from 1, never used again.
    pub id: u64,
    /// What is done.
    pub task: Task,
    /// Values of the settings for it, over those of the process.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// Where it is.
    pub state: JobState,
    /// How far it is, and how far it came.
    #[serde(default)]
    pub progress: RunProgress,
    /// When it was asked for, in UTC, as RFC 3339 has it.
    pub submitted_at: String,
    /// When it was begun last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// How often it was begun: more than once if processes ended before it did.
    #[serde(default)]
    pub attempts: u32,
    /// What was answered, where it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Why it failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<JobError>,
    /// Grows with every change of the job in this process.
    #[serde(default)]
    pub revision: u64,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for jobs of the same collection.
    Queued,
    /// It runs.
    Running,
    /// It did what was asked.
    Succeeded,
    /// It could not do it.
    Failed,
    /// It was cancelled; what it had done by then stays.
    Cancelled,
    /// Its process ended before it did, and it was not taken up again.
    Interrupted,
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobError {
    /// The name of the kind of failure.
    pub code: String,
    /// What was wrong, and what would be right.
    pub message: String,
}

impl JobState {
    /// Returns whether the job has ended.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// Work that a request asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum JobRequest {
    /// Bring a collection to the state of files that the server can read.
    Index {
        /// The collection, which need not exist.
        collection: String,
        /// What is indexed, and how; one path at least.
        request: IndexRequest,
        /// Keys of the settings; without any, a collection that exists is cut as it is planned to be.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "crate::settings::schema::RequestedSettings"))]
        settings: Map<String, Value>,
    },
    /// Cut everything that is stored again.
    Reindex {
        /// The collection.
        collection: String,
        /// Keys of the settings; without any, as the collection is planned to be cut.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "crate::settings::schema::RequestedSettings"))]
        settings: Map<String, Value>,
    },
    /// Embed everything that is stored by another model.
    Migrate {
        /// The collection.
        collection: String,
        /// The model: the name of one that is installed or configured, or `none`.
        embedder: String,
    },
    /// Remove generations that searches do not see.
    Prune {
        /// The collection.
        collection: String,
        /// Which of them.
        #[serde(default)]
        request: PruneRequest,
    },
    /// Compare what is stored with what other settings would give; the result is fetched when the job has succeeded.
    Diff {
        /// The collection.
        collection: String,
        /// Which documents are compared, and how they would be cut.
        #[serde(default)]
        request: PlannedDiffRequest,
    },
    /// Measure how well presets serve documents.
    Evaluate {
        /// Files and folders of the documents, where they are not those of a collection.
        #[serde(default)]
        paths: Vec<PathBuf>,
        /// What is measured.
        request: EvaluateRequest,
    },
}

impl JobRequest {
    /// The collection of the job, if it changes one.
    pub fn collection(&self) -> Option<&str> {
        match self {
            Self::Index { collection, .. }
            | Self::Reindex { collection, .. }
            | Self::Migrate { collection, .. }
            | Self::Prune { collection, .. } => Some(collection),
            Self::Diff { .. } | Self::Evaluate { .. } => None,
        }
    }
}
