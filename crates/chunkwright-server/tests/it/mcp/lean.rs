//! Answers cost what their texts cost, and need few calls.

use std::path::Path;

use chunkwright_engine::{ExpandRequest, Found, IndexRequest, SearchRequest};
use chunkwright_server::mcp::McpOptions;
use serde_json::{Value, json};

use super::{Client, Index, long_document};

/// Questions about the examples, in three languages.
const QUESTIONS: &[&str] = &[
    "When does the last ferry leave the harbour?",
    "idempotency key of a shipment",
    "馒头蒸好揭盖以后为什么会塌",
    "老面怎么保存",
    "Как повторить запрос без последствий?",
    "Когда отходит последний паром?",
];

/// The index of the examples.
fn examples() -> Index {
    let index = Index::new(&[]);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
    let request = IndexRequest { paths: vec![corpus], ..IndexRequest::default() };
    index.engine.default_collection().index(request, &|_| ()).unwrap();
    index
}

fn count(index: &Index, text: &str) -> usize {
    index.engine.counter().unwrap().count(text)
}

#[tokio::test]
async fn the_list_of_tools_costs_at_most_1500_tokens() {
    let index = Index::new(&[("guide.md", "# Guide\n")]);
    assert_eq!(index.engine.counter().unwrap().name(), "o200k");
    let tools = index.client().ask("tools/list", json!({})).await.unwrap();
    let read = |tool: &Value| json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] });
    let read: Vec<Value> = tools["tools"].as_array().unwrap().iter().map(read).collect();
    let tokens = count(&index, &json!(read).to_string());
    assert!((500..=1_500).contains(&tokens), "{tokens}");
}

#[tokio::test]
async fn five_hits_of_140_tokens_cost_at_most_1000_tokens_in_every_language() {
    let index = examples();
    let client = index.client();
    for query in QUESTIONS {
        let found = client.answer("search", json!({ "query": query, "min_relevance": 0 })).await;
        let results = found["results"].as_array().unwrap();
        assert_eq!(results.len(), 5, "{query}");
        let all = SearchRequest { min_relevance: Some(0.0), ..SearchRequest::new(*query) };
        let Found::Hits { hits } = index.engine.search(&all).unwrap().found else { panic!("hits") };
        let texts: usize = hits.iter().map(|hit| hit.record.token_count as usize).sum();
        let read = client.read("search", json!({ "query": query, "min_relevance": 0 })).await;
        let beside = count(&index, &read).saturating_sub(texts);
        assert!(beside + 5 * 140 <= 1_000, "{query}: {beside} tokens beside the texts\n{read}");
        for result in results {
            let (id, start, end) =
                (result["id"].as_str().unwrap(), &result["start_line"], &result["end_line"]);
            let place = format!("{}:{start}-{end}", result["doc_id"].as_str().unwrap());
            assert!(read.contains(&place) && read.contains(id), "{place} {id}\n{read}");
        }
    }
}

#[tokio::test]
async fn what_a_hit_stands_in_is_shown_once() {
    let method = |name: &str| {
        let lines: Vec<String> =
            (0..20).map(|at| format!("        crane_{name}_{at} = lift({at})\n")).collect();
        format!("    def {name}(self):\n{}\n", lines.concat())
    };
    let class =
        |name: &str| format!("class {name}(Base):\n{}", ["load", "lift", "drop"].map(method).concat());
    let index = Index::new(&[("pier.py", &class("Pier")), ("dock.py", &class("Dock"))]);
    let client = index.client();
    let call = json!({ "query": "which code lifts by a crane", "limit": 20, "min_relevance": 0, "collapse": "none" });
    let read = client.read("search", call.clone()).await;
    let results = client.answer("search", call).await["results"].as_array().unwrap().clone();
    for (path, line) in [("pier.py", "class Pier(Base):"), ("dock.py", "class Dock(Base):")] {
        let of: Vec<_> = results.iter().filter(|it| it["doc_id"].as_str().unwrap().ends_with(path)).collect();
        let own = |at: usize| of[at]["content"].as_str().unwrap().contains(line);
        // A text that begins with it is whole; what it stands in is above others unless that was shown.
        let shown = (0..of.len()).filter(|at| *at == 0 || own(*at)).count();
        assert!(shown < of.len(), "{read}");
        assert_eq!(read.matches(line).count(), shown, "{line}\n{read}");
    }
}

