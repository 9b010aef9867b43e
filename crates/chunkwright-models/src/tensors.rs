//! A file of safetensors, of which each tensor is read when it is asked for.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;

use serde::Deserialize;

use crate::data::read_at;

/// Longest list of tensors that is read, in bytes.
const MAX_HEAD: u64 = 1 << 20;

/// A file with the list of its tensors.
pub(crate) struct Tensors {
    pub(crate) file: File,
    /// Where the first begins.
    start: u64,
    places: HashMap<String, Place>,
}

/// What the list says of a tensor, or of the file.
#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    dtype: String,
    #[serde(default)]
    shape: Vec<usize>,
    #[serde(default)]
    data_offsets: (u64, u64),
}

impl Tensors {
    /// Reads the list of the tensors; `None` if the file has none, or ends before they do.
    pub(crate) fn read(file: File) -> Option<Self> {
        let mut len = [0; 8];
        read_at(&file, 0, &mut len).ok()?;
        let len = Some(u64::from_le_bytes(len)).filter(|&len| len <= MAX_HEAD)?;
        let mut head = vec![0; len as usize];
        read_at(&file, 8, &mut head).ok()?;
        let places: HashMap<String, Place> = serde_json::from_slice(&head).ok()?;
        let (start, bytes) = (8 + len, file.metadata().ok()?.len());
        let is_there = |place: &Place| {
            let (first, end) = place.data_offsets;
            first <= end && start.checked_add(end).is_some_and(|end| end <= bytes)
        };
        places.values().all(is_there).then_some(Self { file, start, places })
    }

    /// Where the bytes of a tensor of this type are, and its shape.
    pub(crate) fn place(&self, name: &str, dtype: &str) -> Option<(Range<u64>, &[usize])> {
        let place = self.places.get(name).filter(|place| place.dtype == dtype)?;
        let (start, end) = place.data_offsets;
        Some((self.start + start..self.start + end, &place.shape))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn tensors(head: &str, bytes: usize) -> Option<Tensors> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&(head.len() as u64).to_le_bytes()).unwrap();
        file.write_all(head.as_bytes()).unwrap();
        file.write_all(&vec![0; bytes]).unwrap();
        Tensors::read(file)
    }

    #[test]
    fn a_file_that_ends_before_its_tensors_has_none() {
        let head =
            r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]}}"#;
        let start = 8 + head.len() as u64;
        let read = tensors(head, 16).unwrap();
        assert_eq!(read.place("a", "F16"), Some((start + 4..start + 16, &[2, 3][..])));
        assert_eq!((read.place("a", "F32"), read.place("b", "F16")), (None, None));
        assert!(tensors(head, 15).is_none());
        for offsets in ["[16,4]", "[0,18446744073709551615]", "[-1,4]"] {
            assert!(tensors(&head.replace("[4,16]", offsets), 16).is_none(), "{offsets}");
        }
        assert!(tensors("", 0).is_none() && tensors("[]", 0).is_none());
    }
}
