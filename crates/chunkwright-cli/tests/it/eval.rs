//! `chunkwright eval` and `chunkwright tune`

use std::process::Command;

use serde_json::{Value, json};

use crate::cli::{Folder, guide};

const QUESTIONS: &str = r#"{"id":"ladder","question":"how to climb a ladder","doc_id":"docs/a.md","excerpt":"Climb the ladder slowly."}
{"question":"where are apples kept","doc_id":"docs/a.md","lines":"L7"}
{"question":"苹果放在哪里","doc_id":"docs/b.md","excerpt":"苹果放在地窖里。"}
"#;

const A: &str = "# Farm\n\n## Ladders\n\nClimb the ladder slowly.\n\nApples are kept in the cellar.\n";
const B: &str = "# 农场\n\n苹果放在地窖里。梨放在架子上。\n";

/// A folder with two documents and questions about them.
fn farm() -> Folder {
    Folder::new(&[("q.jsonl", QUESTIONS), ("docs/a.md", A), ("docs/b.md", B)])
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["kind"].as_str().unwrap()).collect()
}

#[test]
fn every_preset_is_measured_and_compared_with_the_first() {
    let run = farm().run(&["eval", "q.jsonl", ".", "--preset", "auto,recursive", "--mode", "lexical"]);
    let lines = run.lines();
    assert_eq!(kinds(&lines), ["retrieval", "retrieval", "run"]);
    let (auto, recursive, run) = (&lines[0], &lines[1], &lines[2]);
    assert_eq!((&auto["preset"], &recursive["preset"]), (&json!("auto"), &json!("recursive")));
    assert_eq!(auto["measures"]["R@1000"], json!({"mean": 1.0, "low": 1.0, "high": 1.0}));
    assert_eq!(recursive["measures"]["R@1000"]["difference"]["mean"], 0.0);
    assert_eq!((&auto["sizes"]["covered"], &auto["sizes"]["over_limit"]), (&json!(1.0), &json!(0)));
    assert_eq!((&run["questions"], &run["documents"], &run["refused"]), (&json!(3), &json!(2), &json!(0)));
    assert_eq!((&run["embedder"], &run["baseline"]), (&Value::Null, &json!("auto")));
}

