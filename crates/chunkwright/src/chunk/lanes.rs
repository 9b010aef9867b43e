//! BLAKE3 hashes of many texts at once.
//!
//! The texts of chunks are short, and the blocks of a text are hashed one after the other, which took a sixth of cutting.
//! BLAKE3 divides a text into pieces that are hashed each by itself. Here the pieces of all texts are hashed side by
//! side, one in each lane of vector instructions, into which a compiler turns the loops over lanes. The crate `blake3`
//! does so for four or more pieces of one text; it joins the pieces, and the tests compare with it. Names are those of
//! section 2 of the BLAKE3 paper, but that its chunks are called pieces.

use std::array;
use std::cmp::Reverse;

use blake3::hazmat::{ChainingValue, Mode, merge_subtrees_non_root, merge_subtrees_root};
use multiversion::multiversion;

/// Pieces that are hashed side by side.
const LANES: usize = 8;

/// Bytes of a piece; the last of a text may have fewer.
const PIECE: usize = 1024;

/// Bytes of a block, of which a piece consists; its last may have fewer.
const BLOCK: usize = 64;

/// A word of each lane.
type Lanes = [u32; LANES];

/// The initial chaining value.
const IV: [u32; 8] =
    [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];

/// The same in every lane.
const START: [Lanes; 8] = {
    let mut start = [[0; LANES]; 8];
    let mut at = 0;
    while at < 8 {
        start[at] = [IV[at]; LANES];
        at += 1;
    }
    start
};

/// For each round, the order in which it mixes in the words of a block.
const ROUNDS: [[usize; 16]; 7] = {
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut rounds = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut at = 16;
    while at < 7 * 16 {
        rounds[at / 16][at % 16] = rounds[at / 16 - 1][PERMUTATION[at % 16]];
        at += 1;
    }
    rounds
};

/// Flags of the first block of a piece, of its last, and of the last of a text that is one piece.
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const ROOT: u32 = 8;

#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    /// Its number in its text.
    number: u32,
    /// Whether it is all of its text.
    is_whole: bool,
}

impl<'a> Piece<'a> {
    /// The pieces of a text, of which an empty one has one too.
    fn of(text: &'a [u8]) -> impl ExactSizeIterator<Item = Self> {
        let count = text.len().div_ceil(PIECE).max(1);
        (0..count).map(move |number| {
            let start = number * PIECE;
            let bytes = &text[start..text.len().min(start + PIECE)];
            Self { bytes, number: number as u32, is_whole: count == 1 }
        })
    }

    fn blocks(&self) -> usize {
        self.bytes.len().div_ceil(BLOCK).max(1)
    }
}

/// The hashes of texts, in order.
pub(super) fn hashes(texts: &[&[u8]]) -> Vec<[u8; 32]> {
    let pieces: Vec<Piece<'_>> = texts.iter().flat_map(|text| Piece::of(text)).collect();
    // Most lanes would be empty.
    if pieces.len() < LANES / 2 {
        return texts.iter().map(|text| blake3::hash(text).into()).collect();
    }
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    // Pieces of equal length use their lanes until the end.
    order.sort_by_key(|at| Reverse(pieces[*at].blocks()));
    let mut values = vec![[0; 32]; pieces.len()];
    for group in order.chunks(LANES) {
        let words = chaining_values(&array::from_fn(|lane| group.get(lane).map(|at| pieces[*at])));
        for (lane, at) in group.iter().enumerate() {
            for (bytes, word) in values[*at].as_chunks_mut().0.iter_mut().zip(&words) {
                *bytes = word[lane].to_le_bytes();
            }
        }
    }
    let mut rest = &values[..];
    let hash = |text: &&[u8]| {
        let (own, others) = rest.split_at(Piece::of(text).len());
        rest = others;
        match halves(own) {
            Some((left, right)) => merge_subtrees_root(&subtree(left), &subtree(right), Mode::Hash).into(),
            None => own[0],
        }
    };
    texts.iter().map(hash).collect()
}

/// The chaining value of a subtree, by those of its pieces.
fn subtree(pieces: &[ChainingValue]) -> ChainingValue {
    match halves(pieces) {
        Some((left, right)) => merge_subtrees_non_root(&subtree(left), &subtree(right), Mode::Hash),
        None => pieces[0],
    }
}

