//! Assigns files to the folders of a collection, and gives them ids.
//!
//! A collection may hold several folders. Each document records its folder (`root`) and the part of its id before its
//! path (`prefix`), so this knowledge travels with the documents: to another generation, into an export, onto a server.
//!
//! * A known file keeps its id, however its path is given: its folder, a folder inside or around that, the file alone.
//! * A new file belongs to the innermost known folder that contains it; if there is none, to the given path, which
//!   becomes a folder of the collection.
//! * No document replaces one of another folder. A new folder with such a document is rejected before anything is
//!   written; in a known folder only that file fails.
//! * A missing folder whose files are in the given path was moved: its documents move with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chunkwright_source::Skipped;
use chunkwright_source::format::file_hash;
use chunkwright_source::walk::{Root, SourceFile, Walk, doc_id, folder_of, read_file, unescape};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::IndexOptions;
use crate::prefix::Prefix;
use crate::report::{Away, Failure, Moved, WhyAway};
use chunkwright_store::{DocumentInfo, Generation, Store, StoreError};

/// Options that name the folders of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderOptions {
    /// Prefix of the ids of the given paths. It is stored, so that later runs need not repeat it.
    pub prefix: Option<Prefix>,
    /// A folder around the given paths that ids are relative to, instead of each path. It is stored, like a prefix.
    pub root: Option<PathBuf>,
    /// Earlier location of the given path: it takes over the documents of that folder.
    pub moved_from: Option<PathBuf>,
}

/// Errors of paths that cannot be folders of a collection. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A new folder has documents whose ids another folder's documents have.
    #[error(
        "`{folder}` has {} with the same id as one of {}: {}; index it with `--prefix NAME` (ids become `NAME/{}`) or `--root FOLDER` (ids are relative to that folder){}",
        count(.doc_ids.len()), whose(.other), listed(.doc_ids), .doc_ids[0], if_moved(.other)
    )]
    Taken {
        /// The new folder.
        folder: String,
        /// The folder of the other documents; empty for documents outside folders.
        other: String,
        /// The ids, in order; never empty.
        doc_ids: Vec<String>,
    },
    /// The ids of a folder's documents would change.
    #[error(
        "{} of `{folder}` {} indexed already {}; index without `--prefix` and `--root` to keep their ids, or remove them first with `chunkwright delete --folder {known}`",
        count(*.documents), if *.documents == 1 { "is" } else { "are" }, with_prefix(.prefix)
    )]
    Prefixed {
        /// The path given.
        folder: String,
        /// The folder that its documents are of.
        known: String,
        /// The prefix of their ids; empty for none.
        prefix: String,
        /// Number of the documents.
        documents: usize,
    },
    /// A path outside the folder that ids are relative to.
    #[error("`{path}` is not inside `{root}`; `--root` must be a folder that contains every given path")]
    Outside {
        /// The path.
        path: String,
        /// The folder.
        root: String,
    },
    /// The folder that ids are relative to cannot be read.
    #[error("`{root}` cannot be read: {reason}; `--root` must be a folder that contains every given path")]
    Root {
        /// The folder.
        root: String,
        /// The error of the system.
        reason: String,
    },
    /// A folder that the collection does not have, or several paths for one.
    #[error("the collection has no folder `{folder}`; known are {known}")]
    Unknown {
        /// The folder.
        folder: String,
        /// The existing folders.
        known: String,
    },
}

fn count(documents: usize) -> String {
    if documents == 1 { "1 document".into() } else { format!("{documents} documents") }
}

fn whose(folder: &str) -> String {
    if folder.is_empty() { "the documents that are of no folder".into() } else { format!("`{folder}`") }
}

fn if_moved(folder: &str) -> String {
    if folder.is_empty() {
        return String::new();
    }
    format!(", or with `--moved-from {folder}` if it is that folder in a new place")
}

fn with_prefix(prefix: &str) -> String {
    if prefix.is_empty() { "without a prefix".into() } else { format!("with the prefix `{prefix}`") }
}

