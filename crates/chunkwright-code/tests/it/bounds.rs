//! Bounds on the cost of hostile source, for every language in the registry: memory, and time by the tests' own limit,
//! which a grammar that searches its stack at each token exceeds by far.
//!
//! Each language is parsed in a process of its own, whose peak memory the system counts: this binary once more, with
//! the language's name in its environment.

use std::process::Command;
use std::{env, fs};

use chunkwright::Document;
use chunkwright_code::{CodeParser, LANGUAGES};

use crate::samples;
use crate::stride::one_in;

/// Says which language the process is to read.
const LANGUAGE: &str = "CHUNKWRIGHT_TEST_SOUP";

/// Bytes of each source.
const SIZE: usize = 64 << 10;

/// Memory that a source may take, plus what the allocator and the stack keep.
const LIMIT: usize = (64 << 20) + 40 * SIZE + (16 << 20);

/// Sources that nest without end, that several readings fit, or that are shuffled from the tokens of a sample; `first`
/// chooses among those of the first two kinds.
fn soups(sample: &str, first: usize) -> Vec<(String, String)> {
    const REPEATED: &[&str] = &[
        "(", "[", "{", "<", "a<", "f(", "({", "a[b(c{", "a+", "!", "a,", "if (a) ", "if a {\n", "- 1 ", "\"",
        "/*", "+:", ",&", "!}", "*/ ", ".,", "/*;\n", "not ",
    ];
    let fill = |part: &str| part.repeat(SIZE / part.len());
    let mut tokens = Vec::new();
    let mut rest = sample;
    while let Some(first) = rest.chars().next() {
        let is_same = |c: char| {
            (c.is_alphanumeric(), c.is_whitespace()) == (first.is_alphanumeric(), first.is_whitespace())
        };
        let end = rest.find(|c| !is_same(c)).unwrap_or(rest.len());
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    let marks: Vec<&str> =
        tokens.iter().copied().filter(|token| token.contains(|c: char| c.is_ascii_punctuation())).collect();
    let mut state = 1_u64;
    let mut shuffled = |of: &[&str], separator: &str| {
        let mut text = String::new();
        while text.len() < SIZE && !of.is_empty() {
            // Knuth's generator; a constant seed.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.extend([of[(state >> 33) as usize % of.len()], separator]);
        }
        text
    };
    let mut soups = vec![
        ("tokens in any order".to_owned(), shuffled(&tokens, "")),
        ("marks in any order".to_owned(), shuffled(&marks, " ")),
        ("the sample on one line".to_owned(), fill(&sample.replace('\n', " "))),
    ];
    // One in a few, others for each language: every part is repeated for several.
    let repeated = REPEATED.iter().skip(first % one_in(5)).step_by(one_in(5));
    soups.extend(repeated.map(|part| (format!("`{part}` repeated"), fill(part))));
    soups
}

/// A number of kilobytes in the system's account of this process, in bytes.
fn account(name: &str) -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

fn sample_of(parser: &CodeParser) -> &'static str {
    let is_of = |name: &str, head: &str| {
        chunkwright_code::language_for(name, head)
            .is_some_and(|found| chunkwright::Parser::name(found) == parser.language().name)
    };
    samples().iter().find(|(name, source)| is_of(name, source)).map_or("", |(_, source)| source)
}

/// Not a test by itself: the work of one language's process.
#[test]
fn one_language_is_measured() {
    let Some(name) = env::var_os(LANGUAGE) else { return };
    let at = LANGUAGES.iter().position(|parser| parser.language().name == name).unwrap();
    let parser = LANGUAGES[at];
    Document::parse("a", "x\n", parser);
    let Some(before) = account("VmHWM") else { return };
    for (soup, source) in soups(sample_of(parser), at) {
        let document = Document::parse("a", source.as_str(), parser);
        assert!(!document.blocks().is_empty());
        let used = account("VmHWM").unwrap() - before;
        assert!(used <= LIMIT, "{soup}: {} MB for {} KB", used >> 20, source.len() >> 10);
    }
}

/// Measures every fourth language, from the one at `first`.
fn check(first: usize) {
    for parser in LANGUAGES.iter().skip(first).step_by(4) {
        let name = parser.language().name;
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "bounds::one_language_is_measured", "--nocapture"])
            .env(LANGUAGE, name)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.success() && text.contains("1 passed"), "{name}: {text}");
    }
}

// In four parts, which run side by side.

#[test]
fn no_source_takes_more_memory_than_64_mb_and_40_times_its_size() {
    check(0);
}

#[test]
fn no_source_of_the_second_part_of_the_languages_takes_more() {
    check(1);
}

#[test]
fn no_source_of_the_third_part_of_the_languages_takes_more() {
    check(2);
}

#[test]
fn no_source_of_the_fourth_part_of_the_languages_takes_more() {
    check(3);
}

#[test]
fn nested_source_of_any_size_fits_the_stack_of_a_worker() {
    let parsed = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
        for parser in LANGUAGES {
            for kilobytes in [15, 47] {
                Document::parse("a", "({".repeat(kilobytes << 9), *parser);
            }
        }
    });
    parsed.unwrap().join().unwrap();
}
