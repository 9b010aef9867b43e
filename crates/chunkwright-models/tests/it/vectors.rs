//! The key of a text's vector.

use chunkwright_models::text_hash;

#[test]
fn the_hash_of_a_text_is_the_first_half_of_its_blake3() {
    assert_eq!(u128::from_be_bytes(text_hash("")), 0xaf13_49b9_f5f9_a1a6_a040_4dea_36dc_c949);
    assert_ne!(text_hash("a"), text_hash("a "));
}
