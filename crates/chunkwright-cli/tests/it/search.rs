//! Searching: several collections, pages, budgets, fields.

use serde_json::{Value, json};

use crate::cli::{Folder, guide};

const PYTHON: &str = "\"\"\"Sends requests again.\"\"\"\n\n\ndef retry(request, pause):\n    \"\"\"Send a request that timed out again after a pause.\"\"\"\n    return request.send(after=pause)\n";
const CHINESE: &str = "# 客户端\n\n## 重试\n\n请求超时以后，客户端等待片刻再重新发送请求，最多三次。\n\n## 限制\n\n服务器每分钟最多接受四十个请求。\n";
const RUSSIAN: &str = "# Клиент\n\n## Повторы\n\nЗапрос, который не дождался ответа, клиент отправляет ещё раз после паузы.\n\n## Пределы\n\nСервер принимает сорок запросов в минуту.\n";

/// Three repositories, each a collection.
fn three_repositories() -> Folder {
    let long = guide(40);
    let folder = Folder::new(&[
        ("client/src/retry.py", PYTHON),
        ("client/README.md", "# Client\n\nThe client sends a request that timed out again, after a pause.\n"),
        ("client/docs/long.md", &long),
        ("server/docs/zh/client.md", CHINESE),
        ("server/docs/long.md", &long),
        ("pages/ru/client.md", RUSSIAN),
        (
            "pages/en/retries.md",
            "# Retries\n\nA request is retried three times: first after a pause of one second.\n",
        ),
    ]);
    for (path, collection) in [("client", "клиент"), ("server", "server"), ("pages", "文档")] {
        folder.run(&["index", path, "-c", collection, "--embedder", "none", "--quiet"]).success();
    }
    folder
}

