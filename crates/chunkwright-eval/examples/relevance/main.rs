//! Measures the relevance of hits: what the default threshold loses of real answers, and what it lets pass of nonsense.
//!
//! ```text
//! cargo run --release -p chunkwright-eval --example relevance -- DATA STORE > eval/relevance.md
//! ```
//!
//! DATA holds question sets, folders with `questions.jsonl` and `docs/`; STORE is a store with a collection `SET-MODEL`
//! of each that is to be measured, where MODEL is `static` or `e5` (`cd DATA/SET/docs && chunkwright index . -c SET-MODEL
//! --embedder MODEL --store STORE`). Questions by even numbers are what `CALIBRATIONS` is fitted on, anew here: the
//! coefficients are in the last table. The figures are those of the questions by odd numbers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use chunkwright_eval::nonsense::nonsense;
use chunkwright_index::bm25::TermCounts;
use chunkwright_index::{
    Access, CALIBRATIONS, Calibration, Generation, Hit, LEXICAL, Mode, Models, QueryWords, SearchOptions,
    Store, StoreLocation, open_store, search,
};
use chunkwright_models::Embedder;
use serde_json::Value;

/// Most questions of a set, evenly drawn.
const MOST: usize = 200;

/// Number of nonsense queries.
const NONSENSE: usize = 200;

/// Hits that are examined: as many as a search shows by default.
const TOP: usize = 5;

/// Sets of one text in several languages: the questions of one are asked of the other.
const ACROSS: [(&str, &str); 3] =
    [("xquad-en", "xquad-zh"), ("xquad-zh", "xquad-en"), ("xquad-ru", "xquad-en")];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A hit, as far as its relevance goes.
struct Seen {
    /// `None` if unknown: such a hit is kept.
    relevance: Option<f64>,
    cosine: f64,
    coverage: f64,
    is_answer: bool,
}

/// A query and its first hits.
struct Asked {
    is_nonsense: bool,
    /// Whether the model reads its writing system; otherwise lexical search alone decides.
    is_read: bool,
    /// The default threshold for it.
    threshold: f64,
    hits: Vec<Seen>,
}

/// One line of the table.
struct Line {
    set: String,
    queries: Vec<Asked>,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, run by hand")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, store] = &arguments[..] else { return Err("usage: relevance DATA STORE".into()) };
    let store = open_store(&StoreLocation::folder(Path::new(store)), Access::Read)?;
    let models = chunkwright_models::data_dir(None)?;
    println!("# Relevance\n\nMade by `cargo run --release -p chunkwright-eval --example relevance`. {ABOUT}");
    let mut fitted = Vec::new();
    for (name, calibration) in [("none", LEXICAL), ("static", CALIBRATIONS[1]), ("e5", CALIBRATIONS[0])] {
        let embedder = match name {
            "none" => None,
            name => Some(chunkwright_models::embedder(name, &models)?),
        };
        let mut lines = Vec::new();
        for set in sets(Path::new(data))? {
            // Lexical results are the same, whatever the vectors are.
            let collection = format!("{set}-{}", name.replace("none", "static"));
            let Ok(generation) = store.open(&collection) else { continue };
            if !store.is_complete(&generation)? {
                continue;
            }
            eprintln!("{name} {set}");
            let questions = questions(Path::new(data), &set, &set)?;
            let bench = Bench { store: &*store, generation, embedder: embedder.as_deref(), calibration };
            let mut queries = bench.ask_all(&questions)?;
            for query in nonsense(NONSENSE, 0) {
                queries.push(bench.ask(&query.text, None)?);
            }
            lines.push(Line { set: set.clone(), queries });
            for (from, _) in ACROSS.iter().filter(|(_, to)| name == "e5" && *to == set) {
                let queries = bench.ask_all(&self::questions(Path::new(data), from, &set)?)?;
                lines.push(Line { set: format!("{set}, asked in {}", &from[from.len() - 2..]), queries });
            }
        }
        println!(
            "\n## {}\n\n{}",
            calibration.model.unwrap_or("Words alone"),
            table(&lines, calibration.min_relevance).trim_end()
        );
        fitted.push((calibration, fit(&lines, calibration.model.is_some())));
    }
    println!("\n## Coefficients\n\n{}", coefficients(&fitted).trim_end());
    Ok(())
}

const ABOUT: &str = "\
The tables show the default threshold on questions that the coefficients were not fitted on. `lost`: of the \
questions whose answer is among the first 5 hits, the share whose answer is below the threshold (goal: at \
most 2 %). `nonsense: nothing found`: of 200 nonsense queries, the share without a hit (goal: at least 90 \
%). `lost at 0.1` and the like: the same with a threshold of 0.1. Figures are percent, of at most 200 \
questions a set. Where a model reads less than half of a query, as `static` does of Chinese and Russian, \
words alone decide, with their own threshold. A question in another script than the text is not judged (1.00 \
here) and keeps its hits. A set that was not indexed with a model is missing from its table.";

