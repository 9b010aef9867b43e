//! Documents from memory and from paths, without any index.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;

use chunkwright::Record;
use chunkwright_engine::settings::Source;
use chunkwright_engine::{
    Access, ChunkRequest, ChunkedDocument, DiffSide, DocumentsRequest, Engine, Error, EvaluateRequest,
    EvaluationStep, ExplainRequest, Input, Layers, NewSource, SkipReason, TuneRequest, Written,
};
use serde_json::json;
use tempfile::TempDir;

const GUIDE: &str = "# Guide\n\nUnpack the archive.\n\n## Run\n\nRun the program.\n";

fn engine() -> Engine {
    let values = [("tokenizer".to_owned(), json!("words")), ("embedder".to_owned(), json!("none"))];
    let settings = Layers::default().settings(Source::Request, values).unwrap();
    Engine::open(settings, Access::NoStore).unwrap()
}

fn memory(doc_id: &str, text: &str) -> Input {
    Input::Memory { document: NewSource::new(doc_id, text), place: "the request".into() }
}

fn request(inputs: Vec<Input>) -> DocumentsRequest {
    DocumentsRequest { inputs, ..DocumentsRequest::default() }
}

#[test]
fn chunks_come_in_the_order_of_their_documents_and_what_is_left_out_is_reported() {
    let folder = TempDir::new().unwrap();
    for number in 0..40 {
        fs::write(folder.path().join(format!("{number:02}.md")), GUIDE.repeat(number % 5 + 1)).unwrap();
    }
    fs::write(folder.path().join("b.bin"), [0, 159, 146, 150, 0, 0, 1]).unwrap();
    let inputs =
        vec![memory("z.md", GUIDE), Input::Path(folder.path().into()), Input::Path("nowhere".into())];
    let mut documents = engine().documents(&request(inputs)).unwrap();
    assert_eq!(documents.len(), 42);
    let (mut ids, mut unread) = (Vec::new(), 0);
    let emitted = documents.chunk(
        ChunkRequest::default(),
        |cut| (cut.doc_id, cut.chunks.len()),
        |_| 1 << 20,
        |cut| {
            match cut {
                Some((doc_id, chunks)) if chunks > 0 => ids.push(doc_id),
                _ => unread += 1,
            }
            Ok::<(), Error>(())
        },
    );
    emitted.unwrap();
    let expected: Vec<String> = (0..40).map(|number| format!("{number:02}.md")).collect();
    assert_eq!((&ids[0], &ids[1..], unread), (&"z.md".to_owned(), &expected[..], 1));
    let report = documents.report();
    // One of the 42 is no document.
    assert_eq!((report.found, report.skipped[0].reason), (41, SkipReason::Binary));
    assert_eq!(report.errors, ["`nowhere` does not exist; give a file, a folder, or `-` for standard input"]);
}

#[test]
fn the_records_of_a_large_document_are_passed_on_before_all_are_made() {
    let large = GUIDE.repeat(20_000);
    let inputs = ["a.md", "b.md"]
        .map(|doc_id| Input::Memory { document: NewSource::new(doc_id, &*large), place: doc_id.into() });
    let mut documents = engine().documents(&request(inputs.to_vec())).unwrap();
    let mut expected = Vec::new();
    let render =
        |cut: ChunkedDocument| cut.chunks.iter().map(|record| format!("{record:?}\n")).collect::<String>();
    let emit = |cut: Option<String>| {
        expected.extend(cut.unwrap().into_bytes());
        Ok::<(), Error>(())
    };
    documents.chunk(ChunkRequest::default(), render, String::len, emit).unwrap();
    let (mut bytes, mut chunks, mut ends) = (Vec::new(), 0, Vec::new());
    let write = |record: &Record, bytes: &mut Vec<u8>| bytes.extend(format!("{record:?}\n").into_bytes());
    let emit = |written: Option<Written>| {
        let written = written.unwrap();
        assert!(written.bytes.len() < 300_000, "{}", written.bytes.len());
        ends.push(written.is_last);
        chunks += written.chunks;
        bytes.extend(written.bytes);
        Ok::<(), Error>(())
    };
    documents.write_chunks(ChunkRequest::default(), Some(&write), emit).unwrap();
    assert!(
        bytes == expected && chunks > 1_000,
        "{chunks} chunks, {} of {} bytes",
        bytes.len(),
        expected.len()
    );
    assert!(ends.len() > 20 && ends.iter().filter(|is_last| **is_last).count() == 2, "{ends:?}");
}

