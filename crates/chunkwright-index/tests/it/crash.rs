//! Crash safety: an indexing process is killed by `kill -9` at random points, again and again.
//!
//! The process is this test binary itself, started with [`CHILD`] in its environment. It indexes with one of two
//! configurations, removes old generations, or runs continuously as a watcher does, and reports each document when its
//! commit has returned. The parent edits files, kills the child, opens the store and checks that nothing acknowledged
//! is lost, nothing is there twice, every document is one whole version, and searches see one generation that has every
//! document.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chunkwright::{ChunkConfig, Chunker, Words};
use chunkwright_index::{
    Access, Glob, IndexOptions, Pipeline, Progress, Prune, STORES, Store, StoreLocation, remove_documents,
};
use chunkwright_source::NewSource;

use crate::fixture::{Bag, COLLECTION, chunker};
use crate::stride::one_in;

/// Names the folder; what is to be done stands in [`TASK`].
const CHILD: &str = "CHUNKWRIGHT_TEST_CRASH_CHILD";
const TASK: &str = "CHUNKWRIGHT_TEST_CRASH_TASK";
const FILES: u64 = 40;

/// Kills that have to strike before the end of a run: of a full sweep, of which others have a fourth.
const KILLS: usize = 200;

/// What a child does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// One run with the configuration that the collection has, or the other one: a switch.
    Index(bool),
    /// As a run, then the removal of all generations but the current one.
    Prune(bool),
    /// Runs without end.
    Watch(bool),
    /// As a run, but the files are read here and put from memory.
    Put(bool),
}

impl Task {
    fn parse(text: &str) -> Self {
        let is_other = text.ends_with("other");
        match text.split_once(' ').map(|(task, _)| task) {
            Some("prune") => Self::Prune(is_other),
            Some("watch") => Self::Watch(is_other),
            Some("put") => Self::Put(is_other),
            _ => Self::Index(is_other),
        }
    }

    fn text(self) -> String {
        let (task, is_other) = match self {
            Self::Index(is_other) => ("index", is_other),
            Self::Prune(is_other) => ("prune", is_other),
            Self::Watch(is_other) => ("watch", is_other),
            Self::Put(is_other) => ("put", is_other),
        };
        format!("{task} {}", if is_other { "other" } else { "same" })
    }
}

/// A small generator of numbers: the point is that a seed repeats a run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn open(folder: &Path, access: Access) -> Arc<dyn Store> {
    (STORES[0].open)(&StoreLocation::folder(&folder.join("store")), access).unwrap()
}

/// The child.
#[test]
fn child_of_the_crash_test() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let task = Task::parse(&std::env::var_os(TASK).unwrap().into_string().unwrap());
    let (Task::Index(is_other) | Task::Prune(is_other) | Task::Watch(is_other) | Task::Put(is_other)) = task;
    let store = open(folder, Access::Write);
    loop {
        match task {
            Task::Put(_) => put(&store, is_other, &folder.join("files")),
            _ => index(&store, is_other, &folder.join("files")),
        }
        say("done");
        if matches!(task, Task::Prune(_)) {
            prune(&*store);
            say("pruned");
        }
        if !matches!(task, Task::Watch(_)) {
            return;
        }
    }
}

/// Tells the parent.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

fn pipeline(store: Arc<dyn Store>, is_other: bool) -> Pipeline {
    let config = ChunkConfig {
        max_size: if is_other { 120 } else { 240 },
        target_size: 100,
        ..chunker().config().clone()
    };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    Pipeline::new(store, COLLECTION, chunker, "test").with_embedder(Bag::new(64))
}

/// Brings the store to what the files say, and tells of each document when it is committed.
pub(crate) fn index(store: &Arc<dyn Store>, is_other: bool, files: &Path) {
    let options = IndexOptions { prune: Prune::Force, ..IndexOptions::default() };
    let done =
        pipeline(Arc::clone(store), is_other).index(&[files.to_owned()], &options, &say_committed).unwrap();
    assert_eq!(done.withheld, None);
}

fn say_committed(progress: Progress<'_>) {
    if let Progress::Committed { doc_ids } = progress {
        for doc_id in doc_ids {
            say(&format!("committed {doc_id}"));
        }
    }
}

