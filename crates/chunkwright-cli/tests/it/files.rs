//! Selection of files, and how reports account for those left out.

use std::fs::File;
use std::process::Stdio;

use crate::cli::Folder;

const GUIDE: &str = "# Guide\n\nHow the service is set up and run.\n";

/// A drawing of so many coordinates.
fn drawing(points: usize) -> String {
    let points: String =
        (0..points).map(|point| format!("M{point}.5 {point}.25 L{point} {point} ")).collect();
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"{points}\"/></svg>\n")
}

/// A mixed repository: English, Chinese and Russian pages, code, and what nobody reads.
fn repository() -> Folder {
    let image = format!("url(data:image/png;base64,{})\n", "iVBORw0KGgo".repeat(1_000));
    Folder::new(&[
        ("docs/guide.md", GUIDE),
        ("docs/教程.md", "# 教程\n\n如何运行服务。\n"),
        ("docs/руководство.md", "# Руководство\n\nКак запустить сервис.\n"),
        ("docs/logo.svg", &drawing(500)),
        ("docs/img/a.svg", &drawing(10)),
        ("src/main.rs", "fn main() {}\n"),
        ("src/app.min.js", "a=1\n"),
        ("src/long.js", &"a=1;".repeat(1_000)),
        ("src/app.js.map", "{\"version\":3}\n"),
        ("src/font.css", &image),
        ("Cargo.lock", "[[package]]\nname = \"a\"\n"),
        (".hidden/notes.md", "# Hidden\n\nnotes\n"),
        (".gitignore", "target\n"),
        (".git/config", "[core]\n"),
        ("target/out.md", "# Out\n\nbuilt\n"),
    ])
}

/// The documents that `chunk` makes of the repository with these arguments, in order.
#[track_caller]
fn check(args: &[&str], expected: &[&str]) {
    let folder = repository();
    let run = folder.run(&[&["chunk", "-q"], args].concat());
    let rows = run.lines();
    let mut found: Vec<&str> = rows.iter().map(|row| row["doc_id"].as_str().unwrap()).collect();
    found.dedup();
    assert_eq!(found, expected, "{args:?}");
}

const TEXTS: [&str; 4] = ["docs/guide.md", "docs/руководство.md", "docs/教程.md", "src/main.rs"];

#[test]
fn what_nobody_searches_for_is_left_out_unless_it_is_asked_for() {
    check(&["."], &TEXTS);
    let with = |more: &[&'static str]| {
        let mut all = [&TEXTS[..], more].concat();
        all.sort_unstable();
        all
    };
    check(&[".", "--include", "*.svg"], &with(&["docs/img/a.svg", "docs/logo.svg"]));
    check(&[".", "--include", "Cargo.lock"], &with(&["Cargo.lock"]));
    check(&[".", "--include", "*.map"], &with(&["src/app.js.map"]));
    check(&["docs/logo.svg"], &["logo.svg"]);
    check(&["docs/*.svg"], &["logo.svg"]);
    check(&["src/long.js", "src/font.css", "Cargo.lock"], &["Cargo.lock", "font.css", "long.js"]);
}

#[test]
fn patterns_and_types_choose_files() {
    check(&[".", "--include", "*.md"], &TEXTS[..3]);
    check(&[".", "-t", "md"], &TEXTS[..3]);
    check(&[".", "-t", "md", "-t", "rust"], &TEXTS);
    check(&[".", "--exclude", "docs"], &TEXTS[3..]);
    check(&[".", "--exclude", "docs/*.md", "--exclude", "nothing/"], &TEXTS[3..]);
    check(
        &[".", "--include", "*.{md,svg}"],
        &["docs/guide.md", "docs/img/a.svg", "docs/logo.svg", "docs/руководство.md", "docs/教程.md"],
    );
    check(&[".", "--max-filesize", "20"], &TEXTS[3..]);
    check(&[".", "--hidden", "-t", "md"], &[".hidden/notes.md", TEXTS[0], TEXTS[1], TEXTS[2]]);
    check(&[".", "--no-ignore", "-t", "md"], &[TEXTS[0], TEXTS[1], TEXTS[2], "target/out.md"]);
    check(&["docs/**/*.md"], &["guide.md", "руководство.md", "教程.md"]);
    check(&["./**/*.md", "*.rs"], &TEXTS[..3]);
    let folder = repository();
    folder.run(&["chunk", "-t", "nope", "."]).fails(
        "error: `--type` is \"nope\"; it must be a type of ripgrep, such as `md`, `py` or `rust` (`rg --type-list` lists them)",
    );
    folder.write("chunkwright.toml", b"exclude = [\"src\", \"*.toml\"]\ntype = [\"md\"]\nhidden = true\n");
    let rows = folder.run(&["chunk", "-q", "."]).lines();
    assert!(
        rows.iter().any(|row| row["doc_id"] == ".hidden/notes.md")
            && rows.iter().all(|row| row["language"] != "rust")
    );
}

