//! `chunkwright chunk`

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Folder, Run, guide};

fn assert_refused(run: &Run, sentence: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains(sentence), "{}", run.stderr);
}

/// The ids of the documents of records, each once.
fn documents(records: &[Value]) -> Vec<&str> {
    let mut ids: Vec<&str> = records.iter().map(|record| record["doc_id"].as_str().unwrap()).collect();
    ids.dedup();
    ids
}

#[test]
fn a_record_is_what_the_contract_says() {
    let folder = Folder::new(&[("guide.md", "# Guide\n\nWelcome to it.\n")]);
    let records = folder.run(&["chunk", "guide.md"]).lines();
    let [Value::Object(record)] = records.as_slice() else { panic!("{records:?}") };
    let fields: Vec<&str> = record.keys().map(String::as_str).collect();
    let expected = "chunk_id doc_id chunk_index total_chunks parent content context text start_line end_line start_byte \
                    end_byte start_char end_char header_path section_path content_type chunk_type category \
                    char_count word_count token_count tokenizer token_level oversize cut strategy_version preset \
                    config_hash file_hash";
    assert_eq!(fields.join(" "), expected);
    assert_eq!(record["content"], "# Guide\n\nWelcome to it.");
    assert_eq!((&record["start_line"], &record["end_line"]), (&1.into(), &3.into()));
    assert_eq!(record["header_path"], "H1 Guide");
    assert_eq!(record["tokenizer"], "o200k");
}

#[test]
fn contents_are_the_bytes_of_the_source() {
    let source = format!("Введение в предмет 🎉.\r\n\r\n{}", guide(3).replace('\n', "\r\n"));
    let folder = Folder::new(&[("guide.md", &source)]);
    for record in folder.run(&["chunk", "."]).lines() {
        let at = |key: &str| record[key].as_u64().unwrap() as usize;
        assert_eq!(record["content"], source[at("start_byte")..at("end_byte")]);
        let chars: String =
            source.chars().skip(at("start_char")).take(at("end_char") - at("start_char")).collect();
        assert_eq!(record["content"], chars);
        assert!(record["token_count"].as_u64().unwrap() <= 256, "{record}");
    }
}

