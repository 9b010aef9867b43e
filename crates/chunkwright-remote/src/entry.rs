//! Entries of the catalog, as a database keeps them.

use serde::Serialize;

use chunkwright_store::StoreError;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The number of the generation begun last.
    Store,
    /// The current generation of a collection.
    Collection,
    Generation,
    /// A document of a generation, with its live version.
    Document,
    /// A part of a document's text or file.
    Part,
    /// The manual changes of a chunk.
    Overlay,
    /// The last runs that changed a collection.
    Runs,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Collection => "collection",
            Self::Generation => "generation",
            Self::Document => "document",
            Self::Part => "part",
            Self::Overlay => "overlay",
            Self::Runs => "runs",
        }
    }
}

/// An entry of the catalog. Names are unique within a kind and owner.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// The generation or collection that it belongs to; empty for none.
    pub(crate) owner: String,
    pub(crate) key: String,
    /// JSON, or a part of a text.
    pub(crate) value: String,
}

/// The key of an entry.
pub(crate) fn key(kind: Kind, owner: &str, name: &str) -> String {
    format!("{}/{owner}/{name}", kind.as_str())
}

impl Entry {
    pub(crate) fn new(
        kind: Kind,
        owner: &str,
        name: &str,
        value: &impl Serialize,
    ) -> Result<Self, StoreError> {
        let value = serde_json::to_string(value)
            .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
        Ok(Self::text(kind, owner, name, value))
    }

    pub(crate) fn text(kind: Kind, owner: &str, name: &str, value: String) -> Self {
        Self { kind, owner: owner.into(), key: key(kind, owner, name), value }
    }
}
