//! Statistics of the chunks in a collection.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use chunkwright_engine::{Access, CollectionStatistics, Filter, StatisticsRequest};

use super::{DISTRIBUTION, distribution};
use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::progress::Progress;
use crate::text::{Table, grouped, plain};

/// Writes the statistics of the collection in force.
pub(super) fn run(
    global: &Global,
    flags: (&CollectionFlags, &OutputFlags),
    filter: Filter,
    cut: &CutFlags,
    coverage: bool,
) -> Result<Outcome> {
    let (collection, output) = flags;
    let results = output.check(global, &[])?;
    let engine = global.engine(&[cut, collection], Access::Read)?;
    let band = engine.settings().chunk.band_wanted();
    let request = StatisticsRequest { filter, band, ranges: Vec::new() };
    let found = engine.default_collection().read(|snapshot| {
        let statistics = snapshot.statistics(&request)?;
        let progress = coverage.then(|| Progress::new(global, statistics.documents, "documents"));
        let advance = || progress.iter().for_each(|progress| progress.advance(1));
        let coverage = coverage.then(|| snapshot.coverage(advance)).transpose()?;
        if let Some(progress) = progress {
            progress.finish();
        }
        Ok(CollectionStatistics { statistics, coverage })
    })?;
    results.only(&found, describe)?;
    let is_sound = found.coverage.as_ref().is_none_or(|it| it.violations.is_empty());
    let outcome = global.found(found.statistics.chunks, "no chunk was found");
    Ok(if is_sound { outcome } else { Outcome::Nothing })
}

fn describe(CollectionStatistics { statistics, coverage }: &CollectionStatistics) -> String {
    let percent = |part: usize, whole: usize| format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64);
    let share = |part: usize| percent(part, statistics.chunks);
    let mut counts = Table::new(["", "", ""]);
    counts.row(["documents".into(), grouped(statistics.documents), String::new()]);
    counts.row(["chunks".into(), grouped(statistics.chunks), String::new()]);
    counts.row(["disabled".into(), grouped(statistics.disabled), share(statistics.disabled)]);
    let repeated = &statistics.repeated;
    if repeated.chunks > 0 {
        let texts = format!("{} texts that several chunks have", grouped(repeated.texts));
        counts.row(["of repeated text".into(), grouped(repeated.chunks), texts]);
    }
    if let Some(found) = coverage {
        let lines = &found.coverage;
        counts.row(["lines".into(), grouped(lines.lines), "not blank".into()]);
        let held = percent(lines.lines_in_chunks, lines.lines);
        counts.row(["lines in chunks".into(), grouped(lines.lines_in_chunks), held]);
        for (reason, number) in &lines.skipped {
            counts.row([format!("skipped: {reason}"), grouped(*number), "files or folders".into()]);
        }
    }
    let mut sizes = Table::new(DISTRIBUTION);
    sizes.row(distribution("tokens", &statistics.tokens));
    let mut kinds = Table::new(["", "chunks", "share"]);
    let mut rows = |name: &str, counts: &BTreeMap<String, usize>| {
        for (value, count) in counts {
            kinds.row([format!("{name} {}", plain(value)), grouped(*count), share(*count)]);
        }
    };
    rows("version", &statistics.strategy_versions);
    rows("content", &statistics.content_types);
    rows("cut", &statistics.cuts);
    rows("type", &statistics.chunk_types);
    rows("category", &statistics.categories);
    rows("language", &statistics.languages);
    for (level, count) in &statistics.levels {
        kinds.row([format!("level {}", level.as_str()), grouped(*count), share(*count)]);
    }
    for range in statistics.token_histogram.iter().filter(|range| range.chunks > 0) {
        let to = range.to.map_or_else(|| " or more".to_owned(), |to| format!(" to {to}"));
        kinds.row([format!("{}{to} tokens", range.from), grouped(range.chunks), share(range.chunks)]);
    }
    let mut out = format!("{counts}\n{sizes}\n{kinds}");
    // Writing to a string cannot fail.
    if let (Some([from, to]), Some(ratio)) = (statistics.band, statistics.optimal_ratio) {
        let _ = writeln!(out, "\n{:.1}% of the chunks have {from} to {to} tokens", 100.0 * ratio);
    }
    if let Some(advice) = &statistics.advice {
        let _ = writeln!(out, "{advice}");
    }
    for violation in coverage.iter().flat_map(|found| &found.violations) {
        let _ = writeln!(out, "{}:{}: {}", plain(&violation.doc_id), violation.line, violation.found);
    }
    out
}