#[test]
fn an_answer_says_once_what_was_left_out_and_what_most_tokens_are_of() {
    let folder = repository();
    let sentence = "note: left out 2 drawings, 2 minified files, 1 lock file, 1 source map, 1 file of encoded data; `--include '*.svg'` takes them\n";
    for command in ["chunk", "outline"] {
        let run = folder.run(&[command, "."]);
        let said: Vec<&str> = run.stderr.lines().filter(|line| line.contains("drawing")).collect();
        assert_eq!(said.len(), 1, "{}", run.stderr);
        assert_eq!(sorted(said[0]), sorted(sentence.trim_end()), "{}", run.stderr);
    }
    let run = folder.run(&["stats", ".", "--format", "json"]);
    let stats: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(stats["coverage"]["skipped"]["drawing"], 2);
    let run = folder.run(&["chunk", ".", "--include", "*.svg"]);
    assert!(
        run.stderr.contains("% of the tokens are of 2 files `*.svg`; `--exclude '*.svg'` leaves them out"),
        "{}",
        run.stderr
    );
    // Prose and code are what is wanted.
    assert!(!folder.run(&["chunk", "docs"]).stderr.contains("of the tokens"));
}

fn sorted(sentence: &str) -> Vec<String> {
    let (list, rest) = sentence.trim_start_matches("note: left out ").split_once("; ").unwrap();
    let mut words: Vec<String> = list.split(", ").map(str::to_owned).collect();
    words.sort_unstable();
    words.push(rest.to_owned());
    words
}

#[test]
fn documents_that_are_left_out_from_now_on_leave_the_collection_and_the_report_says_so() {
    let folder = repository();
    let index = |args: &[&str]| {
        let run = folder.run(&[&["index", "--embedder", "none", "--format", "json"], args].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        (serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap(), run.stderr)
    };
    let documents = || {
        let rows = folder.run(&["chunks"]).lines();
        let mut ids: Vec<String> =
            rows.iter().map(|row| row["doc_id"].as_str().unwrap().to_owned()).collect();
        ids.dedup();
        ids.len()
    };
    // As an index was before kinds were left out.
    let all = ["--include", "*.svg", "--include", "Cargo.lock"];
    let (report, _) = index(&[&["."][..], &all].concat());
    assert_eq!((&report["indexed"], documents()), (&7.into(), 7));
    let (report, _) = index(&[".", "--dry-run"]);
    assert_eq!((report["left_out"].as_array().unwrap().len(), documents()), (3, 7));
    let (report, said) = index(&["."]);
    assert_eq!(report["left_out"], serde_json::json!(["Cargo.lock", "docs/img/a.svg", "docs/logo.svg"]));
    assert!(said.contains("3 of them were in the collection and were removed"), "{said}");
    assert_eq!((&report["unchanged"], documents()), (&4.into(), 4));
    let (report, said) = index(&["."]);
    assert!(report.get("left_out").is_none() && !said.contains("were removed"), "{said}");
    // Also where another configuration builds a new generation.
    index(&[&["."][..], &all].concat());
    let (report, _) = index(&[".", "--preset", "stable"]);
    assert_eq!((report["left_out"].as_array().unwrap().len(), documents()), (3, 4));
    // A choice for one run removes nothing.
    let (report, _) = index(&[".", "--preset", "stable", "-t", "rust"]);
    assert_eq!((&report["unchanged"], documents()), (&1.into(), 4));
    let (report, _) = index(&["docs/*.svg", "--preset", "stable"]);
    assert_eq!((&report["indexed"], documents()), (&1.into(), 5));
    // A pattern is about what it matches: nothing else is gone.
    let (report, _) = index(&["docs/*.svg", "--preset", "stable", "--prune"]);
    assert_eq!((report["pruned"].as_array().unwrap().len(), documents()), (0, 5));
}

#[test]
fn two_folders_may_each_have_a_lock_file() {
    let folder = Folder::new(&[
        ("a/Cargo.lock", "x"),
        ("a/a.md", GUIDE),
        ("b/Cargo.lock", "y"),
        ("b/b.md", "# B\n\nbe\n"),
    ]);
    let args = ["index", "--embedder", "none", "a", "b", "--format", "json"];
    let run = folder.run(&args);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &report["indexed"]), (0, &2.into()), "{}", run.stderr);
    assert!(
        run.stderr.contains("left out 2 lock files; `--include 'Cargo.lock'` takes them"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_pipe_without_a_path_is_read_and_a_folder_is_where_there_is_none() {
    let folder = repository();
    let run = folder.run_with_input(&["chunk", "--stdin-filename", "page.md"], GUIDE.as_bytes());
    assert_eq!(run.lines()[0]["doc_id"], "page.md");
    let run = folder.run_with_input(&["index", "--embedder", "none", "--format", "json"], GUIDE.as_bytes());
    assert!(run.stdout.contains("\"indexed\":1") || run.stdout.contains("\"indexed\": 1"), "{run:?}");
    let file = File::open(folder.path().join("docs/guide.md")).unwrap();
    let output = folder.command(&["chunk"]).stdin(Stdio::from(file)).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"doc_id\":\"stdin\""));
    let rows = folder.run(&["chunk", "-q"]).lines();
    assert!(rows.iter().any(|row| row["doc_id"] == "docs/guide.md"));
    // Flags about folders mean one.
    let run =
        folder.run_with_input(&["index", "--embedder", "none", "--prune", "-q", "--format", "json"], b"");
    assert!(run.stdout.contains("\"indexed\":4") || run.stdout.contains("\"indexed\": 4"), "{run:?}");
}
