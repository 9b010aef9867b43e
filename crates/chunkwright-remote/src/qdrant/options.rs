//! User options of collections on Qdrant.

use serde::Deserialize;

use chunkwright_store::{StoreError, StoreLocation};

/// Names and settings of collections on Qdrant. As part of an address: `qdrant://HOST:6333?prefix=team_&shards=2`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QdrantOptions {
    /// Prefix of the name of every collection and alias, so that several stores can share a server.
    pub prefix: String,
    /// Name of the dense vector; empty for a single, unnamed one.
    pub dense: String,
    /// Name of the sparse vector that the model gives.
    pub sparse: String,
    /// Name of the sparse vector of BM25 weights.
    pub words: String,
    /// Payload field that holds the text that is embedded and searched, borrowed context included.
    pub content: String,
    /// Field that holds the document's id.
    pub doc_id: String,
    /// Field that holds the chunk's position in its document.
    pub chunk_index: String,
    /// Field that holds the chunk's id.
    pub chunk_id: String,
    /// Field that holds metadata for other readers: paths, titles, the outline of the document.
    pub metadata: String,
    /// Shards of a new collection; `None`: the server's default.
    pub shards: Option<u32>,
    /// Copies of each shard of a new collection; `None`: the server's default.
    pub replicas: Option<u32>,
    /// Whether to compare every vector instead of using the approximate index.
    pub exact: bool,
    /// The model of the vectors in collections of other programs, which do not record it.
    pub model: Option<String>,
}

impl Default for QdrantOptions {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            dense: "dense".into(),
            sparse: "sparse".into(),
            words: "bm25".into(),
            content: "content".into(),
            doc_id: "doc_id".into(),
            chunk_index: "chunk_index".into(),
            chunk_id: "chunk_id".into(),
            metadata: "metadata".into(),
            shards: None,
            replicas: None,
            exact: false,
            model: None,
        }
    }
}

impl QdrantOptions {
    /// Parses the options of an address.
    pub(super) fn of(place: &StoreLocation) -> Result<Self, StoreError> {
        const RIGHT: &str = "options are `prefix`, `dense`, `sparse`, `words` (each another), `content`, `doc_id`, `chunk_index`, `chunk_id`, \
            `metadata`, `model` (names), `shards`, `replicas` (numbers from 1) and `exact` (`true` or `false`)";
        let mut options = Self::default();
        for (name, value) in place.options() {
            let wrong = || place.wrong_option(name, RIGHT);
            let number = || value.parse().ok().filter(|number| *number > 0).ok_or_else(wrong);
            match name {
                "shards" => options.shards = Some(number()?),
                "replicas" => options.replicas = Some(number()?),
                "exact" => options.exact = value.parse().map_err(|_| wrong())?,
                "model" => options.model = Some(value.into()),
                "prefix" => options.prefix = value.into(),
                "dense" => options.dense = value.into(),
                "sparse" => options.sparse = value.into(),
                "words" => options.words = value.into(),
                "content" => options.content = value.into(),
                "doc_id" => options.doc_id = value.into(),
                "chunk_index" => options.chunk_index = value.into(),
                "chunk_id" => options.chunk_id = value.into(),
                "metadata" => options.metadata = value.into(),
                _ => return Err(wrong()),
            }
        }
        let names = [("sparse", &options.sparse, &options.dense), ("words", &options.words, &options.sparse)];
        let same = names.into_iter().find(|(_, name, other)| name == other || **name == options.dense);
        same.map_or(Ok(()), |(name, ..)| Err(place.wrong_option(name, RIGHT)))?;
        Ok(options)
    }

    /// Fields that filters use, with their types.
    pub(super) fn indexes(&self) -> Vec<(String, &'static str)> {
        let record = |name: &str| format!("record.{name}");
        vec![
            (self.doc_id.clone(), "keyword"),
            (self.chunk_id.clone(), "keyword"),
            (record("doc_id"), "keyword"),
            (record("category"), "keyword"),
            (record("language"), "keyword"),
            (record("content_type"), "keyword"),
            (record("artifact"), "keyword"),
            ("symbols".into(), "keyword"),
            ("version".into(), "integer"),
            ("enabled".into(), "bool"),
        ]
    }
}
