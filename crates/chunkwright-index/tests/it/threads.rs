//! Searches of many chunks by the threads of a pool.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use chunkwright_index::{GenerationSpec, Model, NewDocument, SearchOptions, on_pool, put_cut, rank};
use chunkwright_models::Embedder;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::contract::document;
use crate::fixture::{Bag, COLLECTION, open};
use crate::kinds::for_each_local_store;

/// More than one thread makes the sketches of.
const CHUNKS: usize = 8_500;
const OF_A_DOCUMENT: usize = 500;

/// Ends a test whose work does not.
const WATCHDOG: Duration = Duration::from_mins(3);

#[test]
fn searches_by_the_threads_of_a_pool_end() {
    let documents = documents();
    for_each_local_store(|kind| {
        let (kind, documents) = (kind.to_owned(), documents.clone());
        let (name, (done, ended)) = (kind.clone(), mpsc::channel());
        thread::spawn(move || {
            for threads in [1, 2] {
                search_first_on(&kind, threads, documents.clone());
            }
            done.send(())
        });
        ended.recv_timeout(WATCHDOG).unwrap_or_else(|error| panic!("`{name}`: {error}"));
    });
}

fn documents() -> Vec<NewDocument> {
    let cut = |at| {
        let paragraphs: Vec<String> =
            (0..OF_A_DOCUMENT).map(|number| format!("pear{at} apple{number} ").repeat(12)).collect();
        let paragraphs: Vec<&str> = paragraphs.iter().map(String::as_str).collect();
        let new = document(&format!("{at}.txt"), 0, &paragraphs);
        assert!(new.chunks.len() >= OF_A_DOCUMENT);
        new
    };
    (0..CHUNKS / OF_A_DOCUMENT).map(cut).collect()
}

/// Asks more questions than there are threads, before anything is derived from what is stored.
fn search_first_on(kind: &str, threads: usize, documents: Vec<NewDocument>) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(kind, &folder.path().join("store"));
    let bag = Bag::new(8);
    let spec = GenerationSpec { model: Some(Model::from(bag.model())), ..GenerationSpec::default() };
    let generation = store.begin(COLLECTION, &spec).unwrap();
    for new in documents {
        put_cut(&*store, &generation, Some(&*bag), vec![new]).unwrap();
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let options = SearchOptions::default();
    let found: Vec<usize> = on_pool(&pool, || {
        let ask =
            |number| rank(&*store, &generation, Some(&*bag), &format!("apple{number}"), &options).unwrap();
        (0..64).into_par_iter().map(|number| ask(number).dense.unwrap().len()).collect()
    });
    assert_eq!(found, [options.candidates; 64]);
}
