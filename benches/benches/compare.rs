//! Chunkwright beside the `text-splitter` crate, on the same files, in one run.
//!
//! ```text
//! cargo bench -p chunkwright-benches                     # this repository's own documents and code
//! CHUNKWRIGHT_BENCH_DIR=DIR cargo bench -p chunkwright-benches   # every .md, .py and .rs file below DIR
//! ```
//!
//! The two sides take turns and the ratio is taken turn by turn, so it holds on a noisy machine where a
//! single time does not; the median of the turns is printed. Our side does all that `Chunker::chunk`
//! does: parsing, cutting, limits by recount, borrowed context, identity. The parser alone, bare token
//! counting, and the growth from one document to eight times its size stand beside them.
//!
//! With `CHUNKWRIGHT_BENCH_TOKENIZER` the `tokenizer.json` of BGE-M3 or another XLM-R model, our counter
//! is also compared with the `tokenizers` crate: the counts have to be equal, then both are timed.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and its environment")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use chunkwright::parse::Markdown;
use chunkwright::{Chars, ChunkConfig, Chunker, Document, Parser, TokenCounter, Unit};
use text_splitter::{ChunkConfig as PeerConfig, ChunkSizer, CodeSplitter, MarkdownSplitter};

/// Limits, in the unit of each comparison: common limits of chunkers and embedders.
const CHARS: usize = 1800;
const TOKENS: usize = 512;
const TURNS: usize = 7;

struct File {
    name: String,
    text: String,
}

