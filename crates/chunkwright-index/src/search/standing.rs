//! The stage `standing`: tests, examples, copies of other projects and change logs rank behind a project's own source and
//! documentation, unless the query asks for them.
//!
//! Tests repeat the words of what they test, examples those of the documentation, and change logs those of both, so that
//! the words of a question find them first. A chunk of such a document keeps [`ASIDE`] of its score, and a query about a
//! version gives a chunk of a change log [`CHANGES`] times its score. The stage looks at the best chunks of the stages
//! before it, and none of them falls behind those that it does not look at, so it reorders and never hides. If nearly all of
//! them are tests, or examples, as in a collection of examples or with a filter that admits only tests, nothing changes.

mod query;

use std::collections::HashMap;

use chunkwright::{ChunkId, Record};
use serde::{Deserialize, Serialize};

use chunkwright_store::bm25::file_stem;
use chunkwright_store::{DocumentKind, Generation, Scored, Store, StoreError};

pub(super) use query::Subject;

/// The share of its score that a chunk keeps if it is a test, an example, a copy or a change log. Answered within five hits of 125 questions of agents about
/// five repositories, by words alone: 80 at 0.5, 77 at 0.6, 75 at 0.8 and 72 at 1.
const ASIDE: f64 = 0.6;

/// What the score of a chunk of a change log is multiplied by for a query about a version.
const CHANGES: f64 = 2.0;

/// How many of the best are looked at.
const BEST: usize = 50;

/// The same for a query about a version: entries of change logs are short, and rank low by their few words.
const BEST_OF_VERSION: usize = 200;

/// The share of the best that stands in the same place where that is what is searched. It was reached by none of 125
/// questions of agents about five repositories by words, although tests and examples are 80 % of the best of one of them.
const CONTENT: f64 = 0.9;

/// Where a document stands among those of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Source or documentation.
    Main,
    /// Tests and their data.
    Test,
    /// Examples, and code among documentation.
    Example,
    /// A copy of another project's code, or generated.
    Copy,
    /// A log of changes by version.
    Changes,
}

/// A chunk's place in the stage `standing`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stands {
    /// Where its document stands.
    pub standing: Standing,
    /// What it adds to the score of the other stages; negative for what stands aside.
    pub contribution: f64,
}

const TEST_FOLDERS: &[&str] =
    &["test", "tests", "__tests__", "testdata", "fixtures", "e2e", "testsuite", "unittests"];

/// Folders of tests among code; of prose, they are specifications.
const CODE_TEST_FOLDERS: &[&str] = &["spec", "specs", "t"];

/// Folders of code that shows how to use the project; their prose is documentation.
const EXAMPLE_FOLDERS: &[&str] = &[
    "example",
    "examples",
    "_examples",
    "demo",
    "demos",
    "sample",
    "samples",
    "docs_src",
    "playground",
    "snippets",
    "benches",
    "benchmark",
    "benchmarks",
];

/// The same, where data such as a description of the API belong to the documentation too.
const CODE_EXAMPLE_FOLDERS: &[&str] = &["doc", "docs", "documentation", "website", "tutorial", "tutorials"];

const COPY_FOLDERS: &[&str] = &[
    "vendor",
    "vendored",
    "third_party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "dist",
    "generated",
    "external",
    "deps",
];

const CHANGE_LOGS: &[&str] = &[
    "changelog",
    "changes",
    "history",
    "news",
    "release-notes",
    "release_notes",
    "releasenotes",
    "whatsnew",
];

