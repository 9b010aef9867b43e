//! `models list|install|remove`, with a fake `python3` in place of pip's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::{Folder, Run};
use crate::faults::signal;

/// A folder whose `python3` is this script of the shell, and the search path that has it.
fn with_python(script: &str) -> (Folder, String) {
    let folder = Folder::new(&[("bin/python3", &format!("#!/bin/sh\n{script}\n"))]);
    let path = folder.path().join("bin/python3");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:/usr/bin:/bin", folder.path().join("bin").display());
    (folder, search)
}

fn run(folder: &Folder, search: &str, args: &[&str]) -> Run {
    let args = [args, &["--data", "data", "--quiet"]].concat();
    folder.run_with_variables(&args, &[("PATH", search)])
}

/// What is left in the folder of models.
fn left(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join("data/models")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn models_are_listed_with_size_and_state() {
    let folder = Folder::new(&[]);
    let models = folder.run(&["models", "list", "--data", "data"]).lines();
    assert_eq!(models.len(), 4);
    let e5 = &models[0];
    assert_eq!(
        (&e5["name"], &e5["state"], &e5["bytes"]),
        (&"e5".into(), &"missing".into(), &71_622_400.into())
    );
    assert_eq!(e5["uses"], serde_json::json!(["embedder", "reranker"]));
    fs::create_dir_all(folder.path().join("data/models/e5")).unwrap();
    fs::write(folder.path().join("data/models/e5/e5-small-q4.bin"), "cut").unwrap();
    let text = folder.run(&["models", "list", "--data", "data", "--format", "text"]).success();
    let [_, e5, _, wordllama, _] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(e5.contains("damaged") && e5.contains("does not have the size"), "{e5}");
    assert!(wordllama.contains("not installed") && wordllama.contains("19 MB"), "{wordllama}");
}

#[test]
fn an_unknown_model_is_refused_before_anything_is_downloaded() {
    let (folder, search) = with_python("touch asked");
    for command in ["install", "remove"] {
        run(&folder, &search, &["models", command, "static", "gpt5"])
            .fails("error: unknown model `gpt5`; known are `e5`, `minilm`, `static`, `onnxruntime`");
    }
    assert!(!folder.path().join("asked").exists() && left(&folder).is_empty());
}

#[test]
fn what_keeps_a_model_from_being_installed_is_one_sentence_and_leaves_nothing() {
    let check = |script: &str, expected: &str| {
        let (folder, search) = with_python(script);
        let run = run(&folder, &search, &["models", "install", "static"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(expected) && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert_eq!(left(&folder), [".lock"]);
    };
    check(
        "echo \"WARNING: Retrying after connection broken by 'NewConnectionError()'\" >&2; \
         echo 'ERROR: No matching distribution found for wordllama' >&2; exit 1",
        "pip cannot reach the package registry",
    );
    check(
        "echo 'ERROR: [Errno 28] No space left on device' >&2; exit 1",
        "is full; free 54 MB and run it again",
    );
    check("echo 'No module named pip' >&2; exit 1", "with pip: No module named pip");
    check("exit 0", "pip reported success but left no wheel");
    // A wheel that holds something else.
    let wheel = "case \"$2\" in pip) while [ \"$1\" != --dest ]; do shift; done; : > \"$2/w.whl\";; \
                 *) mkdir \"$5\";; esac";
    check(wheel, "it has no file `wordllama/weights/l2_supercat_256.safetensors`");
}

#[test]
fn a_model_that_needs_another_is_installed_after_it_and_is_of_no_use_without_it() {
    let (folder, search) = with_python("exit 0");
    let run = run(&folder, &search, &["models", "install", "minilm"]);
    assert!(run.code == 2 && run.stderr.contains("`wordllama`"), "{}", run.stderr);
    let minilm = chunkwright_models::data::model("minilm").unwrap();
    for file in minilm.files {
        folder.write(&format!("data/models/minilm/{}", file.name), b"");
        let path = folder.path().join("data/models/minilm").join(file.name);
        fs::File::options().write(true).open(path).unwrap().set_len(file.size).unwrap();
    }
    assert!(!minilm.is_installed(&folder.path().join("data")));
}

#[test]
fn without_python_the_program_that_is_missing_is_named() {
    let folder = Folder::new(&[]);
    let run = run(&folder, "", &["models", "install"]);
    assert!(
        run.code == 2 && run.stderr.contains("cannot run `python3`, which downloads the models"),
        "{run:?}"
    );
}

#[test]
fn an_interrupted_installation_leaves_nothing_and_ends_pip() {
    // A script that tells its process, and then waits: reading the pipe waits for it.
    let (folder, search) = with_python("echo $$ > pip; exec sleep 600");
    let pipe = folder.path().join("pip");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = folder.command(&["models", "install", "static", "--data", "data"]);
    command.env("PATH", &search).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pip = fs::read_to_string(&pipe).unwrap();
    signal(child.id(), "TERM");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(143), "{said}");
    assert!(said.contains("run the same command again to install the rest"), "{said}");
    assert_eq!(left(&folder), [".lock"]);
    assert!(!Path::new("/proc").join(pip.trim()).exists(), "pip goes on");
}

#[test]
fn what_a_killed_installation_left_is_removed_by_the_next() {
    let (folder, search) = with_python("exit 1");
    folder.write("data/models/.installing-abc/unpacked/x", b"half");
    assert_eq!(run(&folder, &search, &["models", "install", "static"]).code, 2);
    assert_eq!(left(&folder), [".lock"]);
}

#[test]
fn removing_says_whether_anything_was_there() {
    let folder = Folder::new(&[("data/models/static/tokenizer.json", "{}")]);
    let removed = |run: Run| (run.code, run.stdout.contains("\"action\":\"removed\""));
    assert_eq!(removed(folder.run(&["models", "remove", "static", "e5", "--data", "data"])), (0, true));
    assert_eq!(removed(folder.run(&["models", "remove", "static", "--data", "data"])), (1, false));
    assert_eq!(left(&folder), [".lock"]);
}
