//! Every tool of every profile keeps the registry's promises, so that a new tool is tested as soon as it is listed.

use std::collections::HashSet;
use std::sync::Arc;

use boon::{Compiler, Schemas};
use chunkwright_engine::schema::of_option;
use chunkwright_engine::{LoggedRequest, QueryLog, SearchOption, Snapshot};
use chunkwright_server::mcp::McpOptions;
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
    let all = index.client_of(options);
    let chatgpt = Client { service: all.service.clone(), path: "/mcp?tools=chatgpt", ..all };
    let documents = || index.engine.collection("default").read(Snapshot::documents).unwrap().len();
    for client in [&all, &chatgpt] {
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
            // `OpenAI`'s clients read text blocks, which have no schema.
            assert_eq!(output.is_some(), client.path == all.path, "{what}");

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

            settle(&all).await;
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
async fn options_of_searches_have_the_same_type_least_value_and_default_as_arguments() {
    let client = Index::new(&[("guide.md", "# Guide\n\nThe ferry leaves.\n")]).client();
    let tools = client.ask("tools/list", json!({})).await.unwrap();
    let search = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "search").unwrap();
    for (argument, option) in [("limit", "top_k"), ("offset", "offset")] {
        let property = &search["inputSchema"]["properties"][argument];
        let of_option = of_option(SearchOption::find(option).unwrap());
        for keyword in ["type", "minimum", "default"] {
            assert_eq!(property[keyword], of_option[keyword], "{argument}: {property}");
        }
        assert!(
            property["maximum"].as_u64() <= of_option["maximum"].as_u64().or(property["maximum"].as_u64())
        );
        let below = property["minimum"].as_i64().unwrap() - 1;
        let failure = client.failure("search", json!({ "query": "ferry", argument: below })).await;
        assert!(
            failure.contains(&format!("`{argument}` is `{below}`; it must be a whole number ")),
            "{failure}"
        );
    }
}
