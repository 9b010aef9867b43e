//! The key of a text's vector, by which a text is embedded only once.

/// The first 128 bits of a text's BLAKE3 hash. With the model's name it is the key of a vector in a
/// store, which so outlives the chunk that it was made for.
pub type TextHash = [u8; 16];

/// The hash of exactly these bytes.
pub fn text_hash(text: &str) -> TextHash {
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    hash
}
