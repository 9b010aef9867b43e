//! Relevance of hits, and the threshold that leaves hits out.

use std::collections::BTreeMap;
use std::sync::Arc;

use chunkwright_index::bm25::TermCounts;
use chunkwright_index::{
    Answer, CALIBRATIONS, Calibration, Duplicates, Filter, Fusion, LEXICAL, Mode, Models, QueryWords,
    SearchOptions, Verdict, amend, explain, parse_query, search, search_all_versions,
};

use crate::fixture::{Bag, COLLECTION, Fixture, for_each_store, now};

const GUIDE: &str = "# Guide\n\n## Install\n\nDownload the archive and unpack it into a folder of its own.\n\n\
## Configure\n\nSet `maxChunkSize` in the configuration file before the first start.\n\n## Cats\n\nA cat sleeps.\n";
const CHINESE: &str = "# 指南\n\n## 安装\n\n下载压缩包并解压到单独的文件夹。\n\n## 猫\n\n黑猫在睡觉。\n";
const CODE: &str = "def parse_header(line):\n    \"\"\"Split a header line into its name and value.\"\"\"\n    return line.split(':', 1)\n";
const FILES: [(&str, &str); 4] =
    [("guide.md", GUIDE), ("copy/guide.md", GUIDE), ("zh/guide.md", CHINESE), ("src/http.py", CODE)];

/// A test double under the name of a model that has a calibration.
fn calibrated() -> (Arc<Bag>, &'static Calibration) {
    let name = "wordllama-l2-supercat-256";
    (Bag::named(name.into(), 256, false), Calibration::of_model(name).unwrap())
}

fn corpus(kind: &str) -> Fixture {
    let fixture = Fixture::with_bag(kind, &FILES, calibrated().0);
    fixture.index();
    fixture
}

fn ask(fixture: &Fixture, query: &str, options: &SearchOptions) -> Answer {
    search(&*fixture.store, &now(&*fixture.store), Models::embedder(&*fixture.bag), query, options).unwrap()
}

fn by_mode(mode: Mode) -> SearchOptions {
    SearchOptions { mode, top_k: 50, duplicates: Duplicates::Keep, ..SearchOptions::default() }
}

/// Relevance by chunk.
fn relevance(answer: &Answer) -> BTreeMap<String, f64> {
    let hits = answer.hits.iter();
    hits.map(|hit| (hit.record.chunk_id.to_string(), hit.relevance.unwrap())).collect()
}

#[track_caller]
fn same(ours: &BTreeMap<String, f64>, theirs: &BTreeMap<String, f64>, place: &str) {
    assert!(!theirs.is_empty(), "{place}");
    for (id, relevance) in theirs {
        assert!((relevance - ours[id]).abs() < 0.0011, "{place}: {id} {relevance} {}", ours[id]);
    }
}

#[test]
fn a_sum_without_a_weight_has_that_of_the_model_in_every_store() {
    for_each_store(|kind| {
        let own = CALIBRATIONS.iter().map(|of| (of.model.unwrap(), of.dense_weight));
        for (name, weight) in own.chain([("bag", Fusion::DENSE_WEIGHT)]) {
            let fixture = Fixture::with_bag(kind, &FILES, Bag::named(name.into(), 256, false));
            fixture.index();
            let scores = |fusion| {
                let options = SearchOptions { fusion, ..by_mode(Mode::Hybrid) };
                let hits = ask(&fixture, "unpack the archive", &options).hits;
                hits.iter().map(|hit| (hit.record.chunk_id, hit.score, hit.dense)).collect::<Vec<_>>()
            };
            let usual = scores(Fusion::default());
            assert_eq!(usual, scores(Fusion::weighted_sum(weight)), "{kind}, {name}");
            assert_ne!(
                usual,
                scores(Fusion::weighted_sum(0.9)),
                "{kind}, {name}: a weight that is set holds"
            );
            let models = Models::embedder(&*fixture.bag);
            let generation = now(&*fixture.store);
            let (id, _, dense) = usual[0];
            let told = explain(
                &*fixture.store,
                &generation,
                models,
                "unpack the archive",
                &by_mode(Mode::Hybrid),
                id,
            );
            assert_eq!(told.unwrap().dense, dense, "{kind}, {name}");
        }
    });
}

