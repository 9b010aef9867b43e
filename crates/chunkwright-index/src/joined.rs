//! Ids by position with folders joined, as documentation servers write them: `docs_bindingPath_chunk2`.

use chunkwright_store::{Generation, Store, StoreError};

/// The id of a document with its folders joined by `_` and without its extension: `docs_bindingPath` of
/// `docs/bindingPath.md`. Documents may share one.
pub fn joined_id(doc_id: &str) -> String {
    let name_at = doc_id.rfind('/').map_or(0, |at| at + 1);
    // The point of a hidden file begins its name.
    let end = doc_id[name_at..].rfind('.').filter(|at| *at > 0).map_or(doc_id.len(), |at| name_at + at);
    doc_id[..end].replace('/', "_")
}

/// The reference that `reference`, a joined id or one with `_chunkN`, stands for: `DOC_ID` or `DOC_ID#N`; `None` unless
/// exactly one document has it.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn resolve_joined(
    store: &dyn Store,
    generation: &Generation,
    reference: &str,
) -> Result<Option<String>, StoreError> {
    let by_position = reference.rsplit_once("_chunk");
    let number = |index: &str| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    let (joined, index) = match by_position.filter(|(_, index)| number(index)) {
        Some((joined, index)) => (joined, Some(index)),
        None => (reference, None),
    };
    // Without a look at all documents.
    if joined.is_empty() || joined.contains(['/', '#']) {
        return Ok(None);
    }
    let documents = store.documents(generation)?;
    let mut having = documents.iter().filter(|info| joined_id(&info.doc_id) == joined);
    let (Some(only), None) = (having.next(), having.next()) else { return Ok(None) };
    Ok(Some(match index {
        Some(index) => format!("{}#{index}", only.doc_id),
        None => only.doc_id.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::joined_id;

    #[test]
    fn folders_are_joined_and_the_extension_is_dropped() {
        for (doc_id, expected) in [
            ("docs/bindingPath.md", "docs_bindingPath"),
            ("bindingPath", "bindingPath"),
            ("a/b.c/d.tar.gz", "a_b.c_d.tar"),
            ("a/.env", "a_.env"),
            ("指南/馒头.md", "指南_馒头"),
        ] {
            assert_eq!(joined_id(doc_id), expected);
        }
    }
}
