//! `chunkwright chunk --format html`

use serde_json::{Map, Value};

use crate::cli::{Folder, guide};

/// Whether the program has the page; without it, all that it can do is say so.
fn is_built() -> bool {
    if chunkwright_engine::web::standalone().is_some() {
        return true;
    }
    let folder = Folder::new(&[("a.md", "# A\n")]);
    let run = folder.run(&["chunk", "--format", "html", "-o", "page.html"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains(chunkwright_engine::web::HOW_TO_BUILD), "{}", run.stderr);
    assert!(!folder.path().join("page.html").exists());
    false
}

/// The elements of a page that begin with this, without their tags.
fn elements<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    page.split(start).skip(1).map(|rest| rest.split_once("</script>").unwrap().0).collect()
}

/// The documents of a page: id, source and records, as they were before they were put into it.
fn documents(page: &str) -> Vec<(String, String, Vec<Value>)> {
    let parse = |json: &str| -> Value { serde_json::from_str(json).unwrap() };
    elements(page, "<script type=\"application/json\" class=\"document\">")
        .into_iter()
        .map(|json| document(&parse(json)))
        .collect()
}

fn document(data: &Value) -> (String, String, Vec<Value>) {
    let mut gaps = data["gaps"].as_array().unwrap().iter().map(|gap| gap.as_str().unwrap());
    let mut source = gaps.next().unwrap().to_owned();
    let mut records = Vec::new();
    for chunk in data["chunks"].as_array().unwrap() {
        let mut record: Map<String, Value> = data["common"].as_object().unwrap().clone();
        record.extend(chunk.as_object().unwrap().clone());
        let tail = record.shift_remove("tail").unwrap_or_else(|| "".into());
        let content = record["content"].as_str().unwrap();
        source += content;
        source += gaps.next().unwrap();
        let text = [record["context"].as_str().unwrap(), content, tail.as_str().unwrap()].concat();
        record.entry("text").or_insert(text.into());
        records.push(record.into());
    }
    assert_eq!(gaps.next(), None);
    (data["doc_id"].as_str().unwrap().to_owned(), source, records)
}

/// The page of a folder; what it holds is what JSON Lines hold.
#[track_caller]
fn check(files: &[(&str, &str)], flags: &[&str]) -> String {
    let folder = Folder::new(files);
    let page = folder.run(&[&["chunk", "--format", "html"], flags].concat()).success();
    let expected = folder.run(&[&["chunk", "--format", "jsonl"], flags].concat()).lines();
    let documents = documents(&page);
    let records: Vec<Value> = documents.iter().flat_map(|(.., records)| records.clone()).collect();
    assert_eq!(records, expected);
    for (doc_id, source, _) in &documents {
        let (_, text) = files.iter().find(|(name, _)| name == doc_id).unwrap();
        assert_eq!(source, text);
    }
    assert_eq!(documents.len(), files.len());
    page
}

const SETTINGS: &str = "<script type=\"application/json\" id=\"settings\">";

#[test]
fn a_page_holds_what_the_records_say() {
    if !is_built() {
        return;
    }
    let fenced = format!("Before it:\n\n```rust\n{}```\n\nAfter it.\r\n", "let value = 1;\n\n".repeat(200));
    let page = check(&[("guide.md", &guide(3))], &[]);
    let settings: Value = serde_json::from_str(elements(&page, SETTINGS)[0]).unwrap();
    assert_eq!((&settings["config"]["max_size"], &settings["tokenizer"]), (&256.into(), &"o200k".into()));
    check(
        &[("a.md", &fenced), ("b/код.py", "def f():\n    return '数据库'\n"), ("blank.md", " \n\n")],
        &["--max-size", "64"],
    );
}

#[test]
fn many_documents_are_in_the_order_of_the_records() {
    if !is_built() {
        return;
    }
    let files: Vec<(String, String)> =
        (0..60).map(|n| (format!("d{}/f{n}.md", n % 7), guide(n % 3))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(check(&files, &["--threads", "1"]), check(&files, &["--threads", "4"]));
}

#[test]
fn without_a_document_there_is_a_page_that_says_so() {
    if !is_built() {
        return;
    }
    let folder = Folder::new(&[]);
    let run = folder.run(&["chunk", "--format", "html", "-o", "page.html"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    let page = folder.read("page.html");
    assert!(documents(&page).is_empty() && page.contains("No document was found"), "{page}");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
}

#[test]
fn no_name_and_no_text_is_markup() {
    if !is_built() {
        return;
    }
    let text = "# </script><img src=x onerror=alert(1)>\n\n<!--<script>\u{202e}\u{1} &lt; ]]> \u{2028}\u{e0041}{{js}}\u{7f}\n";
    let hostile = [
        ("<img onerror=alert(2)>.md", text),
        ("</script>\u{202e}.md", text),
        ("{{data}}.md", "Text {{data}}.\n"),
    ];
    let files: Vec<(&str, &str)> = hostile.iter().filter(|(name, _)| !name.contains('/')).copied().collect();
    let page = check(&files, &[]);
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    assert_eq!(page.matches("<script").count(), 2 + files.len());
    assert!(!page.contains("<img") && !page.contains("onerror=alert(1)>"));
    assert!(!page.contains(['\u{202e}', '\u{2028}', '\u{e0041}', '\u{1}', '\u{7f}']));
    // A name with a slash is one of a file in a folder.
    let folder = Folder::new(&[]);
    let args =
        ["chunk", "-", "--stdin-filename", "</script><img onerror=alert(3)>\u{202e}", "--format", "html"];
    let page = folder.run_with_input(&args, text.as_bytes()).success();
    assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (3, 3));
    assert_eq!(documents(&page)[0].0, "</script><img onerror=alert(3)>\u{202e}");
}

#[test]
fn only_chunks_have_a_page() {
    let folder = Folder::new(&[("a.md", "# A\n")]);
    for command in [&["stats", "a.md"][..], &["diff", "a.md", "a.md"], &["explain", "a.md"]] {
        let run = folder.run(&[command, &["--format", "html"]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains("invalid value 'html' for '--format"), "{}", run.stderr);
        assert!(run.stderr.contains("jsonl, json, text"), "{}", run.stderr);
    }
}
