//! A cache of loaded models.

use std::collections::HashMap;
use std::sync::Arc;

use chunkwright_models::{Embedder, Reranker};
use parking_lot::Mutex;

use crate::error::Error;

/// Loads an embedder, if there is one.
pub(super) type Load<'a> = dyn FnOnce() -> Result<Option<Arc<dyn Embedder>>, Error> + 'a;

/// Loaded models, by the settings that select them: a model takes longer to load than to answer.
#[derive(Default)]
pub(super) struct Loaded {
    embedders: Slots<dyn Embedder>,
    rerankers: Slots<dyn Reranker>,
}

/// A slot for each key, locked while its value is loaded.
type Slots<T> = Mutex<HashMap<String, Arc<Mutex<Option<Arc<T>>>>>>;

impl Loaded {
    pub(super) fn embedder(
        &self,
        key: String,
        load: impl FnOnce() -> Result<Option<Arc<dyn Embedder>>, Error>,
    ) -> Result<Option<Arc<dyn Embedder>>, Error> {
        once(&self.embedders, key, load)
    }

    pub(super) fn reranker(
        &self,
        key: String,
        load: impl FnOnce() -> Result<Option<Arc<dyn Reranker>>, Error>,
    ) -> Result<Option<Arc<dyn Reranker>>, Error> {
        once(&self.rerankers, key, load)
    }
}

/// Returns the value of `key`, and loads it if necessary. Other threads that need the same key wait, so that nothing is
/// loaded twice; other keys do not wait. A missing value is looked for again by the next call.
fn once<T: ?Sized>(
    slots: &Slots<T>,
    key: String,
    load: impl FnOnce() -> Result<Option<Arc<T>>, Error>,
) -> Result<Option<Arc<T>>, Error> {
    let slot = Arc::clone(slots.lock().entry(key).or_default());
    let mut loaded = slot.lock();
    if loaded.is_none() {
        *loaded = load()?;
    }
    Ok(loaded.clone())
}