/// As [`index`], with documents from memory.
fn put(store: &Arc<dyn Store>, is_other: bool, files: &Path) {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let file = entry.unwrap();
        NewSource::new(file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    let sources: Vec<NewSource> = std::fs::read_dir(files).unwrap().map(read).collect();
    if let Ok(current) = store.open(COLLECTION) {
        for info in store.documents(&current).unwrap() {
            if sources.iter().all(|source| source.doc_id != info.doc_id) {
                remove_documents(&**store, &current, Some(&Glob::new(&*info.doc_id).unwrap()), false)
                    .unwrap();
            }
        }
    }
    let pipeline = pipeline(Arc::clone(store), is_other);
    let done = pipeline.put(sources, &IndexOptions::default(), &say_committed).unwrap();
    assert_eq!((done.withheld, done.failed), (None, vec![]));
}

/// Removes every generation but the one that searches see.
pub(crate) fn prune(store: &dyn Store) {
    let collection = store.collections().unwrap().remove(0);
    let visible = collection.visible().unwrap().generation.clone();
    for status in collection.generations.iter().filter(|status| status.generation != visible) {
        store.remove(&status.generation).unwrap();
    }
}

fn text_of(file: u64, revision: u64) -> String {
    let sections = 1 + (file + revision) % 9;
    (0..sections)
        .map(|n| format!("# Part {n}\n\nFile {file} in revision {revision}, part {n}.\n\n"))
        .collect()
}

/// What the files say, and what the store may hold of each document.
#[derive(Clone, Default)]
pub(crate) struct Expected {
    now: BTreeMap<String, String>,
    possible: HashMap<String, Vec<Option<String>>>,
}

impl Expected {
    /// Changes and removes some files, and makes others.
    pub(crate) fn edit(&mut self, round: u64, random: &mut Random) {
        for _ in 0..=random.below(30) {
            let file = random.below(FILES);
            let doc_id = format!("{file:02}.md");
            if random.below(5) == 0 && self.now.contains_key(&doc_id) {
                self.now.remove(&doc_id);
            } else {
                self.now.insert(doc_id.clone(), text_of(file, round * 100 + random.below(100)));
            }
            self.possible.entry(doc_id).or_insert_with(|| vec![None]);
        }
        // A run that is killed may have stored what the files say now, or not.
        for (doc_id, versions) in &mut self.possible {
            versions.push(self.now.get(doc_id).cloned());
        }
    }

    /// Makes the files what they should be.
    pub(crate) fn write_out(&self, files: &Path) {
        for entry in std::fs::read_dir(files).unwrap() {
            let file = entry.unwrap();
            if !self.now.contains_key(file.file_name().to_str().unwrap()) {
                std::fs::remove_file(file.path()).unwrap();
            }
        }
        for (doc_id, text) in &self.now {
            let file = files.join(doc_id);
            if !std::fs::read_to_string(&file).is_ok_and(|there| there == *text) {
                std::fs::write(file, text).unwrap();
            }
        }
    }

    /// The store said that it has this document as the files do.
    pub(crate) fn acknowledge(&mut self, doc_id: &str) {
        self.possible.insert(doc_id.to_owned(), vec![self.now.get(doc_id).cloned()]);
    }

    /// The store said that it has everything as the files do.
    pub(crate) fn acknowledge_all(&mut self) {
        for (doc_id, versions) in &mut self.possible {
            *versions = vec![self.now.get(doc_id).cloned()];
        }
    }

    /// Looks at the store after a kill; `is_building` where what was acknowledged may be in a generation that
    /// is not seen yet.
    pub(crate) fn check(&mut self, store: &dyn Store, round: u64, is_building: bool) {
        let problems = store.check().unwrap().problems;
        assert_eq!(problems, Vec::<String>::new(), "round {round}");
        let Ok(current) = store.open(COLLECTION) else {
            let lost = self.possible.iter().find(|(_, versions)| !versions.contains(&None));
            assert_eq!(lost, None, "round {round}: the collection is gone");
            return;
        };
        let listed = store.documents(&current).unwrap();
        for (doc_id, versions) in &mut self.possible {
            let found: Vec<_> = listed.iter().filter(|info| info.doc_id == *doc_id).collect();
            assert!(found.len() <= 1, "round {round}: {doc_id} is there {} times", found.len());
            let stored =
                found.first().map(|_| store.document(&current, doc_id).unwrap().unwrap().source.to_string());
            assert!(
                versions.contains(&stored),
                "round {round}: {doc_id} is {stored:?}, which is none of {versions:?}"
            );
            if let Some(source) = &stored {
                let records = store.records(&current, doc_id).unwrap();
                assert_eq!(records.len(), found[0].chunks as usize, "round {round}: {doc_id}");
                let contents: usize =
                    records.iter().map(|record| record.content.matches("revision").count()).sum();
                assert_eq!(contents, source.matches("revision").count(), "round {round}: {doc_id}");
                let is_of = |record: &chunkwright::Record| record.config_hash == current.spec.config_hash;
                assert!(records.iter().all(is_of), "round {round}: {doc_id} is of another generation");
            }
            if !is_building {
                *versions = vec![stored];
            }
        }
        assert!(listed.iter().all(|info| self.possible.contains_key(&info.doc_id)));
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    kill_again_and_again(20_260_101, KILLS, &[Task::Prune, Task::Watch, Task::Index, Task::Index]);
}

#[test]
fn nothing_that_was_put_from_memory_is_lost_when_the_process_is_killed() {
    kill_again_and_again(20_260_102, KILLS / 2, &[Task::Put]);
}

fn kill_again_and_again(seed: u64, least_kills: usize, tasks: &[fn(bool) -> Task]) {
    println!("seed {seed}");
    let least_kills = least_kills / one_in(4);
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let mut expected = Expected::default();
    let (mut kills, mut switches, mut round) = (0, 0, 0);
    let mut is_other = false;
    while kills < least_kills {
        round += 1;
        assert!(round < 4 * least_kills as u64, "only {kills} of {round} runs were killed before their end");
        expected.edit(round, &mut random);
        expected.write_out(&files);
        if random.below(4) == 0 {
            is_other = !is_other;
        }
        let task = tasks[random.below(tasks.len() as u64) as usize](is_other);
        let before = store_generation(folder.path());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::child_of_the_crash_test", "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, folder.path())
            .env(TASK, task.text())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut acknowledged = Vec::new();
        // Half of the kills strike while the run starts, half right after a commit or a switch.
        if random.below(2) == 0 {
            // The moment is arbitrary by design; nothing is expected of it.
            std::thread::park_timeout(Duration::from_micros(3000 + random.below(40_000)));
        } else {
            for _ in 0..=random.below(FILES + 4) {
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
        let has = |said: &str| acknowledged.iter().any(|line| line.trim() == said);
        let is_done = match task {
            Task::Index(_) | Task::Put(_) => has("done"),
            Task::Prune(_) => has("pruned"),
            Task::Watch(_) => false,
        };
        kills += usize::from(!is_done);

        // The lock of the killed process is no obstacle.
        let store = open(folder.path(), Access::Write);
        let current = store.open(COLLECTION).ok();
        let after = current.as_ref().map(|current| current.number);
        switches += usize::from(before.is_some() && after != before);
        // What was acknowledged can only be as the files are, in the generation that it was told of.
        let config = current.map(|current| current.spec.config_hash);
        let wanted = config_of(is_other);
        let is_building = config.is_some_and(|config| config != wanted);
        if !is_building {
            for line in &acknowledged {
                if let Some((_, doc_id)) = line.trim().split_once("committed ")
                    && before == after
                {
                    expected.acknowledge(doc_id);
                }
            }
            if has("done") {
                expected.acknowledge_all();
            }
        }
        expected.check(&*store, round, is_building);
    }
    println!("{kills} of {round} runs were killed before their end, over {switches} switches");
    assert!(switches > least_kills / 40, "only {switches} switches");
}

fn store_generation(folder: &Path) -> Option<i64> {
    let store = (STORES[0].open)(&StoreLocation::folder(&folder.join("store")), Access::Write).ok()?;
    Some(store.open(COLLECTION).ok()?.number)
}

/// The configuration hash of a child's pipeline.
pub(crate) fn config_of(is_other: bool) -> String {
    let memory = (STORES[1].open)(&StoreLocation::default(), Access::Write).unwrap();
    pipeline(memory, is_other).spec().config_hash
}
