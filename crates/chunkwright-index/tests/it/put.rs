//! Documents from memory: the same promises as for files, with ids chosen by the caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_index::{
    FetchOptions, IndexError, IndexOptions, IndexReport, Pipeline, Progress, Prune, SearchOptions, amend,
    fetch, folders, remove_folder,
};
use chunkwright_source::{FormatHint, MAX_DOC_ID, NewSource};

use crate::binary::ENGLISH;
use crate::fixture::{Bag, COLLECTION, Fixture, chunker, for_each_store, now};

const DOCUMENTS: [(&str, &str); 3] = [
    ("https://example.org/guide", "# Guide\n\nUnpack the archive and run the installer.\n"),
    ("заметки/42", "# Заметки\n\nРаспакуйте архив и запустите установку.\n"),
    ("笔记", "# 笔记\n\n解压归档文件，然后运行安装程序。\n"),
];

fn markdown(doc_id: &str, text: &str) -> NewSource {
    NewSource::new(doc_id, text).with_hint(FormatHint::MediaType("text/markdown; charset=utf-8".into()))
}

fn sources() -> Vec<NewSource> {
    DOCUMENTS.iter().map(|(doc_id, text)| markdown(doc_id, text)).collect()
}

#[track_caller]
fn put(fixture: &Fixture, sources: Vec<NewSource>) -> IndexReport {
    put_with(fixture, sources, &fixture.options)
}

#[track_caller]
fn put_with(fixture: &Fixture, sources: Vec<NewSource>, options: &IndexOptions) -> IndexReport {
    let report = fixture.pipeline.put(sources, options, &|_| {}).unwrap();
    assert!(report.adds_up(), "{report:?}");
    assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    report
}

fn ids(fixture: &Fixture) -> Vec<String> {
    let documents = fixture.store.documents(&now(&*fixture.store)).unwrap();
    documents.into_iter().map(|info| info.doc_id).collect()
}

#[test]
fn what_is_put_is_found_and_given_back_and_written_once() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let report = put(&fixture, sources());
        assert_eq!((report.seen, report.indexed, report.embedded), (3, 3, 3), "{kind}");
        for (doc_id, text) in DOCUMENTS {
            let store = &*fixture.store;
            let fetched = fetch(store, &now(store), doc_id, FetchOptions::default()).unwrap();
            assert_eq!(fetched.text, text, "{kind}");
            let info = store.document_info(&now(store), doc_id).unwrap().unwrap();
            assert_eq!(
                (info.format.as_str(), info.root.as_str(), info.prefix.as_str()),
                ("markdown", "", "")
            );
        }
        for (question, doc_id) in [("installer", 0), ("установка", 1), ("安装程序", 2)] {
            let hits = fixture.search(question, &SearchOptions::default());
            assert!(hits[0].starts_with(DOCUMENTS[doc_id].0), "{kind} {question} {hits:?}");
        }
        fixture.bag.take_texts();
        let before = fixture.store.collections().unwrap();
        assert_eq!(put(&fixture, sources()).unchanged, 3, "{kind}");
        assert_eq!(fixture.store.collections().unwrap(), before, "{kind}: nothing was written");
        // One is changed: the others stay, and only its new text is embedded.
        let text = DOCUMENTS[2].1.replace("安装程序", "配置工具");
        let report = put(&fixture, vec![markdown("笔记", &text)]);
        assert_eq!((report.indexed, report.changed, report.embedded), (1, 1, 1), "{kind}");
        assert_eq!(fixture.bag.take_texts().len(), 1);
        assert_eq!(ids(&fixture).len(), 3);
        assert!(fixture.search("配置工具", &SearchOptions::default())[0].starts_with("笔记"), "{kind}");
        // Another format is another document, of the same bytes.
        let plain = NewSource::new("笔记", &*text).with_hint(FormatHint::Format("text".into()));
        assert_eq!(put(&fixture, vec![plain]).indexed, 1, "{kind}");
    });
}

