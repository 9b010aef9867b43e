//! Sets up a store: the folder, its lock and its tables.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::{read, write};
use crate::analysis;
use crate::atomic_file::{folder_of, persist_new, sync_folder};
use crate::error::StoreError;

/// Raised when the tables or the required fields of records change; opening to write then migrates stores of the
/// previous layout. This is the first layout that migrations start from.
pub(super) const LAYOUT: i64 = 6;

/// Marks the file as ours ("CWRT").
const APPLICATION_ID: i64 = 0x4357_5254;

pub(super) const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- `current` is the generation that searches see.
CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, current INTEGER);
CREATE TABLE generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    strategy_version TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    model INTEGER,
    was_current INTEGER NOT NULL,
    change INTEGER NOT NULL DEFAULT 0
);
-- `sparse` says whether the model gives sparse vectors beside the dense ones.
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    sparse INTEGER NOT NULL DEFAULT 0
);
-- `id` is the version of a document: a replacement has a new one.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    doc_id TEXT NOT NULL,
    root TEXT NOT NULL,
    prefix TEXT NOT NULL DEFAULT '',
    file_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    preset TEXT NOT NULL,
    format TEXT NOT NULL,
    encoding TEXT NOT NULL,
    low_confidence INTEGER NOT NULL,
    replacements INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    overlays TEXT NOT NULL,
    indexed_at TEXT NOT NULL,
    UNIQUE (generation, doc_id)
);
-- Apart from `documents`, so that listing those reads no text. `raw` is NULL where `source` is the file.
CREATE TABLE sources (
    document INTEGER PRIMARY KEY,
    doc_toc TEXT NOT NULL,
    summary TEXT NOT NULL,
    source BLOB NOT NULL,
    raw BLOB
);
-- `record` is JSON without what the document and the generation say, and without content and text, which
-- are the bytes `start` to `end` of the source, with the context before and the tail after; where `tail`
-- is NULL it has them. `artifact` is NULL for chunks; summaries stand behind the chunks of their
-- document. `symbols` has a name a line. `terms` is what BM25 reads. `vector` is NULL where there is none.
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    document INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    chunk_id BLOB NOT NULL,
    text_hash BLOB NOT NULL,
    vector INTEGER,
    enabled INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    category TEXT NOT NULL,
    language TEXT,
    content_type TEXT NOT NULL,
    artifact TEXT,
    symbols TEXT NOT NULL,
    terms BLOB NOT NULL,
    tail TEXT,
    record TEXT NOT NULL,
    UNIQUE (generation, chunk_id),
    UNIQUE (document, idx)
);
-- `sparse` is NULL where the model gives none; its checksum is over both, so that none is with another's.
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    sparse BLOB,
    UNIQUE (model, text_hash)
);
CREATE TABLE notes (key BLOB PRIMARY KEY, note TEXT NOT NULL) WITHOUT ROWID;
-- What was changed by hand: `overlay` is JSON. What of it is on chunks is in `documents`.
CREATE TABLE overlays (
    collection INTEGER NOT NULL,
    chunk_id TEXT NOT NULL,
    overlay TEXT NOT NULL,
    PRIMARY KEY (collection, chunk_id)
) WITHOUT ROWID;
";

/// Indexes for finding the generations of a collection without reading others, and for counting a generation without
/// reading rows. They are not part of the layout: opening to write adds them if they are missing.
const INDEXES: &str = "
CREATE INDEX IF NOT EXISTS generations_by_collection ON generations (collection);
CREATE INDEX IF NOT EXISTS documents_counted ON documents (generation, chunks, pending);
";

/// Metadata of documents: `meta` is JSON. As [`RUNS`], the table is created with its first row.
pub(super) const META: &str = "
CREATE TABLE IF NOT EXISTS document_meta (document INTEGER PRIMARY KEY, meta TEXT NOT NULL);
";

/// The last runs that changed a collection: `run` is JSON. The table is created with its first row and is not part of
/// the layout: a store without it has no runs, so that it can be read before it is written.
pub(super) const RUNS: &str = "
CREATE TABLE IF NOT EXISTS runs (
    collection INTEGER NOT NULL,
    number INTEGER NOT NULL,
    run TEXT NOT NULL,
    PRIMARY KEY (collection, number)
) WITHOUT ROWID;
";

/// How long `SQLite` waits for another process before it gives up. Our own lock keeps writers apart; only brief waits
/// for its bookkeeping remain.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates the folder, accessible by its owner only, and excludes it from version control.
///
/// # Errors
///
/// Errors of the file system.
pub fn create_folder(path: &Path) -> std::io::Result<()> {
    if !path.is_dir() {
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(path)?;
        // `SQLite` syncs the folder of its file, but none above it.
        for folder in missing {
            sync_folder(folder_of(folder))?;
        }
    }
    // A killed process may have created the folder and nothing in it. A folder with other content is not ours.
    let is_ours = |entry: fs::DirEntry| {
        entry.file_name() == IGNORE && entry.metadata().is_ok_and(|metadata| metadata.len() == 0)
    };
    if fs::read_dir(path)?.flatten().all(is_ours) {
        let mut file = File::create(path.join(IGNORE))?;
        file.write_all(b"*\n")?;
        file.sync_all()?;
    }
    Ok(())
}

