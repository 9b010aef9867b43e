//! Measures whether a name typed alone finds the chunk that defines it.
//!
//! ```text
//! cargo run --release -p chunkwright-eval --example names -- STORE [DATA] > eval/names.md
//! ```
//!
//! The names are those of `eval/names.jsonl`, made by `eval/names.py` from the snapshots that it lists. STORE has a
//! collection for each of them by the name of its folder (`cd DATA/flask && chunkwright index . -c flask --embedder none
//! --store STORE`), and `flask-static` for one with static vectors; those that are missing are left out. DATA holds
//! question sets, folders with `questions.jsonl` and `docs/`, which must not lose by the stage.
#![expect(clippy::format_push_string, reason = "a table of a few lines")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use chunkwright::{ChunkOptions, Chunker};
use chunkwright_eval::{Bench as Sets, Corpus, Interval, Measure, Options, Questions};
use chunkwright_index::{
    Access, Filter, Generation, Mode, Models, NameRanking, SearchOptions, Store, StoreLocation, open_store,
    search,
};
use chunkwright_models::Embedder;
use chunkwright_source::{Input, Inputs, WalkOptions};
use serde::Deserialize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A name and where it is defined.
#[derive(Deserialize)]
struct Row {
    repository: String,
    commit: String,
    language: String,
    name: String,
    /// The word that declares it; empty where there is none.
    word: String,
    /// `PATH:LINE` of every definition.
    at: Vec<String>,
}

/// How names are asked.
#[derive(Clone, Copy)]
enum Form {
    /// `url_for`
    Name,
    /// `def url_for`
    Declaration,
    /// `how does url_for work`: within a question.
    Question,
}

impl Form {
    fn query(self, row: &Row) -> Option<String> {
        match self {
            Self::Name => Some(row.name.clone()),
            Self::Declaration => (!row.word.is_empty()).then(|| format!("{} {}", row.word, row.name)),
            Self::Question => Some(format!("how does `{}` work", row.name)),
        }
    }
}

/// Ranks of the first defining chunk by repository; `None` for not among the first ten.
type Ranks = BTreeMap<String, Vec<Option<usize>>>;

struct Bench<'a> {
    store: &'a dyn Store,
    rows: &'a [Row],
    embedder: Option<&'a dyn Embedder>,
    suffix: &'a str,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, run by hand")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (store, sets) = match &arguments[..] {
        [store] => (store, None),
        [store, sets] => (store, Some(Path::new(sets))),
        _ => return Err("usage: names STORE [DATA]".into()),
    };
    let store = open_store(&StoreLocation::folder(Path::new(store)), Access::Read)?;
    let text = fs::read_to_string("eval/names.jsonl")?;
    let rows = text.lines().map(serde_json::from_str).collect::<std::result::Result<Vec<Row>, _>>()?;
    let models = chunkwright_models::data_dir(None)?;
    let embedder = chunkwright_models::embedder("static", &models).ok();
    let versions = chunkwright_eval::versions();
    println!(
        "# Names\n\nMade by `cargo run --release -p chunkwright-eval --example names`, with {versions}. {ABOUT}"
    );
    println!("\n{}", data(&rows));
    let lexical = Bench { store: &*store, rows: &rows, embedder: None, suffix: "" };
    let hybrid = Bench { store: &*store, rows: &rows, embedder: embedder.as_deref(), suffix: "-static" };
    for (title, bench, mode, form) in [
        ("The name alone, without vectors", &lexical, Mode::Hybrid, Form::Name),
        ("A declaration, without vectors", &lexical, Mode::Hybrid, Form::Declaration),
        ("The name in a question, without vectors", &lexical, Mode::Hybrid, Form::Question),
        ("The name alone, with static vectors", &hybrid, Mode::Hybrid, Form::Name),
        ("The name alone, static vectors only", &hybrid, Mode::Dense, Form::Name),
        ("The name in a question, with static vectors", &hybrid, Mode::Hybrid, Form::Question),
    ] {
        if bench.suffix == "-static" && bench.embedder.is_none() {
            eprintln!("the model `static` is not installed: its tables are left out");
            break;
        }
        let before = bench.ask(mode, form, NameRanking::Off, &mut |_, _| ())?;
        let after = bench.ask(mode, form, NameRanking::First, &mut |row, rank| {
            if rank.is_none_or(|rank| rank > 1) {
                eprintln!("{title}: {} `{}` {rank:?} {:?}", row.repository, row.name, row.at);
            }
        })?;
        if !after.is_empty() {
            println!("\n## {title}\n\n{}", table(&before, &after));
        }
    }
    if let Some(sets) = sets {
        println!("\n## Questions\n\n{QUESTIONS}\n\n{}", questions(sets, embedder.as_ref())?);
    }
    Ok(())
}

const QUESTIONS: &str = "\
R@1000 of questions that people ask, with the preset `auto`: the share of the answer inside the first 1,000 tokens \
returned. The difference is paired by question, with its 95 % interval.";

