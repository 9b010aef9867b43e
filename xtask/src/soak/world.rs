//! A folder of documents, a store, and the model of both.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use super::corpus::Corpus;
use super::must;
use super::program::{Answer, Kill, Program};
use super::random::Random;
use super::state::{Change, State};

/// Files by their path in the folder of documents.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Ways of cutting, with sizes so small that documents have many chunks.
const WAYS: &[&[&str]] = &[
    &["--preset", "auto", "--max-size", "96"],
    &["--preset", "code", "--max-size", "96"],
    &["--preset", "auto", "--max-size", "160"],
    &["--preset", "stable", "--max-size", "500"],
    &["--preset", "docs"],
    &["--preset", "course", "--max-size", "400"],
    &["--preset", "adaptive"],
    &["--preset", "recursive"],
];

/// Number of initial files of a world.
const FILES: usize = 10;

/// A folder of documents, a store, and the model of both.
#[derive(Debug)]
pub(crate) struct World<'c> {
    pub(crate) corpus: &'c Corpus,
    pub(crate) program: Program,
    /// The files that are indexed.
    pub(crate) files: Files,
    /// Every file that was written, in order; removed files have no bytes.
    pub(crate) written: Vec<(String, Option<Vec<u8>>)>,
    /// Number of generations kept after a switch.
    pub(crate) keep: usize,
    /// The current way of cutting.
    pub(crate) way: &'static [&'static str],
    /// The state of the store when it was last read.
    pub(crate) state: State,
    /// The known hashes of configurations, by way of cutting.
    ways: BTreeMap<&'static [&'static str], String>,
    /// The commands that were run, for messages.
    pub(crate) log: RefCell<Vec<String>>,
    /// Runs that were killed.
    pub(crate) killed: Cell<usize>,
}

impl<'c> World<'c> {
    /// A world in an empty folder; `store` is the location of its store: a folder in it, or an address.
    pub(crate) fn new(
        corpus: &'c Corpus,
        path: &Path,
        folder: &Path,
        store: &str,
        random: &mut Random,
    ) -> Result<Self> {
        fs::create_dir_all(folder.join(DOCUMENTS))?;
        fs::create_dir_all(folder.join("data"))?;
        let has_vectors = random.chance(30) && link_models(&folder.join("data/models"));
        let is_remote = store.contains("://");
        // Servers have no snapshots: reading what a switch removes fails.
        let keep = random.pick(&[2, 2, 2, if is_remote { 2 } else { 1 }, 3]).copied().unwrap_or(2);
        let settings = vec![
            ("CHUNKWRIGHT_KEEP_GENERATIONS", keep.to_string()),
            ("CHUNKWRIGHT_STORE", store.to_owned()),
            ("CHUNKWRIGHT_DATA", "data".to_owned()),
            ("CHUNKWRIGHT_EMBEDDER", if has_vectors { STATIC } else { "none" }.to_owned()),
        ];
        let program = Program {
            path: path.to_owned(),
            folder: folder.to_owned(),
            settings,
            is_traced: crate::test::can_trace(),
            is_remote,
            runs: Cell::new(0),
        };
        let mut world = Self {
            corpus,
            program,
            files: Files::new(),
            written: Vec::new(),
            keep,
            way: WAYS[0],
            state: State::default(),
            ways: BTreeMap::new(),
            log: RefCell::default(),
            killed: Cell::new(0),
        };
        world.way = world.other_way(random);
        for _ in 0..FILES {
            let (name, text) = corpus.file(random);
            world.write(&name, text.as_bytes())?;
        }
        Ok(world)
    }

    /// A random way of cutting.
    pub(crate) fn other_way(&self, random: &mut Random) -> &'static [&'static str] {
        random.pick(WAYS).copied().unwrap_or(self.way)
    }

    /// Where a file of the folder is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.program.folder.join(DOCUMENTS).join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name);
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(&path, bytes)?;
        self.files.insert(name.to_owned(), bytes.to_vec());
        self.written.push((name.to_owned(), Some(bytes.to_vec())));
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, name: &str) -> Result<()> {
        fs::remove_file(self.path(name))?;
        self.remove_empty(name);
        self.files.remove(name);
        self.written.push((name.to_owned(), None));
        Ok(())
    }

    /// Removes empty folders around a removed file: an empty folder looks as if it were not mounted.
    fn remove_empty(&self, name: &str) {
        let mut name = name;
        while let Some((folder, _)) = name.rsplit_once('/')
            && fs::remove_dir(self.path(folder)).is_ok()
        {
            name = folder;
        }
    }

    /// Renames a folder to a name that no folder has.
    pub(crate) fn rename_folder(&mut self, from: &str, to: &str) -> Result<()> {
        fs::rename(self.path(from), self.path(to))?;
        self.remove_empty(from);
        let names: Vec<String> = self.files.keys().cloned().collect();
        for name in names {
            let Some(rest) = name.strip_prefix(from).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let bytes = self.files.remove(&name);
            self.written.extend([(name.clone(), None), (format!("{to}/{rest}"), bytes.clone())]);
            self.files.extend(bytes.map(|bytes| (format!("{to}/{rest}"), bytes)));
        }
        Ok(())
    }

    /// Backdates a file, so that its modification time is trusted.
    pub(crate) fn age(&self, name: &str, random: &mut Random) -> Result<()> {
        let age = Duration::from_secs(10 + random.within(0..100_000) as u64);
        let file = fs::File::options().write(true).open(self.path(name))?;
        Ok(file.set_modified(SystemTime::now() - age)?)
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Answer> {
        self.run_killed(arguments, &Kill::Never)
    }

    /// Runs the program, and kills it.
    pub(crate) fn run_killed(&self, arguments: &[&str], kill: &Kill) -> Result<Answer> {
        let answer = self.program.run_killed(arguments, kill)?;
        self.note(&answer);
        Ok(answer)
    }

    /// Remembers what was run.
    pub(crate) fn note(&self, answer: &Answer) {
        let code = answer.code.map_or_else(|| "killed".to_owned(), |code| format!("exit status {code}"));
        self.log.borrow_mut().push(format!("{}: {code}", answer.command));
        self.killed.set(self.killed.get() + usize::from(answer.is_killed()));
    }

    /// Remembers what was done to files.
    pub(crate) fn say(&self, what: String) {
        self.log.borrow_mut().push(what);
    }

    /// Reads the store and compares it with its possible contents: each document one of `documents`, the changes by
    /// hand one list of `changes`.
    pub(crate) fn settle(&mut self, expected: &Expected) -> Result<()> {
        let seen = State::look(&self.program)?;
        let before = std::mem::take(&mut self.state);
        let is_allowed = expected.states.iter().any(|state| state.allows(&seen));
        must("a state that may be", is_allowed, || {
            let states: Vec<String> = expected.states.iter().map(|state| state.contradicted(&seen)).collect();
            format!("{}; before there were {} documents", states.join("; or "), before.documents.len())
        })?;
        self.state = seen;
        Ok(())
    }

    /// The hash of the current way's configuration, if it is known.
    pub(crate) fn way_hash(&self, way: &'static [&'static str]) -> Option<&String> {
        self.ways.get(way)
    }

    /// Stores the hash of a way's configuration.
    pub(crate) fn learn(&mut self, way: &'static [&'static str]) {
        self.ways.insert(way, self.state.way.clone());
    }
}