#[tokio::test]
async fn what_a_hit_stands_in_is_told_from_a_longer_name() {
    let method = |name: &str, word: &str| {
        let lines: Vec<String> = (0..40).map(|at| format!("    {word}_{name}_{at} = lift({at})\n")).collect();
        format!("  def {name}\n{}  end\n\n", lines.concat())
    };
    let class = |name: &str, word: &str| {
        let methods = ["load", "lift", "drop"].map(|of| method(of, word));
        format!("class {name}\n{}end\n\n", methods.concat())
    };
    let text = class("PierHead", "crane") + &class("Pier", "boat");
    let index = Index::new(&[("harbour.rb", &text)]);
    let client = index.client();
    let call = json!({ "query": "crane lift", "limit": 20, "min_relevance": 0, "collapse": "none" });
    let read = client.read("search", call.clone()).await;
    let results = client.answer("search", call).await["results"].as_array().unwrap().clone();
    let place = |result: &Value| read.find(result["id"].as_str().unwrap()).unwrap();
    let ends = results.iter().skip(1).map(place).chain([read.len()]);
    let mut contexts = Vec::new();
    for (result, end) in results.iter().zip(ends) {
        for line in result["context"].as_str().unwrap_or_default().lines() {
            contexts.push(line);
            assert!(read[..end].lines().any(|shown| shown == line), "{line}\n{read}");
        }
    }
    assert!(contexts.contains(&"class Pier") && contexts.contains(&"class PierHead"), "{contexts:?}\n{read}");
}

#[tokio::test]
async fn of_many_hits_the_first_are_whole_and_the_last_are_dropped() {
    let index = examples();
    let client = index.client_of(McpOptions { max_tokens: 2_000, ..McpOptions::default() });
    for query in QUESTIONS {
        let all = SearchRequest { top_k: 20, min_relevance: Some(0.0), ..SearchRequest::new(*query) };
        let Found::Hits { hits } = index.engine.search(&all).unwrap().found else { panic!("hits") };
        let (mut offset, mut found) = (0, Vec::new());
        while found.len() < hits.len() {
            let call = json!({ "query": query, "limit": 20 - offset, "offset": offset, "min_relevance": 0 });
            let answer = client.answer("search", call.clone()).await;
            let results = answer["results"].as_array().unwrap();
            assert!(!results.is_empty(), "{query}");
            found.extend(results.iter().map(|result| result["content"].as_str().unwrap().to_owned()));
            let next = found.len();
            let read = client.read("search", call).await;
            assert!(index.tokens(&json!(read)) <= 2_000);
            // In Markdown there is room for at least as many.
            let shown =
                hits[offset..].iter().take_while(|hit| read.contains(&*hit.record.chunk_id.to_string()));
            assert!(offset + shown.count() >= next, "{read}");
            if next < hits.len() {
                let said = answer["next_step"].as_str().unwrap();
                assert!(said.contains(&format!("\"offset\": {next}")), "{said}");
            }
            offset = next;
        }
        assert!(found.iter().eq(hits.iter().map(|hit| hit.record.shown())), "{query}");
    }
}

