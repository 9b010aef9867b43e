//! A model of a disk that loses power: the states its files may be left in.
//!
//! The rules are those of POSIX, not of one file system. The content of a file is safe once the file is synced, and a
//! name once its folder is. Of later changes anything may remain: nothing, all, a beginning, any part, and of a single
//! write any of its sectors.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::crash::Random;

/// A step of the program.
#[derive(Debug)]
pub(crate) enum Step {
    Write {
        file: usize,
        at: usize,
        bytes: Vec<u8>,
    },
    Resize {
        file: usize,
        length: usize,
    },
    Sync {
        file: usize,
    },
    /// A name for a file, in its folder.
    Name {
        path: PathBuf,
        file: usize,
    },
    Folder {
        path: PathBuf,
    },
    Unname {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    SyncFolder {
        path: PathBuf,
    },
    /// A line on standard output: by it the program promises something.
    Said(String),
}

pub(crate) fn put(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if content.len() < at + bytes.len() {
        content.resize(at + bytes.len(), 0);
    }
    content[at..at + bytes.len()].copy_from_slice(bytes);
}

/// What is sure of a disk, and what is not.
#[derive(Default)]
struct Disk<'a> {
    contents: HashMap<usize, Vec<u8>>,
    pending: HashMap<usize, Vec<&'a Step>>,
    names: BTreeMap<&'a Path, Option<usize>>,
    pending_names: Vec<&'a Step>,
}

impl<'a> Disk<'a> {
    fn of(root: &'a Path, steps: &'a [Step]) -> Self {
        let mut disk = Self::default();
        disk.names.insert(root, None);
        for step in steps {
            match step {
                Step::Write { file, .. } | Step::Resize { file, .. } => {
                    disk.pending.entry(*file).or_default().push(step);
                }
                Step::Sync { file } => {
                    for step in disk.pending.remove(file).unwrap_or_default() {
                        apply(disk.contents.entry(*file).or_default(), step);
                    }
                }
                Step::SyncFolder { path } => {
                    let pending = std::mem::take(&mut disk.pending_names);
                    let is_in = |step: &&Step| paths(step).iter().any(|inside| inside.parent() == Some(path));
                    let (sure, unsure) = pending.into_iter().partition::<Vec<_>, _>(is_in);
                    for step in sure {
                        rename(&mut disk.names, step);
                    }
                    disk.pending_names = unsure;
                }
                Step::Said(_) => {}
                _ => disk.pending_names.push(step),
            }
        }
        disk
    }
}

fn apply(content: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Write { at, bytes, .. } => put(content, *at, bytes),
        Step::Resize { length, .. } => content.resize(*length, 0),
        _ => unreachable!("the other steps are of names"),
    }
}

/// The names that a step makes or takes.
fn paths(step: &Step) -> Vec<&Path> {
    match step {
        Step::Name { path, .. } | Step::Folder { path } | Step::Unname { path } => vec![path],
        Step::Rename { from, to } => vec![from, to],
        _ => Vec::new(),
    }
}

fn rename<'a>(names: &mut BTreeMap<&'a Path, Option<usize>>, step: &'a Step) {
    match step {
        Step::Name { path, file } => drop(names.insert(path, Some(*file))),
        Step::Folder { path } => drop(names.insert(path, None)),
        Step::Unname { path } => drop(names.remove(&**path)),
        Step::Rename { from, to } => {
            if let Some(file) = names.remove(&**from) {
                names.insert(to, file);
            }
        }
        _ => unreachable!("the other steps are of contents"),
    }
}

/// How much of what is not sure is left.
#[derive(Clone, Copy, Debug)]
enum Left {
    Nothing,
    Everything,
    Beginning,
    Some,
    /// Of writes that are there, some of the sectors of so many bytes.
    Torn(usize),
}

/// What may be found below `root` by who turns the power on again after `steps`: files and what they hold.
pub(crate) fn after_cut(root: &Path, steps: &[Step], random: &mut Random) -> BTreeMap<PathBuf, Vec<u8>> {
    let disk = Disk::of(root, steps);
    let mut names = disk.names;
    let mut left = || {
        [Left::Nothing, Left::Everything, Left::Beginning, Left::Some, Left::Torn(512), Left::Torn(4096)]
            [random.below(6) as usize]
    };
    let (of_names, of_contents) = (left(), left());
    let end = random.below(disk.pending_names.len() as u64 + 1) as usize;
    let mut lost: Vec<&Path> = Vec::new();
    for (at, step) in disk.pending_names.iter().enumerate() {
        let is_there = match of_names {
            Left::Nothing => false,
            Left::Everything => true,
            Left::Beginning => at < end,
            Left::Some | Left::Torn(_) => random.below(2) == 0,
        };
        // A name changes in the order in which it was changed.
        if is_there && !paths(step).iter().any(|path| lost.contains(path)) {
            rename(&mut names, step);
        } else {
            lost.extend(paths(step));
        }
    }
    let mut found = BTreeMap::new();
    let reachable = |path: &Path| {
        path.ancestors()
            .skip(1)
            .take_while(|folder| *folder != root)
            .all(|folder| names.get(folder) == Some(&None))
    };
    for (path, file) in &names {
        let Some(file) = file.filter(|_| reachable(path)) else { continue };
        let mut content = disk.contents.get(&file).cloned().unwrap_or_default();
        let pending = disk.pending.get(&file).map(Vec::as_slice).unwrap_or_default();
        let end = random.below(pending.len() as u64 + 1) as usize;
        for (at, step) in pending.iter().enumerate() {
            match of_contents {
                Left::Everything => apply(&mut content, step),
                Left::Beginning if at < end => apply(&mut content, step),
                Left::Some if random.below(2) == 0 => apply(&mut content, step),
                Left::Torn(sector) => tear(&mut content, step, sector, random),
                Left::Nothing | Left::Beginning | Left::Some => {}
            }
        }
        found.insert((*path).to_owned(), content);
    }
    found
}

/// Does a part of a step: some of the sectors that it writes.
fn tear(content: &mut Vec<u8>, step: &Step, sector: usize, random: &mut Random) {
    let Step::Write { at, bytes, .. } = step else {
        if random.below(2) == 0 {
            apply(content, step);
        }
        return;
    };
    let mut begin = 0;
    while begin < bytes.len() {
        let end = bytes.len().min((at + begin) / sector * sector + sector - at);
        if random.below(3) > 0 {
            put(content, at + begin, &bytes[begin..end]);
        }
        begin = end;
    }
}
