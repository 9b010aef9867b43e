//! Flags that say how is searched, shared by `search`, `eval` and `tune`.

use chunkwright_index::{Fusion, Mode};
use clap::ValueEnum;

/// A mode of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeFlag {
    Hybrid,
    Dense,
    Sparse,
    Lexical,
}

/// How the rankings of the stages become one.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FusionFlag {
    Sum,
    Rrf,
}

impl ModeFlag {
    /// The mode of the index.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Hybrid => Mode::Hybrid,
            Self::Dense => Mode::Dense,
            Self::Sparse => Mode::Sparse,
            Self::Lexical => Mode::Lexical,
        }
    }
}

impl FusionFlag {
    /// The fusion of the index.
    pub(crate) fn fusion(self) -> Fusion {
        match self {
            Self::Sum => Fusion::default(),
            Self::Rrf => Fusion::Rrf { k: Fusion::RRF_K },
        }
    }
}
