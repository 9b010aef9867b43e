//! Loss of power at any moment.
//!
//! A child, this test binary again, indexes, switches, prunes, copies and restores, and reports when each is done.
//! `strace` records what it wrote and synced meanwhile. The power is cut at many points of that record: each time a
//! state that the disk may then have is recreated ([`after_cut`]) and the store is opened. It must be consistent, have
//! everything that was acknowledged, and have no document in two versions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use chunkwright_index::atomic_file::Existing;
use chunkwright_index::{Access, Damaged, STORES, SqliteStore, Store, StoreLocation};

use crate::crash::{Expected, Random, config_of, index, prune, say};
use crate::disk::{Step, after_cut};
use crate::fixture::COLLECTION;
use crate::recorder::Recorder;
use crate::strace;

/// Names the folder; what is to be done stands in [`TASK`].
const CHILD: &str = "CHUNKWRIGHT_TEST_POWER_CHILD";
const TASK: &str = "CHUNKWRIGHT_TEST_POWER_TASK";

/// How many cuts are tried, if it is set.
const CUTS: &str = "CHUNKWRIGHT_CUTS";

const SEED: u64 = 20_260_102;

/// What a child does in one process.
#[derive(Clone, Copy)]
enum Task {
    /// Rounds of edits and runs with one of two configurations.
    Index { is_other: bool, first: u64, last: u64 },
    /// Removes old generations.
    Prune,
    /// Copies the store into a file.
    Backup,
    /// Makes another store of that.
    Restore,
}

/// The story. The second run is long enough that the log is moved into the database while it goes on.
const STORY: [Task; 7] = [
    Task::Index { is_other: false, first: 1, last: 3 },
    Task::Index { is_other: false, first: 4, last: 60 },
    Task::Index { is_other: true, first: 61, last: 62 },
    Task::Prune,
    Task::Backup,
    Task::Restore,
    Task::Index { is_other: false, first: 63, last: 65 },
];

/// Where things are in the folder of the test.
struct Places {
    files: PathBuf,
    /// The disk.
    root: PathBuf,
}

impl Places {
    fn of(folder: &Path) -> Self {
        Self { files: folder.join("files"), root: folder.join("disk") }
    }

    /// In a folder that has to be made, in one that has to be made too.
    fn store(&self) -> PathBuf {
        self.root.join("data/store")
    }

    fn restored(&self) -> PathBuf {
        self.root.join("restored")
    }

    fn copy(&self) -> PathBuf {
        self.root.join("copy.db")
    }
}

fn open(path: &Path) -> Arc<dyn Store> {
    (STORES[0].open)(&StoreLocation::folder(path), Access::Write).unwrap()
}

fn edit(expected: &mut Expected, round: u64) {
    expected.edit(round, &mut Random(SEED ^ round));
}

#[test]
fn child_of_the_power_test() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let places = Places::of(Path::new(&folder));
    let at: usize = std::env::var_os(TASK).unwrap().into_string().unwrap().parse().unwrap();
    match STORY[at] {
        Task::Index { is_other, first, last } => {
            let mut expected = Expected::default();
            (1..first).for_each(|round| edit(&mut expected, round));
            let store = open(&places.store());
            for round in first..=last {
                edit(&mut expected, round);
                expected.write_out(&places.files);
                say(&format!("round {round} {is_other}"));
                index(&store, is_other, &places.files);
                say("done");
            }
        }
        Task::Prune => prune(&*open(&places.store())),
        Task::Backup => {
            SqliteStore::open(&places.store(), Access::Read)
                .unwrap()
                .backup(&places.copy(), Existing::Kept)
                .unwrap();
            say("copied");
        }
        Task::Restore => {
            SqliteStore::restore(&places.copy(), &places.restored(), Damaged::Refused).unwrap();
            say("restored");
        }
    }
}

fn child(folder: &Path, task: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["power::child_of_the_power_test", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, folder).env(TASK, task.to_string());
    command
}

/// What was said until a moment, and so what has to be there.
#[derive(Default)]
struct Promised {
    expected: Expected,
    round: u64,
    is_other: bool,
    /// Whether a run makes another generation than the one before did.
    is_building: bool,
    /// What was true when it was copied.
    copied: Option<Expected>,
    restored: bool,
}

