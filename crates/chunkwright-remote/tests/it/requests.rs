//! Requests to servers: the cost of a page and of a part of a file, and names that a server would confuse.

use chunkwright_index::{
    Change, DocumentInfo, DocumentsBehind, Generation, GenerationSpec, Glob, ListRequest, ListedDocuments,
    SourceForm, SourceRange, Store, StoreError, chroma_name,
};

use crate::contract::document;
use crate::kinds::unique;
use crate::proxy::Proxy;
use crate::remote::for_each_server;
use crate::sources;

/// A paragraph that is a chunk of its own.
fn paragraph(number: usize) -> String {
    let words = match number % 3 {
        0 => "A paragraph of words about storage engines. ".repeat(4 + number % 2),
        1 => "Абзац о хранилищах и запросах к ним. ".repeat(4 + number % 3),
        _ => "关于存储引擎与查询的一段说明文字，写得足够长。".repeat(6 + number % 3),
    };
    format!("Number {number}. {words}")
}

fn put(doc_id: &str) -> Change {
    Change::Replace(Box::new(document(doc_id, 0, &["A paragraph."])))
}

/// All pages of a list of documents, between which `between` is called.
fn walk(
    store: &dyn Store,
    generation: &Generation,
    source: Option<&Glob>,
    limit: usize,
    mut between: impl FnMut(),
) -> Vec<DocumentInfo> {
    let (mut all, mut after) = (Vec::new(), None::<String>);
    loop {
        let request = DocumentsBehind { source, after: after.as_deref(), skip: 0, limit };
        let ListedDocuments { documents, is_more, .. } = store.list_documents(generation, &request).unwrap();
        after = documents.last().map(|info| info.doc_id.clone());
        all.extend(documents);
        if !is_more {
            return all;
        }
        between();
    }
}

#[test]
fn a_page_of_a_server_takes_as_many_requests_wherever_it_is_and_however_many_documents_there_are() {
    for_each_server(|url| {
        let proxy = Proxy::before(url);
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        let store = crate::remote::open(&proxy.url(url), &prefix, folder.path(), 0);
        let generation = store.begin("notes", &GenerationSpec::default()).unwrap();
        let many: Vec<String> = (0..40).map(paragraph).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut most_before = None;
        for documents in [20, 40, 80] {
            let new = |n| {
                let paragraphs = if n % 20 == 7 { &many[..] } else { &many[..2] };
                Change::Replace(Box::new(document(&format!("{n:03}.md"), 0, paragraphs)))
            };
            let known = store.documents(&generation).unwrap().len();
            store.write(&generation, &(known..documents).map(new).collect::<Vec<_>>()).unwrap();
            let mut request = ListRequest { limit: 10, ..ListRequest::default() };
            let (mut most, mut listed) = (0, 0);
            loop {
                let before = proxy.requests();
                let page = store.list(&generation, &request).unwrap();
                // The first page asks which documents there are.
                if request.after.is_some() {
                    most = most.max(proxy.requests() - before);
                }
                listed += page.chunks.len();
                let Some(next) = page.next else { break };
                request.after = Some(next);
            }
            assert_eq!(listed, documents * 2 + documents / 20 * 38, "{url}");
            // So does a page that passes over chunks, once the columns are there.
            let passing_over = |skip| {
                let before = proxy.requests();
                let request = ListRequest { skip, limit: 10, ..ListRequest::default() };
                assert_eq!(store.list(&generation, &request).unwrap().chunks.len(), 10, "{url} {skip}");
                proxy.requests() - before
            };
            passing_over(1);
            assert_eq!(passing_over(5), passing_over(listed - 10), "{url}");
            // The first pages may also prepare statements.
            assert!(most_before.is_none_or(|before| before >= most), "{url} {most} {most_before:?}");
            most_before = Some(most);
        }
    });
}

