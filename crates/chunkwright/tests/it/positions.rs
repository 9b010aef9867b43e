//! Positions in the file that a text was converted from.

use chunkwright::{PositionUnit, Positions, Span};

#[test]
fn a_span_stands_from_the_page_of_its_first_byte_to_that_of_its_last() {
    let mut positions = Positions::new(PositionUnit::Page);
    for (start, number) in [(0, 1), (10, 2), (20, 3), (20, 4), (5, 9)] {
        positions.push(start, number);
    }
    let pages = |start, end| positions.of(Span::new(start, end)).map(|at| (at.first, at.last));
    assert_eq!(pages(0, 10), Some((1, 1)));
    assert_eq!(pages(9, 11), Some((1, 2)));
    // Page 3 has no text.
    assert_eq!(pages(15, 40), Some((2, 4)));
    assert_eq!(Positions::new(PositionUnit::Page).of(Span::new(0, 1)), None);
}
