//! Bounds parse cost deterministically.
//!
//! An operation of the parser takes about a microsecond, whatever the source, until it meets something it cannot
//! reduce. From then on each operation searches the parser's stack, and takes longer the deeper that is: 12 KB of `+:`
//! in C took two minutes. The stack is not visible, but the causes of its growth are: calls of the progress callback
//! while the parser recovers from an error, and calls between which it makes little progress.
//!
//! Only what is the same on every machine is counted, so that a file parses the same everywhere.

/// Depth added by a call while the parser recovers from an error in text unlike source.
const RECOVERING: usize = 100;

/// Depth added by a call while the parser tries several readings, and while it tries those of marks without operands.
const SEARCHING: [usize; 2] = [1, 3];

/// Bytes that the parser gets on with between two calls, on average, where it does not try several readings.
const LEAST_PROGRESS: [usize; 2] = [20, 100];

/// Fewest different bytes in text like source: `await )` over and over has seven.
const LEAST_VARIETY: usize = 13;

/// One of how many bytes is part of a word or number where marks have operands, at least.
const OPERANDS: usize = 8;

/// Bytes needed to judge whether they are like source.
const LEAST_READ: usize = 32;

/// Depth removed by any other call: the parser has reduced some of what it read.
const REDUCING: usize = 4;

/// Calls over which progress is averaged.
const RECENT: usize = 8;

/// Depth that costs nothing more: every error takes some operations to get over.
const USUAL: usize = 60;

/// The most that a source may cost: some seconds, in the grammars that take longest.
const MOST: usize = 1_500;

/// An estimate of the depth of the stack, and of what searching it has cost.
#[derive(Default)]
pub(super) struct Strain {
    depth: usize,
    cost: usize,
    /// Bytes that the parser got on by, each call counting less than the one after it.
    recent: usize,
    /// The nature of the last read part.
    nature: Nature,
}

impl Strain {
    /// Whether the source costs more than allowed.
    pub(super) fn is_too_much(&self) -> bool {
        self.cost > MOST
    }

    /// Whether it costs so much that parsing it several times is too much.
    pub(super) fn is_high(&self) -> bool {
        self.cost > MOST / 2
    }

    /// Counts the operations between two calls of the progress callback, in which the parser got over `read`.
    pub(super) fn count(&mut self, read: &[u8], is_recovering: bool) {
        if read.len() >= LEAST_READ {
            self.nature = Nature::of(read);
        }
        self.recent = self.recent - self.recent / RECENT + read.len();
        let kind = usize::from(!self.nature.has_operands);
        let is_searching = self.recent / RECENT < LEAST_PROGRESS[kind];
        let added = match is_recovering {
            true if self.nature.is_like_source => 0,
            true => RECOVERING,
            false if is_searching => SEARCHING[kind],
            false => 0,
        };
        self.depth = if added == 0 { self.depth.saturating_sub(REDUCING) } else { self.depth + added };
        self.cost += self.depth.saturating_sub(USUAL);
    }
}

/// The look of a part of a source: `+` and `await` before each other stay on the stack until an operand follows, and in
/// real source one soon does.
#[derive(Default)]
struct Nature {
    has_operands: bool,
    /// Whether at most half of it is marks, and its bytes are varied.
    is_like_source: bool,
}

impl Nature {
    fn of(read: &[u8]) -> Self {
        let marks = read.iter().filter(|byte| byte.is_ascii_punctuation()).count();
        let operands = read.iter().filter(|byte| !byte.is_ascii() || byte.is_ascii_alphanumeric()).count();
        let mut seen = [false; 256];
        for &byte in read {
            seen[usize::from(byte)] = true;
        }
        let variety = seen.iter().filter(|&&is_seen| is_seen).count();
        Self {
            has_operands: OPERANDS * operands >= read.len(),
            is_like_source: 2 * marks <= read.len() && variety >= LEAST_VARIETY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of `part`, repeated to `size` bytes, if the parser reads `progress` bytes between two calls and
    /// recovers from an error in one of `errors` calls.
    fn cost(part: &str, size: usize, progress: usize, errors: usize) -> usize {
        let source = part.repeat(size / part.len());
        let mut strain = Strain::default();
        for (call, read) in source.as_bytes().chunks(progress).enumerate() {
            strain.count(read, call % errors == errors - 1);
        }
        strain.cost
    }

    #[test]
    fn real_source_costs_nothing_and_what_grows_the_stack_costs_too_much() {
        let real = "    let total = first(a) + second[b];\n";
        assert_eq!(cost(real, 10 << 20, 70, usize::MAX), 0);
        assert_eq!(cost(real, 10 << 20, 70, 1), 0, "all of it in errors");
        for table in ["0, 0, 1, 0, ", "{{0,0},{1,0}},\n"] {
            assert_eq!(cost(table, 10 << 20, 60, usize::MAX), 0, "{table}");
        }
        assert!(cost("+:", 8 << 10, 66, 3) > MOST);
        assert!(cost("/*;\n", 4 << 10, 100, 1) > MOST);
        assert!(cost("/*", 8 << 10, 33, usize::MAX) > MOST);
        assert!(cost("await :", 16 << 10, 60, 1) > MOST);
    }
}
