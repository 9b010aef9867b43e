//! Lists of documents: the pages of every store add up to the whole list, and no page reads all of it.

use std::collections::HashMap;

use chunkwright_index::{
    Change, DocumentInfo, DocumentsBehind, Generation, GenerationSpec, Glob, ListedDocuments, MAX_PAGE,
    Store, StoreError,
};

use crate::contract::document;
use crate::fixture::{for_each_store, open};
use crate::lists::Dice;

const PATTERNS: [&str; 9] = [
    "**",
    "docs/*",
    "docs/**",
    "**/1*.md",
    "описание/{1,2}*",
    "docs/[id]/page.md",
    "docs/010.md",
    "nothing/**",
    "docs/deep/er/*",
];

fn put(doc_id: &str) -> Change {
    Change::Replace(Box::new(document(doc_id, 0, &["A paragraph."])))
}

/// Documents of several folders and languages; some ids begin as a folder is called.
fn ids() -> Vec<String> {
    let mut ids: Vec<String> = (0..12)
        .flat_map(|n| [format!("docs/{n:03}.md"), format!("описание/{n}.md"), format!("docs/deep/er/{n}.md")])
        .collect();
    ids.extend(["docs", "docs.md", "docs/[id]/page.md", "docs!", "a", "说明.md"].map(str::to_owned));
    ids
}

fn list(store: &dyn Store, generation: &Generation, request: &DocumentsBehind<'_>) -> ListedDocuments {
    let listed = store.list_documents(generation, request).unwrap();
    let most = request.limit.clamp(1, MAX_PAGE);
    assert!(listed.documents.len() <= most);
    assert!(!listed.is_more || listed.documents.len() == most, "a page before the last is full");
    listed
}

/// All pages, between which `between` is called.
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
        let ListedDocuments { documents, is_more, .. } = list(store, generation, &request);
        after = documents.last().map(|info| info.doc_id.clone());
        all.extend(documents);
        if !is_more {
            return all;
        }
        between();
    }
}

#[test]
fn pages_together_are_the_whole_list_and_each_says_how_many_there_are() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let generation = store.begin("c", &GenerationSpec::default()).unwrap();
        let check = || {
            let documents = store.documents(&generation).unwrap();
            for pattern in PATTERNS.map(|pattern| Some(Glob::new(pattern).unwrap())).into_iter().chain([None])
            {
                let mut expected = documents.clone();
                expected.retain(|info| pattern.as_ref().is_none_or(|glob| glob.matches(&info.doc_id)));
                for limit in [1, 5, 1_000] {
                    let found = walk(&*store, &generation, pattern.as_ref(), limit, || {});
                    assert_eq!(found, expected, "{kind} {pattern:?} {limit}");
                }
                for after in ["", "docs", "docs/005", "docs/\u{10ffff}", "я"] {
                    for skip in [0, 4, 1_000] {
                        let (source, after) = (pattern.as_ref(), Some(after));
                        let request = DocumentsBehind { source, after, skip, limit: 3 };
                        let found = list(&*store, &generation, &request);
                        assert_eq!(found.total, expected.len(), "{kind} {pattern:?}");
                        let behind = expected.iter().filter(|info| Some(info.doc_id.as_str()) > after);
                        let behind: Vec<DocumentInfo> = behind.skip(skip).cloned().collect();
                        let page = &behind[..behind.len().min(3)];
                        assert_eq!(found.documents, page, "{kind} {request:?}");
                        assert_eq!(found.is_more, behind.len() > 3, "{kind} {request:?}");
                    }
                }
            }
        };
        check();
        store.write(&generation, &ids().iter().map(|id| put(id)).collect::<Vec<_>>()).unwrap();
        check();
        let removed = ["docs/010.md", "описание/1.md", "a"].map(|id| Change::Remove { doc_id: id.into() });
        store.write(&generation, &removed).unwrap();
        store.write(&generation, &[put("docs/zz.md"), put("b")]).unwrap();
        check();
        let none = DocumentsBehind::default();
        assert_eq!(list(&*store, &generation, &none).documents.len(), 1, "{kind}");
        store.remove(&generation).unwrap();
        let error = store.list_documents(&generation, &none).unwrap_err();
        assert!(matches!(error, StoreError::UnknownGeneration { .. }), "{kind} {error}");
    });
}

#[test]
fn no_document_that_stays_is_skipped_or_repeated_by_writes_between_pages() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let generation = store.begin("c", &GenerationSpec::default()).unwrap();
        let ids = ids();
        store.write(&generation, &ids.iter().map(|id| put(id)).collect::<Vec<_>>()).unwrap();
        let mut dice = Dice::new(3);
        for limit in [1, 4, 7] {
            let mut stayed: Vec<String> =
                store.documents(&generation).unwrap().into_iter().map(|info| info.doc_id).collect();
            let found = walk(&*store, &generation, None, limit, || {
                let doc_id = ids[dice.below(ids.len())].clone();
                let change = match store.document_info(&generation, &doc_id).unwrap() {
                    Some(_) => Change::Remove { doc_id: doc_id.clone() },
                    None => put(&doc_id),
                };
                store.write(&generation, &[change]).unwrap();
                stayed.retain(|known| *known != doc_id);
            });
            let mut times: HashMap<&str, usize> = HashMap::new();
            for info in &found {
                *times.entry(&info.doc_id).or_default() += 1;
            }
            for id in &stayed {
                assert_eq!(times.get(id.as_str()), Some(&1), "{kind} {limit} {id}");
            }
            assert!(times.values().all(|times| *times == 1), "{kind} {limit}");
        }
    });
}
