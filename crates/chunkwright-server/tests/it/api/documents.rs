//! Storing, reading, changing and removing documents.

use serde_json::{Value, json};

use super::server::{Served, encoded, form};

const ALL: &str = "/api/v1/collections/docs/documents";

#[test]
fn files_of_a_form_are_documents_called_by_their_names() {
    let served = Served::new();
    let files: &[(&str, &str, &[u8])] = &[
        ("guide.md", "text/markdown", "# Guide\n\nПривет, мир.\n".as_bytes()),
        ("code/main.py", "application/octet-stream", b"def main():\n    return 1\n"),
    ];
    let (content_type, body) = form(files, &[("prefix", "v1/"), ("meta", r#"{"course_id": "13"}"#)]);
    let answer = served.send("POST", ALL, &[("Content-Type", &content_type)], &body).expect(201);
    assert_eq!(answer["documents"][0]["doc_id"], "v1/guide.md", "{answer}");
    let code = served.get(&format!("{ALL}/{}", encoded("v1/code/main.py"))).expect(200);
    assert_eq!((code["format"].as_str(), code["meta"]["course_id"].as_str()), (Some("python"), Some("13")));
    let (content_type, body) = form(&files[..1], &[("doc_id", "renamed"), ("kind", "markdown")]);
    let one = served.send("POST", ALL, &[("Content-Type", &content_type)], &body);
    assert_eq!(one.expect(201)["documents"][0]["doc_id"], "renamed");
    assert_eq!(one.header("location"), format!("{ALL}/renamed"));
    assert_eq!(served.get(&format!("{ALL}/renamed")).expect(200)["format"], "markdown");
    for (fields, wrong) in [
        (vec![("doc_id", "a")], "for one file"),
        (vec![("meta", "{")], "field `meta`"),
        (vec![("colour", "red")], "unknown field `colour`"),
    ] {
        let (content_type, body) = form(files, &fields);
        let answer = served.send("POST", ALL, &[("Content-Type", &content_type)], &body);
        assert_eq!(answer.problem(400), "invalid_request");
        assert!(answer.text().contains(wrong), "{}", answer.text());
    }
}

#[test]
fn a_request_with_a_document_that_cannot_be_stored_stores_nothing() {
    let served = Served::new();
    let good = json!({ "doc_id": "good.md", "text": "Good." });
    for (bad, wrong) in [
        (json!({ "doc_id": "", "text": "a" }), "must not be empty"),
        (json!({ "doc_id": "a\u{7}b", "text": "a" }), "U+0007"),
        (json!({ "doc_id": "a" }), "exactly one of `text` and `bytes`"),
        (json!({ "doc_id": "a", "text": "a", "bytes": "YQ==" }), "exactly one of `text` and `bytes`"),
        (json!({ "doc_id": "a", "bytes": "%" }), "base64"),
        (json!({ "doc_id": "a", "text": "a", "hint": { "format": "cobolt" } }), "unknown format `cobolt`"),
        (json!({ "doc_id": "good.md", "text": "a" }), "two documents of this id"),
        (json!({ "doc_id": "a", "text": "a", "color": "red" }), "unknown field `color`"),
    ] {
        let answer = served.post(ALL, &json!({ "documents": [good, bad] }));
        assert!((400..423).contains(&answer.status), "{}", answer.text());
        assert!(answer.text().contains(wrong), "{wrong}: {}", answer.text());
        assert_eq!(served.get(ALL).problem(404), "unknown_collection", "nothing is stored");
    }
    assert_eq!(served.post(ALL, &json!({ "documents": [] })).problem(400), "invalid_request");
    let pdf = json!({ "doc_id": "broken.pdf", "bytes": "JVBERi0xLjcKbm90aGluZw==" });
    let answer = served.post(ALL, &json!({ "documents": [pdf.clone()] }));
    assert_eq!(answer.problem(400), "invalid_request", "{}", answer.text());
    let both = served.post(ALL, &json!({ "documents": [good, pdf] })).expect(201);
    let states: Vec<&Value> = both["documents"].as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["stored", "failed"], "{both}");
}

#[test]
fn the_source_comes_back_byte_for_byte_as_an_attachment_or_as_text_in_lines() {
    let served = Served::new();
    // UTF-16 with a mark, as an editor on Windows writes it.
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("один\r\nдва\r\nтри\r\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let (content_type, body) = form(&[("тексты/a b.txt", "text/plain", &utf16)], &[]);
    served.send("POST", ALL, &[("Content-Type", &content_type)], &body).expect(201);
    let source = format!("{ALL}/{}/source", encoded("тексты/a b.txt"));
    let raw = served.get(&source);
    assert_eq!((raw.status, &raw.bytes), (200, &utf16));
    assert_eq!(raw.header("x-content-type-options"), "nosniff");
    assert_eq!(raw.header("content-disposition"), "attachment; filename*=UTF-8''a%20b.txt");
    assert!(raw.header("content-type").starts_with("text/plain; charset=UTF-16"), "{raw:?}");
    assert_eq!(served.get(&format!("{source}?form=text&lines=2-3")).text(), "два\r\nтри\r\n");
    assert_eq!(served.get(&format!("{source}?form=text&lines=1")).text(), "один\r\n");
    assert_eq!(served.get(&format!("{source}?lines=0-3")).problem(400), "invalid_request");
    assert_eq!(served.get(&format!("{source}?lines=3-2")).problem(400), "invalid_request");
    let seen = served.send("GET", &source, &[("If-None-Match", raw.header("etag"))], &[]);
    assert_eq!((seen.status, seen.bytes.len()), (304, 0));
    // What is HTML is never shown by a browser as a page of this server.
    served.put("docs", &[("page.html", "<script>alert(1)</script><p>Hello</p>")]);
    let page = served.get(&format!("{ALL}/page.html/source"));
    assert!(page.header("content-disposition").starts_with("attachment"), "{page:?}");
}

#[test]
fn documents_are_listed_in_pages_and_removed_by_id_or_pattern() {
    let served = Served::new();
    let names = ["a.md", "b/c.md", "b/d.md", "e*.md", "ef.md"];
    served.put("docs", &names.map(|name| (name, "Text.")));
    let mut listed: Vec<String> = Vec::new();
    let mut next = String::new();
    loop {
        let page = served.get(&format!("{ALL}?limit=2{next}")).expect(200);
        assert_eq!(page["total"], 5);
        listed.extend(
            page["documents"].as_array().unwrap().iter().map(|it| it["doc_id"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next"].as_str() else { break };
        next = format!("&cursor={cursor}");
        // A cursor belongs to its list.
        let other = served.get(&format!("{ALL}?source=b/**{next}"));
        assert_eq!(other.problem(400), "invalid_request");
    }
    assert_eq!(listed, names);
    let middle = served.get(&format!("{ALL}?skip=3&limit=1")).expect(200);
    assert_eq!((&middle["documents"][0]["doc_id"], &middle["total"]), (&names[3].into(), &5.into()));
    assert!(middle["next"].is_string() && middle["documents"].as_array().unwrap().len() == 1, "{middle}");
    assert_eq!(served.get(&format!("{ALL}?skip=-1")).problem(400), "invalid_request");
    assert_eq!(served.get(&format!("{ALL}?cursor=nonsense")).problem(400), "invalid_request");
    assert_eq!(served.get(&format!("{ALL}?limit=0")).problem(400), "invalid_request");
    assert_eq!(served.get(&format!("{ALL}?limit=many")).problem(400), "invalid_request");
    let tried = served.delete(&format!("{ALL}?source=b/*&dry_run=true")).expect(200);
    assert_eq!(tried["documents"].as_array().unwrap().len(), 2);
    served.delete(&format!("{ALL}?source=b/*")).expect(200);
    // An id is itself, whatever characters it has.
    served.delete(&format!("{ALL}/{}", encoded("e*.md"))).expect(200);
    let left = served.get(ALL).expect(200);
    let left: Vec<&Value> = left["documents"].as_array().unwrap().iter().map(|it| &it["doc_id"]).collect();
    assert_eq!(left, ["a.md", "ef.md"]);
    assert_eq!(served.delete(ALL).problem(400), "invalid_request", "a pattern is needed");
}

#[test]
fn the_lines_that_define_and_use_a_symbol_are_answered() {
    let served = Served::new();
    served.put("docs", &[("a.py", "def make_it():\n    return 1\n\n\ndef use():\n    return make_it()\n")]);
    let found = served.get("/api/v1/collections/docs/references/make_it").expect(200);
    assert_eq!(found["definitions"][0]["line"], 1, "{found}");
    assert_eq!(
        (&found["references"][0]["line"], &found["references"][0]["role"]),
        (&json!(6), &json!("use"))
    );
    let none = served.get("/api/v1/collections/docs/references/nothing_like_it").expect(200);
    assert_eq!((&none["definitions"], &none["references"]), (&json!([]), &json!([])));
}

#[test]
fn outlines_and_documents_about_the_same_are_answered() {
    let served = Served::new();
    served.put("docs", &[("a/one.md", "# One\n\n## Part\n\nText.\n"), ("a/two.md", "# Two\n\nText.\n")]);
    let outline = served.get(&format!("{ALL}/{}/outline", encoded("a/one.md"))).expect(200);
    let titles: Vec<&Value> = outline.as_array().unwrap().iter().map(|row| &row["title"]).collect();
    assert_eq!(&titles[1..], ["One", "Part"]);
    let related = served.get(&format!("{ALL}/{}/related?top_k=1", encoded("a/one.md"))).expect(200);
    assert!(related["siblings"].to_string().contains("a/two.md"), "{related}");
    assert_eq!(
        served.get(&format!("{ALL}/{}/related?top_k=101", encoded("a/one.md"))).problem(400),
        "invalid_request"
    );
}

#[test]
fn a_client_that_has_an_answer_is_told_so_until_it_changes() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    let of = "/api/v1/collections/docs";
    for path in ["", "/documents", "/documents/a.md", "/chunks", "/statistics", "/versions", "/overlays"] {
        let path = format!("{of}{path}");
        let first = served.get(&path);
        assert_eq!(first.status, 200, "{path}: {}", first.text());
        let again = served.send("GET", &path, &[("If-None-Match", first.header("etag"))], &[]);
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}");
    }
    let path = format!("{of}/chunks");
    let before = served.get(&path).header("etag").to_owned();
    served.put("docs", &[("b.md", "# B\n\nText.\n")]);
    let after = served.send("GET", &path, &[("If-None-Match", &before)], &[]);
    assert_eq!(after.expect(200)["chunks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_chunk_is_changed_only_if_it_is_what_the_client_saw() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nThe kettle is blue.\n")]);
    let one = format!("/api/v1/collections/docs/chunks/{}", encoded("a.md#0"));
    let seen = served.get(&one);
    let tag = seen.header("etag").to_owned();
    let change = |tag: &str, body: Value| {
        let headers = [("Content-Type", "application/json"), ("If-Match", tag)];
        served.send("PATCH", &one, &headers, body.to_string().as_bytes())
    };
    let first = change(&tag, json!({ "keywords": ["samovar"] }));
    assert_eq!(first.expect(200)["overlay"]["keywords"], json!(["samovar"]), "{}", first.text());
    assert_eq!(change(&tag, json!({ "keywords": [] })).problem(412), "changed");
    assert_eq!(served.found("docs", "samovar"), ["a.md"]);
    let second = change(first.header("etag"), json!({ "text": "The kettle is green." }));
    assert_eq!(second.expect(200)["text"], "The kettle is green.");
    assert_eq!(served.json("PATCH", &one, &json!({})).problem(400), "invalid_request");
    let many = served
        .post("/api/v1/collections/docs/chunks/amend", &json!({ "filter": "doc_id=a.md", "enabled": false }));
    assert_eq!(many.expect(200)["changed"], 1);
    assert!(served.found("docs", "kettle").is_empty());
    let disabled = served.get("/api/v1/collections/docs/chunks?visibility=disabled").expect(200);
    assert_eq!(disabled["chunks"].as_array().unwrap().len(), 1);
    assert_eq!(
        served.get("/api/v1/collections/docs/chunks?filter=colour=red").problem(400),
        "invalid_request"
    );
}

#[test]
fn neighbours_stand_around_their_chunk_in_order() {
    let served = Served::new();
    let text: String = (1..=5)
        .map(|n| format!("# Part {n}\n\n{}\n\n", format!("Sentence number {n} of a part. ").repeat(30)))
        .collect();
    served.put("docs", &[("a.md", &text)]);
    let answer = served
        .get(&format!("/api/v1/collections/docs/chunks/{}/neighbours?window=2", encoded("a.md#1")))
        .expect(200);
    let indices = |part: &str| -> Vec<u64> {
        answer[part].as_array().unwrap().iter().map(|chunk| chunk["chunk_index"].as_u64().unwrap()).collect()
    };
    assert_eq!((indices("before"), indices("after")), (vec![0], vec![2, 3]));
    assert_eq!(answer["chunk"]["chunk_index"], 1);
}

#[test]
fn a_body_that_is_no_json_and_a_path_or_method_that_is_not_there_are_refused() {
    let served = Served::new();
    let not_json = served.send("POST", ALL, &[("Content-Type", "application/json")], b"{");
    assert_eq!(not_json.problem(400), "invalid_request");
    let no_type = served.send("POST", ALL, &[("Content-Type", "text/plain")], b"{}");
    assert_eq!(no_type.problem(415), "invalid_request");
    assert_eq!(
        served.send("POST", ALL, &[("Content-Type", "application/json")], b"").problem(400),
        "invalid_request"
    );
    assert_eq!(served.get("/api/v1/nowhere").problem(404), "no_such_path");
    assert_eq!(served.send("PUT", ALL, &[], b"{}").problem(405), "method_not_allowed");
}

/// Lines of more than `length` bytes, no two alike.
fn lines(length: usize) -> String {
    (0..).map(|n| format!("Line {n} of a document, с буквами и 文字.\n")).take(length / 50).collect()
}

#[test]
fn a_large_source_comes_in_parts_and_whole_and_is_not_read_for_a_client_that_has_it() {
    let served = Served::new();
    let text = lines(5 << 20);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = [&[0xff, 0xfe], &*utf16].concat();
    let files: &[(&str, &str, &[u8])] =
        &[("large.txt", "text/plain", text.as_bytes()), ("wide.txt", "text/plain", &file)];
    let (content_type, body) = form(files, &[]);
    served.send("POST", ALL, &[("Content-Type", &content_type)], &body).expect(201);
    for (path, expected) in [
        ("large.txt/source", text.as_bytes()),
        ("large.txt/source?form=text", text.as_bytes()),
        ("wide.txt/source", &*file),
        ("wide.txt/source?form=text", text.as_bytes()),
    ] {
        let path = format!("{ALL}/{path}");
        let answer = served.get(&path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.bytes == expected, "{path}");
        assert_eq!(answer.header("content-length"), expected.len().to_string(), "{path}");
        let tag = answer.header("etag").to_owned();
        let again = served.send("GET", &path, &[("If-None-Match", &tag)], b"");
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}");
    }
    let part = served.get(&format!("{ALL}/large.txt/source?lines=100-101"));
    let expected: String = text.split_inclusive('\n').skip(99).take(2).collect();
    assert_eq!(part.text(), expected);
    // A source changes its tag with its document.
    let tag = served.get(&format!("{ALL}/large.txt/source")).header("etag").to_owned();
    served.post(ALL, &json!({ "documents": [{ "doc_id": "large.txt", "text": "Small." }] })).expect(201);
    let changed = served.send("GET", &format!("{ALL}/large.txt/source"), &[("If-None-Match", &tag)], b"");
    assert_eq!((changed.status, changed.text().as_str()), (200, "Small."));
}

#[test]
fn files_with_credentials_are_left_out_with_a_reason_unless_they_are_forced() {
    let served = Served::new();
    let account = br#"{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----"}"#;
    let files: &[(&str, &str, &[u8])] = &[
        ("guide.md", "text/markdown", b"# Guide\n\nText.\n"),
        (".env", "application/octet-stream", b"TOKEN=1\n"),
        ("certs/tls.key", "application/octet-stream", b"key"),
        ("terraform.tfstate", "application/json", b"{}"),
        ("project-1a2b.json", "application/json", account),
    ];
    let (content_type, body) = form(files, &[]);
    let answer = served.send("POST", ALL, &[("Content-Type", &content_type)], &body).expect(201);
    let documents = answer["documents"].as_array().unwrap();
    let states: Vec<&str> = documents.iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["stored", "skipped", "skipped", "skipped", "skipped"], "{answer}");
    assert!(documents[1]["message"].as_str().unwrap().contains("`force` stores it"), "{answer}");
    assert_eq!(served.get(ALL).expect(200)["total"], 1);
    // The name of the file counts, and not only the id that it is to have.
    let (content_type, body) = form(&files[1..2], &[("doc_id", "settings.txt")]);
    let one = served.send("POST", ALL, &[("Content-Type", &content_type)], &body);
    assert_eq!(one.problem(400), "invalid_request");
    let env = json!({ "doc_id": "deploy/.env", "text": "TOKEN=1\n" });
    let refused = served.post(ALL, &json!({ "documents": [env] }));
    assert_eq!(refused.problem(400), "invalid_request");
    assert!(refused.text().contains("credentials"), "{}", refused.text());
    let forced = served.post(ALL, &json!({ "documents": [env], "force": true })).expect(201);
    assert_eq!(forced["documents"][0]["state"], "stored");
    let (content_type, body) = form(files, &[("force", "true")]);
    let all = served.send("POST", ALL, &[("Content-Type", &content_type)], &body).expect(201);
    assert!(all["documents"].as_array().unwrap().iter().all(|it| it["state"] != "skipped"), "{all}");
}

#[test]
fn names_of_files_are_what_browsers_mean() {
    let served = Served::new();
    let name = |written: &str| {
        let (content_type, body) = form(&[(written, "text/markdown", b"# A\n\nText.\n")], &[]);
        served.send("POST", ALL, &[("Content-Type", &content_type)], &body)
    };
    for (written, meant) in [
        ("say %22hi%22.md", "say \"hi\".md"),
        ("指南 и гид.md", "指南 и гид.md"),
        ("100%.md", "100%.md"),
        ("a%20b.md", "a%20b.md"),
        ("back\\slash.md", "back\\slash.md"),
    ] {
        assert_eq!(name(written).expect(201)["documents"][0]["doc_id"], meant, "{written}");
        served.get(&format!("{ALL}/{}", encoded(meant))).expect(200);
    }
    let broken = name("two%0D%0Alines.md");
    assert_eq!(broken.problem(400), "invalid_request");
    assert!(broken.text().contains("U+000D"), "{}", broken.text());
    // As `requests` of Python wrote what is not ASCII.
    let (content_type, body) = form(&[("name", "text/markdown", b"# A\n\nText.\n")], &[]);
    let body = String::from_utf8(body).unwrap();
    let body = body.replace("filename=\"name\"", "filename*=utf-8''%E6%8C%87%E5%8D%97.md");
    let old = served.send("POST", ALL, &[("Content-Type", &content_type)], body.as_bytes());
    assert_eq!(old.expect(201)["documents"][0]["doc_id"], "指南.md");
}
