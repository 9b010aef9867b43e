//! Hashes of many texts at once are those of the crate `blake3`.

use proptest::prelude::*;

// The file itself: no caller of the library needs its functions.
#[path = "../../src/chunk/lanes.rs"]
mod own;

fn check(texts: &[&[u8]]) {
    let expected: Vec<[u8; 32]> = texts.iter().map(|text| blake3::hash(text).into()).collect();
    assert_eq!(own::hashes(texts), expected, "{:?}", texts.iter().map(|text| text.len()).collect::<Vec<_>>());
}

/// Bytes that repeat after no power of two.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[test]
fn hashes_are_right_where_blocks_pieces_and_subtrees_end() {
    let source = bytes(20_000);
    let ends = [0_usize, 64, 128, 960, 1024, 2048, 3072, 4096, 5120, 7168, 8192, 9216, 16_384, 17_408];
    for end in ends {
        for length in [end.saturating_sub(1), end, end + 1] {
            for count in [1, 2, 3, 4, 7, 8, 9, 20] {
                let texts: Vec<&[u8]> = (0..count).map(|at| &source[at..at + length]).collect();
                check(&texts);
            }
        }
    }
    check(&[]);
}

proptest! {
    #[test]
    fn texts_of_any_lengths_have_their_hashes(lengths in prop::collection::vec(0_usize..6_000, 0..30)) {
        let source = bytes(6_100);
        let texts: Vec<&[u8]> =
            lengths.iter().enumerate().map(|(at, length)| &source[at..at + length]).collect();
        check(&texts);
    }
}
