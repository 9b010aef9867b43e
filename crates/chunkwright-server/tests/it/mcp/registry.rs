//! Every tool of every profile keeps the registry's promises, so that a new tool is tested as soon as it is listed.

use std::collections::HashSet;
use std::sync::Arc;

use boon::{Compiler, Schemas};
use chunkwright_engine::schema::of_option;
use chunkwright_engine::{LoggedRequest, QueryLog, SEARCH_OPTIONS, SearchOption, Snapshot};
use chunkwright_server::mcp::{Format, McpOptions};
use serde_json::{Value, json};

use super::{Client, Index};

/// A value for each argument that some tool requires.
fn smallest(argument: &str) -> Value {
    match argument {
        "query" | "symbol" => json!("ferry"),
        "id" => json!("guide.md"),
        other => panic!("add a valid value of `{other}` here"),
    }
}

/// Fails unless `value` is valid by `schema`.
fn check(schema: &Value, value: &Value, what: &str) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("mem:///schema", schema.clone()).unwrap();
    let schema = compiler.compile("mem:///schema", &mut schemas).unwrap();
    schemas.validate(value, schema).unwrap_or_else(|error| panic!("{what}: {error:#}\n{value:#}"));
}

/// Waits until nothing is being indexed.
async fn settle(client: &Client) {
    while client.answer("status", json!({})).await["indexing"] != "indexed" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn every_tool_takes_its_smallest_arguments_and_does_what_its_annotations_say() {
    let index = Index::new(&[("guide.md", "# Guide\n\nThe ferry leaves.\n")]);
    let log = Arc::new(QueryLog::open(&index.engine).unwrap());
    let options = McpOptions { allow_write: true, log: Some(log.clone()), ..McpOptions::default() };
    let all = index.client_of(options.clone());
    let structured = index.client_of(McpOptions { format: Format::Structured, ..options });
    let chatgpt = Client { service: all.service.clone(), path: "/mcp?tools=chatgpt", ..all };
    let documents = || index.engine.collection("default").read(Snapshot::documents).unwrap().len();
    for (client, is_structured) in [(&all, false), (&structured, true), (&chatgpt, false)] {
        let tools = client.ask("tools/list", json!({})).await.unwrap();
        assert_eq!((&tools["ttlMs"], &tools["resultType"]), (&json!(300_000), &json!("complete")));
        let mut names = HashSet::new();
        for tool in tools["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let what = format!("{name} of {}", client.path);
            assert!(names.insert(name), "{what} is listed twice");
            assert!(!tool["description"].as_str().unwrap().is_empty(), "{what}");
            let (input, output) = (&tool["inputSchema"], tool.get("outputSchema"));
            assert_eq!(input["additionalProperties"], false, "{what}");
            for (argument, property) in input["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{what}: `{argument}` has no description");
            }
            // Text blocks have no schema.
            assert_eq!(output.is_some(), is_structured, "{what}");

            // A document that only a tool that writes may index.
            let before = documents();
            index.write(&[(&format!("new{before}.md"), "# New\n")]);
            log.clear().unwrap();
            let required = input["required"].as_array().into_iter().flatten();
            let required = required.map(|argument| argument.as_str().unwrap());
            let arguments: Value =
                required.map(|argument| (argument.to_owned(), smallest(argument))).collect();
            check(input, &arguments, &what);
            let result = client.call(name, arguments).await;
            assert_eq!(result["isError"], false, "{what}: {result}");
            if let Some(output) = output {
                check(output, &result["structuredContent"], &what);
            }
            let (logged, _) = log.page(&LoggedRequest::default()).unwrap();
            assert_eq!(logged[0].call.kind, name, "{what}");

            settle(if is_structured { &structured } else { &all }).await;
            let reads = documents() == before;
            let expected = json!({
                "title": tool["title"], "readOnlyHint": reads, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false,
            });
            assert_eq!(tool["annotations"], expected, "{what}");
        }
    }
}

#[tokio::test]
async fn options_of_searches_are_arguments_as_their_table_says() {
    let client = Index::new(&[("guide.md", "# Guide\n\nThe ferry leaves.\n")]).client();
    let tools = client.ask("tools/list", json!({})).await.unwrap();
    let search = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "search").unwrap();
    let offered = SEARCH_OPTIONS.iter().filter(|option| !option.brief.is_empty());
    let offered: Vec<_> = offered.map(|option| (option.name, option)).collect();
    let names: Vec<_> = offered.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["mode", "offset", "max_tokens", "filter", "per_document", "min_relevance", "related", "expand"],
        "what agents are offered"
    );
    let limit = SearchOption::find("top_k").unwrap();
    for (argument, option) in offered.into_iter().chain([("limit", limit)]) {
        let property = &search["inputSchema"]["properties"][argument];
        let of_option = of_option(option);
        for keyword in ["type", "minimum", "default", "enum"] {
            assert_eq!(property[keyword], of_option[keyword], "{argument}: {property}");
        }
        assert!(
            property["maximum"].as_f64() <= of_option["maximum"].as_f64().or(property["maximum"].as_f64())
        );
        let Some(least) = property["minimum"].as_i64() else { continue };
        let failure = client.failure("search", json!({ "query": "ferry", argument: least - 1 })).await;
        assert!(failure.contains(&format!("`{argument}` is `{}`; it must be a ", least - 1)), "{failure}");
    }
}