#[tokio::test]
async fn passages_that_do_not_fit_follow_where_the_answer_says() {
    let index = examples();
    let client = index.client_of(McpOptions { max_tokens: 1_500, ..McpOptions::default() });
    let asked = |query| ["parent", "merge", "1"].map(|with| (query, with));
    let mut followed = 0;
    for (query, with) in QUESTIONS.iter().flat_map(asked) {
        let all = SearchRequest { top_k: 20, min_relevance: Some(0.0), ..SearchRequest::new(*query) };
        let Found::Hits { hits } = index.engine.search(&all).unwrap().found else { panic!("hits") };
        let (mut offset, mut read) = (0, Vec::new());
        while offset < 20 {
            let call = json!({ "query": query, "limit": 20 - offset, "offset": offset, "min_relevance": 0, "expand": with });
            let answer = client.answer("search", call).await;
            read.extend(answer["results"].as_array().unwrap().clone());
            assert!(!answer.to_string().contains("left out"), "{answer}");
            let Some((_, next)) = answer["next_step"].as_str().unwrap_or_default().split_once("\"offset\": ")
            else {
                break;
            };
            let next = next.trim_end_matches('.').parse().unwrap();
            assert!(next > offset, "{answer}");
            (offset, followed) = (next, followed + 1);
        }
        for hit in hits {
            let text = hit.record.shown();
            let is_there = |result: &Value| {
                result["doc_id"] == *hit.record.doc_id && result["content"].as_str().unwrap().contains(text)
            };
            assert!(read.iter().any(is_there), "{query} {with}: {text}");
        }
    }
    assert!(followed > QUESTIONS.len(), "{followed}");
}

