//! The registry of stores in this build, and the choice of one by its address.

#[cfg(feature = "sqlite")]
use std::path::Path;
use std::sync::Arc;

#[cfg(any(feature = "chroma", feature = "postgres", feature = "qdrant"))]
use chunkwright_remote::RemoteStore;
#[cfg(feature = "sqlite")]
use chunkwright_store::SqliteStore;
use chunkwright_store::{Access, MemoryStore, Store, StoreError, StoreLocation};

/// A kind of store, for help texts and for the tests that run over all of them.
#[derive(Clone, Copy, Debug)]
pub struct StoreKind {
    /// The name that configuration uses.
    pub name: &'static str,
    /// Its purpose, in one sentence.
    pub summary: &'static str,
    /// The schemes of its addresses, before `://`; empty for a store in a folder or in memory.
    pub schemes: &'static [&'static str],
    /// Whether several processes may write to it at once. Otherwise one owns it, and writes for the others.
    pub has_many_writers: bool,
    /// Opens a store at a location. A folder need not exist if access is to write.
    pub open: OpenStore,
}

/// Opens a store.
pub type OpenStore = fn(&StoreLocation, Access) -> Result<Arc<dyn Store>, StoreError>;

/// All kinds of stores of this build: each except the in-memory one is a feature.
pub static STORES: &[StoreKind] = &[
    #[cfg(feature = "sqlite")]
    StoreKind {
        name: "sqlite",
        summary: "a folder on disk, with no server to run; the default",
        schemes: &[],
        has_many_writers: false,
        open: |place, access| {
            let store = SqliteStore::open(Path::new(&place.location), access)?;
            Ok(Arc::new(store.with_memory(place.memory)))
        },
    },
    StoreKind {
        name: "memory",
        summary: "in memory, gone with the process; for experiments and tests",
        schemes: &[],
        has_many_writers: false,
        open: |_, _| Ok(Arc::new(MemoryStore::default())),
    },
    #[cfg(feature = "qdrant")]
    StoreKind {
        name: "qdrant",
        summary: "a Qdrant server, which computes the lexical and the dense ranking",
        schemes: &["qdrant", "qdrant+https"],
        has_many_writers: false,
        open: |place, access| Ok(Arc::new(RemoteStore::open_qdrant(place, access)?)),
    },
    #[cfg(feature = "chroma")]
    StoreKind {
        name: "chroma",
        summary: "a Chroma server, which computes the dense ranking; the lexical one is computed here",
        schemes: &["chroma", "chroma+https"],
        has_many_writers: false,
        open: |place, access| Ok(Arc::new(RemoteStore::open_chroma(place, access)?)),
    },
    #[cfg(feature = "postgres")]
    StoreKind {
        name: "postgres",
        summary: "PostgreSQL with pgvector, which computes the lexical and the dense ranking; several may write at once",
        schemes: &["postgres", "postgresql"],
        has_many_writers: true,
        open: |place, access| Ok(Arc::new(RemoteStore::open_postgres(place, access)?)),
    },
];

/// The kind of the store at `place`: that of its scheme, or the one in a folder. `None` if this build has no such kind.
pub fn store_kind(place: &StoreLocation) -> Option<&'static StoreKind> {
    match place.scheme() {
        None => STORES.iter().find(|kind| kind.name == "sqlite"),
        Some(scheme) => STORES.iter().find(|kind| kind.schemes.contains(&scheme)),
    }
}

/// Opens the store at `place`: of the kind of its scheme, or in a folder.
///
/// # Errors
///
/// An unknown scheme, and errors of opening that kind of store.
pub fn open_store(place: &StoreLocation, access: Access) -> Result<Arc<dyn Store>, StoreError> {
    let kind = store_kind(place).ok_or_else(|| {
        let schemes: Vec<String> =
            STORES.iter().flat_map(|kind| kind.schemes).map(|scheme| format!("`{scheme}://HOST`")).collect();
        let folder = if cfg!(feature = "sqlite") { "a folder or " } else { "" };
        let reason = match &schemes[..] {
            [] if folder.is_empty() => {
                "this program is built without stores but the one in memory".to_owned()
            }
            [] => "it must be a folder".to_owned(),
            schemes => format!("it must be {folder}one of {}", schemes.join(", ")),
        };
        StoreError::Location { location: place.address(), reason }
    })?;
    (kind.open)(place, access)
}
