//! A program run under `strace`, which tells what it asks of the system in a folder, and makes one of those calls
//! its last or lets it fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

/// Calls that change nothing on a disk. What is not named here does.
const READS: &[&str] = &[
    "access",
    "close",
    "dup",
    "faccessat2",
    "fadvise64",
    "fcntl",
    "flock",
    "fstat",
    "getdents64",
    "lseek",
    "mmap",
    "newfstatat",
    "pread64",
    "read",
    "readlink",
    "stat",
    "statx",
];

pub(crate) fn is_read(call: &str) -> bool {
    READS.contains(&call)
}

/// A program that is run again and again, and the folder in which its calls are meant.
pub(crate) struct Traced<'a> {
    pub(crate) command: &'a Command,
    pub(crate) store: &'a Path,
}

/// A run with a blow.
pub(crate) struct Struck {
    pub(crate) output: Output,
    /// Whether the call came to be made at all.
    pub(crate) is_struck: bool,
}

impl Traced<'_> {
    /// Runs the program as it is; the names of its calls and how many of each there are.
    pub(crate) fn calls(&self) -> BTreeMap<String, usize> {
        let (output, log) = self.run(&["-e", "trace=all"]);
        assert!(output.status.success(), "{output:?}");
        let mut calls = BTreeMap::new();
        let mut threads = BTreeSet::new();
        for line in log.lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            let Some((name, _)) = call.trim_start().split_once('(') else { continue };
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.bytes().all(is_name) && !name.is_empty() {
                threads.insert(thread.to_owned());
                *calls.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
        // `strace` counts the calls of each thread by themselves: with two, one call would hide another.
        assert_eq!(threads.len(), 1, "one thread is meant to write");
        calls
    }

    /// Runs the program with a blow, such as `pwrite64:signal=KILL:when=3`.
    pub(crate) fn strike(&self, blow: &str) -> Struck {
        let (call, _) = blow.split_once(':').unwrap();
        let (output, log) = self.run(&["-e", &format!("trace={call}"), "-e", &format!("inject={blow}")]);
        let is_struck = log.contains("(INJECTED)") || output.status.code().is_none();
        Struck { output, is_struck }
    }

    fn run(&self, flags: &[&str]) -> (Output, String) {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o"]).arg(log.path()).args(flags);
        let database = self.store.join("chunkwright.sqlite3");
        let beside = ["", "-wal", "-shm", "-journal"].map(|end| {
            let mut path = database.clone().into_os_string();
            path.push(end);
            path
        });
        let others = ["lock", ".gitignore"].map(|name| self.store.join(name).into_os_string());
        for path in beside.iter().chain(&others).map(AsRef::as_ref).chain([self.store.as_os_str()]) {
            command.arg("-P").arg(path);
        }
        command.arg(self.command.get_program()).args(self.command.get_args());
        // Nothing of the environment but what the program was given, and where `strace` is.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        let output = command.output().unwrap();
        (output, String::from_utf8_lossy(&std::fs::read(log.path()).unwrap()).into_owned())
    }
}
