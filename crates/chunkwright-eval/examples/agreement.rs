//! Measures how far rankings by made questions agree with those by questions that people wrote, and whether people's
//! questions contradict the default preset.
//!
//! ```text
//! cargo run --release -p chunkwright-eval --example agreement -- DATA [MODEL] > eval/agreement.md
//! ```
//!
//! DATA holds question sets: folders with `questions.jsonl` and `docs/`. Without a MODEL (`static`, `e5`) searches are lexical. The candidates of a set are those that `tune`
//! tries by people's questions; each origin of questions ranks the same ones.
#![expect(clippy::format_push_string, reason = "a table of a few lines")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright::{ChunkOptions, Chunker, TokenCounter};
use chunkwright_eval::made::{Made, Origin};
use chunkwright_eval::tune::{Candidate, MEASURE, candidates, ranked};
use chunkwright_eval::{Bench, Corpus, Options, Question, Questions, Rng};
use chunkwright_index::Mode;
use chunkwright_models::Embedder;
use chunkwright_source::{Input, Inputs, WalkOptions};

/// Questions of each origin, as `tune` asks.
const QUESTIONS: usize = 300;

/// Number of times that people's questions are divided into halves.
const HALVES: usize = 50;

const SEED: u64 = 0;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A way of cutting: preset, and its size if that is not its own.
type Way = (String, Option<usize>);

/// Questions of one origin on one set: how many, and the agreement with people's.
#[derive(Clone, Copy)]
struct Agreement {
    questions: usize,
    correlation: f64,
}

/// The measurements of a set.
struct Row {
    set: String,
    people: usize,
    ways: usize,
    halves: f64,
    origins: Vec<Option<Agreement>>,
    /// Links that people's questions were not made of.
    others: Option<Agreement>,
    chosen: Agreement,
    chosen_from: String,
    best: String,
    /// Of `auto`, and of the best minus it with its interval, in percent.
    auto: f64,
    difference: [f64; 3],
    /// The share that each way finds for people's questions, question by question.
    found: Vec<(Way, Vec<f64>)>,
}

/// Documents and the questions that people wrote about them.
struct Set {
    name: String,
    corpus: Corpus,
    people: Vec<Question>,
}

/// The models and options that measuring needs.
struct Setup {
    counter: Arc<dyn TokenCounter>,
    embedder: Option<Arc<dyn Embedder>>,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, run by hand")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (data, model) = match &arguments[..] {
        [data] => (data, None),
        [data, model] => (data, Some(model.as_str())),
        _ => return Err("usage: agreement DATA [MODEL]".into()),
    };
    let models = chunkwright_models::data_dir(None)?;
    let embedder = model.map(|name| chunkwright_models::embedder(name, &models)).transpose()?;
    let setup = Setup { counter: chunkwright_models::counter("o200k", &models)?, embedder };
    let (mut sets, mut rows) = (Vec::new(), Vec::new());
    for folder in folders(Path::new(data))? {
        eprintln!("{}", folder.display());
        let set = read(&folder)?;
        rows.push(row(&setup, &set)?);
        sets.push(set);
    }
    let over_all = over_all(&setup, &sets, &rows)?;
    let search = model.map_or("lexical".to_owned(), |name| format!("hybrid, with vectors of `{name}`"));
    println!(
        "# Agreement of generated questions with people's\n\nMade by `cargo run --release -p chunkwright-eval --example agreement`, with {}. Searches are {search}. {ABOUT}\n",
        chunkwright_eval::versions()
    );
    print!("{}\n{}\n{over_all}", agreements(&rows), defaults(&rows));
    Ok(())
}

