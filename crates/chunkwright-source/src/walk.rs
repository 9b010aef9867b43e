//! Walks folders: selects files, and reports which are left out and why.
//!
//! A walk goes where ripgrep goes: `.gitignore`, `.ignore` and hidden entries are left out, links are not followed.
//! Text that is not worth indexing is left out as well ([`noise`]). Unlike ripgrep it accounts for everything: each
//! folder it enters is listed once more, and what the walk did not yield is reported with the reason.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder};
use rayon::prelude::*;

use crate::glob::Glob;
use crate::noise;
use crate::secret::{is_secret_name, is_secret_path};
use crate::skip::{SkipReason, Skipped};

/// Which files of folders are taken. A file that is given by name is always taken, unless it holds secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Largest file that is read, in bytes.
    pub max_file_size: u64,
    /// If there are any, only files that match one are taken. A pattern for a kind that is otherwise left out (see
    /// [`noise`]), such as `*.svg`, adds that kind to the others.
    pub include: Vec<Glob>,
    /// Files and folders, with their content, that are left out.
    pub exclude: Vec<Glob>,
    /// Types of files that are taken; without any all are.
    pub types: Option<FileTypes>,
    /// Whether entries whose names start with a dot are taken; `.git` never is.
    pub hidden: bool,
    /// Whether `.gitignore` and `.ignore` are disregarded.
    pub no_ignore: bool,
    /// Whether keys and passwords in the text of files and other documents are replaced before anything is done with it (see
    /// [`redact`](crate::redact)).
    pub redact_secrets: bool,
    /// The file that the run itself writes, which is skipped. Absolute, without links.
    pub output: Option<PathBuf>,
}

impl Default for WalkOptions {
    /// 256 MiB: larger files are data, not documents.
    fn default() -> Self {
        Self {
            max_file_size: 256 << 20,
            include: Vec::new(),
            exclude: Vec::new(),
            types: None,
            hidden: false,
            no_ignore: false,
            redact_secrets: false,
            output: None,
        }
    }
}

/// Types of files, by ripgrep's names.
#[derive(Clone, Debug)]
pub struct FileTypes {
    names: Vec<String>,
    types: Types,
}

impl FileTypes {
    /// The types of these names; answers the first that is not known as an error.
    ///
    /// # Errors
    ///
    /// A name that no type has.
    pub fn new(names: &[String]) -> Result<Self, String> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let known: HashSet<String> =
            builder.definitions().iter().map(|definition| definition.name().to_owned()).collect();
        for name in names {
            if !known.contains(name) {
                return Err(name.clone());
            }
            builder.select(name);
        }
        let types = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { names: names.to_vec(), types })
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn hold(&self, path: &Path) -> bool {
        self.types.matched(path, false).is_whitelist()
    }
}

impl PartialEq for FileTypes {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for FileTypes {}

impl WalkOptions {
    /// The limit in force: decoding makes at most 3 bytes of one, and a document is shorter than 4 GiB.
    pub fn limit(&self) -> u64 {
        self.max_file_size.min(u64::from(u32::MAX) / 3)
    }

    /// Whether a pattern asks for the file by its kind.
    fn asks_for(&self, path: &str) -> bool {
        self.include.iter().any(|glob| glob.matches_file(path))
    }

    /// Whether patterns and types leave a file out.
    fn leave_out(&self, path: &str, file: &Path) -> bool {
        // A pattern for a kind that is otherwise left out adds that kind.
        let mut only = self.include.iter().filter(|glob| noise::of_name(glob.name()).is_none()).peekable();
        let is_wanted = |glob: &Glob| glob.matches_file(path);
        self.exclude.iter().any(is_wanted)
            || only.peek().is_some() && !self.asks_for(path)
            || self.types.as_ref().is_some_and(|types| !types.hold(file) && !self.asks_for(path))
    }
}

/// The result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files to read, by document id.
    pub files: Vec<SourceFile>,
    /// Entries that were left out, by path.
    pub skipped: Vec<Skipped>,
    /// The walked paths.
    pub roots: Vec<Root>,
}

/// A file or folder that was walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder that ids are relative to, absolute, escaped like an id.
    pub folder: String,
    /// The only document in question, where the path is a file.
    pub only: Option<String>,
    /// Patterns of the paths below it that are included, if the path has wildcards; empty for all.
    pub matching: Vec<Glob>,
}

