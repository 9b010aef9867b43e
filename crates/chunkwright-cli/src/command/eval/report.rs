//! Prints the report of an evaluation for people.

use std::fmt::Write as _;

use chunkwright::Unit;
use chunkwright_engine::EvaluateAnswer;
use chunkwright_engine::evaluation::{Report, Run};

use crate::text::{Table, bold, count, green, grouped, plain, red};

/// The report for people: percentages, and only the main measures.
pub(super) fn describe(answer: &EvaluateAnswer) -> String {
    let EvaluateAnswer { report, main_measures } = answer;
    let run = &report.run;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", bold(&described(run)));
    if run.documents > 0 {
        let _ = writeln!(out, "\n{}", sizes(report));
    }
    if run.questions > 0 {
        let mut modes: Vec<&str> = report.retrieval.iter().map(|line| line.mode).collect();
        modes.dedup();
        for mode in modes {
            let _ = writeln!(out, "{}", figures(report, mode, main_measures));
        }
    }
    if !report.stability.is_empty() {
        let _ = writeln!(out, "{}", edits(report));
    }
    out
}

fn sizes(report: &Report) -> Table {
    let has_band = report.retrieval.iter().any(|line| line.sizes.in_band.is_some());
    let header = ["preset", "max_size", "chunks", "mean", "p50", "p95", "max", "covered", "over limit"];
    let mut table = Table::new(header.into_iter().chain(has_band.then_some("in band")));
    let first = report.retrieval.first().map(|line| line.mode);
    for line in report.retrieval.iter().filter(|line| Some(line.mode) == first) {
        let sizes = &line.sizes;
        let limits: Vec<String> = line.max_sizes.iter().map(ToString::to_string).collect();
        let over = match (sizes.oversize, sizes.over_limit) {
            (kept, 0) => grouped(kept),
            (kept, broken) => red(&format!("{kept} kept, {broken} broken")),
        };
        let mut cells = vec![
            plain(&line.preset),
            format!("{}{}", limits.join(","), if line.unit == Unit::Chars { " chars" } else { "" }),
            grouped(sizes.chunks),
            format!("{:.1}", sizes.mean),
            grouped(sizes.p50),
            grouped(sizes.p95),
            grouped(sizes.max),
            format!("{:.2}%", 100.0 * sizes.covered),
            over,
        ];
        cells.extend(sizes.in_band.map(|share| format!("{:.1}%", 100.0 * share)));
        table.row(cells);
    }
    table
}

fn figures(report: &Report, mode: &str, names: &[String]) -> String {
    let first = format!("{mode}, %");
    let mut table = Table::new(std::iter::once(&first).chain(names));
    let mut differences = Table::new(std::iter::once(&format!("minus {}", report.run.baseline)).chain(names));
    let percent = |share: f64| share * 100.0;
    for line in report.retrieval.iter().filter(|line| line.mode == mode) {
        let mut own = vec![plain(&line.preset)];
        let mut other = own.clone();
        for name in names {
            let Some((_, value)) = line.measures.iter().find(|(measure, _)| measure == name) else { continue };
            let half = percent(value.own.high - value.own.low) / 2.0;
            own.push(format!("{:.1} ±{half:.1}", percent(value.own.mean)));
            let Some(by) = value.difference else { continue };
            let (mean, low, high) = (percent(by.mean), percent(by.low), percent(by.high));
            let text = format!("{mean:+.1} [{low:+.1},{high:+.1}]");
            other.push(match (low > 0.0, high < 0.0) {
                (true, _) => green(&format!("{text}*")),
                (_, true) => red(&format!("{text}*")),
                _ => text,
            });
        }
        table.row(own);
        if other.len() > 1 {
            differences.row(other);
        }
    }
    if differences.is_empty() { table.to_string() } else { format!("{table}\n{differences}") }
}

fn edits(report: &Report) -> Table {
    let header =
        ["preset", "edits", "number", "changed", "p50", "p99", "max", "own text", "p99", "max", "kept"];
    let rest = ["ids != texts", "ids renamed", "tokens to embed"];
    let mut table = Table::new(header.into_iter().chain(rest));
    for line in &report.stability {
        let it = &line.stability;
        table.row([
            plain(&line.preset),
            plain(&it.edits),
            grouped(it.count),
            format!("{:.2}", it.changed.mean),
            grouped(it.changed.p50),
            grouped(it.changed.p99),
            grouped(it.changed.max),
            format!("{:.2}", it.own_changed.mean),
            grouped(it.own_changed.p99),
            grouped(it.own_changed.max),
            format!("{:.1}%", 100.0 * it.kept),
            grouped(it.unequal),
            if it.renamed == 0 { "0".into() } else { red(&grouped(it.renamed)) },
            format!("{:.0}", it.tokens_to_embed),
        ]);
    }
    table
}

/// A one-line description of what was measured.
fn described(run: &Run) -> String {
    let mut parts = Vec::new();
    if run.questions > 0 {
        let asked = count(run.questions, "question");
        let embedder = run.embedder.as_deref().unwrap_or("words only");
        parts.push(format!("{asked} on {}, {embedder}", count(run.documents, "document")));
    } else {
        parts.push(count(run.documents, "document"));
    }
    if run.edits > 0 {
        parts.push(format!("{} ({})", count(run.edits, "edit"), run.edits_from.join(", ")));
    }
    parts.push(format!("tokens by {}", run.budget_tokenizer));
    plain(&parts.join("; "))
}
