//! Times an embedder of this machine: how long it takes to load, to embed a question, and to embed files, in texts of some
//! 900 bytes. Run it with `RAYON_NUM_THREADS=1` for the speed of one core.
//!
//! `cargo run --release -p chunkwright-models --example embed -- EMBEDDER [--vectors OUT] FILE...`
//!
//! `--vectors` writes the vectors of the texts, as single-precision numbers one after the other, to be compared.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]
#![expect(clippy::disallowed_methods, reason = "it reads its arguments and the clock")]

use std::time::{Duration, Instant};
use std::{env, fs};

use chunkwright_models::{Role, data_dir, embedder};

/// Bytes after which a text ends, at the end of a line.
const TEXT: usize = 900;

fn main() {
    let mut arguments = env::args().skip(1).peekable();
    let name = arguments.next().unwrap();
    let out = arguments.next_if_eq("--vectors").and_then(|_| arguments.next());
    let files: Vec<String> = arguments.map(|path| fs::read_to_string(path).unwrap()).collect();
    let texts: Vec<&str> = files.iter().flat_map(|file| texts(file)).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();

    let started = Instant::now();
    let embedder = embedder(&name, &data_dir(None).unwrap()).unwrap();
    let load = started.elapsed();
    let started = Instant::now();
    let query = "how do I connect to the database?";
    embedder.embed_query(query).unwrap();
    let first = started.elapsed();
    let mut queries: Vec<Duration> = (0..21).map(|_| elapsed(|| _ = embedder.embed_query(query))).collect();
    queries.sort();

    let started = Instant::now();
    let vectors: Vec<Vec<f32>> = texts
        .chunks(64)
        .flat_map(|texts| embedder.embed(texts, Role::Passage).unwrap())
        .map(|embedding| embedding.vector)
        .collect();
    let took = started.elapsed().as_secs_f64();
    let tokens: usize = texts.iter().map(|text| embedder.model().counter.count(text)).sum();
    println!(
        "{name}: loaded in {:.1} ms, first query {:.2} ms, then {:.2} ms; {} texts, {tokens} tokens, {:.0} tokens/s, {:.2} MB/s",
        load.as_secs_f64() * 1e3,
        first.as_secs_f64() * 1e3,
        queries[queries.len() / 2].as_secs_f64() * 1e3,
        texts.len(),
        tokens as f64 / took,
        bytes as f64 / took / 1e6,
    );
    if let Some(out) = out {
        fs::write(out, vectors.concat().iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    }
}

/// The texts of a file.
fn texts(file: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut rest = file;
    while !rest.trim().is_empty() {
        let enough = rest.ceil_char_boundary(TEXT);
        let end = rest[enough..].find('\n').map_or(rest.len(), |at| enough + at + 1);
        let (text, after) = rest.split_at(end);
        texts.push(text);
        rest = after;
    }
    texts
}

fn elapsed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}
