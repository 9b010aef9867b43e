//! Answers stay within their token budget, hold each text once, and match their schemas.

use std::collections::BTreeSet;

use boon::{Compiler, Schemas};
use chunkwright_server::mcp::{Format, McpOptions, Profile};
use serde_json::{Value, json};

use super::{Client, Index, NEWEST, long_document};

#[tokio::test]
async fn an_answer_keeps_within_its_tokens_and_holds_each_text_once() {
    let index =
        Index::new(&[("guide.md", &long_document(80)), ("other.md", "# Other\n\nThe harbour is closed.\n")]);
    for max_tokens in [500, 1_000, 6_000] {
        let client = index.client_of(McpOptions { max_tokens, ..McpOptions::default() });
        for detail in ["brief", "full"] {
            for format in ["structured", "text"] {
                for limit in [1, 5, 50] {
                    let call = json!({ "query": "ferry harbour tide", "limit": limit, "format": format, "detail": detail });
                    let result = client.call("search", call).await;
                    let tokens = index.tokens(&result);
                    assert!(tokens <= max_tokens, "{format} {limit}: {tokens} of {max_tokens}");
                    let is_structured = format == "structured";
                    assert_eq!(result.get("structuredContent").is_some(), is_structured);
                    // The words of a section: in the content, and in the preview that `full` adds.
                    let sent = result.to_string();
                    let numbers = (0..80).map(|number| format!("number{number} leaves"));
                    let times: Vec<usize> = numbers.map(|words| sent.matches(&words).count()).collect();
                    assert!(times.iter().any(|times| *times > 3), "{sent}");
                    let previews = if detail == "full" { 4 } else { 0 };
                    assert!(times.iter().all(|times| *times <= 12 + previews), "{times:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn pages_of_results_follow_one_another_without_a_gap() {
    let index = Index::new(&[("guide.md", &long_document(40))]);
    let client = index.client_of(McpOptions { max_tokens: 1_500, ..McpOptions::default() });
    let (mut offset, mut found) = (0, Vec::new());
    loop {
        let call = json!({ "query": "ferry harbour tide", "limit": 8, "offset": offset });
        let answer = client.answer("search", call).await;
        let results = answer["results"].as_array().unwrap();
        found.extend(results.iter().map(|result| result["id"].as_str().unwrap().to_owned()));
        offset = found.len();
        if results.is_empty() {
            assert_eq!(answer["next_step"], "There are no more results.");
            break;
        }
    }
    let different: BTreeSet<&String> = found.iter().collect();
    assert_eq!(different.len(), found.len());
    assert!(found.len() >= 40, "{}", found.len());
}

#[tokio::test]
async fn structured_answers_are_what_the_schemas_of_their_tools_say() {
    let index = Index::new(&[
        ("guide.md", &long_document(9)),
        ("code/a.py", "class A:\n    def f(self):\n        return 1\n"),
    ]);
    let options = McpOptions { allow_write: true, format: Format::Structured, ..McpOptions::default() };
    let client = index.client_of(options);
    let tools = client.ask("tools/list", json!({})).await.unwrap();
    let calls = [
        ("search", json!({ "query": "ferry" })),
        ("search", json!({ "query": "ferry", "detail": "full" })),
        ("search", json!({ "query": "ferry", "related": 2 })),
        ("search", json!({ "query": "ferry", "queries": ["harbour", "tide"], "format": "text" })),
        ("search", json!({ "query": "ferry", "expand": "parent", "per_document": 1 })),
        ("search", json!({ "query": "zzzz" })),
        ("fetch", json!({ "id": "guide.md" })),
        ("fetch", json!({ "id": "code/a.py", "ids": ["symbol:A.f", "none.md"] })),
        ("outline", json!({})),
        ("outline", json!({ "id": "code/a.py" })),
        ("references", json!({ "symbol": "A.f" })),
        ("references", json!({ "symbol": "guide.md" })),
        ("references", json!({ "symbol": "zzzz" })),
        ("status", json!({})),
        ("index", json!({})),
    ];
    for tool in tools["tools"].as_array().unwrap() {
        assert!(calls.iter().any(|(name, _)| tool["name"] == *name), "{tool} is not called");
    }
    for (name, arguments) in calls {
        let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let mut check = |part: &str, value: &Value| {
            let place = format!("mem:///{name}/{part}");
            compiler.add_resource(&place, tool[part].clone()).unwrap();
            let schema = compiler.compile(&place, &mut schemas).unwrap();
            schemas
                .validate(value, schema)
                .unwrap_or_else(|error| panic!("{name} {part}: {error:#}\n{value:#}"));
        };
        check("inputSchema", &arguments);
        let result = client.call(name, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        check("outputSchema", &result["structuredContent"]);
    }
}

#[tokio::test]
async fn a_hit_names_documents_like_it_and_its_joined_id_where_a_call_asks() {
    let index = Index::new(&[
        ("docs/ferry.md", "# Ferry\n\nThe ferry leaves at noon.\n"),
        ("docs/harbour.md", "# Harbour\n\nGulls.\n"),
        ("docs/`odd`.md", "# Odd\n\nNothing.\n"),
    ]);
    let client = index.client();
    let brief = client.answer("search", json!({ "query": "ferry" })).await["results"][0].clone();
    assert!(brief.get("related").is_none() && brief.get("joined_id").is_none(), "{brief}");
    let asked = json!({ "query": "ferry", "related": 2, "detail": "full" });
    let full = client.answer("search", asked.clone()).await["results"][0].clone();
    assert_eq!(full["joined_id"], "docs_ferry_chunk0");
    assert_eq!(full["related"], json!(["docs/`odd`.md", "docs/harbour.md"]));
    let read = client.read("search", asked).await;
    assert!(read.contains("\nrelated: ") && read.contains("docs/harbour.md"), "{read}");
    let fetched = client.answer("fetch", json!({ "id": full["joined_id"] })).await;
    assert!(fetched.to_string().contains("The ferry leaves at noon."), "{fetched}");
}

#[tokio::test]
async fn the_schemas_of_every_tool_are_such_as_strict_clients_read() {
    /// Every schema in a schema, with the name that it has there.
    fn check(tool: &str, name: &str, schema: &Value, words: &[&str]) {
        let Some(schema) = schema.as_object() else { return };
        for (word, value) in schema {
            let at = format!("{tool} {name}: {word} {value}");
            assert!(words.contains(&word.as_str()), "{at}");
            assert!(word != "type" || value.is_string(), "{at}");
            assert!(word != "default" || !value.is_null(), "{at}");
            match word.as_str() {
                "properties" | "$defs" => {
                    value
                        .as_object()
                        .unwrap()
                        .iter()
                        .for_each(|(name, schema)| check(tool, name, schema, words));
                }
                "items" => check(tool, name, value, words),
                _ => {}
            }
        }
    }
    let of_inputs = [
        "$schema",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "description",
        "default",
        "enum",
        "minimum",
        "maximum",
        "maxLength",
        "items",
    ];
    let of_outputs = [&of_inputs[..], &["$defs", "$ref"]].concat();
    let index = Index::new(&[("guide.md", "# Guide\n")]);
    for (profile, format) in
        [(Profile::All, Format::Text), (Profile::All, Format::Structured), (Profile::ChatGpt, Format::Text)]
    {
        let options = McpOptions { profile, format, allow_write: true, ..McpOptions::default() };
        let client = index.client_of(options);
        let tools = client.ask("tools/list", json!({})).await.unwrap();
        for tool in tools["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            check(name, "input", &tool["inputSchema"], &of_inputs);
            check(name, "output", &tool["outputSchema"], &of_outputs);
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            assert!(properties.values().all(|property| property["type"].is_string()), "{tool}");
        }
    }
}

#[tokio::test]
async fn openai_clients_see_two_tools_and_the_answers_that_they_expect() {
    let index = Index::new(&[("guide.md", &long_document(60))]);
    for client in [
        Client { path: "/mcp?tools=chatgpt", ..index.client() },
        index.client_of(McpOptions { profile: Profile::ChatGpt, ..McpOptions::default() }),
    ] {
        let tools = client.ask("tools/list", json!({})).await.unwrap();
        let required = |tool: &Value| (tool["name"].clone(), tool["inputSchema"]["required"].clone());
        let tools: Vec<_> = tools["tools"].as_array().unwrap().iter().map(required).collect();
        assert_eq!(tools, [(json!("search"), json!(["query"])), (json!("fetch"), json!(["id"]))]);

        let read = |result: &Value| -> Value {
            assert_eq!(
                (result["content"].as_array().unwrap().len(), result.get("structuredContent")),
                (1, None)
            );
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
        };
        let found = read(&client.call("search", json!({ "query": "number7" })).await);
        let first = found["results"][0].as_object().unwrap();
        assert_eq!(first.keys().collect::<Vec<_>>(), ["id", "title", "url", "text"]);
        let document = read(&client.call("fetch", json!({ "id": first["id"] })).await);
        let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "title", "text", "url", "metadata"]);
        assert!(document["text"].as_str().unwrap().contains("number7"));

        let (mut id, mut text) = (json!("guide.md"), String::new());
        while !id.is_null() {
            let result = client.call("fetch", json!({ "id": id })).await;
            assert!(index.tokens(&result) <= 6_000);
            let page = read(&result);
            text += page["text"].as_str().unwrap();
            id = page["metadata"]["next"].clone();
        }
        assert_eq!(text, long_document(60));
        let limit = client.failure("search", json!({ "query": "a", "limit": 3 })).await;
        assert!(limit.contains("unknown argument `limit`; known are `query`"), "{limit}");
    }
}

#[tokio::test]
async fn a_client_that_knows_no_structured_content_reads_the_text_block() {
    let index = Index::new(&[("guide.md", &long_document(9))]);
    let client = Client { version: "2025-03-26", ..index.client() };
    let result = client.call("search", json!({ "query": "number3", "format": "structured" })).await;
    assert_eq!(result.get("structuredContent"), None, "{result}");
    let answer: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert!(answer["results"][0]["content"].as_str().unwrap().contains("number3"));
    assert!(client.read("search", json!({ "query": "number3" })).await.contains("number3"));
    // A newer one has it in one place.
    let client = Client { version: "2025-06-18", ..client };
    let result = client.call("search", json!({ "query": "number3", "format": "structured" })).await;
    let note = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(note, "The answer is in `structuredContent`.");
    assert!(result["structuredContent"]["results"].is_array());
    assert_eq!(client.version < NEWEST, result.get("resultType").is_none());
}

#[tokio::test]
async fn several_collections_are_searched_and_what_is_found_names_its_own() {
    let index = Index::new(&[("guide.md", &long_document(3))]);
    index.index("other");
    let client = index.client();
    let one = client.answer("search", json!({ "query": "number1", "collection": "other" })).await;
    let result = &one["results"][0];
    let id = result["id"].as_str().unwrap();
    assert!(id.starts_with("chunk://other/"), "{id}");
    let fetched = client.answer("fetch", json!({ "id": id })).await;
    assert_eq!((&fetched["collection"], &fetched["text"]), (&json!("other"), &result["content"]));
    let status = client.answer("status", json!({})).await;
    let names: Vec<&Value> =
        status["collections"].as_array().unwrap().iter().map(|row| &row["collection"]).collect();
    assert_eq!(names, ["default", "other"]);
}

#[tokio::test]
async fn the_tool_that_writes_brings_a_collection_up_to_date_with_its_folders() {
    let index = Index::new(&[("guide.md", "# Guide\n\nferry\n")]);
    let refused = index.client().ask("tools/call", json!({ "name": "index", "arguments": {} })).await;
    assert_eq!(refused.unwrap_err()["code"], -32602);
    let client = index.client_of(McpOptions { allow_write: true, ..McpOptions::default() });
    index.write(&[("new.md", "# New\n\nlighthouse\n")]);
    let mut status = client.answer("index", json!({})).await;
    while status["indexing"] != "indexed" {
        assert!(status["indexing"].as_str().unwrap().starts_with("indexing "), "{status}");
        tokio::task::yield_now().await;
        status = client.answer("status", json!({})).await;
    }
    let found = client.answer("search", json!({ "query": "lighthouse" })).await;
    assert_eq!(found["results"][0]["doc_id"], "new.md");
    assert!(client.failure("index", json!({ "collection": "none" })).await.contains("`none`"));
}

#[tokio::test]
async fn results_that_are_about_something_else_say_that_there_is_probably_no_answer() {
    let text = "# State\n\nShare the state of handlers: wrap it in a lock, and lock it before each access to the state.\n";
    let index = Index::new(&[("state.md", text)]);
    let client = index.client_of(McpOptions::default());
    for (query, is_weak) in [("terraform state locking", true), ("lock the state", false), ("ingress", false)]
    {
        let result = client.call("search", json!({ "query": query })).await.to_string();
        assert_eq!(result.contains("Probably no answer here"), is_weak, "{query}: {result}");
    }
}