const ABOUT: &str = "\
Each way of cutting that `tune` tries on a set is ranked by R@1000 twice: by the questions that people \
wrote, and by questions made from the documents of the set, at most 300 of each origin. The figures are \
Spearman's rank correlation of the two rankings. `halves` is the correlation between two random halves of \
people's questions, the mean of 50 divisions: no other questions can agree with them much better. `chosen` \
is the origin that `tune` uses by default. The questions of the sets on FastAPI, uv, Cargo and Vue were made \
from links, so links are ranked again without those in a paragraph that a question of people was taken from: \
`other links`, of which some sets have few; `chosen, other links` uses them instead. The length of passages \
and the shares of words in `sentences` were chosen on these sets.";

/// The sets below a folder, by name.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join("questions.jsonl").is_file() && path.join("docs").is_dir() {
            sets.push(path);
        }
    }
    sets.sort();
    Ok(sets)
}

fn read(folder: &Path) -> Result<Set> {
    let inputs = Inputs::gather(&[Input::Path(folder.join("docs"))], &WalkOptions::default());
    let mut documents = Vec::new();
    for item in &inputs.items {
        if let Ok(source) = item.read() {
            documents.push(source.parse());
        }
    }
    let corpus = Corpus::new(documents);
    let people = Questions::read(&std::fs::read_to_string(folder.join("questions.jsonl"))?, &corpus);
    if let Some((line, error)) = people.refused.first() {
        return Err(format!("{}:{line}: {error}", folder.display()).into());
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Set { name, corpus, people: people.questions })
}

fn row(setup: &Setup, Set { name, corpus, people }: &Set) -> Result<Row> {
    let presets: Vec<String> = chunkwright::preset::PRESETS.iter().map(|it| it.name.to_owned()).collect();
    let asked = Made { questions: people.clone(), ..Made::default() };
    let bench = bench(setup, corpus, &asked);
    let tried = candidates(&presets, &[], |preset, size| measured(setup, &bench, (preset, size)))?;
    let ways: Vec<Way> =
        tried.iter().map(|it| (it.preset.clone(), (!it.own_size).then_some(it.max_size))).collect();
    let figures: Vec<Vec<f64>> = tried.iter().map(|it| it.figures.clone()).collect();
    let by_people: Vec<f64> = figures.iter().map(|it| mean(it)).collect();
    let agreement = |made: &Made| -> Result<Option<Agreement>> {
        if made.questions.is_empty() {
            return Ok(None);
        }
        let by_made = means(setup, corpus, made, &ways)?;
        let correlation = spearman(&by_people, &by_made);
        Ok(Some(Agreement { questions: made.questions.len(), correlation }))
    };
    let mut origins = Vec::new();
    for origin in Origin::ALL {
        origins.push(agreement(&Made::new(corpus, &[origin], QUESTIONS, SEED))?);
    }
    let mut others = Made::new(corpus, &[Origin::Links], usize::MAX, SEED);
    others.questions.retain(|it| !is_asked_by(people, it));
    let drawn = Rng::new(SEED).sample(others.questions.len(), QUESTIONS);
    others.questions = drawn.into_iter().map(|at| others.questions[at].clone()).collect();
    let chosen = Made::new(corpus, &[], QUESTIONS, SEED);
    let ranking = ranked(&figures, SEED);
    let best = &ranking[0];
    let percent = |it: f64| 100.0 * it;
    Ok(Row {
        set: name.clone(),
        people: people.len(),
        ways: ways.len(),
        halves: halves(&figures),
        origins,
        others: agreement(&others)?,
        chosen: agreement(&chosen)?.ok_or("no question could be made")?,
        chosen_from: chosen.from(),
        best: format!("{} {}", tried[best.candidate].preset, tried[best.candidate].max_size),
        auto: percent(by_people[0]),
        difference: [best.difference.mean, best.difference.low, best.difference.high].map(percent),
        found: ways.into_iter().zip(figures).collect(),
    })
}

/// Whether a question was taken from the place of one of people's questions.
fn is_asked_by(people: &[Question], question: &Question) -> bool {
    let sources = people.iter().flat_map(|it| &it.exclude);
    let own = &question.exclude;
    sources.into_iter().any(|source| own.iter().any(|place| place.overlap(*source) > 0))
}

