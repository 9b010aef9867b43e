//! Statistics of the chunks of a collection: of all, or of those that match a filter.

use axum::extract::State;
use chunkwright_engine::{CollectionCoverage, MOST_RANGES, Statistics, StatisticsRequest};
use schemars::JsonSchema;
use serde::Deserialize;

use super::OfCollection;
use super::chunks::filter;
use crate::answer::{Has, Tagged};
use crate::app::Shared;
use crate::extract::{Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

pub(super) fn add(resources: Resources) -> Resources {
    let statistics = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/statistics",
        "get_statistics",
        "Counts the chunks that pass a filter: by type, language, level, size and rule, and those that have the same text.",
    );
    let coverage = Operation::read(
        Method::Get,
        "/api/v1/collections/{collection}/coverage",
        "get_coverage",
        "Compares the chunks of every document with its source: which lines are in chunks, and what was left out.",
    );
    resources.add("chunks", &statistics, count).add("chunks", &coverage, cover)
}

/// Which chunks are counted.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Counted {
    /// Only chunks that pass: an expression such as `language=rust and token_count<200`.
    #[schemars(extend("format" = "filter"))]
    filter: String,
    /// Token counts that are wanted, both ends included, such as `410-614`.
    #[schemars(regex(pattern = "^[0-9]{1,9}-[0-9]{1,9}$"))]
    band: Option<String>,
    /// Where the ranges of the histogram begin, such as `0,64,128`, at most 256 of them.
    #[schemars(regex(pattern = "^[0-9]{1,9}(,[0-9]{1,9}){0,255}$"))]
    ranges: Option<String>,
}

async fn count(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Query(Counted { filter: text, band, ranges }): Query<Counted>,
    has: Has,
) -> Result<Tagged<Statistics>, Problem> {
    let band = band.as_deref().map(range).transpose()?;
    let ranges = ranges.as_deref().map(starts).transpose()?.unwrap_or_default();
    let request = StatisticsRequest { filter: filter(&text)?, band, ranges };
    has.tagged(&app.read(collection, move |snapshot| snapshot.statistics(&request)).await?)
}

async fn cover(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    has: Has,
) -> Result<Tagged<CollectionCoverage>, Problem> {
    has.tagged(&app.read(collection, |snapshot| snapshot.coverage(|| ())).await?)
}

fn starts(ranges: &str) -> Result<Vec<usize>, Problem> {
    let starts: Option<Vec<usize>> = ranges.split(',').map(|start| start.parse().ok()).collect();
    starts.filter(|starts| starts.len() <= MOST_RANGES).ok_or_else(|| {
        Problem::invalid(format!(
            "`ranges` is `{ranges}`; it must be at most {MOST_RANGES} numbers such as `0,64,128`"
        ))
    })
}

fn range(band: &str) -> Result<[usize; 2], Problem> {
    let numbers =
        band.split_once('-').and_then(|(least, most)| Some([least.parse().ok()?, most.parse().ok()?]));
    numbers
        .filter(|[least, most]| least <= most)
        .ok_or_else(|| Problem::invalid(format!("`band` is `{band}`; it must be a range such as `410-614`")))
}
