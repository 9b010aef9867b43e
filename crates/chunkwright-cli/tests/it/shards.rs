//! Shards: cut by processes side by side, resumed, and joined.

use std::fs;
use std::path::Path;

use crate::cli::{Folder, guide};

/// A folder with documents of several kinds, one of them empty, one that is no document, and some in several languages.
fn documents() -> Folder {
    let folder = Folder::new(&[("docs/empty.md", ""), ("docs/code.py", "def f():\n    return 1\n")]);
    for number in 0..12 {
        folder.write(&format!("docs/d{}/f{number}.md", number % 3), guide(number).as_bytes());
    }
    folder.write("docs/zero.dat", &[0, 159, 146, 150, 0, 0, 1]);
    for name in ["en/bread.md", "ru/велосипед.md", "zh/茶.md"] {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
        let bytes = fs::read(corpus.join(name)).unwrap_or_else(|_| guide(9).into_bytes());
        folder.write(&format!("docs/{name}"), &bytes);
    }
    folder
}

fn cut(folder: &Folder, shard: &str, more: &[&str]) -> String {
    let file = format!("{}.parquet", shard.replace('/', "-"));
    let run = folder.run(&[&["chunk", "docs", "--shard", shard, "-o", &file, "--resume"], more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stderr
}

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

const FILES: [&str; 3] = ["2-3.parquet", "3-3.parquet", "1-3.parquet"];

/// Joins the shards and compares the file with the one of a single process.
fn assert_joined(folder: &Folder, more: &[&str]) {
    let joined = folder.run(&[&["join"], &FILES[..], &["-o", "joined.parquet", "--force"]].concat());
    assert_eq!(joined.code, 0, "{}", joined.stderr);
    let whole = [&["chunk", "docs", "-o", "whole.parquet", "--force"], more].concat();
    assert_eq!(folder.run(&whole).code, 0);
    assert_eq!(bytes(folder, "joined.parquet"), bytes(folder, "whole.parquet"));
}

#[test]
fn shards_of_processes_side_by_side_are_joined_to_the_file_of_one() {
    for more in [&[][..], &["--summaries"], &["--preset", "course"], &["--max-size", "40"]] {
        let folder = documents();
        std::thread::scope(|scope| {
            for shard in ["1/3", "2/3", "3/3"] {
                let folder = &folder;
                scope.spawn(move || cut(folder, shard, more));
            }
        });
        assert_joined(&folder, more);
    }
}

#[test]
fn a_resumed_run_cuts_again_what_changed_and_nothing_else() {
    let folder = documents();
    let all = |more: &[&str]| ["1/3", "2/3", "3/3"].map(|shard| cut(&folder, shard, more));
    all(&[]);
    let before = FILES.map(|file| bytes(&folder, file));
    assert!(all(&[]).iter().all(|said| said.contains("is complete: ")));
    assert_eq!(FILES.map(|file| bytes(&folder, file)), before);

    // As many bytes as before, in one of the shards.
    folder.write("docs/code.py", b"def g():\n    return 1\n");
    let said = all(&[]);
    assert_eq!(said.iter().filter(|said| said.contains("is cut again: its documents changed")).count(), 1);
    assert_eq!(said.iter().filter(|said| said.contains("is complete")).count(), 2);
    assert_joined(&folder, &[]);

    fs::remove_file(folder.path().join("docs/empty.md")).unwrap();
    assert!(all(&[]).iter().all(|said| said.contains("is cut again: documents came or went")));
    assert_joined(&folder, &[]);
    assert!(
        all(&["--max-size", "60"]).iter().all(|said| said.contains("is cut again: its settings were others"))
    );
    assert!(all(&["--max-size", "60", "--summaries"]).iter().all(|said| said.contains("is cut again")));
    assert_joined(&folder, &["--max-size", "60", "--summaries"]);

    // A file of somebody else is not replaced.
    for text in ["not ours", ""] {
        folder.write("1-3.parquet", text.as_bytes());
        let run = folder.run(&["chunk", "docs", "--shard", "1/3", "-o", "1-3.parquet", "--resume"]);
        assert_eq!((run.code, folder.read("1-3.parquet").as_str()), (2, text), "{}", run.stderr);
    }
    fs::copy(folder.path().join("whole.parquet"), folder.path().join("1-3.parquet")).unwrap();
    let run = folder.run(&["chunk", "docs", "--shard", "1/3", "-o", "1-3.parquet", "--resume"]);
    assert!(run.code == 2 && run.stderr.contains("does not say which shard it is"), "{}", run.stderr);
    let run = folder.run(&["chunk", "docs", "--shard", "1/3", "-o", "1.jsonl", "--resume"]);
    assert!(run.code == 2 && run.stderr.contains("needs a Parquet file with all fields"), "{}", run.stderr);
}

#[test]
fn shards_that_are_not_one_whole_are_refused_and_nothing_is_written() {
    let folder = documents();
    for shard in ["1/3", "2/3", "3/3", "1/2"] {
        cut(&folder, shard, &[]);
    }
    let run = folder.run(&["chunk", "docs", "--shard", "2/3", "-o", "small.parquet", "--max-size", "60"]);
    assert_eq!(run.code, 0);
    folder.write("docs/new.md", b"# New\n");
    assert_eq!(folder.run(&["chunk", "docs", "--shard", "2/3", "-o", "new.parquet"]).code, 0);
    assert_eq!(folder.run(&["chunk", "docs", "-o", "whole.parquet"]).code, 0);
    let [one, two, three] = ["1-3.parquet", "2-3.parquet", "3-3.parquet"];
    for (shards, reason) in [
        (&[one, three][..], "not all shards are given; missing: 2/3"),
        (&[one], "missing: 2/3, 3/3"),
        (&[one, two, three, two], "`2-3.parquet` and `2-3.parquet` are both shard 2/3"),
        (
            &[one, "1-2.parquet"],
            "`1-2.parquet` and `1-3.parquet` are not shards of one whole: numbers of shards differ",
        ),
        (&[one, "small.parquet", three], "settings differ; cut both again"),
        (&[one, "new.parquet", three], "lists of documents differ"),
        (&[one, two, "whole.parquet"], "`whole.parquet` does not say which shard it is"),
        (&[one, two, "docs/code.py"], "`docs/code.py` could not be read"),
        (&[one, two, "nowhere.parquet"], "`nowhere.parquet` could not be read"),
    ] {
        let run = folder.run(&[&["join"], shards, &["-o", "joined.parquet"]].concat());
        assert_eq!(run.code, 2, "{shards:?}");
        assert!(run.stderr.contains(reason), "{shards:?}: {}", run.stderr);
        assert!(!folder.path().join("joined.parquet").exists(), "{shards:?}");
    }
    let run = folder.run(&["join", one, two, three, "-o", one, "--force"]);
    assert!(run.code == 2 && run.stderr.contains("is an input of this command"), "{}", run.stderr);
}
