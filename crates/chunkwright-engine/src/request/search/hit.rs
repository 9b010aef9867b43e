//! A hit as it is returned: the chunk with its preview and metadata.

use std::iter;
use std::ops::Deref;

use chunkwright::ChunkId;
use chunkwright_index as index;
use chunkwright_index::{Metadata, joined_id};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::request::list::RelatedAnswer;
use crate::request::search::Translation;

/// Maximum number of characters in a preview.
const PREVIEW_CHARS: usize = 200;

/// Keys that a hit does not repeat: the outline is in its metadata, and `text`, which consists of context and content,
/// is only included on request.
const LEFT_TO_OTHERS: [&str; 2] = ["text", "doc_toc"];

/// A chunk that was found, and the collection that it is of.
///
/// The `content` of a hit is what a reader is shown: of a format that is rendered (HTML, notebooks) the rendered text,
/// else exactly the source. Byte for byte, the source comes by fetching.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// The collection.
    pub collection: String,
    /// What was found.
    #[serde(flatten, serialize_with = "without_doubles")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema_without_doubles"))]
    pub found: index::Hit,
    /// Its id by its position, with folders joined and without an extension: `docs_bindingPath_chunk2`. A reference for
    /// fetch as long as no other document has it.
    pub joined_id: String,
    /// The beginning of what is shown: at most 200 Unicode scalar values, with one space in place of each run of
    /// whitespace and none at either end.
    pub content_preview: String,
    /// What is known of its file and its place there.
    pub metadata: Metadata,
    /// What is embedded and searched, if the request asks for it, or if it is not context, content and what closes them:
    /// a summary, or a text that was edited by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Number of the query that found it first, from 1, where the request has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_query: Option<usize>,
    /// Documents of the same folder, and about the same, if the request asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related: Option<RelatedAnswer>,
    /// Chunks of other collections with the same content, which were ranked lower.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<HitPlace>,
    /// Chunks that were ranked lower, of the same page in other languages, where these are collapsed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub translations: Vec<Translation>,
}

/// Where a chunk is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HitPlace {
    /// The collection.
    pub collection: String,
    /// The chunk.
    pub chunk_id: ChunkId,
}

/// A passage with the hits inside it, and the collection that it is of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundPassage {
    /// The collection.
    pub collection: String,
    /// What was found.
    #[serde(flatten)]
    pub found: index::FoundPassage,
}

impl FoundPassage {
    /// The `offset` of a search that begins with its best hit.
    pub fn offset(&self) -> usize {
        self.found.hits.first().map_or(0, |best| best.rank.saturating_sub(1))
    }
}

impl Hit {
    /// The `offset` of a search that begins with it.
    pub fn offset(&self) -> usize {
        self.found.rank.saturating_sub(1)
    }

    pub(crate) fn new(collection: &str, found: index::Hit) -> Self {
        let metadata = Metadata::new(&found.record, None, &found.doc_toc);
        let content_preview = preview(found.record.shown());
        let says_more = found.record.shown() != found.record.content;
        let text = says_more.then(|| found.record.text.clone());
        let joined_id = format!("{}_chunk{}", joined_id(&found.record.doc_id), found.record.chunk_index);
        Self {
            collection: collection.to_owned(),
            joined_id,
            found,
            content_preview,
            metadata,
            text,
            of_query: None,
            related: None,
            copies: Vec::new(),
            translations: Vec::new(),
        }
    }

    /// Puts the rendered text in place of the source.
    pub(crate) fn show_rendered(&mut self) {
        self.found.record.content = self.found.record.shown().to_owned();
        self.text = None;
    }
}

/// The beginning of a text on one line.
fn preview(content: &str) -> String {
    let words = content.split_whitespace();
    let spaced = words.flat_map(|word| iter::once(' ').chain(word.chars())).skip(1);
    spaced.take(PREVIEW_CHARS).collect::<String>().trim_end().to_owned()
}

fn without_doubles<S: Serializer>(found: &index::Hit, serializer: S) -> Result<S::Ok, S::Error> {
    let mut found = serde_json::to_value(found).map_err(serde::ser::Error::custom)?;
    if let Value::Object(members) = &mut found {
        members.retain(|key, _| !LEFT_TO_OTHERS.contains(&key.as_str()));
    }
    found.serialize(serializer)
}

#[cfg(feature = "schema")]
fn schema_without_doubles(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = <index::Hit as schemars::JsonSchema>::json_schema(generator);
    let is_left = |key: &Value| key.as_str().is_some_and(|key| LEFT_TO_OTHERS.contains(&key));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|key, _| !LEFT_TO_OTHERS.contains(&key.as_str()));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| !is_left(key));
    }
    schema
}

impl Deref for Hit {
    type Target = index::Hit;

    fn deref(&self) -> &index::Hit {
        &self.found
    }
}

impl Deref for FoundPassage {
    type Target = index::FoundPassage;

    fn deref(&self) -> &index::FoundPassage {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_line_of_200_characters_at_most() {
        assert_eq!(preview("  # Retries\r\n\n\tA  request\u{3000}请求 \n"), "# Retries A request 请求");
        assert_eq!(
            preview(&"数据库".repeat(100)),
            "数据库".repeat(100).chars().take(200).collect::<String>()
        );
        assert_eq!(preview(&format!("{} {}", "ы".repeat(199), "и")), "ы".repeat(199), "no space at the end");
        assert_eq!(preview(" \n"), "");
    }
}
