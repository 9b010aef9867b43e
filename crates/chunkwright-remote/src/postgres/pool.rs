//! A pool of connections, and transactions that belong to the thread that began them.
//!
//! A request whose connection fails is sent again over a new one, which is right because every request is idempotent
//! or part of a transaction. A transaction is begun again from its start; if the answer to its commit is lost, the
//! server is asked what became of it.

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::Mutex;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Error, Row, Statement};

use super::address::Address;
use super::layout;
use chunkwright_http::HttpOptions;
use chunkwright_store::{Access, StoreError, StoreLocation};

/// Most idle connections. More are made while more threads ask.
const MOST_IDLE: usize = 8;

/// Most statements that a connection keeps prepared.
const MOST_PREPARED: usize = 64;

/// A connection, and the schema of the store's tables as SQL quotes it. Tables are named with it, as a search path
/// leads to those of another store where the schema has none yet.
pub(super) struct Link {
    client: Client,
    pub(super) schema: String,
    prepared: HashMap<String, Statement>,
}

/// Requests by statements that are prepared once a connection, which saves every other one a round trip.
impl Link {
    pub(super) fn query(&mut self, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(text)?;
        self.client.query(&statement, values)
    }

    pub(super) fn query_one(&mut self, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Row, Error> {
        let statement = self.prepared(text)?;
        self.client.query_one(&statement, values)
    }

    pub(super) fn query_opt(
        &mut self,
        text: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, Error> {
        let statement = self.prepared(text)?;
        self.client.query_opt(&statement, values)
    }

    pub(super) fn execute(&mut self, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let statement = self.prepared(text)?;
        self.client.execute(&statement, values)
    }

    fn prepared(&mut self, text: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.prepared.get(text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text)?;
        if self.prepared.len() == MOST_PREPARED {
            self.prepared.clear();
        }
        self.prepared.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl Deref for Link {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Link {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// Connections to one database.
pub(super) struct Pool {
    address: Address,
    /// For messages, without secrets.
    name: String,
    http: HttpOptions,
    access: Access,
    /// Whether the tables that every store has are there.
    is_made: AtomicBool,
    idle: Mutex<Vec<Link>>,
    /// The connections of transactions.
    held: Mutex<HashMap<ThreadId, Held>>,
}

/// A transaction in progress.
struct Held {
    link: Link,
    /// The first failure: the server refuses everything after it.
    failed: Option<Failure>,
}

/// Why a request failed.
#[derive(Debug)]
enum Failure {
    /// The connection is lost, or the server asks to try again.
    Passing(StoreError),
    Lasting(StoreError),
}

impl Failure {
    fn into_error(self) -> StoreError {
        match self {
            Self::Passing(error) | Self::Lasting(error) => error,
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn new(place: &StoreLocation, access: Access) -> Result<Self, StoreError> {
        Ok(Self {
            address: Address::of(place)?,
            name: place.address(),
            http: place.http.clone(),
            access,
            is_made: AtomicBool::new(false),
            idle: Mutex::default(),
            held: Mutex::default(),
        })
    }

    /// Runs requests on a connection: that of this thread's transaction, or any.
    pub(super) fn run<T>(&self, mut ask: impl FnMut(&mut Link) -> Result<T, Error>) -> Result<T, StoreError> {
        let own = self.held.lock().remove(&thread::current().id());
        if let Some(mut held) = own {
            let done = match ask(&mut held.link) {
                Ok(done) => Ok(done),
                Err(error) => {
                    let failure = self.failure(&error, &held.link);
                    let returned = self.failure(&error, &held.link).into_error();
                    held.failed.get_or_insert(failure);
                    Err(returned)
                }
            };
            self.held.lock().insert(thread::current().id(), held);
            return done;
        }
        self.again(|| {
            let (done, link) = self.ask(&mut ask)?;
            self.give_back(link);
            Ok(done)
        })
    }

    /// Runs `work` in a transaction that holds the locks `names`, which no two transactions hold at once. What this
    /// thread runs meanwhile is part of it.
    pub(super) fn transaction(
        &self,
        names: &[String],
        work: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let thread = thread::current().id();
        if self.held.lock().contains_key(&thread) {
            return work();
        }
        self.again(|| {
            let (number, link) = self.ask(|link| self.begin(link, names))?;
            self.held.lock().insert(thread, Held { link, failed: None });
            // Ends the transaction whatever happens: a connection that is dropped is rolled back.
            let end = End { pool: self, thread };
            let done = work();
            let Some(Held { mut link, failed }) = end.take() else { return Ok(()) };
            let failure = match (done, failed) {
                (Ok(()), failed) => failed,
                (Err(_), Some(Failure::Passing(error))) => Some(Failure::Passing(error)),
                (Err(error), _) => Some(Failure::Lasting(error)),
            };
            if let Some(failure) = failure {
                if link.batch_execute("ROLLBACK").is_ok() {
                    self.give_back(link);
                }
                return Err(failure);
            }
            match link.batch_execute("COMMIT") {
                Ok(()) => self.give_back(link),
                Err(error) => match self.failed(&error, link) {
                    Failure::Passing(_) if self.is_committed(&number)? => {}
                    failure => return Err(failure),
                },
            }
            self.is_made.store(true, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Begins a transaction that holds the locks, and makes the tables if there are none; returns its number.
    fn begin(&self, link: &mut Link, names: &[String]) -> Result<String, Error> {
        link.batch_execute("BEGIN")?;
        let lock = "SELECT pg_current_xact_id()::text, count(pg_advisory_xact_lock(hashtextextended('chunkwright/' \
                    || split_part(current_setting('search_path'), ',', 1) || '/' || name, 0))::text) \
                    FROM unnest($1::text[]) AS name";
        let begun = link.query_one(lock, &[&names]).and_then(|row| {
            if !self.is_made.load(Ordering::Relaxed) {
                layout::create(link)?;
            }
            Ok(row.get(0))
        });
        if begun.is_err() {
            let _ = link.batch_execute("ROLLBACK");
        }
        begun
    }

    /// Returns whether the transaction of this number, whose connection was lost, was committed.
    fn is_committed(&self, number: &str) -> Result<bool, Failure> {
        loop {
            let asked = self.ask(|link| {
                link.query_one("SELECT pg_xact_status($1::text::xid8)", &[&number])
                    .map(|row| row.get::<_, Option<String>>(0))
            });
            // Whether it was committed stays unknown if this fails: it must not be begun again.
            let (status, link) = asked.map_err(|failure| Failure::Lasting(failure.into_error()))?;
            self.give_back(link);
            // The server may not have noticed yet that the connection is closed.
            if status.as_deref() != Some("in progress") {
                return Ok(status.as_deref() == Some("committed"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Repeats `ask` after failures that may pass, as often as is configured.
    fn again<T>(&self, mut ask: impl FnMut() -> Result<T, Failure>) -> Result<T, StoreError> {
        let mut attempts = 0;
        loop {
            match ask() {
                Ok(done) => return Ok(done),
                Err(Failure::Passing(_)) if attempts < self.http.retries => {
                    thread::sleep(Duration::from_millis(self.http.backoff_ms << attempts.min(6)));
                    attempts += 1;
                }
                Err(failure) => return Err(failure.into_error()),
            }
        }
    }

    fn give_back(&self, link: Link) {
        let mut idle = self.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push(link);
        }
    }

    /// Runs the first request of something on an idle connection, which a restart of the server may have closed, or on a
    /// new one.
    fn ask<T>(&self, mut ask: impl FnMut(&mut Link) -> Result<T, Error>) -> Result<(T, Link), Failure> {
        let idle = self.idle.lock().pop();
        if let Some(mut link) = idle {
            match ask(&mut link) {
                Ok(done) => return Ok((done, link)),
                Err(error) => match self.failed(&error, link) {
                    // Those beside it are no better.
                    Failure::Passing(StoreError::Unreachable { .. }) => self.idle.lock().clear(),
                    failure => return Err(failure),
                },
            }
        }
        let mut link = self.connect()?;
        match ask(&mut link) {
            Ok(done) => Ok((done, link)),
            Err(error) => Err(self.failed(&error, link)),
        }
    }

    fn connect(&self) -> Result<Link, Failure> {
        let Address { config, tls, schema } = &self.address;
        let mut client = config.connect(tls.clone()).map_err(|error| match error.as_db_error() {
            Some(refused) if !is_passing(refused.code()) => Failure::Lasting(self.store_error(&error)),
            _ => Failure::Passing(self.unreachable(&error)),
        })?;
        match layout::open(&mut client, schema.as_deref(), &self.name, self.access) {
            Ok(Ok(schema)) => Ok(Link { client, schema, prepared: HashMap::new() }),
            Ok(Err(refused)) => Err(Failure::Lasting(refused)),
            Err(error) => Err(self.failure(&error, &client)),
        }
    }

    /// The failure of a request, whose connection is kept if it can be.
    fn failed(&self, error: &Error, link: Link) -> Failure {
        let failure = self.failure(error, &link);
        if error.as_db_error().is_some() && !link.is_closed() {
            self.give_back(link);
        }
        failure
    }

    fn failure(&self, error: &Error, client: &Client) -> Failure {
        let is_lost = || {
            client.is_closed()
                || error.is_closed()
                || error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>)
        };
        match error.code() {
            Some(code) if is_passing(code) => Failure::Passing(self.store_error(error)),
            None if is_lost() => Failure::Passing(self.unreachable(error)),
            _ => Failure::Lasting(self.store_error(error)),
        }
    }

    fn unreachable(&self, error: &Error) -> StoreError {
        StoreError::Unreachable { url: self.name.clone(), reason: words(error) }
    }

    /// Converts an error that the server returned.
    fn store_error(&self, error: &Error) -> StoreError {
        let place = || self.name.clone();
        let Some(code) = error.code() else { return StoreError::other(words(error)) };
        match *code {
            SqlState::LOCK_NOT_AVAILABLE => {
                StoreError::Locked { path: place(), holder: "another process".into() }
            }
            SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME => {
                StoreError::other(Undefined(words(error)))
            }
            SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnly,
            SqlState::DISK_FULL => StoreError::DiskFull,
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
                StoreError::Damaged { problem: words(error) }
            }
            SqlState::QUERY_CANCELED => StoreError::Unreachable {
                url: place(),
                reason: format!("nothing came in time ({})", words(error)),
            },
            SqlState::INVALID_CATALOG_NAME => {
                StoreError::Location { location: place(), reason: words(error) }
            }
            SqlState::INSUFFICIENT_PRIVILEGE => {
                let right = "reading needs USAGE on the schema and SELECT on its tables, and the first write CREATE on the schema";
                StoreError::other(format!("{}; {right}", words(error)))
            }
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                let right = "the password is part of the address, or in CHUNKWRIGHT_STORE_KEY";
                StoreError::other(format!("{}; {right}", words(error)))
            }
            SqlState::UNTRANSLATABLE_CHARACTER | SqlState::CHARACTER_NOT_IN_REPERTOIRE => {
                StoreError::Unwritable { reason: words(error) }
            }
            ref code if is_passing(code) => self.unreachable(error),
            _ => StoreError::other(words(error)),
        }
    }
}

/// A table that is not there.
#[derive(Debug)]
pub(super) struct Undefined(String);

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Undefined {}

/// Removes the transaction of a thread from those in progress.
struct End<'a> {
    pool: &'a Pool,
    thread: ThreadId,
}

impl End<'_> {
    fn take(&self) -> Option<Held> {
        self.pool.held.lock().remove(&self.thread)
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Whether the same request may succeed a moment later.
fn is_passing(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::CONNECTION_FAILURE,
        SqlState::CONNECTION_EXCEPTION,
        SqlState::CONNECTION_DOES_NOT_EXIST,
    ]
    .contains(code)
}

/// An error in words: the server's, or what went wrong with the connection.
fn words(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(refused), _) => refused.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
