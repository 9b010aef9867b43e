//! Measures how far edits that break the syntax of source files move chunks: four edits of one line a file, by a fixed
//! seed, with figures by language. `--verbose` names the edits that
//! move any; `--ids` prints preset, id and bytes of every chunk instead, for comparing two versions.
//!
//! `cargo run --release -p chunkwright-code --example broken -- [--ids | --verbose] FILE...`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

#[path = "../tests/it/broken.rs"]
mod broken;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::{env, fs};

use chunkwright::preset::PRESETS;
use chunkwright::{Chunker, Document, Words};

fn main() {
    let mut paths: Vec<String> = env::args().skip(1).collect();
    let flag = paths.first().filter(|first| first.starts_with("--")).cloned();
    if flag.is_some() {
        paths.remove(0);
    }
    let (wants_ids, verbose) = (flag.as_deref() == Some("--ids"), flag.as_deref() == Some("--verbose"));
    for preset in PRESETS.iter().filter(|preset| ["auto", "code"].contains(&preset.name)) {
        let chunker = Chunker::new((preset.config)(), Arc::new(Words)).unwrap();
        let mut figures: BTreeMap<String, [usize; 4]> = BTreeMap::new();
        let mut random = broken::Random(13);
        for path in &paths {
            let Ok(source) = fs::read_to_string(path) else { continue };
            let name = path.rsplit('/').next().unwrap_or(path);
            let Some(parser) = chunkwright_code::language_for(name, &source) else { continue };
            if wants_ids {
                let document = Document::parse(name, source.as_str(), parser);
                for chunk in &chunker.chunk(&document) {
                    println!(
                        "{path}\t{}\t{}\t{}\t{}",
                        preset.name, chunk.id, chunk.span.start, chunk.span.end
                    );
                }
                continue;
            }
            for _ in 0..4 {
                let number = random.below(5);
                let Some(edit) = broken::edit(&source, number, &mut random) else { continue };
                let (new, far) = broken::moved(&chunker, parser, name, &source, &edit);
                let line = edit.new[..edit.at].matches('\n').count() + 1;
                if verbose && far > 0 {
                    println!("{far:4} of {new:4} {name}:{line} {}", edit.kind);
                }
                for key in ["all", parser.name(), edit.kind] {
                    let [count, sum, worst, all] = figures.entry(key.to_owned()).or_default();
                    (*count, *sum, *worst, *all) = (*count + 1, *sum + far, far.max(*worst), *all + new);
                }
            }
        }
        for (key, [count, far, worst, new]) in figures {
            println!("{:6} {key:22} edits {count:4}  far {far:5}  worst {worst:4}  new {new:5}", preset.name);
        }
    }
}
