//! A set of rows as a bitmap.

/// A set of rows.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// The set of these rows, of `len` rows.
    pub(super) fn of(rows: impl IntoIterator<Item = usize>, len: usize) -> Self {
        let mut bits = Self { words: vec![0; len.div_ceil(64)], len };
        rows.into_iter().for_each(|row| bits.set(row));
        bits
    }

    pub(super) fn push(&mut self, value: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(value) << (self.len % 64);
        self.len += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of members below `end`.
    pub(super) fn count_below(&self, end: usize) -> usize {
        let whole: usize = self.words[..end / 64].iter().map(|word| word.count_ones() as usize).sum();
        whole + (end / 64 * 64..end).filter(|at| self.has(*at)).count()
    }

    /// Drops what is not below `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.words.truncate(len.div_ceil(64));
        if let Some(last) = self.words.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last &= (1 << (len % 64)) - 1;
        }
        self.len = len;
    }

    pub(super) fn extend(&mut self, other: &Self) {
        (0..other.len).for_each(|at| self.push(other.has(at)));
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    pub(super) fn clear(&mut self, at: usize) {
        self.words[at / 64] &= !(1 << (at % 64));
    }

    pub(super) fn clear_all(&mut self) {
        self.words.fill(0);
    }

    pub(super) fn all(&self) -> bool {
        self.words.iter().map(|word| word.count_ones() as usize).sum::<usize>() == self.len
    }

    /// The intersection of two sets of equal length.
    pub(super) fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        Self { words, len: self.len }
    }

    /// Sets the scores of all other rows to 0.
    pub(super) fn mask(&self, scores: &mut [f32]) {
        for (word, scores) in self.words.iter().zip(scores.chunks_mut(64)).filter(|(word, _)| **word != !0) {
            for (at, score) in scores.iter_mut().enumerate() {
                *score = if word >> at & 1 == 1 { *score } else { 0.0 };
            }
        }
    }

    /// The members, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(at as u32 * 64 + bit)
            })
        })
    }

    /// Keeps the members that pass, tested in order.
    pub(super) fn retain(&mut self, mut passes: impl FnMut(usize) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                if !passes(at * 64 + bit as usize) {
                    *word &= !(1 << bit);
                }
                left &= left - 1;
            }
        }
    }
}
