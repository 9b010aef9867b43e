//! Mirrors a repository: one commit, by the system's `git`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use url::Url;

use crate::address::{host_of, is_named_private};
use crate::error::MirrorError;
use crate::folder::{Folder, failed};
use crate::{Mirrored, Mirrors, Report, about};

/// Interval at which a running `git` is looked at.
const STEP: Duration = Duration::from_millis(50);

/// Most bytes of what `git` prints that are kept.
const MAX_OUTPUT: u64 = 64 << 20;

/// Settings that no configuration of a user or a repository changes: nothing but HTTP is spoken, no program of a
/// repository or of a filter runs, nothing asks.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=off",
    "core.askPass=",
    "credential.interactive=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=60",
    "protocol.allow=never",
    "protocol.https.allow=always",
];

/// Brings the mirror of a repository in step.
pub(crate) fn bring(
    mirrors: &Mirrors,
    url: &Url,
    reference: Option<&str>,
    mut folder: Folder,
) -> Result<Mirrored, MirrorError> {
    check_host(url, mirrors.limits.allow_private)?;
    let place = place_of(&folder, url);
    fs::create_dir_all(&place).map_err(|error| failed(&place, error))?;
    let git = Git { mirrors, url, place: &place, started: mirrors.clock.elapsed() };
    if !place.join(".git").is_dir() {
        git.run(&["init", "--quiet"])?;
    }
    // What a run that was killed left locked; this run holds the lock of the mirror.
    for lock in ["index.lock", "shallow.lock", "HEAD.lock"] {
        let _ = fs::remove_file(place.join(".git").join(lock));
    }
    let before = git.run(&["rev-parse", "--quiet", "--verify", "HEAD"]).ok();
    let wanted = reference.unwrap_or("HEAD");
    let fetch =
        ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url.as_str(), wanted];
    git.run(&fetch)?;
    git.run(&["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])?;
    git.run(&["clean", "-ffdxq"])?;
    let commit = git.run(&["rev-parse", "HEAD"])?;
    let commit = commit.trim();
    let mut report = Report::default();
    let changed = match before.as_deref().map(str::trim) {
        Some(before) if before == commit => Some(String::new()),
        Some(before) => git.run(&["diff", "--name-only", "--no-renames", "-z", before, commit]).ok(),
        None => None,
    };
    let changed: Option<HashSet<&str>> = changed.as_deref().map(|names| names.split('\0').collect());
    let files = git.run(&["ls-tree", "-r", "--name-only", "-z", commit])?;
    let known = std::mem::take(&mut folder.state.commits);
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        let is_changed = changed.as_ref().is_none_or(|changed| changed.contains(file));
        let first = known.get(file).filter(|_| !is_changed).cloned();
        if first.is_some() {
            report.unchanged += 1;
        } else {
            report.changed += 1;
        }
        folder.state.commits.insert(file.to_owned(), first.unwrap_or_else(|| commit.to_owned()));
    }
    report.removed = known.keys().filter(|file| !folder.state.commits.contains_key(*file)).count();
    folder.save()?;
    let texts = |commit: &String| [("url", url.to_string()), ("commit", commit.clone())];
    let meta =
        folder.state.commits.iter().map(|(file, commit)| about(&place.join(file), texts(commit))).collect();
    Ok(Mirrored { address: format!("git+{url}"), folder: folder.files(), meta, report, _lock: folder.lock })
}

/// The folder of the checkout: `HOST/OWNER/REPOSITORY`.
fn place_of(folder: &Folder, url: &Url) -> PathBuf {
    let mut place = folder.files().join(host_of(url));
    let path = url.path().trim_end_matches(".git");
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let name: String = part
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        place.push(if name.starts_with('.') { format!("_{name}") } else { name });
    }
    place
}

/// Refuses a host at a private address, unless that is meant. `git` resolves the name itself, so this keeps out what is
/// named by mistake or by a public name of a private host.
fn check_host(url: &Url, allow_private: bool) -> Result<(), MirrorError> {
    if allow_private || is_named_private(url) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(443);
    // A name that does not resolve is an error that `git` words.
    let found = (host, port).to_socket_addrs().into_iter().flatten();
    match found.map(|address| address.ip()).find(|address| chunkwright_http::is_private(*address)) {
        Some(address) => Err(MirrorError::Private { host: host.to_owned(), address }),
        None => Ok(()),
    }
}

struct Git<'a> {
    mirrors: &'a Mirrors,
    url: &'a Url,
    place: &'a Path,
    started: Duration,
}

impl Git<'_> {
    /// Runs `git` in the checkout, within the limits, and returns what it prints.
    fn run(&self, arguments: &[&str]) -> Result<String, MirrorError> {
        let failed = |reason: String| MirrorError::Git { url: self.url.to_string(), reason };
        let mut child = self
            .command(arguments)
            .spawn()
            .map_err(|error| failed(format!("it could not be run: {error}")))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        thread::scope(|scope| {
            let out = scope.spawn(|| out.map_or_else(String::new, text_of));
            let err = scope.spawn(|| err.map_or_else(String::new, text_of));
            let status = loop {
                if let Some(status) = child.try_wait().map_err(|error| failed(error.to_string()))? {
                    break status;
                }
                let time = self.mirrors.clock.elapsed().saturating_sub(self.started).as_millis();
                let over = if self.mirrors.cancel.load(Ordering::SeqCst) {
                    MirrorError::Cancelled
                } else if time > u128::from(self.mirrors.limits.time_ms) {
                    MirrorError::Limit { url: self.url.to_string(), which: "the limit of time was reached" }
                } else if self.objects() > self.mirrors.limits.bytes {
                    MirrorError::Limit {
                        url: self.url.to_string(),
                        which: "it is larger than the limit of bytes",
                    }
                } else {
                    self.mirrors.clock.sleep(STEP);
                    continue;
                };
                let _ = child.kill();
                let _ = child.wait();
                return Err(over);
            };
            let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
            if status.success() {
                return Ok(out);
            }
            let reason = err.lines().find_map(|line| line.strip_prefix("fatal: ")).unwrap_or(err.trim());
            Err(failed(if reason.is_empty() { status.to_string() } else { reason.to_owned() }))
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.place);
        for setting in SETTINGS {
            git.args(["-c", setting]);
        }
        if self.url.scheme() == "http" {
            git.args(["-c", "protocol.http.allow=always"]);
        }
        git.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_LFS_SKIP_SMUDGE", "1").env("LC_ALL", "C");
        // A hook that runs this program sets what names its own repository.
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
            "GIT_CONFIG_PARAMETERS",
        ] {
            git.env_remove(name);
        }
        git
    }

    /// Bytes of the objects that were fetched, those being fetched among them.
    fn objects(&self) -> u64 {
        let entries = fs::read_dir(self.place.join(".git/objects/pack")).into_iter().flatten().flatten();
        let is_pack = |entry: &fs::DirEntry| {
            let path = entry.path();
            path.extension() == Some(OsStr::new("pack")) || path.extension().is_none()
        };
        entries.filter(is_pack).filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
    }
}

fn text_of(stream: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
