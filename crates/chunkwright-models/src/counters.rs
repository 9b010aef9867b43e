//! Token counters by name.
//!
//! Every limit of a chunk is a number of some model's tokens, so counting is the inner loop of all
//! cutting. Each counter here is exact: it gives the length of what the model's own tokenizer would
//! return, without special tokens, truncation or padding. All are made once and shared by threads.

mod estimate;
#[cfg(feature = "local")]
mod file;
mod openai;
pub(crate) mod word_cache;
#[cfg(feature = "local")]
mod xlm_r;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright::{Chars, TokenCounter, Words};

pub use estimate::Estimate;
#[cfg(feature = "local")]
pub use file::TokenizerFile;
pub(crate) use openai::Encoding;
pub use openai::OpenAi;
#[cfg(feature = "local")]
pub use xlm_r::XlmRoberta;

use crate::data::ModelError;
#[cfg(feature = "local")]
use crate::embedders::xlm_r_vocabulary;

/// A named token counter, as help texts list it.
#[derive(Clone, Copy, Debug)]
pub struct CounterInfo {
    /// The name that configurations and records use.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Summary of what it counts, in one line.
    pub summary: &'static str,
    make: fn(data_dir: &Path) -> Result<Arc<dyn TokenCounter>, CounterError>,
}

/// All named counters. A path to a `tokenizer.json` is accepted as well.
pub const COUNTERS: &[CounterInfo] = &[
    CounterInfo {
        name: "chars",
        aliases: &[],
        summary: "Unicode scalar values",
        make: |_| Ok(Arc::new(Chars)),
    },
    CounterInfo {
        name: "words",
        aliases: &[],
        summary: "words by Unicode segmentation (UAX #29)",
        make: |_| Ok(Arc::new(Words)),
    },
    CounterInfo {
        name: "o200k",
        aliases: &["o200k_base"],
        summary: "tokens of GPT-4o and later OpenAI models",
        make: |_| Ok(Arc::new(OpenAi::o200k())),
    },
    CounterInfo {
        name: "cl100k",
        aliases: &["cl100k_base"],
        summary: "tokens of GPT-4 and of OpenAI's embedding models",
        make: |_| Ok(Arc::new(OpenAi::cl100k())),
    },
    #[cfg(feature = "local")]
    CounterInfo {
        name: "xlm-r",
        aliases: &["bge-m3", "e5"],
        summary: "tokens of BGE-M3, multilingual-e5 and others with XLM-RoBERTa's vocabulary; needs the model `e5`",
        make: |data_dir| Ok(Arc::new(XlmRoberta::new(Arc::new(xlm_r_vocabulary(data_dir)?)))),
    },
];

/// Makes the counter that `spec` names: a member of [`COUNTERS`] or the path of a `tokenizer.json`.
///
/// `data_dir` is where models are installed; only counters with an installed vocabulary read it.
///
/// # Errors
///
/// If the name is unknown, or the vocabulary or file cannot be read.
pub fn counter(spec: &str, data_dir: &Path) -> Result<Arc<dyn TokenCounter>, CounterError> {
    if let Some(info) = COUNTERS.iter().find(|info| info.name == spec || info.aliases.contains(&spec)) {
        return (info.make)(data_dir);
    }
    #[cfg(feature = "local")]
    let path = Path::new(spec);
    #[cfg(feature = "local")]
    if path.extension().is_some_and(|extension| extension == "json") || spec.contains(['/', '\\']) {
        return Ok(Arc::new(TokenizerFile::open(path)?));
    }
    Err(CounterError::Unknown { spec: spec.to_owned() })
}

/// Why a counter is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CounterError {
    /// No counter has this name.
    #[error("unknown token counter `{spec}`; known are {}, or the path of a `tokenizer.json`", known())]
    Unknown {
        /// The requested name.
        spec: String,
    },
    /// The vocabulary belongs to a model that is not installed, or is damaged.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The file cannot be read.
    #[error("cannot read the tokenizer `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not a tokenizer.
    #[error("`{}` is not a tokenizer.json of the `tokenizers` library: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
}

fn known() -> String {
    let names: Vec<String> = COUNTERS.iter().map(|info| format!("`{}`", info.name)).collect();
    names.join(", ")
}
