//! Jobs: work that outlives its request; queued, followed, cancelled, and resumed after a restart.
//!
//! Jobs of one collection run one after another; jobs of different collections run side by side, a few at a time. Every
//! change of a job except its progress is on disk before it is acknowledged, so that a killed process finds its jobs
//! again. A job that was running or waiting runs again if that leads to the same result, and otherwise becomes
//! `interrupted`.

pub(crate) mod queues;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use chunkwright_index::Progress;
use chunkwright_index::atomic_file::AtomicFile;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::{Map, Value};
use tracing::field::Empty;

use crate::core::engine::Engine;
use crate::core::observe::TRACE;
use crate::error::Error;
use crate::request::index::progress::RunProgress;
use crate::request::job::{Job, JobError, JobState};
use crate::request::task::Task;
use crate::work::jobs::queues::Queues;

/// Number of finished jobs that are kept, the latest ones.
const KEPT: usize = 1_000;

/// Maximum number of jobs that run at once.
const MOST_WORKERS: usize = 16;

/// Number of separately fetched results that are kept, the latest ones.
const KEPT_RESULTS: usize = 20;

/// Number of times a job is started before it is given up: a job that crashes its process would restart forever.
const MOST_ATTEMPTS: u32 = 3;

/// The jobs of an engine. Clones share them.
#[derive(Clone)]
pub struct Jobs {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    folder: PathBuf,
    /// Held until everything has stopped, so that no other process runs the jobs too.
    lock: Mutex<Option<File>>,
    known: Mutex<Known>,
    changed: Condvar,
    is_stopping: AtomicBool,
}

#[derive(Default)]
struct Known {
    jobs: BTreeMap<u64, Job>,
    /// Cancel flags of the jobs that have not ended.
    cancels: HashMap<u64, Arc<AtomicBool>>,
    /// The waiting jobs.
    queues: Queues,
    /// The ended jobs.
    over: BTreeSet<u64>,
    /// Number of worker threads.
    workers: usize,
    last: u64,
}

