//! Boundaries set by hand, in generated and real documents, under every configuration.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chunkwright::chunk::{Boundary, BoundaryKind, BoundaryOutcome};
use chunkwright::{Borrow, Chunk, ChunkConfig, Chunked, Chunker, Cut, Document, PARSERS, with_lf};
use proptest::prelude::*;

use crate::fixtures::{SAMPLES, chunkers};
use crate::invariants::{self, Quads};
use crate::properties::fragment;
use crate::stride::one_in;
use crate::work::Work;

fn at(at: u32, kind: BoundaryKind) -> Boundary {
    Boundary { at, kind }
}

/// Cuts with boundaries and asserts what holds for any.
fn chunk<'a>(
    chunker: &'a Chunker,
    document: &'a Document,
    boundaries: &[Boundary],
) -> (Chunked<'a>, Vec<BoundaryOutcome>) {
    let (chunks, outcomes) = chunker.chunk_with(document, boundaries);
    invariants::all(&chunks);
    let mut others = boundaries.to_vec();
    others.reverse();
    same(&chunks, &chunker.chunk_with(document, &others).0, "the order of boundaries counts");
    let base = chunker.chunk(document);
    let is_blank = |from: u32, to: u32| {
        let source = document.source();
        // A place inside of a character is one before it.
        let from = source.floor_char_boundary((from as usize).min(source.len()));
        let text = source.get(from..to as usize);
        text.is_some_and(|text| text.chars().all(|c| c.is_whitespace() || c == '\u{feff}'))
    };
    // Starts of `chunks` at the place, with only blanks between.
    let begins = |chunks: &Chunked<'_>, place: u32| {
        let starts = chunks[..].iter().map(|chunk| chunk.span.start);
        starts.filter(|start| *start >= place && is_blank(place, *start)).collect::<Vec<_>>()
    };
    for (boundary, outcome) in boundaries.iter().zip(&outcomes) {
        match (boundary.kind, outcome) {
            (BoundaryKind::Split, BoundaryOutcome::InForce { chunk }) => {
                let start = chunks[*chunk].span.start;
                // A place inside of a cluster or of markup is moved to where that begins.
                assert!(start < boundary.at || is_blank(boundary.at, start), "{boundary:?} is at {start}");
            }
            (BoundaryKind::Merge, BoundaryOutcome::InForce { .. }) => {
                for start in begins(&base, boundary.at) {
                    assert!(!begins(&chunks, boundary.at).contains(&start), "{boundary:?} is at {start}");
                }
            }
            (BoundaryKind::Merge, BoundaryOutcome::TooLarge { size, .. }) => {
                // `adaptive` has another limit for documents of medium length.
                let config = chunker.config();
                assert!(*size > config.max_size.min(config.medium_max_size), "{boundary:?}: {size}");
            }
            (BoundaryKind::Split, BoundaryOutcome::TooLarge { .. }) => panic!("a split is never too large"),
            (_, BoundaryOutcome::Nowhere) => {}
        }
    }
    (chunks, outcomes)
}

