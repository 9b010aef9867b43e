//! Reads documents from a revision of their git repository.
//!
//! A folder is checked out into a temporary folder with a separate git index, so that neither the working tree nor the
//! index of the repository is touched.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use chunkwright_source::{Git, Input, NewSource};
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
    /// Parses `REVISION`, `REVISION:PATH` or `PATH@REVISION`, if the repository around the working folder has that
    /// revision. The path is relative to the working folder.
    pub fn named(name: &str) -> Option<Self> {
        let (revision, path) = match (name.split_once(':'), name.rsplit_once('@')) {
            (Some((revision, path)), _) => (revision, Some(path)),
            // Git itself has `@`, `@{1}` and `@~2`.
            (None, Some((path, revision))) if !path.is_empty() && !revision.starts_with(['{', '~', '^']) => {
                (revision, Some(path))
            }
            (None, _) => (name, None),
        };
        let commit = format!("{revision}^{{commit}}");
        let check = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        (!revision.is_empty() && Git::at(".").run(&check).is_ok()).then(|| Self {
            revision: revision.to_owned(),
            path: path.map(|path| if path.is_empty() { ".".into() } else { path.into() }),
        })
    }

    /// Reads the documents; if they are checked out into a temporary folder, returns that folder too. If the revision
    /// has no path of its own, it means `other`, or else the working folder.
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
        // The folder may be gone by now, but its parents still exist.
        let mut folder = path;
        let mut below = Vec::new();
        while !folder.is_dir() {
            below.extend(folder.file_name().map(|name| name.to_string_lossy()));
            folder = folder.parent().unwrap_or(Path::new(""));
            if folder.as_os_str().is_empty() {
                folder = Path::new(".");
            }
        }
        let git = Git::at(folder);
        let prefix = git.line(&["rev-parse", "--show-prefix"])?;
        let git = Git::at(git.line(&["rev-parse", "--show-toplevel"])?);
        below.reverse();
        let object =
            format!("{}:{}", self.revision, format!("{prefix}{}", below.join("/")).trim_end_matches('/'));
        if git.line(&["cat-file", "-t", &object])? == "blob" {
            let bytes = git.run(&["cat-file", "blob", &object])?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok((
                Input::Memory { document: NewSource::new(name, bytes), place: self.to_string() },
                None,
            ));
        }
        let folder = TempDir::with_prefix("chunkwright-")?;
        let (index, tree) = (folder.path().join("index"), folder.path().join("tree"));
        std::fs::create_dir(&tree)?;
        let git = git.with_index(index);
        git.run(&["read-tree", &object])?;
        git.run(&["checkout-index", "--all", "--quiet", &format!("--prefix={}/", tree.display())])?;
        Ok((Input::Path(tree), Some(folder)))
    }
}