#[test]
fn a_page_of_a_server_reads_as_much_wherever_it_is_and_however_many_documents_there_are() {
    for_each_server(|url| {
        let proxy = Proxy::before(url);
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        let store = crate::remote::open(&proxy.url(url), &prefix, folder.path(), 0);
        let generation = store.begin("notes", &GenerationSpec::default()).unwrap();
        let odd = Glob::new("odd/**").unwrap();
        let mut most_before = None;
        for documents in [20, 40, 80, 160] {
            let known = store.documents(&generation).unwrap().len();
            let name = |n: usize| format!("{}/{n:03}.md", if n.is_multiple_of(2) { "even" } else { "odd" });
            let new: Vec<Change> = (known..documents).map(|n| put(&name(n))).collect();
            store.write(&generation, &new).unwrap();
            let (mut most, mut before) = ((0, 0), None);
            for source in [None, Some(&odd)] {
                let count = |before: &mut Option<(usize, usize)>, most: &mut (usize, usize)| {
                    let now = (proxy.requests(), proxy.answered());
                    // The first page asks which documents there are.
                    if let Some(then) = before {
                        *most = (most.0.max(now.0 - then.0), most.1.max(now.1 - then.1));
                    }
                    *before = Some(now);
                };
                let found = walk(&*store, &generation, source, 5, || count(&mut before, &mut most));
                count(&mut before, &mut most);
                assert_eq!(found.len(), if source.is_some() { documents / 2 } else { documents });
            }
            let (requests, bytes) = most;
            // Numbers have more digits.
            let is_same = |(then, read): (usize, usize)| requests == then && bytes <= read + read / 10;
            assert!(most_before.is_none_or(is_same), "{url} {documents} {most:?} {most_before:?}");
            most_before = most_before.or(Some(most));
        }
    });
}

#[test]
fn a_part_of_a_file_on_a_server_is_read_with_its_piece_and_not_with_the_file() {
    for_each_server(|url| {
        let mut least = usize::MAX;
        for times in [1, 2] {
            let proxy = Proxy::before(url);
            let folder = tempfile::tempdir().unwrap();
            let store = crate::remote::open(&proxy.url(url), &unique(), folder.path(), 0);
            let (generation, [_, (document, _, file)]) = sources::write(&*store, times << 20);
            let (form, before) = (SourceForm::File, proxy.answered());
            let offset = file.len() as u64 - 100;
            let range = SourceRange { document: &document, form, offset, limit: 100 };
            assert_eq!(store.source(&generation, range).unwrap().unwrap().bytes.len(), 100);
            least = least.min(proxy.answered() - before);
            // A piece is 1 MB of the file, in hexadecimal digits.
            assert!(proxy.answered() - before < 3 << 20, "{url} {times}: {}", proxy.answered() - before);
        }
        assert!(least > 100);
    });
}

#[test]
fn a_name_that_a_server_would_mix_up_with_another_is_refused() {
    for_each_server(|url| {
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        let store = crate::remote::open(url, &prefix, folder.path(), 0);
        let begin = |name: &str| store.begin(name, &GenerationSpec::default());
        let number = begin("课程").unwrap().number;
        let is_chroma = url.starts_with("chroma");
        let other = begin("教程");
        if is_chroma {
            let error = other.unwrap_err();
            assert!(matches!(error, StoreError::SameName { .. }), "{error}");
            let physical = chroma_name(&format!("{prefix}-课程"));
            let expected = format!(
                "collection `教程` would be stored as `{physical}`, which belongs to collection `课程`; "
            );
            assert!(error.to_string().starts_with(&expected), "{error}");
            // Of what was refused there is nothing, and what was there stays.
            assert_eq!(store.collections().unwrap().len(), 1);
            store.remove(&store.open("课程").unwrap()).unwrap();
            begin("教程").unwrap();
        } else {
            other.unwrap();
            // On Qdrant a name may be that of another collection's generation.
            let third = begin(&format!("课程-g{number}"));
            let is_refused = matches!(third, Err(StoreError::SameName { .. }));
            assert_eq!(is_refused, url.starts_with("qdrant"), "{third:?}");
        }
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    });
}