/// The first few of a list, and the number of the rest.
fn listed(doc_ids: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = doc_ids.iter().take(SHOWN).map(|doc_id| format!("`{doc_id}`")).collect();
    match doc_ids.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A folder of a collection, or a file that was given alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Folder {
    /// Where it is, absolute; empty for documents that no file was read for.
    pub root: String,
    /// What stands before the ids of its documents; empty for nothing.
    pub prefix: String,
    /// Number of its documents.
    pub documents: usize,
}

/// The folders of the documents of a generation, in order. Files that were given alone are one entry per folder that
/// they are in.
///
/// # Errors
///
/// A removed generation, a failing store.
pub fn folders(store: &dyn Store, generation: &Generation) -> Result<Vec<Folder>, StoreError> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for info in store.documents(generation)? {
        let key = if info.prefix == info.doc_id && !info.prefix.is_empty() {
            (parent(&info.root).to_owned(), parent(&info.prefix).to_owned())
        } else {
            (info.root, info.prefix)
        };
        *counts.entry(key).or_default() += 1;
    }
    let folder = |((root, prefix), documents)| Folder { root, prefix, documents };
    Ok(counts.into_iter().map(folder).collect())
}

/// The files of a run with their ids, and the locations of known documents.
#[derive(Debug, Default)]
pub(super) struct Placed {
    pub(super) files: Vec<SourceFile>,
    pub(super) roots: Vec<Root>,
    /// Files whose ids belong to documents of other folders.
    pub(super) clashes: Vec<Failure>,
    /// Files that are left out because of their kind, and whose ids other documents have.
    pub(super) left_out: Vec<Skipped>,
    /// Folders that were moved.
    pub(super) moved: Vec<Moved>,
    /// Locations of files.
    found: HashSet<String>,
    /// Locations of entries that could not be read.
    unreadable: HashSet<String>,
    /// Folders that look unmounted, with the number of their documents.
    unmounted: BTreeMap<String, usize>,
}

impl Placed {
    /// The location of a document's file, now or earlier; `None` for a document without a file.
    pub(super) fn location(&self, info: &DocumentInfo) -> Option<String> {
        location(&self.root(info), info)
    }

    /// The present location of a document's folder.
    fn root(&self, info: &DocumentInfo) -> String {
        let moved = self
            .moved
            .iter()
            .find_map(|moved| below(&info.root, &moved.from).map(|rest| join(&moved.to, rest)));
        moved.unwrap_or_else(|| info.root.clone())
    }

    /// The document with its folder's new location, if the folder was moved; `None` otherwise.
    pub(super) fn moved(&self, info: &DocumentInfo) -> Option<DocumentInfo> {
        let root = self.root(info);
        (root != info.root).then(|| DocumentInfo { root, ..info.clone() })
    }

    /// The index of the scanned path that a document is of, if that path was scanned completely.
    pub(super) fn scope(&self, info: &DocumentInfo) -> Option<usize> {
        let location = self.location(info)?;
        let is_of = |root: &Root| {
            root.only.is_none() && below(&location, &root.folder).is_some_and(|path| root.holds(path))
        };
        self.roots.iter().position(is_of)
    }

    /// Returns whether the file of a document exists or may exist.
    pub(super) fn may_exist(&self, info: &DocumentInfo) -> bool {
        let Some(location) = self.location(info) else { return true };
        let is_away = |entry: &str| self.unreadable.contains(entry) || self.unmounted.contains_key(entry);
        self.found.contains(&location) || upward(&location).any(is_away)
    }

    /// Returns whether the file of a document is there, whatever this run found.
    pub(super) fn exists(&self, info: &DocumentInfo) -> bool {
        self.location(info).is_some_and(|location| !is_gone(&location))
    }

    /// A report of a path that does not exist, so that its documents stay.
    pub(super) fn missing(&self, path: &Path, visible: &[&DocumentInfo]) -> Away {
        let folder = absolute(&folder_of(path));
        let is_of = |info: &&&DocumentInfo| {
            self.location(info).is_some_and(|location| below(&location, &folder).is_some())
        };
        let documents = visible.iter().filter(is_of).count();
        Away { folder, documents, why: WhyAway::Missing }
    }

    /// Reports of the folders that look unmounted.
    pub(super) fn empty(&self) -> impl Iterator<Item = Away> {
        let away = |(folder, documents): (&String, &usize)| Away {
            folder: folder.clone(),
            documents: *documents,
            why: WhyAway::Empty,
        };
        self.unmounted.iter().map(away)
    }

