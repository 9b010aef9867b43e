//! Real edits: pairs of versions out of a git history.
//!
//! Commits other than merges are used, and files that changed by one line or a few.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use chunkwright_source::{Git, decode::decode, parser_for};

use crate::bootstrap::Rng;
use crate::edit::Edit;

/// Commits that are examined, newest first.
const COMMITS: &str = "4000";

/// Largest version that is taken, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// A file changed by a commit.
struct Candidate {
    commit: String,
    file: String,
    lines: usize,
}

/// Why a history gives no edits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The program `git` is not installed.
    #[error(
        "`git` is not installed, so the history of `{path}` is not measured; install it, or give --edits FILE"
    )]
    NoGit {
        /// The folder.
        path: String,
    },
    /// The folder is in no repository.
    #[error("`{path}` has no git history; only random edits are measured")]
    NoHistory {
        /// The folder.
        path: String,
    },
    /// `git` failed.
    #[error("the git history of `{path}` could not be read: {error}")]
    Log {
        /// The folder.
        path: String,
        /// What happened.
        error: io::Error,
    },
    /// `git` gave no versions.
    #[error("the versions of `{path}` could not be read from git: {error}")]
    Versions {
        /// The folder.
        path: String,
        /// What happened.
        error: io::Error,
    },
    /// Nothing small was changed.
    #[error("the git history of `{path}` has no small edit of a document; only random edits are measured")]
    NoEdit {
        /// The folder.
        path: String,
    },
}

/// At most `count` edits of each kind, drawn by `seed` from the history of the folder at `path`.
///
/// # Errors
///
/// A folder without a history, without small edits, and one that `git` cannot read.
pub fn edits(path: &Path, count: usize, seed: u64) -> Result<Vec<Edit>, HistoryError> {
    let folder =
        if path.is_dir() { path.to_owned() } else { path.parent().map(PathBuf::from).unwrap_or_default() };
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let shown = || path.display().to_string();
    let git = Git::at(folder);
    let prefix = match git.line(&["rev-parse", "--show-prefix"]) {
        Ok(prefix) => prefix,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(HistoryError::NoGit { path: shown() });
        }
        Err(_) => return Err(HistoryError::NoHistory { path: shown() }),
    };
    let log = [
        "log",
        "--no-merges",
        "--no-renames",
        "--relative",
        "--numstat",
        "--format=@%H",
        "-n",
        COMMITS,
        "--",
        ".",
    ];
    let log = git.run(&log).map_err(|error| HistoryError::Log { path: shown(), error })?;
    let candidates = candidates(&String::from_utf8_lossy(&log));
    let mut edits = Vec::new();
    for (kind, lines) in [("git, one line", 0..=1), ("git, few lines", 2..=20)] {
        let of_kind: Vec<&Candidate> = candidates.iter().filter(|it| lines.contains(&it.lines)).collect();
        let drawn = Rng::new(seed).sample(of_kind.len(), count);
        let drawn: Vec<&Candidate> = drawn.into_iter().map(|at| of_kind[at]).collect();
        let versions = versions(&git, &prefix, &drawn)
            .map_err(|error| HistoryError::Versions { path: shown(), error })?;
        for (candidate, (old, new)) in drawn.into_iter().zip(versions) {
            if let (Some(old), Some(new)) = (old.as_deref().and_then(text), new.as_deref().and_then(text))
                && old != new
            {
                edits.push(Edit { kind: kind.to_owned(), doc_id: candidate.file.clone(), old, new });
            }
        }
    }
    if edits.is_empty() {
        return Err(HistoryError::NoEdit { path: shown() });
    }
    Ok(edits)
}

fn text(bytes: &[u8]) -> Option<String> {
    decode(bytes).map(|decoded| decoded.text.into_owned())
}

/// The files of a log with the larger of lines added and removed, if that is at most 20. Only files of known formats: a
/// lock file is not a document.
fn candidates(log: &str) -> Vec<Candidate> {
    let (mut commit, mut found) = ("", Vec::new());
    for line in log.lines() {
        if let Some(hash) = line.strip_prefix('@') {
            commit = hash;
            continue;
        }
        let mut fields = line.splitn(3, '\t');
        let numbers =
            (fields.next().and_then(|it| it.parse().ok()), fields.next().and_then(|it| it.parse().ok()));
        let ((Some(added), Some(removed)), Some(file)) = (numbers, fields.next()) else { continue };
        let lines: usize = std::cmp::max(added, removed);
        let path = Path::new(file);
        let is_known =
            parser_for(path, "").name() != "text" || path.extension().is_some_and(|it| it == "txt");
        if lines <= 20 && is_known && !file.starts_with('"') {
            found.push(Candidate { commit: commit.to_owned(), file: file.to_owned(), lines });
        }
    }
    found
}

type Versions = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Both versions of each file: before and after its commit. `None` if there is none, or it is too large.
fn versions(git: &Git, prefix: &str, files: &[&Candidate]) -> io::Result<Vec<Versions>> {
    let both = |Candidate { commit, file, .. }: &&Candidate| {
        [format!("{commit}^:{prefix}{file}"), format!("{commit}:{prefix}{file}")]
    };
    let names: Vec<String> = files.iter().flat_map(both).collect();
    let mut contents = git.files(&names, MAX_BYTES)?.into_iter();
    Ok(files.iter().map(|_| (contents.next().flatten(), contents.next().flatten())).collect())
}
