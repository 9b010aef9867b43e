//! Outputs: they destroy nothing, appear completely or not at all, and keep links and permissions.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;

use crate::cli::{Folder, Run, guide};
use crate::stride::one_in;

const SOURCE: &str = "# Source\n\nWords of the source.\n";

/// What the run said; it failed and wrote nothing.
#[track_caller]
fn refused(run: Run) -> String {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    run.stderr
}

/// Names in a folder that a run left there by mistake.
fn left_behind(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name());
    names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with(".chunkwright-"))
        .collect()
}

/// Flags, and variables of the environment.
type Given<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

#[test]
fn a_source_is_never_replaced_by_what_is_made_of_it() {
    let commands: &[&[&str]] = &[
        &["chunk", "a.md", "-f", "jsonl"],
        &["chunk", "a.md", "-f", "json"],
        &["chunk", "a.md", "-f", "text"],
        &["chunk", "a.md", "-f", "html"],
        &["chunk", "-f", "html"],
        &["chunk", "b.md", "link"],
        &["stats", "a.md"],
        &["stats"],
        &["outline", "a.md"],
        &["explain", "a.md"],
        &["explain", "a.md:1"],
        &["diff", "a.md", "b.md"],
        &["diff", "b.md", "a.md"],
        &["eval", "--stability", "a.md"],
        &["tune", "a.md"],
        &["index", "a.md", "--embedder", "none"],
        &["index", ".", "--embedder", "none", "--dry-run"],
        &["import", "a.md"],
        &["config", "show", "--tokenizer", "a.md"],
    ];
    for (at, &command) in commands.iter().enumerate() {
        for (of, output) in ["a.md", "./x/../a.md", "link", "chain", "hard"].into_iter().enumerate() {
            let folder = Folder::new(&[("a.md", SOURCE), ("b.md", "# B\n"), ("x/y.md", "# Y\n")]);
            symlink("a.md", folder.path().join("link")).unwrap();
            symlink("x/../link", folder.path().join("chain")).unwrap();
            // In a folder that is not read, so that it is refused for what it is.
            fs::hard_link(folder.path().join("a.md"), folder.path().join("hard")).unwrap();
            // In turn, or both.
            for force in [&[][..], &["--force"]].into_iter().skip((at + of) % one_in(2)).step_by(one_in(2)) {
                let said = refused(folder.run(&[command, &["-o", output], force].concat()));
                assert!(
                    said.contains("is an input of this command; write the results to another file"),
                    "{command:?} {said}"
                );
            }
            assert_eq!(folder.read("a.md"), SOURCE, "{command:?} -o {output}");
            assert!(folder.path().join("link").is_symlink());
            assert_eq!(left_behind(&folder), Vec::<String>::new());
        }
    }
}

#[test]
fn a_file_that_exists_is_refused_before_anything_is_done() {
    let commands: &[&[&str]] = &[
        &["chunk", "docs", "-o"],
        &["explain", "docs/a.md", "-o"],
        &["outline", "docs", "-o"],
        &["diff", "docs", "docs", "-o"],
        &["stats", "docs", "-o"],
        &["stats", "-c", "none", "-o"],
        &["eval", "--stability", "docs", "-o"],
        &["tune", "docs", "-o"],
        &["index", "docs", "--embedder", "none", "-o"],
        &["search", "words", "-o"],
        &["fetch", "a.md", "-o"],
        &["chunks", "-o"],
        &["status", "-o"],
        &["collections", "-o"],
        &["versions", "-o"],
        &["prune", "-o"],
        &["delete", "--all", "-o"],
        &["overlays", "-o"],
        &["cache", "-o"],
        &["check", "-o"],
        &["backup"],
        &["export", "-o"],
        &["export", "-f", "parquet", "-o"],
        &["import", "chunks.jsonl", "-o"],
        &["related", "a.md", "-o"],
        &["models", "list", "-o"],
        &["models", "install", "none", "-o"],
        &["models", "remove", "none", "-o"],
        &["doctor", "-o"],
        &["config", "show", "-o"],
        &["config", "init"],
    ];
    let folder = Folder::new(&[("docs/a.md", SOURCE), ("old", "mine\n"), ("to/old", "mine too\n")]);
    symlink("to/old", folder.path().join("link")).unwrap();
    for &command in commands {
        for output in ["old", "link"] {
            // There is no store either, which a command that looks for one first would say.
            let said = refused(folder.run(&[command, &[output]].concat()));
            let expected =
                format!("error: `{output}` exists; name another file, or replace this one with `--force`\n");
            assert_eq!(said, expected, "{command:?}");
        }
    }
    assert_eq!((folder.read("old"), folder.read("to/old")), ("mine\n".into(), "mine too\n".into()));
    assert!(!folder.home().join(".local/share/chunkwright/store").exists());
    assert_eq!(left_behind(&folder), Vec::<String>::new());
}

