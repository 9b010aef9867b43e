//! User options of collections on Chroma.

use chunkwright_store::{StoreError, StoreLocation};

/// Location and settings of collections on a Chroma server. As part of an address:
/// `chroma://HOST:8000?database=team&prefix=course_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChromaOptions {
    /// The tenant, which must exist.
    pub tenant: String,
    /// The database, which must exist.
    pub database: String,
    /// Prefix of the name of every collection, so that several stores can share a database.
    pub prefix: String,
    /// Number of neighbours of a vector in the graph.
    pub max_neighbors: u32,
    /// Number of candidates examined when a vector is inserted into the graph.
    pub ef_construction: u32,
    /// Number of candidates examined by a search; more make it more exact.
    pub ef_search: u32,
}

impl Default for ChromaOptions {
    fn default() -> Self {
        Self {
            tenant: "default_tenant".into(),
            database: "default_database".into(),
            prefix: String::new(),
            max_neighbors: 64,
            ef_construction: 400,
            ef_search: 1000,
        }
    }
}

impl ChromaOptions {
    /// Parses the options of an address.
    pub(super) fn of(place: &StoreLocation) -> Result<Self, StoreError> {
        const RIGHT: &str = "options are `tenant`, `database`, `prefix` (names of letters, digits, `-`, `_` and `.`), \
            `max_neighbors`, `ef_construction` and `ef_search` (numbers from 1)";
        let mut options = Self::default();
        for (name, value) in place.options() {
            let wrong = || place.wrong_option(name, RIGHT);
            let number = || value.parse().ok().filter(|number| *number > 0).ok_or_else(wrong);
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            match name {
                "max_neighbors" => options.max_neighbors = number()?,
                "ef_construction" => options.ef_construction = number()?,
                "ef_search" => options.ef_search = number()?,
                _ if !value.bytes().all(legal) => return Err(wrong()),
                "tenant" => options.tenant = value.into(),
                "database" => options.database = value.into(),
                "prefix" => options.prefix = value.into(),
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }
}