impl Root {
    /// Whether a path below it is included.
    pub fn holds(&self, path: &str) -> bool {
        self.matching.is_empty() || self.matching.iter().any(|glob| glob.matches_path(path))
    }
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its key in a collection (see [`doc_id`]).
    pub doc_id: String,
    /// The folder that the id is relative to, absolute, escaped like an id.
    pub root: String,
    /// The prefix of the id, before the path relative to `root`; may be empty.
    pub prefix: String,
    /// Its length when it was found, in bytes.
    pub bytes: u64,
    /// Its modification time at the walk: nanoseconds since 1970, 0 if the system does not report it.
    pub modified: i64,
    /// Whether it was requested, by its name or a pattern, so that it is taken whatever it holds.
    pub wanted: bool,
    /// Why it is left out as noise, if it is: it exists, but is not read.
    pub left_out: Option<SkipReason>,
}

/// That a path does not exist, and what to give. An address is answered with who fetches it.
pub(crate) fn missing(path: &str, wanted: &str) -> String {
    // A path has one slash where it was given two.
    let is_address = |start: &&str| path.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    if ["http:/", "https:/", "ftp:/", "ssh:/", "git:/", "git+", "git@", "s3:/"].iter().any(is_address) {
        return format!(
            "`{path}` is an address: `chunkwright index` fetches `https://HOST/sitemap.xml`, pages and `git+https://HOST/REPOSITORY@REF`; for others, save or clone it and give {wanted}"
        );
    }
    format!("`{path}` does not exist; give {wanted}")
}

/// Why paths cannot be walked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A path that does not exist.
    #[error("{}", missing(path, "a file or a folder"))]
    Missing {
        /// The path.
        path: String,
    },
    /// One path lies inside another: its files would be documents twice.
    #[error("`{inner}` lies inside `{outer}`; give one of them, or index them into two collections")]
    Overlap {
        /// The outer path.
        outer: String,
        /// The inner path.
        inner: String,
    },
    /// A path that cannot be examined.
    #[error("`{path}` cannot be read: {error}")]
    Io {
        /// The path.
        path: String,
        /// The system's error.
        error: io::Error,
    },
}

/// The id of the document at `path`, which is relative to the given root: components joined by `/`, with `%`, control
/// characters, line separators, bidirectional controls and bytes that are not UTF-8 written as `%XX`. Printable, and
/// different for different paths.
pub fn doc_id(path: &Path) -> String {
    let mut id = String::new();
    for component in path.components().filter(|component| !matches!(component, Component::CurDir)) {
        if !id.is_empty() && !id.ends_with('/') {
            id.push('/');
        }
        match component {
            Component::RootDir => id.push('/'),
            component => escape(component.as_os_str().as_encoded_bytes(), &mut id),
        }
    }
    id
}

/// Whether a character must be escaped in an id: it would be invisible, or change how the rest is shown.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether a part of an id between slashes is `.` or `..`. Programs that use an id as part of an address would resolve
/// it to something else: from a document to its collection, which they may be about to delete.
pub fn has_dots(id: &str) -> bool {
    id.split('/').any(|part| matches!(part, "." | ".."))
}

fn escape(bytes: &[u8], out: &mut String) {
    let hex = |out: &mut String, bytes: &[u8]| {
        for byte in bytes {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '%' || is_unprintable(c) {
                hex(out, c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                out.push(c);
            }
        }
        hex(out, chunk.invalid());
    }
}

/// The path that [`doc_id`] wrote.
pub fn unescape(id: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(id.len());
    let mut rest = id.as_bytes();
    while let [byte, after @ ..] = rest {
        let code = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *byte == b'%');
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt as _;
        std::ffi::OsString::from_vec(bytes).into()
    }
    #[cfg(not(unix))]
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Walks `paths`, files or folders, as ripgrep does.
///
/// # Errors
///
/// A path that does not exist, cannot be read, or lies inside another.
pub fn walk(paths: &[PathBuf], options: &WalkOptions) -> Result<Walk, SourceError> {
    let mut walk = Walk::default();
    // In the order of paths, what lies inside a path follows it.
    let mut roots: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, matching) in grouped(paths) {
        let path = &path;
        let shown = || doc_id(path);
        let real = path.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SourceError::Missing { path: shown() },
            _ => SourceError::Io { path: shown(), error },
        })?;
        let around =
            real.ancestors().find(|outer| roots.contains(*outer)).map(|outer| (outer, real.as_path()));
        let inside = roots.range(real.clone()..).next().filter(|inner| inner.starts_with(&real));
        if let Some((outer, inner)) = around.or(inside.map(|inner| (real.as_path(), inner.as_path()))) {
            return Err(SourceError::Overlap { outer: doc_id(outer), inner: doc_id(inner) });
        }
        let metadata = fs::metadata(&real).map_err(|error| SourceError::Io { path: shown(), error })?;
        if metadata.is_dir() {
            let root = Root { folder: doc_id(&real), only: None, matching };
            walk_folder(&real, root, options, &mut walk);
        } else {
            let folder = real.parent().unwrap_or(Path::new("/"));
            let only = Some(doc_id(relative(&real, folder)));
            let root = Root { folder: doc_id(folder), only, matching: Vec::new() };
            walk.add(take(real.clone(), folder, &root, &metadata, options), folder);
            walk.roots.push(root);
        }
        roots.insert(real);
    }
    walk.files.sort_by(|a, b| (&a.doc_id, &a.path).cmp(&(&b.doc_id, &b.path)));
    walk.skipped.sort();
    Ok(walk)
}

