//! Services that run models: the common part of embedders, rerankers and writers of notes.
//!
//! Each speaks a *dialect*, a few lines that say where a request goes, what it holds and where in the answer the
//! numbers stand. Everything else is here or in [`chunkwright_http`], so that a fault that is handled for one service
//! is handled for all. Limits and prices of services are configured and never guessed, since they change.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use chunkwright_http::{Client, Clock, HttpError, HttpOptions, Secret, SystemClock, error_message};
use serde_json::Value;

use crate::embedders::MAX_WEIGHTS;

/// The address of a service, and the options of its client.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// The address; nothing for that of the dialect's public service, or its usual port on this machine.
    pub url: Option<String>,
    /// The key. Without one, the dialect's usual variable of the environment is read, but only for the
    /// public service: a key goes to no address that it was not meant for.
    pub key: Option<Secret>,
    /// Timeouts, retries and limits of the client.
    pub http: HttpOptions,
    /// The clock by which waits are measured.
    pub clock: Arc<dyn Clock>,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self { url: None, key: None, http: HttpOptions::default(), clock: Arc::new(SystemClock) }
    }
}

/// The default address of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The address of the public service, or the usual one on this machine.
    pub url: &'static str,
    /// The variable that usually holds the key of the public service.
    pub key_variable: Option<&'static str>,
}

impl ServiceOptions {
    /// A client of the service, which is at `home` unless configured otherwise.
    pub(crate) fn client(&self, home: Home) -> Result<Client, ServiceError> {
        let url = self.url.as_deref().unwrap_or(home.url);
        let client = Client::new(url, self.http.clone())?.with_clock(Arc::clone(&self.clock));
        let usual = || home.key_variable.filter(|_| self.url.is_none()).and_then(Secret::from_variable);
        match (self.key.clone().or_else(usual), home.key_variable) {
            (Some(key), _) => Ok(client.with_bearer(&key)?),
            (None, Some(variable)) if self.url.is_none() && url.starts_with("https") => {
                Err(ServiceError::NoKey { url: home.url, variable })
            }
            (None, _) => Ok(client),
        }
    }
}

/// Why a service gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// There was no answer, or a refusal.
    #[error(transparent)]
    Call(CallError),
    /// The answer does not match the request.
    #[error("the answer of `{service}` cannot be used: {reason}")]
    Answer {
        /// The service, as it is configured.
        service: String,
        /// The problem.
        reason: Malformed,
    },
    /// No key is configured for a service that wants one.
    #[error("`{url}` requires a key: set `{variable}`, or configure `key_file` or `key_variable`")]
    NoKey {
        /// The service.
        url: &'static str,
        /// The variable that usually holds it.
        variable: &'static str,
    },
    /// No dialect has this name, or the name has no model.
    #[error("unknown service `{spec}`; it must be one of {known}")]
    Unknown {
        /// The requested name.
        spec: String,
        /// The forms that are known.
        known: String,
    },
}

/// Why a call of a service had no usable answer.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CallError(HttpError);

impl CallError {
    /// Whether the failure is temporary.
    pub fn is_unavailable(&self) -> bool {
        self.0.is_unavailable()
    }

    /// Whether the service refuses a request for its size.
    pub fn is_size(&self) -> bool {
        self.0.is_size()
    }

    /// The status of HTTP that the service answered, if it answered.
    pub fn status(&self) -> Option<u16> {
        self.0.status()
    }
}

impl ServiceError {
    /// Whether the failure is temporary.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Call(error) if error.is_unavailable())
    }
}

impl From<HttpError> for ServiceError {
    fn from(error: HttpError) -> Self {
        Self::Call(CallError(error))
    }
}

