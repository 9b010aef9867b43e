//! Records what a program did to its files, from the output of `strace`.
//!
//! A call that changes files and is not handled here fails the test: a power cut could not be simulated for what the
//! recorder does not see.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::disk::{Step, put};

/// Calls that the recorder has to know of.
const TRACE: &str = "trace=open,openat,creat,close,dup,dup2,dup3,lseek,read,write,writev,pwrite64,pwritev,pwritev2,\
copy_file_range,sendfile,splice,truncate,ftruncate,fallocate,rename,renameat,renameat2,link,linkat,symlink,symlinkat,\
unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,sync,syncfs,msync,sync_file_range";

/// Follows a program, or several one after the other.
pub(crate) struct Recorder {
    root: PathBuf,
    pub(crate) steps: Vec<Step>,
    names: BTreeMap<PathBuf, Option<usize>>,
    contents: Vec<Vec<u8>>,
}

/// An open file: which, and where the next write goes.
#[derive(Clone, Copy)]
struct Open {
    file: usize,
    at: usize,
}

impl Recorder {
    /// Follows what happens below `root`, where everything that is there now is on the disk.
    pub(crate) fn new(root: &Path) -> Self {
        let mut recorder =
            Self { root: root.to_owned(), steps: Vec::new(), names: BTreeMap::new(), contents: Vec::new() };
        recorder.names.insert(root.to_owned(), None);
        recorder.adopt(root);
        recorder
    }

    fn adopt(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.make_folder(&path);
                self.adopt(&path);
            } else {
                let file = self.create(&path);
                self.write(file, 0, std::fs::read(&path).unwrap());
                self.steps.push(Step::Sync { file });
            }
        }
        self.steps.push(Step::SyncFolder { path: folder.to_owned() });
    }

    /// Runs `command` to its end.
    pub(crate) fn run(&mut self, command: &Command) {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut strace = Command::new("strace");
        strace
            .args(["-f", "-qq", "-y", "-s", "33554432", "-e", "signal=none", "-e", TRACE, "-o"])
            .arg(log.path());
        strace.arg(command.get_program()).args(command.get_args());
        strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = strace.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.follow(&std::fs::read(log.path()).unwrap());
    }

    fn follow(&mut self, log: &[u8]) {
        let mut open = HashMap::new();
        // Calls of one thread may be told in two lines, with those of others between.
        let mut begun: HashMap<&[u8], &[u8]> = HashMap::new();
        for line in log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let space = line.iter().position(|&byte| byte == b' ').unwrap();
            let (thread, line) = (&line[..space], line[space..].trim_ascii_start());
            let joined;
            let call = if let Some(call) = line.strip_suffix(b" <unfinished ...>") {
                begun.insert(thread, call);
                continue;
            } else if line.starts_with(b"<... ") {
                let at = line.windows(8).position(|part| part == b"resumed>").unwrap();
                let Some(first) = begun.remove(thread) else { continue };
                joined = [first, &line[at + 8..]].concat();
                &joined[..]
            } else {
                line
            };
            if let Some(call) = Call::parse(call) {
                self.call(&call, &mut open);
            }
        }
    }

    fn call(&mut self, call: &Call<'_>, open: &mut HashMap<u64, Open>) {
        let is_ours = |path: &PathBuf| path.starts_with(&self.root);
        let file = |argument: usize| call.number(argument).and_then(|number| open.get(&number)).copied();
        match call.name {
            "open" | "openat" | "creat" => {
                let (path, flags) =
                    if call.name == "openat" { (call.path(0, 1), 2) } else { (call.path(9, 0), 1) };
                let flags =
                    String::from_utf8_lossy(call.arguments.get(flags).unwrap_or(&&b""[..])).into_owned();
                if !is_ours(&path) || self.names.get(&path) == Some(&None) {
                    open.remove(&call.result);
                    return;
                }
                let known = self.names.get(&path).copied().flatten();
                let file = known.unwrap_or_else(|| self.create(&path));
                if flags.contains("O_TRUNC") {
                    self.resize(file, 0);
                }
                assert!(!flags.contains("O_APPEND"), "appending is not followed");
                open.insert(call.result, Open { file, at: 0 });
            }
            "close" => drop(call.number(0).and_then(|number| open.remove(&number))),
            "dup" | "dup2" | "dup3" => assert!(file(0).is_none(), "copies of descriptors are not followed"),
            "lseek" => {
                if let Some(open) = call.number(0).and_then(|number| open.get_mut(&number)) {
                    open.at = call.result as usize;
                }
            }
            "read" => {
                if let Some(open) = call.number(0).and_then(|number| open.get_mut(&number)) {
                    open.at += call.result as usize;
                }
            }
            "write" if call.number(0) == Some(1) => {
                let said = String::from_utf8_lossy(&call.bytes(1)).into_owned();
                self.steps.extend(said.lines().map(|line| Step::Said(line.to_owned())));
            }
            "write" | "pwrite64" => {
                let Some(Open { file, at }) = file(0) else { return };
                let mut bytes = call.bytes(1);
                bytes.truncate(call.result as usize);
                let place =
                    if call.name == "write" { Some(at) } else { call.number(3).map(|at| at as usize) };
                let (place, length) = (place.unwrap(), bytes.len());
                self.write(file, place, bytes);
                if call.name == "write" {
                    open.insert(call.number(0).unwrap(), Open { file, at: at + length });
                }
            }
            "copy_file_range" => {
                let Some(to) = file(2) else { return };
                let from = file(0).expect("what is copied is ours");
                let bytes = self.contents[from.file][from.at..from.at + call.result as usize].to_vec();
                open.insert(call.number(0).unwrap(), Open { at: from.at + bytes.len(), ..from });
                open.insert(call.number(2).unwrap(), Open { at: to.at + bytes.len(), ..to });
                self.write(to.file, to.at, bytes);
            }
            "ftruncate" => {
                if let Some(Open { file, .. }) = file(0) {
                    self.resize(file, call.number(1).unwrap() as usize);
                }
            }
            "fsync" | "fdatasync" => {
                if let Some(Open { file, .. }) = file(0) {
                    self.steps.push(Step::Sync { file });
                } else if let Some(path) = call.folder(0).filter(is_ours) {
                    assert!(
                        self.names.contains_key(&path),
                        "{} is synced, whose making was not seen",
                        path.display()
                    );
                    self.steps.push(Step::SyncFolder { path });
                }
            }
            "mkdir" | "mkdirat" => {
                let path = if call.name == "mkdir" { call.path(9, 0) } else { call.path(0, 1) };
                if is_ours(&path) {
                    self.make_folder(&path);
                }
            }
            "unlink" | "unlinkat" => {
                let path = if call.name == "unlink" { call.path(9, 0) } else { call.path(0, 1) };
                if is_ours(&path) {
                    self.names.remove(&path);
                    self.steps.push(Step::Unname { path });
                }
            }
            "rename" | "renameat" | "renameat2" | "link" | "linkat" => {
                let is_at = call.name.contains("at");
                let (from, to) = if is_at {
                    (call.path(0, 1), call.path(2, 3))
                } else {
                    (call.path(9, 0), call.path(9, 1))
                };
                if !is_ours(&to) {
                    return;
                }
                let file =
                    self.names.get(&from).copied().flatten().expect("what is renamed is a file of ours");
                self.names.insert(to.clone(), Some(file));
                if call.name.starts_with("link") {
                    self.steps.push(Step::Name { path: to, file });
                } else {
                    self.names.remove(&from);
                    self.steps.push(Step::Rename { from, to });
                }
            }
            name => {
                let is_ours = (0..call.arguments.len()).any(|argument| file(argument).is_some());
                assert!(!is_ours, "`{name}` is not followed");
            }
        }
    }

    fn create(&mut self, path: &Path) -> usize {
        let file = self.contents.len();
        self.contents.push(Vec::new());
        self.names.insert(path.to_owned(), Some(file));
        self.steps.push(Step::Name { path: path.to_owned(), file });
        file
    }

    fn make_folder(&mut self, path: &Path) {
        self.names.insert(path.to_owned(), None);
        self.steps.push(Step::Folder { path: path.to_owned() });
    }

    fn write(&mut self, file: usize, at: usize, bytes: Vec<u8>) {
        put(&mut self.contents[file], at, &bytes);
        self.steps.push(Step::Write { file, at, bytes });
    }

    fn resize(&mut self, file: usize, length: usize) {
        self.contents[file].resize(length, 0);
        self.steps.push(Step::Resize { file, length });
    }
}

