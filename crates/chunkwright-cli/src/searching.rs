//! Search flags that `search`, `eval` and `tune` share.

use anyhow::{Result, bail};
use chunkwright_engine::{Fusion, Mode};
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};

use crate::choice::choice;

/// A value parser for search modes.
pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    choice(&[("hybrid", ""), ("dense", ""), ("sparse", ""), ("lexical", "")])
}

/// How the rankings of the stages become one.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Searching")]
pub(crate) struct FusionFlags {
    /// How rankings are fused: `sum` (of scores scaled to 0..1) or `rrf` (reciprocal rank fusion)
    #[arg(long, value_name = "HOW", default_value = "sum", hide_short_help = true)]
    fusion: FusionFlag,
    #[arg(long, value_name = "0..1", value_parser = weight, allow_negative_numbers = true, help = dense_weight_help(), hide_short_help = true)]
    dense_weight: Option<f64>,
    #[arg(long, value_name = "0..1", value_parser = weight, allow_negative_numbers = true, help = sparse_weight_help(), hide_short_help = true)]
    sparse_weight: Option<f64>,
    #[arg(long, value_name = "K", value_parser = rrf_k, allow_negative_numbers = true, help = rrf_k_help(), hide_short_help = true)]
    rrf_k: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FusionFlag {
    Sum,
    Rrf,
}

fn weight(text: &str) -> Result<f64, String> {
    let weight = text.parse().ok().filter(|weight| (0.0..=1.0).contains(weight));
    weight.ok_or_else(|| "it must be a number from 0 to 1".into())
}

fn rrf_k(text: &str) -> Result<f64, String> {
    let k = text.parse().ok().filter(|k: &f64| k.is_finite() && *k >= 0.0);
    k.ok_or_else(|| "it must be a number from 0".into())
}

fn dense_weight_help() -> String {
    let usual = Fusion::DENSE_WEIGHT;
    format!("Share of the dense score in a sum, from 0 (lexical only) to 1 (dense only) [default: {usual}]")
}

fn sparse_weight_help() -> String {
    let usual = Fusion::SPARSE_WEIGHT;
    format!(
        "Share of the sparse score in what the dense one leaves of a sum, from 0 (lexical only) to 1, for models with \
         sparse vectors [default: {usual:.2}]"
    )
}

fn rrf_k_help() -> String {
    let usual = Fusion::RRF_K;
    format!(
        "Constant of reciprocal rank fusion, at least 0; greater values weigh the first ranks less [default: {usual}]"
    )
}

impl FusionFlags {
    /// The fusion of the index.
    pub(crate) fn fusion(self) -> Result<Fusion> {
        match self.fusion {
            FusionFlag::Sum if self.rrf_k.is_some() => bail!("`--rrf-k` is for `--fusion rrf`"),
            FusionFlag::Rrf if self.dense_weight.or(self.sparse_weight).is_some() => {
                bail!("ranks have no weights; `--dense-weight` and `--sparse-weight` are for `--fusion sum`")
            }
            FusionFlag::Sum => Ok(Fusion::WeightedSum {
                dense_weight: self.dense_weight.unwrap_or(Fusion::DENSE_WEIGHT),
                sparse_weight: self.sparse_weight.unwrap_or(Fusion::SPARSE_WEIGHT),
            }),
            FusionFlag::Rrf => Ok(Fusion::Rrf { k: self.rrf_k.unwrap_or(Fusion::RRF_K) }),
        }
    }
}