    /// Finds the empty folders in which files were known and from which nothing was removed.
    fn find_unmounted(&mut self, visible: &[&DocumentInfo]) {
        let mut seen: HashMap<String, Option<String>> = HashMap::new();
        let mut empty: BTreeMap<String, (usize, &str)> = BTreeMap::new();
        for info in visible.iter().filter(|info| self.scope(info).is_some() && !self.may_exist(info)) {
            let location = self.location(info).unwrap_or_default();
            let folder = seen.entry(parent(&location).to_owned());
            let folder = folder.or_insert_with_key(|folder| empty_folder(folder).map(str::to_owned));
            if let Some(folder) = folder {
                let (documents, indexed) = empty.entry(folder.clone()).or_default();
                *documents += 1;
                *indexed = (*indexed).max(&info.indexed_at);
            }
        }
        let untouched = empty.into_iter().filter(|(folder, (_, indexed))| is_untouched(folder, indexed));
        self.unmounted = untouched.map(|(folder, (documents, _))| (folder, documents)).collect();
    }
}

/// A path and the folders around it, inside first.
fn upward(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(parent(path)).filter(|parent| !parent.is_empty()))
}

/// The innermost existing folder at or above `folder`, if it is empty.
fn empty_folder(folder: &str) -> Option<&str> {
    let there = upward(folder).find(|folder| !is_gone(folder))?;
    fs::read_dir(unescape(there)).is_ok_and(|mut entries| entries.next().is_none()).then_some(there)
}

/// Returns whether nothing was removed from an empty folder since something in it was indexed. An unmounted mount point
/// usually never had entries, so it was last changed when it was created; or it had some long ago.
fn is_untouched(folder: &str, indexed: &str) -> bool {
    let Ok(metadata) = fs::metadata(unescape(folder)) else { return true };
    let Ok(modified) = metadata.modified() else { return true };
    metadata.created().is_ok_and(|created| modified <= created)
        || indexed.parse().is_ok_and(|indexed: Timestamp| modified < SystemTime::from(indexed))
}

/// Gives the files of a walk their ids. `visible` are the documents that searches see; `has_text` returns whether an
/// imported document has the text of a file.
pub(super) fn place(
    walk: Walk,
    skipped: &[Skipped],
    visible: &[&DocumentInfo],
    has_text: &dyn Fn(&DocumentInfo, &SourceFile) -> bool,
    options: &IndexOptions,
) -> Result<Placed, FolderError> {
    let unreadable = skipped.iter().filter(|skipped| skipped.reason.is_temporary());
    let entry = |root: &Root, path: &str| join(&root.folder, path);
    let unreadable: HashSet<String> = unreadable
        .flat_map(|skipped| walk.roots.iter().map(move |root| entry(root, &skipped.path)))
        .collect();
    let found = walk.files.iter().map(|file| doc_id(&file.path)).collect();
    let mut placed = Placed { roots: walk.roots, found, unreadable, ..Placed::default() };
    placed.moved = moved(&placed.roots, &walk.files, visible, options)?;
    placed.find_unmounted(visible);
    let mut known: HashMap<String, Vec<Claim>> = HashMap::new();
    let mut claims: HashMap<String, String> = HashMap::new();
    let mut owners: HashMap<&str, &DocumentInfo> = HashMap::new();
    for info in visible {
        let root = placed.root(info);
        if let Some(location) = location(&root, info) {
            let claim =
                Claim { doc_id: info.doc_id.clone(), root: root.clone(), prefix: info.prefix.clone() };
            known.entry(location).or_default().push(claim);
        }
        claims.entry(root).or_insert_with(|| info.prefix.clone());
        // Documents of another program are not ours; beginning a generation rejects such a collection.
        if !info.file_hash.is_empty() {
            owners.insert(&info.doc_id, info);
        }
    }
    claims.remove("");
    let new = claim_roots(&placed, visible, &mut claims, &options.folders)?;
    let mut taken: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for file in walk.files {
        let location = doc_id(&file.path);
        if let Some(known) = known.get(&location) {
            let file = |claim: &Claim| SourceFile {
                doc_id: claim.doc_id.clone(),
                root: claim.root.clone(),
                prefix: claim.prefix.clone(),
                ..file.clone()
            };
            placed.files.extend(known.iter().map(file));
            continue;
        }
        let (root, prefix) = innermost(&claims, &location).unwrap_or_default();
        let doc_id = join(&prefix, below(&location, &root).unwrap_or(&location));
        match owners.get(doc_id.as_str()) {
            None => placed.files.push(SourceFile { doc_id, root, prefix, ..file }),
            // A file that is not read does not take an id.
            Some(_) if let Some(reason) = file.left_out => {
                placed.left_out.push(Skipped { path: doc_id, reason });
            }
            Some(other) if is_imported(other) && has_text(other, &file) => {
                placed.files.push(SourceFile { doc_id, root, prefix, ..file });
            }
            Some(other) if new.contains(&root) => {
                taken.entry((root, placed.root(other))).or_default().push(doc_id);
            }
            Some(other) => {
                let message = format!(
                    "a document of {} has its id; rename one of the two files, or remove one of the folders with `chunkwright delete --folder FOLDER` and index it again with `--prefix NAME`",
                    whose(&placed.root(other))
                );
                placed.clashes.push(Failure { doc_id, message });
            }
        }
    }
    if let Some(((folder, other), mut doc_ids)) = taken.into_iter().max_by_key(|(_, doc_ids)| doc_ids.len()) {
        doc_ids.sort_unstable();
        return Err(FolderError::Taken { folder, other, doc_ids });
    }
    placed.files.sort_by(|a, b| (&a.doc_id, &a.path).cmp(&(&b.doc_id, &b.path)));
    Ok(placed)
}