#[test]
fn the_relevance_is_the_formula_of_cosine_and_coverage_in_every_store() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for query in ["unpack the archive", "maxChunkSize folder", "解压文件夹", "wuzzle"] {
            for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense] {
                for hit in ask(&fixture, query, &by_mode(mode)).hits {
                    let words = QueryWords::of(query);
                    let words = words.matched(&hit.record.text, &TermCounts::of(&hit.record.text));
                    let expected = match mode {
                        Mode::Lexical => LEXICAL.relevance(0.0, words),
                        _ => calibrated().1.relevance(hit.dense.unwrap().score, words),
                    };
                    let found = hit.relevance.unwrap();
                    assert!(
                        (found - expected).abs() < 0.0011,
                        "{kind} {mode:?} {query}: {found}, not {expected}"
                    );
                }
            }
        }
    });
}

#[test]
fn a_chunk_has_one_relevance_whatever_else_a_search_asks_for() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let query = "unpack the archive folder";
        let ours = relevance(&ask(&fixture, query, &by_mode(Mode::Hybrid)));
        let others = [
            ("two hits", SearchOptions { top_k: 2, ..by_mode(Mode::Hybrid) }),
            ("candidates", SearchOptions { top_k: 1, candidates: 1, ..by_mode(Mode::Hybrid) }),
            ("fusion", SearchOptions { fusion: Fusion::Rrf { k: 60.0 }, ..by_mode(Mode::Hybrid) }),
            (
                "words",
                SearchOptions {
                    fusion: Fusion::weighted_sum(0.0),
                    top_k: 3,
                    candidates: 1,
                    ..by_mode(Mode::Hybrid)
                },
            ),
            (
                "filter",
                SearchOptions { filter: Filter::parse("doc_id~copy/**").unwrap(), ..by_mode(Mode::Hybrid) },
            ),
            ("duplicates", SearchOptions { duplicates: Duplicates::Collapse, ..by_mode(Mode::Hybrid) }),
            ("dense", by_mode(Mode::Dense)),
        ];
        for (name, options) in others {
            same(&ours, &relevance(&ask(&fixture, query, &options)), &format!("{kind} {name}"));
        }
        let models = Models::embedder(&*fixture.bag);
        let all =
            search_all_versions(&*fixture.store, COLLECTION, models, query, &by_mode(Mode::Hybrid)).unwrap();
        same(&ours, &relevance(&all), &format!("{kind} all versions"));
        for (id, relevance) in &ours {
            let id = id.parse().unwrap();
            let generation = now(&*fixture.store);
            let explained =
                explain(&*fixture.store, &generation, models, query, &by_mode(Mode::Hybrid), id).unwrap();
            assert!((explained.relevance.unwrap() - relevance).abs() < 0.0011, "{kind} {explained:?}");
        }
    });
}

#[test]
fn hits_below_the_least_relevance_are_left_out_and_counted() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let with = |min_relevance| SearchOptions { min_relevance, ..by_mode(Mode::Hybrid) };
        let all = ask(&fixture, "wuzzle frobnicate archive", &with(Some(0.0)));
        assert!(all.hits.len() > 3 && all.below.is_none(), "{kind}");
        let best = all.hits.iter().filter_map(|hit| hit.relevance).fold(0.0, f64::max);
        let none = ask(&fixture, "wuzzle frobnicate archive", &with(Some(1.0)));
        let below = none.below.unwrap();
        assert_eq!(
            (none.hits.len(), below.count, none.min_relevance),
            (0, all.hits.len(), Some(1.0)),
            "{kind}"
        );
        assert!((below.best - best).abs() < 0.0011, "{kind}");
        // By default gibberish finds nothing, and what has the words is found.
        let gibberish = ask(&fixture, "wuzzle frobnicate", &with(None));
        assert_eq!((gibberish.hits.len(), gibberish.min_relevance), (0, Some(calibrated().1.min_relevance)));
        let found = ask(&fixture, "unpack the archive", &with(None));
        assert!(found.hits[0].record.content.contains("archive") && found.below.is_some(), "{kind}");
        assert!(found.hits.iter().enumerate().all(|(at, hit)| hit.rank == at + 1), "{kind}");
        let out = &all.hits.last().unwrap().record;
        let models = Models::embedder(&*fixture.bag);
        let (generation, options) = (now(&*fixture.store), with(Some(1.0)));
        let explained = explain(
            &*fixture.store,
            &generation,
            models,
            "wuzzle frobnicate archive",
            &options,
            out.chunk_id,
        )
        .unwrap();
        assert_eq!(explained.verdict, Verdict::Irrelevant { min_relevance: 1.0 }, "{kind}");
    });
}

