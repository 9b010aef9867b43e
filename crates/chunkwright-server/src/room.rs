//! Checks the free space on the disk, so that a monitoring system learns of a full disk before the next client does.

use parking_lot::Mutex;
use std::path::PathBuf;

/// The least room in bytes: below it a disk counts as full.
const LEAST: u64 = 1 << 20;

/// The room on the disk of a store.
#[derive(Debug)]
pub(crate) struct Room {
    folder: PathBuf,
    /// How much there was when something could not be stored.
    missed: Mutex<Option<u64>>,
}

impl Room {
    /// The room on the disk of `folder`.
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self { folder, missed: Mutex::default() }
    }

    /// Notes that something could not be stored for lack of room.
    pub(crate) fn note_missed(&self) {
        *self.missed.lock() = free(&self.folder);
    }

    /// Whether there is none, or no more than there was when something could not be stored.
    pub(crate) fn is_missing(&self) -> bool {
        let Some(free) = free(&self.folder) else { return false };
        let mut missed = self.missed.lock();
        *missed = missed.filter(|missed| free <= missed.saturating_add(LEAST));
        free < LEAST || missed.is_some()
    }
}

/// The bytes that this process may still write where `folder` is; none where the system does not say.
#[cfg(unix)]
fn free(folder: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    // What is not written to needs no room.
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
