//! Runs of the program under test, some of which are killed.
//!
//! A kill strikes at the n-th system call of a kind, so that a replay kills at the same place. If programs cannot be
//! traced, it strikes after a time instead, and a replay may differ.

use std::cell::Cell;
use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::random::Random;
use super::{finding, must};

/// Longer than any run takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// The program under test, with its folder and settings.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// The folder it runs in.
    pub(crate) folder: PathBuf,
    /// Its configuration, as variables.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// Whether `strace` can be used.
    pub(crate) is_traced: bool,
    /// Whether its store is on a server.
    pub(crate) is_remote: bool,
    /// Number of runs so far.
    pub(crate) runs: Cell<usize>,
}

/// When a run is killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kill {
    Never,
    /// At a system call, as `strace` says it.
    At(String),
    /// After a time.
    After(Duration),
}

impl Kill {
    /// A random kill.
    pub(crate) fn any(program: &Program, random: &mut Random) -> Self {
        // Small numbers are as likely as large ones.
        let reach = 1_usize << random.within(1..9);
        let at = random.within(1..reach + 1);
        if !program.is_traced {
            return Self::After(Duration::from_micros(at as u64 * 500));
        }
        let calls: &[&str] = if program.is_remote {
            &["sendto", "sendto", "sendto", "pwrite64", "unlink"]
        } else {
            &["pwrite64", "pwrite64", "fsync", "fdatasync", "ftruncate", "write", "unlink", "unlink"]
        };
        let call = random.pick(calls).copied().unwrap_or_default();
        let at = match call {
            "pwrite64" | "sendto" => at,
            // Files are removed when the store is closed, which is after the results are written.
            "unlink" => 1 + at % 3,
            _ => 1 + at % 16,
        };
        // A program may handle a request to end in order.
        let signal =
            random.pick(&["KILL", "KILL", "KILL", "KILL", "TERM", "INT"]).copied().unwrap_or_default();
        Self::At(format!("{call}:signal={signal}:when={at}"))
    }

    /// A random kill in `percent` of 100 cases.
    pub(crate) fn perhaps(percent: u64, program: &Program, random: &mut Random) -> Self {
        if random.chance(percent) { Self::any(program, random) } else { Self::Never }
    }
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => Ok(()),
            Self::At(blow) => write!(f, ", to be killed at {blow}"),
            Self::After(time) => write!(f, ", to be killed after {time:?}"),
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The command line, for people.
    pub(crate) command: String,
    /// The exit status; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Answer {
    /// Returns whether a signal ended it.
    pub(crate) fn is_killed(&self) -> bool {
        matches!(self.code, None | Some(130 | 143))
    }

    /// Returns whether it finished its work, for a program whose results are its last output.
    pub(crate) fn is_complete(&self) -> bool {
        !self.is_killed() || self.code.is_none() && !self.out.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Fails unless the exit status is one of these, or the run was killed as planned.
    pub(crate) fn expect(self, codes: &[i32]) -> Result<Self> {
        let is_right = self.is_killed() || self.code.is_some_and(|code| codes.contains(&code));
        must("exit status", is_right, || self.to_string())?;
        Ok(self)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or_else(|| "was killed".to_owned(), |code| format!("answered {code}"));
        let said = self.err.trim();
        let out = self.text();
        let out: String = out.chars().take(1500).collect();
        write!(f, "`{}` {code}: {said} {}", self.command, out.trim())
    }
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    command: String,
    files: [PathBuf; 2],
    kill: Kill,
    started: Instant,
}

impl Program {
    /// Runs it to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Answer> {
        self.start(arguments, &Kill::Never)?.wait()
    }

    /// Runs it, and kills it.
    pub(crate) fn run_killed(&self, arguments: &[&str], kill: &Kill) -> Result<Answer> {
        self.start(arguments, kill)?.wait()
    }

    /// Starts a run.
    pub(crate) fn start(&self, arguments: &[&str], kill: &Kill) -> Result<Running> {
        let run = self.runs.get() + 1;
        self.runs.set(run);
        let mut command = match kill {
            Kill::At(blow) => {
                let call = blow.split(':').next().unwrap_or_default();
                let mut command = Command::new("strace");
                command.args(["-f", "-qq", "-o", "/dev/null"]);
                command
                    .args(["-e", &format!("trace={call}"), "-e", &format!("inject={blow}")])
                    .arg(&self.path);
                command
            }
            _ => Command::new(&self.path),
        };
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        for (name, value) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CHUNKWRIGHT_") {
                command.env_remove(&name);
            }
            drop(value);
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        let files = ["out", "err"].map(|name| self.folder.join(format!("{run}.{name}")));
        let [out, err] = &files;
        command.stdout(File::create(out)?).stderr(File::create(err)?);
        let child = command.spawn().with_context(|| format!("`{}` cannot be run", self.path.display()))?;
        let command = format!("chunkwright {}{kill}", arguments.join(" "));
        Ok(Running { child, command, files, kill: kill.clone(), started: Instant::now() })
    }
}

impl Running {
    /// Returns whether it has ended.
    pub(crate) fn is_over(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Returns whether it has written a result.
    pub(crate) fn has_answered(&self) -> Result<bool> {
        Ok(fs::metadata(&self.files[0])?.len() > 0)
    }

    /// Kills it.
    pub(crate) fn stop(&mut self) -> Result<()> {
        // Killing `strace` does not kill the program that it traces.
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let traced = matches!(self.kill, Kill::At(_)).then(|| fs::read_to_string(children).ok()).flatten();
        for id in traced.iter().flat_map(|ids| ids.split_whitespace()) {
            Command::new("kill").args(["-KILL", id]).status()?;
        }
        if traced.is_none() {
            self.child.kill()?;
        }
        self.kill = Kill::After(Duration::ZERO);
        Ok(())
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Result<Answer> {
        let status = self.end()?;
        let [out, err] = &self.files;
        let answer = Answer {
            command: self.command.clone(),
            code: status.code(),
            out: fs::read(out)?,
            err: String::from_utf8_lossy(&fs::read(err)?).into_owned(),
        };
        self.files.iter().try_for_each(fs::remove_file)?;
        must("no crash", !answer.is_killed() || self.kill != Kill::Never, || answer.to_string())?;
        must("no panic", !answer.err.contains("panicked at"), || answer.to_string())?;
        Ok(answer)
    }

    fn end(&mut self) -> Result<ExitStatus> {
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            let time = self.started.elapsed();
            let is_due = matches!(self.kill, Kill::After(after) if time >= after);
            if is_due || time > PATIENCE {
                self.child.kill()?;
                let status = self.child.wait()?;
                if !is_due {
                    return Err(finding("a run ends", format!("`{}` took over {PATIENCE:?}", self.command)));
                }
                return Ok(status);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(4));
        }
    }
}