fn bench<'a>(setup: &Setup, corpus: &'a Corpus, made: &'a Made) -> Bench<'a> {
    let searched = if setup.embedder.is_some() { Mode::Hybrid } else { Mode::Lexical };
    let options = Options { modes: vec![searched], measures: vec![MEASURE], ..Options::default() };
    Bench::new(corpus, &made.questions, Arc::clone(&setup.counter), setup.embedder.clone(), options)
        .hiding(made.hidden.clone())
}

fn measured(setup: &Setup, bench: &Bench<'_>, (preset, size): (&str, Option<usize>)) -> Result<Candidate> {
    let options = ChunkOptions { preset: Some(preset.into()), max_size: size, ..ChunkOptions::default() };
    let chunker = Chunker::new(options.resolve()?, Arc::clone(&setup.counter))?;
    Ok(Candidate::measure(bench, chunker, preset, size.is_none(), &[])?)
}

/// The mean that each way of cutting finds.
fn means(setup: &Setup, corpus: &Corpus, made: &Made, ways: &[Way]) -> Result<Vec<f64>> {
    let bench = bench(setup, corpus, made);
    ways.iter().map(|(preset, size)| Ok(mean(&measured(setup, &bench, (preset, *size))?.figures))).collect()
}

/// The agreement of rankings by two halves of the same questions.
fn halves(figures: &[Vec<f64>]) -> f64 {
    let count = figures[0].len();
    let mut rng = Rng::new(SEED);
    let correlations: Vec<f64> = (0..HALVES)
        .map(|_| {
            let half = rng.sample(count, count / 2);
            let part = |of: &[f64], is_in: bool| {
                let chosen = (0..count).filter(|at| half.binary_search(at).is_ok() == is_in);
                mean(&chosen.map(|at| of[at]).collect::<Vec<_>>())
            };
            let [one, other] = [true, false]
                .map(|is_in| figures.iter().map(|figures| part(figures, is_in)).collect::<Vec<_>>());
            spearman(&one, &other)
        })
        .collect();
    mean(&correlations)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Spearman's rank correlation; ranks of equal values are their mean.
fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|it| **it < value - 1e-12).count();
            let equal = values.iter().filter(|it| (**it - value).abs() <= 1e-12).count();
            below as f64 + (equal - 1) as f64 / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (one, other) = (ranks(one), ranks(other));
    let (middle, about) = (mean(&one), mean(&other));
    let product = one.iter().zip(&other).map(|(a, b)| (a - middle) * (b - about)).sum::<f64>();
    let spread = |ranks: &[f64], middle: f64| ranks.iter().map(|it| (it - middle).powi(2)).sum::<f64>();
    let spread = (spread(&one, middle) * spread(&other, about)).sqrt();
    if spread > 0.0 { product / spread } else { 0.0 }
}

/// The table of correlations.
fn agreements(rows: &[Row]) -> String {
    let mut out = "| set | people's questions | ways of cutting | halves |".to_owned();
    for origin in Origin::ALL {
        out.push_str(&format!(" {} |", origin.as_str()));
    }
    out.push_str(" other links | chosen | chosen, other links | chosen from |\n");
    out.push_str(&format!("|{}\n", "---|".repeat(8 + Origin::ALL.len())));
    let cell = |it: Option<Agreement>| {
        it.map_or_else(String::new, |it| format!("{:.2} of {}", it.correlation, it.questions))
    };
    let others = |row: &Row| match (row.chosen_from.starts_with("links"), row.others) {
        (true, Some(others)) => others,
        _ => row.chosen,
    };
    for row in rows {
        let origins: Vec<String> = row.origins.iter().map(|it| cell(*it)).collect();
        out.push_str(&format!(
            "| {} | {} | {} | {:.2} | {} | {} | {:.2} | {:.2} | {} |\n",
            row.set,
            row.people,
            row.ways,
            row.halves,
            origins.join(" | "),
            cell(row.others),
            row.chosen.correlation,
            others(row).correlation,
            row.chosen_from
        ));
    }
    let of_all = |each: &dyn Fn(&Row) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().filter_map(each).collect();
        format!("{:.2}", mean(&values))
    };
    let origins: Vec<String> =
        (0..Origin::ALL.len()).map(|at| of_all(&|row| row.origins[at].map(|it| it.correlation))).collect();
    out.push_str(&format!(
        "| mean | | | {} | {} | {} | {} | {} | |\n",
        of_all(&|row| Some(row.halves)),
        origins.join(" | "),
        of_all(&|row| row.others.map(|it| it.correlation)),
        of_all(&|row| Some(row.chosen.correlation)),
        of_all(&|row| Some(others(row).correlation)),
    ));
    out
}

