//! What is wrong with tables that should be the shards of one whole.

/// Why tables are not the shards of one whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardsError {
    /// A table without a manifest.
    #[error(
        "`{path}` does not say which shard it is; `chunkwright chunk --shard I/N -o FILE.parquet` makes those that do"
    )]
    NoManifest {
        /// The table.
        path: String,
    },
    /// A table that cannot be read.
    #[error("`{path}` could not be read: {reason}")]
    Unreadable {
        /// The table.
        path: String,
        /// Why.
        reason: String,
    },
    /// Tables of different wholes.
    #[error("`{path}` and `{first}` are not shards of one whole: {what} differ; cut both again")]
    Different {
        /// A table.
        path: String,
        /// The first table.
        first: String,
        /// What differs.
        what: &'static str,
    },
    /// Two tables of one shard.
    #[error("`{path}` and `{first}` are both shard {shard}; give one of them")]
    Twice {
        /// A table.
        path: String,
        /// The one before it.
        first: String,
        /// The shard.
        shard: String,
    },
    /// Shards that were not given.
    #[error("not all shards are given; missing: {shards}")]
    Missing {
        /// The shards, in words.
        shards: String,
    },
    /// A table whose rows are not those of its manifest.
    #[error("`{path}` contradicts itself: {what}; cut shard {shard} again")]
    Contradiction {
        /// The table.
        path: String,
        /// What is wrong.
        what: String,
        /// Its shard.
        shard: String,
    },
}
