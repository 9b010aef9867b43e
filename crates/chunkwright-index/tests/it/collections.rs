//! Lists of collections: pages in an order, found by a part of their name, the same in every store.

use chunkwright_index::{
    CollectionPlace, CollectionSort, CollectionsBehind, Direction, GenerationSpec, Store, StoreError,
};

use crate::fixture::{Fixture, for_each_store};
use crate::kinds::for_each_local_store;

const NAMES: [&str; 7] = ["alpha", "Beta-2", "beta-1", "Паром", "паром-2", "课程", "zeta"];

fn make(store: &dyn Store, names: &[&str]) {
    for name in names {
        let generation = store.begin(name, &GenerationSpec::default()).unwrap();
        store.switch(&generation).unwrap();
    }
}

/// The names on all pages of two, and the number that each page says there are.
fn names(store: &dyn Store, request: CollectionsBehind<'_>) -> (Vec<String>, usize) {
    let (mut found, mut total, mut is_more) = (Vec::<(usize, String)>::new(), 0, true);
    while is_more {
        let after = found.last().map(|(count, name)| CollectionPlace { count: *count, name });
        let page = store.list_collections(&CollectionsBehind { after, limit: Some(2), ..request }).unwrap();
        assert!(page.collections.len() == 2 || !page.is_more);
        (total, is_more) = (page.total, page.is_more);
        found.extend(page.collections.iter().map(|it| (request.sort.count(it), it.name.clone())));
    }
    (found.into_iter().map(|(_, name)| name).collect(), total)
}

#[test]
fn pages_hold_every_collection_once_in_either_direction_and_say_how_many_there_are() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let store = &*fixture.store;
        make(store, &NAMES);
        let mut sorted = NAMES.map(str::to_owned).to_vec();
        sorted.sort();
        for sort in [CollectionSort::Name, CollectionSort::Documents, CollectionSort::Chunks] {
            let up = CollectionsBehind { sort, ..CollectionsBehind::default() };
            assert_eq!(names(store, up), (sorted.clone(), 7), "{kind}, {sort:?}");
            let down = CollectionsBehind { direction: Direction::Descending, ..up };
            // Equal counts are in the order of names.
            let reversed = sort == CollectionSort::Name;
            let down_sorted = if reversed { sorted.iter().rev().cloned().collect() } else { sorted.clone() };
            assert_eq!(names(store, down), (down_sorted, 7), "{kind}, {sort:?}");
        }
        let visible = store.visible().unwrap().into_iter().map(|generation| generation.collection);
        assert_eq!(visible.collect::<Vec<_>>(), sorted, "{kind}");
    });
}

#[test]
fn parts_of_a_name_find_collections_whatever_its_case_and_form() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let store = &*fixture.store;
        make(store, &NAMES);
        for (name, expected) in [
            ("BETA", &["Beta-2", "beta-1"][..]),
            (" -2 ", &["Beta-2", "паром-2"]),
            ("паро", &["Паром", "паром-2"]),
            ("2  паром", &["паром-2"]),
            ("程", &["课程"]),
            ("nothing", &[]),
        ] {
            let request = CollectionsBehind { name, ..CollectionsBehind::default() };
            let expected: Vec<String> = expected.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(names(store, request), (expected.clone(), expected.len()), "{kind}, {name}");
        }
    });
}

#[test]
fn one_collection_is_read_without_the_others_and_one_that_is_missing_is_none() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let store = &*fixture.store;
        make(store, &["one", "two"]);
        let all = store.collections().unwrap();
        assert_eq!(store.collection("two").unwrap().as_ref(), all.last(), "{kind}");
        assert_eq!(store.lookup("two").unwrap(), Some(store.open("two").unwrap()), "{kind}");
        assert_eq!(
            (store.collection("three").unwrap(), store.lookup("three").unwrap()),
            (None, None),
            "{kind}"
        );
        assert!(matches!(store.lookup("two@99"), Err(StoreError::UnknownGeneration { .. })), "{kind}");
        assert!(matches!(store.lookup("a/b"), Err(StoreError::CollectionName { .. })), "{kind}");
    });
}

#[test]
fn of_many_collections_a_message_names_the_nearest() {
    for_each_local_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let names: Vec<String> = (0..30).map(|number| format!("team-{number:02}")).collect();
        make(&*fixture.store, &names.iter().map(String::as_str).collect::<Vec<_>>());
        let message = fixture.store.open("taem-17").unwrap_err().to_string();
        assert!(
            message.starts_with("unknown collection `taem-17`; known are `team-17`, "),
            "{kind}: {message}"
        );
        assert!(message.ends_with(" and 25 more"), "{kind}: {message}");
    });
}