#[test]
fn the_output_is_the_same_with_any_number_of_threads() {
    let files: Vec<(String, String)> =
        (0..40).map(|n| (format!("d{}/f{n}.md", n % 7), guide(n % 5))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::new(&files);
    let one = folder.run(&["chunk", "--threads", "1"]).success();
    assert!(one.lines().count() > 100);
    for threads in ["2", "8"] {
        assert_eq!(folder.run(&["chunk", "--threads", threads]).success(), one);
    }
}

#[test]
fn shards_together_are_the_whole() {
    let files: Vec<String> = (0..20).map(|n| format!("f{n}.md")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (name.as_str(), "# A\n\nText.\n")).collect();
    let folder = Folder::new(&files);
    let mut whole: Vec<String> = folder.run(&["chunk"]).success().lines().map(str::to_owned).collect();
    let mut shards = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let lines = folder.run(&["chunk", "--shard", shard]).success();
        assert!(lines.lines().count() < 20, "a shard is not the whole");
        shards.extend(lines.lines().map(str::to_owned));
    }
    whole.sort();
    shards.sort();
    assert_eq!(shards, whole);
    let run = folder.run(&["chunk", "--shard", "4/3"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("a shard is I/N with I from 1 to N, such as 2/8"), "{}", run.stderr);
}

#[test]
fn standard_input_has_the_name_it_is_given() {
    let folder = Folder::new(&[]);
    let run = |args: &[&str], input: &str| folder.run_with_input(args, input.as_bytes()).lines();
    let records = run(&["chunk", "-", "--stdin-filename", "a/b.md"], "# Title\n\nText.\n");
    assert_eq!((&records[0]["doc_id"], &records[0]["header_path"]), (&"a/b.md".into(), &"H1 Title".into()));
    let records = run(&["chunk", "-", "--stdin-filename", "b.py"], "def f():\n    return 1\n");
    assert_eq!(records[0]["language"], "python");
}

#[test]
fn a_missing_path_is_an_error_and_the_rest_is_chunked() {
    let folder = Folder::new(&[("a.md", "# A\n\nText.\n")]);
    let run = folder.run(&["chunk", "nope.md", "a.md"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.stderr,
        "error: `nope.md` does not exist; give a file, a folder, or `-` for standard input\n"
    );
    assert_eq!(run.stdout.lines().count(), 1);
}

#[test]
fn no_document_at_all_is_found_nothing() {
    let folder = Folder::new(&[]);
    let run = folder.run(&["chunk"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, "no document was found at the given paths\n"));
    // A document without a visible character is a document.
    folder.write("blank.md", b" \n\n");
    assert_eq!(folder.run(&["chunk"]).success(), "");
}

#[test]
fn what_gives_no_document_is_named_with_its_reason() {
    let folder =
        Folder::new(&[("a.md", "Text.\n"), ("b.bin", "\0\u{1}\u{2}\0"), ("c.odt", "PK\u{3}\u{4}\0\0\0\0")]);
    let run = |paths: &[&str]| {
        let run = folder.run(&[&["chunk"], paths].concat());
        (run.code, run.stderr)
    };
    let binary = "note: left out `b.bin`: it is neither text nor a document that can be converted\n";
    let unread = "note: left out `c.odt`: it is a document of a format that is not read; save it as PDF, as `.docx`, `.xlsx` or `.pptx`, or as text\n";
    let counted = |reasons: &str| format!("skipped {reasons} (`--verbose` lists them)\n");
    let none = "no document was found at the given paths\n";
    assert_eq!(run(&["b.bin"]), (1, format!("{binary}{}{none}", counted("1 entry: 1 binary"))));
    assert_eq!(run(&["c.odt"]), (1, format!("{unread}{}{none}", counted("1 entry: 1 unsupported"))));
    assert_eq!(run(&["a.md", "b.bin"]), (0, format!("{binary}{}", counted("1 entry: 1 binary"))));
    // In a folder only documents are named.
    assert_eq!(run(&["."]), (0, format!("{unread}{}", counted("2 entries: 1 binary, 1 unsupported"))));
    let run = folder.run(&["index", "c.odt", "--embedder", "none"]);
    assert!(run.stderr.contains(unread), "{}", run.stderr);
}

#[test]
fn what_is_left_out_is_counted_and_listed() {
    let folder = Folder::new(&[("a.md", "Text.\n"), (".hidden.md", "Text.\n"), ("b.bin", "\0\u{1}\u{2}\0")]);
    let run = folder.run(&["chunk"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 1));
    assert_eq!(run.stderr, "skipped 2 entries: 1 binary, 1 hidden (`--verbose` lists them)\n");
    let run = folder.run(&["chunk", "--verbose"]);
    let listed = "skipped `.hidden.md`: its name starts with a dot\nskipped `b.bin`: it is neither text nor a document that can be converted\n1 chunk of 1 document\n";
    assert_eq!(run.stderr, listed);
    assert_eq!(folder.run(&["chunk", "--quiet"]).stderr, "");
}

#[test]
fn two_files_of_one_name_are_refused() {
    let folder = Folder::new(&[("a/x.md", "One.\n"), ("b/x.md", "Two.\n")]);
    let run = folder.run(&["chunk", "a/x.md", "b/x.md"]);
    assert_eq!((run.code, run.stdout.lines().count()), (2, 1));
    assert!(
        run.stderr.contains("would both be the document `x.md`; give the folder that holds both"),
        "{}",
        run.stderr
    );
    assert_eq!(documents(&folder.run(&["chunk"]).lines()), ["a/x.md", "b/x.md"]);
    assert_eq!(documents(&folder.run(&["chunk", "a/x.md", "a/x.md"]).lines()), ["x.md"]);
}

#[test]
fn results_go_to_a_file_that_is_no_input_of_the_next_run() {
    let folder = Folder::new(&[("a.md", "# A\n\nText.\n")]);
    let direct = folder.run(&["chunk"]).success();
    for flags in [&[][..], &["--force"]] {
        let command = [&["chunk", ".", "-o", "chunks.jsonl"], flags].concat();
        assert_eq!(folder.run(&command).success(), "");
        assert_eq!(folder.read("chunks.jsonl"), direct);
    }
    folder.run(&["chunk", "a.md", "-o", "no/such/x.jsonl"]).fails(
        "error: `no/such/x.jsonl` could not be written (entity not found); name a file in a folder you can \
         write to",
    );
}

#[test]
fn json_is_one_document() {
    let folder = Folder::new(&[("a.md", "# A\n\nText.\n"), ("b.md", "# B\n\nText.\n")]);
    let json: Value = serde_json::from_str(&folder.run(&["chunk", "--format", "json"]).success()).unwrap();
    assert_eq!(documents(json.as_array().unwrap()), ["a.md", "b.md"]);
    let empty = Folder::new(&[("a.md", "")]);
    assert_eq!(empty.run(&["chunk", "--format", "json"]).success(), "[]\n");
}

#[test]
fn text_for_people_holds_no_control_characters_of_the_source() {
    let folder = Folder::new(&[("a\u{1b}[2J.md", "Red \u{1b}[31m text\u{7}\u{202e}.\n")]);
    let text = folder.run(&["chunk", "--format", "text"]).success();
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    assert!(text.contains("Red \\u{1b}[31m text\\u{7}\\u{202e}."), "{text}");
    let coloured = folder.run(&["chunk", "--format", "text", "--color", "always"]).success();
    assert!(coloured.contains("\u{1b}[1m") && !coloured.contains("\u{1b}[31m"), "{coloured:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new(&[("a.md", &guide(400))]);
    let mut child = folder.command(&["chunk"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn errors_say_what_would_be_right() {
    let folder = Folder::new(&[("a.md", "Text.\n")]);
    let check =
        |args: &[&str], sentence: &str| folder.run(&[&["chunk", "a.md"], args].concat()).fails(sentence);
    check(&["--max-size", "4"], "error: `max_size` is `4`; it must be at least `8`");
    check(
        &["--target-size", "300"],
        "error: `target_size` is `300`; it must be at most `max_size`, which is `256`",
    );
    check(&["--unit", "bytes"], "error: `--unit` is \"bytes\"; it must be `tokens` or `chars`");
    let run = folder.run(&["chunk", "a.md", "--preset", "nope"]);
    assert!(run.stderr.starts_with("error: unknown preset `nope`; known are `auto`, "), "{}", run.stderr);
    let run = folder.run(&["chunk", "a.md", "--tokenizer", "nope"]);
    assert!(
        run.stderr.starts_with("error: unknown token counter `nope`; known are `chars`, "),
        "{}",
        run.stderr
    );
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
}

#[test]
fn tables_hold_what_the_lines_hold() {
    let folder =
        Folder::new(&[("docs/a.md", &guide(3)), ("docs/b.py", "def f():\n    return \"a, \\\"b\\\"\\n\"\n")]);
    let lines = folder.run(&["chunk", "docs"]).lines();
    // The extension is the format; what reads records reads them.
    for arguments in [["-o", "chunks.parquet"].as_slice(), &["-f", "parquet", "-o", "chunks.parquet"]] {
        folder.run(&[&["chunk", "docs", "--force"], arguments].concat()).success();
        let changes = folder.run(&["diff", "chunks.parquet", "docs"]).lines();
        let summary = changes.last().unwrap();
        assert_eq!((&summary["kept"], &summary["old_chunks"]), (&json!(lines.len()), &json!(lines.len())));
    }
    let table = folder.run(&["chunk", "docs", "-f", "csv"]).success();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names = reader.headers().unwrap().clone();
    assert_eq!(names.iter().take(3).collect::<Vec<_>>(), ["chunk_id", "doc_id", "artifact"]);
    for (line, row) in lines.iter().zip(reader.records()) {
        for (name, cell) in names.iter().zip(&row.unwrap()) {
            let expected = match &line[name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            assert_eq!(cell, expected, "{name}");
        }
    }
    assert_refused(&folder.run(&["chunk", "docs", "-f", "parquet"]), "--output <FILE>");
}

#[test]
fn only_the_fields_that_are_named_are_written_in_their_order() {
    let folder = Folder::new(&[("a.md", "# A\n\nOne.\n")]);
    let line = folder.run(&["chunk", "a.md", "--fields", "token_count,doc_id,section_path"]).success();
    assert_eq!(line, "{\"token_count\":5,\"doc_id\":\"a.md\",\"section_path\":[\"A\"]}\n");
    let csv = folder.run(&["chunk", "a.md", "-f", "csv", "--fields", "doc_id,content"]).success();
    assert_eq!(csv, "doc_id,content\na.md,\"# A\n\nOne.\"\n");
    let unknown = folder.run(&["chunk", "a.md", "--fields", "doc_id,nowhere"]);
    assert_eq!(unknown.stderr, "no result has the field `nowhere`\n");
    assert_refused(
        &folder.run(&["chunk", "a.md", "-f", "csv", "--fields", "nowhere"]),
        "records have no field `nowhere`",
    );
    assert_refused(&folder.run(&["chunk", "a.md", "-f", "text", "--fields", "doc_id"]), "`--fields` needs");
    assert_refused(&folder.run(&["chunk", "a.md", "-f", "html", "--fields", "doc_id"]), "`--fields` picks");
    assert_refused(&folder.run(&["chunk", "a.md", "--fields", "doc_id,,text"]), "a field has no name");
    // An answer in one document keeps what stands around its results.
    folder.run(&["index", "a.md", "-c", "a", "--embedder", "none"]).success();
    let answer: Value = serde_json::from_str(
        &folder.run(&["search", "one", "-c", "a", "-f", "json", "--fields", "rank,doc_id"]).success(),
    )
    .unwrap();
    assert_eq!(answer["hits"], json!([{"doc_id": "a.md", "rank": 1}]));
}
