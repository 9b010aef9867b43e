//! The length of a vector, and the key of a text's vector, by which a text is embedded only once.

/// The first 128 bits of a text's BLAKE3 hash. With the model's name it is the key of a vector in a
/// store, which so outlives the chunk that it was made for.
pub type TextHash = [u8; 16];

/// The hash of exactly these bytes.
pub fn text_hash(text: &str) -> TextHash {
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    hash
}

/// The vector scaled to length 1; unchanged if it is zero.
pub(crate) fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    // In double precision: vectors are short, and the order of a vectorized sum would depend on the CPU.
    let length = (vector.iter().map(|x| f64::from(x * x)).sum::<f64>() as f32).sqrt();
    if length > 0.0 {
        for x in &mut vector {
            *x /= length;
        }
    }
    vector
}
