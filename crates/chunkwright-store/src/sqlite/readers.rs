//! A pool of read-only connections.

use parking_lot::{Condvar, Mutex};

use rusqlite::Connection;

use crate::error::StoreError;

/// Most connections at once, each with its own page cache: enough to keep any number of processors busy, and a bound
/// for a server with hundreds of clients.
const MAX_OPEN: usize = 16;

/// A pool of connections that are opened on demand and kept.
#[derive(Debug, Default)]
pub(super) struct Readers {
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Connections that are not in use.
    idle: Vec<Connection>,
    /// Number of open connections, in use or not.
    open: usize,
}

/// Returns a slot to the pool when dropped, with its connection unless that was taken out.
struct Place<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Readers {
    /// Keeps a connection for later.
    pub(super) fn keep(&self, connection: Connection) {
        let mut state = self.state.lock();
        state.open += 1;
        state.idle.push(connection);
    }

    /// Lends a connection to `body`, a new one by `connect` if none is idle; waits while too many are in use. A
    /// connection on which `body` failed is not reused.
    pub(super) fn lend<T>(
        &self,
        connect: impl FnOnce() -> Result<Connection, StoreError>,
        body: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut state = self.state.lock();
        while state.idle.is_empty() && state.open >= MAX_OPEN {
            self.returned.wait(&mut state);
        }
        let idle = state.idle.pop();
        if idle.is_none() {
            state.open += 1;
        }
        drop(state);
        let mut place = Place { readers: self, connection: None };
        let mut connection = match idle {
            Some(connection) => connection,
            None => connect()?,
        };
        let result = body(&mut connection);
        place.connection = Some(connection).filter(|_| result.is_ok());
        result
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.readers.state.lock();
        match self.connection.take() {
            Some(connection) => state.idle.push(connection),
            None => state.open -= 1,
        }
        drop(state);
        self.readers.returned.notify_one();
    }
}
