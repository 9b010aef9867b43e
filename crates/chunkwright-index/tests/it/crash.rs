//! Power of `kill -9`: an indexing process is killed at random points, again and again.
//!
//! The process is this test binary itself, started with [`CHILD`] in its environment. It reports each
//! document when its commit has returned; the parent kills it, opens the store and looks: nothing that
//! was acknowledged is lost, nothing is there twice, every document is one whole version.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chunkwright_index::{Access, IndexOptions, Pipeline, Place, Progress, Prune, STORES, Store};

use crate::fixture::{Bag, COLLECTION, chunker};

const CHILD: &str = "CHUNKWRIGHT_TEST_CRASH_CHILD";
const ROUNDS: u64 = 60;
const FILES: u64 = 40;

/// A small generator of numbers: the point is that a seed repeats a run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn open(folder: &Path, access: Access) -> Arc<dyn Store> {
    (STORES[0].open)(&Place::folder(&folder.join("store")), access).unwrap()
}

/// The child: indexes the folder's files over and over, as edited by the parent between runs.
#[test]
fn child_of_the_crash_test() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let pipeline =
        Pipeline::new(open(folder, Access::Write), COLLECTION, chunker(), "test").with_embedder(Bag::new(64));
    let options = IndexOptions { prune: Prune::Force, ..IndexOptions::default() };
    let report = |progress: Progress<'_>| {
        if let Progress::Committed { doc_ids } = progress {
            let mut out = std::io::stdout().lock();
            for doc_id in doc_ids {
                writeln!(out, "committed {doc_id}").unwrap();
            }
            out.flush().unwrap();
        }
    };
    pipeline.index(&[folder.join("files")], &options, &report).unwrap();
    println!("done");
}

fn text_of(file: u64, revision: u64) -> String {
    let sections = 1 + (file + revision) % 9;
    (0..sections)
        .map(|n| format!("# Part {n}\n\nFile {file} in revision {revision}, part {n}.\n\n"))
        .collect()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let seed = 20_260_101;
    println!("seed {seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    // What the files say.
    let mut now: BTreeMap<String, String> = BTreeMap::new();
    // What the store may hold of each document.
    let mut possible: HashMap<String, Vec<Option<String>>> = HashMap::new();
    let mut kills = 0;
    for round in 0..ROUNDS {
        for _ in 0..=random.below(30) {
            let file = random.below(FILES);
            let doc_id = format!("{file:02}.md");
            let before = now.get(&doc_id).cloned();
            if random.below(5) == 0 && before.is_some() {
                std::fs::remove_file(files.join(&doc_id)).unwrap();
                now.remove(&doc_id);
            } else {
                let text = text_of(file, round * 100 + random.below(100));
                std::fs::write(files.join(&doc_id), &text).unwrap();
                now.insert(doc_id.clone(), text);
            }
            possible.entry(doc_id).or_insert_with(|| vec![None]);
        }
        // A run that is killed may have stored what the files say now, or not.
        for (doc_id, versions) in &mut possible {
            versions.push(now.get(doc_id).cloned());
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::child_of_the_crash_test", "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut acknowledged = Vec::new();
        // Half of the kills strike while the run starts, half right after a commit.
        if random.below(2) == 0 {
            // The moment is arbitrary by design; nothing is expected of it.
            std::thread::park_timeout(Duration::from_micros(3000 + random.below(40_000)));
        } else {
            let lines = 1 + random.below(12);
            for _ in 0..lines {
                let mut line = String::new();
                if out.read_line(&mut line).unwrap() == 0 {
                    break;
                }
                acknowledged.push(line);
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        acknowledged.extend(rest.lines().map(str::to_owned));
        kills += usize::from(!acknowledged.iter().any(|line| line.trim() == "done"));

        // What was acknowledged can only be as the files are.
        for line in &acknowledged {
            if let Some((_, doc_id)) = line.trim().split_once("committed ") {
                possible.insert(doc_id.to_owned(), vec![now.get(doc_id).cloned()]);
            }
        }
        // The lock of the killed process is no obstacle.
        let store = open(folder.path(), Access::Write);
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "round {round}");
        let listed = store.open(COLLECTION).map(|now| store.documents(&now).unwrap()).unwrap_or_default();
        for (doc_id, versions) in &mut possible {
            let found: Vec<_> = listed.iter().filter(|info| info.doc_id == *doc_id).collect();
            assert!(found.len() <= 1, "round {round}: {doc_id} is there {} times", found.len());
            let stored = found
                .first()
                .map(|_| store.document(&store.open(COLLECTION).unwrap(), doc_id).unwrap().unwrap().source);
            assert!(
                versions.contains(&stored),
                "round {round}: {doc_id} is {stored:?}, which is none of {versions:?}"
            );
            if let Some(source) = &stored {
                let records = store.records(&store.open(COLLECTION).unwrap(), doc_id).unwrap();
                assert_eq!(records.len(), found[0].chunks as usize, "round {round}: {doc_id}");
                let contents: usize =
                    records.iter().map(|record| record.content.matches("revision").count()).sum();
                assert_eq!(contents, source.matches("revision").count(), "round {round}: {doc_id}");
            }
            *versions = vec![stored];
        }
        assert!(listed.iter().all(|info| possible.contains_key(&info.doc_id)));
    }
    println!("{kills} of {ROUNDS} rounds were killed before their end");
    assert!(kills > 0, "no run was killed before its end");
}
