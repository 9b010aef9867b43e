//! The kinds of operations on a world. An operation is a kind and a number that determines everything else, such as
//! which file is edited; so any list of operations can be run, whatever was removed from it.

mod changes;
mod files;
mod indexing;
mod reading;
mod together;
mod transfer;
mod watching;

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, Result, bail};

use super::random::Random;
use super::world::World;

/// A kind of operation.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Relative frequency.
    weight: usize,
    /// Whether only stores in folders support it.
    is_local: bool,
    run: fn(&mut World<'_>, &mut Random) -> Result<()>,
}

const fn kind(name: &'static str, weight: usize, run: fn(&mut World<'_>, &mut Random) -> Result<()>) -> Kind {
    Kind { name, weight, is_local: false, run }
}

const fn local(
    name: &'static str,
    weight: usize,
    run: fn(&mut World<'_>, &mut Random) -> Result<()>,
) -> Kind {
    Kind { name, weight, is_local: true, run }
}

/// All kinds.
pub(crate) const KINDS: &[Kind] = &[
    kind("edit", 14, files::edit),
    kind("edit-changed", 6, files::edit_changed),
    kind("add", 3, files::add),
    kind("remove", 2, files::remove),
    kind("move", 2, files::rename),
    kind("move-folder", 2, files::rename_folder),
    kind("touch", 2, files::touch),
    kind("index", 14, indexing::index),
    kind("switch", 5, indexing::switch),
    kind("prune-gone", 4, indexing::prune_gone),
    kind("watch", 3, watching::watch),
    kind("index-again", 3, indexing::again),
    kind("dry-run", 1, indexing::dry_run),
    kind("disable", 5, changes::disable),
    kind("enable", 3, changes::enable),
    kind("amend", 8, changes::amend),
    kind("delete", 2, changes::delete),
    kind("delete-all", 1, changes::delete_all),
    kind("rename", 2, changes::rename),
    kind("prune", 3, changes::prune),
    kind("search", 4, reading::search),
    kind("fetch", 3, reading::fetch),
    local("backup", 2, transfer::backup),
    kind("export", 2, transfer::export),
    local("two-writers", 2, together::writers),
    kind("readers", 2, together::readers),
];

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) kind: &'static Kind,
    number: u32,
}

impl Operation {
    /// A random operation.
    pub(crate) fn any(is_remote: bool, random: &mut Random) -> Self {
        let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| !(is_remote && kind.is_local)).collect();
        let mut at = random.within(0..kinds.iter().map(|kind| kind.weight).sum());
        let mut kinds = kinds.into_iter();
        let kind = kinds.find(|kind| {
            let is_here = at < kind.weight;
            at = at.wrapping_sub(kind.weight);
            is_here
        });
        Self { kind: kind.unwrap_or(&KINDS[0]), number: random.next() as u32 }
    }

    /// Performs the operation.
    pub(crate) fn run(self, world: &mut World<'_>) -> Result<()> {
        (self.kind.run)(world, &mut Random::new(u64::from(self.number)))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:x}", self.kind.name, self.number)
    }
}

impl FromStr for Operation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = text.split_once(':').and_then(|(name, number)| {
            let kind = KINDS.iter().find(|kind| kind.name == name)?;
            Some(Self { kind, number: u32::from_str_radix(number, 16).ok()? })
        });
        let Some(operation) = found else {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            bail!("unknown operation `{text}`: expected `KIND:NUMBER`; kinds are {}", names.join(", "));
        };
        Ok(operation)
    }
}
