//! `chunkwright index`, `search`, `fetch`, `status`, `doctor`

use serde_json::{Value, json};

use crate::cli::{Folder, guide};

fn indexed() -> Folder {
    let folder = Folder::new(&[
        ("docs/install.md", "# Install\n\nRun the installer twice.\n"),
        ("docs/guide.md", &guide(3)),
        ("docs/code.py", "def parse_config(path):\n    return open(path).read()\n"),
    ]);
    let report = report(&folder, &[]);
    assert_eq!((&report["indexed"], &report["collection"]), (&3.into(), &"default".into()));
    folder
}

/// Runs `index docs` without vectors and with these flags; the report.
fn report(folder: &Folder, flags: &[&str]) -> Value {
    let [report] =
        folder.run(&[&["index", "docs", "--embedder", "none"], flags].concat()).lines().try_into().unwrap();
    report
}

#[test]
fn a_second_run_writes_nothing() {
    let folder = indexed();
    let report = report(&folder, &[]);
    assert_eq!(
        (&report["indexed"], &report["unchanged"], &report["chunks"]),
        (&0.into(), &3.into(), &0.into())
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = indexed();
    folder.write("docs/new.md", b"# New\n\nAnother text.\n");
    assert_eq!(report(&folder, &["--dry-run"])["indexed"], 1);
    assert_eq!(report(&folder, &[])["indexed"], 1);
}

#[test]
fn documents_whose_files_are_gone_go_with_them() {
    let folder = indexed();
    std::fs::remove_file(folder.path().join("docs/install.md")).unwrap();
    let run = folder.run(&["index", "docs", "--embedder", "none", "--prune=keep"]);
    assert!(run.stderr.contains("stays although its file is gone, as `--prune=keep` says"), "{run:?}");
    folder.run(&["fetch", "install.md"]).success();
    assert_eq!(report(&folder, &[])["pruned"][0], "install.md");
    assert_eq!(folder.run(&["fetch", "install.md"]).code, 2);
}

#[test]
fn hits_that_answer_little_of_the_query_are_left_out_unless_all_are_asked_for() {
    let folder = indexed();
    let gibberish = "installer xylophone wuzzle frobnicate trombone glacier lullaby quux";
    let run = folder.run(&["search", gibberish]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.starts_with("note: nothing relevant: ")
            && run.stderr.contains(" below the minimum relevance 0.07, the best with 0.0")
            && run.stderr.contains("`--min-relevance 0` shows all"),
        "{}",
        run.stderr
    );
    let hits = folder.run(&["search", gibberish, "--min-relevance", "0"]).lines();
    assert!(hits[0]["relevance"].as_f64().unwrap() < 0.07, "{}", hits[0]);
    let hits = folder.run(&["search", "installer"]).lines();
    assert!(hits[0]["relevance"].as_f64().unwrap() > 0.9, "{}", hits[0]);
    let id = hits[0]["chunk_id"].as_str().unwrap();
    let run = folder.run(&["search", gibberish, "--explain", id, "-f", "text"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("its relevance is below 0.07, which a hit must have"), "{}", run.stdout);
    let run = folder.run(&["search", "installer", "--min-relevance", "2"]);
    assert!(
        run.code == 2 && run.stderr.contains("`min_relevance` is `2`; it must be from 0 to 1"),
        "{run:?}"
    );
}

#[test]
fn words_are_found_and_every_stage_is_told() {
    let folder = indexed();
    let hits = folder.run(&["search", "installer", "--top-k", "2"]).lines();
    assert_eq!((&hits[0]["rank"], &hits[0]["doc_id"]), (&1.into(), &"install.md".into()));
    assert_eq!((&hits[0]["lexical"]["rank"], &hits[0]["dense"]), (&1.into(), &Value::Null));
    let hits = folder.run(&["search", "parse config", "--filter", "language=python"]).lines();
    assert_eq!((hits.len(), &hits[0]["doc_id"]), (1, &"code.py".into()));
    let text = folder.run(&["search", "installer", "-f", "text"]).success();
    assert!(text.starts_with(" 1 install.md:1-3  score "), "{text}");
    let run = folder.run(&["search", "xylophone"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (1, "", "nothing was found\n"));
    let run = folder.run(&["search", "x", "--filter", "colour=red"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("unknown field `colour`; known are `doc_id`, `category`, `language`, `content_type`")
    );
}

#[test]
fn what_is_fetched_is_the_source() {
    let folder = indexed();
    assert_eq!(folder.run(&["fetch", "guide.md"]).success(), folder.read("docs/guide.md"));
    let lines = folder.run(&["fetch", "guide.md#L1-L2"]).success();
    assert!(folder.read("docs/guide.md").starts_with(&lines) && lines.lines().count() == 2, "{lines:?}");
    let record = folder.run(&["search", "installer"]).lines().remove(0);
    let id = record["chunk_id"].as_str().unwrap();
    assert_eq!(folder.run(&["fetch", id]).success(), record["content"].as_str().unwrap());
    let json: Value =
        serde_json::from_str(&folder.run(&["fetch", id, "--format", "json"]).success()).unwrap();
    assert_eq!((&json["text"], &json["chunks"][0]["chunk_id"]), (&record["content"], &record["chunk_id"]));
    folder.run(&["fetch", "nope.md"]).fails(
        "error: `nope.md` is not in collection `default`; a reference is a document's id, a chunk's id, \
         `DOC_ID#INDEX` or `DOC_ID#L10-L80`",
    );
}

#[test]
fn what_is_found_comes_with_its_section_once() {
    let folder = indexed();
    let query = "word1001 word1201 word2001";
    let all = ["search", query, "-k", "3", "--expand", "parent", "--min-relevance", "0"];
    let passages = folder.run(&all).lines();
    assert_eq!(passages.len(), 2, "{passages:?}");
    let ranks: Vec<Vec<u64>> = passages
        .iter()
        .map(|passage| passage["hits"].as_array().unwrap())
        .map(|hits| hits.iter().map(|hit| hit["rank"].as_u64().unwrap()).collect())
        .collect();
    let mut all = ranks.concat();
    all.sort_unstable();
    assert_eq!((all.as_slice(), ranks[0][0]), (&[1, 2, 3][..], 1));
    let source = folder.read("docs/guide.md");
    for passage in &passages {
        let at = |key: &str| passage[key].as_u64().unwrap() as usize;
        let text = passage["text"].as_str().unwrap();
        assert_eq!(text, &source[at("start_byte")..at("end_byte")]);
        assert!(at("token_count") <= 1000 && passage["tokenizer"] == "o200k", "{passage}");
        let lines = folder.run(&["fetch", passage["reference"].as_str().unwrap()]).success();
        assert!(lines.contains(text), "{passage}");
    }
    let text = folder.run(&["search", "installer", "--expand", "parent", "-f", "text"]).success();
    assert!(
        text.starts_with(" 1 install.md:1-3  ") && text.ends_with("Run the installer twice.\n"),
        "{text}"
    );
    let run = folder.run(&["search", "installer", "--expand", "all"]);
    assert!(
        run.code == 2
            && run
                .stderr
                .contains("`expand` is `all`; it must be `parent`, `merge` or a number of neighbours"),
        "{run:?}"
    );
    let run = folder.run(&["search", "xylophone", "--expand", "1"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, "nothing was found\n"));
}

#[test]
fn short_sections_joined_to_a_long_one_are_found_with_their_parent() {
    let lines: String = (0..40).map(|n| format!("Line {n} of the third section, quite long.\n\n")).collect();
    let folder = Folder::new(&[(
        "docs/a.md",
        &format!("# Alpha\n\n## Beta\n\nOne short line.\n\n### Gamma\n\n{lines}"),
    )]);
    report(&folder, &[]);
    for expand in ["parent", "1", "merge"] {
        let passages = folder.run(&["search", "alpha beta", "--expand", expand]).lines();
        assert!(passages[0]["text"].as_str().unwrap().starts_with("# Alpha\n"), "{passages:?}");
    }
    let hit = folder.run(&["search", "alpha beta"]).lines().remove(0);
    let parent = folder.run(&["fetch", hit["parent"].as_str().unwrap()]).success();
    assert!(parent.contains(hit["content"].as_str().unwrap()), "{hit}");
}

#[test]
fn a_chunk_is_fetched_with_its_section_or_its_neighbours() {
    let folder = indexed();
    let parent = folder.run(&["search", "word1001"]).lines().remove(0);
    let (id, parent) = (parent["chunk_id"].as_str().unwrap(), parent["parent"].as_str().unwrap());
    let section = folder.run(&["fetch", parent]).success();
    assert!(section.starts_with("## Part 1\n") && folder.read("docs/guide.md").contains(&section));
    let whole = folder.run(&["fetch", id, "--expand", "parent", "--expand-tokens", "9999"]).success();
    assert_eq!(whole, section);
    let json =
        folder.run(&["fetch", id, "--expand", "parent", "--expand-tokens", "700", "-f", "json"]).success();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(section.contains(json["text"].as_str().unwrap()) && json["found"] == id, "{json}");
    assert!(json["token_count"].as_u64().unwrap() <= 700 && json["chunks"].as_array().unwrap().len() > 1);
    let neighbours = folder.run(&["fetch", "guide.md#3", "--expand", "1"]).success();
    assert_eq!(folder.run(&["fetch", "guide.md#3", "--window", "1"]).success(), neighbours);
    folder
        .run(&["fetch", id, "--expand", "1", "--expand-tokens", "0"])
        .fails("error: `expand_tokens` is `0`; it must be at least 1");
    folder.run(&["fetch", "nope.md#0", "--expand", "1"]).fails(
        "error: `nope.md#0` is not in collection `default`; a reference is a document's id, a chunk's id, \
         `DOC_ID#INDEX` or `DOC_ID#L10-L80`",
    );
}

#[test]
fn status_counts_what_is_stored() {
    let folder = indexed();
    let [collection] = folder.run(&["status"]).lines().try_into().unwrap();
    assert_eq!((&collection["collection"], &collection["documents"]), (&"default".into(), &3.into()));
    let documents = folder.run(&["status", "--documents"]).lines();
    let ids: Vec<&str> = documents.iter().map(|document| document["doc_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["code.py", "guide.md", "install.md"]);
}

#[test]
fn without_a_store_the_command_that_makes_one_is_named() {
    let folder = Folder::new(&[]);
    let run = folder.run(&["search", "x", "--store", "kept"]);
    run.fails("error: there is no store at `kept`; index something into it first");
    let run = folder.run(&["search", "x", "--store", "http://localhost:1"]);
    run.fails(
        "error: `http://localhost:1` cannot be a store: it must be a folder or one of `qdrant://HOST`, `qdrant+https://HOST`, `chroma://HOST`, `chroma+https://HOST`, `postgres://HOST`, `postgresql://HOST`",
    );
    let run = folder.run(&["backup", "file", "--store", "qdrant://localhost:1"]);
    run.fails("error: the store is `qdrant://localhost:1`; this command works on stores in folders only. `chunkwright export` writes a collection to a file, and `chunkwright import` reads it back, with any store");
    let run = folder.run(&["status", "--store", "qdrant://localhost:1?shards=no"]);
    assert!(run.stderr.contains("the option `shards` is not understood"), "{}", run.stderr);
}

#[test]
fn the_doctor_says_what_is_missing_and_how_to_get_it() {
    let folder = indexed();
    let findings = folder.run(&["doctor"]).lines();
    let state = |what: &str| &findings.iter().find(|finding| finding["what"] == what).unwrap()["state"];
    assert_eq!(
        (state("store"), state("tokenizer"), state("model")),
        (&"ok".into(), &"ok".into(), &"missing".into())
    );
    let model = findings.iter().find(|finding| finding["what"] == "model").unwrap();
    assert!(model["note"].as_str().unwrap().contains("run `chunkwright models install "), "{model}");
}

#[test]
fn symbols_paths_and_summaries_are_searched_for() {
    let folder = Folder::new(&[
        ("docs/a.py", "class Config:\n    def parse(self, path):\n        return path\n"),
        ("docs/b.py", "def parse(path):\n    return None\n"),
        ("docs/bundle.min.js", "var parse=function(a){return a};\n"),
    ]);
    let first = report(&folder, &["--summaries", "--include", "*"]);
    assert_eq!((&first["indexed"], &first["minified"]), (&3.into(), &1.into()));
    let ids = |query: &str| -> Vec<String> {
        folder
            .run(&["search", query])
            .lines()
            .iter()
            .map(|hit| hit["doc_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("symbol:Config.parse"), ["a.py"]);
    assert_eq!(ids("parse path:b.py"), ["b.py"]);
    assert_eq!(ids("parse -path:a.py -path:bundle"), ["b.py"]);
    let [summary] = folder.run(&["search", "Config artifact:class_summary"]).lines().try_into().unwrap();
    assert_eq!(summary["text"], "class Config in a.py\nclass Config:\nmembers:\n- def parse(self, path)");
    folder
        .run(&["search", "x artifact:notes"])
        .fails("error: `artifact` cannot be `notes`; known are `chunk`, `summary`, `all`, `function_summary`, `class_summary`, `file_summary`");
    let second = folder.run(&["index", "docs", "--embedder", "none", "--skip-generated"]);
    assert_eq!(
        (second.code, second.stderr.as_str()),
        (
            0,
            "note: left out 1 minified file; 1 of them was in the collection and was removed; `--include 'bundle.min.js'` takes them\nsearches now use `default@2`; `default@1` is kept (`keep_generations` is 2)\n"
        )
    );
}

#[test]
fn generations_are_listed_searched_pruned_and_gone_back_to() {
    let folder = indexed();
    let run = folder.run(&["index", "docs", "--embedder", "none", "--max-size", "100"]);
    assert!(
        run.stderr.contains("searches now use `default@2`; `default@1` is kept (`keep_generations` is 2)"),
        "{}",
        run.stderr
    );
    let [old, new] = folder.run(&["versions"]).lines().try_into().unwrap();
    assert_eq!((&old["generation"], &old["state"]), (&1.into(), &"old".into()));
    assert_eq!(
        (&new["generation"], &new["state"], &new["documents"]),
        (&2.into(), &"current".into(), &3.into())
    );
    let all: Value = serde_json::from_str(&folder.run(&["versions", "-f", "json"]).success()).unwrap();
    assert_eq!(all["stats"].as_object().unwrap().len(), 1);
    let generations = |args: &[&str]| -> Vec<i64> {
        let args = [&["search", "installer", "--keep-duplicates", "-k", "9"], args].concat();
        folder.run(&args).lines().iter().map(|hit| hit["generation"].as_i64().unwrap()).collect()
    };
    assert_eq!(generations(&[]), [2]);
    assert_eq!(generations(&["--collection", "default@1"]), [1]);
    assert_eq!(generations(&["--all-versions"]), [2, 1]);
    let [would] = folder.run(&["prune", "--dry-run"]).lines().try_into().unwrap();
    assert_eq!((&would["generation"]["generation"], &would["documents"]), (&1.into(), &3.into()));
    folder.run(&["prune"]).success();
    assert_eq!(generations(&["--all-versions"]), [2]);
    let run = folder.run(&["search", "installer", "--collection", "default@1"]);
    assert!(run.stderr.starts_with("error: unknown generation `default@1`"), "{}", run.stderr);
    assert_eq!(folder.run(&["prune"]).code, 1);
    let removed = folder.run(&["delete", "--source", "**/*.py"]).lines();
    assert_eq!(removed[0]["doc_id"], "code.py");
    assert_eq!(folder.run(&["status", "--documents"]).lines().len(), 2);
    folder.run(&["delete", "--all"]).success();
    assert_eq!(folder.run(&["status"]).code, 1);
}

#[test]
fn chunks_are_split_and_merged_by_hand_and_stay_so() {
    let text = "# Ferry\n\nThe ferry leaves at nine.\nIt is back at noon.\n\n# Bread\n\nDough rises.\n";
    let folder = Folder::new(&[("docs/day.md", text)]);
    let index = |more: &[&str]| {
        folder.run(&[&["index", "docs", "--embedder", "none", "-q"][..], more].concat()).success();
    };
    let chunks = || -> Vec<String> {
        let lines = folder.run(&["chunks", "--fields", "content"]).lines();
        lines.iter().map(|chunk| chunk["content"].as_str().unwrap().to_owned()).collect()
    };
    index(&[]);
    let before = chunks();
    let run = folder.run(&["split", "day.md#0", "--line", "4"]);
    assert!(run.stderr.starts_with("day.md now has "), "{}", run.stderr);
    assert!(chunks().iter().any(|content| content.starts_with("It is back")), "{:?}", chunks());
    let [overlay] = folder.run(&["overlays"]).lines().try_into().unwrap();
    assert_eq!((&overlay["boundary"]["kind"], &overlay["state"]), (&json!("split"), &json!("on")));
    // Another run, an edit and other settings leave it where it is.
    folder.write("docs/day.md", text.replace("# Ferry", "A day.\n\n# Ferry").as_bytes());
    for more in [&[][..], &["--max-size", "100"], &[]] {
        index(more);
        assert!(chunks().iter().any(|content| content.starts_with("It is back")), "{more:?} {:?}", chunks());
    }
    folder.write("docs/day.md", text.as_bytes());
    index(&[]);
    folder.run(&["amend", overlay["chunk_id"].as_str().unwrap(), "--reset"]).success();
    assert_eq!(chunks(), before);
    let refused = folder.run(&["split", "day.md#0", "--line", "1"]);
    assert!(refused.stderr.contains("it is divided at one of those after the first"), "{}", refused.stderr);
    let refused = folder.run(&["merge", "day.md#0", "--previous"]);
    assert!(refused.stderr.contains("the first or last of its document"), "{}", refused.stderr);
    folder.run(&["split", "day.md#0", "--line", "4", "-q"]).success();
    folder.run(&["merge", "day.md#0", "-q"]).success();
    assert_eq!(chunks(), before);
    assert_eq!(folder.run(&["overlays"]).code, 1);
}

#[test]
fn chunks_are_changed_by_hand_and_stay_so() {
    let folder = indexed();
    let first = |query: &str| -> Option<Value> {
        let hits = folder.run(&["search", query, "-q"]).stdout;
        hits.lines().next().map(|hit| serde_json::from_str(hit).unwrap())
    };
    let id = first("installer").unwrap()["chunk_id"].as_str().unwrap().to_owned();
    folder.run(&["disable", &id]).success();
    assert!(first("installer").is_none());
    let why: Value =
        serde_json::from_str(&folder.run(&["search", "installer", "--explain", &id]).stdout).unwrap();
    assert_eq!(why["verdict"]["verdict"], "disabled");
    folder.run(&["enable", &id]).success();
    folder.run(&["amend", &id, "--keywords", "wizard, setup assistant", "--pin", "first steps"]).success();
    assert_eq!(first("wizard").unwrap()["chunk_id"], id);
    assert_eq!(first("First steps").unwrap()["kept"], "pinned");
    // Another configuration cuts all anew, and what was changed is still there.
    folder.run(&["index", "docs", "--embedder", "none", "--max-size", "100", "-q"]).success();
    assert!(first("wizard").is_some());
    let [overlay] = folder.run(&["overlays"]).lines().try_into().unwrap();
    assert_eq!((&overlay["chunk_id"], &overlay["keywords"][1]), (&id.into(), &"setup assistant".into()));
    folder.run(&["amend", overlay["on"].as_str().unwrap(), "--reset"]).success();
    assert!(first("wizard").is_none());
    assert_eq!(folder.run(&["overlays"]).code, 1);
}

#[test]
fn changes_by_hand_are_listed_for_review_and_accepted() {
    let folder = indexed();
    let index = |more: &[&str]| folder.run(&[&["index", "docs", "--embedder", "none"], more].concat());
    // Nothing found is a status, and what is to review is on standard error.
    let parsed =
        |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let hits = |query: &str| parsed(&folder.run(&["search", query, "-q"]).stdout);
    // Hidden under one configuration, it stays hidden after going back to another.
    index(&["--max-size", "100", "-q"]).success();
    let id = hits("installer")[0]["chunk_id"].as_str().unwrap().to_owned();
    folder.run(&["disable", &id]).success();
    index(&["-q"]).success();
    let listed = folder.run(&["overlays"]).lines();
    assert_eq!(hits("installer").is_empty(), listed[0]["state"] != "orphaned", "{listed:?}");
    index(&["--max-size", "100", "-q"]).success();
    assert!(hits("installer").is_empty());
    assert_eq!(folder.run(&["overlays"]).lines()[0]["state"], "on");
    assert_eq!(folder.run(&["overlays", "--review"]).code, 1);
    // Its text is edited.
    let install = folder.path().join("docs/install.md");
    let text = std::fs::read_to_string(&install).unwrap();
    std::fs::write(&install, text.replacen("installer", "new installer", 1)).unwrap();
    let forecast = parsed(&index(&["--max-size", "100", "--dry-run"]).stdout).remove(0);
    let run = index(&["--max-size", "100"]);
    assert!(run.stderr.contains("`chunkwright overlays --review` lists them"), "{}", run.stderr);
    let report = parsed(&run.stdout).remove(0);
    assert_eq!(report["overlays"], serde_json::json!({"on": 0, "carried": 1, "conflict": 0, "orphaned": 0}));
    assert_eq!(forecast["overlays"], report["overlays"]);
    assert!(hits("installer").is_empty());
    let listed = folder.run(&["overlays", "--review"]).lines();
    assert_eq!(listed[0]["state"], "carried");
    folder.run(&["amend", listed[0]["on"].as_str().unwrap(), "--accept"]).success();
    assert_eq!(folder.run(&["overlays", "--review"]).code, 1);
    // A configuration that only flags gave is not known afterwards: a text over the limit says so.
    let id = hits("parse config")[0]["chunk_id"].as_str().unwrap().to_owned();
    folder.run(&["amend", &id, "--text", &"quince ".repeat(2000)]).success();
    let long = hits("quince").remove(0);
    assert_eq!((&long["oversize"], &long["word_count"]), (&true.into(), &2000.into()));
    // The limit of a preset, or of the settings in force, is known, and kept.
    index(&["-q"]);
    let refused = folder.run(&["amend", &id, "--text", &"medlar ".repeat(2000)]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.starts_with("error: the text has "), "{}", refused.stderr);
    assert!(hits("medlar").is_empty());
}

#[test]
fn a_store_is_checked_backed_up_and_restored() {
    let folder = indexed();
    let report: Value = serde_json::from_str(&folder.run(&["check"]).success()).unwrap();
    assert_eq!((&report["documents"], &report["problems"]), (&3.into(), &serde_json::json!([])));
    let run = folder.run(&["backup", "copy.db"]);
    assert_eq!((run.code, &*run.stderr), (0, "the copy was verified: 3 documents, 20 chunks\n"));
    folder
        .run(&["backup", "copy.db"])
        .fails("error: `copy.db` exists; name another file, or replace this one with `--force`");
    folder.write("copy.db", b"damaged");
    assert_eq!(folder.run(&["backup", "copy.db", "--force"]).code, 0);
    folder.run(&["restore", "copy.db", "--store", "other"]).success();
    let found = folder.run(&["search", "installer", "--store", "other"]).lines();
    assert_eq!(found, folder.run(&["search", "installer"]).lines());
    assert!(folder.run(&["restore", "copy.db", "--store", "other"]).stderr.contains("cannot be used"));
    let usage = folder.run(&["cache"]).lines();
    assert_eq!(usage.last().unwrap()["entries"], 0);
}

#[test]
fn a_watched_folder_is_indexed_after_every_change_and_a_killed_watcher_loses_nothing() {
    use std::io::BufRead as _;

    let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first words.\n")]);
    let watch = || {
        let mut child = folder
            .command(&["index", "docs", "--embedder", "none", "--watch", "--prune", "-q"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        (child, lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()))
    };
    let (mut child, mut runs) = watch();
    assert_eq!(runs.next().unwrap()["indexed"], 1);
    folder.write("docs/b.md", b"# B\n\nThe second words.\n");
    folder.write("docs/c.md", b"# C\n\nThe third words.\n");
    // A burst may be seen as one run or as two.
    let mut seen = 0;
    while seen < 2 {
        seen += runs.next().unwrap()["indexed"].as_u64().unwrap();
    }
    std::fs::remove_file(folder.path().join("docs/b.md")).unwrap();
    assert_eq!(runs.next().unwrap()["pruned"], serde_json::json!(["b.md"]));
    // While it waits, others write, and it goes on.
    let other = folder.run(&["index", "docs", "--embedder", "none", "-c", "other"]);
    assert_eq!(other.lines()[0]["indexed"], 2);
    let id = folder.run(&["search", "third", "--fields", "chunk_id"]).lines()[0]["chunk_id"].clone();
    assert_eq!(folder.run(&["disable", id.as_str().unwrap()]).code, 0);
    folder.write("docs/e.md", b"# E\n\nThe fifth words.\n");
    assert_eq!(runs.next().unwrap()["indexed"], 1);
    assert!(folder.run(&["search", "third", "--mode", "lexical"]).code == 1);
    assert_eq!(folder.run(&["enable", id.as_str().unwrap()]).code, 0);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.write("docs/d.md", b"# D\n\nThe fourth words.\n");
    let (mut child, mut runs) = watch();
    let run = runs.next().unwrap();
    assert_eq!((&run["indexed"], &run["unchanged"]), (&1.into(), &3.into()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.run(&["search", "words", "-k", "9"]).lines().len(), 4);
}

#[test]
fn a_collection_goes_out_and_comes_in_again() {
    let folder = indexed();
    folder.run(&["export", "-o", "all.jsonl"]).success();
    folder.run(&["export", "-f", "parquet", "-o", "all.parquet"]).success();
    let found = folder.run(&["search", "installer"]).lines()[0]["chunk_id"].clone();
    for file in ["all.jsonl", "all.parquet"] {
        let store = format!("{file}-store");
        let imported: Value =
            serde_json::from_str(&folder.run(&["import", file, "--store", &store, "-f", "json"]).success())
                .unwrap();
        assert_eq!((&imported["documents"], &imported["rebuilt"]), (&3.into(), &0.into()), "{file}");
        assert_eq!(folder.run(&["search", "installer", "--store", &store]).lines()[0]["chunk_id"], found);
        let source = folder.run(&["fetch", "guide.md", "--store", &store]).success();
        assert_eq!(source, folder.run(&["fetch", "guide.md"]).success());
        folder.run(&["check", "--store", &store]).success();
    }
    let run = folder.run(&["chunk", "docs", "-o", "chunks.jsonl"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let imported: Value = serde_json::from_str(
        &folder.run(&["import", "chunks.jsonl", "--store", "bare", "-f", "json"]).success(),
    )
    .unwrap();
    assert_eq!(imported["rebuilt"], imported["documents"]);
    // The shards of a cluster, as one file.
    for shard in ["1/2", "2/2"] {
        let file = format!("shard-{}.parquet", &shard[..1]);
        folder.run(&["chunk", "docs", "--shard", shard, "-o", &file]).success();
    }
    let shards = ["import", "shard-1.parquet", "shard-2.parquet", "--store", "shards", "-f", "json"];
    let of_shards: Value = serde_json::from_str(&folder.run(&shards).success()).unwrap();
    assert_eq!(of_shards, imported);
    let exported = |store| folder.run(&["export", "--records-only", "--store", store]).success();
    assert_eq!(exported("shards"), exported("bare"));
    let run = folder.run(&["import", "docs/guide.md"]);
    assert!(
        run.code == 2
            && run
                .stderr
                .starts_with("error: `docs/guide.md` was not imported: line 1 is not a chunk record"),
        "{}",
        run.stderr
    );
    let beside: Value = serde_json::from_str(&folder.run(&["related", "guide.md"]).success()).unwrap();
    assert_eq!(beside["siblings"]["count"], 2);
}

/// Two projects with a file of the same name, and others of their own.
fn projects() -> Folder {
    Folder::new(&[
        ("projA/README.md", "# Alpha\n\nThe first project.\n"),
        ("projA/docs/guide.md", "# Guide\n\nOf the first.\n"),
        ("projB/README.md", "# Бета\n\nВторой проект.\n"),
        ("projB/b.py", "def beta():\n    return 2\n"),
    ])
}

fn ids(folder: &Folder) -> Vec<String> {
    let documents = folder.run(&["status", "--documents"]).lines();
    documents.iter().map(|document| document["doc_id"].as_str().unwrap().to_owned()).collect()
}

/// Runs `index` without vectors.
fn index(folder: &Folder, flags: &[&str]) -> crate::cli::Run {
    folder.run(&[&["index", "--embedder", "none"], flags].concat())
}

#[test]
fn a_second_folder_with_a_document_of_the_same_id_is_refused_and_says_how_to_index_it() {
    let folder = projects();
    index(&folder, &["projA"]).success();
    let root = folder.path().canonicalize().unwrap();
    let [a, b] = ["projA", "projB"].map(|name| root.join(name).display().to_string());
    for flags in [&["projB"][..], &["projB", "--dry-run"], &["projB/README.md"]] {
        let run = index(&folder, flags);
        let given = if flags[0] == "projB" { b.clone() } else { format!("{b}/README.md") };
        run.fails(&format!(
            "error: `{given}` has 1 document with the same id as one of `{a}`: `README.md`; index it with `--prefix NAME` (ids become `NAME/README.md`) or `--root FOLDER` (ids are relative to that folder), or with `--moved-from {a}` if it is that folder in a new place"
        ));
    }
    assert_eq!(folder.run(&["fetch", "README.md"]).success(), folder.read("projA/README.md"));
    index(&folder, &["projB", "--prefix", "beta"]).success();
    let all = ["README.md", "beta/README.md", "beta/b.py", "docs/guide.md"];
    assert_eq!(ids(&folder), all);
    assert_eq!(folder.run(&["fetch", "beta/README.md"]).success(), folder.read("projB/README.md"));
    // It is remembered, and neither prunes what the other has.
    for flags in
        [&["projB"][..], &["./projB/", "--prune"], &["projA", "--prune"], &[b.as_str()], &["projB/b.py"]]
    {
        let [report]: [Value; 1] = index(&folder, flags).lines().try_into().unwrap();
        assert_eq!(
            (&report["indexed"], report["pruned"].as_array().unwrap().len()),
            (&0.into(), 0),
            "{flags:?}"
        );
    }
    assert_eq!(ids(&folder), all);
    let [status] = folder.run(&["status"]).lines().try_into().unwrap();
    assert_eq!(status["folders"][1]["prefix"], "beta");
    assert_eq!((&status["folders"][1]["root"], &status["folders"][1]["documents"]), (&b.into(), &2.into()));
    let text = folder.run(&["status", "--format", "text"]).success();
    assert!(text.contains("/projA") && text.contains("beta"), "{text}");
    let removed = folder.run(&["delete", "--folder", "projB"]).lines();
    assert_eq!(removed.len(), 2);
    assert_eq!(ids(&folder), ["README.md", "docs/guide.md"]);
}

#[test]
fn a_prefix_that_cannot_be_one_is_refused() {
    let folder = projects();
    for prefix in ["", "..", "/a", "a//b", "a/../b", "a\nb"] {
        let run = index(&folder, &["projA", "--prefix", prefix]);
        assert!(run.code == 2 && run.stderr.contains("cannot be a prefix: it "), "{prefix:?} {run:?}");
    }
    let run = index(&folder, &["projA", "--root", "projB"]);
    assert!(run.code == 2 && run.stderr.contains("is not inside"), "{run:?}");
    index(&folder, &["projA", "projB", "--root", "."]).success();
    assert_eq!(ids(&folder), ["projA/README.md", "projA/docs/guide.md", "projB/README.md", "projB/b.py"]);
}

#[test]
fn a_folder_that_was_renamed_keeps_its_documents() {
    let folder = projects();
    index(&folder, &["projA"]).success();
    std::fs::rename(folder.path().join("projA"), folder.path().join("renamed")).unwrap();
    let run = index(&folder, &["renamed"]);
    assert!(run.code == 0 && run.stderr.contains("2 documents of `"), "{run:?}");
    assert!(run.stderr.contains("whose files are now in"), "{run:?}");
    assert_eq!(ids(&folder), ["README.md", "docs/guide.md"]);
    let [report]: [Value; 1] = index(&folder, &["renamed", "--prune"]).lines().try_into().unwrap();
    assert_eq!((&report["unchanged"], &report["moved_folders"]), (&2.into(), &Value::Array(Vec::new())));
}

#[test]
fn two_processes_with_two_folders_leave_the_documents_of_one() {
    let folder = projects();
    let spawn = |name: &str| {
        let mut command = folder.command(&["index", "--embedder", "none", name]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let runs = [spawn("projA"), spawn("projB")].map(|child| child.wait_with_output().unwrap());
    let codes: Vec<i32> = runs.iter().map(|run| run.status.code().unwrap()).collect();
    assert!(codes == [0, 2] || codes == [2, 0], "{runs:?}");
    let winner = if codes[0] == 0 { "projA/README.md" } else { "projB/README.md" };
    assert_eq!(folder.run(&["fetch", "README.md"]).success(), folder.read(winner));
}

#[test]
fn an_import_is_refused_with_the_place_and_the_reason_and_writes_nothing() {
    let folder = indexed();
    folder.run(&["export", "-o", "all.jsonl"]).success();
    let lines = std::fs::read_to_string(folder.path().join("all.jsonl")).unwrap();
    let last = lines.lines().count();
    let edited = |from: &str, to: &str| {
        let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        let line = lines.last_mut().unwrap();
        assert!(line.contains(from), "{line}");
        *line = line.replacen(from, to, 1);
        lines.join("\n")
    };
    let deep = "[".repeat(100_000);
    for (what, text, expected) in [
        (
            "a line",
            edited("\"start_line\":1", "\"start_line\":0"),
            format!("line {last}, `install.md`: `start_line` is `0`"),
        ),
        (
            "a huge number",
            edited("\"start_line\":1", "\"start_line\":1e99"),
            format!("line {last} is not a chunk record"),
        ),
        ("a text", edited("Run the installer", "Run another thing"), format!("line {last}, `install.md`: ")),
        ("depth", deep, "line 1 is not a chunk record".into()),
        ("bytes", "\u{0}\u{1}".into(), "line 1 is not a chunk record".into()),
    ] {
        folder.write("bad.jsonl", text.as_bytes());
        let run = folder.run(&["import", "bad.jsonl", "--store", "new"]);
        assert_eq!(run.code, 2, "{what}");
        assert!(
            run.stderr.contains(&expected) && !run.stderr.contains("store is damaged"),
            "{what}: {}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1, "{what}: {}", run.stderr);
        assert_ne!(folder.run(&["status", "-c", "default", "--store", "new"]).code, 0, "{what}");
    }
    folder.run(&["export", "-f", "parquet", "-o", "all.parquet"]).success();
    let bytes = std::fs::read(folder.path().join("all.parquet")).unwrap();
    for (file, bytes) in [("cut.parquet", &bytes[..bytes.len() / 2]), ("x.gz", b"\x1f\x8b\x08rest")] {
        folder.write(file, bytes);
        let run = folder.run(&["import", file, "--store", "new"]);
        assert!(run.code == 2 && run.stderr.lines().count() == 1, "{file}: {}", run.stderr);
        assert!(!run.stderr.contains("the store is damaged"), "{file}: {}", run.stderr);
    }
    // Cut otherwise, it would hide the others; with the settings of the records they are cut again.
    folder.write("more/new.md", b"# New\n\nPlums are blue.\n");
    folder.run(&["index", "more", "--embedder", "none", "--preset", "stable", "--store", "stable"]).success();
    folder.run(&["export", "-o", "stable.jsonl", "--store", "stable"]).success();
    let run = folder.run(&["import", "stable.jsonl"]);
    assert!(
        run.code == 2 && run.stderr.contains("would hide 3 of its documents (`code.py`, "),
        "{}",
        run.stderr
    );
    assert_eq!(folder.run(&["search", "installer"]).code, 0);
    folder.run(&["import", "stable.jsonl", "--preset", "stable"]).success();
    for query in ["installer", "plums"] {
        assert_eq!(folder.run(&["search", query]).code, 0, "{query}");
    }
    assert_eq!(folder.run(&["check"]).code, 0);
}

#[test]
fn changes_by_hand_go_out_and_come_in_again() {
    let folder = indexed();
    let id = |query: &str| folder.run(&["search", query]).lines()[0]["chunk_id"].as_str().unwrap().to_owned();
    let (hidden, amended) = (id("installer"), id("parse config"));
    folder.run(&["disable", &hidden]).success();
    folder.run(&["amend", &amended, "--text", "A wizard parses this.", "--keywords", "merlin"]).success();
    for file in ["all.jsonl", "all.parquet"] {
        let format = file.split('.').next_back().unwrap();
        folder.run(&["export", "-f", format, "-o", file]).success();
        let store = format!("{format}-store");
        folder.run(&["import", file, "--store", &store]).success();
        for command in
            [&["search", "wizard"][..], &["search", "merlin"], &["search", "installer"], &["overlays"]]
        {
            let there = folder.run(&[command, &["--store", &store]].concat());
            let here = folder.run(command);
            assert_eq!((there.code, there.stdout), (here.code, here.stdout), "{file} {command:?}");
        }
        folder.run(&["enable", &hidden, "--store", &store]).success();
        assert_eq!(folder.run(&["search", "installer", "--store", &store]).lines()[0]["chunk_id"], hidden);
        assert_eq!(folder.run(&["check", "--store", &store]).code, 0, "{file}");
    }
}

#[test]
fn standard_input_is_one_document_under_the_name_given() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nOf a folder.\n")]);
    folder.run(&["index", "docs", "--embedder", "none", "--quiet"]).success();
    let put = |text: &str| {
        let args = ["index", "-", "--stdin-filename", "заметка.md", "--embedder", "none"];
        folder.run_with_input(&args, text.as_bytes()).lines().remove(0)
    };
    assert_eq!(put("# Заметка\n\nРаспакуйте архив.\n")["indexed"], 1);
    assert_eq!(put("# Заметка\n\nРаспакуйте архив.\n")["unchanged"], 1);
    assert_eq!(put("# 笔记\n\n解压归档文件。\n")["indexed"], 1);
    assert_eq!(folder.run(&["fetch", "заметка.md"]).success(), "# 笔记\n\n解压归档文件。\n");
    let documents = folder.run(&["status", "--documents"]).lines();
    assert_eq!(documents.len(), 2);
    assert_eq!((&documents[1]["format"], &documents[1]["root"]), (&"markdown".into(), &"".into()));
    // No run over the folder removes it.
    folder.run(&["index", "docs", "--prune=force", "--embedder", "none", "--quiet"]).success();
    assert_eq!(folder.run(&["status", "--documents"]).lines().len(), 2);
    let clash = ["index", "-", "--stdin-filename", "a.md", "--embedder", "none"];
    let run = folder.run_with_input(&clash, b"Another text.");
    assert_eq!(run.code, 3);
    assert!(
        run.stderr.contains("a document of the folder") && run.stderr.contains("has its id"),
        "{}",
        run.stderr
    );
    folder
        .run(&["index", "-", "docs"])
        .fails("error: standard input must be indexed alone; index the other paths in another run");
    assert_eq!(folder.run(&["index", "-", "--prefix", "x"]).code, 2);
}

#[test]
fn chunks_are_hidden_and_shown_by_a_filter_and_collections_are_listed() {
    let folder = indexed();
    let all = folder.run(&["chunks", "--limit", "1000"]).lines();
    let of_guide = all.iter().filter(|chunk| chunk["doc_id"] == all[0]["doc_id"]).count();
    let filter = format!("doc_id={}", all[0]["doc_id"].as_str().unwrap());
    let enabled = || {
        folder
            .run(&["chunks", "--limit", "1000"])
            .lines()
            .iter()
            .filter(|chunk| chunk["enabled"] == true)
            .count()
    };
    let run = folder.run(&["disable", "--filter", &filter]);
    assert!(run.code == 0 && run.stderr.contains(&format!("changed {of_guide} chunk")), "{}", run.stderr);
    assert_eq!(enabled(), all.len() - of_guide);
    folder
        .run(&["disable", "--filter", "doc_id=no.md"])
        .fails("error: no chunk of collection `default` passes the filter; nothing was changed");
    folder
        .run(&["amend", "--filter", &filter, "--text", "x"])
        .fails("error: a text belongs to one chunk; give its id instead of a filter");
    folder
        .run(&["enable", "--filter", ""])
        .fails("error: no chunk was named; give chunk ids, or a filter of one condition at least");
    folder.run(&["enable", "--filter", &filter, "--quiet"]).success();
    assert_eq!(enabled(), all.len());
    let other = folder.run(&["index", "docs", "--embedder", "none", "-c", "课程"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    let listed = folder.run(&["collections"]).lines();
    let names: Vec<&Value> = listed.iter().map(|row| &row["collection"]).collect();
    assert_eq!(names, ["default", "课程"]);
    assert_eq!((&listed[0]["state"], &listed[0]["generations"]), (&"current".into(), &1.into()));
    assert_eq!(listed[0]["chunks"], all.len());
    let text = folder.run(&["collections", "--format", "text"]).success();
    assert!(text.contains("课程") && text.contains("current"), "{text}");
}

#[test]
fn documents_are_found_by_what_was_said_of_them() {
    let folder = Folder::new(&[
        ("courses/13/a.md", "# 向量\n\nApples are red.\n"),
        ("courses/14/b.md", "# Тест\n\nApples are green.\n"),
        (
            "chunkwright.toml",
            "embedder = \"none\"\n\n[meta]\nteam = \"courses\"\n\n[meta.\"courses/13\"]\ncourse_id = 13\n",
        ),
    ]);
    folder.run(&["index", "courses", "--meta", "term=2026-1", "-q"]).success();
    let found = |filter: &str| -> Vec<Value> {
        let run = folder.run(&["search", "apples", "--filter", filter, "--fields", "doc_id"]);
        run.stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["doc_id"].clone())
            .collect()
    };
    assert_eq!(found("meta.course_id=13"), ["13/a.md"]);
    assert_eq!(found("meta.team=courses and not meta.course_id=13"), ["14/b.md"]);
    assert_eq!(found("meta.term=2026-2"), [] as [&str; 0]);
    let listed = folder.run(&["chunks", "--filter", "meta.course_id=13", "--fields", "meta"]).lines();
    let expected = serde_json::json!({"course_id": "13", "team": "courses", "term": "2026-1"});
    assert_eq!(listed[0]["meta"], expected);
    for (pair, said) in [
        ("term", "`term` is not `NAME=TEXT`, such as `course_id=13`"),
        ("a.b=c", "`a.b` cannot be a name of metadata"),
    ] {
        let run = folder.run(&["index", "courses", "--meta", pair]);
        assert!(run.code == 2 && run.stderr.contains(said), "{run:?}");
    }
    let rows = folder.run(&["config", "show"]).lines();
    let row =
        rows.iter().find(|row| row["key"].as_str().unwrap().ends_with("/courses/13\".course_id")).unwrap();
    assert_eq!(row["value"], "13");
    assert!(row["origin"].as_str().unwrap().ends_with("chunkwright.toml"), "{row}");
    folder.write("chunkwright.toml", b"[meta]\nterms = [1, 2]\n");
    let run = folder.run(&["index", "courses"]);
    assert!(run.code == 2 && run.stderr.contains("`terms` is a list; give a text"), "{run:?}");
}

#[test]
fn past_runs_are_listed_and_measured() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first words.\n"), ("docs/b.md", "# B\n\nMore.\n")]);
    let run = folder.run(&["status", "--history"]);
    assert_eq!(run.code, 2, "{run:?}");
    index(&folder, &["docs"]).success();
    index(&folder, &["docs"]).success();
    std::fs::rename(folder.path().join("docs/a.md"), folder.path().join("docs/c.md")).unwrap();
    let [report]: [Value; 1] = index(&folder, &["docs", "--prune"]).lines().try_into().unwrap();
    assert_eq!(report["renamed"], serde_json::json!([{"from": "a.md", "to": "c.md"}]));
    // A run that found all as it was is none of them.
    let runs = folder.run(&["status", "--history"]).lines();
    let told: Vec<_> = runs.iter().map(|run| (&run["number"], &run["indexed"], &run["removed"])).collect();
    assert_eq!(told, [(&2.into(), &1.into(), &1.into()), (&1.into(), &2.into(), &0.into())]);
    assert!(
        runs.iter().all(|run| run["timings"]["total_ms"].is_u64() && run["cancelled"] == false),
        "{runs:?}"
    );
    let text = folder.run(&["status", "--history", "-f", "text"]).success();
    assert!(text.starts_with("run  began"), "{text}");
    folder.run(&["status", "--metrics", "-o", "chunkwright.prom"]).success();
    let metrics = folder.read("chunkwright.prom");
    for line in [
        "chunkwright_documents{collection=\"default\"} 2",
        "chunkwright_index_runs_total{collection=\"default\"} 2",
        "chunkwright_last_run_documents{collection=\"default\",outcome=\"removed\"} 1",
        "chunkwright_complete{collection=\"default\"} 1",
        "# EOF",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
    let other = folder.run(&["status", "--metrics", "--history"]);
    assert_eq!(other.code, 2);
}

#[test]
fn skipped_files_are_counted_by_reason_and_only_the_first_are_listed() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nText of a document.\n"), ("docs/.hidden", "x")]);
    for number in 0..200 {
        folder.write(&format!("docs/__pycache__/{number}.pyc"), b"\x00\x01\x02");
    }
    let index = |arguments: &[&str]| {
        let run = folder.run(&[&["index", "docs", "--embedder", "none"], arguments].concat());
        (serde_json::from_str::<Value>(&run.stdout).unwrap(), run.stderr)
    };
    let (report, said) = index(&[]);
    assert_eq!(report["skipped_reasons"], json!({"binary": 200, "hidden": 1}));
    assert_eq!(report["skipped"].as_array().unwrap().len(), 20);
    assert_eq!((&report["seen"], &report["indexed"]), (&json!(202), &json!(1)));
    assert!(said.contains("skipped 201 entries: 200 binary, 1 hidden (`--verbose` lists them)"), "{said}");
    let (report, said) = index(&["--verbose"]);
    assert_eq!(report["skipped"].as_array().unwrap().len(), 201);
    assert_eq!(said.lines().filter(|line| line.starts_with("skipped `")).count(), 201);
    let text = folder.run(&["index", "docs", "--embedder", "none", "--format", "text"]).stdout;
    assert!(text.starts_with("0 documents indexed; 1 unchanged, 201 skipped"), "{text}");
}

#[test]
fn a_check_of_one_collection_counts_that_one() {
    let folder = Folder::new(&[
        ("a/one.md", "# One\n\nText.\n"),
        ("b/two.md", "# Two\n"),
        ("b/三.md", "# 三\n\n字。\n"),
    ]);
    for (path, name) in [("a", "first"), ("b", "second")] {
        folder.run(&["index", path, "-c", name, "--embedder", "none"]).lines();
    }
    let counted = |line: &[&str]| folder.run(line).lines()[0]["documents"].clone();
    assert_eq!(counted(&["check"]), 3);
    assert_eq!(counted(&["check", "-c", "first"]), 1);
    assert_eq!(counted(&["check", "-c", "second"]), 2);
    let unknown = folder.run(&["check", "-c", "third"]);
    assert_eq!(
        (unknown.code, unknown.stderr.contains("unknown collection `third`")),
        (2, true),
        "{}",
        unknown.stderr
    );
}

#[test]
fn standard_input_with_credentials_is_left_out_unless_it_is_forced() {
    let folder = Folder::new(&[]);
    let put = |name: &str, text: &str, more: &[&str]| {
        let line = [&["index", "-", "--stdin-filename", name, "--embedder", "none"], more].concat();
        folder.run_with_input(&line, text.as_bytes())
    };
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
    for (name, text) in [(".env", "TOKEN=1\n"), ("infra/terraform.tfstate", "{}"), ("deploy", key)] {
        let run = put(name, text, &[]);
        assert_eq!(run.code, 1, "{name} {}", run.stderr);
        assert!(
            run.stderr.contains(&format!("left out `{name}`")) && run.stderr.contains("force"),
            "{}",
            run.stderr
        );
        assert_eq!(put(name, text, &["--force"]).lines()[0]["indexed"], 1, "{name}");
    }
    assert_eq!(put("keys.md", &format!("# Keys\n\n{key}"), &[]).lines()[0]["indexed"], 1);
}
