//! Configurations of the systems that presets reproduce, verbatim: each gives the same result as its system.

use serde_json::{Value, json};

use crate::cli::Folder;

/// `key = value; origin` of each key, where `chunkwright.toml` says `file`.
#[track_caller]
fn shows(file: &str, variables: &[(&str, &str)], flags: &[&str], expected: &[&str]) {
    let folder = Folder::new(&[("chunkwright.toml", file)]);
    let run = folder.run_with_variables(&[&["config", "show"], flags].concat(), variables);
    let rows = run.lines();
    for expected in expected {
        let key = expected.split(' ').next().unwrap();
        let row = rows.iter().find(|row| row["key"] == key).unwrap();
        let origin = row["origin"].as_str().unwrap().replace(&folder.path().display().to_string(), "");
        assert_eq!(format!("{key} = {}; {origin}", row["value"]), *expected);
    }
}

/// The records of the document `name` in the folder `docs`, where `chunkwright.toml` says `file`.
#[track_caller]
fn chunks(file: &str, name: &str, text: &str) -> Vec<Value> {
    let folder = Folder::new(&[("chunkwright.toml", file), (&format!("docs/{name}"), text)]);
    folder.run(&["chunk", "docs"]).lines()
}

/// The values of a field of all records.
fn field<'a>(records: &'a [Value], name: &str) -> Vec<&'a str> {
    records.iter().map(|record| record[name].as_str().unwrap()).collect()
}

/// Sentences of at least `chars` characters.
fn prose(chars: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.chars().count() >= chars {
            break;
        }
        text.extend(["第", &number.to_string(), "句话说明了一件事。"]);
    }
    text
}

#[test]
fn three_passes_over_markdown_by_their_own_parameters() {
    let file =
        "max_chars = 1800\nmin_chars = 250\nmax_heading_level_for_path = 3\nkeep_code_blocks_intact = true\n";
    shows(
        file,
        &[],
        &[],
        &[
            "preset = \"stable\"; selected by `max_chars`, /chunkwright.toml",
            "strategy = \"sections\"; preset `stable`",
            "unit = \"chars\"; /chunkwright.toml",
            "max_size = 1800; /chunkwright.toml",
            "min_size = 250; /chunkwright.toml",
            "target_size = 1400; preset `stable`",
            "overlap_size = 0; preset `stable`",
            "section_level = 6; preset `stable`",
            "max_heading_level_for_path = 3; /chunkwright.toml",
            "keep_whole = [\"code\"]; /chunkwright.toml",
        ],
    );
    let code = format!("```python\n# 不是标题\n{}```\n", "print('一行代码')\n".repeat(200));
    let text = format!(
        "# 引言\n\n{}\n\n## 方法\n\n{}\n\n### 步骤\n\n{code}\n#### 更深\n\n短。\n\n#### 同样\n\n短。\n",
        prose(300),
        prose(2_000)
    );
    let records = chunks(file, "a.md", &text);
    // Sections by every heading, none of them in a fence; small ones of one path are merged.
    let mut paths = field(&records, "header_path");
    assert_eq!(paths.last(), paths.get(paths.len() - 2), "the fence, and the two below it");
    paths.dedup();
    assert_eq!(paths, ["H1 引言", "H1 引言 > H2 方法", "H1 引言 > H2 方法 > H3 步骤"]);
    for record in &records {
        let (content, oversize) = (record["content"].as_str().unwrap(), record["oversize"] == true);
        assert_eq!(content.chars().count() > 1800, oversize);
        assert_eq!(oversize, content.contains("```"), "only a fence is over the limit, and it is whole");
        let lines: Vec<&str> = text.lines().collect();
        let (start, end) = (record["start_line"].as_u64().unwrap(), record["end_line"].as_u64().unwrap());
        let replayed = lines[start as usize - 1..end as usize].join("\n");
        assert!(replayed.contains(content.trim_end()));
    }
    // Python's own spelling.
    let variables = [("CHUNKWRIGHT_KEEP_CODE_BLOCKS_INTACT", "False")];
    shows(
        "",
        &variables,
        &[],
        &[
            "preset = \"stable\"; selected by `keep_code_blocks_intact`, CHUNKWRIGHT_KEEP_CODE_BLOCKS_INTACT",
            "keep_whole = []; CHUNKWRIGHT_KEEP_CODE_BLOCKS_INTACT",
            "max_size = 1800; preset `stable`",
        ],
    );
}