#[test]
fn an_error_of_the_caller_ends_the_work() {
    let inputs = (0..50).map(|number| memory(&format!("{number}.md"), GUIDE)).collect::<Vec<_>>();
    // All of one place are meant once, so each has its own.
    let inputs = inputs.into_iter().enumerate().map(|(number, input)| match input {
        Input::Memory { document, .. } => Input::Memory { document, place: number.to_string() },
        other => other,
    });
    let mut documents = engine().documents(&request(inputs.collect())).unwrap();
    let mut seen = 0;
    let ended = documents.parse(|_| {
        seen += 1;
        if seen < 3 { Ok(()) } else { Err(Error::Cancelled) }
    });
    assert!(matches!(ended, Err(Error::Cancelled)));
    assert_eq!(seen, 3);
}

#[test]
fn one_document_is_explained_and_two_versions_are_compared() {
    let engine = engine();
    let guide = memory("guide.md", GUIDE);
    let all = engine.explain(&guide, ExplainRequest::default()).unwrap();
    assert_eq!((all.chunks.len(), &*all.chunks[0].doc_id), (all.total_chunks, "guide.md"));
    assert!(all.chunks[0].explanation.begins().starts_with("several small sections"));
    let error = engine.explain(&guide, ExplainRequest { line: Some(90) }).unwrap_err();
    assert_eq!(error.to_string(), "`guide.md` has lines 1 to 7; line 90 is out of range");
    let edited = memory("guide.md", &GUIDE.replace("Run the program.", "Start it."));
    let (old, new) = (DiffSide::Documents(guide), DiffSide::Documents(edited));
    let diff = engine.diff(&old, &new, &[], &mut |_, _| {}).unwrap().diff;
    assert_eq!((diff.summary.old_chunks, diff.summary.kept), (all.total_chunks, all.total_chunks - 1));
}

#[test]
fn sections_and_statistics_are_those_of_the_documents() {
    let engine = engine();
    let mut documents = engine.documents(&request(vec![memory("guide.md", GUIDE)])).unwrap();
    let mut titles = Vec::new();
    let outlined = documents.outline(|answer| {
        titles.extend(answer.into_iter().flat_map(|answer| answer.sections).map(|section| section.title));
        Ok::<(), Error>(())
    });
    outlined.unwrap();
    assert_eq!(titles[1..], ["Guide", "Run"]);
    let statistics = documents.statistics(|| {}).unwrap();
    assert_eq!((statistics.documents, statistics.coverage.lines), (1, 4));
    assert_eq!(statistics.coverage.lines, statistics.coverage.lines_in_chunks);
    assert!(statistics.violations.is_empty());
}

#[test]
fn presets_are_measured_and_one_is_proposed() {
    let folder = TempDir::new().unwrap();
    let questions = folder.path().join("q.jsonl");
    let line = json!({"question": "run the program", "doc_id": "guide.md", "excerpt": "Run the program."});
    fs::write(&questions, format!("{line}\nnonsense\n")).unwrap();
    let documents = request(vec![memory("guide.md", GUIDE)]);
    let mut steps = Vec::new();
    let evaluate = EvaluateRequest {
        questions: Some(questions.clone()),
        presets: vec!["auto".into(), "recursive".into()],
        ..EvaluateRequest::default()
    };
    let answer = engine().evaluate(&documents, &evaluate, &mut |step| steps.push(step)).unwrap().unwrap();
    assert_eq!((answer.report.run.questions, answer.report.run.refused), (1, 1));
    let presets: Vec<&str> = answer.report.retrieval.iter().map(|line| &*line.preset).collect();
    assert_eq!(presets, ["auto", "recursive"]);
    assert!(matches!(&steps[0], EvaluationStep::Refused { line: 2, .. }), "{steps:?}");
    assert!(matches!(steps.last(), Some(EvaluationStep::Read(_))));
    let tune = TuneRequest { questions: Some(questions), sizes: vec![64], ..TuneRequest::default() };
    let tuned = engine().tune(&documents, &tune, &mut |_| {}).unwrap().unwrap();
    assert_eq!((&*tuned.proposal.preset, tuned.refused), ("auto", 1));
    let nothing = engine().evaluate(&request(Vec::new()), &evaluate, &mut |_| {}).unwrap();
    assert_eq!(nothing, None);
}
