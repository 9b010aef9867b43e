//! Conversion in a child process with bounded memory and time.
//!
//! The libraries unpack streams and lay out pages as a file instructs them, and a few hundred bytes can make them fill
//! gigabytes or work for hours. A thread can be neither bounded nor killed. A process can: its address space is limited
//! before it starts, and it is killed if it takes too long. Running out of memory or of stack then costs one document.
//!
//! The child is the caller's own program: it calls [`run_child`] if its first argument is [`CHILD`], and gives this
//! crate its path by [`contain_in`]. Without that, files are converted in the caller's own process, unbounded.

#[cfg(not(unix))]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CONVERTERS, ConvertError, Converted, Converter, MAX_FILE_SIZE, MAX_TIME, convert_here};

/// The first argument of the program when it is to convert a file; the format's name is the second.
pub const CHILD: &str = "--convert-standard-input";

/// Address space of a child for any file, in megabytes: the program itself, the stack, what the library keeps.
const LEAST_MEMORY: u64 = 768;

/// Additional address space for each byte of the file.
const MEMORY_PER_BYTE: u64 = 16;

/// Stack of the child's converting thread, in bytes.
const STACK: usize = 64 << 20;

/// Longest answer that is read: half of the text may be escapes.
const MAX_ANSWER: u64 = 1 << 30;

/// What converts files from now on.
static CONTAINER: OnceLock<Container> = OnceLock::new();

/// Converts each file in a process of its own, which is bounded.
#[derive(Clone, Debug)]
pub struct Container {
    /// The program's path and first arguments. It calls [`run_child`] if the next argument is [`CHILD`].
    pub program: Vec<OsString>,
    /// Time of a process, of the clock and of the processor.
    pub time: Duration,
}

/// The answer of a child.
#[derive(Serialize, Deserialize)]
enum Answer {
    Converted(Converted),
    Encrypted,
    NoText,
    TooLarge { unpacked: bool, limit: u64 },
    Damaged { problem: String },
    Failed,
}

/// Has files converted by processes of `program`, a path and first arguments, from now on. The first call decides.
pub fn contain_in(program: Vec<OsString>) {
    let _ = CONTAINER.set(Container { program, time: MAX_TIME });
}

/// Converts standard input, a file of the format that is named, and answers to standard output. Returns the exit status of
/// the program.
pub fn run_child(format: &str) -> u8 {
    let Some(converter) = CONVERTERS.iter().find(|converter| converter.name() == format) else {
        return 2;
    };
    let mut bytes = Vec::new();
    if io::stdin().lock().take(MAX_FILE_SIZE as u64).read_to_end(&mut bytes).is_err() {
        return 2;
    }
    let answer = match convert_here(STACK, *converter, &bytes) {
        Ok(found) => Answer::Converted(found),
        Err(ConvertError::Encrypted) => Answer::Encrypted,
        Err(ConvertError::NoText) => Answer::NoText,
        Err(ConvertError::TooLarge { what, limit }) => Answer::TooLarge { unpacked: what == UNPACKED, limit },
        Err(ConvertError::Damaged { problem, .. }) => Answer::Damaged { problem },
        Err(_) => Answer::Failed,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    match serde_json::to_writer(&mut out, &answer).map_err(io::Error::from).and_then(|()| out.flush()) {
        Ok(()) => 0,
        Err(_) => 2,
    }
}

/// Name of the part that is too large, if it is not the text.
pub(crate) const UNPACKED: &str = "what it unpacks to";

/// What converts files, if a program was named for that.
pub(crate) fn container() -> Option<&'static Container> {
    CONTAINER.get()
}

impl Container {
    /// Converts a file.
    ///
    /// # Errors
    ///
    /// If the file takes too much time or memory, cannot be read, or contains no text.
    pub fn convert(
        &self,
        converter: &'static dyn Converter,
        bytes: &[u8],
    ) -> Result<Converted, ConvertError> {
        let limit = LEAST_MEMORY + ((bytes.len() as u64 * MEMORY_PER_BYTE) >> 20);
        let mut command = self.limited(limit);
        command.arg(CHILD).arg(converter.name());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => converse(child, self.time, bytes, converter.name(), limit),
            Err(error) => Err(ConvertError::Thread { problem: error.to_string() }),
        }
    }

    /// A command that starts the program with so many megabytes of address space, and with time that ends also if this
    /// process is killed and cannot end it.
    #[cfg(unix)]
    fn limited(&self, megabytes: u64) -> Command {
        let mut command = Command::new("/bin/sh");
        // A lower limit already in force stays.
        let script = "ulimit -v \"$0\" 2> /dev/null; ulimit -t \"$1\" 2> /dev/null; shift; exec \"$@\"";
        let seconds = self.time.as_secs().max(1).to_string();
        command.args(["-c", script]).arg((megabytes << 10).to_string()).arg(seconds).args(&self.program);
        command
    }

    /// Without such limits, only time bounds a child.
    #[cfg(not(unix))]
    fn limited(&self, _: u64) -> Command {
        let mut parts = self.program.iter();
        let mut command = Command::new(parts.next().map_or(OsStr::new(""), OsString::as_os_str));
        command.args(parts);
        command
    }
}

fn converse(
    mut child: Child,
    time: Duration,
    bytes: &[u8],
    format: &'static str,
    limit: u64,
) -> Result<Converted, ConvertError> {
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (sender, receiver) = mpsc::channel();
    let (answer, status) = thread::scope(|scope| {
        // A child that ends early closes its input; its status shows why.
        scope.spawn(move || input.map(|mut input| input.write_all(bytes)));
        scope.spawn(move || {
            let mut answer = Vec::new();
            let read = output.map(|output| output.take(MAX_ANSWER).read_to_end(&mut answer));
            let _ = sender.send(read.and_then(Result::ok).map(|_| answer));
        });
        let answer = receiver.recv_timeout(time);
        if answer.is_err() {
            // It may already have ended.
            let _ = child.kill();
        }
        (answer, child.wait())
    });
    let answer = match answer {
        Err(RecvTimeoutError::Timeout) => return Err(ConvertError::TooLong { seconds: time.as_secs() }),
        answer => answer.ok().flatten().unwrap_or_default(),
    };
    if status.is_ok_and(aborted) {
        return Err(ConvertError::TooMuchMemory { limit });
    }
    match serde_json::from_slice(&answer) {
        Ok(Answer::Converted(converted)) => Ok(converted),
        Ok(Answer::Encrypted) => Err(ConvertError::Encrypted),
        Ok(Answer::NoText) => Err(ConvertError::NoText),
        Ok(Answer::TooLarge { unpacked, limit }) => {
            Err(ConvertError::TooLarge { what: if unpacked { UNPACKED } else { "its text" }, limit })
        }
        Ok(Answer::Damaged { problem }) => Err(ConvertError::Damaged { format, problem }),
        Ok(Answer::Failed) | Err(_) => Err(ConvertError::Failed { format }),
    }
}

/// Whether a process ended as it does when it runs out of memory.
#[cfg(unix)]
fn aborted(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGABRT: i32 = 6;
    status.signal() == Some(SIGABRT)
}

#[cfg(not(unix))]
fn aborted(_: ExitStatus) -> bool {
    false
}
