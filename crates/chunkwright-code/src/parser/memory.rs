//! Estimates the memory that the parser uses.
//!
//! The parser does not report it, and counting its allocations needs `unsafe`. But its progress callback reports how
//! far it has read, and that tells two regimes apart. In real source every few tokens are reduced to a node: the tree
//! takes 30 to 68 bytes an operation, in every language. Where nothing is reduced (unclosed brackets, endless
//! expressions) or several readings are followed at once (`a<a<a<`), each operation keeps an entry of the parser's
//! stack as well: up to 512 bytes.
//!
//! Only what is the same on every machine is counted, so that a file parses the same everywhere.

/// Memory that parsing any source may use, in bytes.
const LEAST_MEMORY: usize = 64 << 20;

/// Memory that parsing may use for each byte of source.
const MEMORY_PER_BYTE: usize = 40;

/// Bytes of an operation where the source is reduced to nodes as it is read.
const REDUCED: usize = 68;

/// Bytes of an operation where nothing ends but items: some grammars keep each of them until the list ends.
const LISTED: usize = 125;

/// Bytes of an operation while the parser recovers from an error: scanners that keep a stack of their own (HCL) store it
/// with each token.
const RECOVERING: usize = 850;

/// Bytes of an operation where the parser's stack grows.
const STACKED: usize = 512;

/// Calls of the progress callback that are judged together.
const WINDOW: usize = 10;

/// Bytes that the parser gets on with in a window, at least: with fewer, it follows several readings.
const LEAST_PROGRESS: usize = 200;

/// Ends of lines and statements in a window, at least; or of items.
const LEAST_ENDS: usize = 2;

/// A window over more bytes has long comments or strings, and takes no more than its bytes are allowed anyway.
const LONG_TOKENS: usize = 12_000;

/// Brackets that a window may leave open.
const MOST_OPENED: isize = 40;

/// An estimate of what the parser has allocated.
pub(super) struct Memory {
    /// Bytes that may still be used.
    left: usize,
    window: Window,
}

/// The events since the last judgement.
#[derive(Default)]
struct Window {
    calls: usize,
    progress: usize,
    ends: usize,
    items: usize,
    opened: isize,
}

impl Memory {
    pub(super) fn new(source: &str) -> Self {
        Self {
            left: source.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(LEAST_MEMORY),
            window: Window::default(),
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Counts the operations between two calls of the progress callback, in which the parser got over `read`.
    pub(super) fn count(&mut self, read: &[u8], is_recovering: bool) {
        self.window.read(read);
        self.window.calls += 1;
        if self.window.calls == WINDOW {
            let operation = std::mem::take(&mut self.window).operation(is_recovering);
            self.left = self.left.saturating_sub(WINDOW * super::OPERATIONS_PER_CALL * operation);
        }
    }
}

impl Window {
    fn read(&mut self, bytes: &[u8]) {
        self.progress += bytes.len();
        for byte in bytes {
            match byte {
                b'(' | b'[' | b'{' => self.opened += 1,
                b')' | b']' | b'}' => self.opened -= 1,
                b'\n' | b';' => self.ends += 1,
                b',' => self.items += 1,
                _ => {}
            }
        }
    }

    /// Bytes that each operation of the window takes.
    fn operation(&self, is_recovering: bool) -> usize {
        let is_within = self.progress < LONG_TOKENS && self.ends < LEAST_ENDS;
        if self.progress < LEAST_PROGRESS
            || is_within && self.ends + self.items < LEAST_ENDS
            || self.opened >= MOST_OPENED
        {
            STACKED
        } else if is_recovering {
            RECOVERING
        } else if is_within {
            LISTED
        } else {
            REDUCED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the memory allowed for `source` that is spent if the parser takes `operations` for each byte.
    fn spent(source: &str, operations: f64) -> f64 {
        let mut memory = Memory::new(source);
        let allowed = memory.left as f64;
        let calls = (source.len() as f64 * operations) as usize / super::super::OPERATIONS_PER_CALL;
        for call in 1..=calls {
            let read = source.len() * (call - 1) / calls..source.len() * call / calls;
            memory.count(&source.as_bytes()[read], false);
        }
        1.0 - memory.left as f64 / allowed
    }

    #[test]
    fn real_source_keeps_within_and_what_grows_the_stack_does_not() {
        let fill = |part: &str| part.repeat((1 << 20) / part.len());
        assert!(spent(&fill("    let total = first(a) + second[b];\n"), 1.2) < 0.9);
        assert!(spent(&fill("0x20AC, 0x0081, 0x201A,\n"), 1.2) < 0.9);
        assert!(spent(&fill("/* a long comment without end "), 0.001) < 0.01);
        for soup in ["(", "f(", "a+", "{\n", "if a {\n"] {
            assert!(spent(&fill(soup), 1.0) > 0.99, "{soup}");
        }
        assert!(spent(&fill("a<b;\n"), 6.0) > 0.99);
    }
}
