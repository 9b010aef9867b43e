//! Every call on the store's files: the last one of its process, or one that fails.
//!
//! A run of the program is repeated, and each time another of its calls is the one. After it the store is looked
//! at as a reader would: it is sound, each document is wholly as it was before or as it should become, and the
//! same command completes what was begun. A run that said it was done has done it; one that failed says why in
//! one sentence.
//!
//! By default one in a few calls is struck, of each name that a program calls at least one; `CHUNKWRIGHT_SWEEP=full`
//! strikes all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use chunkwright_index::{Access, DocumentStore, GenerationStore, SqliteStore, Store, StoreError};

use crate::cli::{Folder, guide};
use crate::services;
use crate::strace;
use crate::stride::one_in;
use crate::traced::{self, Traced};

const COLLECTION: &str = "default";

/// A store, a command, and what the command makes of the store.
struct Scenario {
    name: &'static str,
    folder: Folder,
    store: PathBuf,
    /// The store before the command.
    before: PathBuf,
    command: Vec<String>,
    old: Documents,
    new: Documents,
}

/// An edit of the files, and the arguments of a run after it.
type Step<'a> = (&'a dyn Fn(&Folder), &'a [&'a str]);

/// What searches see: of each document its text, and its chunks with their vectors.
type Documents = BTreeMap<String, (String, Vec<String>)>;

