//! Any bytes are text or are not; what is text keeps its lines.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/chunkwright-source/src/decode.rs"]
mod decode;

fuzz_target!(|data: &[u8]| {
    let Some(decoded) = decode::decode(data) else { return };
    if let Ok(text) = std::str::from_utf8(data)
        && !text.starts_with('\u{feff}')
        && decoded.encoding == "UTF-8"
    {
        assert_eq!(&*decoded.text, text, "UTF-8 is taken as it is");
    }
});
