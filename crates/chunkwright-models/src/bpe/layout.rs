//! The layout of a table of merges. The build script writes and the program reads by these functions.

/// Bits of a token's id. Both encodings have fewer than 2^18 tokens.
pub(crate) const ID_BITS: u32 = 18;

/// Bytes of an entry: a pair of tokens and what they merge into, 54 bits.
pub(crate) const ENTRY: usize = 7;

/// An entry of no pair: all bits set, which no pair has.
pub(crate) const EMPTY: u64 = u64::MAX >> 8;

/// Two tokens side by side, as one number.
pub(crate) fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << ID_BITS | u64::from(right)
}

/// The bucket of a pair. All pairs of a bucket share a seed.
pub(crate) fn bucket(pair: u64, buckets: usize) -> usize {
    below(mix(pair), buckets)
}

/// The entry of a pair, by the seed of its bucket: no two pairs of a table share one.
pub(crate) fn entry(pair: u64, seed: u16, entries: usize) -> usize {
    below(mix(pair ^ ((u64::from(seed) + 1) << (2 * ID_BITS))), entries)
}

/// The bit of a pair of characters in a filter of `bits`, a power of two: high bits of a product, which depend on all
/// bits of both.
pub(crate) fn filter_bit(a: char, b: char, bits: usize) -> usize {
    let pair = u64::from(u32::from(a)) << 21 | u64::from(u32::from(b));
    (pair.wrapping_mul(FACTOR) >> 32) as usize & (bits - 1)
}

/// Words of a filter for a vocabulary of `pieces`: four bits for each, since pieces share their pairs. A small filter
/// is not filled so densely.
#[cfg_attr(
    not(feature = "local"),
    allow(dead_code, reason = "the build script and local models make filters")
)]
pub(crate) fn filter_words(pieces: usize) -> usize {
    (pieces / 16).next_power_of_two().max(64)
}

/// Stands for any character whose last byte is this. Private characters, which no token holds.
pub(crate) fn ends_with(byte: u8) -> char {
    char::from_u32(0xF_0000 + u32::from(byte)).unwrap_or_default()
}

/// Stands for any character whose first byte is this.
pub(crate) fn begins_with(byte: u8) -> char {
    char::from_u32(0xF_0100 + u32::from(byte)).unwrap_or_default()
}

/// The two bits of a text in a filter of tokens, which has a power of two of `bits`. Every token has both of its own; of other
/// texts, about 3 in 100 do where the filter has ten bits a token (Bloom's formula).
pub(crate) fn token_bits(text: &[u8], bits: usize) -> [usize; 2] {
    let hash = text.chunks(8).fold(text.len() as u64, |hash, chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        mix(hash ^ u64::from_le_bytes(bytes))
    });
    [1, 2].map(|at| (hash >> (u64::BITS - at * bits.trailing_zeros())) as usize & (bits - 1))
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads a number over all 64 bits, the high ones above all.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(FACTOR);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// A number below `end`, by the high bits.
fn below(mixed: u64, end: usize) -> usize {
    (((mixed >> 32) * end as u64) >> 32) as usize
}
