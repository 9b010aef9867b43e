//! Tests that a generation's index is read before the generation becomes current, and that older ones are freed.

use super::SqliteStore;
use super::list::tests::document;
use crate::analysis;
use crate::bm25::{alike, query_ids};
use crate::contract::{Access, ChunkStore, DocumentStore, GenerationStore};
use crate::filter::Filter;
use crate::generation::GenerationSpec;

#[test]
fn a_switch_has_the_new_index_ready_where_there_were_searches_and_keeps_no_more_than_one_before() {
    for is_searched in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(folder.path(), Access::Write).expect("a store");
        let spec = |hash: &str| GenerationSpec { config_hash: hash.into(), ..GenerationSpec::default() };
        let search = |generation| {
            let terms = alike(&query_ids(analysis::terms("paragraph")));
            store.lexical(generation, &terms, &Filter::default(), 10).expect("an answer").len()
        };
        let before = store.begin("c", &spec("before")).expect("a generation");
        store.write(&before, &[document("a", 3)]).expect("a write");
        store.switch(&before).expect("a switch");
        if is_searched {
            assert!(search(&before) > 0);
        }
        let now = store.begin("c", &spec("now")).expect("a generation");
        store.write(&now, &[document("a", 5)]).expect("a write");
        assert!(!store.indexes.lock().contains_key(&now.number), "it is not searched yet");
        store.switch(&now).expect("a switch");
        let held = || {
            let mut held: Vec<i64> = store.indexes.lock().keys().copied().collect();
            held.sort_unstable();
            held
        };
        // A search that began earlier continues with the old one.
        assert_eq!(held(), if is_searched { vec![before.number, now.number] } else { Vec::new() });
        assert!(search(&now) > 0 && search(&before) > 0);
        let last = store.begin("c", &spec("last")).expect("a generation");
        store.write(&last, &[document("a", 2)]).expect("a write");
        store.switch(&last).expect("a switch");
        assert_eq!(held(), [now.number, last.number]);
        // Switching back is a switch too.
        store.switch(&before).expect("a switch");
        assert_eq!(held(), [before.number, last.number]);
    }
}
