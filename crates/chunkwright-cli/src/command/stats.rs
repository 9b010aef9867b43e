//! `chunkwright stats`

mod collection;

use std::fmt::Write;

use anyhow::Result;
use chunkwright::Unit;
use chunkwright::stats::Distribution;
use chunkwright_engine::{Access, DocumentStatistics, Filter};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::input::{InputFlags, report};
use crate::output::OutputFlags;
use crate::progress::Progress;
use crate::text::{Table, bold, dim, green, grouped, plain, red};

/// Measure the chunks of documents, or count those of a collection
///
/// Reports counts, the distribution of sizes and tokens, levels, and coverage: how many non-blank lines are in a
/// chunk, and which files were skipped and why. Every chunk is verified: its content is exactly its bytes of the
/// source, a recount of its text is within the limit, no two chunks share an id, and every visible character is in a
/// chunk. A violation makes the exit status 1.
///
/// With --collection, counts the chunks stored there instead: by version, kind, level, language and the rule by which
/// they begin, with the distribution of their tokens and how many have the same text as another. The exit status is 1
/// if there are none. With --coverage, it compares them with the stored documents too, and says what the last run left
/// out.
#[derive(Debug, clap::Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    cut: CutFlags,
    /// With --collection, only chunks that match: conditions as in `chunkwright search --filter`
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse, requires = "collection")]
    filter: Vec<Filter>,
    /// With --collection, read every document as well and say how many of its lines are in chunks
    #[arg(long, requires = "collection")]
    coverage: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Stats {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        if self.collection.is_named() {
            let filter = self.filter.iter().cloned().fold(Filter::default(), Filter::and);
            return collection::run(global, (&self.collection, &self.output), filter, &self.cut, self.coverage);
        }
        let results = self.output.check(global, &[&self.input, &self.cut])?;
        let engine = global.engine_on(Some(self.input.threads), &[&self.cut, &self.input.files], Access::NoStore)?;
        let mut documents = engine.documents(&self.input.request(&results, None))?;
        let progress = Progress::new(global, documents.len(), "documents");
        let measured = documents.statistics(|| progress.advance(1));
        progress.finish();
        let statistics = measured?;
        let min_size = documents.chunker().config().min_size;
        results.only(&statistics, |statistics| describe(statistics, min_size))?;
        let read = documents.report();
        report(global, &read);
        if !read.errors.is_empty() {
            return Ok(Outcome::Failed);
        }
        if statistics.documents == 0 {
            global.say("no document was found at the given paths");
        }
        let is_sound = statistics.documents > 0 && statistics.violations.is_empty();
        Ok(if is_sound { Outcome::Success } else { Outcome::Nothing })
    }
}

/// The columns of a distribution.
const DISTRIBUTION: [&str; 8] = ["", "mean", "min", "p10", "p50", "p90", "p99", "max"];

fn distribution(name: &str, it: &Distribution) -> [String; 8] {
    let [min, p10, p50, p90, p99, max] = [it.min, it.p10, it.p50, it.p90, it.p99, it.max].map(grouped);
    [name.into(), format!("{:.1}", it.mean), min, p10, p50, p90, p99, max]
}

/// Maximum number of violations listed for people.
const LISTED: usize = 20;

fn describe(measured: &DocumentStatistics, min_size: usize) -> String {
    let unit = measured.unit.noun();
    let percent = |part: usize, whole: usize| match whole {
        0 => String::new(),
        _ => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
    };
    let mut counts = Table::new(["", "", ""]);
    let mut row = |name: &str, number: usize, note: &str| counts.row([name.into(), grouped(number), dim(note)]);
    row("documents", measured.documents, &format!("{} of them without visible text", measured.empty));
    row("bytes", measured.bytes, "");
    row("chunks", measured.chunks, &format!("{}, preset `{}`", measured.strategy_version, plain(&measured.preset)));
    row("below the minimum", measured.below_min, &format!("{}, of {min_size} {unit}", percent(measured.below_min, measured.chunks)));
    row("kept over the limit", measured.oversize, &format!("of {} {unit}", measured.max_size));
    row("lines", measured.coverage.lines, "not blank");
    row("lines in chunks", measured.coverage.lines_in_chunks, &percent(measured.coverage.lines_in_chunks, measured.coverage.lines));
    for (reason, number) in &measured.coverage.skipped {
        row(&format!("skipped: {reason}"), *number, "files or folders");
    }
    let mut sizes = Table::new(DISTRIBUTION);
    let sizes_in = format!("{unit} ({})", if measured.unit == Unit::Tokens { &measured.tokenizer } else { "size" });
    sizes.row(distribution(&sizes_in, &measured.sizes));
    if measured.unit == Unit::Chars {
        sizes.row(distribution(&format!("tokens ({})", measured.tokenizer), &measured.tokens));
    }
    let mut kinds = Table::new(["", "chunks", "share"]);
    for (name, number) in &measured.content_types {
        kinds.row([name.clone(), grouped(*number), percent(*number, measured.chunks)]);
    }
    for (name, number) in &measured.cuts {
        kinds.row([format!("cut {name}"), grouped(*number), percent(*number, measured.chunks)]);
    }
    for (level, number) in &measured.levels {
        let level = format!("{level:?}").to_lowercase();
        kinds.row([format!("level {level}"), grouped(*number), percent(*number, measured.chunks)]);
    }
    let mut out = format!("{counts}\n{sizes}\n{kinds}\n");
    // Writing to a string cannot fail.
    if let (Some([from, to]), Some(ratio)) = (measured.band, measured.optimal_ratio) {
        let _ = writeln!(out, "{:.1}% of the chunks have {from} to {to} {unit}", 100.0 * ratio);
    }
    if let Some(advice) = &measured.advice {
        let _ = writeln!(out, "{advice}");
    }
    if measured.violations.is_empty() {
        let _ = writeln!(out, "{} every promise holds", green("verified:"));
        return out;
    }
    let _ = writeln!(out, "{} {}", red("violations:"), grouped(measured.violations.len()));
    for it in measured.violations.iter().take(LISTED) {
        let _ = writeln!(out, "  {} line {}: {}", bold(&plain(&it.doc_id)), it.line, it.found);
    }
    out
}
