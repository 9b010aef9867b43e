//! Statistics of what a collection holds.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use chunkwright_engine::{Access, Filter, Statistics, StatisticsRequest};

use super::{DISTRIBUTION, distribution};
use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, grouped, plain};

/// Writes the statistics of the collection in force.
pub(super) fn run(
    global: &Global,
    flags: (&CollectionFlags, &OutputFlags),
    filter: Filter,
    cut: &CutFlags,
) -> Result<Outcome> {
    let (collection, output) = flags;
    let engine = global.engine(&[cut, collection], Access::Read)?;
    let request = StatisticsRequest { filter, band: engine.settings().chunk.band_wanted() };
    let statistics = engine.default_collection().read(|snapshot| snapshot.statistics(&request))?;
    output.only(&statistics, describe)?;
    Ok(global.found(statistics.chunks, "no chunk was found"))
}

fn describe(statistics: &Statistics) -> String {
    let share = |part: usize| format!("{:.1}%", 100.0 * part as f64 / statistics.chunks.max(1) as f64);
    let mut counts = Table::new(["", "", ""]);
    counts.row(["documents".into(), grouped(statistics.documents), String::new()]);
    counts.row(["chunks".into(), grouped(statistics.chunks), String::new()]);
    counts.row(["disabled".into(), grouped(statistics.disabled), share(statistics.disabled)]);
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
    out
}
