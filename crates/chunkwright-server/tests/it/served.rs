//! A server with a few documents, and scripted models.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex};

use chunkwright::Words;
use chunkwright_engine::settings::Source;
use chunkwright_engine::{Access, Engine, IndexRequest, Layers, NewSource};
use chunkwright_models::{
    EmbedError, Embedder, Embedding, Languages, ModelInfo, RerankError, Reranker, Role,
};
use chunkwright_server::{Admission, Key, Keys, Limits, Scope, Server, ServerOptions, StartError, Stopped};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A document that a browser must not run.
pub(crate) const SCRIPT: &str = "<script>alert(1)</script>";

/// A server that runs until it is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    stopped: Option<JoinHandle<Stopped>>,
    _store: TempDir,
}

impl Served {
    /// Serves with the options as `change` makes them.
    pub(crate) fn new(change: impl FnOnce(&mut ServerOptions)) -> Self {
        Self::with_reranker(Gate::open(), change)
    }

    /// Serves with short limits.
    pub(crate) fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        Self::new(|options| change(&mut options.limits))
    }

    /// Serves with a reranker that passes `gate`.
    pub(crate) fn with_reranker(gate: Arc<Gate>, change: impl FnOnce(&mut ServerOptions)) -> Self {
        let store = TempDir::new().unwrap();
        let engine = engine(&store, gate);
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut options = ServerOptions { listen: loopback, ..ServerOptions::default() };
        change(&mut options);
        let server = Server::new(engine.clone(), options).unwrap();
        let documents = [
            NewSource::new("guide.md", "# Guide\n\nInstall the program, then run it. Pears are fruit.\n"),
            NewSource::new(format!("{SCRIPT}.md"), format!("# {SCRIPT}\n\nA page about apples. {SCRIPT}\n")),
        ];
        let collection = engine.collection("default");
        assert!(
            collection.put(IndexRequest::default(), documents, &|_| {}).unwrap().report.failed.is_empty()
        );
        let runtime = Runtime::new().unwrap();
        let running = runtime.block_on(server.listen()).unwrap();
        let address = running.address().unwrap();
        let (stop, told) = oneshot::channel::<()>();
        let stopped = runtime.spawn(async move {
            let told = async { _ = told.await };
            running.answer_until(told).await.unwrap()
        });
        Self { address, engine, runtime, stop: Some(stop), stopped: Some(stopped), _store: store }
    }

    /// Why a server does not start with the options as `change` makes them.
    pub(crate) fn refused(change: impl FnOnce(&mut ServerOptions)) -> StartError {
        let store = TempDir::new().unwrap();
        let mut options =
            ServerOptions { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..ServerOptions::default() };
        change(&mut options);
        let server = Server::new(engine(&store, Gate::open()), options).unwrap();
        Runtime::new().unwrap().block_on(server.listen()).err().unwrap()
    }

    /// Tells it to stop.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// How it stopped, once it did.
    pub(crate) fn stopped(&mut self) -> Stopped {
        self.runtime.block_on(self.stopped.take().unwrap()).unwrap()
    }
}

/// An engine on a new store.
fn engine(store: &TempDir, gate: Arc<Gate>) -> Engine {
    let folder = store.path().to_str().unwrap().to_owned();
    let settings = [("store".to_owned(), json!(folder)), ("data".to_owned(), json!(folder))];
    let settings = Layers::default().settings(Source::Request, settings).unwrap();
    let builder = Engine::builder(settings).embedder(Arc::new(Letters::new())).reranker(gate);
    builder.open(Access::Write).unwrap()
}

/// Keys for each scope, and what their holders send: `Authorization` headers.
pub(crate) fn keys() -> (Admission, [String; 3]) {
    let mut keys = Keys::default();
    let headers =
        [("reader", Scope::Read), ("editor", Scope::Write), ("root", Scope::Admin)].map(|(name, scope)| {
            let (key, secret) = Key::generate(name, scope).unwrap();
            keys.add(key).unwrap();
            format!("Authorization: Bearer {secret}")
        });
    (Admission { keys, ..Admission::default() }, headers)
}

/// Where a reranker waits until a test lets it go on.
pub(crate) struct Gate {
    /// Whether it is open, and how many wait.
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn open() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new((true, 0)), changed: Condvar::new() })
    }

    pub(crate) fn closed() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new((false, 0)), changed: Condvar::new() })
    }

    /// Lets everybody go on.
    pub(crate) fn release(&self) {
        self.state.lock().unwrap().0 = true;
        self.changed.notify_all();
    }

    /// How many came here.
    pub(crate) fn came(&self) -> usize {
        self.state.lock().unwrap().1
    }

    /// Returns once so many wait.
    pub(crate) fn wait_for(&self, waiting: usize) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.1 < waiting).unwrap());
    }
}

impl Reranker for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let mut state = self.state.lock().unwrap();
        state.1 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.0).unwrap());
        Ok(texts.iter().map(|text| text.len() as f32).collect())
    }
}

/// An embedder whose vectors count letters.
struct Letters(ModelInfo);

impl Letters {
    fn new() -> Self {
        Self(ModelInfo {
            name: "letters".into(),
            dimension: 26,
            sparse: false,
            max_tokens: None,
            counter: Arc::new(Words),
            reads: Languages::All,
            price_per_million_tokens: None,
        })
    }
}

impl Embedder for Letters {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Embedding>, EmbedError> {
        let vector = |text: &&str| {
            let mut vector = [0.01_f32; 26];
            for letter in text.bytes().filter(u8::is_ascii_alphabetic) {
                vector[usize::from(letter.to_ascii_lowercase() - b'a')] += 1.0;
            }
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            vector.iter().map(|value| value / length).collect()
        };
        Ok(texts
            .iter()
            .map(|text| Embedding { vector: vector(text), unread_tokens: 0, sparse: None, tokens: None })
            .collect())
    }
}
