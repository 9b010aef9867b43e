//! Asking all questions of one way of cutting.
//!
//! The documents go through the pipeline that users index with, into a store in memory, and every question goes through
//! the search itself. One call ranks for all modes: lexical, dense, and fused.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::span::is_blank;
use chunkwright::{Chunk, ChunkId, Chunker, Document, Record, Span, TokenCounter, Unit};
use chunkwright_index::{
    DocumentInfo, Fusion, Generation, GenerationSpec, GenerationStore, IndexError, IndexOptions, MemoryStore,
    Mode, Model, NameRanking, NewChunk, NewDocument, Pipeline, Revise, Scored, SearchError, SearchOptions,
    Store, StoreError, StoredDocument, on_pool, put_cut, rank,
};
use chunkwright_models::{EmbedError, Embedder, Embedding, ModelInfo, Role};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::corpus::{Corpus, Passage, trimmed};
use crate::foreign::ForeignChunks;
use crate::made::Hidden;
use crate::measure::{Chunks, Measure, figures};
use crate::question::Question;
use crate::size::{Sizes, Tally};

/// Options of the measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The modes of search to measure.
    pub modes: Vec<Mode>,
    /// The fusion of two rankings.
    pub fusion: Fusion,
    /// Whether what a name in a question means comes first.
    pub names: NameRanking,
    /// The measures, in order.
    pub measures: Vec<Measure>,
    /// Candidates of each stage.
    pub candidates: usize,
    /// Sizes that are counted as in the band, in tokens.
    pub band: Option<[usize; 2]>,
}

impl Default for Options {
    /// The modes and measures of reports: 500, 1,000 and 2,000 tokens; 1, 5 and 10 chunks.
    fn default() -> Self {
        Self {
            modes: vec![Mode::Hybrid],
            fusion: Fusion::default(),
            names: NameRanking::default(),
            measures: measures(&[500, 1000, 2000], &[1, 5, 10]),
            candidates: SearchOptions::default().candidates,
            band: None,
        }
    }
}

/// Recall at each budget of tokens; recall, precision, intersection over union and gain at each number of
/// chunks; and whether gold is intact.
pub fn measures(budgets: &[usize], ks: &[usize]) -> Vec<Measure> {
    let mut measures: Vec<Measure> = budgets.iter().copied().map(Measure::Budget).collect();
    for measure in [Measure::Recall, Measure::Precision, Measure::Iou, Measure::Ndcg] {
        measures.extend(ks.iter().copied().map(measure));
    }
    measures.push(Measure::Intact);
    measures
}

/// Why an evaluation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The embedder failed while the corpus was indexed.
    #[error("{0}")]
    Unembedded(String),
    /// The corpus could not be indexed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A document could not be indexed.
    #[error("`{doc_id}` could not be indexed: {message}")]
    Document {
        /// The document.
        doc_id: String,
        /// Why.
        message: String,
    },
}

/// A corpus with questions, to evaluate any number of ways of cutting. Texts that two of them share are embedded once.
pub struct Bench<'a> {
    corpus: &'a Corpus,
    questions: &'a [Question],
    hidden: Hidden,
    counter: Arc<dyn TokenCounter>,
    embedder: Option<Arc<Remembering>>,
    options: Options,
    store: Arc<MemoryStore>,
    threads: Option<Arc<ThreadPool>>,
}

/// The results of one way of cutting.
#[derive(Clone, Debug)]
pub struct Retrieved {
    /// Its sizes.
    pub sizes: Sizes,
    /// For each mode of the options, for each question, its figures in the order of the measures.
    pub figures: Vec<Vec<Vec<f64>>>,
    /// For each mode, for each question, the chunks returned, as far as any measure looked.
    pub returned: Vec<Vec<Vec<Passage>>>,
}

/// The figures of one question, and the chunks returned.
type Answer = (Vec<f64>, Vec<Passage>);

/// The corpus, cut.
struct Cut {
    chunks: Chunks,
    ids: HashMap<ChunkId, usize>,
    tally: Tally,
}

/// One document, cut.
struct CutDocument {
    /// Its position in the corpus.
    at: usize,
    ids: Vec<ChunkId>,
    places: Vec<Passage>,
    tally: Tally,
}

