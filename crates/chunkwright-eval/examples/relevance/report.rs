//! The tables of the report.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chunkwright_index::{Calibration, WEAK};

use crate::fit::{N, Row, fit};
use crate::{Asked, Kind, Seen};

pub(crate) const ABOUT: &str = "\
# Relevance

Made by `cargo run --release -p chunkwright-eval --example relevance`, from question sets that are not in the repository \
and from `eval/relevance.tsv`. A set is divided into repositories (projects, subjects, articles). The coefficients are \
fitted on every second one, and the tables show the others, which share no question with them; on the repositories of \
`eval/relevance.tsv` nothing is fitted.

Off topic are questions of other repositories of the same set or, where there is none, of the same language; those \
about flask, axum and hello-algo were written for it. Some have an answer all the same (\"See the documentation on \
installing packages\"). Keywords are the three rarest words of each question.

* `lost`: of the questions whose answer is among the first 5 hits, the share whose answer is below the default \
threshold (goal: at most 2 %); `said weak`: the share for which the best hit is below 0.5, so that the answer is found \
with a notice that it probably answers nothing;
* `nothing`: of the off-topic questions, the share that finds nothing; `or weak`: or is said to be weak (goal: at \
least 80 %);
* `nonsense`: of 200 nonsense queries (66 with e5), the share that finds nothing (goal: at least 90 %).

Figures are percent. Where a model reads less than half of a query, as `static` does of Chinese and Russian, words alone \
decide, with their own threshold. A set that was not indexed with a model is missing from its table.";

/// The greatest relevance among some hits; one that is not known is kept.
fn best<'a>(hits: impl Iterator<Item = &'a Seen>) -> Option<f64> {
    hits.map(|hit| hit.relevance.unwrap_or(1.0)).reduce(f64::max)
}