impl Jobs {
    /// Opens the jobs in `folder`, which is created if missing. Unfinished jobs are resumed, or become `interrupted`.
    /// If the store is read-only, jobs are only listed.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read or written, or whose jobs another process runs.
    pub fn open(engine: Engine, folder: &Path) -> Result<Self, Error> {
        let lock = (!engine.is_read_only()).then(|| claim(folder)).transpose()?;
        let mut known = Known::default();
        let entries = match fs::read_dir(folder) {
            Err(error) if lock.is_some() => return Err(Error::Jobs(error)),
            entries => entries.into_iter().flatten(),
        };
        for entry in entries {
            let path = entry.map_err(Error::Jobs)?.path();
            let Some(id) = id_of(&path) else { continue };
            known.last = known.last.max(id);
            // A job whose file cannot be read is lost; its number stays used.
            let read = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Job>(&bytes).ok());
            known.jobs.extend(read.map(|job| (id, job)));
        }
        let jobs = Self {
            inner: Arc::new(Inner {
                engine,
                folder: folder.to_owned(),
                lock: Mutex::new(lock),
                known: Mutex::new(known),
                changed: Condvar::new(),
                is_stopping: AtomicBool::new(false),
            }),
        };
        if !jobs.inner.engine.is_read_only() {
            jobs.take_up()?;
        }
        Ok(jobs)
    }

    /// Queues or ends the jobs that the previous process left unfinished.
    fn take_up(&self) -> Result<(), Error> {
        let mut known = self.lock();
        let left: Vec<u64> =
            known.jobs.values().filter(|job| !job.state.is_over()).map(|job| job.id).collect();
        for id in left {
            let now = self.inner.engine.now();
            let Some(job) = known.jobs.get_mut(&id) else { continue };
            let was_begun = job.state == JobState::Running;
            if !was_begun || (job.task.is_resumable() && job.attempts < MOST_ATTEMPTS) {
                job.state = JobState::Queued;
                self.save(job)?;
                known.cancels.insert(id, Arc::default());
            } else {
                let message = "the process ended while the job ran; what it had done by then stays";
                job.state = JobState::Interrupted;
                job.error = Some(JobError { code: "interrupted".into(), message: message.into() });
                job.finished_at = Some(now);
                self.save(job)?;
            }
        }
        let Known { jobs, queues, over, .. } = &mut *known;
        for job in jobs.values() {
            if job.state.is_over() {
                over.insert(job.id);
            } else {
                queues.push(job.queue(), job.id);
            }
        }
        self.work(&mut known)
    }

    /// Queues a task, with values of the settings over those of the engine.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used, jobs that are being stopped, a job that cannot be remembered.
    pub fn submit(&self, task: Task, settings: Map<String, Value>) -> Result<Job, Error> {
        let engine = &self.inner.engine;
        engine.check_writable()?;
        engine.settings().with(settings.clone())?;
        if self.inner.is_stopping.load(Ordering::SeqCst) {
            return Err(Error::Cancelled);
        }
        let mut known = self.lock();
        known.last += 1;
        let job = Job {
            id: known.last,
            task: task.with_absolute_paths(),
            settings,
            state: JobState::Queued,
            progress: RunProgress::default(),
            submitted_at: engine.now(),
            started_at: None,
            finished_at: None,
            attempts: 0,
            answer: None,
            error: None,
            revision: 0,
        };
        self.save(&job)?;
        known.cancels.insert(job.id, Arc::default());
        known.queues.push(job.queue(), job.id);
        let shown = job.shown();
        known.jobs.insert(job.id, job);
        self.forget(&mut known);
        self.work(&mut known)?;
        Ok(shown)
    }

    /// All jobs that are kept, newest first.
    pub fn list(&self) -> Vec<Job> {
        self.lock().jobs.values().rev().map(Job::shown).collect()
    }

    /// One job.
    ///
    /// # Errors
    ///
    /// A job that is not remembered.
    pub fn get(&self, id: u64) -> Result<Job, Error> {
        self.lock().jobs.get(&id).map(Job::shown).ok_or(Error::UnknownJob { id })
    }

    /// Asks a job to stop. A running job stops between two steps and keeps what it has done; an ended job stays as it
    /// is.
    ///
    /// # Errors
    ///
    /// A job that is not remembered, or whose end cannot be.
    pub fn cancel(&self, id: u64) -> Result<Job, Error> {
        self.inner.engine.check_writable()?;
        let mut known = self.lock();
        if let Some(cancel) = known.cancels.get(&id) {
            cancel.store(true, Ordering::SeqCst);
        }
        let Known { jobs, queues, over, .. } = &mut *known;
        let job = jobs.get_mut(&id).ok_or(Error::UnknownJob { id })?;
        if job.state == JobState::Queued {
            job.state = JobState::Cancelled;
            job.finished_at = Some(self.inner.engine.now());
            job.revision += 1;
            queues.remove(&job.queue(), id);
            over.insert(id);
            self.save(job)?;
            self.inner.changed.notify_all();
        }
        Ok(job.shown())
    }

    /// Waits until the revision of a job differs from `revision`, at most for `timeout`; `None` if it did not change.
    ///
    /// # Errors
    ///
    /// A job that is not remembered.
    pub fn wait_newer(&self, id: u64, revision: u64, timeout: Duration) -> Result<Option<Job>, Error> {
        let is_same = |known: &mut Known| known.jobs.get(&id).is_some_and(|job| job.revision == revision);
        let mut known = self.lock();
        self.inner.changed.wait_while_for(&mut known, is_same, timeout);
        let job = known.jobs.get(&id).ok_or(Error::UnknownJob { id })?;
        Ok((job.revision != revision).then(|| job.shown()))
    }

    /// Returns whether a job that changes the collection waits or runs.
    pub fn is_busy(&self, collection: &str) -> bool {
        self.lock().queues.has(&Some(queue_of(collection)))
    }

    /// Asks running jobs to stop at their next step, and waits for that, at most for `timeout`. Unfinished jobs resume
    /// when the jobs are opened again. Returns whether everything stopped.
    pub fn stop(&self, timeout: Duration) -> bool {
        self.inner.is_stopping.store(true, Ordering::SeqCst);
        let mut known = self.lock();
        known.cancels.values().for_each(|cancel| cancel.store(true, Ordering::SeqCst));
        self.inner.changed.notify_all();
        self.inner.changed.wait_while_for(&mut known, |known| known.workers > 0, timeout);
        let is_stopped = known.workers == 0;
        if is_stopped {
            self.inner.lock.lock().take();
        }
        is_stopped
    }

    /// Starts threads for the waiting jobs that may run.
    fn work(&self, known: &mut Known) -> Result<(), Error> {
        // Each thread without a job will take one of the ready jobs.
        while known.workers < MOST_WORKERS && known.workers - known.queues.running() < known.queues.ready() {
            let jobs = self.clone();
            let spawned = thread::Builder::new().name("jobs".into()).spawn(move || {
                while let Some(job) = jobs.begin() {
                    jobs.run(job);
                }
            });
            spawned.map_err(Error::Threads)?;
            known.workers += 1;
        }
        Ok(())
    }

    /// Starts the next job that may run; `None` tells the thread to end.
    fn begin(&self) -> Option<Job> {
        let mut known = self.lock();
        let now = self.inner.engine.now();
        let is_stopping = self.inner.is_stopping.load(Ordering::SeqCst);
        let Known { jobs, queues, .. } = &mut *known;
        let next = if is_stopping { None } else { queues.pop() };
        let Some(job) = next.and_then(|id| jobs.get_mut(&id)) else {
            known.workers -= 1;
            self.inner.changed.notify_all();
            return None;
        };
        (job.state, job.started_at) = (JobState::Running, Some(now));
        job.attempts += 1;
        job.revision += 1;
        let job = job.clone();
        if let Err(error) = self.save(&job) {
            tracing::warn!(%error, job = job.id, "that a job began could not be remembered");
        }
        self.inner.changed.notify_all();
        Some(job)
    }

    /// Runs a job to its end.
    fn run(&self, job: Job) {
        let id = job.id;
        let cancel = self.lock().cancels.get(&id).map(Arc::clone).unwrap_or_default();
        let engine = &self.inner.engine;
        let on_progress = |progress: Progress<'_>| {
            let mut known = self.lock();
            if let Some(job) = known.jobs.get_mut(&id) {
                job.progress.note(progress);
                job.revision += 1;
            }
            self.inner.changed.notify_all();
        };
        let span = tracing::info_span!(
            target: TRACE,
            parent: None,
            "job",
            otel.name = format!("job {}", job.task.kind()),
            otel.status_code = Empty,
            job.id = id,
            job.kind = job.task.kind(),
            job.attempt = job.attempts,
            job.outcome = Empty,
        );
        let settings = engine.settings().with(job.settings).map_err(Error::from);
        let result = span.in_scope(|| {
            let settings = settings?;
            let engine = engine.with(settings, Arc::clone(&cancel));
            if !matches!(job.task, Task::Diff { .. }) {
                return engine.perform(job.task, &on_progress);
            }
            // A result without its job, or a job without its result, means that the process ended in between.
            let file = AtomicFile::create_private(&result_of(&self.inner.folder, id)).map_err(Error::Jobs)?;
            let mut sink = BufWriter::with_capacity(1 << 16, file);
            let answer = engine.perform_into(job.task, &mut sink, &on_progress)?;
            let file = sink.into_inner().map_err(|error| Error::Jobs(error.into_error()))?;
            file.persist().map_err(Error::Jobs)?;
            Ok(answer)
        });
        let now = engine.now();
        let mut known = self.lock();
        known.cancels.remove(&id);
        let Some(job) = known.jobs.get_mut(&id) else { return };
        job.revision += 1;
        let is_stopping = self.inner.is_stopping.load(Ordering::SeqCst);
        match result {
            Ok(answer) => (job.state, job.answer) = (JobState::Succeeded, Some(answer)),
            // The job is resumed next time.
            Err(Error::Cancelled) if is_stopping => {
                job.state = JobState::Queued;
                job.attempts = 0;
            }
            Err(Error::Cancelled) => job.state = JobState::Cancelled,
            Err(error) => {
                job.state = JobState::Failed;
                job.error = Some(JobError { code: error.code().name.to_owned(), message: error.to_string() });
            }
        }
        span.record("job.outcome", tracing::field::debug(job.state));
        if job.state == JobState::Failed {
            span.record("otel.status_code", "ERROR");
        }
        job.finished_at = job.state.is_over().then_some(now);
        if job.state.is_over() {
            job.task.drop_contents();
        }
        if let Err(error) = self.save(job) {
            tracing::warn!(%error, job = id, "how a job ended could not be remembered");
        }
        let (queue, is_over, is_diff) =
            (job.queue(), job.state.is_over(), matches!(job.task, Task::Diff { .. }));
        known.queues.done(&queue);
        if is_over {
            known.over.insert(id);
        }
        let mut diffs = known.jobs.values().rev().filter(|job| matches!(job.task, Task::Diff { .. }));
        if let Some(oldest) = diffs.nth(KEPT_RESULTS).filter(|_| is_diff) {
            // A result that could not be removed now is removed with its job.
            let _ = fs::remove_file(result_of(&self.inner.folder, oldest.id));
        }
        self.inner.changed.notify_all();
    }

    /// The result of a job that is too large for its answer, as lines of JSON: the changes of a comparison, followed by
    /// their summary.
    ///
    /// # Errors
    ///
    /// A job that is not remembered, has not succeeded, has no such result, or whose result is not kept any more.
    pub fn result(&self, id: u64) -> Result<File, Error> {
        let is_done = self.get(id)?.state == JobState::Succeeded;
        let file = File::open(result_of(&self.inner.folder, id)).ok().filter(|_| is_done);
        file.ok_or(Error::NoResult { id, kept: KEPT_RESULTS })
    }

    fn save(&self, job: &Job) -> Result<(), Error> {
        let write = || -> io::Result<()> {
            let mut file = AtomicFile::create_private(&path_of(&self.inner.folder, job.id))?;
            file.write_all(&serde_json::to_vec(job)?)?;
            file.persist()
        };
        write().map_err(Error::Jobs)
    }

    /// Drops the oldest ended jobs if there are too many.
    fn forget(&self, known: &mut Known) {
        while known.over.len() > KEPT
            && let Some(id) = known.over.pop_first()
        {
            known.jobs.remove(&id);
            // A job whose file could not be removed is loaded again next time.
            let _ = fs::remove_file(path_of(&self.inner.folder, id));
            let _ = fs::remove_file(result_of(&self.inner.folder, id));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.inner.known.lock()
    }
}