/// The table of question sets with and without the stage.
fn questions(sets: &Path, embedder: Option<&Arc<dyn Embedder>>) -> Result<String> {
    let counter = chunkwright_models::counter("o200k", &chunkwright_models::data_dir(None)?)?;
    let mut folders: Vec<_> = fs::read_dir(sets)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.retain(|folder| folder.join("questions.jsonl").is_file());
    folders.sort();
    let mut out =
        "| set | questions | mode | before | after | difference |\n|---|---|---|---|---|---|\n".to_owned();
    for folder in folders {
        let inputs = Inputs::gather(&[Input::Path(folder.join("docs"))], &WalkOptions::default());
        let documents = inputs.items.iter().filter_map(|item| Some(item.read().ok()?.parse())).collect();
        let corpus = Corpus::new(documents);
        let asked = Questions::read(&fs::read_to_string(folder.join("questions.jsonl"))?, &corpus).questions;
        let chunker = Chunker::new(ChunkOptions::default().resolve()?, Arc::clone(&counter))?;
        let modes = vec![Mode::Lexical, Mode::Hybrid, Mode::Dense];
        let measure = |names| -> Result<Vec<Vec<Vec<f64>>>> {
            let (modes, measures) = (modes.clone(), vec![Measure::Budget(1000)]);
            let options = Options { modes, measures, names, ..Options::default() };
            let bench = Sets::new(&corpus, &asked, Arc::clone(&counter), embedder.cloned(), options);
            Ok(bench.run(std::slice::from_ref(&chunker))?.figures)
        };
        let (before, after) = (measure(NameRanking::Off)?, measure(NameRanking::First)?);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        for (at, mode) in modes.iter().enumerate() {
            if embedder.is_none() && *mode != Mode::Lexical {
                continue;
            }
            let values = |figures: &[Vec<Vec<f64>>]| figures[at].iter().map(|it| it[0]).collect::<Vec<f64>>();
            let (before, after) = (values(&before), values(&after));
            let differences: Vec<f64> =
                after.iter().zip(&before).map(|(after, before)| after - before).collect();
            let mean = |values: &[f64]| 100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64;
            let Interval { mean: difference, low, high } = Interval::of(&differences, 0.95, 0);
            let [difference, low, high] = [difference, low, high].map(|it| 100.0 * it);
            let (before, after, count) = (mean(&before), mean(&after), asked.len());
            let mode = mode.as_str();
            out.push_str(&format!(
                "| {name} | {count} | {mode} | {before:.1} | {after:.1} | {difference:+.1} [{low:+.1}, {high:+.1}] |\n"
            ));
        }
    }
    Ok(out.trim_end().to_owned())
}

const ABOUT: &str = "\
The names in `eval/names.jsonl` were drawn at random from the public symbols that Universal Ctags, and for Python its own \
parser, find outside tests and examples; a name with up to four definitions is found with any of them. A chunk defines a \
name if it holds the line of the definition. `first`: the share of names whose first hit defines them; `in 5`: the share \
with such a hit among five. ± is half of a 95 % interval. `before` is the same search without the stage of names.";

impl Bench<'_> {
    fn ask(
        &self,
        mode: Mode,
        form: Form,
        names: NameRanking,
        seen: &mut dyn FnMut(&Row, Option<usize>),
    ) -> Result<Ranks> {
        let mut ranks = Ranks::new();
        let mut open: BTreeMap<&str, Option<Generation>> = BTreeMap::new();
        for row in self.rows {
            let name = &*row.repository;
            let generation =
                open.entry(name).or_insert_with(|| self.store.open(&format!("{name}{}", self.suffix)).ok());
            let (Some(generation), Some(query)) = (generation, form.query(row)) else { continue };
            let options = SearchOptions {
                mode,
                top_k: 10,
                min_relevance: None,
                names,
                filter: Filter::default(),
                ..SearchOptions::default()
            };
            let models = Models { embedder: self.embedder, ..Models::default() };
            let answer = search(self.store, generation, models, &query, &options)?;
            let holds = |doc_id: &str, first: u32, last: u32| {
                row.at.iter().any(|at| {
                    let (path, line) = at.rsplit_once(':').unwrap_or((at, ""));
                    path == doc_id && line.parse().is_ok_and(|line| (first..=last).contains(&line))
                })
            };
            let mut hits = answer.hits.iter().map(|hit| &hit.record);
            let rank = hits
                .position(|record| holds(&record.doc_id, record.start_line, record.end_line))
                .map(|at| at + 1);
            seen(row, rank);
            ranks.entry(name.to_owned()).or_default().push(rank);
        }
        Ok(ranks)
    }
}

/// The repositories and their names.
fn data(rows: &[Row]) -> String {
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for row in rows {
        *counts.entry((&row.repository, &row.language, &row.commit)).or_default() += 1;
    }
    let lines = counts.into_iter().map(|((repository, language, commit), count)| {
        format!("| {repository} | {language} | {commit} | {count} |\n")
    });
    format!("| repository | language | commit | names |\n|---|---|---|---|\n{}", lines.collect::<String>())
        .trim_end()
        .to_owned()
}

fn table(before: &Ranks, after: &Ranks) -> String {
    let mut lines = vec![
        "| repository | names | first, before | first | in 5, before | in 5 |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    let mut row = |name: &str, before: &[Option<usize>], after: &[Option<usize>], with_interval: bool| {
        let cell = |ranks: &[Option<usize>], most: usize| {
            let found = ranks.iter().flatten().filter(|rank| **rank <= most).count();
            let all = ranks.len().max(1) as f64;
            let share = found as f64 / all;
            let half = 1.96 * (share * (1.0 - share) / all).sqrt();
            let interval = if with_interval { format!(" ±{:.1}", 100.0 * half) } else { String::new() };
            format!("{:.1}{interval}", 100.0 * share)
        };
        let cells = [cell(before, 1), cell(after, 1), cell(before, 5), cell(after, 5)];
        lines.push(format!("| {name} | {} | {} |", after.len(), cells.join(" | ")));
    };
    for (name, after) in after {
        row(name, before.get(name).map_or(&[][..], |ranks| ranks), after, false);
    }
    let all = |ranks: &Ranks| ranks.values().flatten().copied().collect::<Vec<_>>();
    row("all", &all(before), &all(after), true);
    lines.join("\n")
}