/// Asserts that two documents have the same chunks, and names the first that differs.
fn same(found: &Chunked<'_>, expected: &Chunked<'_>, what: &str) {
    for (found, expected) in found[..].iter().zip(&expected[..]) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// The parts of a chunk that do not depend on its neighbours.
fn own(chunk: &Chunk) -> impl PartialEq + std::fmt::Debug + use<> {
    (chunk.span, chunk.cut, chunk.size, chunk.borrows.clone())
}

#[test]
fn boundaries_that_are_there_already_change_nothing() {
    for (name, source) in SAMPLES {
        for parser in PARSERS.iter().filter(|parser| name.ends_with(parser.extensions()[0])) {
            let document = Document::parse(*name, *source, *parser);
            for chunker in chunkers() {
                let base = chunker.chunk(&document);
                let splits: Vec<Boundary> =
                    base[..].iter().map(|chunk| at(chunk.span.start, BoundaryKind::Split)).collect();
                let (chunks, outcomes) = chunk(&chunker, &document, &splits);
                same(&chunks, &base, name);
                let in_force = (0..base.len()).map(|chunk| BoundaryOutcome::InForce { chunk });
                assert_eq!(outcomes, in_force.collect::<Vec<_>>(), "{name}");
            }
        }
    }
}

#[test]
fn what_was_divided_is_joined_again_as_it_was() {
    let (mut divided, mut joined) = (0, 0);
    for (name, source) in SAMPLES {
        for parser in PARSERS.iter().filter(|parser| name.ends_with(parser.extensions()[0])) {
            let document = Document::parse(*name, *source, *parser);
            for chunker in chunkers().iter().step_by(5) {
                let base = chunker.chunk(&document);
                for part in base[..].iter().filter(|part| part.span.len() > 8).step_by(17) {
                    let middle = u32::midpoint(part.span.start, part.span.end);
                    let split = at(middle, BoundaryKind::Split);
                    let (chunks, outcomes) = chunk(chunker, &document, &[split]);
                    let [BoundaryOutcome::InForce { chunk: index }] = outcomes[..] else { continue };
                    // The middle may be in a cluster or in markup that the chunk begins with.
                    if chunks.len() == base.len() {
                        continue;
                    }
                    assert_eq!(chunks[index].cut, Cut::Manual);
                    divided += 1;
                    let merge = at(chunks[index].span.start, BoundaryKind::Merge);
                    let (again, outcomes) = chunk(chunker, &document, &[split, merge]);
                    if let [_, BoundaryOutcome::InForce { .. }] = outcomes[..] {
                        same(&again, &base, &format!("{name} {middle} {:?}", chunker.config()));
                        joined += 1;
                    }
                }
            }
        }
    }
    assert!(divided > 200 && joined > 100, "{divided} divided, {joined} joined");
}

#[test]
fn a_merge_that_would_be_over_the_limit_is_not_in_force() {
    let words = "word ".repeat(30);
    let source = format!("# A\n\n{words}\n\n# B\n\n{words}\n\n# C\n\nfew\n\n# D\n\nfew\n");
    let config = |max_size| ChunkConfig { max_size, target_size: 40, min_size: 0, ..ChunkConfig::default() };
    let document = Document::parse("a.md", source.as_str(), PARSERS[0]);
    let merges = ["# B", "# D"].map(|title| at(source.find(title).unwrap() as u32, BoundaryKind::Merge));
    let counter = || Arc::new(chunkwright::Words);
    let small = Chunker::new(config(48), counter()).unwrap();
    let (chunks, outcomes) = chunk(&small, &document, &merges);
    assert!(matches!(outcomes[0], BoundaryOutcome::TooLarge { size: 62, chunk: 1 }), "{outcomes:?}");
    assert!(matches!(outcomes[1], BoundaryOutcome::InForce { .. }), "{outcomes:?}");
    assert!(chunks.iter().any(|chunk| chunk.content().contains("# C") && chunk.content().contains("# D")));
    let large = Chunker::new(config(100), counter()).unwrap();
    let (_, outcomes) = chunk(&large, &document, &merges);
    assert!(
        outcomes.iter().all(|outcome| matches!(outcome, BoundaryOutcome::InForce { .. })),
        "{outcomes:?}"
    );
}

#[test]
fn the_work_of_boundaries_grows_as_they_and_the_document_do() {
    let work = [1, 2, 4, 8].map(|times| {
        let source: String =
            (0..200 * times).map(|n| format!("# S{n}\n\nSome words of it, {n}.\n\n")).collect();
        let counter = Arc::new(Work::default());
        let config = ChunkConfig { max_size: 64, target_size: 48, min_size: 8, ..ChunkConfig::default() };
        let chunker = Chunker::new(config, Arc::<Work>::clone(&counter)).unwrap();
        let document = Document::parse("a.md", source.as_str(), PARSERS[0]);
        let places = source.match_indices("words").map(|(place, _)| place as u32);
        let kinds = [BoundaryKind::Split, BoundaryKind::Merge].into_iter().cycle();
        let boundaries: Vec<Boundary> = places.zip(kinds).map(|(place, kind)| at(place, kind)).collect();
        let (chunks, _) = chunker.chunk_with(&document, &boundaries);
        assert!(chunks.len() > 100 * times);
        counter.0.load(Ordering::Relaxed)
    });
    for (times, now) in [1, 2, 4, 8].into_iter().zip(work) {
        assert!(now <= times * work[0] * 5 / 4, "{work:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_280 / one_in(20) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn boundaries_anywhere_keep_the_invariants_and_leave_others_alone(
        fragments in prop::collection::vec(fragment(), 1..20),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<bool>()), 1..6),
        pick in any::<prop::sample::Index>(),
    ) {
        let source = fragments.concat();
        let document = Document::parse("a.md", source.as_str(), PARSERS[0]);
        let chunkers = chunkers();
        for chunker in [&chunkers[0], pick.get(&chunkers)] {
            let base = chunker.chunk(&document);
            let boundaries: Vec<Boundary> = places
                .iter()
                .map(|(pick, is_split, at_border)| {
                    // Half of them are where chunks begin.
                    let place = if base.is_empty() || !at_border {
                        pick.index(source.len() + 2) as u32
                    } else {
                        pick.get(&base[..]).span.start
                    };
                    at(place, if *is_split { BoundaryKind::Split } else { BoundaryKind::Merge })
                })
                .collect();
            let (chunks, _) = chunk(chunker, &document, &boundaries);
            let touched = |chunk: &Chunk| {
                // A place may be moved back to the start of the cluster or markup that it is in.
                boundaries.iter().any(|it| chunk.span.start <= it.at && it.at <= chunk.span.end + 64)
                    || boundaries.iter().any(|it| it.at <= chunk.span.start && chunk.span.start <= it.at + 64)
            };
            // An overlap is part of the chunk before it, which may be another one.
            let overlaps = |chunk: &Chunk| chunk.borrows.iter().any(|it| matches!(it, Borrow::Overlap(_)));
            if chunker.config().overlap_size == 0 {
                for part in base[..].iter().filter(|part| !touched(part)) {
                    let now = chunks[..].iter().find(|now| now.span == part.span);
                    let is_same = now.is_some_and(|now| {
                        now.cut == part.cut && (own(now) == own(part) || overlaps(now) || overlaps(part))
                    });
                    prop_assert!(is_same, "{:?} is {now:?} with {boundaries:?}", own(part));
                }
            }
            // The same with other line breaks.
            if !source.contains('\r') {
                let crlf = source.replace('\n', "\r\n");
                let moved: Vec<Boundary> = boundaries
                    .iter()
                    .map(|it| {
                        let to = (it.at as usize).min(source.len());
                        let feeds = source.bytes().take(to).filter(|byte| *byte == b'\n').count() as u32;
                        at(it.at + feeds, it.kind)
                    })
                    .collect();
                let document = Document::parse("a.md", crlf.as_str(), PARSERS[0]);
                let (other, _) = chunk(chunker, &document, &moved);
                let said = |chunks: &Chunked<'_>| chunks.iter().map(|it| (it.id, with_lf(it.content()).into_owned())).collect::<Vec<_>>();
                prop_assert_eq!(said(&other), said(&chunks));
            }
        }
    }
}

#[test]
fn a_chunk_of_source_is_divided_where_it_was_asked_for_and_says_so() {
    let source = "# Guide\n\nFirst paragraph.\n\nSecond paragraph.\n";
    let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Quads)).unwrap();
    let document = Document::parse("a.md", source, PARSERS[0]);
    let place = source.find("Second").unwrap() as u32;
    let (chunks, _) = chunk(&chunker, &document, &[at(place, BoundaryKind::Split)]);
    let said: Vec<_> = chunks.iter().map(|chunk| (chunk.content(), chunk.cut)).collect();
    assert_eq!(said, [("# Guide\n\nFirst paragraph.", Cut::Heading), ("Second paragraph.", Cut::Manual)]);
    let explained = chunks.explain();
    assert_eq!(explained[1].begins(), "somebody divided the chunk here by hand (manual)");
    assert_eq!(explained[0].ends(), "somebody divided the chunk here by hand (manual)");
    assert!(chunks.nth(1).unwrap().render().text().starts_with("Guide"), "it borrows the title above it");
}