impl Job {
    /// The job without the bytes of its documents.
    fn shown(&self) -> Self {
        Self {
            task: self.task.without_contents(),
            settings: self.settings.clone(),
            progress: self.progress,
            submitted_at: self.submitted_at.clone(),
            started_at: self.started_at.clone(),
            finished_at: self.finished_at.clone(),
            answer: self.answer.clone(),
            error: self.error.clone(),
            ..*self
        }
    }

    /// The queue of the job: that of the collection it changes, or the one of all other jobs.
    fn queue(&self) -> Option<String> {
        if self.task.only_reads() {
            return None;
        }
        self.task.collection().map(queue_of)
    }
}

/// The queue of a collection and its generations.
fn queue_of(collection: &str) -> String {
    collection.split('@').next().unwrap_or_default().to_owned()
}

/// Creates the folder and takes its lock.
fn claim(folder: &Path) -> Result<File, Error> {
    fs::create_dir_all(folder).map_err(Error::Jobs)?;
    let lock = File::create(folder.join("lock")).map_err(Error::Jobs)?;
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Error::JobsElsewhere,
        TryLockError::Error(error) => Error::Jobs(error),
    })?;
    Ok(lock)
}

fn path_of(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// The path of a job's separately fetched result.
fn result_of(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("{id}.jsonl"))
}

/// The number of the job in a file with this name.
fn id_of(path: &Path) -> Option<u64> {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    path.file_stem().filter(|_| is_json)?.to_str()?.parse().ok()
}
