//! Kinds of documents: what documents at certain paths are, and what is different for them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chunk::{ChunkConfig, Keep};

/// What documents at certain paths are, and what is different for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Kind {
    /// The `category` of their chunks.
    pub name: String,
    /// Globs over the document's id (`**/api/**`); one has to match. None: every document.
    pub paths: Vec<String>,
    /// The `chunk_type` of their chunks; if empty, the name.
    pub chunk_type: String,
    /// Their `max_size`, if it is another; at most that of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<usize>,
    /// Their `min_size`, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_size: Option<usize>,
    /// Their `overlap_size`, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap_size: Option<usize>,
    /// Their `keep_whole`, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_whole: Option<Vec<Keep>>,
    /// Their `set_apart`, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_apart: Option<Vec<Keep>>,
}

impl Kind {
    /// Puts what is different into `config`. The limit of the configuration stays one: it is what is verified.
    pub(super) fn apply(&self, config: &mut Cow<'_, ChunkConfig>) {
        let Self { max_size, min_size, overlap_size, keep_whole, set_apart, .. } = self;
        if let Some(max_size) = max_size {
            let config = config.to_mut();
            config.max_size = (*max_size).clamp(ChunkConfig::LEAST_MAX_SIZE, config.max_size);
            config.target_size = config.target_size.min(config.max_size);
            config.min_size = config.min_size.min(config.max_size);
            config.overlap_size = config.overlap_size.min(config.max_size / 2);
        }
        if let Some(min_size) = min_size {
            config.to_mut().min_size = (*min_size).min(config.max_size);
        }
        if let Some(overlap_size) = overlap_size {
            config.to_mut().overlap_size = (*overlap_size).min(config.max_size / 2);
        }
        if let Some(keep_whole) = keep_whole {
            config.to_mut().keep_whole.clone_from(keep_whole);
        }
        if let Some(set_apart) = set_apart {
            config.to_mut().set_apart.clone_from(set_apart);
        }
    }
}
