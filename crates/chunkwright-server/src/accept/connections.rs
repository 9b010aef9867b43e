//! The open connections, and which one is closed when there are too many.
//!
//! A client keeps connections open that it may never use again. They cost nothing until their number reaches the limit;
//! then the one that has been idle longest is closed.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The open connections.
pub(super) struct Connections {
    free: Arc<Semaphore>,
    open: Mutex<HashMap<u64, Arc<Activity>>>,
    /// Counts connections and requests, to order them in time.
    ticks: AtomicU64,
}

/// The activity of a connection.
pub(super) struct Activity {
    /// The tick at which it became idle; 0 while it has a request.
    idle_since: AtomicU64,
    leave: Notify,
}

/// A place among the open connections, free again when it is dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    number: u64,
    activity: Arc<Activity>,
    _permit: OwnedSemaphorePermit,
}

/// A request in progress on a connection.
pub(super) struct Busy {
    connections: Arc<Connections>,
    activity: Arc<Activity>,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(most.max(1)));
        Arc::new(Self { free, open: Mutex::default(), ticks: AtomicU64::new(1) })
    }

    /// Waits for a place. If none is free, asks the connection that has been idle longest to close.
    pub(super) async fn place(self: &Arc<Self>) -> Place {
        let permit = if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            permit
        } else {
            self.make_room();
            let permit = Arc::clone(&self.free).acquire_owned().await;
            permit.expect("the semaphore is never closed")
        };
        let number = self.tick();
        let activity = Arc::new(Activity { idle_since: AtomicU64::new(number), leave: Notify::new() });
        self.open().insert(number, Arc::clone(&activity));
        Place { connections: Arc::clone(self), number, activity, _permit: permit }
    }

    fn make_room(&self) {
        let open = self.open();
        let idle = open.values().filter_map(|activity| {
            let since = activity.idle_since.load(Ordering::Relaxed);
            (since > 0).then_some((since, activity))
        });
        if let Some((_, longest)) = idle.min_by_key(|(since, _)| *since) {
            longest.leave.notify_one();
        }
    }

    fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        self.open.lock()
    }
}

impl Place {
    /// Waits until the connection has to make room. It has no request then.
    pub(super) async fn told_to_leave(&self) {
        loop {
            self.activity.leave.notified().await;
            if self.activity.idle_since.load(Ordering::Relaxed) > 0 {
                return;
            }
        }
    }

    /// Returns a function that marks the beginning of a request; the request ends when its result is dropped.
    pub(super) fn requests(&self) -> impl Fn() -> Busy + Clone + Send + Sync + use<> {
        let (connections, activity) = (Arc::clone(&self.connections), Arc::clone(&self.activity));
        move || {
            activity.idle_since.store(0, Ordering::Relaxed);
            Busy { connections: Arc::clone(&connections), activity: Arc::clone(&activity) }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open().remove(&self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.activity.idle_since.store(self.connections.tick(), Ordering::Relaxed);
    }
}
