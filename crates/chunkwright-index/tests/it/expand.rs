//! Expansion: a chunk with its section or its neighbours.

use chunkwright::{ChunkId, Record, Words};
use chunkwright_index::{
    Answer, Change, Expand, ExpandedAnswer, Expansion, FetchError, FetchOptions, Fetched, Filter, Mode,
    Models, Pipeline, SearchOptions, SqliteStore, Store, expand, fetch, search, search_all_versions,
};
use rusqlite::{Connection, params};

use crate::fixture::{COLLECTION, Fixture, chunker, for_each_store, now};
use crate::kinds::for_each_local_store;

fn prose(titles: [&str; 4], sentence: &str) -> String {
    let paragraphs = |count: usize, word: usize| -> String {
        (0..count)
            .map(|n| format!("{}\n\n", format!("{sentence} {word}{n}. ").repeat(3).trim_end()))
            .collect()
    };
    let [all, first, inner, last] = titles;
    format!(
        "# {all}\n\n{}## {first}\n\n{}### {inner}\n\n{}## {last}\n\n{}",
        paragraphs(1, 0),
        paragraphs(2, 1),
        paragraphs(9, 2),
        paragraphs(1, 3),
    )
}

fn english() -> String {
    prose(["Guide", "Install", "Linux", "Use"], "Unpack the archive into a folder of its own and start it")
}

fn chinese() -> String {
    prose(["指南", "安装", "数据库", "使用"], "启动之前必须先配置数据库连接，然后再运行程序")
}

fn russian() -> String {
    prose(
        ["Руководство", "Установка", "Линукс", "Работа"],
        "Перед запуском настройте подключение к базе данных",
    )
}

fn code() -> String {
    let method = |name: &str, lines: usize| -> String {
        let body: String = (0..lines).map(|n| format!("        value = self.step({n}) + value\n")).collect();
        format!("    def {name}(self, value):\n        \"\"\"Шаг 步骤.\"\"\"\n{body}        return value\n\n")
    };
    format!(
        "import os\n\n\nclass Walker:\n    \"\"\"Walks.\"\"\"\n\n{}{}{}\n\ndef main():\n    Walker().run(1)\n",
        method("run", 3),
        method("long", 40),
        method("end", 2)
    )
}

/// Every document in the encoding its users have it in.
fn corpus(kind: &str) -> Fixture {
    let fixture = Fixture::new(
        kind,
        &[("en.md", &english()), ("code.py", &code()), ("one.md", "# One\n\nAll of it.\n")],
    );
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    fixture.write("ru.md", &utf16(&format!("\u{feff}{}", russian().replace('\n', "\r\n"))));
    fixture.write("zh.md", &encoding_rs::GBK.encode(&chinese()).0);
    fixture.write("line.txt", "many words on one line ".repeat(60).as_bytes());
    assert_eq!(fixture.index().indexed, 6);
    fixture
}

fn by(expand: Expand, max_tokens: Option<usize>) -> Expansion<'static> {
    Expansion { expand, max_tokens, counter: &Words }
}

fn get(store: &dyn Store, reference: &str, expansion: Option<Expansion<'_>>) -> Fetched {
    fetch(store, &now(store), reference, FetchOptions { expansion, ..FetchOptions::default() }).unwrap()
}

fn all_records(store: &dyn Store) -> Vec<Record> {
    let documents = store.documents(&now(store)).unwrap();
    documents.iter().flat_map(|info| store.records(&now(&*store), &info.doc_id).unwrap()).collect()
}

#[test]
fn a_parent_is_what_fetch_takes_and_holds_more_than_the_chunk() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for record in all_records(&*fixture.store) {
            let parent = get(&*fixture.store, &record.parent, None);
            let alone = record.total_chunks == 1;
            assert!(parent.text.contains(&record.content), "{kind} {}", record.parent);
            assert!(
                alone || parent.text.trim().len() > record.content.trim().len(),
                "{kind} {}",
                record.parent
            );
            assert!(parent.records.iter().any(|inside| inside.chunk_id == record.chunk_id));
        }
        let in_section = get(&*fixture.store, "en.md#3", None).records.remove(0);
        let section = get(&*fixture.store, &in_section.parent, None);
        assert!(section.text.starts_with("### Linux\n"), "{kind} {} {:?}", in_section.parent, section.text);
        let method = get(&*fixture.store, "code.py", None).records;
        let method = method.iter().find(|record| record.content.contains("step(20)")).unwrap();
        let method = get(&*fixture.store, &method.parent, None).text;
        assert!(
            method.starts_with("    def long(") && method.trim_end().ends_with("return value"),
            "{kind} {method}"
        );
    });
}

