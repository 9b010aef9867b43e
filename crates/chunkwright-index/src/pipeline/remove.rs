//! Removes documents on request. A run removes those whose files are gone.

use std::path::Path;

use super::folders;
use chunkwright_store::{Change, DocumentInfo, Generation, Glob, Store, StoreError};

/// Removes the documents of a generation whose id matches `pattern`, or all without one, and returns them. A dry run
/// removes none.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn remove_documents(
    store: &dyn Store,
    generation: &Generation,
    pattern: Option<&Glob>,
    dry_run: bool,
) -> Result<Vec<DocumentInfo>, StoreError> {
    remove_where(
        store,
        generation,
        &|info| pattern.is_none_or(|pattern| pattern.matches(&info.doc_id)),
        dry_run,
    )
}

/// Removes the documents of a folder, or of one inside it, from a generation, and returns them. The folder need not
/// exist. A dry run removes none.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn remove_folder(
    store: &dyn Store,
    generation: &Generation,
    folder: &Path,
    dry_run: bool,
) -> Result<Vec<DocumentInfo>, StoreError> {
    let folder = folders::absolute(folder);
    remove_where(
        store,
        generation,
        &|info| !info.root.is_empty() && folders::below(&info.root, &folder).is_some(),
        dry_run,
    )
}

fn remove_where(
    store: &dyn Store,
    generation: &Generation,
    is_removed: &dyn Fn(&DocumentInfo) -> bool,
    dry_run: bool,
) -> Result<Vec<DocumentInfo>, StoreError> {
    let mut documents = store.documents(generation)?;
    documents.retain(is_removed);
    if !dry_run && !documents.is_empty() {
        let remove = |info: &DocumentInfo| Change::Remove { doc_id: info.doc_id.clone() };
        store.write(generation, &documents.iter().map(remove).collect::<Vec<_>>())?;
    }
    Ok(documents)
}
