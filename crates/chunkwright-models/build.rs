//! Writes the tables of `OpenAI`'s encodings, from the vocabularies that the package `tiktoken-rs` ships.
//!
//! All that a program needs of a vocabulary is which two tokens merge into which. That takes 7 bytes per token, found
//! by a perfect hash, so the table is used in place in the binary: nothing is unpacked, and a page of it is read from
//! the disk when a word needs it. The tokens' own bytes are left out; the pairs of characters that they hold side by
//! side are kept.

#[path = "src/bpe/layout.rs"]
mod layout;

use std::collections::HashMap;
use std::path::PathBuf;
use std::{env, fs};

use tiktoken_rs::CoreBPE;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/bpe/layout.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder for what is built"));
    for (name, encoding) in [("cl100k", tiktoken_rs::cl100k_base()), ("o200k", tiktoken_rs::o200k_base())] {
        let table = table(&tokens(&encoding.expect("the package holds its vocabularies")));
        fs::write(folder.join(name), table).expect("the folder can be written");
    }
}

/// The bytes of every token, by its id. Special tokens, which no text is counted as, come after a gap.
fn tokens(encoding: &CoreBPE) -> Vec<Vec<u8>> {
    (0..).map_while(|id| encoding.decode_bytes(&[id]).ok()).collect()
}

/// The table of a vocabulary, little-endian: counts of buckets, entries and words of both filters; the token of each byte;
/// seeds of buckets; entries; the filter of pairs; the filter of tokens.
fn table(tokens: &[Vec<u8>]) -> Vec<u8> {
    assert!(tokens.len() < 1 << layout::ID_BITS, "ids have {} bits", layout::ID_BITS);
    let (singles, pairs) = merges(tokens);
    let buckets = pairs.len().div_ceil(4);
    let (seeds, entries) = placed(&pairs, buckets, pairs.len() * 20 / 19);
    let (filter, token_filter) = (filter(tokens), token_filter(tokens));
    let mut table = Vec::new();
    for number in [buckets, entries.len(), filter.len(), token_filter.len()] {
        table.extend((number as u32).to_le_bytes());
    }
    table.extend(singles.iter().flat_map(|single| single.to_le_bytes()));
    table.extend(seeds.iter().flat_map(|seed| seed.to_le_bytes()));
    table.extend(entries.iter().flat_map(|entry| entry.to_le_bytes().into_iter().take(layout::ENTRY)));
    // An entry is read with the byte after it.
    table.push(0);
    table.extend(filter.iter().chain(&token_filter).flat_map(|word| word.to_le_bytes()));
    table
}

/// The token of each byte, and every pair of tokens with the one that it merges into.
///
/// A token is made of the two that are left when its bytes are merged, lowest id first, until one merge is missing.
/// They are the only two that ever merge into it: while no merge crosses its ends, the bytes between them merge as they
/// do alone.
fn merges(tokens: &[Vec<u8>]) -> ([u32; 256], Vec<(u64, u32)>) {
    let mut singles = [u32::MAX; 256];
    for (id, token) in (0..).zip(tokens) {
        if let [byte] = token[..] {
            singles[usize::from(byte)] = id;
        }
    }
    assert!(!singles.contains(&u32::MAX), "every byte is a token");
    let mut known: HashMap<u64, u32> = HashMap::new();
    let mut merges = Vec::new();
    for (id, token) in (0..).zip(tokens).filter(|(_, token)| token.len() > 1) {
        let mut parts: Vec<u32> = token.iter().map(|&byte| singles[usize::from(byte)]).collect();
        while parts.len() > 2 {
            let joined = parts.windows(2).map(|two| known.get(&layout::pair(two[0], two[1])));
            let least = joined.enumerate().filter_map(|(at, token)| Some((*token?, at))).min();
            let (token, at) = least.expect("every token merges from others with lower ids");
            parts[at] = token;
            parts.remove(at + 1);
        }
        let pair = layout::pair(parts[0], parts[1]);
        assert!(known.insert(pair, id).is_none(), "a pair merges into one token");
        merges.push((pair, id));
    }
    (singles, merges)
}

/// A seed for each bucket, such that no two pairs share an entry, and the entries. Large buckets choose first.
fn placed(merges: &[(u64, u32)], buckets: usize, entries: usize) -> (Vec<u16>, Vec<u64>) {
    let mut members = vec![Vec::new(); buckets];
    for &(pair, id) in merges {
        members[layout::bucket(pair, buckets)].push((pair, id));
    }
    let mut order: Vec<usize> = (0..buckets).collect();
    order.sort_by_key(|&bucket| (usize::MAX - members[bucket].len(), bucket));
    let (mut seeds, mut placed) = (vec![0; buckets], vec![layout::EMPTY; entries]);
    for bucket in order {
        let seed = (0..=u16::MAX).find(|&seed| {
            let mut taken: Vec<usize> =
                members[bucket].iter().map(|&(pair, _)| layout::entry(pair, seed, entries)).collect();
            taken.sort_unstable();
            let distinct = taken.windows(2).all(|two| two[0] != two[1]);
            distinct && taken.iter().all(|&entry| placed[entry] == layout::EMPTY)
        });
        seeds[bucket] = seed.expect("one entry in twenty stays free");
        for &(pair, id) in &members[bucket] {
            placed[layout::entry(pair, seeds[bucket], entries)] = pair << layout::ID_BITS | u64::from(id);
        }
    }
    (seeds, placed)
}

/// A filter that tells whether a text may be a token, of 8 to 16 bits for each.
fn token_filter(tokens: &[Vec<u8>]) -> Vec<u64> {
    let mut words = vec![0_u64; (tokens.len() / 8).next_power_of_two()];
    let bits = words.len() * 64;
    for bit in tokens.iter().flat_map(|token| layout::token_bits(token, bits)) {
        words[bit / 64] |= 1 << (bit % 64);
    }
    words
}

/// The pairs of characters that some token holds side by side. Some tokens hold only the last bytes of the first
/// character, or the first of the second: they may hold any that has these. ASCII is left out: it is never split.
fn filter(tokens: &[Vec<u8>]) -> Vec<u64> {
    let mut words = vec![0_u64; layout::filter_words(tokens.len())];
    let bits = words.len() * 64;
    for bytes in tokens.iter().filter(|bytes| !bytes.is_ascii()) {
        let begins = |at: &usize| bytes[*at] & 0xC0 != 0x80;
        for at in (1..bytes.len()).filter(begins) {
            let (left, right) = bytes.split_at(at);
            let before = left.utf8_chunks().last();
            let before = before.filter(|chunk| chunk.invalid().is_empty());
            let before = before.and_then(|chunk| chunk.valid().chars().next_back());
            let after = right.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            let before = before.unwrap_or_else(|| layout::ends_with(left[at - 1]));
            let after = after.unwrap_or_else(|| layout::begins_with(right[0]));
            let bit = layout::filter_bit(before, after, bits);
            words[bit / 64] |= 1 << (bit % 64);
        }
    }
    words
}
