//! `chunkwright stats`

mod collection;
mod measure;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use anyhow::Result;
use chunkwright::stats::{Distribution, TokenLevel, optimal_ratio};
use chunkwright::{ChunkId, Unit};
use chunkwright_engine::Filter;
use chunkwright_source::{Item, Unread};
use serde::Serialize;

use crate::app::{self, CollectionFlags, CutFlags, Global, Outcome};
use crate::input::{InputFlags, gather, ordered, read, reasons, report as report_inputs};
use crate::output::OutputFlags;
use crate::progress::Progress;
use crate::text::{Table, bold, dim, green, grouped, plain, red};
use measure::{Measured, Rule, Violation, measure};

/// Measure the chunks of documents and verify what is promised of them, or count those of a collection
///
/// Counts, the distribution of sizes and tokens, levels, and coverage: how many non-blank lines are in a
/// chunk, and which files were left out and why. Every chunk is verified: its content is exactly its
/// bytes of the source, its text is within the limit by a new count, no two have one id, and no visible
/// character is in none. A violation makes the exit status 1.
///
/// With --collection the chunks stored there are counted instead: by version, kind, level and language, with the
/// distribution of their tokens. The exit status is 1 if there are none.
#[derive(Debug, clap::Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    cut: CutFlags,
    /// Of a collection, only chunks that pass: conditions as those of `chunkwright search --filter`
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse, requires = "collection")]
    filter: Vec<Filter>,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// What is measured, over all documents.
#[derive(Debug, Serialize)]
struct Report {
    preset: String,
    strategy_version: String,
    config_hash: String,
    tokenizer: String,
    documents: usize,
    /// Documents without a visible character.
    empty: usize,
    bytes: usize,
    chunks: usize,
    /// Of the chunks' texts.
    tokens: Distribution,
    unit: Unit,
    max_size: usize,
    /// Of the chunks' texts, in `unit`.
    sizes: Distribution,
    /// Chunks smaller than `min_size`.
    below_min: usize,
    /// Chunks over the limit because a block is kept whole.
    oversize: usize,
    levels: BTreeMap<TokenLevel, usize>,
    content_types: BTreeMap<String, usize>,
    cuts: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<[usize; 2]>,
    /// Share of chunks whose size is in the band.
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_ratio: Option<f64>,
    coverage: Coverage,
    violations: Vec<Violation>,
}

/// What became of the lines.
#[derive(Debug, Default, Serialize)]
struct Coverage {
    /// Non-blank lines of the documents read.
    lines: usize,
    /// Those of which every visible character is in a chunk.
    lines_in_chunks: usize,
    /// Files and folders left out, by reason.
    skipped: BTreeMap<&'static str, usize>,
}

impl Stats {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        if self.collection.is_named() {
            let filter = self.filter.iter().cloned().fold(Filter::default(), Filter::and);
            return collection::run(global, (&self.collection, &self.output), filter, &self.cut);
        }
        let settings = global.settings(&[&self.cut])?;
        let band = settings.chunk.band_wanted();
        let chunker = app::chunker(&settings)?;
        let mut inputs = gather(global, &self.input.paths, &self.input.stdin_filename)?;
        let items = std::mem::take(&mut inputs.items);
        let progress = Progress::new(global, items.len(), "documents");
        let mut sum = Measured::default();
        let (mut documents, mut empty) = (0, 0);
        let mut ids: HashMap<ChunkId, String> = HashMap::new();
        let measure = |item: &Item| read(item).map(|source| measure(&chunker, &source.parse()));
        let result = ordered(self.input.threads.get(), &items, |item| (item.doc_id().to_owned(), measure(item)), |_| 0, |(doc_id, measured)| {
            progress.advance(1);
            let measured = match measured {
                Ok(measured) => measured,
                Err(Unread::Skipped(skipped)) => {
                    inputs.skipped.push(skipped);
                    return Ok(());
                }
                Err(Unread::Failed(sentence)) => {
                    inputs.errors.push(sentence);
                    return Ok(());
                }
            };
            documents += 1;
            empty += usize::from(measured.empty);
            for &(id, line) in &measured.ids {
                if let Some(other) = ids.insert(id, doc_id.clone()) {
                    let found = format!("a chunk of `{other}` has this id too");
                    let chunk_id = Some(id);
                    sum.violations.push(Violation { rule: Rule::UniqueIds, doc_id: doc_id.clone(), chunk_id, line, found });
                }
            }
            sum.add(measured);
            Ok(())
        });
        progress.finish();
        result?;
        let report = Report {
            preset: settings.preset.clone(),
            strategy_version: chunker.strategy_version(),
            config_hash: chunker.config_hash(),
            tokenizer: chunker.counter().name().to_owned(),
            documents,
            empty,
            bytes: sum.bytes,
            chunks: sum.sizes.len(),
            unit: settings.chunk.unit,
            max_size: settings.chunk.max_size,
            below_min: sum.sizes.iter().filter(|&&size| size < settings.chunk.min_size).count(),
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
                skipped: reasons(&inputs.skipped),
            },
            violations: sum.violations,
        };
        let mut output = self.output.open()?;
        if output.is_text() {
            output.text(&report.describe(settings.chunk.min_size))?;
        } else {
            output.only(&report)?;
        }
        output.finish()?;
        report_inputs(&inputs, global);
        Ok(match (inputs.errors.is_empty(), documents == 0 || !report.violations.is_empty()) {
            (false, _) => Outcome::Failed,
            (true, true) => {
                if documents == 0 {
                    global.say("no document was found at the paths given");
                }
                Outcome::Nothing
            }
            (true, false) => Outcome::Success,
        })
    }
}

