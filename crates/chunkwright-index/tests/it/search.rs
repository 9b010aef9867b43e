//! Results of searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::SummaryKind;
use chunkwright_index::analysis::terms;
use chunkwright_index::bm25::{alike, query_ids};
use chunkwright_index::{
    Duplicates, Field, Filter, Fusion, Mode, Models, SearchError, SearchOptions, StoreError, explain,
    parse_query, search, stoppable,
};
use chunkwright_models::{RerankError, Reranker};

use crate::fixture::{Bag, Fixture, for_each_store, now};

const GUIDE: &str = "# Guide\n\n## Install\n\nDownload the archive and unpack it into a folder of its own.\n\n\
## Configure\n\nSet `maxChunkSize` in the configuration file before the first start.\n";
const CHINESE: &str =
    "# 指南\n\n## 安装\n\n下载压缩包并解压到单独的文件夹。\n\n## 数据库\n\n启动之前必须先配置数据库连接。\n";
const RUSSIAN: &str = "# Руководство\n\n## Установка\n\nСкачайте архив и распакуйте его в отдельную папку.\n\n\
## Базы данных\n\nПеред запуском настройте подключение к базе данных.\n";
const CODE: &str = "def parse_header(line):\n    \"\"\"Split a header line into its name and value.\"\"\"\n    return line.split(':', 1)\n";

fn corpus(kind: &str) -> Fixture {
    let files =
        [("guide.md", GUIDE), ("zh/guide.md", CHINESE), ("ru/guide.md", RUSSIAN), ("src/http.py", CODE)];
    let fixture = Fixture::new(kind, &files);
    fixture.index();
    fixture
}

#[track_caller]
fn check(query: &str, expected: &str) {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Hybrid] {
            for fusion in [Fusion::default(), Fusion::Rrf { k: Fusion::RRF_K }] {
                let options = SearchOptions { mode, fusion, top_k: 1, ..SearchOptions::default() };
                let hits = fixture.search(query, &options);
                assert!(hits[0].starts_with(expected), "{kind} {mode:?} {fusion:?}: {query} found {hits:?}");
            }
        }
    });
}

#[test]
fn english_is_found_by_other_forms_of_its_words() {
    check("unpacking archives", "guide.md");
}

#[test]
fn chinese_is_found_without_spaces() {
    check("数据库怎么连接", "zh/guide.md");
}

#[test]
fn russian_is_found_by_other_forms_of_its_words() {
    check("настройка баз данных", "ru/guide.md");
}

#[test]
fn identifiers_are_found_by_their_parts_and_in_other_cases() {
    check("max chunk size", "guide.md");
    check("parseHeader", "src/http.py");
}

#[test]
fn words_find_what_code_abbreviates_and_less_than_what_has_them() {
    for_each_store(|kind| {
        let of =
            |name: &str| format!("def write(data):\n    {name} = open_beside(data)\n    return {name}\n");
        let files = [("x.py", of("tmp_path")), ("y.py", of("temporary_path")), ("z.py", of("final_path"))];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        let fixture = Fixture::new(kind, &files);
        fixture.index();
        let question = "which code writes to a temporary place";
        let (store, generation) = (&*fixture.store, now(&*fixture.store));
        for mode in [Mode::Lexical, Mode::Hybrid] {
            let options = SearchOptions { mode, ..SearchOptions::default() };
            let models = Models::embedder(&*fixture.bag);
            let hits = search(store, &generation, models, question, &options).unwrap().hits;
            let found: Vec<&str> = hits.iter().map(|hit| &*hit.record.doc_id).collect();
            assert_eq!(found[..2], ["y.py", "x.py"], "{kind} {mode:?}");
            assert!(hits[1].matched_terms.contains(&"tmp".to_owned()), "{:?}", hits[1].matched_terms);
            let explained = explain(store, &generation, models, question, &options, hits[1].record.chunk_id);
            let explained = explained.unwrap();
            assert!(explained.query_terms.contains(&"tmp".to_owned()), "{explained:?}");
            assert_eq!(explained.lexical, hits[1].lexical, "{kind} {mode:?}");
        }
    });
}

