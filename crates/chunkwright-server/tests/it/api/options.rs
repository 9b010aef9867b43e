//! Every option of searches is a parameter of the address and a property of the body, with what its table says of it.

use chunkwright_engine::{SEARCH_OPTIONS, SearchOption, SearchRequest};
use serde_json::{Value, json};

use super::server::Served;

/// The options of a query string, and the body that says the same.
fn asked(option: &SearchOption, value: &Value) -> (String, Value) {
    let needed = option.needs.map(|needs| (needs.option, json!(needs.value.unwrap_or("parent"))));
    let mut query = "q=tea".to_owned();
    let mut body = json!({ "query": "tea" });
    for (name, value) in needed.into_iter().chain([(option.name, value.clone())]) {
        let option = SearchOption::find(name).unwrap();
        query.extend(["&", name, "=", &value.as_str().map_or(value.to_string(), str::to_owned)]);
        let value = value.as_str().map_or(value.clone(), |name| option.json_of(name).into());
        let place = option.pointer.split('/').skip(1).fold(&mut body, |json, name| &mut json[name]);
        *place = value;
    }
    if body["fusion"]["method"].is_null() && body["fusion"].is_object() {
        body["fusion"]["method"] = "weighted_sum".into();
    }
    (query, body)
}

#[test]
fn every_option_is_described_in_the_address_the_body_and_the_schema() {
    let served = Served::new();
    let document = served.get("/api/openapi.json").expect(200);
    let parameters = document["paths"]["/api/v1/search"]["get"]["parameters"].as_array().unwrap();
    let schema = served.get("/api/v1/search/schema").expect(200);
    let body = &document["components"]["schemas"]["SearchRequest"]["properties"];
    for option in SEARCH_OPTIONS {
        let name = option.name;
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name);
        let parameter = &parameter.unwrap_or_else(|| panic!("no parameter `{name}`"))["schema"];
        let property = &schema["properties"][name];
        assert_eq!(property["description"], option.help(), "{name}");
        let default = (option.default)();
        let range = option.values.range();
        let (least, greatest) = range.map_or((None, None), |(least, greatest)| (Some(least), greatest));
        for described in [parameter, property] {
            assert_eq!(described["default"], default, "{name}: {described}");
            assert_eq!(described.get("minimum"), least.as_ref(), "{name}: {described}");
            assert_eq!(described.get("maximum"), greatest.as_ref(), "{name}: {described}");
            assert_eq!(described["x-pointer"], option.pointer, "{name}: {described}");
        }
        // A field of a request has the same range and default; parts of its fields are described with those.
        if let Some(field) = body.get(&option.pointer[1..]) {
            assert_eq!(field["default"], default, "{name}: {field}");
            assert_eq!(field.get("minimum"), least.as_ref(), "{name}: {field}");
            assert!(greatest.is_none() || field.get("maximum") == greatest.as_ref(), "{name}: {field}");
        }
    }
}

#[test]
fn what_is_out_of_range_is_refused_alike_in_the_address_and_in_the_body() {
    let served = Served::new();
    served.put("teas", &[("tea.md", "# Tea\n\nWater for tea boils.\n")]);
    for option in SEARCH_OPTIONS {
        let Some((least, greatest)) = option.values.range() else { continue };
        let below = least.as_i64().unwrap() - 1;
        let above = greatest.and_then(|greatest| Some(json!(greatest.as_u64()? + 1)));
        for value in [json!(below)].into_iter().chain(above) {
            let (query, body) = asked(option, &value);
            let text = query.split('&').skip(1).filter_map(|pair| pair.split_once('='));
            let given = text.map(|(name, value)| (name, Value::from(value)));
            let sentence = SearchRequest::read("tea", given).unwrap_err().to_string();
            let answered = served.get(&format!("/api/v1/search?{query}"));
            assert_eq!(answered.problem(400), "invalid_request", "{query}");
            assert_eq!(answered.json()["detail"], sentence, "{query}");
            // A negative number is no number of this type; the reader of JSON says so.
            if value.as_f64() >= Some(0.0) || option.pointer.starts_with("/fusion") {
                let answered = served.post("/api/v1/search", &body);
                assert_eq!(answered.problem(400), "invalid_request", "{body}");
                assert_eq!(answered.json()["detail"], sentence, "{body}");
            }
        }
    }
}

#[test]
fn an_address_and_a_body_ask_for_the_same() {
    let served = Served::new();
    served
        .put("teas", &[("tea.md", "# Tea\n\nWater for tea boils.\n"), ("more.md", "# More tea\n\nCold.\n")]);
    for (name, value) in [
        ("top_k", json!(1)),
        ("duplicates", json!("keep")),
        ("collapse_translations", json!(true)),
        ("text", json!(true)),
        ("rerank", json!(1)),
        ("fusion", json!("rrf")),
        ("rrf_k", json!(1)),
        ("dense_weight", json!(0.7)),
        ("expand", json!("parent")),
        ("expand_tokens", json!(9)),
        ("filter", json!("doc_id=more.md")),
    ] {
        let (query, mut body) = asked(SearchOption::find(name).unwrap(), &value);
        if body["fusion"]["method"] == "rrf" && body["fusion"]["k"].is_null() {
            body["fusion"]["k"] = json!(60);
        }
        let by_address = served.get(&format!("/api/v1/search?{query}")).expect(200);
        assert_eq!(by_address, served.post("/api/v1/search", &body).expect(200), "{query}");
    }
    let unknown = served.get("/api/v1/search?q=tea&topk=1");
    assert_eq!(unknown.problem(400), "invalid_request");
    assert!(unknown.text().contains("did you mean `top_k`?"), "{}", unknown.text());
}

#[test]
fn a_change_of_one_chunk_is_the_change_of_many_without_naming_them() {
    let served = Served::new();
    let document = served.get("/api/openapi.json").expect(200);
    let schemas = &document["components"]["schemas"];
    let properties = |name: &str| schemas[name]["properties"].as_object().unwrap().clone();
    let change = properties("ChunkChange");
    let many =
        document["paths"]["/api/v1/collections/{collection}/chunks/amend"]["post"]["requestBody"]["content"]
            ["application/json"]["schema"]["$ref"]
            .as_str()
            .unwrap();
    let mut many = properties(many.rsplit('/').next().unwrap());
    many.retain(|name, _| !["chunks", "expected", "filter"].contains(&name.as_str()));
    assert_eq!(change, many);
    served.put("teas", &[("tea.md", "# Tea\n\nWater for tea boils.\n")]);
    let path = "/api/v1/collections/teas/chunks/tea.md%230";
    let headers = [("content-type", "application/json")];
    let change_by = |body: &str| served.send("PATCH", path, &headers, body.as_bytes());
    assert_eq!(
        change_by(r#"{"keywords": ["kettle"]}"#).expect(200)["overlay"]["keywords"],
        json!(["kettle"])
    );
    let refused = change_by(r#"{"enabled": false, "chunks": ["tea.md#0"]}"#);
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("unknown field `chunks`"), "{}", refused.text());
    assert!(
        change_by(r#"{"filter": "language=rust", "enabled": false}"#)
            .text()
            .contains("unknown field `filter`")
    );
}
