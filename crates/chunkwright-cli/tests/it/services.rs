//! Services as embedders, rerankers and writers: their configuration, and a server of our own in use.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::Folder;

/// Serves the embeddings of `OpenAI` until the test's process ends: vectors that count letters. Any key but
/// `Bearer sk-right` is refused and echoed. The address.
pub(crate) fn serve() -> String {
    serve_paced(Arc::default())
}

/// As [`serve`]; an answer takes a fifth of a second while it is slow.
pub(crate) fn serve_paced(slow: Arc<AtomicBool>) -> String {
    serve_each(move |stream| {
        if slow.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(200));
        }
        answer(stream, &AtomicBool::new(false)).unwrap_or(());
    }) + "/v1"
}

/// The address at which this answers one after another.
fn serve_each(mut answer: impl FnMut(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(&mut answer));
    url
}

/// As [`serve`]; beside `/v1` it speaks as Text Embeddings Inference does of a sparse model that weighs letters,
/// unless it is down. It is given no key there, below `/closed` that of [`SPARSE_KEY`], or refuses and echoes it.
fn serve_sparse(down: Arc<AtomicBool>) -> String {
    serve_each(move |stream| answer(stream, &down).unwrap_or(()))
}

const SPARSE_KEY: &str = "sk-sparse";

/// What a sparse model says of texts, whose tokens are letters.
fn weights(texts: &[Value]) -> Value {
    let letters = |text: &Value| -> Vec<Value> {
        let text = text.as_str().unwrap_or("");
        let letters = ('a'..='z').filter(|letter| text.contains(*letter));
        letters.map(|c| json!({"index": c as u32, "value": text.matches(c).count()})).collect()
    };
    texts.iter().map(letters).collect::<Vec<_>>().into()
}

fn answer(stream: TcpStream, down: &AtomicBool) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut key) = (0, String::new());
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?;
            }
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => value.clone_into(&mut key),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let wanted = if path.starts_with("/closed/") { format!("Bearer {SPARSE_KEY}") } else { String::new() };
    let (status, answer) = if !path.starts_with("/v1") && down.load(Ordering::Relaxed) {
        ("503 No", json!({"error": "it is being moved"}))
    } else if !path.starts_with("/v1") && key != wanted {
        ("401 No", json!({"error": format!("wrong key: `{key}`")}))
    } else if path.ends_with("/info") {
        ("200 OK", json!({"model_id": "letters", "max_client_batch_size": 8}))
    } else if path.ends_with("/embed_sparse") {
        let body: Value = serde_json::from_slice(&body).ok()?;
        ("200 OK", weights(body["inputs"].as_array()?))
    } else if key == "Bearer sk-right" {
        let body: Value = serde_json::from_slice(&body).ok()?;
        let texts = body["input"].as_array()?;
        let vector = |text: &Value| -> Vec<usize> {
            ('a'..='z').map(|letter| text.as_str().unwrap_or("").matches(letter).count() + 1).collect()
        };
        let data = texts.iter().enumerate().map(|(n, text)| json!({"index": n, "embedding": vector(text)}));
        ("200 OK", json!({"data": data.collect::<Vec<_>>()}))
    } else {
        ("401 No", json!({"error": {"message": format!("wrong key: {key}")}}))
    };
    let answer = answer.to_string();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", answer.len());
    reader.get_mut().write_all(format!("{head}{answer}").as_bytes()).ok()
}

/// A folder with documents and a table of the server at `url`, with this key.
fn folder(url: &str, key: &str) -> Folder {
    let table = format!(
        "[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{url}\"\nkey_file = \"ours.key\"\nretries = 0\n"
    );
    Folder::new(&[
        ("services.toml", &table),
        ("ours.key", &format!("{key}\n")),
        ("docs/a.md", "# Zebra\n\nzzzz zzz zebra buzz\n"),
        ("docs/b.md", "# Otter\n\noooo ooo otter root\n"),
    ])
}

#[test]
fn a_service_embeds_documents_and_queries() {
    let folder = folder(&serve(), "sk-right");
    let report =
        folder.run(&["index", "docs", "--embedder", "ours", "--config", "services.toml"]).lines().remove(0);
    assert_eq!((&report["embedded"], &report["model"]), (&2.into(), &"openai:letters@26".into()));
    let search = ["search", "zzz", "--mode", "dense", "--top-k", "1"];
    let hits =
        folder.run(&[&search[..], &["--embedder", "ours", "--config", "services.toml"]].concat()).lines();
    assert_eq!(hits[0]["doc_id"], "a.md");
    folder.run(&search).fails(
        "error: the collection has vectors of the service `openai:letters`, which is not configured; set `--embedder`, or `embedder` in `chunkwright.toml`",
    );
    assert_eq!(folder.run(&["search", "zebra", "--mode", "lexical"]).lines()[0]["doc_id"], "a.md");
    // A file that was only found may name a service, and no key.
    std::fs::rename(folder.path().join("services.toml"), folder.path().join("chunkwright.toml")).unwrap();
    let run = folder.run(&["index", "docs", "--embedder", "ours"]);
    assert!(run.code == 2 && run.stderr.contains("may not name a key"), "{}", run.stderr);
}