impl Promised {
    fn by(steps: &[Step]) -> Self {
        let mut promised = Self::default();
        for step in steps {
            let Step::Said(line) = step else { continue };
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["round", round, is_other] => {
                    promised.round = round.parse().unwrap();
                    let is_other = is_other == "true";
                    promised.is_building |= is_other != promised.is_other;
                    promised.is_other = is_other;
                    edit(&mut promised.expected, promised.round);
                }
                // In a generation that searches do not see yet it promises nothing of what they see.
                ["committed", doc_id] if !promised.is_building => promised.expected.acknowledge(doc_id),
                ["done"] => {
                    promised.expected.acknowledge_all();
                    promised.is_building = false;
                }
                ["copied"] => promised.copied = Some(promised.expected.clone()),
                ["restored"] => promised.restored = true,
                _ => {}
            }
        }
        promised
    }
}

/// Writes what was left into `root`, in place of what is there.
fn write_out(found: &BTreeMap<PathBuf, Vec<u8>>, from: &Path, root: &Path) {
    std::fs::remove_dir_all(root).unwrap_or_default();
    std::fs::create_dir_all(root).unwrap();
    for (path, content) in found {
        // What is shared by processes that run is of no use after a start.
        if path.to_string_lossy().ends_with("-shm") {
            continue;
        }
        let path = root.join(path.strip_prefix(from).unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_fails() {
    if !strace::is_there() {
        return;
    }
    let cuts = std::env::var_os(CUTS).map_or(30, |cuts| cuts.to_str().unwrap().parse().unwrap());
    println!("seed {SEED}, {cuts} cuts");
    let folder = tempfile::tempdir().unwrap();
    let places = Places::of(folder.path());
    for folder in [&places.files, &places.root] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let mut recorder = Recorder::new(&places.root);
    let adopted = recorder.steps.len();
    for task in 0..STORY.len() {
        recorder.run(&child(folder.path(), task));
    }
    let steps = &recorder.steps;
    let said: Vec<usize> = (adopted..steps.len()).filter(|&at| matches!(steps[at], Step::Said(_))).collect();
    println!("{} steps, {} of them promises", steps.len() - adopted, said.len());
    let after = tempfile::tempdir().unwrap();
    // The documents are in the same folder: it belongs to their identity.
    let later = Places { files: places.files.clone(), ..Places::of(after.path()) };
    let mut random = Random(SEED);
    for cut in 0..cuts {
        // Half of the cuts come right after a promise, before anything else can make it true.
        let at = match cut % 2 {
            0 => said[random.below(said.len() as u64) as usize] + 1,
            _ => adopted + random.below((steps.len() - adopted) as u64) as usize,
        };
        let found = after_cut(&places.root, &steps[..at], &mut random);
        write_out(&found, &places.root, &later.root);
        let mut promised = Promised::by(&steps[..at]);
        let place = format!("cut {cut} after step {at}");
        println!("{place}, round {}", promised.round);
        let store = open(&later.store());
        // In which generation a document is that was committed while another was made, only the end tells.
        let is_seen = |current: &chunkwright_index::Generation| {
            current.spec.config_hash == config_of(promised.is_other)
        };
        let is_building = store.open(COLLECTION).is_ok_and(|current| !is_seen(&current));
        promised.expected.check(&*store, promised.round, is_building);
        // What was begun is completed.
        promised.expected.write_out(&later.files);
        index(&store, promised.is_other, &later.files);
        promised.expected.acknowledge_all();
        promised.expected.check(&*store, promised.round, false);
        if promised.copied.is_some() || later.copy().exists() {
            let restored = tempfile::tempdir().unwrap();
            SqliteStore::restore(&later.copy(), restored.path(), Damaged::Refused).unwrap();
            let store = open(restored.path());
            assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{place}");
            if let Some(copied) = &mut promised.copied {
                copied.check(&*store, promised.round, false);
                if promised.restored {
                    copied.check(&*open(&later.restored()), promised.round, false);
                }
            }
        }
    }
}
