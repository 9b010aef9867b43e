//! Rows by the symbols that they name, so that a condition on a symbol looks at few rows.
//!
//! A search for a name asks for its symbol; comparing the symbols of every row took half of a search over 18,000 chunks.

use xxhash_rust::xxh3::xxh3_64;

use super::bits::Bits;
use super::{OwnedFacts, Row};

/// Rows that are looked at one by one, beside a share of those that are known, before all are looked through again.
const UNKNOWN: usize = 1_024;
const SHARE: usize = 16;

/// The rows that name a symbol, by a hash of it: 8 bytes for each.
#[derive(Debug)]
pub(super) struct Symbols {
    /// Hashes of symbols with rows, in order.
    entries: Vec<(u32, u32)>,
    /// Number of rows that are known; later ones may name anything.
    known: usize,
}

impl Symbols {
    pub(super) fn of(rows: &[Row], facts: &[OwnedFacts]) -> Self {
        let mut entries = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let symbols = facts[row.facts as usize].symbols.split('\n');
            entries
                .extend(symbols.filter(|symbol| !symbol.is_empty()).map(|symbol| (hash(symbol), at as u32)));
        }
        entries.sort_unstable();
        entries.shrink_to_fit();
        Self { entries, known: rows.len() }
    }

    /// Whether too many of `rows` rows are not known.
    pub(super) fn is_old(&self, rows: usize) -> bool {
        rows - self.known > UNKNOWN + self.known / SHARE
    }

    /// The rows, of `rows`, that may name one of these symbols: every one that does, and few others.
    pub(super) fn naming(&self, symbols: &[String], rows: usize) -> Bits {
        let found = symbols.iter().flat_map(|symbol| {
            let wanted = hash(symbol);
            let first = self.entries.partition_point(|(hash, _)| *hash < wanted);
            self.entries[first..].iter().take_while(move |(hash, _)| *hash == wanted)
        });
        Bits::of(found.map(|(_, row)| *row as usize).chain(self.known..rows), rows)
    }
}

fn hash(symbol: &str) -> u32 {
    xxh3_64(symbol.as_bytes()) as u32
}
