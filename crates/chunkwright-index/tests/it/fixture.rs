//! Shared fixtures: folders, pipelines, and an embedder that needs no model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chunkwright::{ChunkConfig, Chunker, Unit, Words};
use chunkwright_index::transfer::{FileRows, ImportError, Row, RowAt, RowFile};
use chunkwright_index::{
    Access, Generation, IndexError, IndexOptions, IndexReport, Models, Pipeline, STORES, SearchOptions,
    Store, StoreLocation, analysis, search,
};
use chunkwright_models::late::{CODE_BYTES, MOST_CODES, Tokens};
use chunkwright_models::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role};
use chunkwright_remote::Double;
use tempfile::TempDir;

use crate::kinds;

/// A file of rows, in memory.
pub(crate) struct Lines(pub(crate) Vec<Row>);

impl RowFile for Lines {
    fn rows(&self) -> Result<FileRows<'_>, ImportError> {
        let row = |(index, row)| Ok((RowAt { unit: "line", number: index + 1 }, row));
        Ok(Box::new(self.0.iter().cloned().enumerate().map(row)))
    }
}

/// A test double: a text's vector counts its terms in buckets. Texts that share words are near.
pub(crate) struct Bag {
    info: ModelInfo,
    /// Texts embedded so far.
    pub(crate) texts: Mutex<Vec<String>>,
    /// Whether it fails.
    pub(crate) down: AtomicBool,
    /// Whether it has no sparse vectors of questions.
    pub(crate) sparse_down: AtomicBool,
    /// Whether it gives what late interaction compares.
    pub(crate) late: AtomicBool,
    /// Calls so far, failed ones included.
    pub(crate) calls: AtomicUsize,
}

impl Bag {
    pub(crate) fn new(dimension: usize) -> Arc<Self> {
        Self::named(format!("bag-{dimension}"), dimension, false)
    }

    /// One that gives a weight to each of a text's terms as well.
    pub(crate) fn with_sparse(dimension: usize) -> Arc<Self> {
        Self::named(format!("bag-{dimension}#sparse"), dimension, true)
    }

    pub(crate) fn named(name: String, dimension: usize, sparse: bool) -> Arc<Self> {
        let info = ModelInfo {
            name,
            dimension,
            sparse,
            max_tokens: Some(10_000),
            counter: Arc::new(Words),
            reads: Languages::All,
            price_per_million_tokens: None,
        };
        Arc::new(Self {
            info,
            texts: Mutex::default(),
            down: AtomicBool::new(false),
            sparse_down: AtomicBool::new(false),
            late: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
        })
    }

    pub(crate) fn take_texts(&self) -> Vec<String> {
        std::mem::take(&mut self.texts.lock().unwrap())
    }
}

impl Embedder for Bag {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.down.load(Ordering::Relaxed) {
            // The test double has no error of its own: an index beyond the batch blames no text.
            return Err(EmbedError::Tokenizer { index: usize::MAX, reason: "the bag is torn".into() });
        }
        if let Some(index) = texts.iter().position(|text| text.contains(POISON)) {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        if matches!(role, Role::Passage) {
            self.texts.lock().unwrap().extend(texts.iter().map(|&text| text.to_owned()));
        }
        Ok(texts
            .iter()
            .map(|text| Embedding {
                vector: bag(text, self.info.dimension),
                unread_tokens: 0,
                sparse: self.info.sparse.then(|| weights(text)),
                tokens: self.late.load(Ordering::Relaxed).then(|| tokens(text, role)),
            })
            .collect())
    }

    fn embed_query(&self, query: &str) -> Result<(Embedding, Option<EmbedError>), EmbedError> {
        let mut embedding = self.embed(&[query], Role::Query)?.remove(0);
        if !self.sparse_down.load(Ordering::Relaxed) {
            return Ok((embedding, None));
        }
        embedding.sparse = None;
        let reason = "no sparse vector is to be had".into();
        Ok((embedding, Some(EmbedError::Tokenizer { index: usize::MAX, reason })))
    }
}

/// A weight for each term of a text, of a vocabulary in which some terms share a token. As a model's, it is
/// another in each text.
pub(crate) fn weights(text: &str) -> Vec<(u32, f32)> {
    let mut weights = BTreeMap::new();
    let terms = analysis::terms(text);
    for term in &terms {
        let hash = chunkwright_models::text_hash(term);
        let [token, weight] = [[hash[2], hash[3]], [hash[4], hash[5]]].map(u16::from_le_bytes);
        *weights.entry(u32::from(token)).or_insert(0.0) += 1.0 + f32::from(weight) / 65_536.0;
    }
    let hash = chunkwright_models::text_hash(text);
    let scale = 10.0 + terms.len() as f32 + f32::from(u16::from_le_bytes([hash[0], hash[1]])) / 65_536.0;
    weights.into_iter().map(|(token, weight): (u32, f32)| (token, weight / scale)).collect()
}

