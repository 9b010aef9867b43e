//! The embedded store at sizes of 10,000, 100,000 and more chunks: writing, searching, replacing, disk.
//!
//! ```text
//! CHUNKWRIGHT_BENCH_DATA=DIR cargo bench -p chunkwright-benches --bench search -- 10000 100000
//! ```
//!
//! `DIR` holds `vectors_N.npy` (32-bit floats, C order), `texts_N.jsonl` (objects with `text`, 20 of them a
//! document), `queries.npy` and `queries.txt`: the same files can be given to any other store, which is
//! the only fair comparison. Without it, texts are made of words and vectors of chance, which measures time
//! and not recall. Answers carry their texts. Times are wall times of one client; under load, those of requests
//! at a constant rate, alone and beside a re-index without end.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and its environment")]

mod load;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use chunkwright::{ChunkId, Chunker, Document, Record, RecordContext, TokenCounter, Words, parse::Text};
use chunkwright_index::{
    Access, Change, ChunkStore, DocumentInfo, DocumentStore, Filter, Generation, GenerationSpec,
    GenerationStore, Mode, Model, Models, NewChunk, NewDocument, SearchOptions, SqliteStore, Store,
    StoredDocument, search,
};
use chunkwright_models::{EmbedError, Embedder, Embedding, Languages, ModelInfo, Role, text_hash};
use chunkwright_source::format::file_hash;