impl Standing {
    /// The name that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Test => "test",
            Self::Example => "example",
            Self::Copy => "copy",
            Self::Changes => "changes",
        }
    }

    /// The standing of a chunk's document, by the names of its folders and file.
    pub(super) fn of(record: &Record) -> Self {
        let kind = DocumentKind::of_chunk(record.language.as_deref(), &record.content_type);
        Self::of_document(&record.doc_id, kind)
    }

    fn of_document(doc_id: &str, kind: DocumentKind) -> Self {
        let is_code = kind == DocumentKind::Code;
        let lower = doc_id.to_lowercase();
        let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
        let is_in = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        if is_in(COPY_FOLDERS) || file.contains(".min.") {
            Self::Copy
        } else if kind != DocumentKind::Prose && is_in(EXAMPLE_FOLDERS)
            || is_code && is_in(CODE_EXAMPLE_FOLDERS)
        {
            Self::Example
        } else if is_in(TEST_FOLDERS) || is_code && (is_in(CODE_TEST_FOLDERS) || is_test(doc_id, &lower)) {
            Self::Test
        } else if !is_code && CHANGE_LOGS.contains(&file_stem(file)) {
            Self::Changes
        } else {
            Self::Main
        }
    }

    /// What the score of such a chunk is multiplied by; `None` if it stays.
    fn weight(self, subject: Subject) -> Option<f64> {
        match self {
            Self::Main => None,
            Self::Changes if subject.is_version => Some(CHANGES),
            Self::Test if subject.is_test => None,
            Self::Example if subject.is_example => None,
            Self::Test | Self::Example | Self::Copy | Self::Changes => Some(ASIDE),
        }
    }
}

/// Returns whether a file of code is one of tests by its name: `app.spec.ts`, `test_app.py`, `app_test.go`, or by its
/// capital `AppTest.java`; or by a folder such as `app-test`.
fn is_test(doc_id: &str, lower: &str) -> bool {
    let (folders, file) = lower.rsplit_once('/').unwrap_or(("", lower));
    let own = doc_id.rsplit('/').next().unwrap_or(doc_id);
    let stem = |file: &'_ str| file.split_once('.').map_or(file.len(), |(stem, _)| stem.len());
    let (own, stem) = (&own[..stem(own)], &file[..stem(file)]);
    let is_marked = |part: &str| matches!(part, "test" | "tests" | "spec");
    file.split('.').skip(1).any(is_marked)
        || stem.split(['_', '-']).any(is_marked)
        || ["Test", "Tests", "Spec"].iter().any(|mark| own.ends_with(mark))
        || stem == "conftest"
        || folders.split('/').any(|folder| folder.ends_with("tests") || folder.ends_with("-test"))
}

/// The standing of the best chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Standings {
    /// Those whose score changes, with what it is multiplied by.
    known: HashMap<ChunkId, (Standing, f64)>,
    /// How many of the best were looked at.
    looked_at: usize,
}

impl Standings {
    /// Reads the best of `ranking` for a query about `subject`.
    pub(super) fn find(
        store: &dyn Store,
        generation: &Generation,
        subject: Subject,
        ranking: &[Scored],
    ) -> Result<Self, StoreError> {
        let best = if subject.is_version { BEST_OF_VERSION } else { BEST };
        let ids: Vec<ChunkId> = ranking.iter().take(best).map(|scored| scored.id).collect();
        let origins = ids.iter().zip(store.origins(generation, &ids)?);
        let found: Vec<(ChunkId, Standing)> = origins
            .filter_map(|(id, origin)| origin.map(|it| (*id, Standing::of_document(&it.doc_id, it.kind))))
            .collect();
        let is_content = |standing: Standing| {
            let count = found.iter().filter(|(_, its)| *its == standing).count();
            count as f64 >= CONTENT * found.len() as f64
        };
        let asides = [Standing::Test, Standing::Example, Standing::Copy, Standing::Changes];
        if asides.into_iter().any(is_content) {
            return Ok(Self::default());
        }
        let weighed = |(id, standing): (ChunkId, Standing)| Some((id, (standing, standing.weight(subject)?)));
        Ok(Self { known: found.into_iter().filter_map(weighed).collect(), looked_at: ids.len() })
    }

