//! The owner of a store: the one process through which all others write.
//!
//! One process at a time holds the lock of a store. A process that holds it for long, such as a server, is its *owner*:
//! it listens on a socket beside the store, and other processes send it what they want to write. Reading needs no
//! owner.
//!
//! The lock alone decides who the owner is: the system releases it when a process ends, however it ends. The process
//! that takes the lock next removes the socket of its predecessor. So there are never two owners, and the next process
//! that writes replaces a dead one.
//!
//! The socket lies in a folder that only its user may enter, so every process that can connect could also write to the
//! store directly. The protocol is lines of JSON: one [`Call`], then [`Reply`]s up to the answer. A caller cancels its
//! call by hanging up.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use chunkwright_index::Progress;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{CODES, Error};
use crate::request::task::Call;

/// The folder of the socket, inside that of the store.
const FOLDER: &str = "owner";

/// Maximum length of a line (1 GiB): it may contain documents from memory.
const MAX_LINE: u64 = 1 << 30;

/// Answers a call. The flag becomes true when the caller hangs up.
type Answer = dyn Fn(Call, Arc<AtomicBool>, &dyn Fn(Progress<'_>)) -> Result<Value, Error> + Send + Sync;

/// A reply of the owner.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Progress(Event),
    Answer(Value),
    Failed { code: String, message: String },
}

/// A progress event of a run.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Found { files: usize, bytes: u64 },
    Read { files: usize, bytes: u64 },
    Embedded { texts: usize, found: usize, tokens: usize },
    Committed { doc_ids: Vec<String> },
}

impl Event {
    fn new(progress: Progress<'_>) -> Option<Self> {
        Some(match progress {
            Progress::Found { files, bytes } => Self::Found { files, bytes },
            Progress::Read { files, bytes } => Self::Read { files, bytes },
            Progress::Embedded { texts, found, tokens } => Self::Embedded { texts, found, tokens },
            Progress::Committed { doc_ids } => Self::Committed { doc_ids: doc_ids.to_vec() },
            // Events that this version does not know cannot be forwarded.
            _ => return None,
        })
    }

    fn progress(&self) -> Progress<'_> {
        match self {
            Self::Found { files, bytes } => Progress::Found { files: *files, bytes: *bytes },
            Self::Read { files, bytes } => Progress::Read { files: *files, bytes: *bytes },
            Self::Embedded { texts, found, tokens } => {
                Progress::Embedded { texts: *texts, found: *found, tokens: *tokens }
            }
            Self::Committed { doc_ids } => Progress::Committed { doc_ids },
        }
    }
}

/// The owner of a store: another process.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    folder: PathBuf,
}

impl Owner {
    /// Connects to the owner of the store in `store`, if one answers.
    pub(crate) fn of(store: &Path) -> Option<Self> {
        let owner = Self { folder: store.join(FOLDER) };
        owner.connect().ok().map(|_| owner)
    }

    /// Returns whether the owner still runs.
    pub(crate) fn is_there(&self) -> bool {
        self.connect().is_ok()
    }

    fn connect(&self) -> io::Result<UnixStream> {
        let folder = File::open(&self.folder)?;
        UnixStream::connect(socket(&self.folder, &folder))
    }

    /// Has the owner answer a call. Hangs up once `cancel` is true.
    pub(crate) fn perform(
        &self,
        call: &Call,
        cancel: &AtomicBool,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<Value, Error> {
        let gone = |_| Error::OwnerGone;
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        let mut stream = self.connect().map_err(gone)?;
        stream.write_all(&line).map_err(gone)?;
        // A call is cancelled by hanging up, which also ends the reader below.
        let hang_up = stream.try_clone().map_err(gone)?;
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::SeqCst) {
                    if cancel.load(Ordering::SeqCst) {
                        // If this fails, the connection is already gone.
                        let _ = hang_up.shutdown(std::net::Shutdown::Both);
                        return;
                    }
                    thread::park_timeout(LOOK);
                }
            });
            let answer = read_replies(BufReader::new(stream), on_progress);
            is_done.store(true, Ordering::SeqCst);
            answer
        })
    }
}

