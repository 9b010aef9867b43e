//! Explanations of chunks: where each begins and ends, and where it was not cut.

use std::sync::Arc;

use chunkwright::explain::{Candidate, End, Explanation, Level};
use chunkwright::{ChunkConfig, Chunker, Cut, Document, Words, parse::Markdown};

use crate::invariants::chunk;

/// Explains `source` under a limit of `max_size` words, and checks what holds for any strategy.
fn check(source: &str, max_size: usize) -> Vec<Explanation> {
    let config =
        ChunkConfig { max_size, target_size: max_size, min_size: max_size / 4, ..ChunkConfig::default() };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    let document = Document::parse("a.md", source, &Markdown);
    let chunks = chunk(&chunker, &document);
    let explained = chunks.explain();
    for (index, (it, chunk)) in explained.iter().zip(&chunks).enumerate() {
        let next = chunks.get(index + 1).map(|next| next.cut);
        match &it.end {
            End::Document => assert_eq!(next, None),
            End::Section { .. } => assert!(matches!(next, Some(Cut::Heading | Cut::Merged)), "{it:?}"),
            End::Full { size_with_next } => assert!(*size_with_next > max_size, "{it:?}"),
            End::Balanced { size_with_next } => assert!(*size_with_next <= max_size, "{it:?}"),
            End::Split { cut, size_with_next } => {
                assert_eq!(next, Some(*cut));
                assert!(*size_with_next > it.size, "{it:?}");
            }
            end => panic!("{end:?}"),
        }
        let borrowed: String = it.borrows.iter().map(|borrowed| borrowed.text.as_str()).collect();
        let rendered = chunk.render();
        assert_eq!(borrowed, rendered.context(), "the document closes no fence that it opens");
        assert!(it.rejected.iter().all(|candidate| chunk.span.divided_by(candidate.byte)), "{it:?}");
        assert!(it.rejected.is_sorted_by(|a, b| a.byte < b.byte), "{it:?}");
    }
    explained
}

fn levels(it: &Explanation) -> String {
    let level = |candidate: &Candidate| match &candidate.level {
        Level::Section { title, depth } => format!("{title}/{depth}"),
        Level::Block { block } => block.as_str().to_owned(),
        Level::Inside { depth } => format!("inside/{depth}"),
        level => panic!("{level:?}"),
    };
    it.rejected.iter().map(level).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_place_that_was_not_taken_is_listed_with_its_level() {
    let explained = check("# A\n\nx\n\n## B\n\ny\n\n- m\n- n\n\n## C\n\nz\n", 256);
    let [it] = explained.as_slice() else { panic!("{explained:?}") };
    assert_eq!(levels(it), "paragraph B/2 paragraph list inside/0 C/2 paragraph");
    assert_eq!((it.size, &it.end), (8, &End::Document));
}

#[test]
fn a_section_that_would_not_fit_is_named() {
    let words = "word ".repeat(30);
    let explained = check(&format!("# A\n\n{words}\n\n# B\n\n{words}\n"), 40);
    let titles: Vec<_> = explained.iter().map(|it| it.begin.title.as_deref()).collect();
    assert_eq!(titles, [Some("A"), Some("B")]);
    assert_eq!(explained[0].end, End::Section { title: "B".into(), size_with_next: 32 });
}

#[test]
fn a_paragraph_that_would_not_fit_was_too_much() {
    let words = "word ".repeat(30);
    let explained = check(&format!("{words}\n\n{words}\n"), 40);
    assert_eq!(explained[0].end, End::Full { size_with_next: 60 });
}

#[test]
fn pieces_of_a_block_say_so() {
    let explained = check(&"One two three four. ".repeat(30), 40);
    assert!(explained.len() > 2);
    assert!(matches!(explained[0].end, End::Split { cut: Cut::Sentence, .. }));
    assert!(explained[1].begin.cut == Cut::Sentence && explained[1].part.is_some());
}
