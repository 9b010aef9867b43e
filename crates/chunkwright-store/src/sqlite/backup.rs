//! Backups: copies of a whole store, made while it is in use.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, params};

use super::setup::{check_layout, create_folder, lock};
use super::{SqliteStore, check};
use crate::atomic_file::{AtomicFile, Existing};
use crate::check_report::{CheckReport, DamagedDocument};
use crate::error::StoreError;

/// Pages copied before the copy pauses for other work, and the length of the pause.
const PAGES: i32 = 4096;
const PAUSE: Duration = Duration::from_millis(1);

impl SqliteStore {
    /// Copies a snapshot of the store into the file `to`, and checks the copy. Searches and writes continue meanwhile.
    /// The file appears whole or not at all; damage in the store is also in the copy, and is reported.
    ///
    /// # Errors
    ///
    /// An existing file, unless it may be replaced; a file that cannot be written.
    pub fn backup(&self, to: &Path, existing: Existing) -> Result<CheckReport, StoreError> {
        let io = |error| StoreError::Io { path: to.display().to_string(), error };
        if existing == Existing::Kept && to.exists() {
            return Err(io(std::io::ErrorKind::AlreadyExists.into()));
        }
        let copy = AtomicFile::create_private(to).map_err(io)?;
        let mut target = Connection::open(copy.temporary())?;
        let source = self.connect()?;
        Backup::new(&source, &mut target)?.run_to_completion(PAGES, PAUSE, None)?;
        // A single file, with no log beside it.
        target.pragma_update(None, "journal_mode", "DELETE")?;
        let report = check::check(&target, None)?;
        drop(target);
        copy.persist_over(existing).map_err(io)?;
        Ok(report)
    }

    /// Creates a store in the folder `path` from a backup, which is checked first. The folder must not hold a store.
    /// Returns what was left out.
    ///
    /// # Errors
    ///
    /// A folder that holds a store; a file that is not a backup; a damaged backup, unless only documents are damaged
    /// and may be left out.
    pub fn restore(from: &Path, path: &Path, damaged: Damaged) -> Result<CheckReport, StoreError> {
        let io = |path: &Path, error| StoreError::Io { path: path.display().to_string(), error };
        let shown = from.display().to_string();
        let length = fs::metadata(from).map_err(|error| io(from, error))?.len();
        if length == 0 {
            return Err(StoreError::NotABackup { path: shown, reason: "it is empty".into() });
        }
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let found = match check_layout(&source).and_then(|()| check::check(&source, None)) {
            Err(StoreError::Damaged { problem }) => {
                return Err(StoreError::NotABackup { path: shown, reason: problem });
            }
            found => found?,
        };
        drop(source);
        let refused = |report: &CheckReport| {
            let is_only_documents = report.problems.len() == report.damaged.len();
            let reason = report.problems.join("; ");
            if is_only_documents {
                StoreError::DamagedBackup {
                    path: from.display().to_string(),
                    count: report.damaged.len(),
                    problems: reason,
                }
            } else {
                StoreError::NotABackup { path: from.display().to_string(), reason }
            }
        };
        if !found.problems.is_empty() && damaged == Damaged::Refused {
            return Err(refused(&found));
        }
        create_folder(path).map_err(|error| io(path, error))?;
        let _lock = lock(path)?;
        let file = path.join(Self::FILE);
        if file.exists() {
            return Err(io(&file, std::io::ErrorKind::AlreadyExists.into()));
        }
        let copy = AtomicFile::create_private(&file).map_err(|error| io(path, error))?;
        fs::copy(from, copy.temporary()).map_err(|error| io(from, error))?;
        if !found.problems.is_empty() {
            let copy = Connection::open(copy.temporary())?;
            leave_out(&copy, &found)?;
            let left = check::check(&copy, None)?;
            if !left.problems.is_empty() {
                return Err(refused(&left));
            }
        }
        copy.persist_new().map_err(|error| io(&file, error))?;
        Ok(found)
    }
}

/// How damaged documents of a backup are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// Nothing is restored.
    Refused,
    /// The rest is restored.
    LeftOut,
}

/// Removes the damaged documents, and rows that belong to no document.
fn leave_out(connection: &Connection, report: &CheckReport) -> Result<(), StoreError> {
    for DamagedDocument { generation, doc_id, .. } in &report.damaged {
        connection.execute(
            "DELETE FROM documents WHERE generation = ?1 AND doc_id = ?2",
            params![generation, doc_id],
        )?;
    }
    connection.execute_batch(
        "DELETE FROM chunks WHERE document NOT IN (SELECT id FROM documents);
         DELETE FROM sources WHERE document NOT IN (SELECT id FROM documents);
         UPDATE generations SET change = change + 1;
         REINDEX;",
    )?;
    Ok(())
}
