//! What collections were called before, in a file beside the store.
//!
//! The file serves what knows collections by name and outlives a renaming: the log of queries, which is not rewritten, and
//! watches, which follow. It also says that a rename began, so that what is kept in files beside the store moves too where
//! the process ended in between.

use serde::{Deserialize, Serialize};

use crate::core::engine::Engine;
use crate::core::state_file;
use crate::error::Error;

/// File name of the list.
const FILE: &str = "renamed.json";

/// Number of renames that are kept, the last ones.
const KEPT: usize = 1_000;

/// A collection that was given another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rename {
    pub(crate) from: String,
    pub(crate) to: String,
    /// When, in nanoseconds since 1970.
    nanos: i64,
    /// The same, ISO 8601.
    at: String,
    /// It began, and its files beside the store may have the old name.
    pending: bool,
}

/// Notes that a rename begins.
pub(crate) fn begin(engine: &Engine, from: &str, to: &str) -> Result<(), Error> {
    let (from, to) = (from.to_owned(), to.to_owned());
    let new = Rename { from, to, nanos: engine.now_nanos(), at: engine.now(), pending: true };
    state_file::change(engine, FILE, |all: &mut Vec<Rename>| {
        all.push(new);
        let over = all.len().saturating_sub(KEPT);
        all.drain(..over);
        Ok(())
    })
}

/// Notes how pending renames ended: those that `is_done` are kept.
pub(crate) fn end(engine: &Engine, is_done: impl Fn(&Rename) -> bool) -> Result<(), Error> {
    state_file::change(engine, FILE, |all: &mut Vec<Rename>| {
        all.retain(|rename| !rename.pending || is_done(rename));
        for rename in all {
            rename.pending = false;
        }
        Ok(())
    })
}

/// The renames whose files beside the store may have the old name.
pub(crate) fn pending(engine: &Engine) -> Vec<Rename> {
    let mut all: Vec<Rename> = state_file::read(engine, FILE);
    all.retain(|rename| rename.pending);
    all
}

/// A name of a collection, and when it had it: from one rename to the next, ISO 8601 in whole seconds.
pub(crate) struct NameThen {
    pub(crate) name: String,
    since: Option<String>,
    until: Option<String>,
}

impl NameThen {
    /// Returns whether the collection may have had the name at a time: in the second of a rename it had both.
    pub(crate) fn may_be_at(&self, at: &str) -> bool {
        self.since.as_deref().is_none_or(|since| since <= at)
            && self.until.as_deref().is_none_or(|until| at <= until)
    }
}

/// The names that the collection called `now` has had, the last first.
pub(crate) fn names(engine: &Engine, now: &str) -> Vec<NameThen> {
    let all: Vec<Rename> = state_file::read(engine, FILE);
    let mut name = NameThen { name: now.to_owned(), since: None, until: None };
    let mut names = Vec::new();
    for rename in all.into_iter().rev().filter(|rename| !rename.pending) {
        if rename.to == name.name {
            let before = NameThen { name: rename.from, since: None, until: Some(rename.at.clone()) };
            names.push(NameThen { since: Some(rename.at), ..std::mem::replace(&mut name, before) });
        }
    }
    names.push(name);
    names
}

impl Engine {
    /// What the collection that had this name when this engine was opened is called now.
    pub(crate) fn name_now(&self, name: &str) -> String {
        let mut now = name.to_owned();
        let all: Vec<Rename> = state_file::read(self, FILE);
        for rename in all.iter().filter(|rename| !rename.pending && rename.nanos > self.opened_at()) {
            if rename.from == now {
                now.clone_from(&rename.to);
            }
        }
        now
    }
}
