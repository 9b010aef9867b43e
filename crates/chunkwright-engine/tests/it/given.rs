//! Stores, strategies and models that a program passes in replace those of the settings.

use std::sync::Arc;

use chunkwright::{Cut, Document, Plan, Strategy, Words};
use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, Engine, Found, GenerationSpec, IndexRequest, Mode, NewSource, NoticeCode, SearchAnswer,
    SearchRequest,
};
use chunkwright_index::{MemoryStore, Store};
use chunkwright_models::{
    EmbedError, Embedder, Embedding, Languages, ModelInfo, RerankError, Reranker, Role,
};

/// One chunk a block.
struct Blocks;

impl Strategy for Blocks {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn version(&self) -> (u16, u16) {
        (3, 1)
    }

    fn summary(&self) -> &'static str {
        "one chunk a block"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        document.blocks().iter().for_each(|block| plan.push(block.span, Cut::Full));
    }
}

/// A text is where its first byte is on a circle.
struct Circle(ModelInfo);

impl Embedder for Circle {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Embedding>, EmbedError> {
        let angle = |text: &&str| f32::from(text.bytes().next().unwrap_or_default()) / 256.0;
        let vector = |angle: f32| vec![angle.cos(), angle.sin()];
        let embedding =
            |text| Embedding { vector: vector(angle(text)), unread_tokens: 0, sparse: None, tokens: None };
        Ok(texts.iter().map(embedding).collect())
    }
}

/// Prefers long texts.
struct Longest;

impl Reranker for Longest {
    fn name(&self) -> &'static str {
        "longest"
    }

    fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        Ok(texts.iter().map(|text| text.len() as f32).collect())
    }
}

#[test]
fn a_strategy_an_embedder_and_a_reranker_of_the_callers_own_are_used() {
    let values = [("tokenizer".to_owned(), "words".into())];
    let settings = || Layers::default().settings(Source::Request, values.clone()).unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let lexical = Engine::builder(settings()).store(Arc::clone(&store)).open(Access::Write).unwrap();
    let documents = || {
        let text = "A boat leaves.\n\nThe boat to the island leaves at nine.\n\nTickets are sold on board.\n";
        [NewSource { doc_id: "a.md".into(), bytes: text.into(), hint: None }]
    };
    lexical.collection("docs").put(IndexRequest::default(), documents(), &|_| {}).unwrap();

    let model = ModelInfo {
        name: "circle".into(),
        dimension: 2,
        sparse: false,
        max_tokens: None,
        counter: Arc::new(Words),
        reads: Languages::All,
        price_per_million_tokens: None,
    };
    let engine = Engine::builder(settings())
        .store(store)
        .strategy(Arc::new(Blocks))
        .embedder(Arc::new(Circle(model)))
        .reranker(Arc::new(Longest))
        .open(Access::Write)
        .unwrap();
    let collection = engine.collection("docs");
    let answer = collection.put(IndexRequest::default(), documents(), &|_| {}).unwrap();
    assert_eq!(answer.model.as_deref(), Some("circle"));
    let spec = collection.snapshot().unwrap().generation().spec.clone();
    assert_eq!(spec.strategy_version, "blocks-v3.1");
    assert_eq!(spec.model.map(|model| model.name).as_deref(), Some("circle"));
    let answer = collection.search(&SearchRequest::new("boat")).unwrap();
    let Found::Hits { hits } = answer.found else { panic!("not expanded") };
    assert_eq!(hits.len(), 3, "dense and lexical");
    assert_eq!(hits[0].record.content, "The boat to the island leaves at nine.");
    assert!(hits[0].rerank.is_some());

    // Without the model of its vectors, words are left to a hybrid search, which says so; a dense one has nothing.
    let codes = |answer: &SearchAnswer| answer.notices.iter().map(|notice| notice.code).collect::<Vec<_>>();
    let collection = lexical.collection("docs");
    let answer = collection.search(&SearchRequest::new("boat")).unwrap();
    assert_eq!(codes(&answer), [NoticeCode::StageSkipped]);
    let told = &answer.notices[0].message;
    assert!(told.contains("`circle`, which is not installed") && !told.contains("hybrid"), "{told}");
    let Found::Hits { hits } = answer.found else { panic!("not expanded") };
    assert_eq!((answer.collections[0].mode, hits.len()), (Mode::Lexical, 2));
    let dense = SearchRequest { mode: Mode::Dense, ..SearchRequest::new("boat") };
    let error = collection.search(&dense).unwrap_err();
    assert_eq!(error.code().name, "model_unavailable", "{error}");
}

#[test]
fn a_search_says_what_its_collection_lacks() {
    let values = [("tokenizer".to_owned(), "words".into()), ("embedder".to_owned(), "none".into())];
    let settings = Layers::default().settings(Source::Request, values).unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let engine = Engine::builder(settings).store(Arc::clone(&store)).open(Access::Write).unwrap();
    let collection = engine.collection("docs");
    let told = |query: &str| -> Vec<NoticeCode> {
        let request = SearchRequest { mode: Mode::Lexical, ..SearchRequest::new(query) };
        collection.search(&request).unwrap().notices.iter().map(|notice| notice.code).collect()
    };
    let document =
        |doc_id: &str| NewSource { doc_id: doc_id.into(), bytes: b"A boat leaves.\n".into(), hint: None };
    // As a run leaves it that was stopped at once, and later.
    let first = store.begin("docs", &GenerationSpec::default()).unwrap();
    assert_eq!(told("boat"), [NoticeCode::Unfinished]);
    collection.put(IndexRequest::default(), [document("a.md")], &|_| {}).unwrap();
    assert_eq!(told("boat"), []);
    assert_eq!(told("zeppelin"), []);
    store.switch(&first).unwrap();
    assert_eq!(told("boat"), [NoticeCode::EmptyCollection]);
}
