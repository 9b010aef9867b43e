//! Resolves the collection and the document of a call.

use chunkwright_engine::{CollectionPage, Engine, Error, ListCollectionsRequest};

use super::uri::{SCHEME, Uri};

/// Why a call failed, in words for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A URI that cannot be read.
    #[error("`{0}` is not a URI of an indexed document; expected `chunk://COLLECTION/DOC_ID`")]
    Uri(String),
    /// A page of an older version of the document.
    #[error("the document changed since this page was named; fetch `{0}` again from its beginning")]
    Changed(String),
    /// A page that does not begin at a character of the text.
    #[error("`{0}` does not begin at a character of the document; fetch it from its beginning")]
    Page(String),
    /// A symbol that nothing defines.
    #[error("nothing indexed defines `{0}`; search for it, or for a part of it")]
    Symbol(String),
    /// More ids than a call takes.
    #[error("a call takes at most {0} ids")]
    Ids(usize),
    /// An answer that cannot be written.
    #[error("the answer could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The collection of a call: the named one, else that of the settings, else the only one.
pub(super) fn collection(engine: &Engine, given: Option<&str>) -> Result<String, Error> {
    if let Some(name) = given {
        return Ok(name.to_owned());
    }
    let page = first(engine)?;
    Ok(match &page.collections[..] {
        [only] if page.total == 1 => only.name().to_owned(),
        _ => engine.default_name(),
    })
}

/// Returns whether a call without a collection means all of them: there are several, and none has the name in the
/// settings.
pub(super) fn means_all(engine: &Engine) -> Result<bool, Error> {
    Ok(first(engine)?.total > 1 && !engine.has_collection(&engine.default_name())?)
}

/// The first collection, and the number of all collections.
fn first(engine: &Engine) -> Result<CollectionPage, Error> {
    engine.list_collections(&ListCollectionsRequest { limit: 1, ..ListCollectionsRequest::default() })
}

/// Resolves an `id`: a `chunk://` URI, or a reference in `named` or in the default collection.
pub(super) fn target(engine: &Engine, id: &str, named: Option<&str>) -> Result<Uri, CallError> {
    if id.starts_with(SCHEME) {
        return id.parse().map_err(|()| CallError::Uri(id.to_owned()));
    }
    Ok(Uri::new(collection(engine, named)?, id))
}
