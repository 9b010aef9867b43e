//! Statistics of documents: chunk sizes, broken promises, line coverage.

use std::collections::{BTreeMap, HashMap};

use chunkwright::stats::{Distribution, TokenLevel, advice, optimal_ratio};
use chunkwright::{ChunkId, RecordContext};
use chunkwright_index::TokensByKind;
use parking_lot::Mutex;

use crate::error::Error;
use crate::noun::documents::Documents;
use crate::noun::documents::measure::{Measured, measure};
use crate::noun::skipped::skipped_reasons;
use crate::request::documents::{Coverage, DocumentStatistics, Promise, ReadReport, Violation};

impl ReadReport {
    /// The number of skipped entries by reason.
    pub fn reasons(&self) -> BTreeMap<String, usize> {
        skipped_reasons(&self.skipped)
    }
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
            advice: advice(&levels(&sum.tokens)),
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
