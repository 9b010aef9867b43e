//! Measures the relevance of hits: what the default threshold loses of real answers, and what is found for questions
//! about something else and for nonsense.
//!
//! ```text
//! cargo run --release -p chunkwright-eval --example relevance -- DATA STORE > eval/relevance.md
//! ```
//!
//! DATA holds question sets, folders with `questions.jsonl` and `docs/`; STORE is a store with a collection `SET-MODEL`
//! of each that is to be measured, where MODEL is `static`, `minilm` or `e5` (`cd DATA/SET/docs && chunkwright index . -c SET-MODEL
//! --embedder MODEL --store STORE`), and of each repository of `eval/relevance.tsv`. A set is divided into repositories.
//! Every second one is what `CALIBRATIONS` is fitted on, anew here: the coefficients are in the last table. The figures
//! are those of the others.

mod fit;
mod report;
mod repositories;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use chunkwright_eval::nonsense::nonsense;
use chunkwright_index::bm25::{TermCounts, term_id};
use chunkwright_index::{
    Access, CALIBRATIONS, Calibration, Filter, Generation, LEXICAL, ListRequest, MAX_PAGE, Mode, Models,
    QueryWords, SearchOptions, Store, StoreLocation, WordMatch, analysis, open_store, search,
};
use chunkwright_models::{Embedder, rarity};

use repositories::{Question, Repository, evenly, off_topic, repositories};

/// Most questions of a repository, and as many of others, evenly drawn.
const MOST: usize = 60;

/// Number of nonsense queries, of each set.
const NONSENSE: usize = 200;

/// What these numbers are divided by for `e5`, which takes long for each query.
const SLOW: usize = 3;

/// Hits that are examined: as many as a search shows by default.
const TOP: usize = 5;

/// Number of words that are left of a question to make keywords of it.
const KEYWORDS: usize = 3;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What a query is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A question that the repository answers.
    Answered,
    /// A question of another repository.
    OffTopic,
    Nonsense,
}

/// A hit, as far as its relevance goes.
pub(crate) struct Seen {
    /// `None` if unknown: such a hit is kept.
    pub(crate) relevance: Option<f64>,
    pub(crate) cosine: f64,
    pub(crate) words: WordMatch,
    pub(crate) is_answer: bool,
    /// The share of the words, if each counts the same, by its rarity in general language, and in the collection.
    pub(crate) shares: [f64; 3],
}

/// A query and its first hits.
pub(crate) struct Asked {
    pub(crate) set: String,
    pub(crate) is_fitted: bool,
    pub(crate) kind: Kind,
    /// Whether the model reads its writing system; otherwise lexical search alone decides.
    pub(crate) is_read: bool,
    /// The default threshold for it.
    pub(crate) threshold: f64,
    pub(crate) hits: Vec<Seen>,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, run by hand")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, store] = &arguments[..] else { return Err("usage: relevance DATA STORE".into()) };
    let store = open_store(&StoreLocation::folder(Path::new(store)), Access::Read)?;
    let models = chunkwright_models::data_dir(None)?;
    let written = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/relevance.tsv");
    let repositories = repositories(Path::new(data), &written)?;
    println!("{}\n\nMeasured with {}.", report::ABOUT.trim_end(), chunkwright_eval::versions());
    let mut fitted = Vec::new();
    for (name, calibration) in
        [("none", LEXICAL), ("static", CALIBRATIONS[2]), ("minilm", CALIBRATIONS[1]), ("e5", CALIBRATIONS[0])]
    {
        let embedder = match name {
            "none" => None,
            name => Some(chunkwright_models::embedder(name, &models)?),
        };
        let mut asked = Vec::new();
        let mut nonsensical = HashSet::new();
        for repository in &repositories {
            // Lexical results are the same, whatever the vectors are.
            let collection = format!("{}-{}", repository.set, name.replace("none", "static"));
            let Ok(generation) = store.open(&collection) else { continue };
            if !store.is_complete(&generation)? {
                continue;
            }
            eprintln!("{name} {} {}", repository.set, repository.part);
            let embedder = embedder.as_deref();
            let bench = Bench::new(&*store, generation, embedder, calibration, repository)?;
            bench.ask_all(&repositories, &mut asked)?;
            if !repository.is_fitted && nonsensical.insert(&repository.set) {
                bench.ask_nonsense(&mut asked)?;
            }
        }
        if asked.is_empty() {
            continue;
        }
        println!(
            "\n## {}\n\n{}",
            calibration.model.unwrap_or("Words alone"),
            report::table(&asked, calibration)
        );
        if name == "none" {
            println!("\n{}", report::weights(&asked));
        }
        fitted.push((calibration, report::fitted(&asked, calibration.model.is_some())));
    }
    println!("\n## Coefficients\n\n{}", report::coefficients(&fitted).trim_end());
    Ok(())
}

struct Bench<'a> {
    store: &'a dyn Store,
    generation: Generation,
    embedder: Option<&'a dyn Embedder>,
    calibration: Calibration,
    repository: &'a Repository,
    filter: Filter,
    slow: usize,
    /// In how many of the repository's chunks a term is, and their number.
    having: HashMap<u32, usize>,
    chunks: usize,
}