/// Interval at which a waiting caller checks whether to stop.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);

fn read_replies(replies: impl io::BufRead, on_progress: &dyn Fn(Progress<'_>)) -> Result<Value, Error> {
    for line in replies.lines() {
        let line = line.map_err(|_| Error::OwnerGone)?;
        match serde_json::from_str(&line)? {
            Reply::Progress(event) => on_progress(event.progress()),
            Reply::Answer(answer) => return Ok(answer),
            Reply::Failed { code, message } => {
                let known = CODES.iter().find(|known| known.name == code);
                return Err(known.map_or(Error::OwnerGone, |code| Error::ByOwner { code: *code, message }));
            }
        }
    }
    Err(Error::OwnerGone)
}

/// The path of the socket in `folder`. The system limits such paths to about a hundred bytes; going through an open
/// folder keeps it short.
fn socket(folder: &Path, open: &File) -> PathBuf {
    let path = folder.join("socket");
    let short = Path::new("/proc/self/fd").join(open.as_raw_fd().to_string());
    if path.as_os_str().len() > 90 && short.exists() { short.join("socket") } else { path }
}

/// Listens for writes of other processes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    owner: Owner,
    is_over: Arc<AtomicBool>,
}

impl Listener {
    /// Starts to listen beside the store in `store`, whose lock this process holds. Calls are answered by `perform`.
    pub(crate) fn start(
        store: &Path,
        perform: impl Fn(Call, Arc<AtomicBool>, &dyn Fn(Progress<'_>)) -> Result<Value, Error>
        + Send
        + Sync
        + 'static,
    ) -> io::Result<Self> {
        let perform: Arc<Answer> = Arc::new(perform);
        let folder = store.join(FOLDER);
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let open = File::open(&folder)?;
        let path = socket(&folder, &open);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        thread::Builder::new().name("owner".into()).spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let perform = Arc::clone(&perform);
                // If no thread can be started, the caller sees the connection close.
                let _ = thread::Builder::new().name("owned".into()).spawn(move || answer(stream, &*perform));
            }
        })?;
        Ok(Self { owner: Owner { folder }, is_over })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread. The socket is removed first, so that no other process connects.
        let connected = self.owner.connect();
        // The next owner removes what could not be removed here.
        let _ = fs::remove_file(self.owner.folder.join("socket"));
        drop(connected);
    }
}

/// Answers one caller.
fn answer(stream: UnixStream, perform: &Answer) {
    let cancel = Arc::new(AtomicBool::new(false));
    let Ok(reader) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    let is_read = reader.by_ref().take(MAX_LINE).read_line(&mut line).is_ok_and(|read| read > 0);
    if !is_read {
        return;
    }
    let hung_up = Arc::clone(&cancel);
    // Ends when the caller does, or when the stream below is shut down.
    let watcher = thread::Builder::new().name("hang-up".into()).spawn(move || {
        let _ = io::copy(&mut reader, &mut io::sink());
        hung_up.store(true, Ordering::SeqCst);
    });
    let stream = Mutex::new(stream);
    let send = |reply: &Reply| {
        let mut stream = stream.lock();
        let Ok(mut line) = serde_json::to_vec(reply) else { return };
        line.push(b'\n');
        if stream.write_all(&line).is_err() {
            cancel.store(true, Ordering::SeqCst);
        }
    };
    let on_progress = |progress: Progress<'_>| {
        if let Some(event) = Event::new(progress) {
            send(&Reply::Progress(event));
        }
    };
    let call = serde_json::from_str::<Call>(&line).map_err(Error::from);
    let result = call.and_then(|call| perform(call, Arc::clone(&cancel), &on_progress));
    send(&match result {
        Ok(answer) => Reply::Answer(answer),
        Err(error) => Reply::Failed { code: error.code().name.to_owned(), message: error.to_string() },
    });
    let _ = stream.lock().shutdown(std::net::Shutdown::Both);
    if let Ok(watcher) = watcher {
        let _ = watcher.join();
    }
}
