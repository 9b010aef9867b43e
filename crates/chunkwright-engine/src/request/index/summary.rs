//! The report of a run in words, for terminals, MCP tools and the list of jobs.

use crate::request::index::IndexAnswer;
use crate::words::{count, grouped, listed};

/// Runs longer than this, in milliseconds, report where the time went without being asked.
const LONG_MS: u64 = 10_000;

/// Maximum number of renamed documents that are named.
const NAMED: usize = 5;

/// A summary of a run: one line per topic, without line breaks. `None` if there is nothing to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSummary {
    /// How many documents were indexed.
    pub indexed: String,
    /// What became of the other documents.
    pub others: Option<String>,
    /// Which documents have another id than before.
    pub renamed: Option<String>,
    /// What became of chunks.
    pub chunks: Option<String>,
    /// What was embedded.
    pub texts: Option<String>,
    /// What became of notes.
    pub notes: Option<String>,
    /// How changes made by hand stand.
    pub overlays: Option<String>,
    /// Where the time went.
    pub times: Option<String>,
    /// Whether the run took so long that the times are worth showing.
    pub is_long: bool,
}

impl IndexAnswer {
    /// Summarises the run in words.
    pub fn summary(&self) -> IndexSummary {
        let report = &self.report;
        let verb = if self.dry_run { "would be indexed" } else { "indexed" };
        let seconds = |ms: u64| format!("{:.1}", ms as f64 / 1e3);
        let times = report.timings.map(|timings| {
            let [total, read, cut, embed, store] =
                [timings.total_ms, timings.read_ms, timings.cut_ms, timings.embed_ms, timings.store_ms]
                    .map(seconds);
            format!("{total} s: reading {read}, cutting {cut} (on all threads), embedding {embed}, storing {store}")
        });
        IndexSummary {
            indexed: format!("{} {verb}", count(report.indexed, "document")),
            others: self.others(),
            renamed: self.renamed(),
            chunks: self.chunks(),
            texts: self.texts(),
            notes: self.notes(),
            overlays: labelled(
                "overlays",
                &[
                    (report.overlays.on, "applied"),
                    (report.overlays.carried, "carried"),
                    (report.overlays.conflict, "in conflict"),
                    (report.overlays.orphaned, "orphaned"),
                ],
            ),
            times,
            is_long: report.timings.is_some_and(|timings| timings.total_ms >= LONG_MS),
        }
    }

    fn others(&self) -> Option<String> {
        let report = &self.report;
        let others = listed(&[
            (report.unchanged, "unchanged"),
            (report.empty, "empty"),
            (report.carried, "of other paths"),
            (report.pruned.len(), if self.dry_run { "would be pruned" } else { "pruned" }),
            (report.left_out.len(), if self.dry_run { "would be left out" } else { "left out" }),
            (report.skipped.len(), "skipped"),
            (report.failed.len(), "failed"),
            (report.generated, "generated"),
            (report.minified, "minified"),
        ]);
        (!others.is_empty()).then_some(others)
    }

    fn renamed(&self) -> Option<String> {
        let renamed = &self.report.renamed;
        let named = renamed.iter().take(NAMED);
        let mut parts: Vec<String> = named.map(|it| format!("`{}` to `{}`", it.from, it.to)).collect();
        if renamed.len() > NAMED {
            parts.push(format!("{} more", grouped(renamed.len() - NAMED)));
        }
        (!parts.is_empty()).then(|| format!("renamed: {}", parts.join(", ")))
    }

    fn chunks(&self) -> Option<String> {
        let report = &self.report;
        labelled(
            "chunks",
            &[
                (report.added, "added"),
                (report.changed, "changed"),
                (report.moved, "moved"),
                (report.removed, "removed"),
                (report.kept, "kept"),
            ],
        )
    }

    fn texts(&self) -> Option<String> {
        let report = &self.report;
        let verb = if self.dry_run { "to embed" } else { "embedded" };
        let embedded = (report.embedded > 0).then(|| {
            let (texts, tokens) = (count(report.embedded, "text"), count(report.tokens_to_embed, "token"));
            format!("{texts} {verb} ({tokens}{})", cost(report.cost))
        });
        let rest = listed(&[
            (report.reused, "vectors reused"),
            (report.pending, "chunks without a vector"),
            (report.truncated, "texts longer than the model reads"),
        ]);
        let parts: Vec<String> = embedded.into_iter().chain((!rest.is_empty()).then_some(rest)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn notes(&self) -> Option<String> {
        let report = &self.report;
        let notes = labelled(
            "notes",
            &[
                (report.notes, "written"),
                (report.notes_reused, "reused"),
                (report.notes_pending, "missing"),
                (report.notes_tokens, "tokens"),
            ],
        );
        notes.map(|notes| notes + &cost(report.notes_cost))
    }
}

fn labelled(label: &str, numbers: &[(usize, &str)]) -> Option<String> {
    let listed = listed(numbers);
    (!listed.is_empty()).then(|| format!("{label}: {listed}"))
}

fn cost(cost: Option<f64>) -> String {
    cost.map_or_else(String::new, |cost| format!(", cost {cost:.4}"))
}
