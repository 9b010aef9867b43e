//! `chunkwright explain`

use crate::cli::{Folder, guide};

#[test]
fn every_chunk_says_why_it_begins_and_ends() {
    let folder = Folder::new(&[("guide.md", &guide(3))]);
    let sizes = ["--unit", "chars", "--max-size", "1000", "--tokenizer", "words"];
    let explained = folder.run(&[&["explain", "guide.md"], &sizes[..]].concat()).lines();
    let records = folder.run(&[&["chunk", "guide.md"], &sizes[..]].concat()).lines();
    assert_eq!(explained.len(), records.len());
    for (it, record) in explained.iter().zip(&records) {
        for key in ["doc_id", "chunk_id", "chunk_index", "start_line", "end_line", "section_path"] {
            assert_eq!(it[key], record[key], "{key}");
        }
        assert_eq!(
            (&it["begin"]["cut"], &it["size"], &it["max_size"]),
            (&record["cut"], &record["char_count"], &1000.into())
        );
        let size_with_next = it["end"]["size_with_next"].as_u64();
        match it["end"]["why"].as_str().unwrap() {
            "full" => assert!(size_with_next.unwrap() > 1000, "{it}"),
            "balanced" => assert!(size_with_next.unwrap() <= 1000, "{it}"),
            _ => {}
        }
        for candidate in it["rejected"].as_array().unwrap() {
            assert!(candidate["line"].as_u64() > it["start_line"].as_u64(), "{it}");
            assert!(candidate["line"].as_u64() <= it["end_line"].as_u64(), "{it}");
        }
    }
    assert!(explained.iter().any(|it| it["end"]["why"] == "section"));
    assert_eq!(explained.last().unwrap()["end"]["why"], "document");
    assert_eq!(explained[0]["borrows"].as_array().unwrap().len(), 0);
    let path = &explained.last().unwrap()["borrows"][0];
    assert_eq!((&path["kind"], &path["text"]), (&"path".into(), &"Part 2\n\n".into()));
}

#[test]
fn a_line_names_its_chunk() {
    let folder = Folder::new(&[("guide.md", &guide(3))]);
    let line = |target: &str| folder.run(&["explain", target]);
    let source = folder.read("guide.md");
    let at = source.lines().position(|line| line == "## Part 1").unwrap() + 1;
    let [it] = line(&format!("guide.md:{at}")).lines().try_into().unwrap();
    assert_eq!((&it["begin"]["cut"], &it["begin"]["title"]), (&"heading".into(), &"Part 1".into()));
    let run = line(&format!("guide.md:{}", at - 1));
    assert_eq!((run.code, run.stderr.as_str()), (1, "the line is blank and not in a chunk\n"));
    let last = source.lines().count();
    line("guide.md:5000")
        .fails(&format!("error: `guide.md` has lines 1 to {last}; line 5000 is out of range"));
    line("nope.md:3")
        .fails("error: `nope.md` does not exist; give a file, a folder, or `-` for standard input");
    line(".").fails("error: `.` is a folder; give one file");
}

#[test]
fn words_tell_rule_size_and_what_was_rejected() {
    let folder = Folder::new(&[("guide.md", "# Guide\n\nOne.\n\n- a\n- b\n")]);
    let text = folder.run(&["explain", "guide.md", "--format", "text", "--tokenizer", "words"]).success();
    let (title, facts) = text.split_once('\n').unwrap();
    assert!(title.starts_with("guide.md: chunk 1 of 1, lines 1-6  "), "{title}");
    assert_eq!(
        facts,
        "  text      # Guide One. - a - b
  path      Guide
  size      4 of at most 256 tokens
  begins    the section `Guide` begins (heading)
  ends      the document ends
  rejected  line 3 (paragraph), line 5 (list), line 6 (inside a block, depth 0)

"
    );
}

#[test]
fn a_block_too_large_says_where_it_was_divided() {
    let sentences = "A sentence of this paragraph says a little. ".repeat(60);
    let folder = Folder::new(&[("a.md", &format!("# A\n\n{sentences}\n"))]);
    let explained = folder.run(&["explain", "a.md", "--tokenizer", "words", "--max-size", "64"]).lines();
    assert!(explained.len() > 4);
    assert_eq!(
        (&explained[0]["end"]["why"], &explained[0]["end"]["cut"]),
        (&"split".into(), &"split:sentence".into())
    );
    assert_eq!(explained[1]["begin"]["cut"], "split:sentence");
    assert_eq!(explained[1]["part"]["total"], explained.len());
}

#[test]
fn source_whose_syntax_was_not_read_says_so() {
    let soup = "+:".repeat(8 << 10);
    let folder = Folder::new(&[("a.c", soup.as_str()), ("b.c", "int f(void) {\n    return 1;\n}\n")]);
    assert!(folder.run(&["explain", "a.c"]).lines().iter().all(|chunk| chunk["unparsed"] == true));
    assert!(folder.run(&["explain", "b.c"]).lines().iter().all(|chunk| chunk.get("unparsed").is_none()));
    assert!(folder.run(&["explain", "a.c", "--format", "text"]).stdout.contains("by its layout"));
}