#[test]
fn an_id_that_cannot_be_shown_or_is_taken_is_refused_and_the_rest_is_stored() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("README.md", "# Folder\n\nOf a folder.\n")]);
        fixture.index();
        let long = "x".repeat(MAX_DOC_ID + 1);
        let unknown = NewSource::new("f", "text").with_hint(FormatHint::Format("nonsense".into()));
        let sources = vec![
            NewSource::new("", "text"),
            NewSource::new("a\nb", "text"),
            NewSource::new("a\u{202e}b", "text"),
            NewSource::new(long.as_str(), "text"),
            NewSource::new("README.md", "another text"),
            NewSource::new("good", "The first text."),
            NewSource::new("good", "A second text."),
            unknown,
        ];
        let report = put(&fixture, sources);
        assert_eq!((report.indexed, report.failed.len()), (1, 7), "{kind} {report:?}");
        let said = |doc_id: &str, sentence: &str| {
            let mut failed = report.failed.iter().filter(|failure| failure.doc_id == doc_id);
            assert!(failed.any(|failure| failure.message.contains(sentence)), "{kind} {sentence} {report:?}");
        };
        said("", "must not be empty");
        said("a\u{fffd}b", "U+000A");
        said("a\u{fffd}b", "U+202E");
        said(&long[..MAX_DOC_ID], "1025 bytes");
        said("README.md", "a document of the folder");
        said("good", "put each id once");
        said("f", "unknown format `nonsense`");
        assert_eq!(ids(&fixture), ["README.md", "good"], "{kind}");
        let store = &*fixture.store;
        assert_eq!(
            store.document(&now(store), "README.md").unwrap().unwrap().source.to_string(),
            "# Folder\n\nOf a folder.\n"
        );
        assert_eq!(
            store.document(&now(store), "good").unwrap().unwrap().source.to_string(),
            "The first text."
        );
        // A generation that is made anew keeps the folder's document.
        let other = Pipeline::new(fixture.store.clone(), COLLECTION, chunker(), "test").with_summaries(true);
        let report =
            other.put([NewSource::new("README.md", "another text")], &fixture.options, &|_| {}).unwrap();
        assert_eq!((report.failed.len(), report.withheld, report.carried), (1, None, 2), "{kind}");
        assert_eq!(ids(&fixture), ["README.md", "good"], "{kind}");
    });
}

#[test]
fn no_run_over_folders_takes_or_removes_what_was_put() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[("a.md", "# A\n\nOf the folder.\n")]);
        // The same id and the same text, before the folder was ever indexed.
        put(&fixture, vec![markdown("a.md", "# A\n\nOf the folder.\n"), markdown("b.md", "# B\n\nPut.\n")]);
        let error = fixture.try_index().unwrap_err();
        assert!(matches!(error, IndexError::Folders(_)), "{kind} {error}");
        assert!(error.to_string().contains("the documents that are of no folder: `a.md`"), "{error}");
        assert_eq!(folders(&*fixture.store, &now(&*fixture.store)).unwrap()[0].documents, 2, "{kind}");
        fixture.remove("a.md");
        fixture.write("c.md", b"# C\n\nOf the folder.\n");
        fixture.options.prune = Prune::Force;
        assert_eq!(
            (fixture.index().indexed, ids(&fixture)),
            (1, ["a.md", "b.md", "c.md"].map(str::to_owned).to_vec())
        );
        // The folder is known now: one clash fails alone, and pruning removes the folder's only.
        fixture.write("b.md", b"# B\n\nPut.\n");
        fixture.remove("c.md");
        let report = fixture.index();
        assert_eq!((report.failed.len(), report.pruned.as_slice()), (1, &["c.md".to_owned()][..]), "{kind}");
        assert_eq!(
            remove_folder(&*fixture.store, &now(&*fixture.store), &fixture.root(), false).unwrap(),
            []
        );
        assert_eq!(ids(&fixture), ["a.md", "b.md"], "{kind}");
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    });
}

#[test]
fn a_format_that_the_id_does_not_say_outlives_another_cut() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let code = "def area(r):\n    return 3.14 * r * r\n\n\ndef length(r):\n    return 6.28 * r\n";
        let hinted = |doc_id: &str, hint| NewSource::new(doc_id, code).with_hint(hint);
        let sources = vec![
            hinted("1", FormatHint::Format("python".into())),
            hinted("2", FormatHint::FileName("geometry.py".into())),
            hinted("3", FormatHint::MediaType("application/x-unknown".into())),
            NewSource::new("4.py", code),
        ];
        assert_eq!(put(&fixture, sources).indexed, 4, "{kind}");
        let languages = || -> Vec<Option<String>> {
            let generation = now(&*fixture.store);
            let language =
                |doc_id: &str| fixture.store.records(&generation, doc_id).unwrap()[0].language.clone();
            ["1", "2", "3", "4.py"].map(language).to_vec()
        };
        let python = Some("python".to_owned());
        assert_eq!(languages(), [python.clone(), python.clone(), None, python.clone()], "{kind}");
        let other = Pipeline::new(fixture.store.clone(), COLLECTION, chunker(), "test").with_summaries(true);
        let report = other.put([], &fixture.options, &|_| {}).unwrap();
        assert_eq!((report.carried, report.withheld), (4, None), "{kind}");
        assert_eq!(languages(), [python.clone(), python.clone(), None, python], "{kind}");
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
    });
}

