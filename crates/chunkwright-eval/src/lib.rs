//! Evaluates how well a way of cutting serves a corpus.
//!
//! A chunker that pleases the eye may still lose answers, and one that finds them may change every chunk
//! at each edit. This crate measures both on the user's own documents:
//!
//! * [`Bench`] asks questions whose answers are known ([`question`]) of every way of cutting, through the search that
//!   users have ([`chunkwright_index::rank`], a store in memory, the same fusion), and measures by characters of the
//!   answers ([`measure`]).
//! * Chunks of other programs ([`foreign`]) are asked and measured in the same way.
//! * [`stability`] cuts two versions of documents ([`edit`]) and counts what the edit changed.
//! * [`bootstrap`] says how far a figure can be trusted. Everything is deterministic: random draws come from a seed.
//! * [`made`] generates questions from documents if there are none, and [`tune`] picks a preset.
//! * [`nonsense`] makes queries that should find nothing.
//! * [`history`] draws real edits from git, and a [`Report`] holds all figures as data.
//!
//! The crate reads no files but through `git`: documents, questions and edits are given to it.

pub mod bootstrap;
pub mod carry;
pub mod corpus;
pub mod edit;
pub mod foreign;
pub mod history;
pub mod made;
pub mod measure;
pub mod nonsense;
pub mod question;
pub mod report;
pub mod retrieval;
pub mod size;
pub mod stability;
pub mod tune;

pub use bootstrap::{Interval, Rng};
pub use corpus::{Corpus, Passage};
pub use edit::Edit;
pub use foreign::{ForeignChunk, ForeignChunks, ForeignError};
pub use measure::Measure;
pub use question::{Question, QuestionError, Questions};
pub use report::{
    Asked, MeasuredPreset, MeasuredValue, PassagePlace, QuestionLine, Report, RetrievalLine, Run,
    StabilityLine,
};
pub use retrieval::{Bench, EvalError, Options, Retrieved};
pub use size::Sizes;
pub use stability::Stability;

/// The versions that figures depend on, as text: of every strategy, and of the analysis of words.
pub fn versions() -> String {
    let strategies = chunkwright::STRATEGIES.iter().map(|it| {
        let (major, minor) = it.version();
        format!("{}-v{major}.{minor}", it.name())
    });
    let analysis = format!("analysis-v{}", chunkwright_index::analysis::VERSION);
    strategies.chain([analysis]).collect::<Vec<_>>().join(", ")
}
