//! `chunkwright index`, `search`, `fetch`, `status`, `doctor`

use serde_json::Value;

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
fn documents_whose_files_are_gone_stay_until_they_are_pruned() {
    let folder = indexed();
    std::fs::remove_file(folder.path().join("docs/install.md")).unwrap();
    report(&folder, &[]);
    folder.run(&["fetch", "install.md"]).success();
    assert_eq!(report(&folder, &["--prune"])["pruned"][0], "install.md");
    assert_eq!(folder.run(&["fetch", "install.md"]).code, 2);
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
    let passages =
        folder.run(&["search", "word1001 word1201 word2001", "-k", "3", "--expand", "parent"]).lines();
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
        run.code == 2 && run.stderr.contains("`all` is no expansion; it is `parent`, `merge` or a number"),
        "{run:?}"
    );
    let run = folder.run(&["search", "xylophone", "--expand", "1"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, "nothing was found\n"));
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
        .fails("error: `--expand-tokens` is `0`; it must be at least 1");
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
        "error: `http://localhost:1` is not where a store can be: it must be a folder or one of `qdrant://HOST`, `qdrant+https://HOST`, `chroma://HOST`, `chroma+https://HOST`",
    );
    let run = folder.run(&["backup", "file", "--store", "qdrant://localhost:1"]);
    run.fails("error: the store is `qdrant://localhost:1`; this command is for stores in folders, a server has its own means");
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
    assert!(model["note"].as_str().unwrap().contains("`cargo xtask setup --models "), "{model}");
}

#[test]
fn symbols_paths_and_summaries_are_searched_for() {
    let folder = Folder::new(&[
        ("docs/a.py", "class Config:\n    def parse(self, path):\n        return path\n"),
        ("docs/b.py", "def parse(path):\n    return None\n"),
        ("docs/bundle.min.js", "var parse=function(a){return a};\n"),
    ]);
    let first = report(&folder, &["--summaries"]);
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
        .fails("error: unknown artifact `notes`; known are `chunk`, `summary`, `all`, `function_summary`, `class_summary`, `file_summary`");
    let second = folder.run(&["index", "docs", "--embedder", "none", "--skip-generated"]);
    assert_eq!(
        (second.code, second.stderr.as_str()),
        (
            0,
            "skipped 1 entry: 1 minified (`--verbose` lists them)\nsearches see `default@2` now; `default@1` is kept until `chunkwright prune`\n"
        )
    );
}

#[test]
fn generations_are_listed_searched_pruned_and_gone_back_to() {
    let folder = indexed();
    let run = folder.run(&["index", "docs", "--embedder", "none", "--max-size", "100"]);
    assert!(
        run.stderr.contains("searches see `default@2` now; `default@1` is kept until `chunkwright prune`"),
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
    assert!(run.stderr.starts_with("error: there is no generation `default@1`"), "{}", run.stderr);
    assert_eq!(folder.run(&["prune"]).code, 1);
    let removed = folder.run(&["delete", "--source", "*.py"]).lines();
    assert_eq!(removed[0]["doc_id"], "code.py");
    assert_eq!(folder.run(&["status", "--documents"]).lines().len(), 2);
    folder.run(&["delete", "--all"]).success();
    assert_eq!(folder.run(&["status"]).code, 1);
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
fn a_store_is_checked_backed_up_and_restored() {
    let folder = indexed();
    let report: Value = serde_json::from_str(&folder.run(&["check"]).success()).unwrap();
    assert_eq!((&report["documents"], &report["problems"]), (&3.into(), &serde_json::json!([])));
    folder.run(&["backup", "copy.db"]).success();
    assert!(folder.run(&["backup", "copy.db"]).stderr.starts_with("error: `copy.db` cannot be used"));
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
    child.kill().unwrap();
    child.wait().unwrap();
    folder.write("docs/d.md", b"# D\n\nThe fourth words.\n");
    let (mut child, mut runs) = watch();
    let run = runs.next().unwrap();
    assert_eq!((&run["indexed"], &run["unchanged"]), (&1.into(), &2.into()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.run(&["search", "words", "-k", "9"]).lines().len(), 3);
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
    let run = folder.run(&["import", "docs/guide.md"]);
    assert!(
        run.code == 2 && run.stderr.starts_with("error: line 1 of `docs/guide.md` is no record"),
        "{}",
        run.stderr
    );
    let beside: Value = serde_json::from_str(&folder.run(&["related", "guide.md"]).success()).unwrap();
    assert_eq!(beside["siblings"]["count"], 2);
}
