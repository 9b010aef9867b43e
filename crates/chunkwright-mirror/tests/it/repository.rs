//! Mirrors of repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use chunkwright_mirror::{Address, Limits, MirrorError, Mirrored, Mirrors};
use tempfile::TempDir;

use crate::server::Server;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A served repository `team/notes.git`, and the working copy that it is pushed from.
fn repository() -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    fs::create_dir_all(folder.path().join("team")).unwrap();
    git(folder.path(), &["init", "-q", "--bare", "team/notes.git"]);
    git(folder.path(), &["init", "-q", "work"]);
    fs::create_dir(work.join("docs")).unwrap();
    fs::write(work.join("README.md"), "# Notes\n").unwrap();
    fs::write(work.join("docs/a.md"), "# A\n").unwrap();
    commit(&work);
    git(&work, &["tag", "v1"]);
    git(&work, &["push", "-q", "../team/notes.git", "main", "v1"]);
    (Server::of_repositories(folder.path().to_owned()), folder)
}

fn commit(work: &Path) -> String {
    git(work, &["add", "-A"]);
    git(work, &["commit", "-q", "-m", "change"]);
    git(work, &["rev-parse", "HEAD"])
}

fn bring(mirrors: &Path, address: &str) -> Result<Mirrored, MirrorError> {
    Mirrors::new(mirrors, Limits::default()).bring(&Address::parse(address)?, &|_, _| {})
}

#[test]
fn a_repository_is_kept_in_step_and_each_file_says_since_which_commit_it_is_so() {
    let (server, folder) = repository();
    let (work, mirrors) = (folder.path().join("work"), folder.path().join("mirrors"));
    let address = format!("git+{}", server.url("/team/notes.git"));
    let first_commit = git(&work, &["rev-parse", "HEAD"]);
    let first = bring(&mirrors, &address).unwrap();
    let place = first.folder.join(server.host()).join("team/notes");
    assert_eq!(fs::read_to_string(place.join("docs/a.md")).unwrap(), "# A\n");
    let commit_of = |mirrored: &Mirrored, file: &str| {
        mirrored
            .meta
            .iter()
            .find(|(path, _)| *path == place.join(file))
            .map(|(_, meta)| meta["commit"].clone())
    };
    assert_eq!(commit_of(&first, "README.md"), Some(first_commit.clone()));
    assert_eq!(git(&place, &["rev-list", "--count", "HEAD"]), "1", "one commit deep");
    let before = fs::metadata(place.join("README.md")).unwrap().modified().unwrap();
    drop(first);

    fs::write(work.join("docs/a.md"), "# A, changed\n").unwrap();
    fs::write(work.join("docs/b.md"), "# B\n").unwrap();
    let second_commit = commit(&work);
    git(&work, &["push", "-q", "../team/notes.git", "main"]);
    // What was left behind by hand or by a kill is no obstacle.
    fs::write(place.join("stray.md"), "x").unwrap();
    fs::write(place.join("README.md"), "damaged").unwrap();
    fs::write(place.join(".git/index.lock"), "").unwrap();
    let second = bring(&mirrors, &address).unwrap();
    assert_eq!((second.report.changed, second.report.unchanged), (2, 1));
    assert_eq!(commit_of(&second, "README.md"), Some(first_commit.clone()));
    assert_eq!(commit_of(&second, "docs/a.md"), Some(second_commit.clone()));
    assert_eq!(fs::read_to_string(place.join("README.md")).unwrap(), "# Notes\n");
    assert!(!place.join("stray.md").exists());
    drop(second);

    // Another reference is the same mirror, so ids stay.
    for reference in ["v1", &first_commit, "main"] {
        let mirrored = bring(&mirrors, &format!("{address}@{reference}")).unwrap();
        assert_eq!(place.join("docs/b.md").exists(), reference == "main", "{reference}");
        drop(mirrored);
    }
    let unchanged = bring(&mirrors, &address).unwrap();
    assert_eq!((unchanged.report.changed, unchanged.report.unchanged), (0, 3));
    assert!(fs::metadata(place.join("docs/b.md")).unwrap().modified().unwrap() > before);
}

#[test]
fn what_cannot_be_fetched_leaves_the_mirror_as_it_was() {
    let (server, folder) = repository();
    let mirrors = folder.path().join("mirrors");
    let address = format!("git+{}", server.url("/team/notes.git"));
    let place = bring(&mirrors, &address).unwrap().folder.join(server.host()).join("team/notes");
    for wrong in [format!("{address}@nowhere"), format!("git+{}", server.url("/team/other"))] {
        let error = bring(&mirrors, &wrong).unwrap_err();
        assert!(matches!(error, MirrorError::Git { .. }), "{error}");
        assert!(place.join("README.md").exists(), "{error}");
    }
    let small = Limits { time_ms: 0, ..Limits::default() };
    let error =
        Mirrors::new(&mirrors, small).bring(&Address::parse(&address).unwrap(), &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("the limit of time was reached"), "{error}");
}

#[test]
fn links_and_programs_of_a_repository_are_nothing_but_files() {
    let (server, folder) = repository();
    let (work, mirrors) = (folder.path().join("work"), folder.path().join("mirrors"));
    let marker = folder.path().join("ran");
    fs::write(work.join(".gitattributes"), "*.md filter=evil\n").unwrap();
    fs::write(
        work.join(".gitmodules"),
        format!("[submodule \"x\"]\n\tpath = x\n\turl = file://{}\n", folder.path().display()),
    )
    .unwrap();
    fs::create_dir(work.join("hooks")).unwrap();
    fs::write(work.join("hooks/post-checkout"), format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    commit(&work);
    git(&work, &["push", "-q", "../team/notes.git", "main"]);
    let mirrored = bring(&mirrors, &format!("git+{}", server.url("/team/notes.git"))).unwrap();
    assert!(mirrored.folder.join(server.host()).join("team/notes/README.md").exists());
    assert!(!marker.exists());
}
