//! Tasks: changes as values, which jobs store and processes send to each other.

use std::collections::BTreeMap;
use std::path::{PathBuf, absolute};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chunkwright_source::{FormatHint, NewSource};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::request::amend::AmendRequest;
use crate::request::boundary::BoundaryRequest;
use crate::request::collections::RenameRequest;
use crate::request::diff::PlannedDiffRequest;
use crate::request::evaluate::EvaluateRequest;
use crate::request::generations::{DeleteRequest, PruneRequest};
use crate::request::index::IndexRequest;
use crate::settings::PortableSettings;

/// A change of a collection or of the whole store, or work that takes long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Task {
    /// Bring a collection to the state of files. Without paths everything that is stored is brought to the settings.
    Index {
        /// The collection.
        collection: String,
        /// What is indexed, and how.
        request: IndexRequest,
    },
    /// Index documents from memory.
    Put {
        /// The collection.
        collection: String,
        /// How they are indexed.
        request: IndexRequest,
        /// The documents.
        documents: Vec<PutDocument>,
    },
    /// Embed what was stored without vectors. Only processes send it to each other.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Fill {
        /// The collection.
        collection: String,
        /// How it was indexed.
        request: IndexRequest,
        /// How often searches of the sender found documents since it sent this last.
        asked: BTreeMap<String, u64>,
    },
    /// Change by hand how chunks are found.
    Amend {
        /// The collection.
        collection: String,
        /// The change.
        request: AmendRequest,
    },
    /// Divide a chunk by hand, or join two.
    SetBoundary {
        /// The collection.
        collection: String,
        /// The change.
        request: BoundaryRequest,
    },
    /// Remove generations that are not in use.
    Prune {
        /// The collection.
        collection: String,
        /// Which of them.
        request: PruneRequest,
    },
    /// Remove documents, or the whole collection.
    Delete {
        /// The collection.
        collection: String,
        /// Which of them.
        request: DeleteRequest,
    },
    /// Give the collection another name. Only processes send it to each other.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Rename {
        /// The collection.
        collection: String,
        /// Its new name.
        request: RenameRequest,
    },
    /// Read records of files into a collection.
    Import {
        /// The collection.
        collection: String,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Forget vectors of texts that no chunk has, and all notes.
    ClearCache,
    /// Compare what is stored with what other settings would give.
    Diff {
        /// The collection.
        collection: String,
        /// Which documents are compared, and how they would be cut.
        request: PlannedDiffRequest,
    },
    /// Measure how well presets serve documents.
    Evaluate {
        /// Files and folders of the documents.
        paths: Vec<PathBuf>,
        /// What is measured.
        request: EvaluateRequest,
    },
}

/// A task and the settings that it is performed by: what a process sends to the owner of a store.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) settings: PortableSettings,
    pub(crate) task: Task,
}

/// A document from memory, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PutDocument {
    /// Its key in the collection.
    pub doc_id: String,
    /// Its bytes, as base64.
    #[serde(serialize_with = "as_base64", deserialize_with = "of_base64")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub bytes: Vec<u8>,
    /// What tells its format; without it the key does, as if it were a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<FormatHint>,
}

fn as_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn of_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(|error| serde::de::Error::custom(format!("not base64: {error}")))
}

impl From<NewSource> for PutDocument {
    fn from(source: NewSource) -> Self {
        Self { doc_id: source.doc_id, bytes: source.bytes, hint: source.hint }
    }
}

impl From<PutDocument> for NewSource {
    fn from(document: PutDocument) -> Self {
        Self { doc_id: document.doc_id, bytes: document.bytes, hint: document.hint }
    }
}

impl Task {
    /// The collection of the task; `None` if it concerns the whole store, or no collection.
    pub fn collection(&self) -> Option<&str> {
        match self {
            Self::Index { collection, .. }
            | Self::Put { collection, .. }
            | Self::Fill { collection, .. }
            | Self::Amend { collection, .. }
            | Self::SetBoundary { collection, .. }
            | Self::Prune { collection, .. }
            | Self::Delete { collection, .. }
            | Self::Rename { collection, .. }
            | Self::Import { collection, .. }
            | Self::Diff { collection, .. } => Some(collection),
            Self::ClearCache | Self::Evaluate { .. } => None,
        }
    }

    /// The kind of the task, as in its JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Index { .. } => "index",
            Self::Put { .. } => "put",
            Self::Fill { .. } => "fill",
            Self::Amend { .. } => "amend",
            Self::SetBoundary { .. } => "set_boundary",
            Self::Prune { .. } => "prune",
            Self::Delete { .. } => "delete",
            Self::Rename { .. } => "rename",
            Self::Import { .. } => "import",
            Self::ClearCache => "clear_cache",
            Self::Diff { .. } => "diff",
            Self::Evaluate { .. } => "evaluate",
        }
    }

    /// Returns whether the task changes nothing stored.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::Diff { .. } | Self::Evaluate { .. })
    }

    /// Returns whether running an interrupted task again leads to the same result.
    pub fn is_resumable(&self) -> bool {
        !matches!(self, Self::Evaluate { .. } | Self::Import { .. })
    }

    /// This task with documents from memory reduced to their keys.
    pub(crate) fn without_contents(&self) -> Self {
        let Self::Put { collection, request, documents } = self else { return self.clone() };
        let key = |document: &PutDocument| PutDocument {
            doc_id: document.doc_id.clone(),
            bytes: Vec::new(),
            hint: document.hint.clone(),
        };
        let documents = documents.iter().map(key).collect();
        Self::Put { collection: collection.clone(), request: request.clone(), documents }
    }

    /// Removes the contents of documents from memory, and keeps their keys.
    pub(crate) fn drop_contents(&mut self) {
        if let Self::Put { documents, .. } = self {
            for document in documents {
                document.bytes = Vec::new();
            }
        }
    }

    /// Makes paths absolute, so that they mean the same in every process.
    pub(crate) fn with_absolute_paths(mut self) -> Self {
        self.paths_mut().into_iter().for_each(make_absolute);
        self
    }

    /// The files and folders that the task names.
    pub(crate) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Self::Index { request, .. } | Self::Put { request, .. } | Self::Fill { request, .. } => {
                let IndexRequest { paths, root, moved_from, exclude, .. } = request;
                paths.iter_mut().chain(root).chain(moved_from).chain(exclude).collect()
            }
            Self::Delete { request, .. } => request.paths_mut().collect(),
            Self::Import { files, .. } => files.iter_mut().collect(),
            Self::Evaluate { paths, request } => paths.iter_mut().chain(request.paths_mut()).collect(),
            Self::Amend { .. }
            | Self::SetBoundary { .. }
            | Self::Prune { .. }
            | Self::Rename { .. }
            | Self::Diff { .. }
            | Self::ClearCache => Vec::new(),
        }
    }
}

fn make_absolute(path: &mut PathBuf) {
    if let Ok(full) = absolute(&*path) {
        *path = full;
    }
}