const CHUNKS_OF_DOCUMENT: usize = 20;
const DOCUMENTS_OF_WRITE: usize = 128;
const WARM_UP: usize = 20;
/// Requests a second, by mode.
const LOADS: &[(Mode, f64)] = &[(Mode::Lexical, 1000.0), (Mode::Hybrid, 300.0)];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` runs benches with this flag to see that they start.
    if arguments.iter().any(|argument| argument == "--test") {
        return Ok(());
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let data = std::env::var("CHUNKWRIGHT_BENCH_DATA").ok().map(PathBuf::from);
    for size in if sizes.is_empty() { vec![10_000] } else { sizes } {
        run(size, data.as_deref())?;
    }
    Ok(())
}

/// Vectors that are known beforehand: no time of a model is measured.
struct Given {
    info: ModelInfo,
    queries: Vec<(String, Vec<f32>)>,
}

impl Embedder for Given {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], _role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let vector = |text: &&str| {
            let known = self.queries.iter().find(|(query, _)| query == text);
            let vector = known.map(|(_, vector)| vector.clone()).unwrap_or_default();
            Embedding { vector, unread_tokens: 0, sparse: None, tokens: None }
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn run(size: usize, data: Option<&Path>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store");
    let store = SqliteStore::open(&path, Access::Write)?;
    let mut vectors = Vectors::open(data, size)?;
    let dimension = vectors.dimension;
    let model = Model { name: "given".into(), dimension, sparse: false };
    let counter: Arc<dyn TokenCounter> = Arc::new(Words);
    let chunker = Chunker::new(chunkwright::ChunkConfig::default(), counter)?;
    let template = template(&chunker)?;
    let spec = GenerationSpec {
        strategy_version: template.strategy_version.clone(),
        config_hash: template.config_hash.clone(),
        model: Some(model.clone()),
    };
    let generation = store.begin("bench", &spec)?;

    let mut texts = texts(data, size)?;
    let (mut written, mut bytes, mut spent) = (0, 0, Duration::ZERO);
    while written < size {
        let mut known = Vec::new();
        let mut changes = Vec::new();
        for _ in 0..DOCUMENTS_OF_WRITE {
            let texts: Vec<String> =
                texts.by_ref().take(CHUNKS_OF_DOCUMENT.min(size - written)).collect::<Result<_>>()?;
            if texts.is_empty() {
                break;
            }
            // A text has one vector: copies are told apart.
            let texts: Vec<String> =
                texts.into_iter().enumerate().map(|(at, text)| format!("{text} {}", written + at)).collect();
            for text in &texts {
                bytes += text.len() + 4 * dimension;
                known.push((text_hash(text), vectors.next_vector()?.into()));
            }
            written += texts.len();
            let document = document(&template, written.div_ceil(CHUNKS_OF_DOCUMENT) - 1, &texts, 0);
            changes.push(Change::Replace(Box::new(document)));
        }
        let start = Instant::now();
        store.cache().put_vectors(&model.name, &known)?;
        store.write(&generation, &changes)?;
        spent += start.elapsed();
    }
    // The end of a run, which persists the search index.
    let start = Instant::now();
    store.switch(&generation)?;
    spent += start.elapsed();
    println!("\n{size} chunks of {dimension} numbers");
    println!("  written, chunks a second (with vectors)   {:>12.0}", size as f64 / spent.as_secs_f64());

    let queries = queries(data, dimension)?;
    let embedder = Given {
        info: ModelInfo {
            name: model.name,
            dimension,
            sparse: false,
            max_tokens: None,
            counter: Arc::new(Words),
            reads: Languages::All,
            price_per_million_tokens: None,
        },
        queries: queries.clone(),
    };
    drop(store);
    let start = Instant::now();
    let store = SqliteStore::open(&path, Access::Write)?;
    let opened = store.open("bench")?;
    find(&store, &opened, &embedder, &queries[0].0, Mode::Hybrid)?;
    println!("  opened and first answer, ms               {:>12.1}", start.elapsed().as_secs_f64() * 1e3);
    for mode in [Mode::Dense, Mode::Lexical, Mode::Hybrid] {
        let mut times = Vec::new();
        for (at, (query, _)) in queries.iter().take(WARM_UP).chain(&queries).enumerate() {
            let start = Instant::now();
            find(&store, &opened, &embedder, query, mode)?;
            if at >= WARM_UP {
                times.push(start.elapsed());
            }
        }
        println!("  {:<9} p50 / p99, ms                      {:>12}", mode.as_str(), percentiles(times));
    }
    let mut recall = (0, 0);
    for (_, query) in queries.iter().take(100) {
        let found = store.dense(&opened, query, &Filter::default(), 10)?;
        let exact = vectors.exact(query, 10)?;
        let least = exact.last().copied().unwrap_or_default() - 1e-5;
        recall.0 += found.iter().filter(|hit| hit.score >= least).count();
        recall.1 += exact.len();
    }
    println!(
        "  recall of the 10 nearest                  {:>12.4}",
        f64::from(recall.0 as u32) / recall.1.max(1) as f64
    );

    let listed = store.documents(&opened)?;
    let replace = |store: &SqliteStore, some: &[DocumentInfo], turn: usize| -> Result<Duration> {
        let mut known = Vec::new();
        let mut changes = Vec::new();
        for info in some {
            let records = store.records(&opened, &info.doc_id)?;
            let texts: Vec<String> =
                records.iter().map(|record| format!("{} new{turn}", record.text)).collect();
            known.extend(texts.iter().map(|text| (text_hash(text), queries[0].1.clone().into())));
            let number = info.doc_id.trim_start_matches("doc").trim_end_matches(".txt").parse().unwrap_or(0);
            changes.push(Change::Replace(Box::new(document(&template, number, &texts, info.version))));
        }
        let start = Instant::now();
        store.cache().put_vectors("given", &known)?;
        store.write(&opened, &changes)?;
        Ok(start.elapsed())
    };
    let mut times = Vec::new();
    for (turn, info) in listed.iter().take(30).enumerate() {
        let written = replace(&store, std::slice::from_ref(info), turn)?;
        let start = Instant::now();
        find(&store, &opened, &embedder, &queries[0].0, Mode::Hybrid)?;
        times.push(written + start.elapsed());
    }
    println!("  replace of {CHUNKS_OF_DOCUMENT} chunks and an answer, ms      {:>12}", percentiles(times));
    drop(store);
    let disk: u64 =
        fs::read_dir(&path)?.flatten().filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum();
    println!("  disk, bytes a chunk                       {:>12.0}", disk as f64 / size as f64);
    println!("  disk over texts and vectors               {:>12.2}", disk as f64 / bytes as f64);

    let store = SqliteStore::open(&path, Access::Write)?;
    find(&store, &opened, &embedder, &queries[0].0, Mode::Hybrid)?;
    let turn = AtomicUsize::new(100);
    let reindex = || -> Result<()> {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        let window = listed.chunks(DOCUMENTS_OF_WRITE).nth(turn % listed.len().div_ceil(DOCUMENTS_OF_WRITE));
        let versions = store.documents(&opened)?;
        let window: Vec<DocumentInfo> = window
            .into_iter()
            .flatten()
            .filter_map(|info| versions.iter().find(|now| now.doc_id == info.doc_id).cloned())
            .collect();
        replace(&store, &window, turn).map(|_| ())
    };
    for (mode, rate) in LOADS {
        let request =
            |number: usize| find(&store, &opened, &embedder, &queries[number % queries.len()].0, *mode);
        for (beside, shown) in
            [(None, "alone"), (Some(&reindex as &(dyn Fn() -> Result<()> + Sync)), "re-index")]
        {
            let (times, answered) = load::at_rate(*rate, request, beside)?;
            let name = format!("{} at {rate}/s, {shown}: answered/s, p50 / p99, ms", mode.as_str());
            println!("  {name:<60} {answered:>5.0} {:>12}", percentiles(times));
        }
    }
    println!("  windows of {DOCUMENTS_OF_WRITE} documents written meanwhile: {}", turn.into_inner() - 100);
    Ok(())
}

fn find(
    store: &SqliteStore,
    generation: &Generation,
    embedder: &Given,
    query: &str,
    mode: Mode,
) -> Result<()> {
    let options = SearchOptions { mode, top_k: 10, ..SearchOptions::default() };
    let answer = search(store, generation, Models::embedder(embedder), query, &options)?;
    ensure!(mode == Mode::Lexical || !answer.hits.is_empty(), "`{query}` has no answer");
    Ok(())
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("{:.2} / {:.2}", at(0.5), at(0.99))
}

/// A record as chunking makes it.
fn template(chunker: &Chunker) -> Result<Record> {
    let document = Document::parse("doc.txt", "A text.\n", &Text);
    let context =
        RecordContext { preset: "auto".into(), file_hash: file_hash(b""), ..RecordContext::default() };
    chunker.chunk(&document).records(&context).pop().ok_or_else(|| anyhow!("no chunk"))
}

/// A document whose chunks are `texts`.
fn document(template: &Record, number: usize, texts: &[String], base: i64) -> NewDocument {
    let doc_id = format!("doc{number}.txt");
    let source = texts.join("\n\n");
    let info = DocumentInfo {
        doc_id: doc_id.clone(),
        file_hash: file_hash(source.as_bytes()),
        preset: template.preset.clone(),
        indexed_at: "2026-01-01T00:00:00Z".into(),
        ..DocumentInfo::default()
    };
    let id = |(index, text): (usize, &String)| ChunkId(text_hash(&format!("{doc_id} {index} {text}")));
    let ids: Vec<ChunkId> = texts.iter().enumerate().map(id).collect();
    let mut at = 0;
    let chunks = texts.iter().enumerate().map(|(index, text)| {
        let start = at;
        at += text.len() + 2;
        NewChunk::new(Record {
            chunk_id: ids[index],
            doc_id: doc_id.clone(),
            chunk_index: index as u32,
            total_chunks: texts.len() as u32,
            previous: index.checked_sub(1).map(|before| ids[before]),
            next: ids.get(index + 1).copied(),
            parent: doc_id.clone(),
            content: text.clone(),
            text: text.clone(),
            start_byte: start as u32,
            end_byte: (start + text.len()) as u32,
            file_hash: info.file_hash.clone(),
            indexed_at: Some(info.indexed_at.clone()),
            ..template.clone()
        })
    });
    let chunks = chunks.collect();
    NewDocument {
        base,
        chunks,
        document: StoredDocument { info, source: source.into(), ..StoredDocument::default() },
    }
}

/// The texts, read as they are needed.
fn texts(data: Option<&Path>, size: usize) -> Result<Box<dyn Iterator<Item = Result<String>>>> {
    let Some(data) = data else {
        let word = |n: usize| format!("word{}", n * n % 9973);
        return Ok(Box::new((0..size).map(move |n| Ok((0..90).map(|k| word(n * 31 + k) + " ").collect()))));
    };
    let file = data.join(format!("texts_{size}.jsonl"));
    let lines = BufReader::new(File::open(&file).with_context(|| format!("`{}`", file.display()))?).lines();
    Ok(Box::new(lines.map(|line| {
        let value: serde_json::Value = serde_json::from_str(&line?)?;
        Ok(value["text"].as_str().unwrap_or_default().to_owned())
    })))
}

fn queries(data: Option<&Path>, dimension: usize) -> Result<Vec<(String, Vec<f32>)>> {
    let (texts, mut vectors) = match data {
        Some(data) => {
            let texts = fs::read_to_string(data.join("queries.txt"))?.lines().map(str::to_owned).collect();
            (texts, Vectors::of(Some(&data.join("queries.npy")), 0)?)
        }
        None => (
            (0..200).map(|n: usize| format!("word{} word{} word{}", n, n * 7, n * 31)).collect(),
            Vectors::of(None, dimension)?,
        ),
    };
    let texts: Vec<String> = texts;
    texts.into_iter().map(|text| Ok((text, vectors.next_vector()?))).collect()
}

/// Vectors of a file, or of chance.
struct Vectors {
    dimension: usize,
    file: Option<BufReader<File>>,
    start: u64,
    seed: u64,
}

impl Vectors {
    fn open(data: Option<&Path>, size: usize) -> Result<Self> {
        let file = data.map(|data| data.join(format!("vectors_{size}.npy")));
        Self::of(file.as_deref(), 384)
    }

    fn of(path: Option<&Path>, dimension: usize) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { dimension, file: None, start: 0, seed: 7 }) };
        let mut file = BufReader::with_capacity(
            1 << 20,
            File::open(path).with_context(|| format!("`{}`", path.display()))?,
        );
        let mut head = [0; 10];
        file.read_exact(&mut head)?;
        let length = u64::from(u16::from_le_bytes([head[8], head[9]]));
        let mut said = vec![0; length as usize];
        file.read_exact(&mut said)?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let shape =
            said.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
        let dimension = shape.split(',').nth(1).and_then(|number| number.trim().parse().ok());
        let dimension = dimension.ok_or_else(|| anyhow!("`{}` is no matrix", path.display()))?;
        ensure!(
            said.contains("'<f4'") && said.contains("'fortran_order': False"),
            "`{}` holds no 32-bit floats",
            path.display()
        );
        Ok(Self { dimension, file: Some(file), start: 10 + length, seed: 0 })
    }

    fn next_vector(&mut self) -> Result<Vec<f32>> {
        let Some(file) = &mut self.file else {
            let mut random = || {
                self.seed =
                    self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
            };
            let vector: Vec<f32> = (0..self.dimension).map(|_| random()).collect();
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            return Ok(vector.into_iter().map(|value| value / length).collect());
        };
        let mut bytes = vec![0; 4 * self.dimension];
        file.read_exact(&mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// The greatest products with all vectors of the file, by comparing each.
    fn exact(&mut self, query: &[f32], limit: usize) -> Result<Vec<f64>> {
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        file.seek(SeekFrom::Start(self.start))?;
        let mut best: Vec<f64> = Vec::new();
        let mut bytes = vec![0; 4 * self.dimension];
        while file.read_exact(&mut bytes).is_ok() {
            let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            let score: f64 = numbers.zip(query).map(|(a, b)| f64::from(a) * f64::from(*b)).sum();
            if best.len() < limit || score > best[limit - 1] {
                let at = best.partition_point(|known| *known > score);
                best.insert(at, score);
                best.truncate(limit);
            }
        }
        Ok(best)
    }
}