#[test]
fn every_hit_accounts_for_its_stages() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let options = SearchOptions::default();
        let answer = search(
            &*fixture.store,
            &now(&*fixture.store),
            Models::embedder(&*fixture.bag),
            "maxChunkSize archive",
            &options,
        )
        .unwrap();
        assert_eq!((answer.mode, &answer.degraded), (Mode::Hybrid, &None));
        assert!(answer.hits.len() >= 2);
        for (index, hit) in answer.hits.iter().enumerate() {
            assert_eq!(hit.rank, index + 1);
            let dense = hit.dense.unwrap();
            assert!(dense.rank >= 1 && (-1.01..=1.01).contains(&dense.score), "{dense:?}");
        }
        let first = &answer.hits[0];
        assert!(first.lexical.unwrap().score > 0.0);
        assert!(first.matched_terms.contains(&"maxchunksize".to_owned()), "{:?}", first.matched_terms);
        assert!(first.doc_toc.contains("Configure"));
        let json = serde_json::to_value(first).unwrap();
        assert_eq!(json["doc_id"], "guide.md");
        assert_eq!(json["rank"], 1);
    });
}

#[test]
fn equal_searches_have_equal_answers_in_every_store() {
    let options = SearchOptions { top_k: 50, ..SearchOptions::default() };
    let (sqlite, memory) = (corpus("sqlite"), corpus("memory"));
    for query in ["archive", "数据库", "базы данных", "parse header line", "folder 文件夹 папка"]
    {
        let found = sqlite.search(query, &options);
        assert_eq!(found, sqlite.search(query, &options));
        assert_eq!(found, memory.search(query, &options), "{query}");
    }
}

#[test]
fn a_filter_narrows_every_stage() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Dense, Mode::Hybrid] {
            let filter = Filter::parse("doc_id~zh/**").unwrap();
            let options = SearchOptions { mode, filter, ..SearchOptions::default() };
            let hits = fixture.search("数据库 archive архив", &options);
            assert!(
                !hits.is_empty() && hits.iter().all(|hit| hit.starts_with("zh/")),
                "{kind} {mode:?} {hits:?}"
            );
            let filter = Filter::is(Field::LANGUAGE, "python");
            let hits =
                fixture.search("header archive", &SearchOptions { mode, filter, ..SearchOptions::default() });
            assert!(hits.iter().all(|hit| hit.starts_with("src/")), "{kind} {mode:?} {hits:?}");
        }
    });
}

#[test]
fn hybrid_search_goes_on_without_an_embedder_and_says_so() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let options = SearchOptions::default();
        let answer =
            search(&*fixture.store, &now(&*fixture.store), Models::default(), "archive", &options).unwrap();
        assert_eq!(answer.mode, Mode::Lexical);
        assert!(answer.degraded.unwrap().contains("no embedder"));
        fixture.bag.down.store(true, Ordering::Relaxed);
        let answer = search(
            &*fixture.store,
            &now(&*fixture.store),
            Models::embedder(&*fixture.bag),
            "archive",
            &options,
        )
        .unwrap();
        assert!(answer.degraded.is_some() && !answer.hits.is_empty());
        let dense = SearchOptions { mode: Mode::Dense, ..options };
        assert!(
            search(&*fixture.store, &now(&*fixture.store), Models::default(), "archive", &dense).is_err()
        );
    });
}

#[test]
fn what_cannot_be_searched_is_refused_with_a_sentence() {
    let fixture = corpus("sqlite");
    let run = |query: &str, options: &SearchOptions| {
        search(&*fixture.store, &now(&*fixture.store), Models::embedder(&*fixture.bag), query, options)
            .unwrap_err()
            .to_string()
    };
    let options = SearchOptions::default;
    assert_eq!(run("  ", &options()), "the query is empty; say what to look for");
    assert_eq!(
        run("a", &SearchOptions { top_k: 0, ..options() }),
        "`top_k` is `0`; it must be from 1 to 1000"
    );
    let fusion = Fusion::weighted_sum(f64::NAN);
    assert!(run("a", &SearchOptions { fusion, ..options() }).starts_with("`dense_weight` is `NaN`"));
    let other = Bag::new(8);
    let error = search(&*fixture.store, &now(&*fixture.store), Models::embedder(&*other), "a", &options())
        .unwrap_err();
    assert!(matches!(error, SearchError::Store(_)), "{error}");
}

