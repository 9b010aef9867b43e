//! `cargo xtask load`: measures the throughput and latency of searches on a server, and what disturbs them.
//!
//! Starts the program as a server on an existing store, queries it from this process over loopback, and prints a table.
//! No crate of the project is linked, so it measures any build. Run it optimized,
//! `cargo run --release -p xtask -- load`: the client shares the machine's processors with the server.

mod client;
mod server;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use client::{Asked, Load, ask};
use server::Server;

/// Goal for the number of searches per second.
const GOAL: u32 = 1_000;

/// Number of connections: more than a server that keeps up ever needs at once.
const CONNECTIONS: usize = 64;

/// Number of concurrent streams.
const STREAMS: usize = 200;

/// Number of server starts to measure the time to the first answer.
const STARTS: usize = 5;

/// The options of a measurement.
struct Options {
    program: PathBuf,
    store: PathBuf,
    collection: String,
    queries: Vec<String>,
    /// Duration of each row, in seconds.
    seconds: u32,
    /// Duration of the memory test, in minutes; 0 skips it.
    minutes: u32,
}

/// Measures everything.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    starts(&options)?;
    let server = Server::start(&options.program, &options.store, &options.collection)?;
    let searches = |mode: &str| -> Vec<String> {
        options.queries.iter().map(|query| server.search(&json!({ "query": query, "mode": mode }))).collect()
    };
    let (lexical, hybrid) = (searches("lexical"), searches("hybrid"));
    // Query vectors are cached first, so that the search is measured and not the model.
    Load::closed(&server.address, &hybrid, 8, hybrid.len()).run();
    println!(
        "\n| searches | asked for a second | answered a second | p50 ms | p99 ms | p99.9 ms | not 200 |"
    );
    println!("|---|---|---|---|---|---|---|");
    let constant = |requests: &[String], rate: u32| {
        Load::constant(&server.address, requests, CONNECTIONS, rate, options.seconds).run()
    };
    for (name, requests) in [("lexical", &lexical), ("hybrid", &hybrid)] {
        row(name, "as many as it takes", &most(&server, requests, options.seconds));
        row(name, GOAL, &constant(requests, GOAL));
    }
    let calm = constant(&hybrid, GOAL / 4);
    row("hybrid", GOAL / 4, &calm);
    for (max_size, streams) in [(300, 0), (400, STREAMS)] {
        reindex(&server, &hybrid, &calm, &options, max_size, streams)?;
    }
    overload(&server, &hybrid, options.seconds);
    if options.minutes > 0 {
        memory(&server, &hybrid, options.minutes)?;
    }
    Ok(())
}

/// Measures the time from the start of the process to the first answer.
fn starts(options: &Options) -> Result<()> {
    for mode in ["lexical", "hybrid"] {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let started = Instant::now();
            let server = Server::start(&options.program, &options.store, &options.collection)?;
            let listens = started.elapsed();
            let request = server.search(&json!({ "query": options.queries[0], "mode": mode }));
            let (status, _) = ask(&mut None, &server.address, &request)?;
            anyhow::ensure!(status == 200, "the first search was answered by {status}");
            times.push((started.elapsed(), listens));
        }
        times.sort();
        let (answered, listens) = times[STARTS / 2];
        println!(
            "start to first answer, {mode}: {:.0} ms, to listening {:.0} ms (median of {STARTS}; longest {:.0} ms)",
            ms(answered),
            ms(listens),
            ms(times[STARTS - 1].0)
        );
    }
    Ok(())
}

/// Measures the throughput when every connection sends its next request as soon as it has an answer. A few more
/// connections than processors leave none of them idle.
fn most(server: &Server, requests: &[String], seconds: u32) -> Asked {
    Load::for_a_while(&server.address, requests, 8, seconds).run()
}

/// Measures searches while everything is cut and embedded again, followed by many streams.
fn reindex(
    server: &Server,
    requests: &[String],
    calm: &Asked,
    options: &Options,
    max_size: usize,
    streams: usize,
) -> Result<()> {
    let settings = json!({ "max_size": max_size });
    let job =
        server.job(&json!({ "kind": "reindex", "collection": options.collection, "settings": settings }))?;
    let ended = server.follow(job, streams)?;
    let mut beside = Asked::default();
    while !server.is_over(job)? {
        beside.add(Load::constant(&server.address, requests, CONNECTIONS, GOAL / 4, 2).run());
    }
    row(&format!("hybrid, beside a reindex with {streams} streams"), GOAL / 4, &beside);
    let (before, during) = (calm.percentile(0.5), beside.percentile(0.5));
    println!(
        "| | p50 {:.2} times that without; streams that saw its end: {} | | | | | |",
        ms(during) / ms(before),
        ended()
    );
    Ok(())
}

/// Measures an overload of four times the throughput.
fn overload(server: &Server, requests: &[String], seconds: u32) {
    let connections = 1_000;
    let asked = Load::for_a_while(&server.address, requests, connections, seconds).run();
    row(&format!("hybrid, {connections} connections at once"), "more than it takes", &asked);
    println!(
        "\nrefused with 503: {} of {}, p99 {:.1} ms; answered: p99 {:.1} ms",
        asked.of(503).len(),
        asked.len(),
        ms(asked.of(503).percentile(0.99)),
        ms(asked.of(200).percentile(0.99))
    );
}

/// Measures whether memory grows.
fn memory(server: &Server, requests: &[String], minutes: u32) -> Result<()> {
    println!("\n| minute | resident, MB |\n|---|---|");
    for minute in 0..=minutes {
        println!("| {minute} | {:.1} |", server.resident()? as f64 / 1e6);
        if minute < minutes {
            Load::constant(&server.address, requests, CONNECTIONS, GOAL / 4, 60).run();
        }
    }
    Ok(())
}

fn row(name: &str, rate: impl std::fmt::Display, asked: &Asked) {
    println!(
        "| {name} | {rate} | {:.0} | {:.2} | {:.2} | {:.2} | {} |",
        asked.of(200).len() as f64 / asked.took.as_secs_f64(),
        ms(asked.percentile(0.5)),
        ms(asked.percentile(0.99)),
        ms(asked.percentile(0.999)),
        asked.len() - asked.of(200).len()
    );
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let usage = "usage: load PROGRAM STORE COLLECTION QUERIES [--seconds N] [--minutes N]";
        let [program, store, collection, queries, rest @ ..] = arguments else { bail!(usage) };
        let text = fs::read_to_string(queries).with_context(|| format!("`{queries}` cannot be read"))?;
        let queries: Vec<String> =
            text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        anyhow::ensure!(!queries.is_empty(), "the file of queries is empty; expected one query a line");
        let mut options = Self {
            program: program.into(),
            store: store.into(),
            collection: collection.clone(),
            queries,
            seconds: 20,
            minutes: 0,
        };
        for pair in rest.chunks(2) {
            match pair {
                [name, value] if name == "--seconds" => options.seconds = value.parse()?,
                [name, value] if name == "--minutes" => options.minutes = value.parse()?,
                _ => bail!(usage),
            }
        }
        Ok(options)
    }
}