#[tokio::test]
async fn a_best_passage_over_the_limit_is_named_and_passed_over() {
    let index = examples();
    let client = index.client();
    for query in QUESTIONS {
        let call = json!({ "query": query, "limit": 6, "min_relevance": 0, "expand": "parent" });
        let asked = |most: usize| {
            let mut call = call.clone();
            call["max_tokens"] = json!(most);
            client.answer("search", call)
        };
        // None fits: another page would not help.
        let answer = asked(1).await;
        let said = answer["next_step"].as_str().unwrap();
        assert!(said.contains("max_tokens") && !said.contains("offset"), "{answer}");
        assert!(answer["notices"].to_string().contains("found "), "{answer}");
        // Wherever some fit, the best is there or named.
        for most in (100..1_000).step_by(100) {
            let (whole, answer) = (client.answer("search", call.clone()).await, asked(most).await);
            let best = &whole["results"][0]["id"];
            let is_there = answer["results"].as_array().unwrap().iter().any(|result| result["id"] == *best);
            assert!(is_there || answer["notices"].to_string().contains("the best of them is"), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_hit_that_is_larger_than_an_answer_is_shortened_and_not_lost() {
    let line = "harbour ".repeat(3_000);
    let index = Index::new(&[("table.csv", &format!("name,text\na,\"{line}\"\n"))]);
    let client = index.client_of(McpOptions { max_tokens: 500, ..McpOptions::default() });
    let read = client.read("search", json!({ "query": "harbour", "limit": 1 })).await;
    assert!(read.contains("harbour harbour"), "{read}");
    assert!(index.tokens(&json!(read)) <= 500);
}

/// A notebook whose outputs are far larger than its text.
fn notebook() -> String {
    let image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(2_000);
    let cell = |number: usize| {
        json!({
            "cell_type": "code", "execution_count": number, "metadata": {},
            "source": [format!("def tide_{number}(harbour):\n"), format!("    return harbour + {number}\n")],
            "outputs": [{ "output_type": "display_data", "data": { "image/png": image }, "metadata": {} }],
        })
    };
    let title = json!({ "cell_type": "markdown", "metadata": {}, "source": ["# Tides of the harbour\n", "\n", "The tide turns twice a day."] });
    let cells: Vec<Value> = [title].into_iter().chain((0..6).map(cell)).collect();
    json!({ "cells": cells, "metadata": { "kernelspec": { "language": "python" } }, "nbformat": 4, "nbformat_minor": 5 })
        .to_string()
}

fn page() -> String {
    let part = |number: usize| {
        format!(
            "<div class=\"wrap\" style=\"margin:{number}px\"><h2 id=\"p{number}\">Pier {number}</h2><p>The <b>harbour</b> has a pier &amp; a crane.</p></div>"
        )
    };
    format!(
        "<html><head><style>body {{ color: red }}</style></head><body>{}</body></html>",
        (0..9).map(part).collect::<String>()
    )
}

/// Fails if a text shows the source of a notebook or a page.
fn check_rendered(text: &str) {
    for raw in ["iVBORw0KGgo", "\"cell_type\"", "<div", "<h2", "&amp;", "color: red"] {
        assert!(!text.contains(raw), "{raw}: {}", &text[..text.len().min(2_000)]);
    }
}

#[tokio::test]
async fn no_answer_shows_more_than_its_budget_or_what_is_not_rendered() {
    let index = Index::new(&[
        ("tides.ipynb", &notebook()),
        ("piers.html", &page()),
        ("guide.md", &long_document(9)),
        ("crlf.md", &"# Harbour\r\n\r\nThe harbour has a crane.\r\n".repeat(3)),
        ("code/pier.py", "class Pier:\n    def harbour(self):\n        return 1\n"),
    ]);
    for expand in [None, Some("parent"), Some("1"), Some("merge")] {
        for max_tokens in [1, 50, 300, 2_000] {
            let request = SearchRequest {
                top_k: 20,
                max_tokens: Some(max_tokens),
                min_relevance: Some(0.0),
                expand: expand.map(|with| ExpandRequest { with: with.parse().unwrap(), max_tokens: None }),
                ..SearchRequest::new("harbour tide pier")
            };
            let answer = index.engine.search(&request).unwrap();
            let json = serde_json::to_value(&answer).unwrap();
            let key = if expand.is_some() { "passages" } else { "hits" };
            let texts = |hit: &Value| {
                let shown = ["context", "content", "text"]
                    .map(|key| hit[key].as_str().unwrap_or_default().to_owned());
                shown.iter().map(|text| count(&index, text)).sum::<usize>()
            };
            let shown: usize = json[key].as_array().unwrap().iter().map(texts).sum();
            assert!(shown <= max_tokens, "{expand:?} {max_tokens}: {shown}");
            assert!(!json[key].as_array().unwrap().is_empty() || max_tokens < 300, "{expand:?}: {json}");
            check_rendered(&json[key].to_string());
        }
    }
    for max_tokens in [500, 1_500, 6_000] {
        let client = index.client_of(McpOptions { max_tokens, ..McpOptions::default() });
        for format in ["text", "structured"] {
            for arguments in [
                json!({ "query": "harbour tide", "limit": 20, "min_relevance": 0 }),
                json!({ "query": "harbour tide", "limit": 20, "min_relevance": 0, "detail": "full" }),
                json!({ "query": "harbour", "queries": ["tide", "pier"], "limit": 20, "expand": "parent" }),
            ] {
                let mut arguments = arguments;
                arguments["format"] = json!(format);
                let result = client.call("search", arguments.clone()).await;
                let tokens = index.tokens(&result);
                assert!(tokens <= max_tokens, "{arguments}: {tokens} of {max_tokens}");
                check_rendered(&result.to_string());
                // A call's own budget is that of the whole answer too.
                for asked in [500, 900, 100_000] {
                    arguments["max_tokens"] = json!(asked);
                    let tokens = index.tokens(&client.call("search", arguments.clone()).await);
                    assert!(tokens <= max_tokens.min(asked), "{arguments}: {tokens} of {max_tokens}");
                }
            }
            for id in ["tides.ipynb", "piers.html", "guide.md"] {
                let (mut next, mut pages) = (json!(id), 0);
                while let Some(id) = next.as_str() {
                    let call = json!({ "id": id, "ids": ["crlf.md"], "format": format });
                    let result = client.call("fetch", call).await;
                    let tokens = index.tokens(&result);
                    assert!(tokens <= max_tokens, "{id}: {tokens} of {max_tokens}");
                    check_rendered(&result.to_string());
                    next = result["structuredContent"]["next"].clone();
                    pages += 1;
                    assert!(pages < 50, "{next}");
                }
            }
        }
    }
}

/// All pages of a document.
async fn pages(client: &Client, id: &str, raw: bool) -> String {
    let (mut next, mut text) = (json!(id), String::new());
    while let Some(id) = next.as_str() {
        let answer = client.answer("fetch", json!({ "id": id, "raw": raw })).await;
        text += answer["text"].as_str().unwrap();
        next = answer["next"].clone();
    }
    text
}

#[tokio::test]
async fn pages_of_a_rendered_document_are_its_rendering_and_raw_ones_its_source() {
    let (notebook, page) = (notebook(), page());
    let index = Index::new(&[("tides.ipynb", &notebook), ("piers.html", &page)]);
    let whole = index.client_of(McpOptions { max_tokens: 200_000, ..McpOptions::default() });
    let small = index.client_of(McpOptions { max_tokens: 600, ..McpOptions::default() });
    for (id, source) in [("tides.ipynb", &notebook), ("piers.html", &page)] {
        let rendered = pages(&whole, id, false).await;
        check_rendered(&rendered);
        assert_eq!(pages(&small, id, false).await, rendered);
        assert_eq!(&pages(&whole, id, true).await, source);
        assert_eq!(&pages(&small, id, true).await, source);
    }
    assert!(pages(&whole, "tides.ipynb", false).await.contains("```python\ndef tide_0(harbour):\n"));
    assert!(
        pages(&whole, "piers.html", false).await.contains("## Pier 3\n\nThe harbour has a pier & a crane.")
    );
}

#[tokio::test]
async fn several_queries_share_one_answer_in_turn() {
    let index = Index::new(&[("guide.md", &long_document(9))]);
    let client = index.client();
    let call = json!({ "query": "number3", "queries": ["number7", "number3 leaves"], "limit": 3 });
    let answer = client.answer("search", call).await;
    let results = answer["results"].as_array().unwrap();
    let content = |at: usize| results[at]["content"].as_str().unwrap();
    assert!(content(0).contains("number3") && content(1).contains("number7"), "{answer}");
    assert_eq!((&results[0]["query"], &results[1]["query"]), (&json!(1), &json!(2)));
    let ids: Vec<&Value> = results.iter().map(|result| &result["id"]).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "each once");
    let many = vec!["a"; 10];
    let said = client.failure("search", json!({ "query": "a", "queries": many })).await;
    assert!(said.contains("at most 10 queries; these are 11"), "{said}");
    let said = client.failure("search", json!({ "query": "a", "queries": [""] })).await;
    assert!(said.contains("the query is empty"), "{said}");
}

#[tokio::test]
async fn duplicates_count_once_unless_all_are_asked_for() {
    let driver = "def main():\n    nums = [4, 1, 3]\n    bubble_sort(nums)\n";
    let index = Index::new(&[
        ("codes/python/sorting/bubble_sort.py", "def bubble_sort(nums):\n    swap(nums)\n    return nums\n"),
        (
            "codes/java/sorting/bubble_sort.java",
            "class bubble_sort {\n    static void bubbleSort(int[] nums) { swap(nums); }\n}\n",
        ),
        (
            "codes/csharp/sorting/BubbleSort.cs",
            "class BubbleSort {\n    void BubbleSortNums(int[] nums) { swap(nums); }\n}\n",
        ),
        ("a/driver.py", driver),
        ("b/driver.py", &driver.replace("    ", "\t")),
    ]);
    let client = index.client();
    let search = async |collapse: &str| {
        let call = json!({ "query": "bubble sort nums swap", "limit": 20, "min_relevance": 0, "collapse": collapse });
        client.answer("search", call).await["results"].as_array().unwrap().clone()
    };
    let documents = |results: &[Value]| {
        let mut names: Vec<String> =
            results.iter().map(|result| result["doc_id"].as_str().unwrap().to_owned()).collect();
        names.dedup();
        names.len()
    };
    let (once, all) = (search("near").await, search("none").await);
    assert_eq!((documents(&once), documents(&all)), (2, 5), "{once:#?}");
    let first = once.iter().find(|result| result["doc_id"].as_str().unwrap().starts_with("codes/")).unwrap();
    assert_eq!(first["same_count"], 2, "{first}");
    let read = client.read("search", json!({ "query": "bubble sort nums swap", "min_relevance": 0 })).await;
    assert!(read.contains("\nsame: codes/"), "{read}");
}

#[tokio::test]
async fn several_ids_a_symbol_and_the_section_around_a_hit_are_fetched_in_one_call() {
    let source =
        "class Report:\n    def render(self):\n        return 1\n\n    def save(self):\n        return 2\n";
    let part =
        |number: usize| format!("The crane jib{number} lifts. {}\n\n", "It turns with the wind. ".repeat(30));
    let section = |title: &str, from: usize| {
        format!("## {title}\n\n{}", (from..from + 3).map(part).collect::<String>())
    };
    let cranes = format!("# Cranes\n\n{}{}", section("North", 0), section("South", 3));
    let documents = [("guide.md", &*long_document(9)), ("cranes.md", &cranes), ("src/report.py", source)];
    let index = Index::new(&documents);
    let client = index.client();
    let hit = client.answer("search", json!({ "query": "crane jib4" })).await["results"][0].clone();
    let section = client.answer("fetch", json!({ "id": hit["id"], "section": true })).await;
    let text = section["text"].as_str().unwrap();
    assert!(text.starts_with("## South\n") && text.contains("jib5"), "{text}");
    assert!(!text.contains("jib2"), "{text}");
    // The same by the lines that were shown.
    let place = format!("{}:{}-{}", hit["doc_id"].as_str().unwrap(), hit["start_line"], hit["end_line"]);
    let by_lines = client.answer("fetch", json!({ "id": place, "section": true })).await;
    assert_eq!(by_lines["text"], section["text"]);
    let symbol = client.answer("fetch", json!({ "id": "symbol:Report.save" })).await;
    assert_eq!(symbol["text"], "    def save(self):\n        return 2\n");
    let read = client
        .read(
            "fetch",
            json!({ "id": "symbol:Report::render", "ids": ["guide.md:1-3", "none.md", hit["id"]] }),
        )
        .await;
    for part in ["src/report.py:2-3\n", "guide.md:1-3\n", "`none.md` is not in collection", "jib4"] {
        assert!(read.contains(part), "{part}\n{read}");
    }
    let said = client.failure("fetch", json!({ "id": "symbol:Reprot" })).await;
    assert!(said.contains("nothing indexed defines `Reprot`"), "{said}");
    // The first ids are whole; the last are shortened, and say how to go on.
    let small = index.client_of(McpOptions { max_tokens: 900, ..McpOptions::default() });
    let answer = small.answer("fetch", json!({ "id": hit["id"], "ids": ["guide.md"] })).await;
    assert_eq!(answer["text"], hit["content"]);
    assert!(answer["more"][0]["next"].as_str().unwrap().starts_with("chunk://default/guide.md?from="));
}

#[tokio::test]
async fn within_a_budget_an_expanded_search_keeps_its_ranking() {
    let index =
        Index::new(&[("guide.md", &long_document(30)), ("b.md", &long_document(3).replace("ferry", "boat"))]);
    let hits = |max_tokens| {
        let request =
            SearchRequest { top_k: 5, max_tokens, ..SearchRequest::new("ferry harbour number7 number20") };
        let Found::Hits { hits } = index.engine.search(&request).unwrap().found else { panic!("hits") };
        hits.iter().map(|hit| hit.record.chunk_id).collect::<Vec<_>>()
    };
    for max_tokens in [1_200, 2_000, 4_000] {
        let plain = hits(Some(max_tokens));
        let request = SearchRequest {
            top_k: 5,
            max_tokens: Some(max_tokens),
            expand: Some(ExpandRequest { with: "2".parse().unwrap(), max_tokens: None }),
            ..SearchRequest::new("ferry harbour number7 number20")
        };
        let Found::Passages { passages } = index.engine.search(&request).unwrap().found else {
            panic!("passages")
        };
        let mut expanded: Vec<_> = passages.iter().flat_map(|passage| &passage.hits).collect();
        expanded.sort_by_key(|hit| hit.rank);
        let expanded: Vec<_> = expanded.iter().map(|hit| hit.chunk_id).collect();
        assert_eq!(expanded, plain, "{max_tokens}");
    }
}
