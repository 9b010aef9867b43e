//! The folders below which requests from a network may name files.

use std::fs;
use std::path::{Path, PathBuf};

use chunkwright_mirror::{MirrorError, is_address};
use serde::Serialize;

use crate::error::Error;

/// Most folders that are listed of one folder.
const MOST_FOLDERS: usize = 1_000;

/// A folder below a root, and the folders in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RootFolder {
    /// Its path; empty for what the roots lie in.
    pub path: String,
    /// The folder around it, if that may be named; empty for what the roots lie in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Paths of the folders in it, in order, without hidden ones; at most 1,000.
    pub folders: Vec<String>,
    /// Number of files in it, without hidden ones.
    pub files: usize,
}

/// The folders that requests may name paths in.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// Resolved paths of the folders that exist.
    folders: Vec<PathBuf>,
}

impl Roots {
    /// Allows paths below these folders; without any, no request may name a path. Folders that do not exist are
    /// ignored.
    pub fn new<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> Self {
        let real = folders.into_iter().filter_map(|folder| folder.as_ref().canonicalize().ok());
        Self { folders: real.collect() }
    }

    /// The part of a path below a root; `None` if it is not below any.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        self.folders.iter().find_map(|root| path.strip_prefix(root).ok())
    }

    /// Resolves `path` with every link followed: an absolute path, or one relative to a root.
    ///
    /// # Errors
    ///
    /// [`Error::OutsideRoots`] for whatever is not below a root, whether it exists or not: a refusal says nothing of
    /// files elsewhere.
    /// [`MirrorError::Remote`] for an address: what a server fetches is decided on its machine.
    pub fn below(&self, path: &Path) -> Result<PathBuf, Error> {
        if is_address(path) {
            return Err(MirrorError::Remote { address: path.display().to_string() }.into());
        }
        let within = |candidate: PathBuf| {
            let real = candidate.canonicalize().ok()?;
            self.folders.iter().any(|root| real.starts_with(root)).then_some(real)
        };
        let found = if path.is_absolute() {
            within(path.to_owned())
        } else {
            self.folders.iter().find_map(|root| within(root.join(path)))
        };
        found.ok_or_else(|| Error::OutsideRoots { path: path.display().to_string() })
    }

    /// Lists what is in a folder below a root; an empty path lists the roots.
    ///
    /// # Errors
    ///
    /// [`Error::OutsideRoots`] for whatever is not below a root, and a folder that cannot be read.
    pub fn folder(&self, path: &str) -> Result<RootFolder, Error> {
        let shown = |path: &Path| path.display().to_string();
        if path.is_empty() {
            let folders = self.folders.iter().map(|root| shown(root)).collect();
            return Ok(RootFolder { path: String::new(), parent: None, folders, files: 0 });
        }
        let real = self.below(Path::new(path))?;
        let outside = || Error::OutsideRoots { path: path.to_owned() };
        let (mut folders, mut files) = (Vec::new(), 0);
        for entry in fs::read_dir(&real).map_err(|_| outside())?.flatten() {
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(shown(&entry.path())),
                Ok(kind) if kind.is_file() => files += 1,
                _ => {}
            }
        }
        folders.sort();
        folders.truncate(MOST_FOLDERS);
        let parent = real.parent().filter(|_| !self.folders.contains(&real)).map(shown).unwrap_or_default();
        Ok(RootFolder { path: shown(&real), parent: Some(parent), folders, files })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_are_listed_from_the_roots_down_and_never_above_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a path");
        for path in ["root/docs/deep", "root/.git", "beside"] {
            fs::create_dir_all(real.join(path)).expect("a folder");
        }
        for path in ["root/docs/a.md", "root/docs/.hidden"] {
            fs::write(real.join(path), "text").expect("a file");
        }
        let at = |path: &str| real.join(path).display().to_string();
        let roots = Roots::new([real.join("root")]);
        let top = roots.folder("").expect("the roots");
        assert_eq!((top.folders, top.parent), (vec![at("root")], None));
        let root = roots.folder(&at("root")).expect("a root");
        assert_eq!((root.folders, root.parent), (vec![at("root/docs")], Some(String::new())));
        let docs = roots.folder(&at("root/docs")).expect("a folder");
        assert_eq!(
            (docs.folders, docs.files, docs.parent),
            (vec![at("root/docs/deep")], 1, Some(at("root")))
        );
        for path in ["beside", "root/..", "root/docs/a.md", "nowhere"] {
            assert!(matches!(roots.folder(&at(path)), Err(Error::OutsideRoots { .. })), "{path}");
        }
    }

    #[test]
    fn only_what_lies_below_a_root_may_be_named_wherever_links_and_dots_lead() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        for path in ["root/docs", "root-of-others", "outside"] {
            fs::create_dir_all(at(path)).expect("a folder");
        }
        for path in ["root/docs/a.md", "root-of-others/c.md", "outside/b.md"] {
            fs::write(at(path), "text").expect("a file");
        }
        let roots = Roots::new([at("root")]);
        let real = at("root/docs/a.md").canonicalize().expect("a path");
        assert_eq!(roots.below(&at("root/docs/a.md")).expect("a path"), real);
        assert_eq!(roots.below(Path::new("docs/a.md")).expect("a path"), real);
        let refused = |path: &Path| {
            let error = roots.below(path).expect_err("a refusal");
            assert!(matches!(error, Error::OutsideRoots { .. }), "{error}");
            error.to_string().replace(&path.display().to_string(), "PATH")
        };
        let there = refused(&at("outside/b.md"));
        assert_eq!(there, refused(&at("outside/nothing.md")), "no oracle of what exists");
        for path in
            ["root/../outside/b.md", "root/docs/../../outside/b.md", "root-of-others/c.md", "root/nothing"]
        {
            refused(&at(path));
        }
        let address = roots.below(Path::new("https://127.0.0.1/x")).expect_err("a refusal");
        assert!(matches!(address, Error::Mirror(MirrorError::Remote { .. })), "{address}");
        refused(Path::new("../outside/b.md"));
        refused(Path::new("/etc/passwd"));
        assert!(Roots::default().below(&at("root/docs/a.md")).is_err(), "without roots nothing may be named");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("outside"), at("root/link")).expect("a link");
            std::os::unix::fs::symlink(at("root/docs"), at("root/inside")).expect("a link");
            refused(&at("root/link/b.md"));
            assert_eq!(roots.below(&at("root/inside/a.md")).expect("a path"), real);
            assert!(roots.folder(&at("root/link").display().to_string()).is_err(), "no link leads out");
        }
    }
}