#[test]
fn a_service_gives_sparse_vectors_from_indexing_to_explanation() {
    let down = Arc::new(AtomicBool::new(false));
    let url = serve_sparse(Arc::clone(&down));
    let table = format!(
        "[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{url}/v1\"\nkey_file = \"ours.key\"\nretries = 0\n\
         sparse_url = \"{url}\"\n"
    );
    let folder = Folder::new(&[
        ("services.toml", &table),
        ("ours.key", "sk-right\n"),
        ("docs/a.md", "# Zebra\n\nzzzz zzz zebra buzz\n"),
        ("docs/b.md", "# Otter\n\noooo ooo otter root\n"),
    ]);
    let ours = ["--embedder", "ours", "--config", "services.toml"];
    let run = |arguments: &[&str]| folder.run(&[arguments, &ours[..]].concat());
    let report = run(&["index", "docs"]).lines().remove(0);
    assert_eq!(report["embedded"], 2);
    assert!(report["model"].as_str().unwrap().starts_with("openai:letters@26+"), "{report}");
    let hits = run(&["search", "zzz", "--mode", "sparse"]).lines();
    // Three times each of the ten of the chunk; nothing else has the letter.
    assert_eq!((hits.len(), &hits[0]["doc_id"], &hits[0]["kept"]), (1, &"a.md".into(), &"sparse".into()));
    assert_eq!(hits[0]["sparse"], json!({"rank": 1, "score": 30.0}));
    let shown = run(&["search", "zzz zebra", "--format", "text"]);
    assert!(shown.stdout.contains(", sparse #1 "), "{}", shown.stdout);
    let id = hits[0]["chunk_id"].as_str().unwrap();
    let explained = run(&["search", "zzz", "--explain", id, "--format", "text"]).stdout;
    assert!(explained.contains("sparse") && explained.contains("#1 30.000"), "{explained}");
    assert_eq!(run(&["check"]).lines()[0]["problems"], json!([]));
    // Moved with the collection, as lines and as columns.
    for file in ["moved.jsonl", "moved.parquet"] {
        let format = file.rsplit('.').next().unwrap();
        folder.run(&["export", "--vectors", "--format", format, "-o", file]);
        let other = ["--collection", format];
        assert_eq!(folder.run(&[&["import", file], &other[..]].concat()).lines()[0]["chunks"], 2);
        let found = run(&[&["search", "zzz", "--mode", "sparse"], &other[..]].concat()).lines();
        assert_eq!(found[0]["sparse"], json!({"rank": 1, "score": 30.0}));
    }
    // The server of sparse vectors is down: the search goes on with the others, and says so.
    down.store(true, Ordering::Relaxed);
    let degraded = run(&["search", "zebra"]);
    assert!(
        degraded.stderr.contains("searched without sparse vectors: `openai:letters"),
        "{}",
        degraded.stderr
    );
    let hit: Value = serde_json::from_str(degraded.stdout.lines().next().unwrap()).unwrap();
    assert!(hit["sparse"].is_null() && hit["dense"].is_object() && hit["lexical"].is_object(), "{hit}");
    let refused = run(&["search", "zzz", "--mode", "sparse"]);
    assert!(refused.code == 2 && refused.stderr.contains("it is being moved"), "{}", refused.stderr);
}