fn main() -> Result<()> {
    // `cargo test` runs benches with this flag to see that they start.
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let root = std::env::var("CHUNKWRIGHT_BENCH_DIR")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/..").into());
    let files = |extension: &str| read(Path::new(&root), extension);
    let (markdown, python, rust) = (files("md"), files("py"), files("rs"));
    let o200k = chunkwright_models::counter("o200k", Path::new("")).context("the counter `o200k`")?;

    println!(
        "{:48} {:>9} {:>11} {:>11} {:>15}",
        "median of turns", "MB", "ours MB/s", "peer MB/s", "ours over peer"
    );
    let by_chars = chunker(Unit::Chars, CHARS, Arc::new(Chars))?;
    let by_tokens = chunker(Unit::Tokens, TOKENS, Arc::clone(&o200k))?;
    // Folders named by language are compared each for itself too.
    let languages =
        ["en", "zh", "ru"].map(|language| (language, read(&Path::new(&root).join(language), "md")));
    let languages = languages.iter().filter(|(_, files)| !files.is_empty());
    let languages: Vec<_> =
        languages.map(|(language, files)| (format!("Markdown {language}"), files)).collect();
    if let Ok(tokenizer) = std::env::var("CHUNKWRIGHT_BENCH_TOKENIZER") {
        for (name, files) in &languages {
            count_xlm_r(name, files, &tokenizer)?;
        }
    }
    for (name, files) in [("Markdown".to_owned(), &markdown)].into_iter().chain(languages) {
        let peer = MarkdownSplitter::new(CHARS);
        compare(&format!("{name}, 1800 characters"), files, ours(&by_chars, &Markdown), |file| {
            peer.chunks(&file.text).count()
        });
        compare(
            &format!("{name}, characters, over pulldown-cmark alone"),
            files,
            ours(&by_chars, &Markdown),
            |file| {
                let options = pulldown_cmark::Options::ENABLE_TABLES;
                pulldown_cmark::Parser::new_ext(&file.text, options).into_offset_iter().count()
            },
        );
        // As its users run it.
        let peer = MarkdownSplitter::new(PeerConfig::new(TOKENS).with_sizer(tiktoken_rs::o200k_base()?));
        compare(&format!("{name}, 512 o200k tokens"), files, ours(&by_tokens, &Markdown), |file| {
            peer.chunks(&file.text).count()
        });
        compare(
            &format!("{name}, tokens, over bpe-openai once"),
            files,
            ours(&by_tokens, &Markdown),
            |file| bpe_openai::o200k_base().count(&file.text),
        );
    }
    // With our counter in place of its own.
    let peer = MarkdownSplitter::new(PeerConfig::new(TOKENS).with_sizer(Sizer(&*o200k)));
    compare("Markdown, 512 tokens, our counter for both", &markdown, ours(&by_tokens, &Markdown), |file| {
        peer.chunks(&file.text).count()
    });
    for (name, extension, files, language) in [
        ("Python", "py", &python, tree_sitter_python::LANGUAGE),
        ("Rust", "rs", &rust, tree_sitter_rust::LANGUAGE),
    ] {
        let parser =
            chunkwright_code::language_for(&format!("a.{extension}"), "").context("a known language")?;
        let peer = CodeSplitter::new(language, CHARS)?;
        compare(&format!("{name}, 1800 characters"), files, ours(&by_chars, parser), |file| {
            peer.chunks(&file.text).count()
        });
        let peer =
            CodeSplitter::new(language, PeerConfig::new(TOKENS).with_sizer(tiktoken_rs::o200k_base()?))?;
        compare(&format!("{name}, 512 o200k tokens"), files, ours(&by_tokens, parser), |file| {
            peer.chunks(&file.text).count()
        });
        let mut bare = tree_sitter::Parser::new();
        bare.set_language(&language.into())?;
        let bare = std::cell::RefCell::new(bare);
        compare(
            &format!("{name}, characters, over tree-sitter alone"),
            files,
            ours(&by_chars, parser),
            |file| bare.borrow_mut().parse(&file.text, None).map_or(0, |tree| tree.root_node().end_byte()),
        );
    }
    compare("Markdown, tokens, over counting once", &markdown, ours(&by_tokens, &Markdown), |file| {
        o200k.count(&file.text)
    });

    // One document of 3 MB, where a peer that scans what remains again and again is slow.
    let long = vec![repeated(&markdown, 3_000_000)];
    let peer = MarkdownSplitter::new(CHARS);
    compare_turns(
        "one Markdown document of 3 MB, characters",
        &long,
        3,
        ours(&by_chars, &Markdown),
        |file| peer.chunks(&file.text).count(),
    );
    println!("\n{:48} {:>12}", "one Markdown document, characters", "MB/s");
    for megabytes in [1, 10, 50] {
        let document = vec![repeated(&markdown, megabytes * 1_000_000)];
        let work = ours(&by_chars, &Markdown);
        let speeds = (0..3).map(|_| document[0].text.len() as f64 / 1e6 / time(&document, &work)).collect();
        println!("{:48} {:>12.1}", format!("{megabytes} MB"), median(speeds));
    }
    let halves: [Vec<&File>; 2] = [0, 1].map(|half| markdown.iter().skip(half).step_by(2).collect());
    let both = (0..TURNS).map(|_| {
        let work = ours(&by_chars, &Markdown);
        let alone = time(&markdown, &work);
        let start = Instant::now();
        std::thread::scope(|scope| {
            for half in &halves {
                scope.spawn(|| half.iter().map(|file| ours(&by_chars, &Markdown)(file)).sum::<usize>());
            }
        });
        alone / start.elapsed().as_secs_f64()
    });
    println!("{:48} {:>11.2}x", "two threads over one, many files", median(both.collect()));
    println!("\n{:48} {:>12}", "growth: time for 8x the size", "over 1x");
    for (name, chunker) in [("characters", &by_chars), ("tokens", &by_tokens)] {
        // The same text eight times: another mix of languages would count at another speed.
        let small = vec![repeated(&markdown, 400_000)];
        let large = vec![repeated(&small, 8 * small[0].text.len())];
        let work = ours(chunker, &Markdown);
        let times: Vec<f64> = (0..TURNS).map(|_| time(&large, &work) / time(&small, &work)).collect();
        println!("{:48} {:>11.2}x", format!("one Markdown document, {name}"), median(times));
    }
    Ok(())
}