#[test]
fn neighbours_are_linked_in_both_directions() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for info in fixture.store.documents(&now(&*fixture.store)).unwrap() {
            let records = fixture.store.records(&now(&*fixture.store), &info.doc_id).unwrap();
            let ids: Vec<Option<&ChunkId>> = records.iter().map(|record| Some(&record.chunk_id)).collect();
            let (previous, next): (Vec<_>, Vec<_>) =
                records.iter().map(|record| (record.previous.as_ref(), record.next.as_ref())).unzip();
            assert_eq!(previous[1..], ids[..ids.len() - 1], "{kind}");
            assert_eq!(next[..ids.len() - 1], ids[1..], "{kind}");
            assert_eq!((previous[0], next[ids.len() - 1]), (None, None), "{kind}");
        }
    });
}

#[test]
fn an_expanded_text_is_a_slice_of_the_source_within_its_budget() {
    for_each_local_store(|kind| {
        let fixture = corpus(kind);
        for record in all_records(&*fixture.store) {
            let source = get(&*fixture.store, &record.doc_id, None).text;
            let own = Words.count_of(&record.content);
            for expand in
                [Expand::Parent, Expand::Neighbours(0), Expand::Neighbours(1), Expand::Neighbours(9)]
            {
                for max in [Some(1), Some(40), Some(90), Some(150), Some(1000), None] {
                    let fetched = get(&*fixture.store, &record.chunk_id.to_string(), Some(by(expand, max)));
                    let place = format!("{kind} {} {expand} {max:?}", record.chunk_id);
                    let (tokens, text) = (fetched.token_count.unwrap(), fetched.text.as_str());
                    assert_eq!(tokens, Words.count_of(text), "{place}");
                    assert!(max.is_none_or(|max| tokens <= max.max(own)), "{place}: {tokens}");
                    assert!(source.contains(text) && text.contains(&record.content), "{place}");
                    let lines = get(&*fixture.store, &fetched.reference(), None);
                    assert!(lines.text.contains(text), "{place}");
                    assert_eq!(fetched.found, Some(record.chunk_id), "{place}");
                    let (first, last) = (&fetched.records[0], fetched.records.last().unwrap());
                    if expand != Expand::Parent {
                        assert_eq!(
                            text,
                            &source[first.start_byte as usize..last.end_byte as usize],
                            "{place}"
                        );
                    }
                }
            }
        }
    });
}

/// The count of a text, as the tests say it.
trait CountOf {
    fn count_of(&self, text: &str) -> usize;
}

impl CountOf for Words {
    fn count_of(&self, text: &str) -> usize {
        chunkwright::TokenCounter::count(self, text)
    }
}

#[test]
fn a_section_that_fits_comes_whole_and_a_larger_one_in_part() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for (doc, index) in [("en.md", 4), ("ru.md", 4), ("zh.md", 4), ("code.py", 5)] {
            let reference = format!("{doc}#{index}");
            let record = get(&*fixture.store, &reference, None).records.remove(0);
            let section = get(&*fixture.store, &record.parent, None);
            let whole = get(&*fixture.store, &reference, Some(by(Expand::Parent, None)));
            assert_eq!(whole.text, section.text, "{kind} {reference}");
            assert_eq!(whole.reference(), record.parent, "{kind} {reference}");
            let budget = whole.token_count.unwrap() - 1;
            let part = get(&*fixture.store, &reference, Some(by(Expand::Parent, Some(budget))));
            assert!(
                section.text.contains(&part.text) && part.text.len() < section.text.len(),
                "{kind} {reference}"
            );
            // Not one whole neighbour more would fit.
            let (first, last) = (part.records[0].chunk_index, part.records.last().unwrap().chunk_index);
            let source = get(&*fixture.store, doc, None);
            for (first, last) in [(first.checked_sub(1), Some(last)), (Some(first), Some(last + 1))] {
                let ends = first
                    .zip(last)
                    .map(|(a, b)| (source.records.get(a as usize), source.records.get(b as usize)));
                let Some((Some(first), Some(last))) = ends else { continue };
                let grown = &source.text[first.start_byte as usize..last.end_byte as usize];
                assert!(
                    !section.text.contains(grown) || Words.count_of(grown) > budget,
                    "{kind} {reference}: {grown}"
                );
            }
        }
    });
}