#[test]
fn headings_before_what_continues_a_section_and_ids_by_position() {
    // The design has no parameters.
    let file = "preset = \"docs\"\ncollection = \"site\"\nembedder = \"none\"\n";
    let text = format!("# 数据绑定\n\n## 基本用法\n\n{}\n\n### 绑定到数组\n\n{}\n", prose(1_500), prose(300));
    let folder = Folder::new(&[("chunkwright.toml", file), ("docs/api/binding.md", &text)]);
    let records = folder.run(&["chunk", "docs"]).lines();
    assert!(records.len() > 2);
    assert!(
        records.iter().all(|record| record["category"] == "api" && record["chunk_type"] == "api_methods")
    );
    for record in records.iter().filter(|record| !record["content"].as_str().unwrap().starts_with('#')) {
        let level = if record["section_path"].as_array().unwrap().len() == 3 { "###" } else { "##" };
        let title = record["section_path"].as_array().unwrap().last().unwrap().as_str().unwrap();
        assert!(record["text"].as_str().unwrap().starts_with(&format!("{level} {title}\n\n")));
    }
    let run = folder.run(&["index", "docs"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let by_position = folder.run(&["fetch", "api/binding.md_chunk1"]).success();
    assert_eq!(by_position, records[1]["content"].as_str().unwrap());
    for (command, args) in [("disable", &[][..]), ("enable", &[]), ("amend", &["--keywords", "绑定"])] {
        folder.run(&[&[command, "api/binding.md_chunk1"], args].concat()).success();
    }
    let overlays = folder.run(&["overlays"]).lines();
    assert_eq!(overlays[0]["chunk_id"], records[1]["chunk_id"]);
    let run = folder.run(&["search", "绑定", "--explain", "api/binding.md_chunk1"]);
    assert!(run.stdout.contains(records[1]["chunk_id"].as_str().unwrap()), "{run:?}");
    let run = folder.run(&["fetch", "api/binding.md_chunk99"]);
    run.fails(&format!(
        "error: `api/binding.md` has {} chunks, numbered from 0; `99` is out of range",
        records.len()
    ));
}

#[test]
fn course_material_by_its_first_level_with_code_and_tables_apart() {
    let file = "chunking_strategy = \"semantic\"\nchunk_size = 1000\nchunk_overlap = 200\nmin_chunk_size = 100\ncode_block_strategy = \"hybrid\"\n";
    let expected = [
        "strategy = \"sections\"; /chunkwright.toml",
        "unit = \"chars\"; /chunkwright.toml",
        "max_size = 1000; /chunkwright.toml",
        "min_size = 100; /chunkwright.toml",
        "overlap_size = 200; /chunkwright.toml",
        "section_level = 1; preset `course`",
        "keep_whole = [\"code\",\"table\"]; /chunkwright.toml",
        "set_apart = [\"code\",\"table\"]; /chunkwright.toml",
        "lead_in_chars = 200; preset `course`",
    ];
    shows(file, &[], &[], &expected);
    let of_class = "min_chunk_size = 100\nmax_chunk_size = 1000\noverlap_size = 200\n";
    shows(
        of_class,
        &[],
        &[],
        &[
            &[
                "preset = \"course\"; selected by `max_chunk_size`, /chunkwright.toml",
                "strategy = \"sections\"; preset `course`",
            ][..],
            &expected[1..6],
        ]
        .concat(),
    );
    // The advice for chunks that are too large.
    shows(
        &file.replace("1000", "800"),
        &[],
        &[],
        &["max_size = 800; /chunkwright.toml", "overlap_size = 200; /chunkwright.toml"],
    );

    let code = format!("```python\n{}```\n", "print('一行')\n".repeat(150));
    let table = format!("| 列 | 值 |\n|---|---|\n{}", "| 甲 | 乙 |\n".repeat(150));
    let text = format!(
        "# 一\n\n## 二\n\n{}\n\n### 三\n\n短说明：\n\n{code}\n{table}\n# 四\n\n{}\n",
        prose(400),
        prose(1_500)
    );
    let records = chunks(file, "01.md", &text);
    let kinds = field(&records, "content_type");
    assert_eq!(kinds, ["paragraph", "code_block", "table", "paragraph", "paragraph"]);
    let content = field(&records, "content");
    assert!(
        content[0].starts_with("# 一") && content[0].contains("## 二"),
        "a section holds its subsections"
    );
    assert!(
        content[1].contains("短说明")
            && content[1].contains(code.trim_end())
            && records[1]["oversize"] == true
    );
    assert_eq!((content[2].trim_end(), &records[2]["oversize"]), (table.trim_end(), &Value::Bool(true)));
    let borrowed = records[4]["context"].as_str().unwrap().trim();
    let overlap = borrowed.strip_prefix("# 四").expect("the section that goes on").trim();
    assert!(!overlap.is_empty() && overlap.chars().count() <= 200 && content[3].contains(overlap));
}

#[test]
fn source_code_by_symbols_and_lines() {
    let file = "max_tokens = 512\nfixed_chunk_lines = 50\noverlap_lines = 5\n";
    shows(
        file,
        &[],
        &[],
        &[
            "preset = \"code\"; selected by `max_tokens`, /chunkwright.toml",
            "strategy = \"tree\"; preset `code`",
            "unit = \"tokens\"; /chunkwright.toml",
            "max_size = 512; /chunkwright.toml",
            "min_size = 0; preset `code`",
            "fixed_chunk_lines = 50; /chunkwright.toml",
            "unknown_files = \"lines\"; /chunkwright.toml",
            "overlap_lines = 5; /chunkwright.toml",
        ],
    );
    let body =
        |name: &str| format!("def {name}(value):\n    \"\"\"Say {name}.\"\"\"\n    return value\n\n\n");
    let long: String = (0..200).map(|line| format!("    total{line} = value + {line}\n")).collect();
    let text =
        format!("import os\n\n\n{}{}def large(value):\n{long}    return value\n", body("one"), body("two"));
    let records = chunks(file, "a.py", &text);
    let names: Vec<&str> =
        records.iter().filter_map(|record| record["symbols"]["function_name"].as_str()).collect();
    assert_eq!(names[..3], ["one", "two", "large"], "{records:#?}");
    assert!(names[3..].iter().all(|name| *name == "large"));
    assert!(records.iter().all(|record| record["token_count"].as_u64().unwrap() <= 512));
    let parts: Vec<_> =
        records.iter().filter(|record| record["symbols"]["function_name"] == "large").collect();
    assert!(parts.len() > 1 && parts[1]["context"].as_str().unwrap().contains("def large(value):"));
    // Of even size, or as large as fits.
    let sizes = |packing: &str| -> Vec<u64> {
        let records = chunks(&format!("{file}packing = \"{packing}\"\n"), "a.py", &text);
        let parts = records.iter().filter(|record| record["symbols"]["function_name"] == "large");
        parts.map(|part| part["token_count"].as_u64().unwrap()).collect()
    };
    let (even, first_fit) = (sizes("even"), sizes("first_fit"));
    let (least, greatest) = (*even.iter().min().unwrap(), *even.iter().max().unwrap());
    assert!(greatest * 2 <= least * 3, "no part is half as large again as another: {even:?}");
    let full = &first_fit[..first_fit.len() - 1];
    assert!(full.iter().all(|size| *size > 480), "a line more would not fit: {first_fit:?}");
    // Summaries beside the chunks, told apart by `artifact`.
    let folder = Folder::new(&[("chunkwright.toml", file), ("docs/a.py", &text)]);
    let all = folder.run(&["chunk", "docs", "--summaries"]).lines();
    let (summaries, cut): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|record| record.get("artifact").is_some());
    assert_eq!(cut, records);
    assert_eq!(field(&summaries, "artifact")[0], "file_summary");
    let records_of_code = records;

    let lines: String = (0..120).map(|line| format!("x{line}\n")).collect();
    let records = chunks(file, "a.asm", &lines);
    let starts: Vec<u64> = records.iter().map(|record| record["start_line"].as_u64().unwrap()).collect();
    assert_eq!((starts.as_slice(), field(&records, "content_type")[0]), (&[1, 51, 96][..], "fixed"));
    assert!(records[1]["context"].as_str().unwrap().ends_with("\nx45\nx46\nx47\nx48\nx49\n"), "five lines");
    // So is a file that nothing knows, from its first line; what is known as text is not, nor what says otherwise.
    let unknown = chunks(file, "src/a.unknown", &lines);
    let starts: Vec<u64> = unknown.iter().map(|record| record["start_line"].as_u64().unwrap()).collect();
    assert_eq!((starts.as_slice(), field(&unknown, "chunk_type")[0]), (&[1, 51, 96][..], "fixed"));
    let by_paragraphs = chunks("preset = \"code\"\n", "src/a.unknown", &lines);
    assert_ne!(field(&by_paragraphs, "chunk_id"), field(&unknown, "chunk_id"));
    let as_text = chunks(&format!("{file}unknown_files = \"text\"\n"), "src/a.unknown", &lines);
    assert_eq!(field(&as_text, "chunk_id"), field(&by_paragraphs, "chunk_id"));
    for known in ["notes.txt", "LICENSE", "a.md"] {
        let ids = |file: &str| field(&chunks(file, known, &lines), "chunk_id").join(" ");
        assert_eq!(ids(file), ids("preset = \"code\"\n"), "{known}");
    }
    // Chunks and summaries as one result with two lists.
    let result = folder.run(&["chunk", "docs", "--format", "lists"]);
    let result: Value = serde_json::from_str(&result.success()).unwrap();
    assert_eq!((&result["chunks"], &result["summaries"]), (&json!(records_of_code), &json!(summaries)));
    let none = folder.run_with_input(&["chunk", "-", "--format", "lists", "--fields", "chunk_id"], b"");
    assert_eq!(
        serde_json::from_str::<Value>(&none.stdout).unwrap(),
        json!({ "chunks": [], "summaries": [] })
    );
}

#[test]
fn documents_by_their_size_with_the_thresholds_of_the_design() {
    let keys = "chunk_strategy = \"adaptive\"\nadaptive_chunk_min_words_short = 50\nadaptive_chunk_max_words_short = 300\nadaptive_chunk_size_medium = 512\nadaptive_chunk_overlap_medium = 100\nadaptive_chunk_size_long = 800\nadaptive_chunk_overlap_long = 160\n";
    let expected = [
        "strategy = \"adaptive\"; preset `adaptive`",
        "unit = \"tokens\"; preset `adaptive`",
        "min_size = 50; /chunkwright.toml",
        "short_size = 300; /chunkwright.toml",
        "long_size = 800; preset `adaptive`",
        "medium_max_size = 512; /chunkwright.toml",
        "medium_overlap_size = 100; /chunkwright.toml",
        "max_size = 800; /chunkwright.toml",
        "overlap_size = 160; /chunkwright.toml",
        "band = [410,614]; /chunkwright.toml",
    ];
    shows(keys, &[], &[], &[&["strategy = \"adaptive\"; /chunkwright.toml"][..], &expected[1..]].concat());
    let six: String = keys.lines().skip(1).map(|line| format!("{line}\n")).collect();
    shows(&six, &[], &[], &expected);
    // As variables and as flags, over a file.
    shows(
        &six,
        &[("CHUNKWRIGHT_CHUNK_STRATEGY", "simple")],
        &["--adaptive-chunk-size-long", "1000"],
        &[
            "strategy = \"window\"; CHUNKWRIGHT_CHUNK_STRATEGY",
            "max_size = 1000; --adaptive-chunk-size-long",
            "overlap_size = 160; /chunkwright.toml",
        ],
    );
    shows(
        "strategy = \"simple\"\n",
        &[],
        &[],
        &["strategy = \"window\"; /chunkwright.toml", "max_size = 800; preset `adaptive`"],
    );
    shows(
        "",
        &[],
        &["--preset", "simple"],
        &["preset = \"adaptive\"; --preset", "strategy = \"window\"; preset `adaptive`"],
    );

    let sentence = "Документация описывает настройку сервиса и порядок обновления. ";
    let of = |sentences: usize| {
        format!(
            "# Руководство\n\n{}\n\n## Настройка\n\n{}\n",
            sentence.repeat(sentences),
            sentence.repeat(sentences)
        )
    };
    for (sentences, kind) in [(3, "short_document"), (22, "medium_document"), (60, "long_document")] {
        let records = chunks(keys, "a.md", &of(sentences));
        let tokens: u64 = records.iter().map(|record| record["token_count"].as_u64().unwrap()).sum();
        assert!(
            records.iter().all(|record| record["chunk_type"] == kind),
            "{kind}: {tokens} {:?}",
            field(&records, "chunk_type")
        );
        let limit = if kind == "medium_document" { 512 } else { 800 };
        assert!(records.iter().all(|record| record["token_count"].as_u64().unwrap() <= limit));
        assert_eq!(records.len() == 1, kind == "short_document");
    }
}

#[test]
fn a_preset_that_is_named_wins_over_names_of_another_system() {
    shows(
        "preset = \"auto\"\nmax_chunk_size = 1024\n",
        &[],
        &[],
        &[
            "preset = \"auto\"; /chunkwright.toml",
            "target_size = 800; in proportion to `max_chunk_size`, /chunkwright.toml",
        ],
    );
    shows(
        "max_chunk_size = 500\n",
        &[],
        &["--preset", "stable"],
        &["preset = \"stable\"; --preset", "max_size = 1800; preset `stable`"],
    );
    // The highest layer decides between systems, and drops what was made for the other.
    shows(
        "max_chunk_size = 500\nchunk_overlap = 50\n",
        &[],
        &["--max-chars", "900"],
        &[
            "preset = \"stable\"; selected by `max_chars`, --max-chars",
            "max_size = 900; --max-chars",
            "overlap_size = 0; preset `stable`",
        ],
    );
    // A preset of one's own stands on that of the system whose names it uses.
    shows(
        "preset = \"mine\"\n[presets.mine]\nmax_chunk_size = 600\n",
        &[],
        &[],
        &[
            "preset = \"mine\"; /chunkwright.toml",
            "strategy = \"sections\"; preset `mine`",
            "max_size = 600; preset `mine`",
            "overlap_size = 200; preset `mine`",
        ],
    );
}

/// Documents of up to five sections of up to five paragraphs each, in an order that repeats nothing.
fn manual() -> Vec<(String, String)> {
    let sentence = "Документация описывает настройку сервиса и порядок обновления. ";
    (0..8)
        .map(|document: usize| {
            let sections = (0..12 + document).map(|section| {
                let paragraph = |number: usize| {
                    format!("{}\n\n", sentence.repeat(1 + (document + 3 * section + 5 * number) % 6))
                };
                format!("## Раздел {section}\n\n{}", (0..=section % 5).map(paragraph).collect::<String>())
            });
            (format!("docs/{document}.md"), format!("# Руководство\n\n{}", sections.collect::<String>()))
        })
        .collect()
}

#[test]
fn the_six_keys_of_the_design_bring_its_band() {
    let six = "adaptive_chunk_min_words_short = 50\nadaptive_chunk_max_words_short = 300\nadaptive_chunk_size_medium = 512\nadaptive_chunk_overlap_medium = 100\nadaptive_chunk_size_long = 800\nadaptive_chunk_overlap_long = 160\n";
    let documents = manual();
    let mut files: Vec<(&str, &str)> = vec![("chunkwright.toml", six)];
    files.extend(documents.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    files.push(("docs/faq.md", "# FAQ\n\nA short answer.\n"));
    files.push(("docs/api/limits.md", "# API\n\nA short page.\n"));
    files.push(("CHANGELOG.md", "# 1.0\n\nThe first release.\n"));
    let folder = Folder::new(&files);
    let stats: Value = serde_json::from_str(&folder.run(&["stats", "docs"]).success()).unwrap();
    let ratio = stats["optimal_ratio"].as_f64().unwrap();
    assert!(ratio > 0.8, "{ratio} of the chunks are in the band");
    assert_eq!(stats["band"], serde_json::json!([410, 614]));
    // Another size, and a band of one's own.
    shows(
        "adaptive_chunk_size_medium = 400\n",
        &[],
        &["--band", "0-0"],
        &["medium_max_size = 400; /chunkwright.toml", "band = [0,0]; --band"],
    );
    let kinds = |name: &str| {
        let records = folder.run(&["chunk", name]).lines();
        (records[0]["category"].as_str().unwrap().to_owned(), records[0]["chunk_type"].clone())
    };
    let short = Value::from("short_document");
    assert_eq!(kinds("docs/faq.md"), ("faq".into(), short.clone()));
    assert_eq!(kinds("CHANGELOG.md"), ("release_notes".into(), short));
    let pages = folder.run(&["chunk", "docs"]).lines();
    assert!(pages.iter().any(|record| record["category"] == "api" && record["doc_id"] == "api/limits.md"));
    // Errors as a share of the documents.
    let run = folder.run(&["index", "docs", "--embedder", "none"]).success();
    let report: Value = serde_json::from_str(&run).unwrap();
    assert_eq!((&report["failed_ratio"], &report["failed"]), (&0.0.into(), &serde_json::json!([])));
}

#[test]
fn an_id_with_joined_folders_is_understood_and_hits_name_documents_beside_them() {
    let file = "preset = \"docs\"\nembedder = \"none\"\n";
    let text = format!("# 数据绑定\n\n## 基本用法\n\n{}\n", prose(2_500));
    let folder = Folder::new(&[
        ("chunkwright.toml", file),
        ("site/docs/bindingPath.md", &text),
        ("site/docs/cellBinding.md", "# 单元格绑定\n\n说明。\n"),
        ("site/docs/tableBinding.md", "# 表格绑定\n\n说明。\n"),
        ("site/demo/a/b.md", "# One\n"),
        ("site/demo/a_b.md", "# Other\n"),
    ]);
    folder.run(&["index", "site"]).success();
    let third = folder.run(&["fetch", "docs_bindingPath_chunk2"]).success();
    assert_eq!(third, folder.run(&["fetch", "docs/bindingPath.md#2"]).success());
    assert_eq!(folder.run(&["fetch", "docs_bindingPath"]).success(), text);
    folder.run(&["disable", "docs_bindingPath_chunk2"]).success();
    folder.run(&["enable", "docs_bindingPath_chunk2"]).success();
    assert_eq!(folder.run(&["related", "docs_bindingPath"]).lines()[0]["siblings"]["count"], 2);
    // Of two documents that have it, neither is meant.
    for (reference, why) in [
        ("demo_a_b", "`demo_a_b` is not in collection `default`"),
        ("docs_bindingPath_chunk99", "`docs/bindingPath.md` has "),
    ] {
        let run = folder.run(&["fetch", reference]);
        assert!(run.code == 2 && run.stderr.starts_with(&format!("error: {why}")), "{run:?}");
    }
    let hits = |flags: &[&str]| folder.run(&[&["search", "数据绑定"], flags].concat()).lines();
    let plain = &hits(&["--top-k", "1"])[0];
    let joined = plain["joined_id"].as_str().unwrap();
    assert_eq!(joined, format!("docs_bindingPath_chunk{}", plain["chunk_index"]));
    assert_eq!(folder.run(&["fetch", joined]).success(), plain["content"].as_str().unwrap());
    assert!(plain.get("related").is_none());
    let beside = &hits(&["--top-k", "1", "--related", "1"])[0]["related"];
    assert_eq!(beside["siblings"]["count"], 2);
    assert_eq!(beside["siblings"]["nearest"].as_array().unwrap().len(), 1);
    assert_eq!(beside["related"], serde_json::json!([]), "there are no vectors");
}

#[test]
fn small_code_and_tables_stand_alone_and_chunks_have_the_fields_of_a_course() {
    let file = "chunking_strategy = \"semantic\"\nchunk_size = 1000\nchunk_overlap = 200\nmin_chunk_size = 100\ncode_block_strategy = \"hybrid\"\n";
    let text = format!(
        "# 一\n\n{}\n\n#### 提取文字\n\n```python\nx = 1\n```\n\n{}\n\n| 列 |\n|---|\n| 甲 |\n\n{}\n",
        prose(300),
        prose(300),
        prose(300)
    );
    let folder = Folder::new(&[("chunkwright.toml", file), ("courses/python_basics/01.md", &text)]);
    let records = folder.run(&["chunk", "courses"]).lines();
    let kinds = ["paragraph", "code_block", "paragraph", "table", "paragraph"];
    assert_eq!(field(&records, "content_type"), kinds);
    assert_eq!(field(&records, "content")[1].trim_end(), "#### 提取文字\n\n```python\nx = 1\n```");
    assert_eq!(field(&records, "content")[3].trim_end(), "| 列 |\n|---|\n| 甲 |");
    let fields = "course_id,chapter_id,chapter_title,source_file,position,content_type,char_count,word_count,estimated_tokens,token_level,strategy_version";
    let cut = &folder.run(&["chunk", "courses", "--fields", fields]).lines()[1];
    let expected = serde_json::json!({
        "course_id": "python_basics",
        "chapter_id": "01.md",
        "chapter_title": "一",
        "source_file": "python_basics/01.md",
        "position": 1,
        "content_type": "code_block",
        "char_count": records[1]["char_count"],
        "word_count": records[1]["word_count"],
        "estimated_tokens": records[1]["token_count"],
        "token_level": "normal",
        "strategy_version": records[1]["strategy_version"],
    });
    assert_eq!(*cut, expected, "nothing was indexed yet");
    let index = |flags: &[&str]| {
        let line =
            [&["index", "courses/python_basics", "-c", "course_python_basics", "--embedder", "none"], flags];
        let run = folder.run(&line.concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    index(&[]);
    let fields = &*format!("{fields},indexed_at");
    let stored = &folder.run(&["chunks", "-c", "course_python_basics", "--fields", fields]).lines()[1];
    assert_eq!(stored.as_object().unwrap().len(), 12, "{stored}");
    assert_eq!(stored["source_file"], "python_basics/01.md");
    // Two cuts by one version are told apart.
    index(&["--chunk-size", "400"]);
    let listed = &folder.run(&["collections"]).lines()[0];
    let version = records[1]["strategy_version"].as_str().unwrap();
    let (both, by_generation) = (&listed["versions"], listed["version_generations"].as_object().unwrap());
    let sum: u64 = by_generation.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((both.as_object().unwrap().len(), &both[version]), (1, &Value::from(sum)));
    let names: Vec<&String> = by_generation.keys().collect();
    assert_eq!(names, [&format!("{version}@1"), &format!("{version}@2")]);
    // Advice beside the levels.
    let stats = |flags: &[&str]| -> Value {
        serde_json::from_str(&folder.run(&[&["stats"], flags].concat()).success()).unwrap()
    };
    assert!(stats(&["courses"]).get("advice").is_none());
    let long =
        Folder::new(&[("a.md", &format!("# A\n\n```sh\n{}```\n", "echo something 数据\n".repeat(400)))]);
    let stats: Value =
        serde_json::from_str(&long.run(&["stats", "a.md", "--chunk-size", "1000"]).success()).unwrap();
    let advice = stats["advice"].as_str().unwrap();
    assert!(
        advice.starts_with("1 of 1 chunks have 1024 tokens or more: reduce `max_size` (`chunk_size`"),
        "{advice}"
    );
}
