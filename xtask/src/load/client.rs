//! A load generator that records status and latency.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A persistent connection.
pub(super) type Connection = BufReader<TcpStream>;

/// The requests, and their number.
pub(super) struct Load<'a> {
    address: &'a str,
    requests: &'a [String],
    connections: usize,
    pace: Pace,
}

#[derive(Clone, Copy)]
enum Pace {
    /// This number of requests, each connection as soon as it has its answer.
    Number(usize),
    /// For this time, each connection as soon as it has its answer.
    Time(Duration),
    /// This number of requests, at a constant rate.
    Rate { interval: Duration, number: usize },
}

/// The recorded answers.
#[derive(Default)]
pub(super) struct Asked {
    /// Status and latency of each request; status 0 without an answer.
    seen: Vec<(u16, Duration)>,
    pub(super) took: Duration,
}

impl<'a> Load<'a> {
    pub(super) fn closed(
        address: &'a str,
        requests: &'a [String],
        connections: usize,
        number: usize,
    ) -> Self {
        Self { address, requests, connections, pace: Pace::Number(number) }
    }

    pub(super) fn for_a_while(
        address: &'a str,
        requests: &'a [String],
        connections: usize,
        seconds: u32,
    ) -> Self {
        Self { address, requests, connections, pace: Pace::Time(Duration::from_secs(seconds.into())) }
    }

    /// Sends at a constant rate, whether or not earlier requests were answered. Latency counts from the time a request
    /// was due: a stalled server gets no fewer requests, and the delay of those behind counts.
    pub(super) fn constant(
        address: &'a str,
        requests: &'a [String],
        connections: usize,
        rate: u32,
        seconds: u32,
    ) -> Self {
        let interval = Duration::from_secs(1) / rate;
        Self {
            address,
            requests,
            connections,
            pace: Pace::Rate { interval, number: (rate * seconds) as usize },
        }
    }

    pub(super) fn run(&self) -> Asked {
        let (next, start) = (AtomicUsize::new(0), Instant::now());
        let worker = || {
            let (mut seen, mut connection) = (Vec::new(), None);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let due = match self.pace {
                    Pace::Number(number) if index >= number => return seen,
                    Pace::Time(time) if start.elapsed() >= time => return seen,
                    Pace::Rate { number, .. } if index >= number => return seen,
                    Pace::Number(_) | Pace::Time(_) => Instant::now(),
                    Pace::Rate { interval, .. } => {
                        let due = start + interval * u32::try_from(index).unwrap_or(u32::MAX);
                        thread::sleep(due.saturating_duration_since(Instant::now()));
                        due
                    }
                };
                let asked = ask(&mut connection, self.address, &self.requests[index % self.requests.len()]);
                let status = asked.map_or(0, |(status, _)| status);
                if status == 0 {
                    connection = None;
                }
                seen.push((status, due.elapsed()));
            }
        };
        let seen = thread::scope(|scope| {
            let workers: Vec<_> = (0..self.connections).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        });
        Asked { seen, took: start.elapsed() }
    }
}

impl Asked {
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// The answers with a status.
    pub(super) fn of(&self, status: u16) -> Self {
        let seen = self.seen.iter().filter(|(other, _)| *other == status).copied().collect();
        Self { seen, took: self.took }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.took += other.took;
    }

    /// The latency within which this share was answered.
    pub(super) fn percentile(&self, share: f64) -> Duration {
        let mut times: Vec<Duration> = self.seen.iter().map(|(_, time)| *time).collect();
        times.sort();
        let at = (times.len() as f64 * share) as usize;
        times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Connects.
pub(super) fn connect(address: &str) -> Result<Connection> {
    let stream = TcpStream::connect(address).context("the server does not answer")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    Ok(BufReader::new(stream))
}

/// Sends one request, on the existing connection or a new one; returns the status and the body.
pub(super) fn ask(
    connection: &mut Option<Connection>,
    address: &str,
    request: &str,
) -> Result<(u16, Vec<u8>)> {
    let stream = match connection {
        Some(stream) => stream,
        None => connection.insert(connect(address)?),
    };
    stream.get_mut().write_all(request.as_bytes())?;
    let (status, length) = head(stream)?;
    let mut body = Vec::with_capacity(length);
    stream.take(length as u64).read_to_end(&mut body)?;
    Ok((status, body))
}

/// Reads the head of an answer: its status, and the length of its body.
pub(super) fn head(stream: &mut Connection) -> Result<(u16, usize)> {
    let (mut status, mut length, mut line) = (0, 0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            bail!("the connection ended");
        }
        if line == "\r\n" {
            return Ok((status, length));
        }
        if status == 0 {
            status = line.split(' ').nth(1).unwrap_or_default().parse()?;
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
}