fn found(fixture: &Fixture, query: &str, top_k: usize) -> Answer {
    let options = SearchOptions { mode: Mode::Lexical, top_k, ..SearchOptions::default() };
    search(&*fixture.store, &now(&*fixture.store), Models::default(), query, &options).unwrap()
}

/// Expands what `query` finds and asserts what holds for every answer.
#[track_caller]
fn expanded(fixture: &Fixture, query: &str, expansion: Expansion<'_>) -> ExpandedAnswer {
    let answer = found(fixture, query, 20);
    let expanded = expand(&*fixture.store, &now(&*fixture.store), &answer, expansion).unwrap();
    let mut ranks = Vec::new();
    for (index, found) in expanded.passages.iter().enumerate() {
        let passage = &found.passage;
        let source = get(&*fixture.store, &passage.doc_id, None).text;
        assert_eq!(found.rank, index + 1);
        assert_eq!(passage.text, source[passage.start_byte as usize..passage.end_byte as usize]);
        assert_eq!(passage.token_count, Words.count_of(&passage.text));
        assert!(get(&*fixture.store, &passage.reference, None).text.contains(&passage.text));
        assert!(found.hits.is_sorted_by_key(|hit| hit.rank));
        for hit in &found.hits {
            let record = &answer.hits[hit.rank - 1].record;
            assert_eq!(record.chunk_id, hit.chunk_id);
            assert!(passage.start_byte <= record.start_byte && record.end_byte <= passage.end_byte);
            ranks.push(hit.rank);
        }
        for other in &expanded.passages[..index] {
            let other = &other.passage;
            let apart = other.end_byte <= passage.start_byte || passage.end_byte <= other.start_byte;
            assert!(apart || other.doc_id != passage.doc_id, "{} and {}", other.reference, passage.reference);
        }
    }
    assert!(expanded.passages.is_sorted_by_key(|passage| passage.hits[0].rank));
    ranks.sort_unstable();
    assert_eq!(ranks, (1..=answer.hits.len()).collect::<Vec<_>>(), "every hit is in one passage");
    expanded
}

#[test]
fn hits_of_one_section_are_one_passage_with_all_their_ranks() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for (query, doc) in [("archive folder", "en.md"), ("数据库", "zh.md"), ("подключение", "ru.md")]
        {
            let answer = expanded(&fixture, query, by(Expand::Parent, Some(10_000)));
            let [passage] = answer.passages.as_slice() else { panic!("{kind} {query}: {answer:?}") };
            assert!(passage.hits.len() > 3, "{kind} {query}");
            assert_eq!((passage.passage.doc_id.as_str(), passage.passage.start_line), (doc, 1), "{kind}");
        }
    });
}

#[test]
fn passages_share_no_byte_whatever_the_budget() {
    for_each_local_store(|kind| {
        let fixture = corpus(kind);
        for query in ["archive folder 数据库 value self words", "подключение step", "main"] {
            for expand in
                [Expand::Parent, Expand::Neighbours(0), Expand::Neighbours(1), Expand::Neighbours(3)]
            {
                for max in [Some(1), Some(60), Some(130), Some(300), None] {
                    expanded(&fixture, query, by(expand, max));
                }
            }
        }
    });
}

#[test]
fn neighbours_of_neighbours_become_one_passage() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let chunk =
            |index: usize| fixture.store.records(&now(&*fixture.store), "en.md").unwrap().remove(index);
        let answer = found(&fixture, "archive", 20);
        let hit = |index: usize| {
            answer.hits.iter().find(|hit| hit.record.chunk_id == chunk(index).chunk_id).unwrap()
        };
        let answer = Answer { hits: vec![hit(3).clone(), hit(5).clone()], ..answer.clone() };
        let answer =
            expand(&*fixture.store, &now(&*fixture.store), &answer, by(Expand::Neighbours(1), None)).unwrap();
        let [passage] = answer.passages.as_slice() else { panic!("{kind}: {answer:?}") };
        let span = (passage.passage.start_byte, passage.passage.end_byte);
        assert_eq!(span, (chunk(2).start_byte, chunk(6).end_byte), "{kind}");
    });
}