/// Returns whether a document was imported from its records alone, so that it may be of any file.
fn is_imported(info: &DocumentInfo) -> bool {
    info.root.is_empty() && info.format.is_empty()
}

/// The id, folder and prefix that a document gives its file.
struct Claim {
    doc_id: String,
    root: String,
    prefix: String,
}

/// Makes the given paths folders of the collection if no known folder contains them; returns the new ones.
fn claim_roots(
    placed: &Placed,
    visible: &[&DocumentInfo],
    claims: &mut HashMap<String, String>,
    options: &FolderOptions,
) -> Result<HashSet<String>, FolderError> {
    let mut new = HashSet::new();
    for root in &placed.roots {
        let path = join(&root.folder, root.only.as_deref().unwrap_or_default());
        let name = root.only.as_deref().unwrap_or_default();
        let given = match (&options.root, &options.prefix) {
            (None, None) => None,
            (None, Some(prefix)) => Some(join(prefix.as_str(), name)),
            (Some(root), prefix) => {
                let prefix = prefix.as_ref().map_or("", Prefix::as_str);
                Some(join(prefix, &relative(&path, root)?))
            }
        };
        let Some(prefix) = given else {
            if innermost(claims, &path).is_none() {
                claims.insert(path.clone(), name.to_owned());
                new.insert(path);
            }
            continue;
        };
        // Documents of folders inside the path keep their ids.
        let is_renamed = |info: &&&DocumentInfo| {
            let location = placed.location(info).unwrap_or_default();
            let id = below(&location, &path).map(|rest| join(&prefix, rest));
            id.is_some_and(|id| id != info.doc_id) && below(&path, &placed.root(info)).is_some()
        };
        let mut renamed = visible.iter().filter(is_renamed);
        if let Some(first) = renamed.next() {
            return Err(FolderError::Prefixed {
                folder: path.clone(),
                known: placed.root(first),
                prefix: first.prefix.clone(),
                documents: 1 + renamed.count(),
            });
        }
        // An outer folder that gives the same ids keeps the path.
        let outer = innermost(claims, &path);
        let is_known = outer.is_some_and(|(root, known)| {
            below(&path, &root).is_some_and(|rest| join(&known, rest) == prefix)
        });
        if !is_known && claims.insert(path.clone(), prefix).is_none() {
            new.insert(path);
        }
    }
    Ok(new)
}

/// The path of `path` below the folder `root`.
fn relative(path: &str, root: &Path) -> Result<String, FolderError> {
    let real = root
        .canonicalize()
        .map_err(|error| FolderError::Root { root: doc_id(root), reason: error.to_string() })?;
    let root = doc_id(&real);
    let rest = below(path, &root).map(str::to_owned);
    rest.ok_or_else(|| FolderError::Outside { path: path.to_owned(), root })
}

/// Files that are compared to decide whether a folder was moved.
const SAMPLE: usize = 16;