/// The two subtrees of a tree; `None` if it is one piece. The left has as many pieces as a power of two allows.
fn halves(pieces: &[ChainingValue]) -> Option<(&[ChainingValue], &[ChainingValue])> {
    (pieces.len() > 1).then(|| pieces.split_at(pieces.len().next_power_of_two() / 2))
}

/// The chaining values of pieces, word by word; of a piece that is all of its text, the hash.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators and closures that are not inlined are not compiled for the processor"
)]
fn chaining_values(pieces: &[Option<Piece<'_>>; LANES]) -> [Lanes; 8] {
    let mut numbers = [0; LANES];
    for lane in 0..LANES {
        if let Some(piece) = pieces[lane] {
            numbers[lane] = piece.number;
        }
    }
    let steps = pieces.iter().flatten().map(Piece::blocks).max().unwrap_or(0);
    let mut values = START;
    for step in 0..steps {
        let mut blocks = [[0; BLOCK]; LANES];
        // All bits of a lane are set as long as its piece has blocks.
        let (mut lengths, mut flags, mut is_on) = ([0; LANES], [0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let Some(piece) = pieces[lane].filter(|piece| step < piece.blocks()) else { continue };
            let rest = &piece.bytes[step * BLOCK..];
            match rest.first_chunk() {
                Some(block) => blocks[lane] = *block,
                None => blocks[lane][..rest.len()].copy_from_slice(rest),
            }
            lengths[lane] = rest.len().min(BLOCK) as u32;
            let is_last = step + 1 == piece.blocks();
            flags[lane] = u32::from(step == 0) * CHUNK_START
                + u32::from(is_last) * CHUNK_END
                + u32::from(is_last && piece.is_whole) * ROOT;
            is_on[lane] = u32::MAX;
        }
        let mut words = [[0; LANES]; 16];
        for word in 0..16 {
            for lane in 0..LANES {
                let (block, at) = (&blocks[lane], 4 * word);
                words[word][lane] =
                    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
            }
        }
        let [a, b, c, d] = &mut [
            [values[0], values[1], values[2], values[3]],
            [values[4], values[5], values[6], values[7]],
            [START[0], START[1], START[2], START[3]],
            [numbers, [0; LANES], lengths, flags],
        ];
        for round in &ROUNDS {
            for at in 0..4 {
                let mixed = [&words[round[2 * at]], &words[round[2 * at + 1]]];
                mix([&mut a[at], &mut b[at], &mut c[at], &mut d[at]], mixed);
            }
            for at in 0..4 {
                let (b, c, d) = (&mut b[(at + 1) % 4], &mut c[(at + 2) % 4], &mut d[(at + 3) % 4]);
                mix([&mut a[at], b, c, d], [&words[round[8 + 2 * at]], &words[round[9 + 2 * at]]]);
            }
        }
        for (at, value) in values.iter_mut().enumerate() {
            let (first, second) = if at < 4 { (&a[at], &c[at]) } else { (&b[at - 4], &d[at - 4]) };
            for lane in 0..LANES {
                let new = first[lane] ^ second[lane];
                value[lane] = (new & is_on[lane]) | (value[lane] & !is_on[lane]);
            }
        }
    }
    values
}

/// Mixes two words into a column or a diagonal of the state.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it is compiled for the processor of its caller only where it is inlined"
)]
fn mix([a, b, c, d]: [&mut Lanes; 4], words: [&Lanes; 2]) {
    *a = sum(sum(*a, *b), *words[0]);
    *d = turned::<16>(*d, *a);
    *c = sum(*c, *d);
    *b = turned::<12>(*b, *c);
    *a = sum(sum(*a, *b), *words[1]);
    *d = turned::<8>(*d, *a);
    *c = sum(*c, *d);
    *b = turned::<7>(*b, *c);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as `mix`")]
fn sum(mut a: Lanes, b: Lanes) -> Lanes {
    for lane in 0..LANES {
        a[lane] = a[lane].wrapping_add(b[lane]);
    }
    a
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as `mix`")]
fn turned<const BITS: u32>(mut a: Lanes, b: Lanes) -> Lanes {
    for lane in 0..LANES {
        a[lane] = (a[lane] ^ b[lane]).rotate_right(BITS);
    }
    a
}