const SHAPES: &str = "\"\"\"Shapes of the plane.\"\"\"\n\nimport math\n\n\nclass Circle:\n    \"\"\"All points at one distance.\"\"\"\n\n    \
def area(self, precise=False):\n        \"\"\"The area inside.\"\"\"\n        return math.pi * self.radius ** 2\n\n\n\
def area(circles):\n    return sum(circle.area() for circle in circles)\n";

#[test]
fn symbols_and_paths_narrow_a_search() {
    for_each_store(|kind| {
        let files = [("src/shapes.py", SHAPES), ("tests/shapes.py", SHAPES), ("guide.md", GUIDE)];
        let fixture = Fixture::new(kind, &files);
        fixture.index();
        for mode in [Mode::Lexical, Mode::Hybrid] {
            let found = |query: &str| {
                let parsed = parse_query(query, Filter::default()).unwrap();
                let (words, filter) = (parsed.words.clone(), parsed.strict());
                let mut found = fixture.search(
                    &words,
                    &SearchOptions { mode, filter, duplicates: Duplicates::Keep, ..SearchOptions::default() },
                );
                found.sort();
                found
            };
            assert_eq!(
                found("symbol:Circle.area"),
                ["src/shapes.py:9", "tests/shapes.py:9"],
                "{kind} {mode:?}"
            );
            assert_eq!(found("area symbol:Circle::area -path:tests/"), ["src/shapes.py:9"]);
            assert_eq!(found("area symbol:area path:src/*"), ["src/shapes.py:14", "src/shapes.py:9"]);
            // By meaning, whatever passes is ranked.
            let by_words = if mode == Mode::Lexical { 0 } else { 4 };
            assert_eq!(found("archive symbol:area").len(), by_words, "{kind} {mode:?}");
        }
    });
}

#[test]
fn summaries_are_found_when_asked_for() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("shapes.py", SHAPES), ("guide.md", GUIDE)]);
        let plain = fixture.index();
        let fixture = Fixture { pipeline: fixture.pipeline.clone().with_summaries(true), ..fixture };
        // The summaries are a reason to store the document again, and only once.
        assert_eq!(fixture.index().indexed, 2);
        assert_eq!(fixture.index().unchanged, 2);
        for mode in [Mode::Lexical, Mode::Hybrid] {
            let kinds = |artifact: Option<&str>| {
                let filter =
                    artifact.map_or_else(Filter::default, |artifact| Filter::is(Field::ARTIFACT, artifact));
                let options = SearchOptions { mode, filter, top_k: 50, ..SearchOptions::default() };
                let answer = search(
                    &*fixture.store,
                    &now(&*fixture.store),
                    Models::embedder(&*fixture.bag),
                    "circle area",
                    &options,
                )
                .unwrap();
                let mut kinds: Vec<_> =
                    answer.hits.iter().map(|hit| hit.record.artifact.map(SummaryKind::name)).collect();
                kinds.sort_unstable();
                kinds.dedup();
                kinds
            };
            let [class, file, function] = ["class_summary", "file_summary", "function_summary"].map(Some);
            assert_eq!(kinds(None), [None], "{kind} {mode:?}");
            assert_eq!(kinds(Some("function_summary")), [function]);
            assert_eq!(kinds(Some("summary")), [class, file, function]);
            assert_eq!(kinds(Some("all")), [None, class, file, function]);
        }
        // A document's chunks are what they were: in order, and nothing but chunks.
        let records = fixture.store.records(&now(&*fixture.store), "shapes.py").unwrap();
        assert!(records.iter().all(|record| record.artifact.is_none()));
        let guide = fixture.store.records(&now(&*fixture.store), "guide.md").unwrap();
        assert_eq!(records.len() + guide.len(), plain.chunks);
    });
}

/// A reranker that prefers short texts, or fails.
struct Shortest {
    is_down: bool,
}

impl Reranker for Shortest {
    fn name(&self) -> &'static str {
        "shortest"
    }

    fn rerank(&self, _query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        if self.is_down {
            return Err(RerankError::other("the reranker is down"));
        }
        Ok(texts.iter().map(|text| -(text.len() as f32)).collect())
    }
}

