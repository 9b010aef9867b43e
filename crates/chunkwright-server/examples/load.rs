//! How many searches a second does a server answer, and how soon?
//!
//! ```text
//! cargo run --release -p chunkwright-server --example load -- 127.0.0.1:7878 1000 30 queries.txt [lexical]
//! ```
//!
//! Sends searches at a constant rate, whether or not earlier ones were answered, and takes the time of each from the moment when
//! it was due: a server that stalls is not asked less, and the wait of those behind counts. A line of the file is a query.
#![expect(clippy::disallowed_methods, reason = "it measures time")]
#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Connections: more than a server that keeps up ever needs at once.
const CONNECTIONS: usize = 64;

/// Requests answered in so many seconds at first are not counted: caches are empty.
const WARM_UP: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = env::args().skip(1).collect();
    let [address, rate, seconds, queries, mode @ ..] = given.as_slice() else {
        return Err("usage: load ADDRESS RATE SECONDS QUERIES [MODE]".into());
    };
    let (rate, seconds): (u32, u32) = (rate.parse()?, seconds.parse()?);
    let mode = mode.first().map_or("hybrid", String::as_str);
    let key = env::var("CHUNKWRIGHT_API_KEY")
        .map(|key| format!("Authorization: Bearer {key}\r\n"))
        .unwrap_or_default();
    let request = |query: &str| {
        let body = serde_json::json!({ "query": query, "mode": mode }).to_string();
        format!(
            "POST /api/v1/search HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{key}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let requests: Vec<String> =
        fs::read_to_string(queries)?.lines().filter(|line| !line.trim().is_empty()).map(request).collect();
    if requests.is_empty() {
        return Err(format!("`{queries}` has no query; expected one a line").into());
    }
    let number = (rate * seconds) as usize;
    let (next, start) = (AtomicUsize::new(0), Instant::now() + Duration::from_millis(100));
    let worker = || {
        let mut seen = Vec::new();
        let mut connection = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= number {
                return seen;
            }
            let due = start + Duration::from_secs_f64(index as f64 / f64::from(rate));
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let status = ask(&mut connection, address, &requests[index % requests.len()]).unwrap_or(0);
            let now = Instant::now();
            if status == 0 {
                connection = None;
            }
            if due.duration_since(start) >= WARM_UP {
                seen.push((status, now.duration_since(due)));
            }
        }
    };
    let seen: Vec<(u16, Duration)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let took = start.elapsed().saturating_sub(WARM_UP).as_secs_f64();
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for (status, _) in &seen {
        *statuses.entry(*status).or_default() += 1;
    }
    println!(
        "{mode}: {rate} a second asked for, {:.0} answered, by status {statuses:?} (0: no answer)",
        seen.len() as f64 / took
    );
    for (status, count) in statuses {
        let mut times: Vec<f64> = seen
            .iter()
            .filter(|(other, _)| *other == status)
            .map(|(_, time)| time.as_secs_f64() * 1e3)
            .collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((count as f64 * share) as usize).min(count - 1)];
        println!(
            "{status}: {count} answers, p50 {:.2} ms, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, longest {:.2}",
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            at(1.0)
        );
    }
    Ok(())
}

/// Asks once, on the connection that there is or a new one; answers the status.
fn ask(
    connection: &mut Option<BufReader<TcpStream>>,
    address: &str,
    request: &str,
) -> Result<u16, Box<dyn Error>> {
    let stream = if let Some(stream) = connection {
        stream
    } else {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        connection.insert(BufReader::new(stream))
    };
    stream.get_mut().write_all(request.as_bytes())?;
    let (mut status, mut length, mut line) = (0, 0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err("the connection ended".into());
        }
        if line == "\r\n" {
            break;
        }
        if status == 0 {
            status = line.split(' ').nth(1).unwrap_or_default().parse()?;
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    std::io::copy(&mut stream.take(length), &mut std::io::sink())?;
    Ok(status)
}
