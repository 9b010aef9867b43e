//! How were documents in a revision of their git repository?
//!
//! The program `git` is asked, as people ask it. A folder is written to a temporary one, by an index of its own: neither the
//! working tree nor the index of the repository is touched.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chunkwright_source::{Input, NewSource};
use tempfile::TempDir;

use crate::error::Error;

/// A file or folder in a revision of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The revision, as git names them: `HEAD~1`, `v1.0`, a hash.
    pub revision: String,
    /// The file or folder, relative to the working folder or absolute.
    pub path: Option<PathBuf>,
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.revision)?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, ":{}", path.display()))
    }
}

impl Revision {
    /// What `REVISION` or `REVISION:PATH` means, if the repository around the working folder has that revision. The path
    /// is relative to the working folder.
    pub fn named(name: &str) -> Option<Self> {
        let (revision, path) = match name.split_once(':') {
            Some((revision, path)) => (revision, Some(path)),
            None => (name, None),
        };
        let commit = format!("{revision}^{{commit}}");
        let check = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        (!revision.is_empty() && git(Path::new("."), &check).is_ok()).then(|| Self {
            revision: revision.to_owned(),
            path: path.map(|path| if path.is_empty() { ".".into() } else { path.into() }),
        })
    }

    /// Its documents, and where they lie in a temporary folder, that folder. Without a path of its own it is about
    /// `other`, and without that about the working folder.
    pub(super) fn checkout(&self, other: Option<&PathBuf>) -> Result<(Input, Option<TempDir>), Error> {
        let path = self.path.as_ref().or(other).cloned().unwrap_or_else(|| ".".into());
        let failed = |error: io::Error| Error::Revision {
            revision: self.revision.clone(),
            path: path.display().to_string(),
            reason: error.to_string(),
        };
        self.files(&path).map_err(failed)
    }

    fn files(&self, path: &Path) -> io::Result<(Input, Option<TempDir>)> {
        // It may be gone by now: what is around it is still there.
        let mut folder = path;
        let mut below = Vec::new();
        while !folder.is_dir() {
            below.extend(folder.file_name().map(|name| name.to_string_lossy()));
            folder = folder.parent().unwrap_or(Path::new(""));
            if folder.as_os_str().is_empty() {
                folder = Path::new(".");
            }
        }
        let prefix = line(&git(folder, &["rev-parse", "--show-prefix"])?);
        let root = PathBuf::from(line(&git(folder, &["rev-parse", "--show-toplevel"])?));
        below.reverse();
        let object =
            format!("{}:{}", self.revision, format!("{prefix}{}", below.join("/")).trim_end_matches('/'));
        if line(&git(&root, &["cat-file", "-t", &object])?) == "blob" {
            let bytes = git(&root, &["cat-file", "blob", &object])?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok((
                Input::Memory { document: NewSource::new(name, bytes), place: self.to_string() },
                None,
            ));
        }
        let folder = TempDir::with_prefix("chunkwright-")?;
        let (index, tree) = (folder.path().join("index"), folder.path().join("tree"));
        std::fs::create_dir(&tree)?;
        let with_index = |arguments: &[&str]| {
            let mut command = command(&root, arguments);
            run(command.env("GIT_INDEX_FILE", &index))
        };
        with_index(&["read-tree", &object])?;
        with_index(&["checkout-index", "--all", "--quiet", &format!("--prefix={}/", tree.display())])?;
        Ok((Input::Path(tree), Some(folder)))
    }
}

/// A line of git's, without its end.
fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_owned()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments).stdin(Stdio::null());
    git
}

fn git(folder: &Path, arguments: &[&str]) -> io::Result<Vec<u8>> {
    run(&mut command(folder, arguments))
}

/// What a run of git prints.
fn run(git: &mut Command) -> io::Result<Vec<u8>> {
    let output =
        git.output().map_err(|error| io::Error::other(format!("`git` could not be run: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(reason.trim().trim_start_matches("fatal: ").to_owned()))
}