#[test]
fn a_service_of_sparse_vectors_is_given_its_own_key_and_no_other() {
    let url = serve_sparse(Arc::default());
    let table = format!(
        "[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{url}/v1\"\nkey_file = \"ours.key\"\nretries = 0\n\
         sparse_url = \"{url}/closed\"\n"
    );
    let folder = Folder::new(&[
        ("ours.key", "sk-right\n"),
        ("keys/sparse.key", "sk-sparse\n"),
        ("docs/a.md", "zzz\n"),
    ]);
    let index = |keys: &str, variables: &[(&str, &str)], collection: &str| {
        folder.write(
            "keys/services.toml",
            format!("{table}{keys}").replace("ours.key", "../ours.key").as_bytes(),
        );
        let run = ["index", "docs", "--embedder", "ours", "--config", "keys/services.toml", "--collection"];
        let run = folder.run_with_variables(&[&run[..], &[collection]].concat(), variables);
        assert!(!run.stderr.contains("sk-"), "{}", run.stderr);
        run
    };
    // By a file, which is beside the one that names it, or a variable.
    assert_eq!(index("sparse_key_file = \"sparse.key\"\n", &[], "default").lines()[0]["embedded"], 1);
    let by_variable = "sparse_key_variable = \"THEIRS\"\n";
    assert_eq!(index(by_variable, &[("THEIRS", SPARSE_KEY)], "other").lines()[0]["reused"], 1);
    let refused = |keys: &str, variables: &[(&str, &str)], sentence: &str| {
        let run = index(keys, variables, "new");
        assert!(run.code == 2 && run.stderr.contains(sentence), "{run:?}");
    };
    // The key of the dense vectors is not for it, and its own is shown to nobody.
    refused("", &[], "wrong key: ``");
    refused(by_variable, &[("THEIRS", "sk-wrong")], "wrong key: `Bearer ***`");
    refused(by_variable, &[], "the variable `THEIRS` is empty; it must hold the key");
    let both = format!("{by_variable}sparse_key_file = \"sparse.key\"\n");
    refused(&both, &[], "`sparse_key_file` and `sparse_key_variable` are both set; a service has one key");
    // A file that was only found says where no key is.
    let found = table.replace("key_file = \"ours.key\"", "sparse_key_file = \"keys/sparse.key\"");
    folder.write("chunkwright.toml", found.as_bytes());
    let run = folder.run(&["index", "docs", "--embedder", "ours"]);
    assert!(run.code == 2 && run.stderr.contains("may not name a key"), "{run:?}");
    // Nor is it given to a service that is not there.
    folder.write("nowhere.toml", found.replace("sparse_url", "# ").as_bytes());
    let run = folder.run(&["index", "docs", "--embedder", "ours", "--config", "nowhere.toml"]);
    assert!(run.code == 2 && run.stderr.contains("set `sparse` and `sparse_url`"), "{run:?}");
}

#[test]
fn stages_weigh_as_much_as_is_said() {
    let url = serve_sparse(Arc::default());
    let folder = folder(&format!("{url}/v1"), "sk-right");
    let table = folder.read("services.toml") + &format!("sparse_url = \"{url}\"\n");
    folder.write("services.toml", table.as_bytes());
    let run = |arguments: &[&str]| {
        folder.run(&[arguments, &["--embedder", "ours", "--config", "services.toml"]].concat())
    };
    run(&["index", "docs"]);
    // By words, all of it is in `b.md`; by letters, most is in `a.md`.
    let check = |flags: &[&str], doc_id: &str, score: f64| {
        let hit = run(&[&["search", "otter zzzzzzzzz", "-k", "1"], flags].concat()).lines().remove(0);
        let is_near = (hit["score"].as_f64().unwrap() - score).abs() < 1e-9;
        assert!(hit["doc_id"] == doc_id && is_near, "{flags:?} {hit}");
    };
    check(&["--dense-weight", "1"], "a.md", 1.0);
    check(&["--dense-weight", "0", "--sparse-weight", "0"], "b.md", 1.0);
    check(&["--dense-weight", "0", "--sparse-weight", "1"], "a.md", 1.0);
    check(&["--dense-weight", "0", "--sparse-weight", "0.25"], "b.md", 0.75);
    check(&["--fusion", "rrf", "--rrf-k", "1"], "b.md", 1.0 / 3.0 + 1.0 / 3.0 + 1.0 / 2.0);
    let refused = |flags: &[&str], sentence: &str| {
        let eval = [&["eval", "--stability", "docs"], flags].concat();
        for arguments in [[&["search", "otter"], flags].concat(), eval] {
            let run = folder.run(&arguments);
            assert!(run.code == 2 && run.stderr.contains(sentence), "{arguments:?} {run:?}");
        }
    };
    for (weight, right) in [("1.5", "from 0 to 1"), ("-0.1", "from 0 to 1"), ("NaN", "a number from 0 to 1")]
    {
        refused(&["--dense-weight", weight], &format!("`dense_weight` is `{weight}`; it must be {right}"));
        refused(&["--sparse-weight", weight], &format!("`sparse_weight` is `{weight}`; it must be {right}"));
    }
    refused(&["--fusion", "rrf", "--rrf-k", "-1"], "`rrf_k` is `-1`; it must be at least 0");
    refused(&["--rrf-k", "1"], "`rrf_k` needs `fusion=rrf`");
    refused(&["--fusion", "rrf", "--dense-weight", "1"], "`dense_weight` needs `fusion=sum`");
}

