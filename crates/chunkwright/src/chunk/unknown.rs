//! Files that may be source code of an unknown language: those whose extension no format has.

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkConfig;
use crate::document::Document;

/// How a file is cut whose extension no format and no language has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnknownFiles {
    /// As plain text, by its paragraphs: notes and logs are more often such files than code is.
    #[default]
    Text,
    /// As source code whose structure is not known, by `fixed_chunk_lines`.
    Lines,
}

impl ChunkConfig {
    /// Returns whether a document is cut by lines, whatever the strategy: source code whose structure is not known, or a
    /// file that may be such.
    pub(crate) fn cuts_by_lines(&self, document: &Document) -> bool {
        let is_unknown = || self.unknown_files == UnknownFiles::Lines && document.is_of_unknown_format();
        self.fixed_chunk_lines > 0 && (document.is_unparsed() || is_unknown())
    }
}