fn levels(tokens: &[usize]) -> BTreeMap<TokenLevel, usize> {
    let mut levels = BTreeMap::new();
    for level in [TokenLevel::Normal, TokenLevel::Warning, TokenLevel::Large, TokenLevel::Oversized] {
        levels.insert(level, 0);
    }
    for &tokens in tokens {
        *levels.entry(TokenLevel::of(tokens)).or_default() += 1;
    }
    levels
}

/// Most violations that are listed for people.
const LISTED: usize = 20;

impl Report {
    fn describe(&self, min_size: usize) -> String {
        let unit = match self.unit {
            Unit::Tokens => "tokens",
            Unit::Chars => "characters",
        };
        let percent = |part: usize, whole: usize| match whole {
            0 => String::new(),
            _ => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
        };
        let mut counts = Table::new(["", "", ""]);
        let mut row = |name: &str, number: usize, note: &str| counts.row([name.into(), grouped(number), dim(note)]);
        row("documents", self.documents, &format!("{} of them without a visible character", self.empty));
        row("bytes", self.bytes, "");
        row("chunks", self.chunks, &format!("{}, preset `{}`", self.strategy_version, plain(&self.preset)));
        row("below the minimum", self.below_min, &format!("{}, of {min_size} {unit}", percent(self.below_min, self.chunks)));
        row("kept over the limit", self.oversize, &format!("of {} {unit}", self.max_size));
        row("lines", self.coverage.lines, "not blank");
        row("lines in chunks", self.coverage.lines_in_chunks, &percent(self.coverage.lines_in_chunks, self.coverage.lines));
        for (reason, number) in &self.coverage.skipped {
            row(&format!("skipped: {reason}"), *number, "files or folders");
        }
        let mut sizes = Table::new(["", "mean", "min", "p10", "p50", "p90", "p99", "max"]);
        let sizes_in = format!("{unit} ({})", if self.unit == Unit::Tokens { &self.tokenizer } else { "size" });
        let mut row = |name: &str, it: &Distribution| {
            let numbers = [it.min, it.p10, it.p50, it.p90, it.p99, it.max].map(grouped);
            let [min, p10, p50, p90, p99, max] = numbers;
            sizes.row([name.into(), format!("{:.1}", it.mean), min, p10, p50, p90, p99, max]);
        };
        row(&sizes_in, &self.sizes);
        if self.unit == Unit::Chars {
            row(&format!("tokens ({})", self.tokenizer), &self.tokens);
        }
        let mut kinds = Table::new(["", "chunks", "share"]);
        for (name, number) in &self.content_types {
            kinds.row([name.clone(), grouped(*number), percent(*number, self.chunks)]);
        }
        for (name, number) in &self.cuts {
            kinds.row([format!("cut {name}"), grouped(*number), percent(*number, self.chunks)]);
        }
        for (level, number) in &self.levels {
            let level = format!("{level:?}").to_lowercase();
            kinds.row([format!("level {level}"), grouped(*number), percent(*number, self.chunks)]);
        }
        let mut out = format!("{counts}\n{sizes}\n{kinds}\n");
        // Writing to a string cannot fail.
        if let (Some([from, to]), Some(ratio)) = (self.band, self.optimal_ratio) {
            let _ = writeln!(out, "{:.1}% of the chunks have {from} to {to} {unit}", 100.0 * ratio);
        }
        if self.violations.is_empty() {
            let _ = writeln!(out, "{} every promise holds", green("verified:"));
            return out;
        }
        let _ = writeln!(out, "{} {}", red("violations:"), grouped(self.violations.len()));
        for it in self.violations.iter().take(LISTED) {
            let _ = writeln!(out, "  {} line {}: {}", bold(&plain(&it.doc_id)), it.line, it.found);
        }
        out
    }
}
