//! Positions in the file that a text was converted from.

use chunkwright::{PageBox, PositionUnit, Positions, Span};

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

#[test]
fn a_span_has_the_boxes_of_the_blocks_that_it_touches() {
    let mut positions = Positions::new(PositionUnit::Page);
    positions.push(0, 1);
    let page_box =
        |page, block: &str| PageBox { page, left: 1, top: 2, right: 3, bottom: 4, block: block.into() };
    // A block over two pages has a box on each.
    for (start, end, found) in [(0, 9, (1, "a")), (10, 20, (1, "b")), (10, 20, (2, "b")), (22, 30, (2, "c"))]
    {
        positions.push_box(start, end, page_box(found.0, found.1));
    }
    let boxes = |start, end| -> Vec<(u32, String)> {
        let position = positions.of(Span::new(start, end)).unwrap();
        position.boxes.into_iter().map(|found| (found.page, found.block)).collect()
    };
    let named =
        |all: &[(u32, &str)]| all.iter().map(|&(page, block)| (page, block.to_owned())).collect::<Vec<_>>();
    assert_eq!(boxes(0, 10), named(&[(1, "a")]));
    assert_eq!(boxes(8, 11), named(&[(1, "a"), (1, "b"), (2, "b")]));
    assert_eq!(boxes(20, 22), []);
    assert_eq!(boxes(29, 40), named(&[(2, "c")]));
}