#[test]
fn short_queries_and_symbols_are_relevant_by_default() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Hybrid] {
            for (query, expected) in [
                ("猫", "zh/guide.md"),
                ("文件夹", "zh/guide.md"),
                ("cat", "guide.md"),
                ("parseHeader", "src/http.py"),
                ("symbol:parse_header", "src/http.py"),
                ("what is the maxChunkSize", "guide.md"),
            ] {
                let parsed = parse_query(query, Filter::default()).unwrap();
                let (words, filter) = (parsed.words.clone(), parsed.strict());
                let options = SearchOptions { filter, min_relevance: None, ..by_mode(mode) };
                let hits = ask(&fixture, &words, &options).hits;
                assert!(
                    hits.first().is_some_and(|hit| hit.record.doc_id.ends_with(expected)),
                    "{kind} {mode:?} {query}"
                );
            }
        }
    });
}

#[test]
fn pinned_hits_are_kept_whatever_their_relevance() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let (store, generation) = (&*fixture.store, now(&*fixture.store));
        let id = ask(&fixture, "cat", &by_mode(Mode::Lexical)).hits[0].record.chunk_id;
        amend(store, &generation, None, None, id, &|overlay| overlay.pins = vec!["wuzzle frobnicate".into()])
            .unwrap();
        let options = SearchOptions { min_relevance: None, ..by_mode(Mode::Hybrid) };
        let hits = ask(&fixture, "wuzzle frobnicate", &options).hits;
        assert_eq!(hits.iter().map(|hit| hit.record.chunk_id).collect::<Vec<_>>(), [id], "{kind}");
    });
}

#[test]
fn vectors_of_a_model_without_a_calibration_have_no_relevance() {
    let fixture = Fixture::with_bag("memory", &FILES, Bag::with_sparse(256));
    fixture.index();
    for mode in [Mode::Hybrid, Mode::Dense, Mode::Sparse] {
        for min_relevance in [None, Some(0.0)] {
            let answer = ask(&fixture, "archive", &SearchOptions { min_relevance, ..by_mode(mode) });
            assert!(
                !answer.hits.is_empty() && answer.hits.iter().all(|hit| hit.relevance.is_none()),
                "{mode:?}"
            );
            assert_eq!((answer.min_relevance, answer.below), (None, None));
        }
        let options = SearchOptions { min_relevance: Some(0.5), ..by_mode(mode) };
        let models = Models::embedder(&*fixture.bag);
        let error = search(&*fixture.store, &now(&*fixture.store), models, "archive", &options).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`min_relevance` is not possible: the scores of model `bag-256#sparse` have no calibration in this mode; \
             use the mode `lexical`, or leave it out"
        );
    }
    assert!(ask(&fixture, "archive", &by_mode(Mode::Lexical)).hits[0].relevance.is_some());
}

#[test]
fn a_question_about_texts_in_another_script_keeps_its_hits_without_a_relevance() {
    let name = "multilingual-e5-small";
    let fixture = Fixture::with_bag("memory", &FILES, Bag::named(name.into(), 384, false));
    fixture.index();
    let options = SearchOptions { min_relevance: None, ..by_mode(Mode::Hybrid) };
    let found = |query: &str| -> Vec<(bool, bool)> {
        let hits = ask(&fixture, query, &options).hits;
        hits.iter().map(|hit| (hit.record.doc_id.starts_with("zh/"), hit.relevance.is_some())).collect()
    };
    let question = found("how is the wuzzle made");
    assert!(question.contains(&(true, false)) && !question.contains(&(true, true)), "{question:?}");
    assert_eq!(found("wuzzle frobnicate"), []);
}

#[test]
fn a_least_relevance_is_a_number_from_0_to_1() {
    let fixture = corpus("memory");
    for (least, shown) in [(f64::NAN, "NaN"), (1.5, "1.5"), (-0.1, "-0.1")] {
        let options = SearchOptions { min_relevance: Some(least), ..by_mode(Mode::Lexical) };
        let models = Models::default();
        let error = search(&*fixture.store, &now(&*fixture.store), models, "archive", &options).unwrap_err();
        assert_eq!(error.to_string(), format!("`min_relevance` is `{shown}`; it must be from 0 to 1"));
    }
}

#[test]
fn a_query_without_its_model_is_judged_by_words() {
    let fixture = corpus("memory");
    let answer =
        search(&*fixture.store, &now(&*fixture.store), Models::default(), "archive", &by_mode(Mode::Hybrid))
            .unwrap();
    let text = &answer.hits[0].record.text;
    let words = QueryWords::of("archive").matched(text, &TermCounts::of(text));
    assert_eq!(answer.hits[0].relevance, Some(LEXICAL.relevance(0.0, words)));
}