/// Whether a path is a pattern: it has wildcards, and no file has that name.
pub fn is_pattern(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err() && Glob::of_path(path).is_some()
}

/// The folder that a path is about: of a pattern the one that it is for, else the path itself.
pub fn folder_of(path: &Path) -> PathBuf {
    let pattern = if is_pattern(path) { Glob::of_path(path) } else { None };
    pattern.map_or_else(|| path.to_owned(), |(folder, _)| folder)
}

/// The paths, each with the patterns for the paths below it; patterns below one folder become one path.
fn grouped(paths: &[PathBuf]) -> Vec<(PathBuf, Vec<Glob>)> {
    let mut grouped: Vec<(PathBuf, Vec<Glob>)> = Vec::new();
    for path in paths {
        let pattern = if is_pattern(path) { Glob::of_path(path) } else { None };
        let Some((folder, glob)) = pattern else {
            grouped.push((path.clone(), Vec::new()));
            continue;
        };
        match grouped.iter_mut().find(|(other, globs)| *other == folder && !globs.is_empty()) {
            Some((_, globs)) => globs.push(glob),
            None => grouped.push((folder, vec![glob])),
        }
    }
    grouped
}

/// The entry at a path.
enum Found {
    File(SourceFile),
    Folder(PathBuf),
    LeftOut(PathBuf, SkipReason),
}

impl Found {
    fn path(&self) -> &Path {
        match self {
            Self::File(file) => &file.path,
            Self::Folder(path) | Self::LeftOut(path, _) => path,
        }
    }
}

impl Walk {
    /// Adds what was found below `root`.
    fn add(&mut self, found: Found, root: &Path) {
        match found {
            Found::File(file) => self.files.push(file),
            Found::Folder(_) => {}
            Found::LeftOut(path, reason) => {
                self.skipped.push(Skipped { path: doc_id(relative(&path, root)), reason });
            }
        }
    }
}

fn relative<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

fn walk_folder(root: &Path, given: Root, options: &WalkOptions, walk: &mut Walk) {
    let found = entries(root, options, &|entry| match entry {
        Ok(entry) => {
            let path = entry.into_path();
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => Found::Folder(path),
                Ok(metadata) if metadata.is_symlink() => {
                    let reason = link_reason(root, &path);
                    Found::LeftOut(path, reason)
                }
                Ok(metadata) => take(path, root, &given, &metadata, options),
                Err(error) => Found::LeftOut(path, reason_of(&error)),
            }
        }
        Err(error) => {
            let path = error_path(&error).unwrap_or(root).to_path_buf();
            Found::LeftOut(path, error.io_error().map_or(SkipReason::Unreadable, reason_of))
        }
    });
    // Folders are listed once more, to tell what the walk left out.
    let yielded: HashSet<&Path> = found.iter().map(Found::path).collect();
    let left_out = |found: &Found| {
        let folder = if let Found::Folder(folder) = found { fs::read_dir(folder).ok() } else { None };
        // A folder that could not be read was reported by the walk.
        let entries = folder.into_iter().flatten().flatten();
        let entries = entries.filter(|entry| !yielded.contains(&*entry.path()));
        let skipped = entries.map(|entry| {
            let name = entry.file_name();
            let reason = match name.to_str() {
                Some(name) if is_secret_name(name) => SkipReason::Secret,
                _ if name.as_encoded_bytes().starts_with(b".") => SkipReason::Hidden,
                _ => SkipReason::Ignored,
            };
            Skipped { path: doc_id(relative(&entry.path(), root)), reason }
        });
        skipped.collect::<Vec<_>>()
    };
    walk.skipped.par_extend(found.par_iter().flat_map_iter(left_out));
    for found in found {
        if options.output.as_deref() != Some(found.path()) {
            walk.add(found, root);
        }
    }
    walk.roots.push(given);
}

