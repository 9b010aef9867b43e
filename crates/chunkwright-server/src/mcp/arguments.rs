//! Defines what tools take.
//!
//! The schemas are what arguments are checked by: see [`read`].

mod read;
mod schema;

use chunkwright_engine::MAX_QUERY_CHARS;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::Format;
pub(super) use read::{Invalid, read};
pub(super) use schema::{input, output};

/// Most hits of a page.
const MAX_LIMIT: usize = 50;

/// Of `search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// A question, or names from the code. May hold conditions such as `path:docs/ lang:rust`.
    #[schemars(length(max = MAX_QUERY_CHARS))]
    pub(super) query: String,
    /// Number of results.
    #[serde(default = "Search::usual_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub(super) limit: usize,
    /// Number of results before the first, to continue an earlier search.
    #[serde(default)]
    pub(super) offset: usize,
    /// The collection to search; `status` lists them.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) collection: Option<String>,
    /// Only chunks that pass, such as `language=rust and path=src/`.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) filter: Option<String>,
    /// Where the texts of the answer are; `text` if you cannot see `structuredContent`.
    #[serde(default)]
    #[schemars(with = "Format")]
    pub(super) format: Option<Format>,
}

/// Of `fetch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fetch {
    /// The `id` or `url` of a result, a document's id, `DOC_ID#L10-L80`, or `next` of an earlier answer.
    pub(super) id: String,
    /// The collection that it is of, unless the id says.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) collection: Option<String>,
    /// Number of chunks before and after a chunk that are read with it.
    #[serde(default)]
    #[schemars(range(max = 50))]
    pub(super) window: u32,
    /// Where the texts of the answer are; `text` if you cannot see `structuredContent`.
    #[serde(default)]
    #[schemars(with = "Format")]
    pub(super) format: Option<Format>,
}

/// Of `outline`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Outline {
    /// The document whose sections are listed; without it the documents are.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) id: Option<String>,
    /// The collection that it is of, unless the id says.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) collection: Option<String>,
    /// Number of rows before the first, to continue an earlier answer.
    #[serde(default)]
    pub(super) offset: usize,
    /// Where the answer is; `text` if you cannot see `structuredContent`.
    #[serde(default)]
    #[schemars(with = "Format")]
    pub(super) format: Option<Format>,
}

/// Of `status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    /// Where the answer is; `text` if you cannot see `structuredContent`.
    #[serde(default)]
    #[schemars(with = "Format")]
    pub(super) format: Option<Format>,
}

/// Of `index`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Index {
    /// The collection that is brought up to date; `status` lists them.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) collection: Option<String>,
    /// Where the answer is; `text` if you cannot see `structuredContent`.
    #[serde(default)]
    #[schemars(with = "Format")]
    pub(super) format: Option<Format>,
}

/// Of `search` for `OpenAI`'s clients.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatGptSearch {
    /// What to look for.
    #[schemars(length(max = MAX_QUERY_CHARS))]
    pub(super) query: String,
}

/// Of `fetch` for `OpenAI`'s clients.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatGptFetch {
    /// The `id` of a result, or `metadata.next` of an earlier answer.
    pub(super) id: String,
}

impl Search {
    fn usual_limit() -> usize {
        5
    }
}

impl From<ChatGptSearch> for Search {
    fn from(ChatGptSearch { query }: ChatGptSearch) -> Self {
        let limit = 10;
        Self { query, limit, offset: 0, collection: None, filter: None, format: None }
    }
}

impl From<ChatGptFetch> for Fetch {
    fn from(ChatGptFetch { id }: ChatGptFetch) -> Self {
        Self { id, collection: None, window: 0, format: None }
    }
}