/// Finds the folders that were moved to the given paths.
fn moved(
    roots: &[Root],
    files: &[SourceFile],
    visible: &[&DocumentInfo],
    options: &IndexOptions,
) -> Result<Vec<Moved>, FolderError> {
    let mut by_root: BTreeMap<&str, Vec<&DocumentInfo>> = BTreeMap::new();
    for info in visible.iter().filter(|info| !info.root.is_empty()) {
        by_root.entry(&info.root).or_default().push(info);
    }
    let given: Vec<String> =
        roots.iter().map(|root| join(&root.folder, root.only.as_deref().unwrap_or_default())).collect();
    if let Some(from) = &options.folders.moved_from {
        let from = absolute(from);
        let documents = visible.iter().filter(|info| below(&info.root, &from).is_some()).count();
        let [to] = given.as_slice() else { return Err(unknown(from, &by_root)) };
        return match documents {
            // A run after the one that moved the folder.
            0 if by_root.contains_key(to.as_str()) => Ok(Vec::new()),
            0 => Err(unknown(from, &by_root)),
            _ if from == *to => Ok(Vec::new()),
            documents => Ok(vec![Moved { from, to: to.clone(), documents }]),
        };
    }
    let mut moved = Vec::new();
    let is_known =
        |path: &str| by_root.keys().any(|root| below(path, root).is_some() || below(root, path).is_some());
    let gone: Vec<&str> = by_root.keys().copied().filter(|root| is_gone(root)).collect();
    if gone.is_empty() {
        return Ok(moved);
    }
    let found: HashMap<String, &SourceFile> = files.iter().map(|file| (doc_id(&file.path), file)).collect();
    for to in given.into_iter().filter(|path| !is_known(path)) {
        let candidates = gone.iter().filter(|from| !moved.iter().any(|moved: &Moved| moved.from == **from));
        let shared = candidates.map(|from| {
            let pair = |info: &&DocumentInfo| {
                let location = location(&to, info)?;
                let file = found.get(&location).filter(|file| file.bytes == info.bytes)?;
                Some((*file, info.file_hash.clone()))
            };
            (*from, by_root[from].iter().filter_map(pair).collect::<Vec<_>>())
        });
        let best = shared.max_by_key(|(_, pairs)| pairs.len());
        let Some((from, pairs)) = best.filter(|(from, pairs)| pairs.len() * 2 >= by_root[from].len()) else {
            continue;
        };
        let sample: Vec<_> = pairs.iter().step_by(pairs.len() / SAMPLE + 1).collect();
        let is_same = |(file, hash): &&&(&SourceFile, String)| {
            read_file(file, &options.walk).is_ok_and(|(bytes, _)| file_hash(&bytes) == *hash)
        };
        let same = sample.iter().filter(is_same).count();
        if same > 0 && same * 2 >= sample.len() {
            moved.push(Moved { from: from.to_owned(), to, documents: by_root[from].len() });
        }
    }
    Ok(moved)
}

fn unknown(folder: String, by_root: &BTreeMap<&str, Vec<&DocumentInfo>>) -> FolderError {
    let known: Vec<String> = by_root.keys().take(8).map(|root| format!("`{root}`")).collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    FolderError::Unknown { folder, known }
}

/// The absolute form of a path by which documents name their folder. It need not exist.
pub(super) fn absolute(path: &Path) -> String {
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path));
    doc_id(absolute.as_deref().unwrap_or(path))
}

fn is_gone(location: &str) -> bool {
    is_missing(&unescape(location))
}

/// Returns whether nothing is at a path; `false` where that cannot be told.
pub(crate) fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// The innermost known folder that contains the file at `location`, and its prefix.
fn innermost(claims: &HashMap<String, String>, location: &str) -> Option<(String, String)> {
    let mut at = location;
    loop {
        if let Some(prefix) = claims.get(at) {
            return Some((at.to_owned(), prefix.clone()));
        }
        if at.len() <= 1 {
            return None;
        }
        at = match parent(at) {
            "" => "/",
            parent => parent,
        };
    }
}

/// The location of a document's file when it was read; `None` for a document without a file.
pub fn file_of(info: &DocumentInfo) -> Option<PathBuf> {
    location(&info.root, info).map(|location| unescape(&location))
}

/// The location of a document's file in the folder at `root`.
fn location(root: &str, info: &DocumentInfo) -> Option<String> {
    let rest = below(&info.doc_id, &info.prefix).unwrap_or(&info.doc_id);
    (!root.is_empty()).then(|| join(root, rest))
}

/// The part of a path below a folder, empty for the folder itself; `None` for a path elsewhere. The empty folder
/// contains everything.
pub(super) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches('/');
    let rest = path.strip_prefix(folder)?;
    if folder.is_empty() || rest.is_empty() {
        Some(rest.trim_start_matches('/'))
    } else {
        rest.strip_prefix('/')
    }
}

fn join(folder: &str, rest: &str) -> String {
    match (folder, rest) {
        ("", path) | (path, "") => path.to_owned(),
        (folder, rest) if folder.ends_with('/') => format!("{folder}{rest}"),
        (folder, rest) => format!("{folder}/{rest}"),
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