/// The problem with an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// It reports an error with a status of success.
    #[error("it reports an error: {0}")]
    Error(String),
    /// A field is missing, or holds something else.
    #[error("field `{0}` is missing or malformed")]
    Field(&'static str),
    /// There are more or fewer results than texts.
    #[error("it has {found} results for {wanted} texts")]
    Count {
        /// Number of texts.
        wanted: usize,
        /// Number of results.
        found: usize,
    },
    /// It contains an out-of-range or duplicate index.
    #[error("its results do not give the index of each text exactly once")]
    Order,
    /// A vector has another length.
    #[error("it has a vector of {found} numbers, not {wanted}")]
    Dimension {
        /// Length of the vectors before, or as configured.
        wanted: usize,
        /// Length of this one.
        found: usize,
    },
    /// A value is not a number, or too large.
    #[error("it contains a value that is not a finite number")]
    NotFinite,
    /// The number of weights differs from that of tokens.
    #[error("it has {found} weights for a text of {tokens} tokens")]
    Weights {
        /// Tokens of the text.
        tokens: usize,
        /// Number of weights.
        found: usize,
    },
    /// A sparse vector of more tokens than any model gives.
    #[error("it has a sparse vector of {found} weights; at most {most} are accepted", most = MAX_WEIGHTS)]
    TooManyWeights {
        /// Number of weights.
        found: usize,
    },
    /// A weight is below zero: the numbers are not a sparse vector.
    #[error("it has a sparse vector with a negative weight; is the model one that gives sparse vectors?")]
    NegativeWeight,
    /// A token of a sparse vector with two weights.
    #[error("it has a sparse vector with two weights of token {token}")]
    TokenTwice {
        /// The token.
        token: u32,
    },
    /// Nothing but zeros.
    #[error("its vectors are all zeros")]
    Zero,
}

/// Reads an answer: an error that the service reports with a status of success takes precedence over other problems.
pub(crate) fn read<'a, T>(
    client: &Client,
    service: &str,
    answer: &'a Value,
    read: impl FnOnce(&'a Value) -> Result<T, Malformed>,
) -> Result<T, ServiceError> {
    read(answer).map_err(|reason| {
        let reason = match error_message(answer) {
            Some(words) => Malformed::Error(client.printable(&words)),
            None => reason,
        };
        ServiceError::Answer { service: service.to_owned(), reason }
    })
}

/// The array at `pointer` of an answer, called `name` in errors.
pub(crate) fn array<'a>(
    answer: &'a Value,
    pointer: &str,
    name: &'static str,
) -> Result<&'a [Value], Malformed> {
    answer.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).ok_or(Malformed::Field(name))
}

/// The field `name` of each result, in the order of the texts by the field `index`.
pub(crate) fn by_index<'a>(results: &'a [Value], name: &'static str) -> Result<Vec<&'a Value>, Malformed> {
    let mut ordered: Vec<Option<&Value>> = vec![None; results.len()];
    for result in results {
        let place = result.get("index").and_then(Value::as_u64).ok_or(Malformed::Field("index"))?;
        let slot = ordered.get_mut(place as usize).ok_or(Malformed::Order)?;
        let value = result.get(name).ok_or(Malformed::Field(name))?;
        if slot.replace(value).is_some() {
            return Err(Malformed::Order);
        }
    }
    // As many places as results, and none twice: all are filled.
    Ok(ordered.into_iter().flatten().collect())
}

/// As many results as texts.
pub(crate) fn counted<T>(results: Vec<T>, wanted: usize) -> Result<Vec<T>, Malformed> {
    let found = results.len();
    if found == wanted { Ok(results) } else { Err(Malformed::Count { wanted, found }) }
}

/// A finite number.
pub(crate) fn number(value: &Value) -> Result<f32, Malformed> {
    let number = value.as_f64().map(|number| number as f32);
    number.filter(|number| number.is_finite()).ok_or(Malformed::NotFinite)
}

/// The error for a name in none of the `known` forms.
pub(crate) fn unknown(spec: &str, known: impl Iterator<Item = String>) -> ServiceError {
    let known = known.map(|form| format!("`{form}`")).collect::<Vec<_>>().join(", ");
    ServiceError::Unknown { spec: spec.to_owned(), known }
}

/// The dialect and the model of `openai:MODEL`, if there is such a dialect.
pub(crate) fn parts(spec: &str) -> Option<(&str, &str)> {
    let (dialect, model) = spec.split_once(':')?;
    Some((dialect.trim(), model.trim()))
}

/// The results of `work(0)` to `work(count - 1)`, by at most `threads` at a time, or the first error.
///
/// By threads of their own: they wait for the network, which the threads of a pool for computing
/// should not. After an error nothing more is begun.
pub(crate) fn in_parallel<T: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results = Mutex::new(Vec::new());
    let run = || {
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= count {
                return;
            }
            let result = work(place);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().push((place, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(run);
        }
        run();
    });
    let mut results = results.into_inner();
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