/// Names of the sets.
fn sets(data: &Path) -> Result<Vec<String>> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(data)? {
        let path = entry?.path();
        if path.join("questions.jsonl").is_file() {
            sets.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    sets.sort();
    Ok(sets)
}

/// The questions of a set, with the places of the answers in another one of the same documents.
fn questions(data: &Path, from: &str, to: &str) -> Result<Vec<(String, Value)>> {
    let read = |set: &str| std::fs::read_to_string(data.join(set).join("questions.jsonl"));
    let (asked, answers) = (read(from)?, read(to)?);
    let pairs: Vec<(&str, &str)> = asked.lines().zip(answers.lines()).collect();
    let most = if from == to { MOST } else { MOST / 2 };
    let step = (pairs.len() / most).max(1);
    let mut questions = Vec::new();
    for (asked, answer) in pairs.into_iter().step_by(step) {
        let (asked, answer): (Value, Value) = (serde_json::from_str(asked)?, serde_json::from_str(answer)?);
        questions.push((asked["q"].as_str().unwrap_or_default().to_owned(), answer));
    }
    Ok(questions)
}

struct Bench<'a> {
    store: &'a dyn Store,
    generation: Generation,
    embedder: Option<&'a dyn Embedder>,
    calibration: Calibration,
}

impl Bench<'_> {
    fn ask_all(&self, questions: &[(String, Value)]) -> Result<Vec<Asked>> {
        let asked = questions.iter().map(|(question, answer)| self.ask(question, Some(answer)));
        asked.collect()
    }

    /// Asks one query.
    fn ask(&self, query: &str, answer: Option<&Value>) -> Result<Asked> {
        let mode = if self.embedder.is_some() { Mode::Hybrid } else { Mode::Lexical };
        let options = SearchOptions { mode, top_k: 2 * TOP, ..SearchOptions::default() };
        let models = Models { embedder: self.embedder, ..Models::default() };
        let found = search(self.store, &self.generation, models, query, &options)?;
        let words = QueryWords::of(query);
        let place = |hit: &Hit, name: &str| {
            let places = answer.and_then(|answer| answer[name].as_array()).into_iter().flatten();
            places.into_iter().any(|place| {
                let at = |name: &str| place[name].as_u64().unwrap_or_default();
                place["doc"] == hit.record.doc_id.as_str()
                    && at("start") < u64::from(hit.record.end_char)
                    && at("end") > u64::from(hit.record.start_char)
            })
        };
        let hits = found.hits.iter().filter(|hit| !place(hit, "exclude")).take(TOP);
        let seen = hits.map(|hit| Seen {
            relevance: hit.relevance,
            cosine: hit.dense.map_or(0.0, |stage| stage.score),
            coverage: words.coverage(&TermCounts::of(&hit.record.text)),
            is_answer: place(hit, "gold"),
        });
        let is_read = self.embedder.is_some_and(|embedder| embedder.model().reads.share_of(query) >= 0.5);
        let by_words = self.embedder.is_some() && !is_read;
        let threshold = if by_words { LEXICAL.min_relevance } else { self.calibration.min_relevance };
        Ok(Asked { is_nonsense: answer.is_none(), is_read: !by_words, threshold, hits: seen.collect() })
    }
}

/// The greatest relevance of what counts in a query: of the answers to a question, of all hits of nonsense.
fn best(asked: &Asked) -> Option<f64> {
    let hits = asked.hits.iter().filter(|hit| hit.is_answer || asked.is_nonsense);
    let best = hits
        .map(|hit| hit.relevance.unwrap_or(1.0))
        .fold(None, |best: Option<f64>, one| Some(best.map_or(one, |best| best.max(one))));
    if asked.is_nonsense { Some(best.unwrap_or(0.0)) } else { best }
}

/// The share of those that are below a threshold, or below their own.
fn share(values: &[(f64, f64)], threshold: Option<f64>) -> String {
    if values.is_empty() {
        return String::new();
    }
    let count = values.iter().filter(|(value, own)| *value < threshold.unwrap_or(*own)).count();
    format!("{:.1}", 100.0 * count as f64 / values.len() as f64)
}

fn table(lines: &[Line], threshold: f64) -> String {
    let thresholds = [0.1, 0.2, 0.3, 0.5];
    let mut out =
        format!("Default threshold: {threshold}.\n\n| set | answers | lost | nonsense: nothing found |");
    for threshold in thresholds {
        let _ = write!(out, " lost at {threshold} | nothing at {threshold} |");
    }
    out += " median answer |\n|---|---|---|---|";
    out += &"---|---|".repeat(thresholds.len());
    out += "---|\n";
    for Line { set, queries } in lines {
        let figure = |asked: &Asked| best(asked).map(|best| (best, asked.threshold));
        let odd = queries.iter().enumerate().filter(|(at, asked)| at % 2 == 1 && !asked.is_nonsense);
        let mut answers: Vec<(f64, f64)> = odd.filter_map(|(_, asked)| figure(asked)).collect();
        let nothing: Vec<(f64, f64)> =
            queries.iter().filter(|asked| asked.is_nonsense).filter_map(figure).collect();
        answers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let median = answers.get(answers.len() / 2).map_or(0.0, |(median, _)| *median);
        let _ = write!(
            out,
            "| {set} | {} | {} | {} |",
            answers.len(),
            share(&answers, None),
            share(&nothing, None)
        );
        for threshold in thresholds.map(Some) {
            let _ = write!(out, " {} | {} |", share(&answers, threshold), share(&nothing, threshold));
        }
        let _ = writeln!(out, " {median:.2} |");
    }
    out
}

