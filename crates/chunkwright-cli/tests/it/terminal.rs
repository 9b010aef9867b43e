//! Journeys of new users in a terminal: the program runs in a pseudo-terminal that Python's `pty` opens.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::cli::Folder;
use crate::docs::copy;
use crate::services::serve_paced;

/// Runs its arguments in a terminal of its own: what it reads is typed there, what it writes is shown there.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// Gives the terminal a size and becomes the program.
const SIZED: &str = "stty rows 40 cols 140 && exec \"$@\"";

/// A terminal in which the program runs.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    bytes: Vec<u8>,
}

impl Terminal {
    fn open(folder: &Folder, args: &[&str]) -> Self {
        let wrapper = ["python3", "-c", TERMINAL, "sh", "-c", SIZED, "sh"];
        let mut command = folder.command_under(&wrapper, args);
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("TERM", "xterm-256color");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, screen, bytes: Vec::new() }
    }

    /// Every line that was shown, without colours and movements; a bar is a line each time it is drawn.
    fn lines(&self) -> Vec<String> {
        let shown = String::from_utf8_lossy(&self.bytes);
        let mut text = String::new();
        let mut parts = shown.split('\x1b');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
            text.push_str(&part[end..]);
        }
        text.split(['\r', '\n']).map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    /// Reads until `found` finds something in the lines.
    #[track_caller]
    fn wait_for<T>(&mut self, found: impl Fn(&[String]) -> Option<T>) -> T {
        loop {
            let lines = self.lines();
            if let Some(found) = found(&lines) {
                return found;
            }
            let mut part = [0; 4096];
            let length = self.screen.read(&mut part).unwrap();
            assert!(length > 0, "the program ended; the terminal showed {lines:#?}");
            self.bytes.extend(&part[..length]);
        }
    }

    fn press_ctrl_c(&mut self) {
        self.keys.write_all(b"\x03").unwrap();
        self.keys.flush().unwrap();
    }

    /// The exit status, and all lines.
    fn end(mut self) -> (i32, Vec<String>) {
        self.screen.read_to_end(&mut self.bytes).unwrap();
        (self.child.wait().unwrap().code().unwrap(), self.lines())
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus")
}