#[test]
fn a_reranker_orders_the_best_and_a_failing_one_leaves_their_order() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let options = SearchOptions { top_k: 50, ..SearchOptions::default() };
        let run = |is_down: bool| {
            let reranker = Shortest { is_down };
            let models = Models { reranker: Some(&reranker), ..Models::embedder(&*fixture.bag) };
            search(&*fixture.store, &now(&*fixture.store), models, "archive folder", &options).unwrap()
        };
        let plain = fixture.search("archive folder", &options);
        let reranked = run(false);
        assert!(reranked.rerank_used && reranked.rerank_error.is_none());
        let lengths: Vec<usize> = reranked.hits.iter().map(|hit| hit.record.text.len()).collect();
        assert!(lengths.is_sorted() && lengths.len() == plain.len(), "{lengths:?}");
        for (index, hit) in reranked.hits.iter().enumerate() {
            assert_eq!(hit.rerank.unwrap().rank, index + 1);
            assert!((hit.score + hit.record.text.len() as f64).abs() < 1e-3);
            // What it would have had by fusion is still told.
            let mut stages = [hit.dense, hit.lexical].into_iter().flatten();
            assert!(stages.all(|stage| stage.contribution.is_some()), "{kind} {hit:?}");
        }
        let fallen_back = run(true);
        assert!(!fallen_back.rerank_used && fallen_back.rerank_error.is_some());
        let order: Vec<String> = fallen_back
            .hits
            .iter()
            .map(|hit| format!("{}:{}", hit.record.doc_id, hit.record.start_line))
            .collect();
        assert_eq!(order, plain);
    });
}

#[test]
fn a_filter_on_the_language_of_prose_finds_the_documents_that_are_in_it() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let found = |filter: &str| -> Vec<String> {
            let filter = Filter::parse(filter).unwrap();
            let options = SearchOptions { filter, top_k: 50, ..SearchOptions::default() };
            let hits = fixture.search("数据库 archive архив header", &options);
            let mut documents: Vec<String> =
                hits.iter().filter_map(|hit| Some(hit.rsplit_once(':')?.0.to_owned())).collect();
            documents.sort();
            documents.dedup();
            documents
        };
        assert_eq!(found("prose_language=ru"), ["ru/guide.md"], "{kind}");
        assert_eq!(found("prose=Chinese or prose=en"), ["guide.md", "zh/guide.md"], "{kind}");
        assert_eq!(found("prose_language!=en"), ["ru/guide.md", "src/http.py", "zh/guide.md"], "{kind}");
        let parsed = parse_query("archive prose:en -prose:ru", Filter::default()).unwrap();
        let (words, filter) = (parsed.words.clone(), parsed.strict());
        assert_eq!(words, "archive");
        let options = SearchOptions { filter, ..SearchOptions::default() };
        assert!(fixture.search(&words, &options).iter().all(|hit| hit.starts_with("guide.md")), "{kind}");
    });
    let error = Filter::parse("prose_language=rusian").unwrap_err().to_string();
    assert!(error.starts_with("`prose_language` cannot be `rusian`; known are `ar`"), "{error}");
}

#[test]
fn what_nobody_waits_for_ends_early() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let (store, generation) = (&*fixture.store, now(&*fixture.store));
        let (terms, records) = (alike(&query_ids(terms("archive"))), Filter::parse("token_count>0").unwrap());
        let all = Filter::default();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = |ended: Result<(), StoreError>| matches!(ended, Err(StoreError::Cancelled));
        for stopped in [false, true] {
            stop.store(stopped, Ordering::Relaxed);
            stoppable(&stop, || {
                for filter in [&all, &records] {
                    let lexical = store.lexical(&generation, &terms, filter, 9).map(drop);
                    assert_eq!(is_stopped(lexical), stopped, "{kind}");
                    let dense = store.dense(&generation, &[0.0625; 256], filter, 9).map(drop);
                    assert_eq!(is_stopped(dense), stopped, "{kind}");
                }
                let models = Models::embedder(&*fixture.bag);
                let found = search(store, &generation, models, "archive", &SearchOptions::default());
                let ended = found.map(drop).map_err(|error| error.to_string());
                let expected =
                    if stopped { Err("the caller cancelled the request".to_owned()) } else { Ok(()) };
                assert_eq!(ended, expected, "{kind}");
            });
        }
        // The next caller is another one.
        assert!(store.lexical(&generation, &terms, &all, 9).is_ok(), "{kind}");
    });
}