#[test]
fn a_file_that_appears_while_a_command_runs_is_not_replaced() {
    let folder = Folder::new(&[]);
    for (flags, code, content) in [(&[][..], 2, "mine\n"), (&["--force"], 0, "{\"chunk_id\"")] {
        fs::remove_file(folder.path().join("new.jsonl")).unwrap_or_default();
        let mut command = folder.command(&[&["chunk", "-", "-o", "new.jsonl"], flags].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // It has checked its output when it writes it.
        while left_behind(&folder).is_empty() {
            std::thread::yield_now();
        }
        folder.write("new.jsonl", b"mine\n");
        stdin.write_all(b"Words.\n").unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("`new.jsonl` exists"), code == 2, "{said}");
        assert!(folder.read("new.jsonl").starts_with(content), "{}", folder.read("new.jsonl"));
    }
}

#[test]
fn a_state_is_kept_without_force_and_never_where_the_operations_go() {
    let folder = Folder::new(&[("docs/a.md", SOURCE)]);
    for _ in 0..2 {
        folder.run(&["diff", "--state", "state.jsonl", "docs", "-q"]).success();
    }
    for (state, force) in [("state.jsonl", "--force"), ("new.jsonl", "--quiet")] {
        let said = refused(folder.run(&["diff", "--state", state, "docs", "-o", state, force]));
        assert!(said.contains("is an input of this command"), "{said}");
    }
    let said = refused(folder.run(&["diff", "--state", "docs/a.md", "docs"]));
    assert!(said.contains("is an input of this command"), "{said}");
    assert_eq!(folder.read("docs/a.md"), SOURCE);
}

#[test]
fn standard_input_out_of_a_file_is_a_source_too() {
    let folder = Folder::new(&[("a.md", SOURCE)]);
    let mut command = folder.command(&["chunk", "-", "-o", "a.md", "--force"]);
    command.stdin(fs::File::open(folder.path().join("a.md")).unwrap());
    assert_eq!(command.stderr(Stdio::null()).status().unwrap().code(), Some(2));
    assert_eq!(folder.read("a.md"), SOURCE);
}