/// What `pyarrow` reads: the fields of each row. None where the servers' Python is not to be had.
fn read_by_pyarrow(file: &Path, fields: &[&str]) -> Option<Value> {
    let python = PathBuf::from(std::env::var_os("CHUNKWRIGHT_SERVERS")?).join("python");
    let script = "import json, sys, pyarrow.parquet as parquet\n\
                  print(json.dumps(parquet.read_table(sys.argv[1], columns=sys.argv[2:]).to_pylist()))";
    let output = Command::new(python).args(["-c", script]).arg(file).args(fields).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn markdown_of_a_mixed_repository_becomes_a_parquet_table() {
    let folder = Folder::new(&[
        ("repo/image.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0L1 1\"/></svg>"),
        ("repo/package-lock.json", "{\"lockfileVersion\": 3}\n"),
        ("repo/.gitignore", "build\n"),
        ("repo/build/out.md", "# Generated\n"),
    ]);
    copy(&examples(), &folder.path().join("repo/docs"));
    let (code, mut lines) = Terminal::open(&folder, &["chunk", "repo", "-t", "md", "-o", "x.parquet"]).end();
    // On a busy machine it takes long enough for a bar.
    lines.retain(|line| !line.contains(['█', '░']));
    assert_eq!((code, lines.len()), (0, 1), "{lines:?}");
    // Three sources, a drawing and a lock file.
    assert!(lines[0].starts_with("skipped 6 entries: "), "{lines:?}");

    let records = folder.run(&["chunk", "repo", "-t", "md", "-q"]).lines();
    let is_any_in = |folder: &str| {
        records
            .iter()
            .any(|record| record["doc_id"].as_str().unwrap().starts_with(&format!("docs/{folder}/")))
    };
    assert_eq!(["en", "zh", "ru", "code"].map(is_any_in), [true, true, true, false]);
    let file = folder.path().join("x.parquet");
    let batches = chunkwright_arrow::Reader::from_bytes(fs::read(&file).unwrap()).unwrap();
    let rows = batches.flat_map(|batch| batch.unwrap());
    let rows: Vec<Value> = rows.map(|row| serde_json::to_value(row.record).unwrap()).collect();
    assert_eq!(rows, records);

    let fields = ["chunk_id", "doc_id", "content", "start_line", "section_path", "token_count", "oversize"];
    let Some(table) = read_by_pyarrow(&file, &fields) else { return };
    let expected: Vec<Value> = records
        .iter()
        .map(|record| fields.iter().map(|&field| (field.to_owned(), record[field].clone())).collect())
        .collect();
    assert_eq!(table, json!(expected));
}

/// The number before `words` in `text`.
fn number_before(text: &str, words: &str) -> Option<usize> {
    text.split_once(words)?.0.rsplit([' ', '\u{2591}', '\u{2588}']).next()?.replace(',', "").parse().ok()
}

/// The only row of an answer, as of the collection of `folder`.
fn row(folder: &Folder, command: &str) -> Value {
    folder.run(&[command]).lines().remove(0)
}

#[test]
fn an_interrupted_run_shows_progress_says_what_is_kept_and_resumes() {
    let slow = Arc::new(AtomicBool::new(true));
    let url = serve_paced(Arc::clone(&slow));
    let folder = Folder::new(&[("ours.key", "sk-right\n")]);
    let service = format!(
        "[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{url}\"\nkey_file = \"ours.key\"\n\
         batch_texts = 1\nconcurrency = 1\n"
    );
    folder.write("services.toml", service.as_bytes());
    let total = 40;
    for number in 0..total {
        let note = format!("# Note {number}\n\nПервые слова. 第二个文档。 The words of note {number}.\n");
        folder.write(&format!("notes/{number:02}.md"), note.as_bytes());
    }
    let command = ["index", "notes", "--embedder", "ours", "--config", "services.toml", "--threads", "1"];
    let mut terminal = Terminal::open(&folder, &command);
    let files = format!(" of {total} files; ");
    let bar = terminal.wait_for(|lines| {
        let is_under_way = |line: &&String| number_before(line, &files).is_some_and(|done| done < total);
        lines.iter().find(is_under_way).cloned()
    });
    let embedded = number_before(&bar, " of ").filter(|&done| done > 0);
    assert!(embedded.is_some(), "{bar}");
    assert!(number_before(&bar, " tokens, ").unwrap() > 0 && bar.contains(" texts embedded, "), "{bar}");
    assert!(bar.contains(" texts/s, ") && bar.ends_with(" left"), "{bar}");
    terminal.press_ctrl_c();
    let (code, lines) = terminal.end();
    slow.store(false, Ordering::Relaxed);
    let said = lines.last().unwrap();
    assert_eq!(code, 130, "{said}");
    let kept = number_before(said, &format!(" of {total} files were indexed and are kept")).unwrap();
    let vectors = number_before(said, " vectors").unwrap();
    assert!(
        said.starts_with("interrupted: ") && said.ends_with("run the same command again to index the rest")
    );
    assert!((1..total).contains(&kept), "{said}");

    let status = row(&folder, "status");
    assert_eq!((&status["documents"], &status["state"]), (&kept.into(), &"building".into()));
    assert_eq!(status["pending"], 0);
    let cache = row(&folder, "cache");
    assert_eq!((&cache["model"], &cache["entries"]), (&"openai:letters@26".into(), &vectors.into()));

    let (code, lines) = Terminal::open(&folder, &command).end();
    assert_eq!(code, 0, "{lines:?}");
    let rest = total - kept;
    assert!(lines.contains(&format!("{rest} documents indexed; {kept} unchanged")), "{lines:?}");
    let status = row(&folder, "status");
    assert_eq!((&status["documents"], &status["state"]), (&total.into(), &"current".into()));
    let again = number_before(&lines.join("\n").replace('\n', " "), " texts embedded (").unwrap();
    assert_eq!(row(&folder, "cache")["entries"], vectors + again, "no text was embedded twice");
    assert_eq!(row(&folder, "check")["problems"], json!([]));
}

#[test]
fn a_watched_folder_says_each_change_in_one_line() {
    let folder = Folder::new(&[
        ("docs/a.md", "# Первая\n\nПервые слова.\n"),
        ("later/one.md", "# 第二\n\n第二个文档。\n"),
        ("later/two.md", "# 第二\n\n第二个文档，改过了。\n"),
    ]);
    let args = ["index", "docs", "--embedder", "none", "--watch", "--prune"];
    let mut terminal = Terminal::open(&folder, &args);
    terminal.wait_for(|lines| (lines.len() >= 2).then_some(()));
    let (watched, later) = (folder.path().join("docs/b.md"), folder.path().join("later"));
    let changes: [&dyn Fn(); 3] = [
        &|| fs::rename(later.join("one.md"), &watched).unwrap(),
        &|| fs::rename(later.join("two.md"), &watched).unwrap(),
        &|| fs::remove_file(&watched).unwrap(),
    ];
    for (number, change) in changes.iter().enumerate() {
        change();
        terminal.wait_for(|lines| (lines.len() >= 3 + number).then_some(()));
    }
    terminal.press_ctrl_c();
    let (code, lines) = terminal.end();
    let expected = [
        "1 document indexed",
        "chunks: 1 added",
        "`b.md`; chunks: 1 added, 1 kept",
        "`b.md`; chunks: 1 changed, 1 kept",
        "`b.md`; chunks: 1 removed, 1 kept",
    ];
    assert_eq!((code, &lines[..5]), (130, &expected.map(str::to_owned)[..]), "{lines:?}");
    let said = lines.last().unwrap();
    let sentence = "interrupted: what was indexed is kept; run the same command again to keep watching";
    assert!(
        said.ends_with(sentence) && lines[5..].iter().all(|line| line == "^C" || line.ends_with(sentence))
    );
}