const IGNORE: &str = ".gitignore";

/// The file that is locked.
const LOCK: &str = "lock";

/// Returns whether any process ever opened the store in the folder `path` to write.
pub(super) fn is_locked_once(path: &Path) -> bool {
    path.join(LOCK).exists()
}

/// Takes the lock of the folder `path`, which is held until the returned file is closed.
///
/// # Errors
///
/// [`StoreError::Locked`] if another process holds it; errors of the file system.
pub fn lock(path: &Path) -> Result<File, StoreError> {
    let file = path.join(LOCK);
    let io = |error| StoreError::Io { path: file.display().to_string(), error };
    let mut lock =
        File::options().read(true).write(true).create(true).truncate(false).open(&file).map_err(io)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder =
                holder(&lock).map_or("another process".into(), |process| format!("process {process}"));
            return Err(StoreError::Locked { path: path.display().to_string(), holder });
        }
        Err(TryLockError::Error(error)) => return Err(io(error)),
    }
    let write = |lock: &mut File| {
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(format!("{}\n", std::process::id()).as_bytes())
    };
    write(&mut lock).map_err(io)?;
    Ok(lock)
}

/// The process that holds a lock, by its entry in the file; `None` where locks are mandatory, so that it cannot be read. It
/// writes the entry just after it took the lock, which another process may see in between.
fn holder(mut lock: &File) -> Option<u32> {
    for attempt in 0..20 {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut entry = String::new();
        lock.rewind().ok()?;
        lock.take(32).read_to_string(&mut entry).ok()?;
        if let Ok(process) = entry.trim().parse() {
            return Some(process);
        }
    }
    None
}

/// Sets up a connection for repeated statements.
///
/// # Errors
///
/// Errors of `SQLite`.
pub fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Otherwise `SQLite` recompiles a statement whenever another value is bound to it, which takes longer than running
    // it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Creates the file of a store under another name and moves it into place: if this is interrupted, there is a store
/// with its tables or none. The caller holds the lock.
pub(super) fn create(file: &Path) -> Result<(), StoreError> {
    let io = |error| StoreError::Io { path: file.display().to_string(), error };
    // Left behind by a killed process.
    match fs::remove_file(file.with_extension(NEW)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
        _ => {}
    }
    let (mut builder, suffix) = (tempfile::Builder::new(), format!(".{NEW}"));
    builder.prefix(file.file_stem().unwrap_or_default()).suffix(&suffix).rand_bytes(0);
    let new = builder.tempfile_in(folder_of(file)).map_err(io)?;
    let mut connection = Connection::open(new.path())?;
    // The journal is deleted with the connection, so that only one file is moved.
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    create_tables(&transaction)?;
    transaction.commit()?;
    drop(connection);
    persist_new(new, file).map_err(io)
}

/// Extension of the file of a store that is being created.
const NEW: &str = "new";

/// Takes effect in a new file only. A vector takes 1.5 KB and a chunk about as much: a quarter of each page of 4 KB
/// would be empty.
const PAGE_SIZE: i64 = 16_384;

fn create_tables(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(TABLES)?;
    connection.execute_batch(INDEXES)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", LAYOUT)?;
    connection.execute("INSERT INTO meta VALUES ('analysis', ?1)", [analysis::VERSION])?;
    Ok(())
}

/// Sets up a connection that writes, and the tables if there are none.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    set_up(connection)?;
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -64_000)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if has_no_tables(&transaction)? {
        create_tables(&transaction)?;
        transaction.commit()?;
        return Ok(());
    }
    check_layout(&transaction)?;
    let analysed = analysis_version(&transaction)? != Some(i64::from(analysis::VERSION));
    if analysed {
        write::analyse_again(&transaction)?;
        transaction.execute("INSERT OR REPLACE INTO meta VALUES ('analysis', ?1)", [analysis::VERSION])?;
    }
    let is_indexed = read::has(&transaction, "index", "documents_counted")?;
    transaction.execute_batch(INDEXES)?;
    if analysed || !is_indexed {
        transaction.commit()?;
    }
    Ok(())
}

/// Returns whether the file has no tables yet.
pub(super) fn has_no_tables(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| row.get(0))?)
}

fn check_application(connection: &Connection) -> Result<(), StoreError> {
    if pragma(connection, "application_id")? == APPLICATION_ID {
        return Ok(());
    }
    Err(StoreError::Damaged { problem: "its file is not one of this program".into() })
}

pub(super) fn check_layout(connection: &Connection) -> Result<(), StoreError> {
    check_application(connection)?;
    match pragma(connection, "user_version")? {
        LAYOUT => Ok(()),
        found => Err(StoreError::Layout { found, expected: LAYOUT }),
    }
}

pub(super) fn pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

pub(super) fn analysis_version(connection: &Connection) -> Result<Option<i64>, StoreError> {
    let query = "SELECT value FROM meta WHERE key = 'analysis'";
    Ok(connection.query_row(query, [], |row| row.get(0)).optional()?)
}
