//! Results in the order of their items.

use std::convert::Infallible;

use chunkwright_source::ordered;

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
