//! A snapshot of a collection: one generation, for all reads of a request.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chunkwright_index::{
    DocumentInfo, Filter, Generation, Mode, Store, SymbolPlaces, chunk_id, related, resolve_joined, siblings,
    symbol_places,
};
use chunkwright_models::Embedder;
use chunkwright_source::{Input, NewSource};

use crate::core::engine::Engine;
use crate::error::Error;
use crate::request::list::RelatedAnswer;

/// One generation of a collection. Everything read through a snapshot is of that generation, and queries are embedded
/// by the model of its vectors.
pub struct Snapshot {
    engine: Engine,
    store: Arc<dyn Store>,
    generation: Generation,
    /// Loaded by the first query that needs it. Snapshots with vectors of the same model share it.
    embedder: SharedEmbedder,
}

/// The embedder of a model, loaded on first use.
pub(crate) type SharedEmbedder = Arc<OnceLock<Option<Arc<dyn Embedder>>>>;

impl Snapshot {
    pub(crate) fn open(engine: &Engine, name: &str) -> Result<Self, Error> {
        let store = engine.store()?;
        let generation = store.open(name)?;
        Ok(Self::of(engine, store, generation))
    }

    pub(crate) fn of(engine: &Engine, store: Arc<dyn Store>, generation: Generation) -> Self {
        Self { engine: engine.clone(), store, generation, embedder: Arc::default() }
    }

    /// The generation of the snapshot.
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// All documents, by id.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn documents(&self) -> Result<Vec<DocumentInfo>, Error> {
        Ok(self.store.documents(&self.generation)?)
    }

    /// The folders, and the individually given files, that its documents were read from; none for documents from
    /// memory.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        let roots: BTreeSet<String> = self.documents()?.into_iter().map(|document| document.root).collect();
        Ok(roots.into_iter().filter(|root| !root.is_empty()).map(PathBuf::from).collect())
    }

    /// The `top_k` documents next to a document, or to the document of a chunk, in its folder, and `top_k` documents
    /// about the same subject.
    ///
    /// # Errors
    ///
    /// A document that the generation does not have, a store that fails.
    pub fn related(&self, reference: &str, top_k: usize) -> Result<RelatedAnswer, Error> {
        let (store, generation) = (&*self.store, &self.generation);
        let joined = match store.document_info(generation, reference)? {
            Some(_) => None,
            None => resolve_joined(store, generation, reference)?,
        };
        let of = |named: &str| named.rsplit_once('#').map_or(named, |(doc_id, _)| doc_id).to_owned();
        let mut doc_id = joined.map_or_else(|| reference.to_owned(), |joined| of(&joined));
        if store.document_info(generation, &doc_id)?.is_none() {
            let chunk = match chunk_id(store, generation, reference) {
                Ok(id) => store.chunks(generation, &[id])?.pop().flatten(),
                Err(_) => None,
            };
            let collection = generation.collection.clone();
            let unknown = || Error::UnknownDocument { doc_id: doc_id.clone(), collection };
            doc_id = chunk.map(|chunk| chunk.record.doc_id.clone()).ok_or_else(unknown)?;
        }
        let doc_id = doc_id.as_str();
        let siblings = siblings(store, generation, doc_id, top_k)?;
        Ok(RelatedAnswer { siblings, related: related(store, generation, doc_id, top_k)? })
    }

    /// Where the symbol that `name` names, such as `Router::route`, is defined, what is inside it and what uses it.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn references(&self, name: &str, filter: &Filter) -> Result<SymbolPlaces, Error> {
        self.engine.stoppable(|| Ok(symbol_places(&*self.store, &self.generation, name, filter)?))
    }

    /// All documents, as inputs.
    pub(crate) fn inputs(&self) -> Result<Vec<Input>, Error> {
        let mut inputs = Vec::new();
        for info in self.documents()? {
            let Some(stored) = self.store.document(&self.generation, &info.doc_id)? else { continue };
            let document = NewSource::new(info.doc_id.clone(), stored.bytes());
            inputs.push(Input::Memory { document, place: info.doc_id });
        }
        Ok(inputs)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// A reference to the store that can outlive the snapshot.
    pub(crate) fn shared_store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// This snapshot with the embedder of others that have vectors of the same model.
    pub(crate) fn sharing(self, embedder: &SharedEmbedder) -> Self {
        Self { embedder: Arc::clone(embedder), ..self }
    }

    /// The embedder for queries in this mode.
    pub(crate) fn embedder_for(&self, mode: Mode) -> Result<Option<Arc<dyn Embedder>>, Error> {
        if mode == Mode::Lexical {
            return Ok(None);
        }
        if let Some(embedder) = self.embedder.get() {
            return Ok(embedder.clone());
        }
        let embedder = self.engine.embedder_of(self.generation.spec.model.as_ref())?;
        Ok(self.embedder.get_or_init(|| embedder).clone())
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("generation", &self.generation).finish_non_exhaustive()
    }
}