/// The share of `true`, in percent.
fn share(values: &[bool]) -> Option<f64> {
    let count = values.iter().filter(|value| **value).count();
    (!values.is_empty()).then(|| 100.0 * count as f64 / values.len() as f64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The queries by set, in order.
fn by_set(asked: &[Asked]) -> BTreeMap<&str, Vec<&Asked>> {
    let mut sets: BTreeMap<&str, Vec<&Asked>> = BTreeMap::new();
    for one in asked.iter().filter(|one| !one.is_fitted) {
        sets.entry(&one.set).or_default().push(one);
    }
    sets
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map(|value| format!("{value:.decimals$}")).unwrap_or_default()
}

pub(crate) fn table(asked: &[Asked], calibration: Calibration) -> String {
    let mut out = format!(
        "Default threshold: {}.\n\n| set | answers | lost | said weak | off topic | nothing | or weak | nonsense | median answer | median off topic |\n|{}\n",
        calibration.min_relevance,
        "---|".repeat(10)
    );
    let mut all: [Vec<f64>; 5] = Default::default();
    let (mut answers, mut off_topic) = (0, 0);
    for (set, asked) in by_set(asked) {
        let of = |kind: Kind| asked.iter().filter(move |one| one.kind == kind);
        let found: Vec<(f64, f64, f64)> = of(Kind::Answered)
            .filter_map(|one| {
                Some((
                    best(one.hits.iter().filter(|hit| hit.is_answer))?,
                    best(one.hits.iter())?,
                    one.threshold,
                ))
            })
            .collect();
        let bests = |kind| -> Vec<(f64, f64)> {
            of(kind).map(|one| (best(one.hits.iter()).unwrap_or_default(), one.threshold)).collect()
        };
        let (off, nonsense) = (bests(Kind::OffTopic), bests(Kind::Nonsense));
        let nothing =
            |bests: &[(f64, f64)]| share(&bests.iter().map(|(best, least)| best < least).collect::<Vec<_>>());
        let figures = [
            share(&found.iter().map(|(answer, _, least)| answer < least).collect::<Vec<_>>()),
            share(&found.iter().map(|(_, best, _)| *best < WEAK).collect::<Vec<_>>()),
            nothing(&off),
            share(&off.iter().map(|(best, _)| *best < WEAK).collect::<Vec<_>>()),
            nothing(&nonsense),
        ];
        all.iter_mut().zip(figures).for_each(|(all, figure)| all.extend(figure));
        (answers, off_topic) = (answers + found.len(), off_topic + off.len());
        let [lost, weak, nothing, or_weak, nonsense] = figures.map(|figure| number(figure, 1));
        let middles =
            [found.iter().map(|(answer, ..)| *answer).collect(), off.iter().map(|(best, _)| *best).collect()];
        let [answer, other] = middles.map(|values| number(median(values), 2));
        let _ = writeln!(
            out,
            "| {set} | {} | {lost} | {weak} | {} | {nothing} | {or_weak} | {nonsense} | {answer} | {other} |",
            found.len(),
            off.len()
        );
    }
    let [lost, weak, nothing, or_weak, nonsense] =
        all.map(|figures| number(Some(figures.iter().sum::<f64>() / figures.len().max(1) as f64), 1));
    let _ = write!(
        out,
        "| mean | {answers} | {lost} | {weak} | {off_topic} | {nothing} | {or_weak} | {nonsense} | | |"
    );
    out
}

/// How well three weights of words separate answers from what off-topic questions find.
pub(crate) fn weights(asked: &[Asked]) -> String {
    let names =
        ["every word the same", "rarity in general language", "rarity in the collection", "relevance"];
    let mut out = "How well the share of the words that a chunk has separates answers from what off-topic questions find, by \
        what a word counts: the probability that the answer to a question of a set has a greater share than the best \
        hit of an off-topic one, mean of the sets; and of the off-topic questions the share below 98 % of the \
        answers. `relevance` has function words, parts of identifiers and evidence as well.\n\n| a word counts | \
        probability | off topic below |\n|---|---|---|"
        .to_owned();
    for (at, name) in names.into_iter().enumerate() {
        let value = |hit: &Seen| hit.shares.get(at).copied().or(hit.relevance).unwrap_or_default();
        let greatest = |hits: &mut dyn Iterator<Item = &Seen>| hits.map(value).reduce(f64::max);
        let (mut probabilities, mut below) = (Vec::new(), Vec::new());
        for asked in by_set(asked).into_values() {
            let of = |kind: Kind| asked.iter().filter(move |one| one.kind == kind);
            let mut answers: Vec<f64> = of(Kind::Answered)
                .filter_map(|one| greatest(&mut one.hits.iter().filter(|hit| hit.is_answer)))
                .collect();
            let off: Vec<f64> =
                of(Kind::OffTopic).map(|one| greatest(&mut one.hits.iter()).unwrap_or_default()).collect();
            if answers.is_empty() || off.is_empty() {
                continue;
            }
            answers.sort_by(f64::total_cmp);
            let least = answers[answers.len() / 50];
            below.extend(share(&off.iter().map(|off| *off < least).collect::<Vec<_>>()));
            let wins = off.iter().map(|off| {
                let (equal, more) =
                    (answers.partition_point(|one| one < off), answers.partition_point(|one| one <= off));
                (answers.len() - more) as f64 + (more - equal) as f64 / 2.0
            });
            probabilities.push(100.0 * wins.sum::<f64>() / (off.len() * answers.len()) as f64);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let _ = write!(out, "\n| {name} | {:.1} | {:.1} |", mean(&probabilities), mean(&below));
    }
    out
}

/// What is fitted on the repositories for that.
pub(crate) struct Fitted {
    coefficients: [f64; N],
    /// The greatest threshold, in hundredths, that loses at most [`LOST`] of the answers.
    threshold: f64,
}

/// The share of answers that a threshold may lose, mean of the sets: what is left to the goal is for other sets.
const LOST: f64 = 0.015;

/// What off-topic questions weigh in the fit, where answers weigh 1: a reader believes a hit that is said to answer.
const OFF_TOPIC: f64 = 2.0;

/// The coefficients by the repositories that are fitted on. Each set weighs the same.
pub(crate) fn fitted(asked: &[Asked], with_cosine: bool) -> Fitted {
    let x = |hit: &Seen| {
        [1.0, if with_cosine { hit.cosine } else { 0.0 }, hit.words.coverage, hit.words.evidence]
    };
    let is_known = |hit: &&Seen| !with_cosine || hit.cosine > 0.0 && hit.relevance.is_some();
    let fitted_on = || asked.iter().filter(|one| one.is_fitted && one.is_read);
    let mut classes: BTreeMap<(&str, bool), Vec<&Seen>> = BTreeMap::new();
    for one in fitted_on() {
        let hits = one.hits.iter().filter(|hit| hit.is_answer || one.kind == Kind::OffTopic);
        classes.entry((&one.set, one.kind == Kind::Answered)).or_default().extend(hits.filter(is_known));
    }
    let rows = classes.into_iter().flat_map(|((_, is_answer), hits)| {
        let weight = if is_answer { 1.0 } else { OFF_TOPIC } / hits.len() as f64;
        hits.into_iter().map(move |hit| (x(hit), is_answer, weight))
    });
    let coefficients = fit(&rows.collect::<Vec<Row>>());
    let relevance = |hit: &Seen| {
        let sum: f64 = coefficients.iter().zip(x(hit)).map(|(b, x)| b * x).sum();
        1.0 / (1.0 + (-sum).exp())
    };
    let mut answers: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for one in fitted_on() {
        let hits = one.hits.iter().filter(|hit| hit.is_answer).filter(is_known).map(relevance);
        answers.entry(&one.set).or_default().extend(hits.reduce(f64::max));
    }
    answers.retain(|_, answers| !answers.is_empty());
    let lost = |threshold: f64| {
        let shares = answers.values().map(|answers| {
            answers.iter().filter(|answer| **answer < threshold).count() as f64 / answers.len() as f64
        });
        shares.sum::<f64>() / answers.len() as f64
    };
    let thresholds = (0..100).map(|hundredths| f64::from(hundredths) / 100.0);
    let threshold = thresholds.take_while(|threshold| lost(*threshold) <= LOST).last().unwrap_or_default();
    Fitted { coefficients, threshold }
}

pub(crate) fn coefficients(fitted: &[(Calibration, Fitted)]) -> String {
    let mut out = "The coefficients in use, and those that this run fitted, with the greatest threshold that loses at most 1.5 % of \
        the answers that they were fitted on. Those in use were fitted in the same way on the same half, with more pairs of repositories.\n\n| | intercept | cosine | coverage | evidence | threshold |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (calibration, Fitted { coefficients: [intercept, cosine, coverage, evidence], threshold }) in fitted {
        let Calibration {
            model, intercept: i, cosine_weight: a, coverage_weight: b, evidence_weight: c, ..
        } = calibration;
        let (name, least) = (model.unwrap_or("words alone"), calibration.min_relevance);
        let _ = writeln!(out, "| {name} | {i} | {a} | {b} | {c} | {least} |");
        let _ = writeln!(
            out,
            "| fitted | {intercept:.2} | {cosine:.2} | {coverage:.2} | {evidence:.2} | {threshold:.2} |"
        );
    }
    out
}