/// Compares counting of XLM-R tokens with the `tokenizers` crate, on a megabyte at the most: it is slow.
fn count_xlm_r(name: &str, files: &[File], tokenizer: &str) -> Result<()> {
    let peer =
        tokenizers::Tokenizer::from_file(tokenizer).map_err(|error| anyhow!("`{tokenizer}`: {error}"))?;
    let peer = |file: &File| peer.encode_fast(file.text.as_str(), false).map_or(0, |encoding| encoding.len());
    let data = std::env::var_os("CHUNKWRIGHT_DATA").map(PathBuf::from);
    let data = chunkwright_models::data_dir(data.as_deref())?;
    let xlm_r = chunkwright_models::counter("xlm-r", &data).context("the counter `xlm-r`")?;
    let size = files.iter().scan(0, |sum, file| {
        *sum += file.text.len();
        Some(*sum)
    });
    let files = &files[..size.take_while(|&size| size <= 1_000_000).count()];
    for file in files {
        ensure!(xlm_r.count(&file.text) == peer(file), "the counts of `{}` differ", file.name);
    }
    compare_turns(
        &format!("{name}, XLM-R counts, over tokenizers"),
        files,
        3,
        |file| xlm_r.count(&file.text),
        peer,
    );
    Ok(())
}

/// A chunker with the proportions of the preset `auto` at the limit given.
fn chunker(unit: Unit, max_size: usize, counter: Arc<dyn TokenCounter>) -> Result<Chunker> {
    let auto = ChunkConfig::default();
    let scale = |size: usize| size * max_size / auto.max_size;
    let (target_size, min_size) = (scale(auto.target_size), scale(auto.min_size));
    Ok(Chunker::new(ChunkConfig { unit, max_size, target_size, min_size, ..auto }, counter)?)
}

fn ours<'a>(chunker: &'a Chunker, parser: &'a dyn Parser) -> impl Fn(&File) -> usize + 'a {
    move |file| chunker.chunk(&Document::parse(file.name.as_str(), file.text.as_str(), parser)).len()
}

/// The same counter for both sides.
struct Sizer<'a>(&'a dyn TokenCounter);

impl ChunkSizer for Sizer<'_> {
    fn size(&self, chunk: &str) -> usize {
        self.0.count(chunk)
    }
}

fn compare(name: &str, files: &[File], ours: impl Fn(&File) -> usize, peer: impl Fn(&File) -> usize) {
    compare_turns(name, files, TURNS, ours, peer);
}

fn compare_turns(
    name: &str,
    files: &[File],
    turns: usize,
    ours: impl Fn(&File) -> usize,
    peer: impl Fn(&File) -> usize,
) {
    if files.is_empty() {
        println!("{name:48} no files");
        return;
    }
    let megabytes = files.iter().map(|file| file.text.len()).sum::<usize>() as f64 / 1e6;
    let (mut mine, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..turns {
        let (a, b) = (time(files, &ours), time(files, &peer));
        mine.push(megabytes / a);
        theirs.push(megabytes / b);
        ratios.push(b / a);
    }
    println!(
        "{name:48} {megabytes:>9.2} {:>11.1} {:>11.1} {:>14.2}x",
        median(mine),
        median(theirs),
        median(ratios)
    );
}

fn time(files: &[File], work: &impl Fn(&File) -> usize) -> f64 {
    let start = Instant::now();
    for file in files {
        black_box(work(black_box(file)));
    }
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Every UTF-8 file with the extension, in the order of its path.
fn read(root: &Path, extension: &str) -> Vec<File> {
    let walk = ignore::WalkBuilder::new(root).sort_by_file_path(Path::cmp).build();
    let paths = walk.flatten().map(ignore::DirEntry::into_path);
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let file = |path: PathBuf| {
        Some(File { text: std::fs::read_to_string(&path).ok()?, name: path.display().to_string() })
    };
    wanted.filter_map(file).collect()
}

/// One document of about `size` bytes made of `files`.
fn repeated(files: &[File], size: usize) -> File {
    let mut text = String::new();
    while text.len() < size && !files.is_empty() {
        for file in files {
            if text.len() >= size {
                break;
            }
            text.push_str(&file.text);
            text.push_str("\n\n");
        }
    }
    File { name: "long.md".into(), text }
}
