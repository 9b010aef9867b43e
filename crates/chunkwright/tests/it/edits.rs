//! One-line edits of real documents: what changes, and what must not.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright::preset::PRESETS;
use chunkwright::{ChunkConfig, ChunkId, ChunkIn, Chunked, Chunker, Document, PARSERS};

use crate::invariants::{self, Quads};

/// Number of edits, the same on every run.
const EDITS: usize = 1000;
const SEED: u64 = 11;

/// The texts of `examples/corpus`, in three languages.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
    let mut paths: Vec<PathBuf> = ["en", "ru", "zh"]
        .iter()
        .flat_map(|language| std::fs::read_dir(root.join(language)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// A small generator, so that a failure is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Lines of text: what an author edits all day. Headings, fences and tables are structure; of front matter some is in
/// no text.
fn text_lines(lines: &[&str]) -> Vec<usize> {
    let is_text =
        |line: &str| line.len() > 20 && !line.trim_start().starts_with(['#', '`', '|', '~', '-', '=']);
    let closing = lines.iter().skip(1).position(|line| *line == "---").filter(|_| lines[0] == "---");
    (closing.map_or(0, |line| line + 2)..lines.len()).filter(|&index| is_text(lines[index])).collect()
}

/// Inserts, deletes or changes one line; gives the new text and the byte where the edit is.
fn edit(source: &str, random: &mut Random) -> (String, usize) {
    let mut lines: Vec<&str> = source.split('\n').collect();
    let candidates = text_lines(&lines);
    let at = candidates[random.below(candidates.len())];
    let place = lines[..at].iter().map(|line| line.len() + 1).sum();
    let donor = lines[candidates[random.below(candidates.len())]];
    let changed = format!("{} edited", lines[at]);
    match random.below(3) {
        0 => lines.insert(at, donor),
        1 => drop(lines.remove(at)),
        _ => lines[at] = &changed,
    }
    (lines.join("\n"), place)
}

/// The content of a chunk, with its borrowed text.
fn said(chunk: ChunkIn<'_>) -> String {
    chunk.render().into_text()
}

#[test]
fn ninety_nine_of_a_hundred_edits_change_the_chunk_and_its_neighbours_at_most() {
    let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Quads)).unwrap();
    let corpus = corpus();
    let mut random = Random(SEED);
    let mut far = 0;
    let parsed = |source: &String| Document::parse("a.md", source.as_str(), PARSERS[0]);
    let documents: Vec<Document> = corpus.iter().map(parsed).collect();
    let cut: Vec<Chunked<'_>> = documents.iter().map(|old| invariants::chunk(&chunker, old)).collect();
    for _ in 0..EDITS {
        let at = random.below(corpus.len());
        let (edited, place) = edit(&corpus[at], &mut random);
        let new = Document::parse("a.md", edited, PARSERS[0]);
        let (before, after) = (&cut[at], invariants::chunk(&chunker, &new));
        let ids: HashMap<ChunkId, _> = after.iter().map(|chunk| (chunk.id, said(chunk))).collect();
        let hit = before.partition_point(|chunk| (chunk.span.end as usize) <= place).min(before.len() - 1);
        let gone = |(index, chunk): (usize, ChunkIn<'_>)| {
            let name = ids.get(&chunk.id);
            assert!(name.is_none_or(|name| *name == said(chunk)), "an id names another text");
            // Of equal chunks the last one disappears, wherever the edit was: compare their texts.
            name.is_none()
                && !(hit.saturating_sub(1)..(hit + 2).min(before.len()))
                    .filter_map(|near| before.nth(near))
                    .any(|near| said(near) == said(chunk))
                && index.abs_diff(hit) > 1
        };
        far += usize::from(before.iter().enumerate().any(gone));
    }
    assert!(far * 100 <= EDITS, "{far} of {EDITS} edits changed chunks further away, seed {SEED}");
}

#[test]
fn what_says_the_same_in_the_same_place_keeps_its_id() {
    let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Quads)).unwrap();
    let mut random = Random(SEED + 1);
    for source in &corpus() {
        let (edited, _) = edit(source, &mut random);
        let old = Document::parse("a.md", source.as_str(), PARSERS[0]);
        let new = Document::parse("a.md", format!("A line at the top.\n\n{edited}"), PARSERS[0]);
        let (before, after) = (chunker.chunk(&old), chunker.chunk(&new));
        let count = |chunks: &Chunked<'_>, wanted: ChunkIn<'_>| {
            chunks.iter().filter(|chunk| said(*chunk) == said(wanted)).count()
        };
        for chunk in &before {
            let survives = count(&after, chunk) >= count(&before, chunk);
            assert!(!survives || after.iter().any(|other| other.id == chunk.id), "{:?}", said(chunk));
        }
    }
}

#[test]
fn as_many_ids_change_as_texts() {
    let mut random = Random(SEED + 2);
    for preset in PRESETS {
        let chunker = Chunker::new((preset.config)(), Arc::new(Quads)).unwrap();
        for source in &corpus() {
            let retitled = source.replacen("# ", "# New: ", 1);
            for edited in [edit(source, &mut random).0, retitled] {
                let old = Document::parse("a.md", source.as_str(), PARSERS[0]);
                let new = Document::parse("a.md", edited, PARSERS[0]);
                let (before, after) = (chunker.chunk(&old), chunker.chunk(&new));
                // What one chunk borrows as its overlap another may own.
                let said = |chunk: ChunkIn<'_>| {
                    let rendered = chunk.render();
                    format!("{}\0{}", rendered.context(), &rendered.text()[rendered.context().len()..])
                };
                let texts = |chunks: &Chunked<'_>| -> Vec<String> { chunks.iter().map(said).collect() };
                let ids = |chunks: &Chunked<'_>| -> Vec<String> {
                    chunks.iter().map(|chunk| chunk.id.to_string()).collect()
                };
                let changed = (added(ids(&before), &ids(&after)), added(texts(&before), &texts(&after)));
                assert_eq!(changed.0, changed.1, "{}", preset.name);
            }
        }
    }
}

/// Number of `after` that are not in `before`, whose members count once each.
fn added(before: Vec<String>, after: &[String]) -> usize {
    let mut left: HashMap<String, usize> = HashMap::new();
    for one in before {
        *left.entry(one).or_default() += 1;
    }
    let mut is_new = |one: &String| match left.get_mut(one) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    after.iter().filter(|one| is_new(one)).count()
}
