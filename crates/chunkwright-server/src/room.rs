//! Checks the free space on the disk, so that a monitoring system learns of a full disk before the next client does.

use parking_lot::Mutex;
use std::path::PathBuf;

/// Minimum free space in bytes: below it, a disk counts as full.
const LEAST: u64 = 1 << 20;

/// The free space on the disk of a store.
#[derive(Debug)]
pub(crate) struct Room {
    folder: PathBuf,
    /// The free space when a write failed.
    missed: Mutex<Option<u64>>,
}

impl Room {
    /// Watches the disk of `folder`.
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self { folder, missed: Mutex::default() }
    }

    /// Notes that a write failed for lack of space.
    pub(crate) fn note_missed(&self) {
        *self.missed.lock() = free(&self.folder);
    }

    /// Returns whether the disk is full, or has no more free space than when a write failed.
    pub(crate) fn is_missing(&self) -> bool {
        let Some(free) = free(&self.folder) else { return false };
        let mut missed = self.missed.lock();
        *missed = missed.filter(|missed| free <= missed.saturating_add(LEAST));
        free < LEAST || missed.is_some()
    }
}

/// The free bytes for this process on the disk of `folder`; `None` if the system does not tell.
#[cfg(unix)]
fn free(folder: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    // A read-only file system needs no free space.
    if disk.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        return None;
    }
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free(_folder: &std::path::Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn room_is_missing_from_when_something_could_not_be_stored_until_some_was_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let room = Room::of(folder.path().to_owned());
        assert!(!room.is_missing(), "the tests need a disk with room");
        room.note_missed();
        assert!(room.is_missing());
        // As if there had been less.
        *room.missed.lock() = Some(0);
        assert!(!room.is_missing());
        assert!(!Room::of(folder.path().join("nothing")).is_missing(), "what is not there yet");
    }
}
