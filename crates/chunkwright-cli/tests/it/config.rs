//! Layers of the configuration, `chunkwright config show`, completions and help.

use chunkwright::options::KEYS;
use chunkwright_engine::settings::key;

use crate::cli::Folder;

/// Runs `config show` with a file, variables and flags; `expect` has a line `key = value; origin` for each
/// key that is asked for.
fn check(file: &str, variables: &[(&str, &str)], flags: &[&str], expect: &[&str]) {
    let folder = Folder::new(&[("chunkwright.toml", file)]);
    let run = folder.run_with_variables(&[&["config", "show"], flags].concat(), variables);
    let rows = run.lines();
    for expected in expect {
        let key = expected.split(' ').next().unwrap();
        let row = rows.iter().find(|row| row["key"] == key).unwrap();
        let origin = row["origin"].as_str().unwrap().replace(&folder.path().display().to_string(), "");
        assert_eq!(format!("{key} = {}; {origin}", row["value"]), *expected);
    }
}

/// Runs with a file and variables that cannot be used; `expect` is the sentence.
fn check_error(file: &str, variables: &[(&str, &str)], expect: &str) {
    let folder = Folder::new(&[("chunkwright.toml", file)]);
    let run = folder.run_with_variables(&["config", "show"], variables);
    let stderr = run.stderr.replace(&folder.path().display().to_string(), "");
    assert_eq!((run.code, stderr.trim_end()), (2, expect));
}

#[test]
fn each_layer_is_over_the_one_below() {
    let file = "max_size = 300\nmin_size = 10\ntokenizer = \"words\"\n";
    let expect = [
        "max_size = 300; /chunkwright.toml",
        "min_size = 20; CHUNKWRIGHT_MIN_SIZE",
        "tokenizer = \"chars\"; --tokenizer",
        "collection = \"default\"; built in",
        "strategy = \"tree\"; preset `auto`",
    ];
    check(
        file,
        &[("CHUNKWRIGHT_MIN_SIZE", "20"), ("CHUNKWRIGHT_TOKENIZER", "cl100k")],
        &["--tokenizer", "chars"],
        &expect,
    );
}

#[test]
fn sizes_that_are_not_set_keep_their_proportion() {
    let expect = [
        "max_size = 512; --max-size",
        "target_size = 400; in proportion to `max_size`, --max-size",
        "min_size = 128; in proportion to `max_size`, --max-size",
    ];
    check("", &[], &["--max-size", "512"], &expect);
    let expect = [
        "max_size = 1024; in proportion to `unit`, --unit",
        "target_size = 800; in proportion to `unit`, --unit",
    ];
    check("", &[], &["--unit", "chars"], &expect);
    let expect =
        ["max_size = 1800; --max-size", "target_size = 1406; in proportion to `max_size`, --max-size"];
    check("", &[], &["--unit", "chars", "--max-size", "1800"], &expect);
    let expect =
        ["target_size = 100; --target-size", "min_size = 32; in proportion to `max_size`, --max-size"];
    check("", &[], &["--max-size", "128", "--target-size", "100"], &expect);
}

#[test]
fn a_preset_replaces_what_lower_layers_say_about_cutting() {
    let file = "max_size = 300\ncollection = \"mine\"\n";
    let expect = [
        "preset = \"recursive\"; --preset",
        "max_size = 256; preset `recursive`",
        "collection = \"mine\"; /chunkwright.toml",
    ];
    check(file, &[], &["--preset", "recursive"], &expect);
}

#[test]
fn a_preset_of_ones_own_stands_on_its_base() {
    let file = "preset = \"notes\"\n[presets.notes]\nbase = \"long\"\nmin_size = 0\n[presets.long]\nmax_size = 512\n";
    let expect = [
        "max_size = 512; preset `notes`",
        "target_size = 400; preset `notes`",
        "min_size = 0; preset `notes`",
    ];
    check(file, &[], &[], &expect);
}

#[test]
fn the_nearest_file_upward_counts_and_its_paths_are_its_own() {
    let folder = Folder::new(&[
        ("chunkwright.toml", "max_size = 99\n"),
        ("a/chunkwright.toml", "store = \"kept\"\n"),
        ("a/b/x.md", ""),
    ]);
    let mut command = folder.command(&["config", "show"]);
    let output = command.current_dir(folder.path().join("a/b")).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("a/kept\""), "{stdout}");
    assert!(stdout.contains("\"max_size\",\"value\":256"), "{stdout}");
    let run = folder.run(&["config", "show", "--config", "nope.toml"]);
    run.fails(
        "error: the configuration `nope.toml` could not be read: No such file or directory (os error 2)",
    );
}