impl CutDocument {
    fn new(
        at: usize,
        document: &Document,
        chunker: &Chunker,
        (chunks, records): (&[Chunk], &[Record]),
        counter: &dyn TokenCounter,
    ) -> Self {
        let source = document.source();
        let mut tally = Tally { visible: visible(source), ..Tally::default() };
        let mut places = Vec::with_capacity(chunks.len());
        for (chunk, record) in chunks.iter().zip(records) {
            let span = trimmed(source, chunk.span);
            let blank = source[chunk.span.start as usize..span.start as usize].chars().count();
            let start = record.start_char as usize + blank;
            let own = span.of(source);
            places.push(Passage { document: at, start, end: start + own.chars().count() });
            tally.tokens.push(counter.count(&document.read(span)));
            tally.visible_in_chunks += visible(own);
            tally.oversize += usize::from(chunk.oversize);
            let size = match chunker.config().unit {
                Unit::Tokens => record.token_count,
                Unit::Chars => record.char_count,
            };
            tally.over_limit += usize::from(!chunk.oversize && size as usize > chunker.config().max_size);
        }
        Self { at, ids: chunks.iter().map(|chunk| chunk.id).collect(), places, tally }
    }
}

fn by_id((at, document): (usize, &Document)) -> (String, usize) {
    (document.id().to_owned(), at)
}

impl<'a> Bench<'a> {
    /// A bench on which `counter` counts the text that a reader gets. Without an embedder dense search finds nothing,
    /// and hybrid search is lexical.
    pub fn new(
        corpus: &'a Corpus,
        questions: &'a [Question],
        counter: Arc<dyn TokenCounter>,
        embedder: Option<Arc<dyn Embedder>>,
        options: Options,
    ) -> Self {
        let embedder = embedder.map(|inner| {
            Arc::new(Remembering { inner, queries: Mutex::default(), has_failed: AtomicBool::new(false) })
        });
        let hidden = Hidden::default();
        Self { corpus, questions, hidden, counter, embedder, options, store: Arc::default(), threads: None }
    }