#[test]
fn no_output_lies_in_a_store_however_the_store_is_named() {
    let folder = Folder::new(&[("docs/a.md", SOURCE), ("with.toml", "store = \"store\"\n")]);
    folder.run(&["index", "docs", "--store", "store", "--embedder", "none"]).lines();
    folder.run(&["index", "docs", "--embedder", "none", "--data", "data"]).lines();
    symlink("store/chunkwright.sqlite3", folder.path().join("link")).unwrap();
    symlink("store/not-there-yet", folder.path().join("dangling")).unwrap();
    symlink("store", folder.path().join("folder")).unwrap();
    let before = fs::read(folder.path().join("store/chunkwright.sqlite3")).unwrap();
    let stores: &[Given<'_>] = &[
        (&["--store", "store"], &[]),
        (&["--store", "folder"], &[]),
        (&["--config", "with.toml"], &[]),
        (&[], &[("CHUNKWRIGHT_STORE", "store")]),
        // It is a store, though not the one that is asked.
        (&["--data", "data"], &[]),
    ];
    let commands: &[&[&str]] = &[
        &["export", "-o"],
        &["export", "-f", "parquet", "-o"],
        &["search", "words", "-o"],
        &["fetch", "a.md", "-o"],
        &["status", "-o"],
        &["check", "-o"],
        &["overlays", "-o"],
        &["versions", "-o"],
        &["index", "docs", "--embedder", "none", "-o"],
        &["delete", "--source", "a.md", "--dry-run", "-o"],
        &["config", "show", "-o"],
        &["backup"],
    ];
    let outputs = ["store/chunkwright.sqlite3", "store/lock", "store/new", "link", "dangling", "folder/x"];
    // One that shares no factor with the numbers of stores and outputs: every output is tried with every store.
    for case in (0..commands.len() * stores.len() * outputs.len()).step_by(one_in(7)) {
        let (rest, output) = (case / outputs.len(), outputs[case % outputs.len()]);
        let (command, (flags, variables)) = (commands[rest / stores.len()], stores[rest % stores.len()]);
        let arguments = [command, &[output, "--force"][..], flags].concat();
        let said = refused(folder.run_with_variables(&arguments, variables));
        assert!(said.contains("lies in the store `"), "{arguments:?} {said}");
    }
    assert!(before == fs::read(folder.path().join("store/chunkwright.sqlite3")).unwrap());
    refused(folder.run(&["chunk", "docs", "-o", "data/store/chunkwright.sqlite3", "--force"]));
    // Its folder may not exist yet.
    refused(folder.run(&[
        "index",
        "docs",
        "--embedder",
        "none",
        "--store",
        "later",
        "-o",
        "later/report.json",
    ]));
    for flags in [["--store", "store"], ["--data", "data"]] {
        assert_eq!(folder.run(&["check", flags[0], flags[1]]).code, 0);
        folder.run(&["search", "words", flags[0], flags[1], "-o", "hits.jsonl", "--force"]).success();
    }
}

#[test]
fn a_file_among_the_sources_is_refused_and_results_of_an_earlier_run_are_not() {
    let folder = Folder::new(&[
        ("docs/a.md", SOURCE),
        ("docs/data.jsonl", "{\"mine\": 1}\n"),
        ("docs/.ignore", "out.json\n"),
    ]);
    let said = refused(folder.run(&["chunk", "docs", "-o", "docs/data.jsonl", "--force"]));
    assert_eq!(
        said,
        "error: `docs/data.jsonl` is an input of this command; write the results to another file\n"
    );
    assert_eq!(folder.read("docs/data.jsonl"), "{\"mine\": 1}\n");
    let direct = folder.run(&["chunk", "docs", "-q"]).success();
    for _ in 0..2 {
        folder.run(&["chunk", "docs", "-q", "-o", "docs/chunks.jsonl", "--force"]).success();
        assert_eq!(folder.read("docs/chunks.jsonl"), direct);
    }
    fs::remove_file(folder.path().join("docs/chunks.jsonl")).unwrap();
    if chunkwright_engine::web::standalone().is_some() {
        let page = folder.run(&["chunk", "docs", "-q", "-f", "html"]).success();
        for _ in 0..2 {
            let command = ["chunk", "docs", "-q", "-f", "html", "-o", "docs/page.html", "--force"];
            folder.run(&command).success();
            assert_eq!(folder.read("docs/page.html"), page);
        }
        fs::remove_file(folder.path().join("docs/page.html")).unwrap();
    }
    // A file that an ignore file excludes is not a source.
    for _ in 0..2 {
        assert_eq!(folder.run(&["stats", "docs", "--quiet", "-o", "docs/out.json", "--force"]).code, 0);
    }
}