/// The results of `look` for all entries of a walk, in no order. Runs on the threads of the pool: for a tree that hardly
/// changed, this is most of the work. The parallel walk of `ignore` starts threads, and never ends if one cannot start.
fn entries(
    root: &Path,
    options: &WalkOptions,
    look: &(dyn Fn(Result<DirEntry, ignore::Error>) -> Found + Sync),
) -> Vec<Found> {
    let mut walk = WalkBuilder::new(root);
    walk.follow_links(false).hidden(!options.hidden);
    if options.no_ignore {
        walk.ignore(false).git_ignore(false).git_global(false).git_exclude(false).parents(false);
    }
    walk.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    walk.build().par_bridge().map(look).collect()
}

/// Takes a file that is not a link, or leaves it out. `folder` is the given folder, or the folder of the given file.
fn take(path: PathBuf, folder: &Path, root: &Root, metadata: &Metadata, options: &WalkOptions) -> Found {
    let relative = relative(&path, folder);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let doc_id = doc_id(relative);
    let is_named = root.only.is_some();
    let reason = if is_secret_path(relative) {
        SkipReason::Secret
    } else if !metadata.is_file() {
        SkipReason::NotRegular
    } else if !is_named && (!root.holds(&doc_id) || options.leave_out(&doc_id, &path)) {
        SkipReason::Excluded
    } else if metadata.len() > options.limit() {
        SkipReason::TooLarge
    } else {
        let is_matched = root.matching.iter().any(|glob| noise::of_name(glob.name()).is_some());
        let wanted = is_named || is_matched || options.asks_for(&doc_id);
        return Found::File(SourceFile {
            left_out: if wanted { None } else { noise::of_name(name) },
            wanted,
            bytes: metadata.len(),
            modified: modified(metadata),
            root: root.folder.clone(),
            prefix: String::new(),
            doc_id,
            path,
        });
    };
    Found::LeftOut(path, reason)
}

/// The modification time of a file, in nanoseconds since 1970; 0 if the system does not report it.
fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(0))
}

/// Why a link is left out. Links are never followed: a target inside the root is indexed at its own path.
fn link_reason(root: &Path, link: &Path) -> SkipReason {
    match link.canonicalize() {
        Ok(target) if target.starts_with(root) => SkipReason::Symlink,
        Ok(_) => SkipReason::OutsideRoot,
        Err(error) if error.kind() == io::ErrorKind::NotFound => SkipReason::Dangling,
        // Links in a circle.
        Err(_) => SkipReason::Symlink,
    }
}

fn reason_of(error: &io::Error) -> SkipReason {
    match error.kind() {
        io::ErrorKind::NotFound => SkipReason::Vanished,
        io::ErrorKind::PermissionDenied => SkipReason::Permission,
        io::ErrorKind::InvalidFilename => SkipReason::PathTooLong,
        _ => SkipReason::Unreadable,
    }
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err),
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}

/// Reads a file, the whole of one state of it, and when that was made: if its length or time changed
/// meanwhile, once more.
///
/// # Errors
///
/// The reason to leave it out.
pub fn read_file(file: &SourceFile, options: &WalkOptions) -> Result<(Vec<u8>, i64), SkipReason> {
    for _ in 0..2 {
        // Looked at again right before opening: opening a FIFO would wait for its writer.
        let before = fs::symlink_metadata(&file.path).map_err(|error| reason_of(&error))?;
        if !before.is_file() {
            return Err(SkipReason::NotRegular);
        }
        if before.len() > options.limit() {
            return Err(SkipReason::TooLarge);
        }
        let opened = File::open(&file.path).map_err(|error| reason_of(&error))?;
        let mut bytes = Vec::with_capacity(before.len() as usize + 1);
        // One byte over the limit tells of a file that grew over it.
        let mut limited = opened.take(options.limit() + 1);
        limited.read_to_end(&mut bytes).map_err(|error| reason_of(&error))?;
        let after = limited.into_inner().metadata().map_err(|error| reason_of(&error))?;
        let same = after.len() == bytes.len() as u64 && before.modified().ok() == after.modified().ok();
        if same {
            return Ok((bytes, modified(&after)));
        }
    }
    Err(SkipReason::Unstable)
}
