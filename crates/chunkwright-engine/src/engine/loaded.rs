//! Which models were loaded before?

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use chunkwright_models::{Embedder, Reranker};

use crate::error::Error;

/// Loads an embedder, if there is one.
pub(super) type Load<'a> = dyn FnOnce() -> Result<Option<Arc<dyn Embedder>>, Error> + 'a;

/// Models that were loaded before, by what the settings say of them: a model takes longer to load than to answer.
#[derive(Default)]
pub(super) struct Loaded {
    embedders: Slots<dyn Embedder>,
    rerankers: Slots<dyn Reranker>,
}

/// A place for each key, which is locked while what belongs there is loaded.
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

/// The value of `key`: loaded before, or loaded now. Other threads that need the same key wait for it, so that nothing is
/// loaded twice; other keys are not held up. A value that is missing is looked for again by the next call.
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
