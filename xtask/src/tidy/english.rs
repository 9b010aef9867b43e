//! Phrases that readers stumble over, counted over the repository: a number may only fall.

use std::ffi::OsStr;
use std::path::Path;

/// A phrase and on how many lines it stands. Lower a number when you rewrite a line.
const PHRASES: &[(&str, usize)] = &[
    ("to be had", 7),
    ("as it should be", 3),
    ("as they should be", 1),
    ("goes on with", 3),
    ("Answers whether", 0),
    ("whoever", 3),
    ("Whoever", 0),
    ("who reads", 2),
    ("that are none", 0),
    ("that is none", 5),
];

/// Module docs that begin with a question.
const QUESTIONS: usize = 0;

/// The lines of the repository that have each phrase, and its questions.
#[derive(Default)]
pub(super) struct Counts {
    phrases: [usize; PHRASES.len()],
    questions: usize,
}

impl Counts {
    /// Counts a file that people read.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        let extension = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_read = ["rs", "md", "ts", "svelte"].contains(&extension);
        // Cases of real documents, and this list itself.
        if !is_read
            || name.contains("/spec/")
            || name.starts_with("examples/")
            || name.starts_with("xtask/src/tidy/")
        {
            return;
        }
        for line in text.lines() {
            for (count, (phrase, _)) in self.phrases.iter_mut().zip(PHRASES) {
                *count += usize::from(line.contains(phrase));
            }
        }
        let first = text.lines().next().unwrap_or_default();
        self.questions += usize::from(extension == "rs" && first.starts_with("//!") && first.ends_with('?'));
    }

    /// What is wrong: more than there may be, or fewer than are written here.
    pub(super) fn check(&self) -> impl Iterator<Item = String> {
        let phrases =
            self.phrases.iter().zip(PHRASES).map(|(count, (phrase, allowed))| (*count, *allowed, *phrase));
        let questions = (self.questions, QUESTIONS, "module docs that begin with a question");
        phrases.chain([questions]).filter(|(count, allowed, _)| count != allowed).map(|(count, allowed, what)| {
            format!("`{what}`: {count} lines, {allowed} are allowed; rewrite them, or lower the number in `xtask/src/tidy/english.rs`")
        })
    }
}