#[test]
fn three_repositories_are_searched_at_once_in_under_6000_tokens() {
    let folder = three_repositories();
    let query = "retry request pause 请求 重试 запрос";
    let named = ["search", query, "-c", "клиент", "-c", "server", "-c", "文档"];
    let hits = folder.run(&[&named[..], &["-k", "9"]].concat()).lines();
    let mut found: Vec<&str> = hits.iter().map(|hit| hit["collection"].as_str().unwrap()).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, ["server", "клиент", "文档"]);
    let relevance = |hit: &Value| hit["relevance"].as_f64().unwrap();
    assert!(hits.iter().all(|hit| relevance(hit) <= relevance(&hits[0])), "{hits:?}");
    let all = folder.run(&["search", query, "--all-collections", "-k", "9"]).lines();
    assert_eq!(all.len(), hits.len());

    // Over a hundred hits, of which 6,000 tokens are delivered.
    let many =
        ["search", "word1 word101 word2003 end", "--all-collections", "-k", "150", "--min-relevance", "0"];
    let run = folder.run(&[&many[..], &["--max-tokens", "6000", "-f", "json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let (budget, found) = (&answer["budget"], answer["hits"].as_array().unwrap());
    let tokens = budget["tokens"].as_u64().unwrap();
    assert!((5000..=6000).contains(&tokens), "{budget}");
    let counted: u64 = found.iter().map(|hit| hit["token_count"].as_u64().unwrap()).sum();
    assert!(counted <= 6000, "the texts of the hits have {counted} tokens");
    let left_out = budget["left_out"].as_array().unwrap();
    assert!(
        !left_out.is_empty() && run.stderr.contains(&format!("left out {} of ", left_out.len())),
        "{}",
        run.stderr
    );
    let reference = left_out[0]["reference"].as_str().unwrap();
    let collection = left_out[0]["collection"].as_str().unwrap();
    assert!(!folder.run(&["fetch", reference, "-c", collection]).success().is_empty());
    // Every format has the same hits.
    let lines = folder.run(&[&many[..], &["--max-tokens", "6000"]].concat());
    let lines: Vec<Value> = lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, found);
    let text = folder.run(&[&many[..], &["--max-tokens", "6000", "-f", "text"]].concat()).stdout;
    for hit in found {
        assert!(text.contains(hit["chunk_id"].as_str().unwrap()));
    }
    assert!(text.contains("server long.md:") || text.contains("server docs/long.md:"), "{text}");
    let passages =
        folder.run(&[&many[..], &["--max-tokens", "6000", "--expand", "parent", "-f", "json"]].concat());
    let passages: Value = serde_json::from_str(&passages.stdout).unwrap();
    assert!(passages["budget"]["tokens"].as_u64().unwrap() <= 6000 && !passages["passages"][0].is_null());
}

#[test]
fn a_collection_that_is_missing_empty_or_building_is_an_error_or_a_notice() {
    let folder = three_repositories();
    let missing = folder.run(&["search", "pause", "-c", "server", "-c", "serve"]);
    assert!(missing.code == 2 && missing.stderr.contains("`serve`"), "{}", missing.stderr);
    folder.write("empty/blank.md", b"\n");
    folder.run(&["index", "empty", "-c", "empty", "--embedder", "none", "--quiet"]);
    let all = folder.run(&["search", "pause", "--all-collections"]);
    assert!(all.code == 0 && all.stderr.contains("collection `empty` has no chunks"), "{}", all.stderr);
    let both = folder.run(&["search", "pause", "--all-collections", "-c", "server"]);
    assert!(both.code == 2 && both.stderr.contains("--all-collections"), "{}", both.stderr);
    let id = "0".repeat(32);
    folder
        .run(&["search", "pause", "--all-collections", "--explain", &id])
        .fails("error: `--explain` is about a chunk of one collection; name it by one `-c`");
}

#[test]
fn pages_are_reached_by_offset_and_end_at_the_candidates() {
    let folder = three_repositories();
    let ids = |flags: &[&str]| -> Vec<String> {
        let all = ["search", "word1 word7 end", "--all-collections", "--min-relevance", "0"];
        let run = folder.run(&[&all, flags].concat());
        run.lines().iter().map(|hit| format!("{} {}", hit["rank"], hit["chunk_id"])).collect()
    };
    assert_eq!([ids(&["-k", "7"]), ids(&["-k", "7", "--offset", "7"])].concat(), ids(&["-k", "14"]));
    folder.run(&["search", "end", "-c", "server", "--offset", "198"]).fails(
        "error: `offset` is `198` and `top_k` is `5`: a page must end at hit 200, the number of `candidates` (at most 1000); \
         narrow the query or the filter, or ask for more candidates",
    );
    let more = folder.run(&["search", "end", "-c", "server", "--offset", "198", "--candidates", "300"]);
    assert!(more.code < 2, "{}", more.stderr);
    folder
        .run(&["search", "end", "-c", "server", "--max-tokens", "0"])
        .fails("error: `max_tokens` is `0`; it must be at least 1");
}

#[test]
fn fields_pick_what_is_written_of_hits_fetched_text_and_exports() {
    let folder = three_repositories();
    let fields = ["--fields", "rank,collection,metadata.file_name,content_preview"];
    let hits = folder.run(&[&["search", "三次", "-c", "server", "-k", "1"], &fields[..]].concat()).lines();
    let preview = "## 重试 请求超时以后，客户端等待片刻再重新发送请求，最多三次。";
    assert_eq!((&hits[0]["rank"], &hits[0]["metadata.file_name"]), (&json!(1), &json!("client.md")));
    assert!(hits[0]["content_preview"].as_str().unwrap().contains(preview), "{hits:?}");
    let with_text =
        folder.run(&["search", "三次", "-c", "server", "-k", "1", "--fields", "text,content"]).lines();
    assert!(with_text[0]["text"].as_str().unwrap().contains(with_text[0]["content"].as_str().unwrap()));
    let fetched =
        folder.run(&["fetch", "docs/zh/client.md", "-c", "server", "--fields", "text,doc_toc"]).success();
    let fetched: Value = serde_json::from_str(&fetched).unwrap();
    assert_eq!((&fetched["text"], fetched.as_object().unwrap().len()), (&json!(CHINESE), 2));
    let exported = folder.run(&["export", "-c", "文档", "--fields", "doc_id,chunk_index"]).success();
    assert_eq!(exported.lines().next(), Some("{\"doc_id\":\"en/retries.md\",\"chunk_index\":0}"));
    for command in [
        &["export", "-c", "文档", "-f", "parquet", "-o", "x.parquet", "--fields", "doc_id"][..],
        &["fetch", "docs/zh/client.md", "-c", "server", "-f", "raw", "--fields", "text"],
    ] {
        let run = folder.run(command);
        assert!(run.code == 2 && run.stderr.contains("`--fields`"), "{}", run.stderr);
    }
}