impl Scenario {
    /// `steps` make the store as it is before the last of them, which is the command; each may edit files
    /// first.
    fn new(name: &'static str, steps: &[Step<'_>]) -> Self {
        let table = format!(
            "[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{}\"\nkey_file = \"ours.key\"\nretries = 0\n",
            services::serve()
        );
        let folder = Folder::new(&[("services.toml", &table), ("ours.key", "sk-right\n")]);
        let (store, before) = (folder.path().join("store"), folder.path().join("before"));
        let mut scenario = Self {
            name,
            folder,
            store,
            before,
            command: Vec::new(),
            old: Documents::new(),
            new: Documents::new(),
        };
        for (at, (edit, arguments)) in steps.iter().enumerate() {
            edit(&scenario.folder);
            scenario.command = arguments.iter().map(|&argument| argument.to_owned()).collect();
            let store = scenario.store.to_str().unwrap().to_owned();
            scenario.command.extend(["--store".into(), store, "--config".into(), "services.toml".into()]);
            if at + 1 < steps.len() {
                assert!(scenario.program().stderr(Stdio::null()).status().unwrap().success());
            }
        }
        copy(&scenario.store, &scenario.before);
        scenario.old = scenario.see().unwrap_or_default();
        scenario
    }

    fn program(&self) -> Command {
        let arguments: Vec<&str> = self.command.iter().map(String::as_str).collect();
        let mut command = self.folder.command(&arguments);
        command.stdout(Stdio::null());
        command
    }

    fn reset(&self) {
        fs::remove_dir_all(&self.store).unwrap_or_default();
        copy(&self.before, &self.store);
    }

    /// What a reader sees; the store is sound.
    fn see(&self) -> Result<Documents, StoreError> {
        let store = SqliteStore::open(&self.store, Access::Read)?;
        assert_eq!(store.check()?.problems, Vec::<String>::new(), "{}", self.name);
        let Ok(current) = store.open(COLLECTION) else { return Ok(Documents::new()) };
        let mut documents = Documents::new();
        for info in store.documents(&current)? {
            let source = store.document(&current, &info.doc_id)?.unwrap().source.to_string();
            let records = store.records(&current, &info.doc_id)?;
            assert_eq!(records.len(), info.chunks as usize, "{}", self.name);
            let chunks = records.into_iter().map(|record| format!("{} {}", record.config_hash, record.text));
            documents.insert(info.doc_id, (source, chunks.collect()));
        }
        Ok(documents)
    }

    /// The calls of a run without a blow, and with it what the store should become.
    fn calls(&mut self) -> BTreeMap<String, usize> {
        self.reset();
        let calls = self.traced(&self.program()).calls();
        self.new = self.see().unwrap();
        calls
    }

    fn traced<'a>(&'a self, command: &'a Command) -> Traced<'a> {
        Traced { command, store: &self.store }
    }

    /// Strikes once, and looks; whether the blow struck, and what was seen.
    fn strike(&self, blow: &str) -> Option<Seen> {
        let name = self.name;
        self.reset();
        let struck = self.traced(&self.program()).strike(blow);
        let said = String::from_utf8_lossy(&struck.output.stderr).into_owned();
        let seen = match self.see() {
            Ok(seen) => seen,
            // A store that was only being made.
            Err(StoreError::Missing { .. }) if self.old.is_empty() => Documents::new(),
            Err(error) => panic!("{name} {blow}: {error}"),
        };
        for doc_id in self.old.keys().chain(self.new.keys()).chain(seen.keys()) {
            let is = |documents: &Documents| documents.get(doc_id) == seen.get(doc_id);
            assert!(is(&self.old) || is(&self.new), "{name} {blow}: {doc_id} is {:?}", seen.get(doc_id));
        }
        // One generation is seen.
        let configurations =
            seen.values().flat_map(|(_, chunks)| chunks).filter_map(|chunk| chunk.split(' ').next());
        let configurations: std::collections::BTreeSet<&str> = configurations.collect();
        assert!(configurations.len() <= 1, "{name} {blow}: {configurations:?}");
        match struck.output.status.code() {
            Some(0) => assert_eq!(seen, self.new, "{name} {blow}: it said it was done"),
            Some(code) => {
                let sentences: Vec<&str> = said.lines().collect();
                // SQLite takes a log that it cannot look at for one that is not there: what it then reads is older than
                // what is stored, and each document is left as it is.
                let is_left = code == 3 && sentences.iter().all(|said| said.starts_with("failed `"));
                let is_told = code == 2 && sentences.len() == 1 && sentences[0].starts_with("error: ");
                assert!(is_told || is_left, "{name} {blow}: {code} {said}");
            }
            None => assert!(blow.contains("KILL"), "{name} {blow}: {:?}", struck.output.status),
        }
        // What is there already is no obstacle. (`prune` answers 1 where nothing is left to do.)
        let again = self.program().stderr(Stdio::piped()).output().unwrap();
        assert!(matches!(again.status.code(), Some(0 | 1)), "{name} {blow}: {again:?}");
        assert_eq!(self.see().unwrap(), self.new, "{name} {blow}: run again");
        if !struck.is_struck {
            return None;
        }
        Some(if seen == self.old {
            Seen::Old
        } else if seen == self.new {
            Seen::New
        } else {
            Seen::Between
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Seen {
    Old,
    /// Some documents were as before, others as they should become.
    Between,
    New,
}

fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    fs::create_dir_all(to).unwrap();
    for entry in entries {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Kills before one in `coarse` of the calls that change something.
fn kill(mut scenario: Scenario, coarse: usize) {
    let mut seen = BTreeMap::new();
    for (call, count) in scenario.calls() {
        if traced::is_read(&call) {
            continue;
        }
        for at in (1..=count).step_by(one_in(coarse)) {
            let blow = format!("{call}:signal=KILL:when={at}");
            let found =
                scenario.strike(&blow).unwrap_or_else(|| panic!("{} {blow} did not strike", scenario.name));
            *seen.entry(found).or_insert(0) += 1;
        }
    }
    println!("{} kills: {seen:?}", scenario.name);
    assert!(seen.contains_key(&Seen::Old));
}

/// Errors that a call may answer with.
fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "write" | "pwrite64" | "fallocate" => &["ENOSPC", "EIO", "EINTR"],
        "read" | "pread64" | "ftruncate" => &["EIO", "EINTR"],
        "fsync" | "fdatasync" => &["EIO", "ENOSPC"],
        "openat" => &["EMFILE", "EACCES", "ENOSPC"],
        "mkdir" => &["ENOSPC"],
        "fcntl" | "flock" => &["ENOLCK"],
        "mmap" => &["ENOMEM"],
        // The standard library takes that for a bug and ends the program.
        "close" => &[],
        _ => &["EIO"],
    }
}

/// Lets one in `coarse` calls fail: that call alone, and every one of its name from then on. Every call and every error of
/// it has its turn in one of the scenarios at least.
fn fail(mut scenarios: Vec<Scenario>, coarse: usize) {
    // Of each kind of failure, in which scenarios it may strike and at which calls.
    let mut kinds: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
    for (scenario, made) in scenarios.iter_mut().enumerate() {
        for (call, count) in made.calls() {
            for error in errors(&call) {
                for until in ["", "+"] {
                    // It would be asked again without end.
                    if (*error, until) != ("EINTR", "+") {
                        let kind = (call.clone(), *error, until);
                        kinds.entry(kind).or_default().extend((1..=count).map(|at| (scenario, at)));
                    }
                }
            }
        }
    }
    let mut blows: Vec<Vec<String>> = vec![Vec::new(); scenarios.len()];
    for (nth, ((call, error, until), places)) in kinds.iter().enumerate() {
        // Not the same place of each.
        let first = 7 * nth % one_in(coarse).min(places.len());
        for (scenario, at) in places.iter().skip(first).step_by(one_in(coarse)) {
            blows[*scenario].push(format!("{call}:error={error}:when={at}{until}"));
        }
    }
    let strike = |scenario: &Scenario, blow: &String| {
        // An error may keep later calls from being made, but not this one.
        scenario.strike(blow).unwrap_or_else(|| panic!("{} {blow} did not strike", scenario.name))
    };
    // Beside each other: most of the time, the program waits for what it is refused.
    thread::scope(|scope| {
        for (scenario, blows) in scenarios.iter().zip(&blows) {
            scope.spawn(move || {
                let mut seen = BTreeMap::new();
                for blow in blows {
                    *seen.entry(strike(scenario, blow)).or_insert(0) += 1;
                }
                println!("{}: {} errors, {seen:?}", scenario.name, blows.len());
            });
        }
    });
}

const INDEX: &[&str] = &["index", "docs", "--embedder", "ours"];

/// Five documents.
fn write(folder: &Folder) {
    for n in 0..5 {
        folder.write(
            &format!("docs/{n}.md"),
            format!("# Title {n}\n\nSome words of document {n}.\n").as_bytes(),
        );
    }
}

/// One is longer now, one is new.
fn edit(folder: &Folder) {
    folder.write("docs/1.md", guide(2).as_bytes());
    folder.write("docs/9.md", b"# New\n\nWords of a document that was not there.\n");
}

fn nothing(_: &Folder) {}

fn creation() -> Scenario {
    Scenario::new("creation", &[(&write, INDEX)])
}

fn replacement() -> Scenario {
    Scenario::new("replacement", &[(&write, INDEX), (&edit, INDEX)])
}

fn removal() -> Scenario {
    let remove = |folder: &Folder| fs::remove_file(folder.path().join("docs/3.md")).unwrap();
    let prune = [INDEX, &["--prune"]].concat();
    Scenario::new("removal", &[(&write, INDEX), (&remove, &prune)])
}

fn switch() -> Scenario {
    Scenario::new("switch", &[(&write, INDEX), (&edit, &[INDEX, &["--max-size", "100"]].concat())])
}

fn prune() -> Scenario {
    let switch = [INDEX, &["--max-size", "100"]].concat();
    Scenario::new("prune", &[(&write, INDEX), (&edit, &switch), (&nothing, &["prune"])])
}

#[test]
fn a_kill_at_any_call_of_a_replacement_leaves_old_or_new() {
    if strace::is_there() {
        kill(replacement(), 4);
    }
}

#[test]
fn a_kill_at_a_call_of_any_command_leaves_old_or_new() {
    if strace::is_there() {
        kill(creation(), 13);
        kill(removal(), 13);
        kill(switch(), 13);
        kill(prune(), 13);
    }
}

#[test]
fn an_error_of_any_call_is_told_in_one_sentence_and_damages_nothing() {
    if strace::is_there() {
        fail(vec![creation(), replacement(), removal(), switch(), prune()], 151);
    }
}