/// Strength of the regularization of coefficients, with a set's answers weighing as much as its nonsense: the classes
/// hardly overlap, and without it every relevance would be 0 or 1.
const RIDGE: f64 = 0.003;

/// Number of coefficients.
const N: usize = 3;

/// Intercept and the weights of cosine and coverage, of a logistic regression, by Newton's method. Each set weighs the
/// same, and in it answers and nonsense.
fn fit(lines: &[Line], with_cosine: bool) -> [f64; N] {
    let mut rows: Vec<([f64; N], f64, f64)> = Vec::new();
    for Line { queries, .. } in lines {
        let mut classes: BTreeMap<bool, Vec<&Seen>> = BTreeMap::new();
        for (_, asked) in queries.iter().enumerate().filter(|(at, asked)| at % 2 == 0 && asked.is_read) {
            let hits = asked.hits.iter().filter(|hit| hit.is_answer || asked.is_nonsense);
            let known = hits.filter(|hit| !with_cosine || hit.cosine > 0.0 && hit.relevance.is_some());
            classes.entry(asked.is_nonsense).or_default().extend(known);
        }
        if classes.len() < 2 || classes.values().any(|hits| hits.len() < 10) {
            continue;
        }
        for (is_nonsense, hits) in &classes {
            let weight = 1.0 / hits.len() as f64 / lines.len() as f64;
            for hit in hits {
                let cosine = if with_cosine { hit.cosine } else { 0.0 };
                rows.push(([1.0, cosine, hit.coverage], f64::from(u8::from(!is_nonsense)), weight));
            }
        }
    }
    // A cosine has a narrower range in some models than in others: the ridge is on standard deviations.
    let total: f64 = rows.iter().map(|(.., weight)| weight).sum();
    let mean = |at: usize| rows.iter().map(|(x, _, weight)| x[at] * weight).sum::<f64>() / total;
    let means = [0.0, mean(1), mean(2)];
    let deviation = |at: usize| {
        let sum: f64 = rows.iter().map(|(x, _, weight)| (x[at] - means[at]).powi(2) * weight).sum();
        (sum / total).sqrt().max(1e-9)
    };
    let scales = [1.0, deviation(1), deviation(2)];
    let mut b = [0.0; N];
    for _ in 0..100 {
        let (mut gradient, mut hessian) = ([0.0; N], [[0.0; N]; N]);
        for (x, wanted, weight) in &rows {
            let z: [f64; N] = std::array::from_fn(|at| (x[at] - means[at]) / scales[at]);
            let p = 1.0 / (1.0 + (-b.iter().zip(z).map(|(b, z)| b * z).sum::<f64>()).exp());
            for i in 0..N {
                gradient[i] += weight * (wanted - p) * z[i];
                (0..N).for_each(|j| hessian[i][j] += weight * p * (1.0 - p) * z[i] * z[j]);
            }
        }
        for i in 1..N {
            gradient[i] -= RIDGE * b[i];
            hessian[i][i] += RIDGE;
        }
        let step = solved(hessian, gradient);
        (0..N).for_each(|i| b[i] += step[i]);
    }
    let mut fitted: [f64; N] = std::array::from_fn(|at| b[at] / scales[at]);
    fitted[0] -= (1..N).map(|at| fitted[at] * means[at]).sum::<f64>();
    fitted
}

/// Solves linear equations whose matrix is positive definite, by elimination.
fn solved(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> [f64; N] {
    for i in 0..N {
        for row in i + 1..N {
            let factor = matrix[row][i] / matrix[i][i];
            (i..N).for_each(|column| matrix[row][column] -= factor * matrix[i][column]);
            right[row] -= factor * right[i];
        }
    }
    for i in (0..N).rev() {
        let known: f64 = (i + 1..N).map(|column| matrix[i][column] * right[column]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

fn coefficients(fitted: &[(Calibration, [f64; N])]) -> String {
    let mut out = "The coefficients in use, and those that this run fitted.\n\n| | intercept | cosine | coverage | threshold |\n|---|---|---|---|---|\n".to_owned();
    for (calibration, [intercept, cosine, coverage]) in fitted {
        let Calibration { intercept: a, cosine_weight: b, coverage_weight: c, min_relevance, .. } =
            calibration;
        let name = calibration.model.unwrap_or("words alone");
        let _ = writeln!(out, "| {name} | {a} | {b} | {c} | {min_relevance} |");
        let _ = writeln!(out, "| fitted | {intercept:.2} | {cosine:.2} | {coverage:.2} | |");
    }
    out
}
