//! Requests at a constant rate, whether the ones before are answered or not, as users send them. A request's
//! time runs from when it was due, so that waiting counts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

/// How long requests are sent.
const SECONDS: f64 = 10.0;

/// Requests of each client before they are counted.
const WARM_UP: usize = 20;

/// Requests that can be under way at once.
const CLIENTS: usize = 16;

/// Calls `request` with a number, `rate` times a second, while `beside` runs again and again until it is told that the
/// time is over. Times of all requests, and the number of requests answered a second.
pub(crate) fn at_rate(
    rate: f64,
    request: impl Fn(usize) -> Result<()> + Sync,
    beside: Option<&(dyn Fn() -> Result<()> + Sync)>,
) -> Result<(Vec<Duration>, f64)> {
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let total = (rate * SECONDS) as usize;
    thread::scope(|scope| {
        let client = |_| scope.spawn(|| (0..WARM_UP).try_for_each(&request));
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    let start = Instant::now();
    let client = || -> Result<Vec<Duration>> {
        let mut times = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                return Ok(times);
            }
            let due = start + Duration::from_secs_f64(number as f64 / rate);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            request(number)?;
            times.push(due.elapsed());
        }
    };
    thread::scope(|scope| {
        let other = beside.map(|beside| {
            scope.spawn(|| -> Result<()> {
                while !is_over.load(Ordering::Relaxed) {
                    beside()?;
                }
                Ok(())
            })
        });
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let mut times = Vec::with_capacity(total);
        let mut failed = None;
        for client in clients {
            match client.join() {
                Ok(Ok(some)) => times.extend(some),
                Ok(Err(error)) => failed = Some(error),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let took = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        if let Some(other) = other {
            match other.join() {
                Ok(result) => result?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let answered = times.len() as f64 / took.as_secs_f64();
        Ok((times, answered))
    })
}