#[test]
fn a_pdf_from_memory_is_converted_and_given_back_as_it_was() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let bytes = ENGLISH.to_vec();
        let source = NewSource::new("paper", bytes.clone());
        assert_eq!(put(&fixture, vec![source.clone()]).indexed, 1, "{kind}");
        let stored = fixture.store.document(&now(&*fixture.store), "paper").unwrap().unwrap();
        assert_eq!((stored.info.format.as_str(), stored.bytes()), ("pdf", &*bytes), "{kind}");
        assert_eq!(put(&fixture, vec![source]).unchanged, 1, "{kind}");
        let report = put(&fixture, vec![NewSource::new("junk", vec![0, 159, 146, 150, 0, 0, 1])]);
        assert_eq!(report.skipped.len(), 1, "{kind} {report:?}");
    });
}

#[test]
fn what_was_changed_by_hand_stays_on_what_is_put_again_and_a_dry_run_says_so() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        put(&fixture, sources());
        let store = &*fixture.store;
        let record = store.records(&now(store), DOCUMENTS[0].0).unwrap().remove(0);
        amend(store, &now(store), Some(&*fixture.bag), None, record.chunk_id, &|overlay| {
            overlay.disabled = true;
        })
        .unwrap();
        let text =
            format!("{}\n# Addition\n\nMore of it, so long that it is a chunk of its own.\n", DOCUMENTS[0].1);
        let changed = vec![markdown(DOCUMENTS[0].0, &text), NewSource::new("new", "A new document.")];
        let before = store.collections().unwrap();
        let dry = IndexOptions { dry_run: true, ..fixture.options.clone() };
        let forecast = put_with(&fixture, changed.clone(), &dry);
        assert_eq!(store.collections().unwrap(), before, "{kind}");
        let report = put(&fixture, changed);
        let counts = |report: &IndexReport| (report.indexed, report.added, report.kept, report.overlays);
        assert_eq!(counts(&forecast), counts(&report), "{kind}");
        let hidden = format!("{}:1", DOCUMENTS[0].0);
        assert!(!fixture.search("installer", &SearchOptions::default()).contains(&hidden), "{kind}");
    });
}

#[test]
fn a_run_that_is_told_to_stop_keeps_whole_documents_and_the_next_one_does_the_rest() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let cancel = Arc::new(AtomicBool::new(false));
        let options = IndexOptions { cancel: Some(Arc::clone(&cancel)), ..fixture.options.clone() };
        let source = |n: usize| NewSource::new(format!("{n:04}"), format!("Document number {n} of many."));
        // More than are taken from an iterator at once.
        let many = || (0..700).map(source);
        let on_progress = |progress: Progress<'_>| {
            if let Progress::Committed { .. } = progress {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let report = fixture.pipeline.put(many(), &options, &on_progress).unwrap();
        assert!(report.cancelled && report.indexed > 0 && report.indexed < 700, "{kind} {report:?}");
        assert_eq!(ids(&fixture).len(), report.indexed, "{kind}");
        let rest = fixture.pipeline.put(many(), &fixture.options, &|_| {}).unwrap();
        assert_eq!((rest.indexed + report.indexed, rest.unchanged), (700, report.indexed), "{kind}");
        assert!(rest.adds_up());
    });
}

#[test]
fn a_failing_embedder_leaves_chunks_without_vectors_and_the_next_run_adds_them() {
    for_each_store(|kind| {
        let fixture = Fixture::with_bag(kind, &[], Bag::new(16));
        fixture.bag.down.store(true, Ordering::Relaxed);
        let report = fixture.pipeline.put(sources(), &fixture.options, &|_| {}).unwrap();
        assert_eq!((report.indexed, report.pending), (3, 3), "{kind}");
        fixture.bag.down.store(false, Ordering::Relaxed);
        let report = put(&fixture, sources());
        assert_eq!((report.embedded, report.pending), (3, 0), "{kind}");
    });
}
