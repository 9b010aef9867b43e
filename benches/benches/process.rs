//! The program `chunkwright chunk` beside its own library, on the same files.
//!
//! ```text
//! CHUNKWRIGHT_PROGRAM=target/release/chunkwright cargo bench -p chunkwright-benches --bench process
//! ```
//!
//! What a process costs beyond cutting: starting, reading files, the language of prose, counts, JSON and writing. Both
//! sides use one thread, take turns, and the ratio is taken turn by turn. `CHUNKWRIGHT_BENCH_DIR` names a folder other
//! than this repository.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock, files and its environment")]

use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use chunkwright::parse::Markdown;
use chunkwright::{Chars, ChunkConfig, Chunker, Document, TokenCounter, Unit};

const TURNS: usize = 9;

/// Bytes of Markdown that a process cuts: enough that its start is a small part.
const BYTES: usize = 10_000_000;

fn main() -> Result<()> {
    // `cargo test` runs benches with this flag to see that they start.
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let program =
        std::env::var_os("CHUNKWRIGHT_PROGRAM").context("`CHUNKWRIGHT_PROGRAM` names the program")?;
    let program = Path::new(&program).canonicalize().context("`CHUNKWRIGHT_PROGRAM` is a file")?;
    let root = std::env::var("CHUNKWRIGHT_BENCH_DIR")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/..").into());
    let texts = markdown(Path::new(&root));
    ensure!(!texts.is_empty(), "`{root}` has no Markdown");
    let o200k = chunkwright_models::counter("o200k", Path::new("")).context("the counter `o200k`")?;

    println!(
        "{:40} {:>9} {:>11} {:>11} {:>13}",
        "median of turns, one thread", "MB", "process", "library", "over library"
    );
    let files = folder(texts.iter().cycle().scan(0, |bytes, text| {
        *bytes += text.len();
        (*bytes <= BYTES).then(|| text.clone())
    }))?;
    let small = folder(texts.iter().cycle().flat_map(|text| kilobytes(text)).take(4_000))?;
    for (name, files) in [("", &files), (", files of 1 KB", &small)] {
        for (unit, counter) in
            [(Unit::Chars, Arc::new(Chars) as Arc<dyn TokenCounter>), (Unit::Tokens, Arc::clone(&o200k))]
        {
            compare(&program, name, files, unit, counter)?;
        }
    }

    println!("\n{:40} {:>9} {:>13}", "named files of 1 KB", "ms", "over half");
    let named: Vec<PathBuf> = paths(small.path())?;
    let times = |number: usize| -> Result<f64> {
        let arguments = named[..number].iter().map(|path| path.as_os_str());
        median((0..TURNS).map(|_| run(&program, Unit::Chars, "chars", arguments.clone())))
    };
    let mut before = None;
    for number in [500, 1_000, 2_000, 4_000] {
        let time = times(number)?;
        let ratio = before.replace(time).map(|before| format!("{:.2}x", time / before));
        println!("{number:40} {:>9.1} {:>13}", time * 1e3, ratio.unwrap_or_default());
    }
    Ok(())
}

/// Compares the program with the library on the files of a folder.
fn compare(
    program: &Path,
    name: &str,
    files: &tempfile::TempDir,
    unit: Unit,
    counter: Arc<dyn TokenCounter>,
) -> Result<()> {
    let tokenizer = counter.name().to_owned();
    // As the program scales sizes to characters.
    let scale = if unit == Unit::Chars { 4 } else { 1 };
    let auto = ChunkConfig::default();
    let [max_size, target_size, min_size] =
        [auto.max_size, auto.target_size, auto.min_size].map(|size| scale * size);
    let chunker = Chunker::new(ChunkConfig { unit, max_size, target_size, min_size, ..auto }, counter)?;
    let paths = paths(files.path())?;
    let read = |path: &PathBuf| fs::read_to_string(path);
    let texts = paths.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let megabytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    let (mut processes, mut libraries, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let process = run(program, unit, &tokenizer, [files.path().as_os_str()])?;
        let start = Instant::now();
        for (path, text) in paths.iter().zip(&texts) {
            let document = Document::parse(path.display().to_string(), text.as_str(), &Markdown);
            black_box(chunker.chunk(&document).len());
        }
        let library = start.elapsed().as_secs_f64();
        processes.push(Ok(megabytes / process));
        libraries.push(Ok(megabytes / library));
        ratios.push(Ok(process / library));
    }
    println!(
        "{:40} {megabytes:>9.2} {:>6.1} MB/s {:>6.1} MB/s {:>12.2}x",
        format!("{tokenizer}{name}"),
        median(processes)?,
        median(libraries)?,
        median(ratios)?
    );
    Ok(())
}

/// The time of a process that cuts what `paths` name, in seconds.
fn run<'p>(
    program: &Path,
    unit: Unit,
    tokenizer: &str,
    paths: impl IntoIterator<Item = &'p OsStr>,
) -> Result<f64> {
    let unit = if unit == Unit::Chars { "chars" } else { "tokens" };
    let mut command = Command::new(program);
    command.args(["chunk", "--threads", "1", "--format", "jsonl", "--tokenizer", tokenizer, "--unit", unit]);
    command.args(paths).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    ensure!(command.status()?.success(), "the program failed: {command:?}");
    Ok(start.elapsed().as_secs_f64())
}

/// A folder with a file for each text.
fn folder(texts: impl Iterator<Item = String>) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for (number, text) in texts.enumerate() {
        fs::write(folder.path().join(format!("{number:05}.md")), text)?;
    }
    Ok(folder)
}

/// The files of a folder, in order.
fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Stretches of about a kilobyte of a text.
fn kilobytes(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (first, after) = rest.split_at(rest.floor_char_boundary(1_000));
        rest = after;
        Some(first.to_owned()).filter(|first| !first.is_empty())
    })
}

/// The Markdown below a folder, in the order of its paths.
fn markdown(root: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(root).sort_by_file_path(Path::cmp).build();
    let paths = walk.flatten().map(ignore::DirEntry::into_path);
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == "md"));
    wanted.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

fn median(values: impl IntoIterator<Item = Result<f64>>) -> Result<f64> {
    let mut values = values.into_iter().collect::<Result<Vec<_>>>()?;
    values.sort_by(f64::total_cmp);
    Ok(values[values.len() / 2])
}