/// The table of the default beside the best.
fn defaults(rows: &[Row]) -> String {
    let mut out = "`auto` beside the best by people's questions, R@1000 in percent; the interval is that by which `tune` \
        decides, paired by question and widened for the number of ways:\n\n| set | auto | best | best minus auto | |\n|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let [by, low, high] = row.difference;
        let said = if low > 0.0 { "beyond noise" } else { "within noise" };
        out.push_str(&format!(
            "| {} | {:.1} | {} | {by:+.1} [{low:+.1}, {high:+.1}] | {said} |\n",
            row.set, row.auto, row.best
        ));
    }
    out
}

/// The table of the default beside the ways that find most over all sets.
fn over_all(setup: &Setup, sets: &[Set], rows: &[Row]) -> Result<String> {
    let mut ways: Vec<&Way> = Vec::new();
    for (way, _) in rows.iter().flat_map(|row| &row.found) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    let questions: usize = rows.iter().map(|row| row.people).sum();
    let mut figures: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for (set, row) in sets.iter().zip(rows) {
        let asked = Made { questions: set.people.clone(), ..Made::default() };
        let bench = bench(setup, &set.corpus, &asked);
        // Every set counts the same, however many questions it has.
        let weight = questions as f64 / (sets.len() * row.people) as f64;
        for (way, figures) in ways.iter().zip(&mut figures) {
            let found = match row.found.iter().find(|(it, _)| it == *way) {
                Some((_, found)) => found.clone(),
                None => measured(setup, &bench, (&way.0, way.1))?.figures,
            };
            figures.extend(found.iter().map(|it| it * weight));
        }
    }
    let ranking = ranked(&figures, SEED);
    let default = ranking.iter().position(|it| it.candidate == 0).unwrap_or_default();
    let by_chance = 1.0 - 0.95_f64.powf(sets.len() as f64);
    let mut out = format!(
        "An interval misses the true value once in twenty times: of {} intervals, at least one misses it with a \
        probability of {by_chance:.2}. A default must also serve all documents. Over all sets together, each with the same \
        weight, {} ways of cutting were measured; `auto` is number {}. The best of them, by R@1000 in percent, with the \
        interval of the difference from `auto`, paired by question and widened for the number of ways:\n\n| way | R@1000 | minus auto | |\n|---|---|---|---|\n",
        sets.len(),
        ways.len(),
        default + 1
    );
    for it in ranking.iter().take(5) {
        let (preset, size) = ways[it.candidate];
        let name = size.map_or_else(|| preset.clone(), |size| format!("{preset} {size}"));
        let [value, by, low, high] =
            [it.value.mean, it.difference.mean, it.difference.low, it.difference.high].map(|it| 100.0 * it);
        let said = if low > 0.0 { "beyond noise" } else { "within noise" };
        out.push_str(&format!("| {name} | {value:.1} | {by:+.1} [{low:+.1}, {high:+.1}] | {said} |\n"));
    }
    Ok(out)
}
