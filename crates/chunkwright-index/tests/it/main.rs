//! The index at its boundary: files in, answers out.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
#![expect(clippy::print_stdout, reason = "the crash test speaks to its child and to who reads its seed")]
#![expect(clippy::format_collect, reason = "short texts")]

mod amend;
mod atomic_file;
mod binary;
mod boundaries;
mod collections;
mod contract;
mod crash;
mod damage;
mod definitions;
mod disk;
mod document_lists;
mod encodings;
mod expand;
mod faults;
mod fill;
mod fixture;
mod folders;
mod follow;
mod hashes;
mod kinds;
mod late;
mod layouts;
mod lists;
mod meta;

mod names;
mod notes;
mod overlays;
mod pipeline;
mod places;
mod power;
mod proximity;
mod put;
mod recorder;
mod relevance;
mod search;
mod sources;
mod sparse;
mod sparse_vectors;
mod standing;
mod strace;
#[path = "../../../chunkwright/tests/it/stride.rs"]
mod stride;
mod threads;
mod transfer;
mod verify;
mod words;
