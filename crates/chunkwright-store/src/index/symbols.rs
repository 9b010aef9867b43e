//! Facts by the symbols that they name, so that a condition on a symbol looks at few rows.
//!
//! A search for a name asks for its symbol; comparing the symbols of every row took half of a search over 18,000 chunks.

use xxhash_rust::xxh3::xxh3_64;

use super::OwnedFacts;
use super::bits::Bits;

/// The facts that name a symbol, by a hash of it: 8 bytes for each.
#[derive(Debug)]
pub(super) struct Symbols {
    /// Hashes of symbols with the positions of facts, in order.
    entries: Vec<(u32, u32)>,
    /// Number of facts that are known; later ones may name anything.
    known: usize,
}

impl Symbols {
    pub(super) fn of(facts: &[OwnedFacts]) -> Self {
        let named = facts.iter().enumerate().flat_map(|(at, facts)| {
            facts
                .symbols
                .split('\n')
                .filter(|symbol| !symbol.is_empty())
                .map(move |symbol| (hash(symbol), at as u32))
        });
        let mut entries: Vec<(u32, u32)> = named.collect();
        entries.sort_unstable();
        entries.shrink_to_fit();
        Self { entries, known: facts.len() }
    }

    /// The facts, of `count`, that may name one of these symbols: every one that does, and few others.
    pub(super) fn naming(&self, symbols: &[String], count: usize) -> Bits {
        let found = symbols.iter().flat_map(|symbol| {
            let wanted = hash(symbol);
            let first = self.entries.partition_point(|(hash, _)| *hash < wanted);
            self.entries[first..].iter().take_while(move |(hash, _)| *hash == wanted)
        });
        Bits::of(found.map(|(_, facts)| *facts as usize).chain(self.known..count), count)
    }
}

fn hash(symbol: &str) -> u32 {
    xxh3_64(symbol.as_bytes()) as u32
}
