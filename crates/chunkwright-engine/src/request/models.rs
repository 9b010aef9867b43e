//! Models that can be installed.

use serde::{Deserialize, Serialize};

use crate::request::doctor::State;

/// A model that can be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelEntry {
    /// Its name.
    pub name: &'static str,
    /// `ok` if it is installed and whole.
    pub state: State,
    /// Bytes of its files.
    pub bytes: u64,
    /// What it can be used as: `embedder`, `reranker`.
    pub uses: Vec<&'static str>,
    /// What it is.
    pub summary: &'static str,
    /// Where it is, or would be.
    pub path: String,
    /// What is wrong with a damaged one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Which models are to be installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct InstallModelsRequest {
    /// Their names; none for the usual ones.
    pub names: Vec<String>,
}

/// Which models are to be removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoveModelsRequest {
    /// Their names.
    pub names: Vec<String>,
}

/// What became of a model that was to be installed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelChange {
    /// Its name.
    pub name: &'static str,
    /// What was done.
    pub action: ModelAction,
    /// Bytes of its files.
    pub bytes: u64,
    /// Where it is, or was.
    pub path: String,
}

/// What was done with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelAction {
    /// It was downloaded and is whole.
    Installed,
    /// It was there before, whole.
    AlreadyInstalled,
    /// It was removed.
    Removed,
    /// There was nothing to remove.
    NotInstalled,
}
