//! The length of a vector, a product of two, and the key of a text's vector, by which a text is embedded only once.

#[cfg(feature = "local")]
use multiversion::multiversion;

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

/// The sum of the products of two vectors' numbers.
#[cfg(feature = "local")]
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn product(a: &[f32], b: &[f32]) -> f32 {
    let ((a, rest_of_a), (b, rest_of_b)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0; 16];
    for (a, b) in a.iter().zip(b) {
        for at in 0..16 {
            sums[at] += a[at] * b[at];
        }
    }
    let rest = rest_of_a.iter().zip(rest_of_b).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}
