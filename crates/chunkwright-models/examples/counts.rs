//! Holds our counts of tokens to those of `bpe-openai`: of whole files, of each of their lines, and of texts put together at
//! random from their words, from tokens and from characters; then compares the times of both.
//!
//! `cargo run --release -p chunkwright-models --example counts -- [--texts N] FILE...`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]
#![expect(clippy::disallowed_methods, reason = "it reads its arguments and the clock")]

use std::time::{Duration, Instant};
use std::{env, fs};

use chunkwright::TokenCounter as _;
use chunkwright_models::counters::OpenAi;

/// A small generator, so that a failure is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

fn main() {
    let mut arguments = env::args().skip(1).peekable();
    let texts =
        arguments.next_if_eq("--texts").map_or(200_000, |_| arguments.next().unwrap().parse().unwrap());
    let files: Vec<String> = arguments
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    for (ours, theirs) in
        [(OpenAi::o200k(), bpe_openai::o200k_base()), (OpenAi::cl100k(), bpe_openai::cl100k_base())]
    {
        let (mut checked, mut bytes) = (0_usize, 0_usize);
        let mut times = [Duration::ZERO; 2];
        let mut check = |text: &str| {
            let started = Instant::now();
            let found = ours.count(text);
            let between = Instant::now();
            let expected = theirs.count(text);
            times[0] += between - started;
            times[1] += between.elapsed();
            assert_eq!(found, expected, "{} of {text:?}", ours.name());
            checked += 1;
            bytes += text.len();
        };
        for file in &files {
            check(file);
            file.split_inclusive('\n').for_each(&mut check);
        }
        let words: Vec<&str> =
            files.iter().flat_map(|file| file.split_inclusive([' ', '\n', '，', '。'])).collect();
        let tokens = theirs.bpe.num_tokens();
        let mut random = Random(7);
        for number in 0..texts {
            let parts = 1 + random.below(30);
            let text: Vec<u8> = (0..parts)
                .flat_map(|_| match number % 4 {
                    0 if !words.is_empty() => words[random.below(words.len())].as_bytes().to_vec(),
                    1 | 0 => theirs.bpe.token_bytes(random.below(tokens) as u32).to_vec(),
                    2 => {
                        char::from_u32(random.below(0x11_0000) as u32).unwrap_or(' ').to_string().into_bytes()
                    }
                    // Few different characters, which merge in many ways.
                    _ => vec![b"ab=- \n/'sA1"[random.below(11)]; 1 + random.below(9)],
                })
                .collect();
            check(&String::from_utf8_lossy(&text));
        }
        let [ours_ms, theirs_ms] = times.map(|time| time.as_secs_f64() * 1000.0);
        println!(
            "{}: {checked} texts, {bytes} bytes, counts equal; {ours_ms:.0} ms, by bpe-openai {theirs_ms:.0} ms",
            ours.name()
        );
    }
}
