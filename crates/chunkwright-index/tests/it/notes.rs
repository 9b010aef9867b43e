//! Notes by a chat model: within the limit, cached, and optional where the model is down.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use chunkwright_http::HttpOptions;
use chunkwright_index::{Mode, Models, NoteOptions, Pipeline, SearchOptions, search};
use chunkwright_models::{ServiceOptions, WriterOptions, writer};

use crate::fixture::{COLLECTION, Fixture, chunker, for_each_store, now};

/// A chat model of ours: it says the same of everything, or nothing.
struct Chat {
    url: String,
    asked: Arc<AtomicUsize>,
    down: Arc<AtomicBool>,
}

const NOTE: &str = "This passage is part of the orchard handbook and speaks about the care of young fruit trees in winter \
and early spring, when frost is likely and nothing else can be done for them.";

fn chat() -> Chat {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, down) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, is_down) = (Arc::clone(&asked), Arc::clone(&down));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (counted, is_down) = (Arc::clone(&counted), Arc::clone(&is_down));
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.ok()?);
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).ok()?;
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().ok()?;
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).ok()?;
                counted.fetch_add(1, Ordering::Relaxed);
                let (status, answer) = if is_down.load(Ordering::Relaxed) {
                    ("403 Forbidden", serde_json::json!({"error": {"message": "no"}}))
                } else {
                    let message = serde_json::json!({"role": "assistant", "content": NOTE});
                    let usage = serde_json::json!({"prompt_tokens": 100, "completion_tokens": 20});
                    ("200 OK", serde_json::json!({"choices": [{"message": message}], "usage": usage}))
                };
                let answer = answer.to_string();
                let head = format!(
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    answer.len()
                );
                reader.get_mut().write_all(format!("{head}{answer}").as_bytes()).ok()
            });
        }
    });
    Chat { url, asked, down }
}

fn pipeline(fixture: &Fixture, chat: &Chat) -> Pipeline {
    let http = HttpOptions { retries: 0, ..HttpOptions::default() };
    let options = WriterOptions {
        service: ServiceOptions { url: Some(chat.url.clone()), http, ..ServiceOptions::default() },
        input_price_per_million_tokens: Some(1.0),
        output_price_per_million_tokens: Some(10.0),
        ..WriterOptions::default()
    };
    let notes = NoteOptions {
        writer: Arc::new(writer("openai:ours", options).unwrap()),
        contexts: true,
        summaries: true,
    };
    Pipeline::new(Arc::clone(&fixture.store), COLLECTION, chunker(), "test")
        .with_embedder(fixture.bag.clone())
        .with_notes(notes)
}

fn text() -> String {
    let long = "Full as it can be. ".repeat(11);
    format!("# Trees\n\nShort.\n\n## Frost\n\nCover them.\n\n## Full\n\n{}\n", long.trim_end())
}

#[test]
fn notes_stand_before_chunks_within_the_limit_and_are_asked_for_once() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("trees.md", &text())]);
        fixture.index();
        let plain = fixture.store.records(&now(&*fixture.store), "trees.md").unwrap();
        let chat = chat();
        let with_notes = pipeline(&fixture, &chat);
        let index = || with_notes.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        let report = index();
        let asked = chat.asked.load(Ordering::Relaxed);
        assert_eq!((report.notes, asked), (plain.len() + 1, plain.len() + 1), "{kind}");
        assert!((report.notes_cost.unwrap() - 300.0e-6 * asked as f64).abs() < 1e-9);
        assert_eq!(report.notes_tokens, 120 * asked);
        let noted = fixture.store.records(&now(&*fixture.store), "trees.md").unwrap();
        assert_eq!(noted.len(), plain.len());
        let mut whole = 0;
        for (noted, plain) in noted.iter().zip(&plain) {
            // Nothing that was cut moves, no id depends on a note, and no text is over the limit.
            assert_eq!((&noted.chunk_id, &noted.content), (&plain.chunk_id, &plain.content));
            assert!(noted.text.chars().count() <= 240, "{}", noted.text);
            assert_eq!(noted.char_count as usize, noted.text.chars().count());
            assert_eq!(noted.text, [&noted.context, &noted.content].map(String::as_str).concat());
            whole += usize::from(noted.text.starts_with("This passage is part"));
        }
        let mut same = noted.iter().zip(&plain).filter(|(noted, plain)| noted.text == plain.text);
        assert!(whole > 0 && same.next().is_some(), "a full chunk has no room");
        let options = SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() };
        let found =
            search(&*fixture.store, &now(&*fixture.store), Models::default(), "orchard", &options).unwrap();
        assert_eq!(found.hits.len(), whole);
        assert!(found.hits[0].doc_summary.starts_with("This passage is part of the orchard handbook"));
        // An unchanged document asks nothing, and neither does one whose chunk moved.
        assert_eq!(index().unchanged, 1);
        assert_eq!(chat.asked.load(Ordering::Relaxed), asked);
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    });
}

#[test]
fn a_chat_model_that_is_down_is_asked_again_by_the_next_run() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("trees.md", &text())]);
        fixture.index();
        let before = now(&*fixture.store);
        let chat = chat();
        chat.down.store(true, Ordering::Relaxed);
        let with_notes = pipeline(&fixture, &chat);
        let index = || with_notes.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        let report = index();
        assert!(report.notes_pending > 0 && report.notes == 0, "{kind}");
        assert!(report.withheld.unwrap().starts_with("some notes could not be written"));
        assert_eq!(now(&*fixture.store), before);
        chat.down.store(false, Ordering::Relaxed);
        let report = index();
        assert_eq!((report.notes_pending, report.switched), (0, Some(before.number)));
    });
}