#[test]
fn what_went_away_since_it_was_found_is_not_shown() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let answer = found(&fixture, "archive 数据库", 20);
        fixture.store.write(&now(&*fixture.store), &[Change::Remove { doc_id: "zh.md".into() }]).unwrap();
        fixture.remove("zh.md");
        fixture.write(
            "en.md",
            english().replacen("# Guide\n", "# Guide\n\nA new first paragraph.\n", 1).as_bytes(),
        );
        fixture.index();
        let source = get(&*fixture.store, "en.md", None).text;
        for how in [Expand::Parent, Expand::Neighbours(2)] {
            let expanded =
                expand(&*fixture.store, &now(&*fixture.store), &answer, by(how, Some(100))).unwrap();
            for found in &expanded.passages {
                let passage = &found.passage;
                assert_eq!(passage.doc_id, "en.md", "{kind}");
                assert_eq!(
                    passage.text,
                    source[passage.start_byte as usize..passage.end_byte as usize],
                    "{kind}"
                );
            }
        }
    });
}

#[test]
fn nothing_unknown_is_expanded() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let expansion = Some(by(Expand::Parent, None));
        for reference in ["nope.md", "nope.md#1", "0123456789abcdef0123456789abcdef"] {
            let error = fetch(
                &*fixture.store,
                &now(&*fixture.store),
                reference,
                FetchOptions { expansion, ..FetchOptions::default() },
            )
            .err()
            .unwrap();
            assert!(matches!(error, FetchError::Unknown { .. }), "{kind} {reference} {error}");
        }
        let whole = get(&*fixture.store, "one.md", expansion);
        assert_eq!((whole.text.as_str(), whole.token_count), ("# One\n\nAll of it.\n", None), "{kind}");
        assert_eq!(get(&*fixture.store, "one.md#0", expansion).text, whole.text, "{kind}");
    });
    assert_eq!(
        "all".parse::<Expand>().unwrap_err().to_string(),
        "`all` is not an expansion; expected `parent`, `merge` or a number of neighbours, such as `1`"
    );
    assert_eq!(("parent".parse(), "2".parse()), (Ok(Expand::Parent), Ok(Expand::Neighbours(2))));
}

#[test]
fn hits_side_by_side_are_merged_within_the_budget_and_others_are_not() {
    for_each_store(|kind| {
        let paragraphs: Vec<String> = (0..9)
            .map(|n| format!("## Part {n}\n\nThe {} of this part, told at such a length that it stands alone in a chunk of its own, with room for nothing else beside it at all, whatever comes.\n", if n == 4 { "exception" } else { "lemma" }))
            .collect();
        let fixture = Fixture::new(kind, &[("a.md", &paragraphs.join("\n"))]);
        fixture.index();
        let options = SearchOptions { mode: Mode::Lexical, top_k: 50, ..SearchOptions::default() };
        let answer =
            search(&*fixture.store, &now(&*fixture.store), Models::default(), "lemma", &options).unwrap();
        assert_eq!(answer.hits.len(), 8);
        let merged = |max_tokens| {
            let expansion = Expansion { expand: Expand::Merge, max_tokens, counter: &Words };
            let expanded = expand(&*fixture.store, &now(&*fixture.store), &answer, expansion).unwrap();
            let mut lines: Vec<(u32, u32, usize)> = expanded
                .passages
                .iter()
                .map(|found| (found.passage.start_line, found.passage.end_line, found.hits.len()))
                .collect();
            lines.sort_unstable();
            let inside: usize = lines.iter().map(|(_, _, hits)| hits).sum();
            assert_eq!(inside, 8);
            lines
        };
        assert_eq!(merged(None), [(1, 15, 4), (21, 35, 4)]);
        assert!((4..=6).contains(&merged(Some(70)).len()));
        assert_eq!(merged(Some(1)).len(), 8);
    });
}

/// Every way to expand.
const WAYS: [Expand; 4] = [Expand::Parent, Expand::Merge, Expand::Neighbours(0), Expand::Neighbours(2)];

/// Runs a statement on the tables of a store that is open.
fn execute(fixture: &Fixture, statement: &str, value: &str) {
    let tables = Connection::open(fixture.store_path().join(SqliteStore::FILE)).unwrap();
    assert!(tables.execute(statement, params![value]).unwrap() > 0);
}