    /// Works on these threads; without them on rayon's global ones.
    pub fn threads(mut self, threads: Arc<ThreadPool>) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Runs `work`, and what it does in parallel, on the threads of the bench.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.threads {
            Some(threads) => on_pool(threads, work),
            None => work(),
        }
    }

    /// Hides titles from the index.
    pub fn hiding(mut self, hidden: Hidden) -> Self {
        self.hidden = hidden;
        self
    }

    /// The options of the measurement.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Asks all questions of each of `chunkers` and takes the mean of their figures: how well a cut
    /// happens to fall on the answers is luck, which several sizes average out.
    ///
    /// # Errors
    ///
    /// A search or an embedder that fails.
    pub fn run(&self, chunkers: &[Chunker]) -> Result<Retrieved, EvalError> {
        self.measure(chunkers.iter().map(|chunker| self.index(chunker)))
    }

    /// Asks all questions of chunks that another program made.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_foreign(&self, chunks: &ForeignChunks) -> Result<Retrieved, EvalError> {
        self.measure(std::iter::once_with(|| self.index_foreign(chunks)))
    }

    /// Asks all questions of each index and takes the mean of their figures.
    fn measure(
        &self,
        indexed: impl ExactSizeIterator<Item = Result<(Generation, Cut), EvalError>>,
    ) -> Result<Retrieved, EvalError> {
        let modes = self.options.modes.len();
        let times = indexed.len().max(1) as f64;
        let mut all = Retrieved {
            sizes: Sizes::default(),
            figures: vec![Vec::new(); modes],
            returned: vec![Vec::new(); modes],
        };
        let mut tally = Tally::default();
        for indexed in indexed {
            let (generation, cut) = indexed?;
            tally.add(&cut.tally);
            let ask = |question| self.ask(question, &cut, &generation);
            let asked: Result<Vec<_>, EvalError> =
                self.on_threads(|| self.questions.par_iter().map(ask).collect());
            for (number, answers) in asked?.into_iter().enumerate() {
                for (mode, (figures, returned)) in answers.into_iter().enumerate() {
                    let sums = &mut all.figures[mode];
                    match sums.get_mut(number) {
                        Some(sums) => sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure),
                        None => sums.push(figures),
                    }
                    if all.returned[mode].len() == number {
                        all.returned[mode].push(returned);
                    }
                }
            }
            self.store.remove(&generation)?;
        }
        all.figures.iter_mut().flatten().flatten().for_each(|figure| *figure /= times);
        all.sizes = tally.sizes(self.options.band);
        Ok(all)
    }

    /// Indexes the corpus as users do, and remembers where each chunk stands.
    fn index(&self, chunker: &Chunker) -> Result<(Generation, Cut), EvalError> {
        let parts: Arc<Mutex<Vec<CutDocument>>> = Arc::default();
        let (seen, counter, hidden) = (Arc::clone(&parts), Arc::clone(&self.counter), self.hidden.clone());
        let places: HashMap<String, usize> = self.corpus.documents().iter().enumerate().map(by_id).collect();
        let revise: Arc<Revise> = Arc::new(move |chunks, records| {
            let (document, chunker) = (chunks.document(), chunks.chunker());
            let Some(&at) = places.get(document.id()) else { return };
            let cut = CutDocument::new(at, document, chunker, (&**chunks, &*records), &*counter);
            for (chunk, record) in chunks.iter().zip(records) {
                hidden.hide(at, chunk, record);
            }
            seen.lock().push(cut);
        });
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        let mut pipeline =
            Pipeline::new(store, COLLECTION, chunker.clone(), COLLECTION).with_revision(revise);
        if let Some(embedder) = &self.embedder {
            pipeline = pipeline.with_embedder(Arc::clone(embedder) as Arc<dyn Embedder>);
        }
        let options = IndexOptions { threads: self.threads.clone(), ..IndexOptions::default() };
        let report = pipeline.put_parsed(self.corpus.documents(), &options, &|_| {})?;
        self.check_embedder(report.embed_error)?;
        if let Some(failure) = report.failed.into_iter().next() {
            return Err(EvalError::Document { doc_id: failure.doc_id, message: failure.message });
        }
        let generation = self.store.open(COLLECTION)?;
        let mut parts = std::mem::take(&mut *parts.lock());
        parts.sort_unstable_by_key(|cut| cut.at);
        let mut all = Cut { chunks: Chunks::default(), ids: HashMap::new(), tally: Tally::default() };
        for cut in parts {
            for (id, place) in cut.ids.into_iter().zip(cut.places) {
                all.ids.insert(id, all.chunks.places.len());
                all.chunks.places.push(place);
            }
            all.chunks.tokens.extend(&cut.tally.tokens);
            all.tally.add(&cut.tally);
        }
        Ok((generation, all))
    }

    /// A text that has no vector is found by its words, as in an index; a service that is down ends the evaluation.
    fn check_embedder(&self, error: Option<String>) -> Result<(), EvalError> {
        let has_failed = self.embedder.as_ref().is_some_and(|it| it.has_failed.load(Ordering::Relaxed));
        if has_failed { Err(EvalError::Unembedded(error.unwrap_or_default())) } else { Ok(()) }
    }

    /// Indexes chunks of another program unchanged.
    fn index_foreign(&self, foreign: &ForeignChunks) -> Result<(Generation, Cut), EvalError> {
        let model = self.embedder.as_ref().map(|embedder| Model::from(embedder.model()));
        let spec = GenerationSpec { strategy_version: COLLECTION.into(), config_hash: String::new(), model };
        let generation = self.store.begin(COLLECTION, &spec)?;
        let mut all = Cut { chunks: Chunks::default(), ids: HashMap::new(), tally: Tally::default() };
        let mut documents = Vec::new();
        for chunks in foreign.chunks.chunk_by(|a, b| a.place.document == b.place.document) {
            let doc_id = self.corpus.documents()[chunks[0].place.document].id();
            let mut cut = Vec::with_capacity(chunks.len());
            for (index, chunk) in chunks.iter().enumerate() {
                let tokens = self.counter.count(chunk.content.trim());
                let record = chunk.record(doc_id, index, tokens);
                all.ids.insert(record.chunk_id, all.chunks.places.len());
                all.chunks.places.push(chunk.place);
                all.chunks.tokens.push(tokens);
                cut.push(NewChunk::new(record));
            }
            let info = DocumentInfo { doc_id: doc_id.to_owned(), ..DocumentInfo::default() };
            let document = StoredDocument { info, ..StoredDocument::default() };
            documents.push(NewDocument { document, base: 0, chunks: cut });
        }
        let embedder = self.embedder.as_ref().map(|embedder| &**embedder as &dyn Embedder);
        let error = put_cut(&*self.store, &generation, embedder, documents)?;
        self.check_embedder(error)?;
        all.tally = foreign.tally(self.corpus, &all.chunks.tokens);
        Ok((generation, all))
    }

    /// The figures of one question in every mode, and what was returned.
    fn ask(&self, question: &Question, cut: &Cut, generation: &Generation) -> Result<Vec<Answer>, EvalError> {
        let excluded: HashSet<usize> =
            question.exclude.iter().flat_map(|&place| cut.chunks.touching(place)).collect();
        let candidates = self.options.candidates;
        let options = SearchOptions {
            mode: if self.embedder.is_some() { Mode::Hybrid } else { Mode::Lexical },
            candidates: candidates + excluded.len(),
            names: self.options.names,
            ..SearchOptions::default()
        };
        let embedder = self.embedder.as_ref().map(|embedder| &**embedder as &dyn Embedder);
        let mut ranked = rank(&*self.store, generation, embedder, &question.text, &options)?;
        let allow = |stage: &mut Vec<Scored>| {
            stage.retain(|scored| cut.ids.get(&scored.id).is_some_and(|chunk| !excluded.contains(chunk)));
            stage.truncate(candidates);
        };
        ranked.dense.as_mut().map(allow);
        ranked.sparse.as_mut().map(allow);
        ranked.lexical.as_mut().map(allow);
        ranked.retain_names(|id| cut.ids.get(&id).is_some_and(|chunk| !excluded.contains(chunk)));
        let fits = |chunk: usize, tokens: usize| self.fits(cut.chunks.places[chunk], tokens);
        let answers = self.options.modes.iter().map(|mode| {
            let ranking = match mode {
                // A query that the model has no vector for finds nothing by meaning.
                Mode::Dense => ranked.named(ranked.dense.clone().unwrap_or_default()),
                Mode::Sparse => ranked.named(ranked.sparse.clone().unwrap_or_default()),
                Mode::Lexical => ranked.named(ranked.lexical.clone().unwrap_or_default()),
                Mode::Hybrid => ranked.fused(self.options.fusion),
            };
            let ranking: Vec<usize> =
                ranking.iter().filter_map(|scored| cut.ids.get(&scored.id).copied()).collect();
            let figures = figures(&self.options.measures, &question.gold, &cut.chunks, &ranking, &fits);
            let returned = self.looked_at(&ranking, &cut.chunks);
            (figures, returned)
        });
        Ok(answers.collect())
    }

    /// The beginning of `ranking` that some measure reads.
    fn looked_at(&self, ranking: &[usize], chunks: &Chunks) -> Vec<Passage> {
        let until = |measure: &Measure| match *measure {
            Measure::Recall(k) | Measure::Precision(k) | Measure::Iou(k) | Measure::Ndcg(k) => k,
            Measure::Intact => 0,
            Measure::Budget(tokens) => {
                let mut left = tokens;
                let is_whole = |chunk: &&usize| {
                    let fits = chunks.tokens[**chunk] <= left;
                    left = left.saturating_sub(chunks.tokens[**chunk]);
                    fits
                };
                ranking.iter().take_while(is_whole).count() + 1
            }
        };
        let count = self.options.measures.iter().map(until).max().unwrap_or_default();
        ranking.iter().take(count).map(|&chunk| chunks.places[chunk]).collect()
    }

    /// Number of characters of `place` in its first `tokens` tokens.
    fn fits(&self, place: Passage, tokens: usize) -> usize {
        let source = self.corpus.documents()[place.document].source();
        let mut offsets = source.char_indices().map(|(at, _)| at).chain([source.len()]).skip(place.start);
        let offsets: Vec<usize> = offsets.by_ref().take(place.len() + 1).collect();
        let (mut low, mut high) = (0, place.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            let text = Span::new(offsets[0], offsets[middle]).of(source);
            if self.counter.count(text) <= tokens { low = middle } else { high = middle - 1 }
        }
        low
    }
}

/// The only collection of a bench's store.
const COLLECTION: &str = "eval";

pub(crate) fn visible(text: &str) -> usize {
    text.chars().filter(|&c| !is_blank(c)).count()
}

/// An embedder that embeds a query once, however many ways of cutting are asked.
struct Remembering {
    inner: Arc<dyn Embedder>,
    queries: Mutex<HashMap<String, Embedding>>,
    /// Whether it failed without a text at fault.
    has_failed: AtomicBool,
}

impl Embedder for Remembering {
    fn model(&self) -> &ModelInfo {
        self.inner.model()
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let embedded = self.inner.embed(texts, role);
        if let Err(error) = &embedded
            && error.index().is_none_or(|index| index >= texts.len())
        {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        embedded
    }

    fn embed_query(&self, query: &str) -> Result<(Embedding, Option<EmbedError>), EmbedError> {
        let queries = || self.queries.lock();
        if let Some(known) = queries().get(query).cloned() {
            return Ok((known, None));
        }
        let (embedding, failed) = self.inner.embed_query(query)?;
        if failed.is_none() {
            queries().insert(query.to_owned(), embedding.clone());
        }
        Ok((embedding, failed))
    }
}
