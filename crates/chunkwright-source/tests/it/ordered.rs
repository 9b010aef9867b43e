//! Results in the order of their items.

use std::convert::Infallible;

use chunkwright_source::{ordered, ordered_parts};

/// More bytes than results may hold that wait for their turn.
const OVER_BUDGET: usize = 1 << 30;

#[test]
fn results_come_in_order_whatever_the_number_of_threads() {
    let items: Vec<usize> = (0..500).collect();
    for threads in [1, 2, 7] {
        let mut seen = Vec::new();
        let emit = |result| {
            seen.push(result);
            Ok::<(), Infallible>(())
        };
        // Every result alone is over the budget, so that workers have to wait for their turn.
        ordered(threads, &items, |item| item * 2, |_| OVER_BUDGET, emit).unwrap();
        assert_eq!(seen, items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}

#[test]
fn an_error_ends_the_work() {
    let items: Vec<usize> = (0..500).collect();
    let emit = |result| if result < 3 { Ok(()) } else { Err("full") };
    assert_eq!(ordered(4, &items, |item| *item, |_| 1, emit), Err("full"));
}

#[test]
fn parts_of_results_come_in_order_and_while_more_are_made() {
    let items: Vec<usize> = (0..100).collect();
    for (threads, size) in [(1, 1), (2, 1), (7, 1), (2, OVER_BUDGET), (7, OVER_BUDGET)] {
        let mut seen = Vec::new();
        let work = |item: &usize, part: &mut dyn FnMut((usize, usize)) -> bool| {
            // Some items have no parts.
            assert!((0..item % 5).all(|number| part((*item, number))));
        };
        let emit = |part| {
            seen.push(part);
            Ok::<(), Infallible>(())
        };
        ordered_parts(threads, &items, work, |_| size, emit).unwrap();
        let parts = items.iter().flat_map(|item| (0..item % 5).map(|number| (*item, number)));
        assert_eq!(seen, parts.collect::<Vec<_>>());
    }
}

#[test]
fn work_on_an_item_learns_that_no_more_parts_are_wanted() {
    for threads in [1, 2] {
        let work = |_: &usize, part: &mut dyn FnMut(usize) -> bool| {
            // Would go on for ever.
            assert!((0..1_000_000).any(|number| !part(number)));
        };
        let emit = |part| if part < 10 { Ok(()) } else { Err("full") };
        assert_eq!(ordered_parts(threads, &[1, 2], work, |_| 1, emit), Err("full"));
    }
}