/// The code of a term, by its hash.
fn code(term: &str) -> [u8; CODE_BYTES] {
    let hash = chunkwright_models::text_hash(term);
    std::array::from_fn(|at| hash[at % hash.len()])
}

/// The vectors of a question's terms, and the codes of the first of a text's. The product of a term with itself is 384.
fn tokens(text: &str, role: Role) -> Tokens {
    let terms = analysis::terms(text);
    let codes = terms.iter().map(|term| code(term));
    match role {
        Role::Query => Tokens::Query(
            codes
                .flatten()
                .flat_map(|byte| (0..8).map(move |bit| f32::from(byte >> bit & 1) * 2.0 - 1.0))
                .collect(),
        ),
        Role::Passage => Tokens::Passage(codes.take(MOST_CODES).flatten().collect()),
    }
}

fn bag(text: &str, dimension: usize) -> Vec<f32> {
    // Never all 0, whatever the text.
    let mut vector = vec![1e-3_f32; dimension];
    for term in analysis::terms(text) {
        let hash = chunkwright_models::text_hash(&term);
        vector[usize::from(u16::from_le_bytes([hash[0], hash[1]])) % dimension] += 1.0;
    }
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(|value| value / length).collect()
}

pub(crate) fn chunker() -> Chunker {
    let config = ChunkConfig {
        unit: Unit::Chars,
        max_size: 240,
        target_size: 200,
        min_size: 0,
        ..ChunkConfig::default()
    };
    Chunker::new(config, Arc::new(Words)).unwrap()
}

/// A folder of files, a store, and a pipeline between them.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bag: Arc<Bag>,
    pub(crate) pipeline: Pipeline,
    pub(crate) options: IndexOptions,
}

/// No vector is to be had for a text with this word.
pub(crate) const POISON: &str = "poisonous";

pub(crate) const COLLECTION: &str = "test";

impl Fixture {
    pub(crate) fn new(kind: &str, files: &[(&str, &str)]) -> Self {
        Self::with_bag(kind, files, Bag::new(256))
    }

    pub(crate) fn with_bag(kind: &str, files: &[(&str, &str)], bag: Arc<Bag>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        let pipeline =
            Pipeline::new(Arc::clone(&store), COLLECTION, chunker(), "test").with_embedder(bag.clone());
        let options = IndexOptions { indexed_at: "2026-01-01T00:00:00Z".into(), ..IndexOptions::default() };
        let fixture = Self { folder, store, bag, pipeline, options };
        std::fs::create_dir(fixture.root()).unwrap();
        for (name, text) in files {
            fixture.write(name, text.as_bytes());
        }
        fixture
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    pub(crate) fn store_path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.root().join(name)).unwrap();
    }

    pub(crate) fn try_index(&self) -> Result<IndexReport, IndexError> {
        self.pipeline.index(&[self.root()], &self.options, &|_| {})
    }

    #[track_caller]
    pub(crate) fn index(&self) -> IndexReport {
        let report = self.try_index().unwrap();
        assert!(report.adds_up(), "{report:?}");
        assert_eq!(self.store.check().unwrap().problems, Vec::<String>::new());
        report
    }

    /// `doc_id:line` of the hits.
    pub(crate) fn search(&self, query: &str, options: &SearchOptions) -> Vec<String> {
        let answer =
            search(&*self.store, &now(&*self.store), Models::embedder(&*self.bag), query, options).unwrap();
        answer.hits.iter().map(|hit| format!("{}:{}", hit.record.doc_id, hit.record.start_line)).collect()
    }
}

/// A store on a database in memory: what stores on servers have in common.
pub(crate) const DOUBLE: &str = "double";

/// Opens an empty store of the kind named, to write; `path` is a folder for what it has on this machine. A
/// server's is told from others by its prefix.
pub(crate) fn open(kind: &str, path: &Path) -> Arc<dyn Store> {
    if kind == DOUBLE {
        return Arc::new(Double::default().open(path, Access::Write).unwrap());
    }
    let kind = STORES.iter().find(|store| kind.starts_with(store.name)).unwrap();
    let mut place = StoreLocation::folder(path);
    if let Some(location) = kinds::location(kind.name) {
        place.location = location;
    }
    (kind.open)(&place, Access::Write).unwrap()
}

/// Runs `body` once for each kind of store of this test binary.
pub(crate) fn for_each_store(body: impl Fn(&str)) {
    for kind in kinds::kinds() {
        body(kind);
    }
}

/// The generation that searches see.
pub(crate) fn now(store: &dyn Store) -> Generation {
    store.open(COLLECTION).unwrap()
}