#[test]
fn a_chunk_that_begins_with_headings_above_its_section_is_found_with_its_parent() {
    for_each_store(|kind| {
        let lines: String =
            (0..40).map(|n| format!("Строка {n} of the third part, 第三部分。\n\n")).collect();
        let text = format!("# Alpha\n\n## Beta\n\nOne line.\n\n### Gamma\n\n{lines}");
        let fixture = Fixture::new(kind, &[("a.md", &text)]);
        fixture.index();
        for way in WAYS {
            let answer = expanded(&fixture, "alpha beta gamma third", by(way, None));
            assert!(answer.passages.iter().all(|found| found.unexpanded.is_none()), "{kind} {way}");
        }
    });
}

#[test]
fn a_stored_parent_that_does_not_hold_its_chunk_fails_nothing_and_is_worked_out_anew() {
    let fixture = corpus("sqlite");
    let answer = found(&fixture, "archive folder 数据库 подключение step words", 50);
    let way = |way| expand(&*fixture.store, &now(&*fixture.store), &answer, by(way, None)).unwrap();
    let before = WAYS.map(way);
    for wrong in ["en.md#L200-L300", "en.md#L1-L1", "nope.md", "nonsense", ""] {
        execute(&fixture, "UPDATE chunks SET record = json_set(record, '$.p', ?1)", wrong);
        assert_eq!(WAYS.map(way), before, "`{wrong}`");
        for record in all_records(&*fixture.store) {
            for way in WAYS {
                let fetched = get(&*fixture.store, &record.chunk_id.to_string(), Some(by(way, None)));
                assert!(fetched.text.contains(&record.content), "`{wrong}` {way}");
            }
        }
    }
}

#[test]
fn a_hit_that_cannot_be_expanded_comes_with_its_own_text_and_fails_no_other() {
    let fixture = corpus("sqlite");
    let answer = found(&fixture, "archive folder 数据库 подключение step words", 50);
    let damage = "UPDATE chunks SET record = json_set(record, '$.n', 99)
        WHERE document IN (SELECT id FROM documents WHERE doc_id = ?1)";
    execute(&fixture, damage, "en.md");
    for way in WAYS {
        let expanded = expand(&*fixture.store, &now(&*fixture.store), &answer, by(way, None)).unwrap();
        let mut ranks = Vec::new();
        for found in &expanded.passages {
            ranks.extend(found.hits.iter().map(|hit| hit.rank));
            let is_whole = found.passage.doc_id != "en.md";
            assert_eq!(found.unexpanded.is_none(), is_whole, "{way} {found:?}");
            if !is_whole {
                let record = &answer.hits[found.hits[0].rank - 1].record;
                assert_eq!((&found.passage.text, found.hits.len()), (&record.content, 1));
                assert!(found.unexpanded.as_ref().unwrap().contains("the chunks of `en.md`"), "{found:?}");
            }
        }
        ranks.sort_unstable();
        assert_eq!(ranks, (1..=answer.hits.len()).collect::<Vec<_>>(), "{way}");
    }
}

#[test]
fn summaries_and_hits_of_older_generations_are_expanded_or_come_with_their_own_text() {
    for_each_local_store(|kind| {
        let fixture = corpus(kind);
        let again = Pipeline::new(fixture.store.clone(), COLLECTION, chunker(), "test").with_summaries(true);
        again.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        let all = Filter::parse("artifact=all").unwrap();
        let options =
            SearchOptions { mode: Mode::Lexical, top_k: 100, filter: all, ..SearchOptions::default() };
        let answer = search_all_versions(
            &*fixture.store,
            COLLECTION,
            Models::default(),
            "walker run archive",
            &options,
        )
        .unwrap();
        assert!(answer.hits.iter().any(|hit| hit.record.artifact.is_some()), "{kind}");
        assert!(answer.hits.iter().any(|hit| hit.generation != now(&*fixture.store).number), "{kind}");
        for way in WAYS {
            let expanded = expand(&*fixture.store, &now(&*fixture.store), &answer, by(way, None)).unwrap();
            let mut ranks = Vec::new();
            for found in &expanded.passages {
                for hit in &found.hits {
                    let is_summary = answer.hits[hit.rank - 1].record.artifact.is_some();
                    assert_eq!(found.unexpanded.is_some(), is_summary, "{kind} {way} {found:?}");
                    ranks.push(hit.rank);
                }
            }
            ranks.sort_unstable();
            assert_eq!(ranks, (1..=answer.hits.len()).collect::<Vec<_>>(), "{kind} {way}");
        }
    });
}
