//! Divides documents among several machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of several shares of documents, written `2/8`. They are dealt out by a hash of their id: a document's shard
/// depends on nothing else, and the shards `1/N` to `N/N` together are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// From 0.
    index: u64,
    of: u64,
}

/// A text that is not a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is I/N with I from 1 to N, such as 2/8")]
pub struct ShardError;

impl Shard {
    /// Its place among all shards, from 0.
    pub(crate) fn index(self) -> u64 {
        self.index
    }

    /// Number of all shards.
    pub(crate) fn of(self) -> u64 {
        self.of
    }

    /// Returns whether the document belongs to this shard.
    pub fn holds(self, doc_id: &str) -> bool {
        let hash = blake3::hash(doc_id.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_bytes()[..8]);
        u64::from_le_bytes(first) % self.of == self.index
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index: index - 1, of }),
            _ => Err(ShardError),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_in_one_shard() {
        let shards: Vec<Shard> =
            (1..=8).map(|index| format!("{index}/8").parse().expect("a shard")).collect();
        for doc_id in ["a.md", "docs/b.md", "文档.md"] {
            assert_eq!(shards.iter().filter(|shard| shard.holds(doc_id)).count(), 1, "{doc_id}");
        }
        for text in ["0/2", "3/2", "1", "a/b", "1/0"] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError), "{text}");
        }
    }
}
