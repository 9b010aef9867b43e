//! A folder with documents, in which the program runs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that is gone with the test; its own home, so that nothing of the machine plays a part.
pub(crate) struct Folder {
    folder: TempDir,
    home: TempDir,
}

/// What a run printed, and its exit status.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// A folder with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { folder: TempDir::new().unwrap(), home: TempDir::new().unwrap() };
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The program, not yet run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_under(&[], args)
    }

    /// The program, not yet run, behind another one that runs it, such as `strace` with its options.
    pub(crate) fn command_under(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let line = [wrapper, &[env!("CARGO_BIN_EXE_chunkwright")], args].concat();
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).current_dir(self.path()).env_clear();
        command.env("HOME", self.home.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        run(&mut self.command(args), b"")
    }

    /// Runs the program with this on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        run(self.command(args).stdin(Stdio::piped()), input)
    }

    /// Runs the program with these variables.
    pub(crate) fn run_with_variables(&self, args: &[&str], variables: &[(&str, &str)]) -> Run {
        run(self.command(args).envs(variables.iter().copied()), b"")
    }
}

fn run(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// The results; the run was a success and said nothing else.
    #[track_caller]
    pub(crate) fn success(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        self.stdout
    }

    /// The JSON Lines of a successful run.
    #[track_caller]
    pub(crate) fn lines(self) -> Vec<Value> {
        self.success().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The run failed with nothing but this sentence.
    #[track_caller]
    pub(crate) fn fails(self, sentence: &str) {
        assert_eq!((self.code, self.stderr.trim_end(), self.stdout.as_str()), (2, sentence, ""));
    }
}

/// Sections with paragraphs of different words, enough for several chunks.
pub(crate) fn guide(sections: usize) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("# Guide\n\nWhat this guide is about.\n\n");
    for section in 0..sections {
        let _ = writeln!(text, "## Part {section}\n");
        for paragraph in 0..6 {
            for word in 0..40 {
                let _ = write!(text, "word{} ", section * 1000 + paragraph * 100 + word);
            }
            text.push_str("end.\n\n");
        }
    }
    text
}