#[test]
fn a_run_that_ends_with_1_or_2_replaces_nothing() {
    let folder = Folder::new(&[("docs/a.md", SOURCE), ("empty/.keep", "")]);
    folder.run(&["index", "docs", "--embedder", "none"]).lines();
    let commands: &[(&[&str], i32)] = &[
        (&["search", "xylophone"], 1),
        (&["chunk", "empty"], 1),
        (&["stats", "empty"], 1),
        (&["outline", "empty"], 1),
        (&["overlays"], 1),
        (&["chunk", "docs", "missing.md"], 2),
        (&["outline", "docs", "missing.md"], 2),
        (&["stats", "docs", "missing.md"], 2),
        (&["fetch", "missing.md"], 2),
        (&["search", "words", "-c", "missing"], 2),
        (&["chunk", "docs", "--max-size", "1"], 2),
    ];
    for &(command, code) in commands {
        folder.write("old", b"what was there");
        let run = folder.run(&[command, &["-o", "old", "--force"][..]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{command:?} {}", run.stderr);
        assert_eq!(folder.read("old"), "what was there", "{command:?}");
        assert_eq!(left_behind(&folder), Vec::<String>::new(), "{command:?}");
    }
    let run = folder.run(&["search", "xylophone", "-o", "old", "--force"]);
    assert_eq!(run.stderr, "nothing was found\n`old` was not replaced, because the exit status is 1\n");
    let run = folder.run(&["chunk", "docs", "missing.md", "-o", "new"]);
    assert!(run.stderr.ends_with("`new` was not written, because the exit status is 2\n"), "{}", run.stderr);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_written() {
    let folder = Folder::new(&[("a.md", SOURCE), ("to/old.jsonl", "old\n")]);
    let direct = folder.run(&["chunk", "a.md"]).success();
    // On another file system, where there is one.
    let elsewhere = tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new()).unwrap();
    let far = elsewhere.path().join("far.jsonl");
    let link = |name: &str, to: &str| symlink(to, folder.path().join(name)).unwrap();
    link("replacing", "to/old.jsonl");
    link("to/dangling", "new.jsonl");
    link("chain", "to/../to/dangling");
    link("far", far.to_str().unwrap());
    for (name, target) in [
        ("replacing", folder.path().join("to/old.jsonl")),
        ("chain", folder.path().join("to/new.jsonl")),
        ("far", far.clone()),
    ] {
        for _ in 0..2 {
            folder.run(&["chunk", "a.md", "-o", name, "--force"]).success();
            assert!(folder.path().join(name).is_symlink(), "{name}");
            assert_eq!(fs::read_to_string(&target).unwrap(), direct, "{name}");
        }
    }
    assert!(folder.path().join("to/dangling").is_symlink());
    link("round", "about");
    link("about", "round");
    let said = refused(folder.run(&["chunk", "a.md", "-o", "round"]));
    assert!(said.contains("`round` could not be written (its symbolic links lead in a circle)"), "{said}");
}

#[test]
fn a_file_that_is_replaced_passes_its_permissions_on() {
    let folder = Folder::new(&[("a.md", SOURCE)]);
    for mode in [0o600, 0o640, 0o664] {
        let path = folder.write("old.jsonl", b"old\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        folder.run(&["chunk", "a.md", "-o", "old.jsonl", "--force"]).success();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
    }
}

#[test]
fn a_device_stays_what_it_is() {
    let folder = Folder::new(&[("a.md", &guide(40))]);
    folder.run(&["chunk", "a.md", "-o", "/dev/null"]).success();
    let direct = folder.run(&["chunk", "a.md"]).success();
    assert_eq!(folder.run(&["chunk", "a.md", "-o", "-"]).success(), direct);
    assert_eq!(folder.run(&["chunk", "a.md", "-o", "/dev/stdout"]).success(), direct);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    folder.run(&["index", "a.md", "--embedder", "none"]).lines();
    folder.run(&["export", "-f", "parquet", "-o", "/dev/null"]).success();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let said = refused(folder.run(&["chunk", "a.md", "-o", "."]));
    assert!(said.contains("`.` could not be written"), "{said}");
}

#[test]
fn a_full_disk_and_a_closed_reader_are_told_or_end_in_order() {
    let folder = Folder::new(&[("a.md", &guide(40))]);
    folder.run(&["index", "a.md", "--embedder", "none"]).lines();
    let commands: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["chunk", "--help"],
        &["completions", "bash"],
        &["config", "show"],
        &["chunk", "a.md"],
        &["chunk", "a.md", "-f", "html"],
        &["stats", "a.md"],
        &["outline", "a.md"],
        &["explain", "a.md"],
        &["search", "word1"],
        &["fetch", "a.md"],
        &["export"],
        &["export", "-f", "parquet", "-o", "-"],
        &["status"],
        &["doctor"],
    ];
    for &command in commands {
        let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(command).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?} {said}");
        assert!(
            said.starts_with("error: ") && said.contains("No space left on device"),
            "{command:?} {said}"
        );
        // With nowhere to say it, the status still does.
        let status = folder.command(command).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{command:?}");
        let mut child =
            folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            matches!(output.status.code(), Some(0 | 1)) && !said.contains("panicked"),
            "{command:?} {said}"
        );
    }
    let run = folder.run(&["chunk", "a.md", "-o", "/dev/full"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
    // Errors have nowhere to go.
    for command in [&["chunk", "missing.md"][..], &["nonsense"], &["search"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = folder.command(command).stdout(Stdio::null()).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "{command:?}");
    }
}

#[test]
fn numbers_that_cannot_be_are_errors_in_our_words() {
    let table = "[embedders.ours]\nspec = \"openai:x\"\nurl = \"http://127.0.0.1:9/v1\"\nkey_file = \"key\"\ntimeout_ms = 9223372036854775807\nretries = 0\n";
    let folder =
        Folder::new(&[("docs/a.md", &guide(3)), ("services.toml", table), ("key", "k"), ("q.jsonl", "")]);
    folder.run(&["index", "docs", "--embedder", "none"]).lines();
    let numbers = ["0", "-1", "4294967296", "18446744073709551615", "1e9", ""];
    let cutting = [
        "max-size",
        "target-size",
        "min-size",
        "overlap-size",
        "lead-in-chars",
        "short-size",
        "long-size",
        "medium-max-size",
        "medium-overlap-size",
        "band",
        "fixed-chunk-lines",
        "overlap-lines",
        "section-level",
        "max-heading-level-for-path",
        "threads",
        "shard",
    ];
    let mut lines: Vec<(Vec<&str>, &str)> = Vec::new();
    for flag in cutting {
        lines.push((vec!["chunk", "docs"], flag));
    }
    for preset in ["code", "adaptive", "course"] {
        lines.extend(
            ["max-size", "long-size", "overlap-size"]
                .map(|flag| (vec!["chunk", "docs", "--preset", preset], flag)),
        );
    }
    for flag in [
        "top-k",
        "per-document",
        "rerank",
        "dense-weight",
        "sparse-weight",
        "rrf-k",
        "expand",
        "expand-tokens",
    ] {
        lines.push((vec!["search", "word1", "--mode", "lexical"], flag));
    }
    lines.push((vec!["search", "word1", "--expand", "parent"], "expand-tokens"));
    lines.push((vec!["fetch", "a.md#0", "--expand", "1"], "expand-tokens"));
    lines.push((vec!["fetch", "a.md#0"], "expand"));
    lines.push((vec!["related", "a.md"], "top-k"));
    lines.push((vec!["index", "docs", "--embedder", "none", "--dry-run"], "price"));
    lines.push((vec!["eval", "--stability", "docs"], "edit-count"));
    lines.push((vec!["eval", "--stability", "docs", "--edit-count", "1"], "sizes"));
    lines.push((vec!["tune", "docs", "--sizes", "64", "--preset", "auto"], "questions"));
    lines.push((vec!["tune", "docs", "--sizes", "64", "--preset", "auto"], "max-bytes"));
    for (at, (words, flag)) in lines.into_iter().enumerate() {
        // Every other one, or all.
        for number in numbers.into_iter().skip(at % one_in(2)).step_by(one_in(2)) {
            // All of these edits, or presets, would be measured.
            if flag == "edit-count" && number == "100000" {
                continue;
            }
            let value = match flag {
                "band" => format!("1-{number}"),
                "shard" => format!("1/{number}"),
                _ => number.to_owned(),
            };
            let flag = format!("--{flag}={value}");
            let run = folder.run(&[&words[..], &[flag.as_str()]].concat());
            let said = &run.stderr;
            assert!((0..=2).contains(&run.code) && !said.contains("panicked"), "{words:?} {flag} {said}");
            assert!(run.code < 2 || said.starts_with("error: "), "{words:?} {flag} {said}");
        }
    }
    for reference in [
        "a.md#L1-L18446744073709551615",
        "a.md#L99999999999999999999",
        "a.md#18446744073709551615",
        "a.md#L0",
        "a.md#L3-L2",
    ] {
        let run = folder.run(&["fetch", reference]);
        assert!(run.code == 0 || run.stderr.starts_with("error: "), "{reference} {}", run.stderr);
    }
    let run = folder.run(&["search", "word1", "--embedder", "ours", "--config", "services.toml"]);
    assert!(run.code <= 2 && !run.stderr.contains("panicked"), "{}", run.stderr);
    folder
        .run(&["search", "word1", "--per-document", "0"])
        .fails("error: `per_document` is `0`; it must be at least 1");
    folder
        .run(&["search", "word1", "--top-k", "99999999999999999999"])
        .fails("error: `top_k` is `99999999999999999999`; it must be from 1 to 1000");
    folder
        .run(&["search", "word1", "--filter", "language==python"])
        .fails("error: `--filter` is `language==python`; `==` is not an operator of filters; did you mean `language=python`?");
    folder
        .run(&["index", "docs", "--price", "-1"])
        .fails("error: `--price` is `-1`; it must be a number from 0");
    folder
        .run(&["chunk", "docs", "--tokenizer", "gone.json"])
        .fails("error: cannot read the tokenizer `gone.json`: No such file or directory (os error 2)");
    folder
        .run(&["chunk", "docs", "--max-size", "4294967296"])
        .fails("error: `--max-size` is 4294967296; it must be a whole number of at most 4294967295");
}

#[test]
fn patterns_that_are_no_globs_are_errors_in_our_words() {
    let folder = Folder::new(&[
        ("docs/a.md", SOURCE),
        ("kinds.toml", "[[kinds]]\nname = \"api\"\npaths = [\"api/{a,b\"]\n"),
    ]);
    folder.run(&["index", "docs", "--embedder", "none"]).lines();
    for pattern in ["[", "docs/{a,b", "a\\", "{{{{{{{{{{{{a}}}}}}}}}}}}", "{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}"]
    {
        let filter = format!("doc_id~{pattern}");
        let run = folder.run(&["search", "words", "--filter", &filter]);
        let said = format!("invalid glob `{pattern}`: ");
        assert!(run.code == 2 && run.stderr.contains(&said), "{}", run.stderr);
    }
    let said = refused(folder.run(&["chunk", "docs", "--config", "kinds.toml"]));
    assert!(said.contains("invalid glob `api/{a,b`: "), "{said}");
}

#[test]
fn lines_are_fetched_in_the_encoding_of_the_file() {
    let text =
        "# Руководство\r\n\r\nУстановите программу, затем запустите её.\r\nБаза данных уже работает.\r\n";
    let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    // windows-1251: the letters stand in the order of Unicode.
    let one = |c: char| match c {
        'ё' => 0xB8,
        'А'..='я' => (c as u32 - 'А' as u32 + 0xC0) as u8,
        c => c as u8,
    };
    let cyrillic: Vec<u8> = text.chars().map(one).collect();
    let folder = Folder::new(&[]);
    folder.write("docs/utf16.md", &utf16);
    folder.write("docs/cyrillic.md", &cyrillic);
    folder.write("docs/utf8.md", text.as_bytes());
    folder.run(&["index", "docs", "--embedder", "none"]).lines();
    for (name, bytes) in
        [("utf16.md", &utf16), ("cyrillic.md", &cyrillic), ("utf8.md", &text.as_bytes().to_vec())]
    {
        let mut all = Vec::new();
        for line in 1..=4 {
            let reference = format!("{name}#L{line}-L{line}");
            let output = folder.command(&["fetch", &reference, "-f", "raw"]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{reference}");
            all.extend(output.stdout);
        }
        assert!(all == *bytes, "{name}");
        let output = folder.command(&["fetch", &format!("{name}#L3"), "-f", "text"]).output().unwrap();
        assert!(
            String::from_utf8(output.stdout).unwrap().contains("Установите программу, затем запустите её.")
        );
    }
}

#[test]
fn a_nul_in_a_text_is_kept_and_told() {
    let folder = Folder::new(&[
        ("docs/a.md", "# A\n\nOne\0two.\n"),
        ("docs/b.rs", "fn main() {}\n\0"),
        ("docs/c.bin", "\0\0\0\u{1}\0\0"),
    ]);
    let note = "note: `a.md` has 1 NUL character, kept in its text\nnote: `b.rs` has 1 NUL character, kept in its text\nskipped 1 entry: 1 binary (`--verbose` lists them)\n";
    let run = folder.run(&["chunk", "docs"]);
    assert_eq!((run.code, run.stdout.lines().count(), run.stderr), (0, 2, note.to_owned()));
    let run = folder.run(&["index", "docs", "--embedder", "none"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        report["nuls"],
        serde_json::json!([{"doc_id": "a.md", "count": 1}, {"doc_id": "b.rs", "count": 1}])
    );
    assert_eq!(report["seen"], 3);
    let text = folder.run(&["fetch", "a.md"]).success();
    assert_eq!(text, "# A\n\nOne\0two.\n");
    assert_eq!(folder.run(&["search", "two"]).lines().len(), 1);
    assert_eq!(folder.run(&["check"]).code, 0);
}

#[test]
fn json_lines_are_the_same_lines_for_every_reader() {
    let breaks = ['\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}'];
    let text: String = breaks.iter().map(|it| format!("one{it}two ")).collect();
    let folder = Folder::new(&[("docs/a.md", &format!("# A\n\n{text}\n"))]);
    folder.run(&["index", "docs", "--embedder", "none"]).lines();
    let commands: &[&[&str]] = &[
        &["chunk", "docs"],
        &["chunk", "docs", "--fields", "content,text"],
        &["chunk", "docs", "-f", "json"],
        &["diff", "/dev/null", "docs", "--operations"],
        &["diff", "--state", "state.jsonl", "docs"],
        &["export"],
        &["search", "two"],
        &["chunks"],
        &["explain", "docs/a.md"],
        &["outline", "docs/a.md"],
        &["fetch", "a.md", "-f", "json"],
    ];
    for command in commands {
        let run = folder.run(command);
        assert_eq!(run.code, 0, "{command:?} {}", run.stderr);
        assert!(!run.stdout.contains(breaks), "{command:?} {:?}", run.stdout);
    }
    let state = folder.read("state.jsonl");
    assert!(!state.contains(breaks), "{state:?}");
    let record: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert!(record["content"].as_str().unwrap().contains('\u{2028}'), "{record}");
}