    /// Multiplies the scores of the best chunks and orders them again; returns the places of those that change. The least
    /// score of the ranking counts as 0, as in a fusion.
    pub(super) fn reorder(&self, ranking: &mut [Scored]) -> HashMap<ChunkId, Stands> {
        let Some(least) = ranking.last().map(|last| last.score).filter(|_| !self.known.is_empty()) else {
            return HashMap::new();
        };
        let looked_at = self.looked_at.min(ranking.len());
        let floor = ranking.get(looked_at).map_or(least, |next| next.score);
        let best = &mut ranking[..looked_at];
        let mut places = HashMap::with_capacity(self.known.len());
        for scored in &mut *best {
            let Some(&(standing, weight)) = self.known.get(&scored.id) else { continue };
            let score = (least + weight * (scored.score - least)).max(floor);
            places.insert(scored.id, Stands { standing, contribution: score - scored.score });
            scored.score = score;
        }
        // Stable: equal ones stay in the order of the other stages.
        best.sort_by(|a, b| b.score.total_cmp(&a.score));
        places
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_document_stands_in_the_project_its_tests_or_its_examples() {
        for (doc_id, standing) in [
            ("src/flask/app.py", Standing::Main),
            ("src/flask/testing.py", Standing::Main),
            ("tests/test_basic.py", Standing::Test),
            ("gin_test.go", Standing::Test),
            ("web/src/app.spec.ts", Standing::Test),
            ("moshi/src/test/java/com/MoshiTest.java", Standing::Test),
            ("spec/models/user.rb", Standing::Test),
            ("src/Latest.java", Standing::Main),
            ("src/changes.py", Standing::Main),
            ("examples/hello/main.rs", Standing::Example),
            ("_examples/rest/main.go", Standing::Example),
            ("docs/conf.py", Standing::Example),
            ("vendor/lib/a.c", Standing::Copy),
            ("lib/lodash.min.js", Standing::Copy),
        ] {
            assert_eq!(Standing::of_document(doc_id, DocumentKind::Code), standing, "{doc_id}");
        }
        for (doc_id, standing) in [
            ("docs/testing.md", Standing::Main),
            ("docs/unit-test.md", Standing::Main),
            ("specs/protocol.rst", Standing::Main),
            ("docs/tutorial/first.md", Standing::Main),
            ("docs/examples/first.md", Standing::Main),
            ("tests/data/a.md", Standing::Test),
            ("CHANGES.md", Standing::Changes),
            ("docs/changelog.rst", Standing::Changes),
            ("NEWS", Standing::Changes),
        ] {
            assert_eq!(Standing::of_document(doc_id, DocumentKind::Prose), standing, "{doc_id}");
        }
        for (doc_id, standing) in [
            ("examples/inout/pyproject.toml", Standing::Example),
            ("tests/data/a.json", Standing::Test),
            ("docs/openapi.json", Standing::Main),
        ] {
            assert_eq!(Standing::of_document(doc_id, DocumentKind::Data), standing, "{doc_id}");
        }
    }

    fn id(number: u8) -> ChunkId {
        ChunkId([number; 16])
    }

    proptest! {
        #[test]
        fn standing_reorders_the_best_and_hides_none(
            scores in prop::collection::vec(0.0_f64..9.0, 1..40),
            aside in prop::collection::vec(any::<bool>(), 40),
            looked_at in 1_usize..40,
        ) {
            let mut scores = scores;
            scores.sort_by(|a, b| b.total_cmp(a));
            let before: Vec<Scored> =
                scores.iter().enumerate().map(|(at, score)| Scored { id: id(at as u8), score: *score }).collect();
            let looked_at = looked_at.min(before.len());
            let known = before[..looked_at].iter().filter(|it| aside[it.id.0[0] as usize]);
            let standings =
                Standings { known: known.map(|it| (it.id, (Standing::Test, ASIDE))).collect(), looked_at };
            let mut after = before.clone();
            let places = standings.reorder(&mut after);
            prop_assert!(after.is_sorted_by(|a, b| a.score >= b.score));
            prop_assert_eq!(&after[looked_at..], &before[looked_at..]);
            // Each is there once, and those with the same standing keep their order.
            for is_aside in [false, true] {
                let of = |ranking: &[Scored]| -> Vec<ChunkId> {
                    let kept = ranking.iter().filter(|it| aside[it.id.0[0] as usize] == is_aside);
                    kept.map(|it| it.id).collect()
                };
                prop_assert_eq!(of(&after[..looked_at]), of(&before[..looked_at]));
            }
            for scored in &after {
                let own = before[scored.id.0[0] as usize].score;
                let contribution = places.get(&scored.id).map_or(0.0, |stands| stands.contribution);
                prop_assert!(contribution <= 0.0 && (own + contribution - scored.score).abs() < 1e-9);
            }
        }
    }
}
