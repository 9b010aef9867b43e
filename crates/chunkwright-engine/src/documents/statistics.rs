//! Statistics of documents: chunk sizes, broken promises, line coverage.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

use chunkwright::stats::{Distribution, TokenLevel, optimal_ratio};
use chunkwright::{ChunkId, RecordContext, Unit};
use chunkwright_index::TokensByKind;
use chunkwright_source::Skipped;
use serde::{Deserialize, Serialize};

use super::measure::{Measured, Promise, Violation, measure};
use super::{Documents, ReadReport};
use crate::error::Error;
use crate::words::grouped;

/// What is measured, over all documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentStatistics {
    /// Name of the preset.
    pub preset: String,
    /// The strategy and its version.
    pub strategy_version: String,
    /// Hash of every setting that moves a boundary.
    pub config_hash: String,
    /// What counts tokens.
    pub tokenizer: String,
    /// Number of documents read.
    pub documents: usize,
    /// Documents without a visible character.
    pub empty: usize,
    /// Bytes of their texts.
    pub bytes: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Tokens of the chunks' texts.
    pub tokens: Distribution,
    /// What sizes are counted in.
    pub unit: Unit,
    /// The limit, in `unit`.
    pub max_size: usize,
    /// Sizes of the chunks' texts, in `unit`.
    pub sizes: Distribution,
    /// Chunks smaller than `min_size`.
    pub below_min: usize,
    /// Chunks over the limit because a block is kept whole.
    pub oversize: usize,
    /// Number of chunks of each level.
    pub levels: BTreeMap<TokenLevel, usize>,
    /// Number of chunks of each type.
    pub content_types: BTreeMap<String, usize>,
    /// Number of chunks that begin by each rule.
    pub cuts: BTreeMap<String, usize>,
    /// The band of sizes that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<[usize; 2]>,
    /// Share of chunks whose size is in the band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_ratio: Option<f64>,
    /// What became of the lines.
    pub coverage: Coverage,
    /// Promises that were broken.
    pub violations: Vec<Violation>,
}

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Non-blank lines of the documents read.
    pub lines: usize,
    /// Those of which every visible character is in a chunk.
    pub lines_in_chunks: usize,
    /// Files and folders left out, by reason.
    pub skipped: BTreeMap<String, usize>,
}

impl ReadReport {
    /// The number of skipped entries by reason.
    pub fn reasons(&self) -> BTreeMap<String, usize> {
        skipped_reasons(&self.skipped)
    }
}

/// The number of skipped entries by reason.
pub(crate) fn skipped_reasons(skipped: &[Skipped]) -> BTreeMap<String, usize> {
    reasons(skipped.iter()).into_iter().map(|(reason, number)| (reason.to_owned(), number)).collect()
}

fn reasons<'a>(skipped: impl Iterator<Item = &'a Skipped>) -> BTreeMap<&'static str, usize> {
    let mut reasons = BTreeMap::new();
    for Skipped { reason, .. } in skipped {
        *reasons.entry(reason.as_str()).or_default() += 1;
    }
    reasons
}

/// A summary of what was left out and why: `3 entries: 2 hidden, 1 binary`. Excludes content that is left out by its
/// kind, which a [`Notice`](crate::Notice) reports.
pub fn skipped_in_words(skipped: &[Skipped]) -> Option<String> {
    let reasons = reasons(skipped.iter().filter(|skipped| !skipped.reason.is_noise()));
    let entries = match reasons.values().sum() {
        0 => return None,
        1 => "1 entry".to_owned(),
        number => format!("{} entries", grouped(number)),
    };
    let reasons = reasons.into_iter().map(|(reason, number)| format!("{number} {reason}"));
    Some(format!("{entries}: {}", reasons.collect::<Vec<_>>().join(", ")))
}

impl Documents {
    /// Measures and verifies the chunks of all documents. `on_progress` is called after each.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`].
    pub fn statistics(&mut self, mut on_progress: impl FnMut()) -> Result<DocumentStatistics, Error> {
        let chunker = self.chunker.clone();
        let mut sum = Sum::default();
        let work = |source: chunkwright_source::ReadSource| {
            let document = source.parse();
            let chunks = chunker.chunk(&document);
            let measured = measure(&chunks, chunks.iter_records(&RecordContext::default()), drop);
            (document.id().to_owned(), measured)
        };
        self.each(
            work,
            |_| 0,
            |measured| {
                on_progress();
                if let Some((doc_id, measured)) = measured {
                    sum.add(&doc_id, measured);
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(self.statistics_of(sum))
    }

    /// The statistics of measured documents.
    pub(super) fn statistics_of(&mut self, sum: Sum) -> DocumentStatistics {
        let Sum { documents, empty, measured: sum, tokens, .. } = sum;
        self.tokens = Mutex::new(tokens);
        let (chunker, config) = (&self.chunker, self.chunker.config());
        let band = config.band_wanted();
        DocumentStatistics {
            preset: self.preset().to_owned(),
            strategy_version: chunker.strategy_version(),
            config_hash: chunker.config_hash(),
            tokenizer: chunker.counter().name().to_owned(),
            documents,
            empty,
            bytes: sum.bytes,
            chunks: sum.sizes.len(),
            unit: config.unit,
            max_size: config.max_size,
            below_min: sum.sizes.iter().filter(|&&size| size < config.min_size).count(),
            oversize: sum.oversize,
            levels: levels(&sum.tokens),
            content_types: sum.content_types,
            cuts: sum.cuts,
            band,
            optimal_ratio: band.map(|band| optimal_ratio(&sum.sizes, band)),
            tokens: Distribution::of(sum.tokens),
            sizes: Distribution::of(sum.sizes),
            coverage: Coverage {
                lines: sum.lines,
                lines_in_chunks: sum.lines_in_chunks,
                skipped: self.report().reasons(),
            },
            violations: sum.violations,
        }
    }
}

/// The sum over the documents measured so far.
#[derive(Default)]
pub(super) struct Sum {
    documents: usize,
    empty: usize,
    measured: Measured,
    tokens: TokensByKind,
    ids: HashMap<ChunkId, String>,
}

impl Sum {
    /// Adds a document.
    pub(super) fn add(&mut self, doc_id: &str, measured: Measured) {
        self.documents += 1;
        self.empty += usize::from(measured.empty);
        for &(id, line) in &measured.ids {
            if let Some(other) = self.ids.insert(id, doc_id.to_owned()) {
                self.measured.violations.push(Violation {
                    rule: Promise::UniqueIds,
                    doc_id: doc_id.to_owned(),
                    chunk_id: Some(id),
                    line,
                    found: format!("a chunk of `{other}` has the same id"),
                });
            }
        }
        self.tokens.add(doc_id, measured.tokens.iter().sum());
        self.measured.add(measured);
    }
}

fn levels(tokens: &[usize]) -> BTreeMap<TokenLevel, usize> {
    let all = [TokenLevel::Normal, TokenLevel::Warning, TokenLevel::Large, TokenLevel::Oversized];
    let mut levels = BTreeMap::from(all.map(|level| (level, 0)));
    for &tokens in tokens {
        *levels.entry(TokenLevel::of(tokens)).or_default() += 1;
    }
    levels
}
