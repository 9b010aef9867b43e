//! The work grows with the size of the document and not faster: counted, not timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chunkwright::preset::PRESETS;
use chunkwright::{Chunker, Document, PARSERS, TokenCounter};

use crate::fixtures::SAMPLES;
use crate::invariants::Quads;

/// Counts the bytes that are counted.
#[derive(Debug, Default)]
struct Work(AtomicUsize);

impl TokenCounter for Work {
    fn name(&self) -> &'static str {
        "estimate:work"
    }

    fn count(&self, text: &str) -> usize {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        Quads.count(text)
    }
}

/// Bytes counted per byte of the document.
fn work(source: &str, preset: &str) -> f64 {
    let work = Arc::new(Work::default());
    let config = chunkwright::preset::preset(preset).unwrap();
    let document = Document::parse("a.md", source, PARSERS[0]);
    let chunks = Chunker::new(config, Arc::<Work>::clone(&work)).unwrap().chunk(&document);
    assert!(chunks.iter().all(|chunk| !chunk.oversize));
    work.0.load(Ordering::Relaxed) as f64 / source.len() as f64
}

/// Texts that invite quadratic work, each of about `size` bytes.
fn hostile(size: usize) -> Vec<(&'static str, String)> {
    let fill = |part: &str| part.repeat(size / part.len() + 1);
    vec![
        ("samples", fill(&SAMPLES.iter().map(|(_, text)| *text).collect::<String>())),
        ("one line of words", fill("word and another, ")),
        ("one word", fill("a")),
        ("one chinese sentence", fill("没有标点")),
        ("nested quotes", format!("{}text", "> ".repeat(size / 2))),
        (
            "quotes deeper by the line",
            (0..size / 200).map(|n| format!("{} text\n", ">".repeat(n % 200))).collect(),
        ),
        ("unclosed fence", format!("```\n{}", fill("code line\n"))),
        ("one list", fill("- item\n")),
        ("nested list", (0..size / 100).map(|n| format!("{}- a\n", "  ".repeat(n % 90))).collect()),
        ("one table", format!("| a |\n|---|\n{}", fill("| 1 |\n"))),
        ("headings alone", fill("# a\n")),
        ("deeper headings", fill("# a\n## b\n### c\n#### d\n##### e\n###### f\n")),
        ("tiny sections", fill("# a\n\nb\n\n")),
        ("thematic breaks in quotes", fill("> ---\n")),
        ("brackets", fill("[")),
        ("emphasis", fill("*a **a ")),
        ("blank lines", fill("a\n\n\n\n\n\n")),
        ("combining marks", format!("e{}", fill("\u{301}"))),
        ("flags", fill("🇩🇪")),
        ("families", fill("👩‍👩‍👧‍👦")),
    ]
}

#[test]
fn eight_times_the_text_is_at_most_nine_times_the_work() {
    let sizes = [8_000, 16_000, 32_000, 64_000];
    for preset in PRESETS {
        let shares: Vec<Vec<f64>> =
            sizes.map(|size| hostile(size).iter().map(|(_, text)| work(text, preset.name)).collect()).into();
        for (index, (name, _)) in hostile(10).iter().enumerate() {
            let series: Vec<f64> = shares.iter().map(|shares| shares[index]).collect();
            assert!(series[3] <= series[0] * 9.0 / 8.0 + 0.5, "{}: {name}: {series:?}", preset.name);
            assert!(series[3] <= 12.0, "{}: {name} counts each byte {series:?} times", preset.name);
        }
    }
}