/// A call that did what it was asked.
struct Call<'a> {
    name: &'a str,
    arguments: Vec<&'a [u8]>,
    result: u64,
}

impl<'a> Call<'a> {
    /// None of a call that failed, and of lines that tell of no call.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let open = line.iter().position(|&byte| byte == b'(')?;
        let name = std::str::from_utf8(&line[..open]).ok()?;
        let (mut arguments, mut begin, mut is_quoted, mut at) = (Vec::new(), open + 1, false, open + 1);
        loop {
            match line.get(at)? {
                b'\\' if is_quoted => at += 1,
                b'"' => is_quoted = !is_quoted,
                b',' | b')' if !is_quoted => {
                    arguments.push(line[begin..at].trim_ascii());
                    begin = at + 1;
                    if line[at] == b')' {
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        let result = line[begin..].trim_ascii_start().strip_prefix(b"= ")?;
        Some(Self { name, arguments, result: leading_number(result)? })
    }

    fn number(&self, argument: usize) -> Option<u64> {
        leading_number(self.arguments.get(argument)?)
    }

    /// What the text between quotes stands for.
    fn bytes(&self, argument: usize) -> Vec<u8> {
        let quoted = self.arguments[argument].strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        let mut text = quoted.expect("strings are told whole").iter().copied().peekable();
        let mut bytes = Vec::new();
        while let Some(byte) = text.next() {
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            let escaped = text.next().unwrap();
            bytes.push(match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'v' => 0x0b,
                b'f' => 0x0c,
                b'0'..=b'7' => {
                    let mut value = escaped - b'0';
                    for _ in 0..2 {
                        let Some(digit) = text.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
                        value = value * 8 + (digit - b'0');
                    }
                    value
                }
                other => other,
            });
        }
        bytes
    }

    /// The folder that a descriptor is of: `7</folder>`.
    fn folder(&self, argument: usize) -> Option<PathBuf> {
        let text = std::str::from_utf8(self.arguments.get(argument)?).ok()?;
        Some(text.split_once('<')?.1.strip_suffix('>')?.into())
    }

    /// The path in one argument, which may be relative to the folder in another.
    fn path(&self, folder: usize, argument: usize) -> PathBuf {
        let path = PathBuf::from(String::from_utf8(self.bytes(argument)).unwrap_or_default());
        self.folder(folder).unwrap_or_default().join(path)
    }
}

fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}