#[test]
fn without_a_model_a_search_is_by_words() {
    let run = farm().run(&["eval", "q.jsonl", "."]);
    assert_eq!(run.lines()[0]["mode"], "lexical");
    let run = farm().run(&["eval", "q.jsonl", ".", "--mode", "dense"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: mode `dense` needs an embedder"), "{}", run.stderr);
}

#[test]
fn each_question_can_be_looked_at() {
    let lines = farm().run(&["eval", "q.jsonl", ".", "--per-question", "-k", "1"]).lines();
    assert_eq!(kinds(&lines), ["retrieval", "question", "question", "question", "run"]);
    let ids: Vec<&Value> = lines[1..4].iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, ["ladder", "L2", "L3"]);
    assert_eq!(lines[3]["gold"], json!([{"doc_id": "docs/b.md", "start_char": 6, "end_char": 14}]));
    assert_eq!(lines[3]["returned"][0]["doc_id"], "docs/b.md");
    assert_eq!(lines[3]["measures"]["recall@1"], 1.0);
}

#[test]
fn a_question_that_is_too_long_is_named_and_the_rest_is_asked() {
    let folder = farm();
    let long = json!({ "question": "apple ".repeat(2_000), "doc_id": "docs/a.md", "lines": "L7" });
    folder.write("q.jsonl", format!("{long}\n{QUESTIONS}").as_bytes());
    let run = folder.run(&["eval", "q.jsonl", "."]);
    let sentence =
        "error: q.jsonl:1: the query has 12000 characters; the limit is 10000: ask for less at once";
    assert_eq!((run.code, run.stderr.lines().next()), (2, Some(sentence)));
    folder.run(&["index", "docs", "--embedder", "none", "-q"]).success();
    folder.run(&["search", &"apple ".repeat(2_000)]).fails(&sentence.replace("q.jsonl:1: ", ""));
}

#[test]
fn questions_that_cannot_be_asked_are_named_and_the_rest_is_asked() {
    let folder = farm();
    let wrong = "{\"question\":\"x\",\"doc_id\":\"a.md\",\"excerpt\":\"Apples\"}\nnonsense\n\n";
    folder.write("q.jsonl", format!("{wrong}{QUESTIONS}").as_bytes());
    let run = folder.run(&["eval", "q.jsonl", "."]);
    assert_eq!((run.code, run.stdout.lines().count()), (2, 2));
    let said: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        said[0],
        "error: q.jsonl:1: there is no document `a.md`, but `docs/a.md`; `doc_id` is the path relative to the given folder"
    );
    assert!(said[1].starts_with("error: q.jsonl:2: not a JSON object ("), "{}", said[1]);
    assert_eq!(said[2], "2 lines could not be used; the rest was measured");
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["questions"], &last["refused"]), (&json!(3), &json!(2)));
    folder.write("q.jsonl", b"nonsense\n");
    let run = folder.run(&["eval", "q.jsonl", "."]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.ends_with("error: no question of `q.jsonl` can be asked: none of its 1 line can be\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_run_needs_questions_or_edits() {
    let folder = farm();
    let run = folder.run(&["eval", "docs"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.starts_with("error: there are no questions; give some, such as a file `QUESTIONS.jsonl`"),
        "{}",
        run.stderr
    );
    let empty = Folder::new(&[("q.jsonl", QUESTIONS)]);
    let run = empty.run(&["eval", "q.jsonl", "."]);
    assert_eq!((run.code, run.stderr.as_str()), (1, "no document was found at the given paths\n"));
}

#[test]
fn edits_are_drawn_from_a_seed_and_counted() {
    let folder = Folder::new(&[("a.md", &guide(4))]);
    let args = ["eval", "--stability", "--edit-count", "18", "a.md", "--quiet"];
    let first = folder.run(&args).success();
    assert_eq!(first, folder.run(&args).success());
    assert_ne!(first, folder.run(&[&args[..], &["--seed", "1"]].concat()).success());
    let lines: Vec<Value> = first.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all = lines.iter().find(|line| line["edits"] == "all").unwrap();
    assert_eq!((&all["count"], &all["renamed"], &all["unequal"]), (&json!(18), &json!(0), &json!(0)));
    assert!(all["changed"]["mean"].as_f64().unwrap() > 0.0);
    assert_eq!(lines.iter().filter(|line| line["kind"] == "stability").count(), 10, "all, and nine kinds");
}

#[test]
fn edits_come_out_of_a_file() {
    let edit = json!({"doc_id": "a.md", "kind": "mine", "old": A, "new": A.replace("slowly", "fast")});
    let folder = Folder::new(&[("edits.jsonl", &format!("{edit}\n{{}}\n"))]);
    let run = folder.run(&["eval", "--edits", "edits.jsonl"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: edits.jsonl:2: not an edit (missing field"), "{}", run.stderr);
    let line = run.stdout.lines().find(|line| line.contains("\"edits\":\"mine\"")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&line["count"], &line["changed"]["sum"], &line["own_changed"]["sum"]),
        (&json!(1), &json!(1), &json!(1))
    );
}

#[test]
fn real_edits_are_read_from_git() {
    let folder = Folder::new(&[("a.md", A), ("Cargo.lock", "[a]\n")]);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]);
        let output = git.args(args).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    folder.write("a.md", A.replace("slowly", "fast").as_bytes());
    folder.write("Cargo.lock", b"[b]\n");
    git(&["commit", "-q", "-a", "-m", "two"]);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let run = folder.run_with_variables(&["eval", "--stability", "a.md"], &[("PATH", &path)]);
    let lines = run.lines();
    let real = lines.iter().find(|line| line["edits"] == "git, one line").unwrap();
    assert_eq!((&real["count"], &real["changed"]["sum"]), (&json!(1), &json!(1)));
    let run = folder.run_with_variables(&["eval", "--stability", "a.md"], &[("PATH", "")]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("`git` is not installed"), "{}", run.stderr);
}

#[test]
fn people_see_percent_and_differences() {
    let folder = farm();
    let text = folder.run(&["eval", "q.jsonl", ".", "--preset", "auto,recursive", "-f", "text"]).success();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "3 questions on 2 documents, words only; tokens by o200k");
    assert!(
        text.contains("lexical, %") && text.contains("100.0 ±0.0") && text.contains("minus auto"),
        "{text}"
    );
    let json: Value =
        serde_json::from_str(&folder.run(&["eval", "q.jsonl", ".", "-f", "json"]).success()).unwrap();
    assert_eq!((&json["run"]["questions"], json["retrieval"].as_array().unwrap().len()), (&json!(3), 1));
}

#[test]
fn several_sizes_are_averaged() {
    let folder = Folder::new(&[("a.md", &guide(3))]);
    folder.write("q.jsonl", b"{\"question\":\"word1203\",\"doc_id\":\"a.md\",\"excerpt\":\"word1203\"}\n");
    let lines = folder.run(&["eval", "q.jsonl", "a.md", "--sizes", "60,120"]).lines();
    assert_eq!(lines[0]["max_sizes"], json!([60, 120]));
    let count = |size: &str| {
        folder.run(&["eval", "q.jsonl", "a.md", "--sizes", size]).lines()[0]["sizes"]["chunks"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(lines[0]["sizes"]["chunks"].as_u64().unwrap(), count("60") + count("120"));
}

/// Sections whose titles say what their text says in other words.
fn manual() -> String {
    let mut text = String::from("# Manual\n\nWhat there is to know.\n");
    for (title, word) in [("Ladders", "ladder"), ("Apples", "apple"), ("Bees", "bee"), ("Bread", "bread")] {
        let body =
            format!("The {word} is described here, with what one {word} needs and why a {word} is kept. ")
                .repeat(3);
        text.extend(["\n## ", title, "\n\n", &body, "\n"]);
    }
    text
}

#[test]
fn a_preset_is_proposed_from_titles_where_documents_have_nothing_else() {
    let folder = Folder::new(&[("a.md", &manual())]);
    let lines = folder.run(&["tune", "a.md"]).lines();
    let proposal = lines.last().unwrap();
    assert_eq!((&proposal["kind"], &proposal["questions"]), (&json!("proposal"), &json!(4)));
    assert_eq!((&proposal["questions_from"], &proposal["better"]), (&json!("titles"), &json!(false)));
    assert_eq!(proposal["toml"], "preset = \"auto\"\n");
    assert!(lines.iter().any(|line| line["preset"] == "recursive"));
    assert_eq!(
        folder.run(&["tune", "a.md", "-f", "json"]).success(),
        folder.run(&["tune", "a.md", "-f", "json"]).success()
    );
    let text = folder.run(&["tune", "a.md", "-f", "text", "--preset", "auto", "--sizes", "64"]).success();
    assert!(text.starts_with("4 questions from titles on 1 document, lexical, words only\n"), "{text}");
    assert!(text.contains("for `chunkwright.toml`:\n\npreset = "), "{text}");
    assert!(text.contains("note: titles ask for whole sections"), "{text}");
    assert!(proposal["bias"].as_str().unwrap().starts_with("titles ask"), "{proposal}");
    let tied: Vec<_> = lines.iter().filter(|line| line["tied"] == true).collect();
    assert_eq!(tied[0], &lines[0], "the best is tied with itself");
    let run = folder.run(&["tune", "a.md", "-f", "text", "--preset", "auto,docs"]).success();
    assert!(run.contains("within noise of the best: "), "{run}");
    // What is proposed can be used as it is.
    folder.write("chunkwright.toml", proposal["toml"].as_str().unwrap().as_bytes());
    folder.run(&["config", "show"]).success();
}

#[test]
fn questions_are_made_of_what_documents_have() {
    let code = "/// Sorts the keys of a bucket before they are written.\npub fn sort_keys(keys: &mut [Key]) {\n    keys.sort_unstable_by(Key::compare);\n}\n";
    let folder = Folder::new(&[
        ("a.md", "# Store\n\nA bucket is [compacted](b.md) at night. Its [locks](b.md#locks) are short.\n"),
        (
            "b.md",
            "# Compaction\n\nOld versions are dropped when nobody reads them any more.\n\n## Locks\n\nA lock is held for a page at a time, never for a bucket.\n",
        ),
        ("src/sort.rs", code),
    ]);
    let tune = |arguments: &[&str]| {
        let lines =
            folder.run(&[&["tune", ".", "--preset", "auto", "--sizes", "64"], arguments].concat()).lines();
        let proposal = lines.last().unwrap();
        let said = proposal["bias"].as_str().unwrap();
        (proposal["questions_from"].as_str().unwrap().to_owned(), said.to_owned())
    };
    let (from, bias) = tune(&["--questions", "3"]);
    assert_eq!(from, "links (2) and symbols (1)");
    assert!(
        bias.starts_with("links ask for whole sections") && bias.contains("; doc comments ask"),
        "{bias}"
    );
    assert_eq!(tune(&["--from", "symbols"]).0, "symbols");
    assert_eq!(tune(&["--from", "titles,links"]).0, "titles (2) and links (2)");
    let none = folder.run(&["tune", ".", "--from", "sentences"]);
    let said = "no questions could be made: the documents have no sentences that ask for a passage; write questions (see `chunkwright help eval`)";
    assert_eq!((none.code, none.stderr.trim_end(), none.stdout.as_str()), (1, said, ""));
    folder.write("q.jsonl", b"{\"question\":\"lock\",\"doc_id\":\"b.md\",\"lines\":\"L7\"}\n");
    folder
        .run(&["tune", "q.jsonl", ".", "--from", "links"])
        .fails("error: `--from` makes questions of the documents; omit it, or the file of questions");
}

#[test]
fn documents_without_titles_need_questions() {
    let folder = Folder::new(&[
        ("a.txt", "Text without a title.\n"),
        ("q.jsonl", "{\"question\":\"text\",\"doc_id\":\"a.txt\",\"lines\":\"L1\"}\n"),
    ]);
    let run = folder.run(&["tune", "a.txt"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("no questions could be made"), "{}", run.stderr);
    let lines = folder.run(&["tune", "q.jsonl", "a.txt"]).lines();
    assert_eq!(lines.last().unwrap()["questions_from"], "a file");
}

#[test]
fn large_corpora_are_sampled_and_it_is_said() {
    let folder = Folder::new(&[("a.md", &manual()), ("b.md", &guide(1)), ("c.md", &guide(2))]);
    folder.write("q.jsonl", b"{\"question\":\"bee\",\"doc_id\":\"a.md\",\"lines\":\"L15\"}\n");
    let lines = folder
        .run(&["tune", "q.jsonl", ".", "--preset", "auto", "--sizes", "64", "--max-bytes", "1"])
        .lines();
    let proposal = lines.last().unwrap();
    assert_eq!((&proposal["documents"], &proposal["documents_found"]), (&json!(1), &json!(3)));
}

#[test]
fn chunks_of_another_program_are_measured_by_the_same_measures() {
    let folder = farm();
    folder.write("docs/guide.md", guide(12).as_bytes());
    folder.write("docs/c.md", "# Ограда\n\nЛестница стоит у ограды. Яблоки лежат в погребе.\n".as_bytes());
    folder
        .run(&["chunk", "-q", ".", "--exclude", "*.jsonl", "--max-size", "40", "-o", "ours.jsonl"])
        .success();
    // As LangChain writes its documents: whole ones, here.
    let whole = |name: &str| {
        let text = folder.read(name);
        json!({"page_content": text, "metadata": {"source": format!("/data/{name}")}}).to_string()
    };
    let rewritten = json!({"doc_id": "docs/a.md", "text": "A ladder is climbed slowly."}).to_string();
    let lines = [whole("docs/a.md"), whole("docs/b.md"), rewritten, "{\"text\": \"lost\"}".to_owned()];
    folder.write("whole.jsonl", lines.join("\n").as_bytes());
    let run = folder.run(&[
        "eval",
        "q.jsonl",
        ".",
        "--max-size",
        "40",
        "--mode",
        "lexical",
        "--chunks",
        "ours.jsonl",
        "--chunks",
        "whole.jsonl",
    ]);
    assert_eq!(run.code, 2);
    let said: Vec<&str> = run.stderr.lines().collect();
    assert!(
        said[0].starts_with("error: whole.jsonl:4: the chunk names no document; set `doc_id`"),
        "{said:?}"
    );
    assert!(
        said[1].contains("the text of 1 of 3 chunks in `whole.jsonl`, such as line 3, is not in"),
        "{said:?}"
    );
    let lines = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    assert_eq!(kinds(&lines), ["retrieval", "retrieval", "retrieval", "run"]);
    let [auto, ours, whole, _] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&ours["preset"], &ours["strategy_version"]), (&json!("ours.jsonl"), &json!("foreign")));
    // Our own chunks are what they are without the detour.
    for measure in ["R@500", "recall@1", "IoU@1", "nDCG@10", "intact"] {
        assert_eq!(ours["measures"][measure]["mean"], auto["measures"][measure]["mean"], "{measure}");
        assert_eq!(ours["measures"][measure]["difference"]["mean"], 0.0, "{measure}");
    }
    for size in ["chunks", "mean", "p95", "max", "covered"] {
        assert_eq!(ours["sizes"][size], auto["sizes"][size], "{size}");
    }
    assert_eq!((&whole["sizes"]["chunks"], &whole["measures"]["intact"]["mean"]), (&json!(3), &json!(1.0)));
    assert!(whole["sizes"]["covered"].as_f64().unwrap() < 0.5);
    let text = folder.run(&["eval", "q.jsonl", ".", "--chunks", "ours.jsonl", "-f", "text"]).success();
    assert!(text.contains("ours.jsonl"), "{text}");
    folder.write("none.jsonl", b"\n");
    let run = folder.run(&["eval", "q.jsonl", ".", "--chunks", "none.jsonl"]);
    assert!(run.code == 2 && run.stderr.contains("`none.jsonl` has no chunks of these documents"), "{run:?}");
}
