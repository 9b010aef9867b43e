//! Everything that depends on models: token counters, embedders, rerankers, notes, and the key of a vector.
//!
//! The core cuts by a [`TokenCounter`](chunkwright::TokenCounter) and never learns what stands behind it; [`counter`]
//! makes one from the name in a configuration. An [`Embedder`] turns texts into vectors, which a store keeps under
//! their [`text_hash`]. A [`Reranker`] scores how well texts answer a question, a [`Writer`] has a chat model write
//! notes. Each runs on this machine or is a [service] that [`chunkwright_http`] calls. Models come out of packages, are
//! [installed](install()) into a data directory and [verified](verify) there.
//!
//! Features: `local`, models that run on this machine; `remote`, services over TLS. Both are on by default.

#[cfg(feature = "local")]
mod bert;
mod bpe;
mod char_set;
pub mod counters;
pub mod data;
#[cfg(feature = "local")]
mod e5_file;
pub mod embedders;
mod exported;
#[cfg(feature = "local")]
mod half;
mod identifiers;
pub mod install;
#[cfg(feature = "local")]
mod int8;
pub mod late;
#[cfg(feature = "local")]
mod llama;
pub mod notes;
#[cfg(feature = "onnx")]
mod onnx;
mod rarity;
pub mod rerank;
pub mod service;
#[cfg(feature = "local")]
mod tensors;
#[cfg(all(test, feature = "local"))]
mod test_models;
#[cfg(feature = "local")]
mod unigram;
pub mod vectors;
#[cfg(feature = "local")]
mod xlm_r;

pub use counters::{COUNTERS, CounterError, CounterInfo, counter};
pub use data::{
    DEFAULT_MODELS, InstallableModel, MODELS, ModelError, ModelState, ModelStatus, data_dir, verify,
};
pub use embedders::{
    DIALECTS, EMBEDDERS, EmbedError, Embedder, EmbedderInfo, Embedding, Languages, MAX_WEIGHTS, ModelInfo,
    RemoteOptions, Role, SPARSE_DIALECTS, SparseOptions, default_embedder, embedder, is_remote,
    is_sparse_vector, onnx_embedder, remote_embedder, sparse_dot,
};
pub use exported::{ONNX, OnnxOptions};
pub use identifiers::identifier_parts;
pub use install::{InstallError, Installed, Removed, install, remove};
pub use notes::{Note, NoteDocument, NoteTask, Prompt, Usage, WRITERS, Writer, WriterOptions, writer};
pub use rarity::{is_common, rarity};
pub use rerank::{
    RERANK_DIALECTS, RERANKERS, RerankError, RerankOptions, Reranker, is_remote_reranker, onnx_reranker,
    remote_reranker, reranker,
};
pub use service::{CallError, ServiceError, ServiceOptions};
pub use vectors::{TextHash, text_hash};