#[test]
fn a_variable_that_is_not_known_is_a_warning() {
    let table =
        "embedder = \"ours\"\n[embedders.ours]\nspec = \"openai:x\"\nkey_variable = \"CHUNKWRIGHT_OURS\"\n";
    let folder = Folder::new(&[("ours.toml", table)]);
    let check = |name: &str, right: Option<&str>| {
        let run = folder.run_with_variables(&["config", "show", "--config", "ours.toml"], &[(name, "1")]);
        let warning = |right| format!("warning: unknown environment variable `{name}` is ignored; {right}\n");
        assert_eq!((run.code, run.stderr), (0, right.map(warning).unwrap_or_default()));
        let run = folder
            .run_with_variables(&["config", "show", "--quiet", "--config", "ours.toml"], &[(name, "1")]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    };
    check("CHUNKWRIGHT_MAX_SZIE", Some("did you mean `CHUNKWRIGHT_MAX_SIZE`?"));
    check("CHUNKWRIGHT_STOER", Some("did you mean `CHUNKWRIGHT_STORE`?"));
    check("CHUNKWRIGHT_STORE_KYE", Some("did you mean `CHUNKWRIGHT_STORE_KEY`?"));
    check("CHUNKWRIGHT_SERVERS", Some("`chunkwright config show` lists every key"));
    check("CHUNKWRIGHT_STORE_KEY", None);
    check("CHUNKWRIGHT_OURS", None);
    check("CHUNKWRIGHT_OVERLAP_SIZE", None);
}

#[test]
fn every_key_is_known_as_a_variable() {
    let folder = Folder::new(&[]);
    for row in folder.run(&["config", "show"]).lines() {
        let name = format!("CHUNKWRIGHT_{}", row["key"].as_str().unwrap().to_uppercase());
        let run = folder.run_with_variables(&["config", "show"], &[(&name, "x")]);
        assert!(!run.stderr.contains("unknown environment variable"), "{}", run.stderr);
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let names = |keys: Vec<&str>| format!("`{}`", keys.join("`, `"));
    let keys = names(KEYS.iter().map(|key| key.name).collect());
    let tables = ["presets", "meta", "embedders", "rerankers", "writers"];
    let known = names(key::all().iter().map(|key| key.name).chain(tables).collect());
    check_error(
        "max_sise = 1",
        &[],
        &format!("error: unknown key `max_sise` in `/chunkwright.toml`; known are {known}"),
    );
    let preset = format!(
        "error: unknown key `size` in the preset `a` of `/chunkwright.toml`; known are {keys}, `base`"
    );
    check_error("[presets.a]\nsize = 1", &[], &preset);
    let number = "error: `max_size` in `/chunkwright.toml` is \"big\"; it must be a whole number of at most 4294967295";
    check_error("max_size = \"big\"", &[], number);
    check_error(
        "max_size = 1\n\nmin_size = = 2\n",
        &[],
        "error: `/chunkwright.toml` is not valid TOML at line 3: extra `=`, expected nothing",
    );
    check_error(
        "",
        &[("CHUNKWRIGHT_UNIT", "bytes")],
        "error: `CHUNKWRIGHT_UNIT` is \"bytes\"; it must be `tokens` or `chars`",
    );
    let circle = "preset = \"a\"\n[presets.a]\nbase = \"b\"\n[presets.b]\nbase = \"a\"\n";
    check_error(circle, &[], "error: the preset `a` is its own base; `base` must lead to a built-in preset");
}

#[test]
fn a_shell_completes_commands_flags_and_their_values() {
    let folder = Folder::new(&[
        ("a.md", "# A\n\nWords.\n"),
        ("chunkwright.toml", "store = \"store\"\n[presets.mine]\nbase = \"docs\"\n"),
    ]);
    folder.run(&["index", "a.md", "--embedder", "none", "-c", "课程"]).success();
    // As the script of bash asks: the words, and which of them is completed.
    let complete = |words: &[&str]| -> Vec<String> {
        let index = words.len().to_string();
        let variables = [
            ("CHUNKWRIGHT_COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", index.as_str()),
            ("_CLAP_IFS", "\n"),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
        ];
        let run = folder.run_with_variables(&[&["--", "chunkwright"], words, &[]].concat(), &variables);
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout.lines().map(str::to_owned).collect()
    };
    let has = |words: &[&str], name: &str| {
        let completed = complete(words);
        assert!(completed.iter().any(|it| it == name), "{words:?} {completed:?}");
    };
    has(&["ind"], "index");
    has(&["index", "--pre"], "--preset");
    has(&["index", "--preset", ""], "adaptive");
    has(&["index", "--preset", "mi"], "mine");
    has(&["chunk", "--tokenizer", "o2"], "o200k");
    has(&["search", "words", "--collection", ""], "课程");
    has(&["chunk", "--unit", ""], "chars");
    // What cannot be read offers nothing and says nothing.
    folder.write("chunkwright.toml", b"nonsense");
    assert_eq!(complete(&["search", "words", "--collection", "x"]), [] as [String; 0]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&["completions", shell]).success();
        assert!(script.contains("CHUNKWRIGHT_COMPLETE") && script.contains("chunkwright"), "{shell}");
    }
}

#[test]
fn a_key_may_be_said_by_its_alias() {
    check(
        "preset = \"adaptive\"\nadaptive_chunk_size_medium = 400\nadaptive_chunk_max_words_short = 200\nband = [410, 614]\n",
        &[("CHUNKWRIGHT_CHUNK_STRATEGY", "simple")],
        &["--adaptive-chunk-overlap-long", "80"],
        &[
            "strategy = \"window\"; CHUNKWRIGHT_CHUNK_STRATEGY",
            "overlap_size = 80; --adaptive-chunk-overlap-long",
            "short_size = 200; /chunkwright.toml",
            "medium_max_size = 400; /chunkwright.toml",
            "band = [410,614]; /chunkwright.toml",
        ],
    );
    check(
        "[presets.mine]\nbase = \"course\"\nmax_chunk_size = 600\nmin_chunk_size = 50\nchunk_overlap = 100\n",
        &[],
        &["--preset", "mine", "--code-block-strategy", "whole"],
        &[
            "unit = \"chars\"; preset `mine`",
            "max_size = 600; preset `mine`",
            "keep_whole = [\"code\",\"table\"]; --code-block-strategy",
            "set_apart = []; --code-block-strategy",
        ],
    );
    check(
        "preset = \"stable\"\nkeep_code_blocks_intact = false\n",
        &[("CHUNKWRIGHT_MAX_CHARS", "900")],
        &["--keep-whole", "code,table"],
        &[
            "unit = \"chars\"; CHUNKWRIGHT_MAX_CHARS",
            "max_size = 900; CHUNKWRIGHT_MAX_CHARS",
            "min_size = 250; preset `stable`",
            "target_size = 900; the most that `max_chars` allows, CHUNKWRIGHT_MAX_CHARS",
            "keep_whole = [\"code\",\"table\"]; --keep-whole",
        ],
    );
}

#[test]
fn an_alias_that_contradicts_its_key_is_refused() {
    check_error(
        "max_chars = 900\nmax_size = 800\n",
        &[],
        "error: `max_chars` in `/chunkwright.toml` makes `max_size` 900, but it is 800 there; set only one",
    );
    check_error(
        "code_block_strategy = \"none\"\n",
        &[],
        "error: `code_block_strategy` in `/chunkwright.toml` is `none`; it must be one of `hybrid`, `whole`, `split`",
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new(&[]);
    assert!(folder.run(&["man"]).success().contains("chunkwright\\-search(1)"));
    let page = folder.run(&["man", "search"]).success();
    assert!(page.starts_with(".ie") && page.contains("top\\-k"), "{page}");
    assert!(folder.run(&["man", "config", "show"]).success().contains("chunkwright config show"));
    folder
        .run(&["man", "serch"])
        .fails("error: there is no command `serch`; `chunkwright --help` lists them");
}

#[test]
fn a_configuration_is_begun_with_every_key_and_over_another_only_by_force() {
    let folder = Folder::new(&[]);
    let run = folder.run(&["config", "init", "--preset", "docs", "--max-size", "400", "--include", "*.md"]);
    assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.stderr);
    let file = folder.read("chunkwright.toml");
    assert!(file.contains("\npreset = \"docs\"\n") && file.contains("\nmax_size = 400\n"), "{file}");
    assert!(file.contains("\ninclude = [\"*.md\"]\n") && file.contains("\n# hidden = false\n"), "{file}");
    let rows = folder.run(&["config", "show"]).lines();
    let origin = |key: &str| rows.iter().find(|row| row["key"] == key).unwrap()["origin"].clone();
    assert!(origin("max_size").as_str().unwrap().ends_with("chunkwright.toml"));
    assert_eq!(origin("hidden"), "built in");
    let again = folder.run(&["config", "init"]);
    let expected = "error: `chunkwright.toml` exists; name another file, or replace this one with `--force`";
    assert_eq!((again.code, again.stderr.trim_end()), (2, expected));
    assert_eq!(folder.read("chunkwright.toml"), file);
    assert!(folder.run(&["config", "init", "-"]).stdout.contains("\n# preset = \"auto\"\n"));
    // It is no input: nothing of it is in the new one.
    assert_eq!(folder.run(&["config", "init", "--force"]).code, 0);
    assert!(
        folder.read("chunkwright.toml").contains("\n# max_size = "),
        "{}",
        folder.read("chunkwright.toml")
    );
}
