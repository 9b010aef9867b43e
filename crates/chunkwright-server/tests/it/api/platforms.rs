//! The APIs of other platforms, with their own names.

use serde_json::{Value, json};

use super::server::{Served, encoded};

const TEA: &str = include_str!("../../../../../examples/corpus/zh/green-tea.md");

#[test]
fn a_course_platform_lists_configures_and_reindexes_its_chapters() {
    let served = Served::new();
    served.put(
        "course_python_basics",
        &[("zh/green-tea.md", TEA), ("02_variables.md", "# Variables\n\nA name for a value.\n")],
    );
    let chapter = encoded("python_basics/zh/green-tea.md");
    let kb = "/api/admin/kb";
    let list = |rest: &str| served.get(&format!("{kb}/chapters/chunks?temp_ref={chapter}{rest}"));
    let all = list("&page=1&page_size=100").expect(200);
    let total = all["total"].as_u64().unwrap();
    assert_eq!(all["chunks"].as_array().unwrap().len() as u64, total);
    let levels: u64 = all["token_levels"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(levels, total);
    let first = &all["chunks"][0];
    for field in [
        "id",
        "content",
        "course_id",
        "chapter_id",
        "chapter_title",
        "source_file",
        "position",
        "content_type",
        "char_count",
        "word_count",
        "estimated_tokens",
        "token_level",
        "strategy_version",
        "indexed_at",
        "enabled",
    ] {
        assert!(!first[field].is_null(), "{field}: {first}");
    }
    assert_eq!(
        (&first["source_file"], &first["course_id"]),
        (&json!("python_basics/zh/green-tea.md"), &json!("python_basics"))
    );
    assert!(first["content"].as_str().unwrap().chars().count() <= 203);
    let end = list(&format!("&page={total}&page_size=1")).expect(200);
    assert_eq!(end["chunks"][0]["position"], total - 1, "{end}");
    assert!(list("&page=1000").expect(200)["chunks"].as_array().unwrap().is_empty());
    for wrong in ["&page=0", "&page_size=0", "&page_size=101", "&page=x"] {
        assert_eq!(list(wrong).problem(400), "invalid_request", "{wrong}");
    }
    let id = first["id"].as_str().unwrap();
    let detail = served.get(&format!("{kb}/chunks/{id}")).expect(200);
    assert_eq!((&detail["id"], &detail["metadata"]["position"]), (&json!(id), &json!(0)));
    assert_eq!(served.get(&format!("{kb}/chunks/{}", "0".repeat(32))).problem(404), "not_found");
    assert_eq!(
        served.get(&format!("{kb}/chapters/chunks?temp_ref=python_basics")).problem(400),
        "invalid_request"
    );
    assert_eq!(
        served.get(&format!("{kb}/chapters/chunks?temp_ref=python_basics/nothing.md")).problem(404),
        "not_found"
    );
    assert_eq!(
        served.get(&format!("{kb}/chapters/chunks?temp_ref=nothing/a.md")).problem(404),
        "unknown_collection"
    );

    let config = format!("{kb}/chapters/config?temp_ref={chapter}");
    let put = served.json("PUT", &config, &json!({ "chunk_size": 800 })).expect(200);
    let expected = json!({
        "chunking_strategy": "semantic", "chunk_size": 800, "chunk_overlap": 200, "min_chunk_size": 100,
        "code_block_strategy": "hybrid", "unit": "chars", "preset": "course",
    });
    assert_eq!(put["config"], expected);
    assert_eq!(served.get(&config).expect(200)["config"], expected);
    assert_eq!(
        served.json("PUT", &config, &json!({ "code_block_strategy": "none" })).problem(400),
        "invalid_settings"
    );
    assert_eq!(served.json("PUT", &config, &json!({ "chunk_size": 3 })).problem(400), "invalid_settings");

    let reindex = served.post(&format!("{kb}/chapters/reindex?temp_ref={chapter}"), &json!({}));
    let task = reindex.expect(202);
    assert_eq!((&task["status"], task["task_id"].is_string()), (&json!("queued"), true));
    let id: Value = task["task_id"].as_str().unwrap().parse::<u64>().unwrap().into();
    assert_eq!(served.ended(&json!({ "id": id }))["state"], "succeeded");
    let cut = list("").expect(200);
    assert!(cut["chunks"][0]["strategy_version"].as_str().unwrap().starts_with("sections-v"), "{cut}");
    let old = first["strategy_version"].as_str().unwrap();
    assert_eq!(
        list(&format!("&strategy_version={old}")).expect(200)["total"],
        total,
        "what was before is there"
    );
    assert_eq!(list("&strategy_version=tree-v0.0").expect(200)["total"], 0);
}

#[test]
fn the_settings_of_a_chapter_stay_with_it() {
    let served = Served::new();
    let text = format!("# 章\n\n{}\n", "这一句话说明了一件事。".repeat(300));
    served.put("course_py", &[("01 [a].md", &text), ("02.md", &text), ("03.md", &text)]);
    let kb = "/api/admin/kb";
    let config =
        |chapter: &str| format!("{kb}/chapters/config?temp_ref={}", encoded(&format!("py/{chapter}")));
    let size = |chapter: &str| served.get(&config(chapter)).expect(200)["config"]["chunk_size"].clone();
    served.json("PUT", &config("01 [a].md"), &json!({ "chunk_size": 400, "chunk_overlap": 0 })).expect(200);
    served.json("PUT", &config("02.md"), &json!({ "chunk_size": 2000 })).expect(200);
    served.json("PUT", &config("01 [a].md"), &json!({ "chunk_size": 500 })).expect(200);
    assert_eq!([size("01 [a].md"), size("02.md"), size("03.md")], [json!(500), json!(2000), json!(1000)]);
    let reindex = || {
        let begun = served.post(&format!("{kb}/courses/reindex?course_id=py"), &json!({})).expect(202);
        let id: Value = begun["task_id"].as_str().unwrap().parse::<u64>().unwrap().into();
        assert_eq!(served.ended(&json!({ "id": id }))["state"], "succeeded");
    };
    let largest = |chapter: &str| {
        let path =
            format!("{kb}/chapters/chunks?page_size=100&temp_ref={}", encoded(&format!("py/{chapter}")));
        let list = served.get(&path).expect(200);
        let sizes = list["chunks"].as_array().unwrap().iter().map(|it| it["char_count"].as_u64().unwrap());
        sizes.max().unwrap()
    };
    reindex();
    for (chapter, limit) in [("01 [a].md", 500), ("02.md", 2000), ("03.md", 1000)] {
        let largest = largest(chapter);
        assert!(largest <= limit && largest > limit * 7 / 10, "{chapter}: {largest}");
    }
    // Another run changes nothing of it.
    reindex();
    assert!(largest("01 [a].md") <= 500 && largest("02.md") > 1400);
    assert_eq!(served.get(&config("01 [a].md")).expect(200)["config"]["chunk_overlap"], 0);
}

#[test]
fn a_course_that_is_being_reindexed_is_not_reindexed_again() {
    let served = Served::new();
    let text: String =
        (0..600).map(|n| format!("# Part {n}\n\n{}\n\n", "Words of a long part. ".repeat(40))).collect();
    served.put("long", &[("a.md", &text)]);
    let path = "/api/admin/kb/chapters/config?temp_ref=long/a.md";
    served.json("PUT", path, &json!({ "chunk_size": 500 })).expect(200);
    let reindex = || served.post("/api/admin/kb/courses/reindex?course_id=long", &json!({}));
    let first = reindex().expect(202);
    let second = reindex();
    assert_eq!(second.problem(409), "busy");
    let id = first["task_id"].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(served.ended(&json!({ "id": id }))["state"], "succeeded");
    reindex().expect(202);
    assert_eq!(
        served.post("/api/admin/kb/courses/reindex?course_id=nothing", &json!({})).problem(404),
        "unknown_collection"
    );
}

#[test]
fn a_chapter_is_reindexed_however_its_course_came_in_and_courses_several_at_once() {
    let served = Served::new();
    let text = |word: &str| format!("# 第一章\n\n{word} 的说明。\n");
    for name in ["root", "top", "prefixed"] {
        served.write(&format!("{name}/章/01 100%.md"), text("before"));
        served.write(&format!("{name}/章/02.md"), text("other"));
    }
    let index = |collection: &str, mut request: Value| {
        request["paths"] = json!([served.files().join(request["paths"].as_str().unwrap())]);
        let job = json!({ "kind": "index", "collection": collection, "request": request });
        let job = served.post("/api/v1/jobs", &job).expect(202);
        assert_eq!(served.ended(&job)["state"], "succeeded");
    };
    // As the folder, as a part of the one that ids are relative to, and below a prefix.
    index("course_top", json!({ "paths": "top" }));
    index("course_root", json!({ "paths": "root/章", "root": served.files().join("root") }));
    index("course_prefixed", json!({ "paths": "prefixed/章", "prefix": "卷" }));
    served.put("course_uploaded", &[("章/01 100%.md", &text("before"))]);
    let reindex = |query: &str, body: &Value| {
        let begun = served.post(&format!("/api/admin/kb/chapters/reindex{query}"), body).expect(202);
        let id: Value = begun["task_id"].as_str().unwrap().parse::<u64>().unwrap().into();
        served.ended(&json!({ "id": id }))
    };
    for (course, folder, chapter) in [
        ("top", "top", "章/01 100%25.md"),
        ("root", "root", "章/01 100%25.md"),
        ("prefixed", "prefixed", "卷/01 100%25.md"),
        ("uploaded", "", "章/01 100%.md"),
    ] {
        if !folder.is_empty() {
            served.write(&format!("{folder}/章/01 100%.md"), text("after"));
        }
        let temp_ref = format!("{course}/{chapter}");
        let job = reindex("", &json!({ "temp_ref": temp_ref }));
        assert_eq!(job["state"], "succeeded", "{course}: {job}");
        let word = if folder.is_empty() { "before" } else { "after" };
        assert_eq!(served.found(&format!("course_{course}"), word), [chapter], "{course}");
        let job = reindex(&format!("?temp_ref={}", encoded(&temp_ref)), &json!({}));
        assert_eq!((&job["state"], &job["answer"]["indexed"]), (&json!("succeeded"), &json!(0)), "{job}");
        // Of a chapter whose file is gone, what is stored is cut again.
        if !folder.is_empty() {
            std::fs::remove_file(served.files().join(folder).join("章/01 100%.md")).unwrap();
            assert_eq!(reindex("", &json!({ "temp_ref": temp_ref }))["state"], "succeeded");
            assert_eq!(served.found(&format!("course_{course}"), "after"), [chapter], "{course}");
        }
    }
    let path = "/api/admin/kb/chapters/reindex";
    for (query, body) in [("", json!({})), ("?temp_ref=top/a.md", json!({ "temp_ref": "top/b.md" }))] {
        assert_eq!(served.post(&format!("{path}{query}"), &body).problem(400), "invalid_request");
    }
    assert_eq!(served.post(path, &json!({ "temp-ref": "top/a.md" })).problem(422), "invalid_request");
    let put = served.json(
        "PUT",
        "/api/admin/kb/chapters/config",
        &json!({ "temp_ref": "top/章/02.md", "chunk_size": 700 }),
    );
    assert_eq!(put.expect(200)["config"]["chunk_size"], 700);

    let courses = "/api/admin/kb/courses/reindex";
    let body = json!({ "course_ids": ["root", "top", "course_root"] });
    for (query, body, expected) in [
        ("", body, vec!["root", "top"]),
        (
            "?course_ids=top&course_ids=uploaded",
            json!({ "course_id": "prefixed" }),
            vec!["top", "uploaded", "prefixed"],
        ),
        ("?course_id=top", json!({}), vec!["top"]),
    ] {
        let begun = served.post(&format!("{courses}{query}"), &body).expect(202);
        let tasks = begun["tasks"].as_array().unwrap();
        let named: Vec<&str> = tasks.iter().map(|task| task["course_id"].as_str().unwrap()).collect();
        assert_eq!((named, &begun["task_id"]), (expected, &tasks[0]["task_id"]), "{begun}");
        for task in tasks {
            let id: Value = task["task_id"].as_str().unwrap().parse::<u64>().unwrap().into();
            assert_eq!(served.ended(&json!({ "id": id }))["state"], "succeeded", "{task}");
        }
    }
    // One that is unknown leaves all as they are.
    let jobs = || served.get("/api/v1/jobs").expect(200)["jobs"].as_array().unwrap().len();
    let before = jobs();
    let body = json!({ "course_ids": ["top", "nothing"] });
    assert_eq!(served.post(courses, &body).problem(404), "unknown_collection");
    assert_eq!(served.post(courses, &json!({})).problem(400), "invalid_request");
    assert_eq!(jobs(), before);
}

#[test]
fn dify_uses_a_collection_as_external_knowledge() {
    let served = Served::new();
    let documents = json!({ "documents": [
        { "doc_id": "tea.md", "text": "# Tea\n\nGreen tea is brewed at eighty degrees.\n", "meta": { "shelf": "kitchen", "year": "2024" } },
        { "doc_id": "bees.md", "text": "# Bees\n\nBees drink water, not tea.\n", "meta": { "shelf": "garden", "year": "2021" } },
    ] });
    served.post("/api/v1/collections/home/documents", &documents).expect(201);
    let ask = |knowledge: &str, threshold: f64, condition: Option<Value>| {
        let mut body = json!({
            "knowledge_id": knowledge,
            "query": "at how many degrees is green tea brewed?",
            "retrieval_setting": { "top_k": 5, "score_threshold": threshold },
        });
        body["metadata_condition"] = condition.into();
        served.post("/compat/dify/retrieval", &body)
    };
    let records = |answer: Value| answer["records"].as_array().unwrap().clone();
    let all = records(ask("home", 0.0, None).expect(200));
    assert_eq!(all[0]["title"], "Tea", "{all:?}");
    assert!(all[0]["content"].as_str().unwrap().contains("eighty degrees"));
    assert!(all.iter().all(|record| (0.0..=1.0).contains(&record["score"].as_f64().unwrap())));
    assert_eq!(
        (&all[0]["metadata"]["document_id"], &all[0]["metadata"]["shelf"]),
        (&json!("tea.md"), &json!("kitchen"))
    );
    let (best, least) = (all[0]["score"].as_f64().unwrap(), all[all.len() - 1]["score"].as_f64().unwrap());
    assert!(best > least, "{all:?}");
    assert_eq!(records(ask("home", best, None).expect(200)).len(), 1, "what is less relevant is left out");
    let of = |name: &str, operator: &str, value: Value| {
        let condition = json!({ "name": name, "comparison_operator": operator, "value": value });
        let asked = json!({ "logical_operator": "and", "conditions": [condition] });
        let found = records(ask("home", 0.0, Some(asked)).expect(200));
        found
            .iter()
            .map(|record| record["metadata"]["document_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("shelf", "is", json!("garden")), ["bees.md"]);
    assert_eq!(of("shelf", "is not", json!("garden")), ["tea.md"]);
    assert_eq!(of("shelf", "contains", json!("itch")), ["tea.md"]);
    assert_eq!(of("shelf", "not contains", json!("itch")), ["bees.md"]);
    assert_eq!(of("shelf", "start with", json!("gar")), ["bees.md"]);
    assert_eq!(of("shelf", "end with", json!("den")), ["bees.md"]);
    assert_eq!(of("shelf", "in", json!(["garden", "attic"])), ["bees.md"]);
    assert_eq!(of("year", "after", json!("2023")), ["tea.md"]);
    assert_eq!(of("colour", "empty", Value::Null).len(), 2);
    assert!(of("colour", "not empty", Value::Null).is_empty());
    let unknown = ask("nowhere", 0.0, None).expect(404);
    assert_eq!(unknown["error_code"], 2001, "{unknown}");
    let several = json!({ "conditions": [{ "name": ["shelf", "colour"], "comparison_operator": "is", "value": "garden" }] });
    assert_eq!(records(ask("home", 0.0, Some(several)).expect(200)).len(), 1);
    assert_eq!(
        ask("home", 0.0, Some(json!({ "conditions": [{ "name": "shelf", "comparison_operator": "is" }] })))
            .status,
        400
    );
}