#[test]
fn documents_of_a_new_collection_are_found_by_words_while_the_service_is_away() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = folder(&format!("http://127.0.0.1:{port}/v1"), "sk-right");
    let index = ["index", "docs", "--embedder", "ours", "--config", "services.toml"];
    for indexed in [2, 0] {
        let run = folder.run(&index);
        let sentence = format!(
            "pending no chunk has a vector: `http://127.0.0.1:{port}/v1/embeddings` cannot be reached: "
        );
        assert!(run.code == 0 && run.stderr.starts_with(&sentence), "{run:?}");
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&report["indexed"], &report["model"]), (&indexed.into(), &Value::Null));
        assert_eq!(folder.run(&["search", "zebra"]).lines()[0]["doc_id"], "a.md");
    }
    let table = folder.read("services.toml").replace(&format!("http://127.0.0.1:{port}/v1"), &serve());
    folder.write("services.toml", table.as_bytes());
    let run = folder.run(&index);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&report["embedded"], &report["model"]), (&2.into(), &"openai:letters@26".into()));
    assert!(run.stderr.starts_with("searches now use `default@2`"), "{}", run.stderr);
    // What is wrong, and not only away, is no reason to go without.
    folder.write("ours.key", b"sk-wrong\n");
    let run = folder.run(&[&index[..], &["--collection", "other"]].concat());
    assert!(run.code == 2 && run.stderr.contains("answered 401"), "{run:?}");
}

#[test]
fn doctor_says_whether_services_answer_and_shows_no_key() {
    let url = serve();
    let state = |key: &str, flags: &[&str]| {
        let run = folder(&url, key).run(&[&["doctor"], flags].concat());
        assert!(!run.stdout.contains("sk-"), "{}", run.stdout);
        let rows = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let wanted = flags[0].trim_start_matches("--");
        let row = rows.into_iter().find(|row| row["what"] == wanted).unwrap();
        (row["state"].as_str().unwrap().to_owned(), row["note"].as_str().unwrap().to_owned())
    };
    let answers = state("sk-right", &["--embedder", "ours", "--config", "services.toml"]);
    assert_eq!(answers, ("ok".into(), "openai:letters@26".into()));
    let (damaged, note) = state("sk-wrong", &["--embedder", "ours", "--config", "services.toml"]);
    assert_eq!(damaged, "damaged");
    assert!(note.ends_with("not allowed to do this: wrong key: Bearer ***"), "{note}");
    let (damaged, note) = state("sk-right", &["--writer", "ollama:m", "--writer-url", &url]);
    assert_eq!(damaged, "damaged");
    assert!(note.contains("answered 401"), "{note}");
    let (damaged, note) = state("sk-right", &["--reranker", "best"]);
    assert_eq!(damaged, "damaged");
    assert!(note.starts_with("unknown reranker `best`; known are `e5`, `cohere:MODEL`"), "{note}");
}

#[test]
fn the_configuration_shows_where_a_key_is_and_no_secret() {
    let folder = Folder::new(&[(
        "chunkwright.toml",
        "embedder = \"ours\"\nreranker_url = \"http://me:word@h/?key=word\"\n[embedders.ours]\nspec = \"tei:\"\n\
         url = \"https://me:word@host/v1\"\nkey_variable = \"OURS\"\nsparse_key_variable = \"THEIRS\"\n",
    )]);
    let variables = [("OURS", "word"), ("THEIRS", "word")];
    let run = folder.run_with_variables(&["config", "show", "--writer", "ollama:m"], &variables);
    assert!(!run.stdout.contains("word"), "{}", run.stdout);
    let rows = run.lines();
    let value = |key: &str| rows.iter().find(|row| row["key"] == key).unwrap()["value"].clone();
    assert_eq!(value("embedder"), "ours");
    assert_eq!(value("reranker_url"), "http://***@h/?***");
    assert_eq!(value("writer"), "ollama:m");
    assert_eq!(value("embedders.ours.url"), "https://***@host/v1");
    assert_eq!(value("embedders.ours.key_variable"), "OURS");
    assert_eq!(value("embedders.ours.sparse_key_variable"), "THEIRS");
}

#[test]
fn a_table_that_cannot_be_used_is_named() {
    let check = |table: &str, expected: &str| {
        let folder = Folder::new(&[("chunkwright.toml", table)]);
        let run = folder.run(&["config", "show"]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(expected) && !run.stderr.contains("sk-"), "{}", run.stderr);
    };
    check("[embedders.a]\nkey = \"sk-1\"\n", "put the key in a file of its own and set `key_file`");
    check("[embedders.a]\nsparse_key = \"sk-1\"\n", "set `sparse_key_file`");
    check("[embedders.a]\nulr = \"u\"\n", "unknown key `ulr` in `embedders.a` of `");
    check("[rerankers.a]\ndimension = 3\n", "unknown key `dimension` in `rerankers.a` of `");
    check("[writers.a]\nretries = \"many\"\n", "`writers.a` of `");
    check("embedders = 3\n", "must hold tables, such as `[embedders.mine]`");
    check("[writers]\na = 3\n", "must be a table, such as `[writers.a]`");
}
