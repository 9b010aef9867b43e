//! Vectors for the texts that have none yet.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::Record;
use chunkwright_models::{Embedder, Embedding, Role, TextHash};

use super::{Embed, IndexOptions, Progress};
use chunkwright_store::{Cache, Model, NewDocument, StoreError, Vector};

/// Texts per call of the embedder. Vectors are stored after each call.
const BATCH: usize = 64;

/// Texts per call of the embedder where it must stop soon after it is told to.
const SMALL_BATCH: usize = 16;

/// After this many failed calls in a row, the embedder is not called for the rest of the run: an outage lasts a while,
/// and every call may wait for its timeout.
const MAX_FAILURES: usize = 2;

/// Embeds unknown texts, and counts.
pub(super) struct Vectors<'a> {
    embedder: Option<&'a dyn Embedder>,
    cache: &'a dyn Cache,
    dry_run: bool,
    embed: Embed,
    /// Stops within a document, whose other texts stay without a vector; `None` to embed whole documents.
    pub(super) stop: Option<&'a AtomicBool>,
    /// Number of consecutive failed calls up to now.
    pub(super) failures: usize,
    /// Tokens of the texts that had no vector.
    pub(super) tokens: usize,
    pub(super) embedded: usize,
    /// Tokens of the texts embedded.
    pub(super) embedded_tokens: usize,
    /// Texts that had no vector.
    pub(super) found: usize,
    pub(super) reused: usize,
    pub(super) truncated: usize,
    pub(super) error: Option<String>,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(
        embedder: Option<&'a dyn Embedder>,
        cache: &'a dyn Cache,
        options: &IndexOptions,
    ) -> Self {
        Self {
            embedder,
            cache,
            dry_run: options.dry_run,
            embed: options.embed,
            stop: None,
            failures: 0,
            tokens: 0,
            embedded: 0,
            embedded_tokens: 0,
            found: 0,
            reused: 0,
            truncated: 0,
            error: None,
        }
    }

    /// The number of texts of each document without a vector, each text counted once.
    pub(super) fn missing(&self, documents: &[&NewDocument]) -> Result<Vec<usize>, StoreError> {
        let Some(embedder) = self.embedder else { return Ok(vec![0; documents.len()]) };
        let mut seen = HashSet::new();
        let mut counts = Vec::with_capacity(documents.len());
        for document in documents {
            let new = document.chunks.iter().map(|chunk| chunk.text_hash).filter(|hash| seen.insert(*hash));
            let hashes: Vec<TextHash> = new.collect();
            let known = self.cache.vectors(&embedder.model().name, &hashes)?;
            counts.push(known.iter().filter(|known| known.is_none()).count());
        }
        Ok(counts)
    }

    /// Returns whether the embedder may be called.
    pub(super) fn is_asked(&self) -> bool {
        self.embedder.is_some() && !self.dry_run && self.embed == Embed::Now && self.failures < MAX_FAILURES
    }

    /// Ensures that the cache has the vectors of all texts of `documents`; returns the number of chunks that still have
    /// none.
    pub(super) fn add(
        &mut self,
        documents: &[&NewDocument],
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<usize, StoreError> {
        let Some(embedder) = self.embedder else { return Ok(0) };
        let chunks = || documents.iter().flat_map(|document| &document.chunks);
        let mut texts: HashMap<TextHash, &Record> = HashMap::new();
        let mut hashes = Vec::new();
        for chunk in chunks() {
            if texts.insert(chunk.text_hash, &chunk.record).is_none() {
                hashes.push(chunk.text_hash);
            }
        }
        let known = self.cache.vectors(&embedder.model().name, &hashes)?;
        let mut missing: Vec<TextHash> =
            hashes.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(hash, _)| *hash).collect();
        self.reused += hashes.len() - missing.len();
        self.tokens += missing.iter().map(|hash| texts[hash].token_count as usize).sum::<usize>();
        if self.dry_run {
            self.embedded += missing.len();
            return Ok(0);
        }
        if self.embed != Embed::Now {
            let without: HashSet<TextHash> = missing.into_iter().collect();
            return Ok(chunks().filter(|chunk| without.contains(&chunk.text_hash)).count());
        }
        self.found += missing.len();
        // Groups texts of similar length: a batch is as slow as its longest text.
        missing.sort_by_key(|hash| (texts[hash].text.len(), *hash));
        let mut without: HashSet<TextHash> = HashSet::new();
        let size = if self.stop.is_some() { SMALL_BATCH } else { BATCH };
        for batch in missing.chunks(size) {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                without.extend(batch);
                continue;
            }
            let tokens: usize = batch.iter().map(|hash| texts[hash].token_count as usize).sum();
            let batch = batch.iter().map(|hash| (*hash, texts[hash])).collect();
            self.embed(embedder, batch, &mut without)?;
            self.embedded_tokens += tokens;
            let (texts, found, tokens) = (self.embedded, self.found, self.embedded_tokens);
            on_progress(Progress::Embedded { texts, found, tokens });
        }
        Ok(chunks().filter(|chunk| without.contains(&chunk.text_hash)).count())
    }

    /// Embeds one batch and stores its vectors; adds texts without a vector to `without`.
    fn embed(
        &mut self,
        embedder: &dyn Embedder,
        mut batch: Vec<(TextHash, &Record)>,
        without: &mut HashSet<TextHash>,
    ) -> Result<(), StoreError> {
        while !batch.is_empty() && self.failures < MAX_FAILURES {
            let texts: Vec<&str> = batch.iter().map(|(_, record)| record.text.as_str()).collect();
            match embedder.embed(&texts, Role::Passage) {
                Ok(embeddings) => match checked(embedder, embeddings, texts.len()) {
                    Ok(vectors) => return self.keep(embedder, &batch, vectors),
                    Err(error) => {
                        self.fail(error);
                        break;
                    }
                },
                // If one text is at fault, the others are embedded without it.
                Err(error) => {
                    let Some(index) = error.index().filter(|index| *index < batch.len()) else {
                        self.fail(error.to_string());
                        break;
                    };
                    self.error = Some(error.to_string());
                    without.insert(batch.swap_remove(index).0);
                }
            }
        }
        without.extend(batch.iter().map(|(hash, _)| *hash));
        Ok(())
    }

    fn keep(
        &mut self,
        embedder: &dyn Embedder,
        batch: &[(TextHash, &Record)],
        (vectors, truncated): (Vec<Vector>, usize),
    ) -> Result<(), StoreError> {
        self.failures = 0;
        self.embedded += vectors.len();
        self.truncated += truncated;
        let hashes = batch.iter().map(|(hash, _)| *hash);
        let vectors: Vec<(TextHash, Vector)> = hashes.zip(vectors).collect();
        self.cache.put_vectors(&embedder.model().name, &vectors)
    }

    fn fail(&mut self, error: String) {
        self.failures += 1;
        self.error = Some(error);
    }
}

/// Checks that there is one vector of the model for each text; returns the vectors, and the number of truncated texts.
fn checked(
    embedder: &dyn Embedder,
    embeddings: Vec<Embedding>,
    wanted: usize,
) -> Result<(Vec<Vector>, usize), String> {
    if embeddings.len() != wanted {
        return Err(format!("the embedder gave {} vectors for {wanted} texts", embeddings.len()));
    }
    let model = Model::from(embedder.model());
    let truncated = embeddings.iter().filter(|embedding| embedding.unread_tokens > 0).count();
    let vectors: Vec<Vector> = embeddings.into_iter().map(Vector::from).collect();
    let checked = vectors.iter().try_for_each(|vector| vector.check(&model));
    checked.map_err(|error| error.to_string())?;
    Ok((vectors, truncated))
}
