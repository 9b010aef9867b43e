//! Runs git to read what it knows about files.
//!
//! The program `git` is run because it is installed wherever there is a repository, and knows every format and setting
//! of repositories. Nothing is written into a repository.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

/// The program `git` in a folder.
#[derive(Clone, Debug)]
pub struct Git {
    folder: PathBuf,
    index: Option<PathBuf>,
}

impl Git {
    /// Asks about the repository around `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), index: None }
    }

    /// With an index at this path instead of that of the repository, which stays untouched.
    pub fn with_index(self, index: impl Into<PathBuf>) -> Self {
        Self { index: Some(index.into()), ..self }
    }

    /// Runs `git` with these arguments and returns its output.
    ///
    /// # Errors
    ///
    /// If the program cannot be run, of the kind [`NotFound`](io::ErrorKind::NotFound) if it is not installed; if it
    /// fails, with its standard error.
    pub fn run(&self, arguments: &[&str]) -> io::Result<Vec<u8>> {
        let output = self
            .command(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| io::Error::new(error.kind(), format!("`git` could not be run: {error}")))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let reason = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(reason.trim().trim_start_matches("fatal: ").to_owned()))
    }

    /// The one line that `git` prints, without its end.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn line(&self, arguments: &[&str]) -> io::Result<String> {
        let printed = self.run(arguments)?;
        Ok(String::from_utf8_lossy(&printed).trim_end_matches(['\n', '\r']).to_owned())
    }

    /// The contents of files by names such as `HEAD~1:docs/guide.md`, in one run of `git`. `None` if there is no such
    /// file, or it has more than `max_bytes`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn files(&self, names: &[String], max_bytes: usize) -> io::Result<Vec<Option<Vec<u8>>>> {
        let mut command = self.command(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut git = command.spawn()?;
        let (stdin, stdout) = (git.stdin.take(), git.stdout.take());
        let asked: String = names.iter().flat_map(|name| [name, "\n"]).collect();
        // Written while reading: git answers before all requests are sent.
        let ask = move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(asked.as_bytes()));
        let writer = thread::spawn(ask);
        let mut answers = BufReader::new(stdout.ok_or_else(|| io::Error::other("git has no output"))?);
        let files = names.iter().map(|_| file(&mut answers, max_bytes)).collect::<io::Result<_>>()?;
        writer.join().map_err(|_| io::Error::other("git could not be asked"))??;
        git.wait()?;
        Ok(files)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.folder).args(["-c", "core.quotePath=off"]).args(arguments);
        if let Some(index) = &self.index {
            git.env("GIT_INDEX_FILE", index);
        }
        git
    }
}

/// The next answer of `git cat-file --batch`: `<hash> blob <size>`, the bytes, a line break; or one line.
fn file(answers: &mut impl BufRead, max_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let mut header = String::new();
    answers.read_line(&mut header)?;
    let mut fields = header.split_whitespace().skip(1);
    let (kind, size) = (fields.next(), fields.next().and_then(|size| size.parse::<u64>().ok()));
    let (Some(kind), Some(size)) = (kind, size) else { return Ok(None) };
    let mut bytes = Vec::new();
    answers.by_ref().take(size + 1).read_to_end(&mut bytes)?;
    bytes.pop();
    Ok((kind == "blob" && bytes.len() <= max_bytes).then_some(bytes))
}