impl<'a> Bench<'a> {
    fn new(
        store: &'a dyn Store,
        generation: Generation,
        embedder: Option<&'a dyn Embedder>,
        calibration: Calibration,
        repository: &'a Repository,
    ) -> Result<Self> {
        let filter = Filter::parse(&repository.filter)?;
        let (mut having, mut chunks) = (HashMap::new(), 0);
        let mut request = ListRequest { filter: filter.clone(), limit: MAX_PAGE, ..ListRequest::default() };
        while embedder.is_none() {
            let page = store.list(&generation, &request)?;
            for chunk in &page.chunks {
                chunks += 1;
                for (term, _) in TermCounts::of(&chunk.record.text).counts {
                    *having.entry(term).or_default() += 1;
                }
            }
            request.after = page.next;
            if request.after.is_none() {
                break;
            }
        }
        let slow = if calibration == CALIBRATIONS[0] { SLOW } else { 1 };
        Ok(Self { store, generation, embedder, calibration, repository, filter, slow, having, chunks })
    }

    fn ask_all(&self, repositories: &[Repository], all: &mut Vec<Asked>) -> Result<()> {
        let Repository { set, questions, .. } = self.repository;
        let most = MOST / self.slow;
        let own: Vec<&Question> = evenly(questions, most).collect();
        let (answered, not): (Vec<&Question>, Vec<&Question>) =
            own.into_iter().partition(|question| question.is_answered());
        let off = off_topic(repositories, self.repository, most);
        let off = not.into_iter().chain(&off);
        for (kind, question) in
            answered.into_iter().map(|one| (Kind::Answered, one)).chain(off.map(|one| (Kind::OffTopic, one)))
        {
            all.push(self.ask(set, kind, question)?);
            if let Some(text) = keywords(&question.text) {
                let question = Question { text, places: question.places.clone() };
                all.push(self.ask(&format!("{set}, keywords"), kind, &question)?);
            }
        }
        Ok(())
    }

    fn ask_nonsense(&self, all: &mut Vec<Asked>) -> Result<()> {
        for query in nonsense(NONSENSE / self.slow, 0) {
            let question = Question { text: query.text, places: serde_json::Value::Null };
            all.push(self.ask(&self.repository.set, Kind::Nonsense, &question)?);
        }
        Ok(())
    }

    /// Asks one query.
    fn ask(&self, set: &str, kind: Kind, question: &Question) -> Result<Asked> {
        let query = &question.text;
        let mode = if self.embedder.is_some() { Mode::Hybrid } else { Mode::Lexical };
        let options =
            SearchOptions { mode, top_k: 2 * TOP, filter: self.filter.clone(), ..SearchOptions::default() };
        let models = Models { embedder: self.embedder, ..Models::default() };
        let found = search(self.store, &self.generation, models, query, &options)?;
        let words = QueryWords::of(query);
        let mut terms = analysis::terms(query);
        terms.sort();
        terms.dedup();
        let seen = found.hits.iter().filter_map(|hit| {
            let record = &hit.record;
            let has = |name| question.has(name, &record.doc_id, (record.start_char, record.end_char));
            let counts = TermCounts::of(&record.text);
            (!has("exclude")).then(|| Seen {
                relevance: hit.relevance,
                cosine: hit.dense.map_or(0.0, |stage| stage.score),
                words: words.matched(&record.text, &counts),
                is_answer: has("gold"),
                shares: self.shares(&terms, &counts),
            })
        });
        let is_read = self.embedder.is_some_and(|embedder| embedder.model().reads.share_of(query) >= 0.5);
        let by_words = self.embedder.is_some() && !is_read;
        let threshold = if by_words { LEXICAL.min_relevance } else { self.calibration.min_relevance };
        let (set, is_fitted) = (set.to_owned(), self.repository.is_fitted);
        Ok(Asked { set, is_fitted, kind, is_read: !by_words, threshold, hits: seen.take(TOP).collect() })
    }

    fn shares(&self, terms: &[String], counts: &TermCounts) -> [f64; 3] {
        let in_collection = |term: &str| {
            let having = self.having.get(&term_id(term)).copied().unwrap_or_default() as f64;
            (1.0 + (self.chunks as f64 - having + 0.5) / (having + 0.5)).ln()
        };
        let weights: [&dyn Fn(&str) -> f64; 3] = [&|_| 1.0, &rarity, &in_collection];
        weights.map(|weight| {
            let all: f64 = terms.iter().map(|term| weight(term)).sum();
            let had = terms.iter().filter(|term| counts.has(term_id(term)));
            had.map(|term| weight(term)).sum::<f64>() / all.max(1e-9)
        })
    }
}

/// The rarest words of a question that is written with blanks, in its order, as people type what they look for; none if
/// there are no more.
fn keywords(question: &str) -> Option<String> {
    let trimmed = |word: &'_ str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: Vec<String> =
        question.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
    if words.len() <= KEYWORDS || question.chars().any(analysis::is_unspaced) {
        return None;
    }
    let mut by_rarity: Vec<usize> = (0..words.len()).collect();
    by_rarity.sort_by(|&a, &b| rarity(&words[b]).total_cmp(&rarity(&words[a])));
    by_rarity.truncate(KEYWORDS);
    by_rarity.sort_unstable();
    Some(by_rarity.into_iter().map(|at| words[at].as_str()).collect::<Vec<_>>().join(" "))
}