/// The model that some worlds embed with, if it is installed.
const STATIC: &str = "static";

/// Links the user's models into a world; returns whether the required one is among them.
fn link_models(link: &Path) -> bool {
    let data = env::var_os("CHUNKWRIGHT_DATA").map(PathBuf::from).or_else(|| {
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/share"));
        Some(env::var_os("XDG_DATA_HOME").map(PathBuf::from).or_else(home)?.join("chunkwright"))
    });
    let Some(models) = data.map(|data| data.join("models")) else { return false };
    #[cfg(unix)]
    return models.join(STATIC).is_dir() && std::os::unix::fs::symlink(models, link).is_ok();
    #[cfg(not(unix))]
    return false;
}

/// The folder of documents in a world's folder.
pub(crate) const DOCUMENTS: &str = "docs";

/// The possible contents of a store after a run.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// One of these.
    pub(crate) states: Vec<May>,
}

/// Possible contents of a store.
#[derive(Clone, Debug)]
pub(crate) struct May {
    /// The configuration; `None` allows any.
    pub(crate) way: Option<String>,
    /// Each document has one of these files, or does not exist.
    pub(crate) documents: BTreeMap<String, Vec<Option<Vec<u8>>>>,
    /// The changes are one of these lists.
    pub(crate) changes: Vec<Vec<Change>>,
}

impl May {
    /// Exactly the contents of a state.
    pub(crate) fn be(state: &State) -> Self {
        Self {
            way: Some(state.way.clone()),
            documents: one(&state.documents),
            changes: vec![state.changes()],
        }
    }

    fn allows(&self, seen: &State) -> bool {
        self.way.as_ref().is_none_or(|way| *way == seen.way)
            && self.wrong_documents(seen).is_empty()
            && self.changes.contains(&seen.changes())
    }

    fn wrong_documents(&self, seen: &State) -> Vec<String> {
        let is_right = |doc_id: &String| {
            let file = seen.documents.get(doc_id);
            self.documents
                .get(doc_id)
                .map_or(file.is_none(), |may| may.iter().any(|may| may.as_ref() == file))
        };
        let all = seen.documents.keys().chain(self.documents.keys());
        let mut wrong: Vec<String> = all.filter(|doc_id| !is_right(doc_id)).cloned().collect();
        wrong.dedup();
        wrong
    }

    /// What contradicts it.
    fn contradicted(&self, seen: &State) -> String {
        let mut said = Vec::new();
        if let Some(way) = self.way.as_ref().filter(|way| **way != seen.way) {
            said.push(format!("configuration {}, not {way}", seen.way));
        }
        let wrong = self.wrong_documents(seen);
        if !wrong.is_empty() {
            said.push(format!("wrong documents {wrong:?}"));
        }
        if !self.changes.contains(&seen.changes()) {
            said.push(format!("changes {:?}, not {:?}", seen.changes(), self.changes));
        }
        said.join(", ")
    }
}

/// Each document has this file and no other.
pub(crate) fn one(documents: &Files) -> BTreeMap<String, Vec<Option<Vec<u8>>>> {
    documents.iter().map(|(doc_id, bytes)| (doc_id.clone(), vec![Some(bytes.clone())])).collect()
}

/// Each document is as in one or as in the other.
pub(crate) fn either(one: &Files, other: &Files) -> BTreeMap<String, Vec<Option<Vec<u8>>>> {
    let all = one.keys().chain(other.keys());
    let both = |doc_id: &String| vec![one.get(doc_id).cloned(), other.get(doc_id).cloned()];
    all.map(|doc_id| (doc_id.clone(), both(doc_id))).collect()
}
