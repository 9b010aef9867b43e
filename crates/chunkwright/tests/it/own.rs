//! Strategies of third parties: whatever they report, the guarantees hold.

use std::sync::Arc;

use chunkwright::{
    ChunkConfig, Chunker, ConfigError, Cut, Document, Keep, PARSERS, Plan, STRATEGIES, Span, Strategy,
};
use proptest::prelude::*;

use crate::invariants::{self, Quads};
use crate::stride::one_in;

#[path = "../../examples/own_strategy.rs"]
mod own_strategy;

/// Reports the spans that it was given, be they as wrong as they like.
struct Given {
    name: &'static str,
    spans: Vec<(u32, u32)>,
}

impl Strategy for Given {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> (u16, u16) {
        (2, 7)
    }

    fn summary(&self) -> &'static str {
        "the spans it was given"
    }

    fn cut(&self, _: &Document, plan: &mut Plan<'_>) {
        for &(start, end) in &self.spans {
            plan.push(Span { start, end }, Cut::Full);
        }
    }
}

fn chunker(config: ChunkConfig, spans: &[(u32, u32)]) -> Chunker {
    let strategy = Given { name: "given", spans: spans.into() };
    Chunker::with_strategy(config, Arc::new(Quads), Arc::new(strategy)).unwrap()
}

/// Cuts a Markdown document at `spans` and expects chunks with these contents.
fn check(source: &str, spans: &[(u32, u32)], expected: &[&str]) {
    let document = Document::parse("a.md", source, &chunkwright::parse::Markdown);
    let chunker = chunker(ChunkConfig::default(), spans);
    let chunks = invariants::chunk(&chunker, &document);
    let contents: Vec<_> = chunks.iter().map(chunkwright::ChunkIn::content).collect();
    assert_eq!(contents, expected, "{source:?} {spans:?}");
}

#[test]
fn the_example_runs() {
    own_strategy::main().unwrap();
}

#[test]
fn spans_that_lose_text_or_own_it_twice_are_put_right() {
    check("One.\n\nTwo.\n", &[(0, 4), (6, 10)], &["One.", "Two."]);
    check("One.\n\nTwo.\n", &[(6, 10), (0, 4)], &["One.", "Two."]);
    check("One.\n\nTwo.\n", &[(0, 5), (5, 99)], &["One.", "Two."]);
    check("One.\n\nTwo.\n", &[], &["One.\n\nTwo."]);
    check("One.\n\nTwo.\n", &[(4, 6), (9, 3)], &["One.\n\nTwo."]);
    check("One.\n\nTwo.\n", &[(0, 8), (2, 10)], &["One.\n\nTw", "o."]);
    check("One.\n\nTwo.\n", &[(6, 10)], &["One.", "Two."]);
    check("One.\n\n---\n\nTwo.\n", &[(0, 4), (11, 15)], &["One.\n\n---", "Two."]);
    check("a e\u{301} b\n", &[(0, 3), (3, 7)], &["a", "e\u{301} b"]);
    check("\r\n\r\nOne.\r\n\r\nTwo.\r\n", &[(0, 8), (8, 40)], &["One.", "Two."]);
    check("", &[(0, 1)], &[]);
}

#[test]
fn a_block_of_keep_whole_is_kept_whole() {
    let source = format!("Before.\n\n```\n{}```\n", "let x = 1;\n".repeat(40));
    let document = Document::parse("a.md", source.as_str(), &chunkwright::parse::Markdown);
    let spans = [(0, 7), (9, source.len() as u32)];
    let config = ChunkConfig { max_size: 64, target_size: 64, min_size: 0, ..ChunkConfig::default() };
    let dividing = chunker(config.clone(), &spans);
    let divided = invariants::chunk(&dividing, &document);
    assert!(divided.len() > 2 && divided.iter().all(|chunk| !chunk.oversize));
    let keeping = chunker(ChunkConfig { keep_whole: vec![Keep::Code], ..config }, &spans);
    let kept = invariants::chunk(&keeping, &document);
    assert_eq!(kept.iter().map(|chunk| chunk.oversize).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn the_name_is_part_of_version_and_hash_and_is_nobody_elses() {
    let own = |name| {
        let strategy = Arc::new(Given { name, spans: Vec::new() });
        Chunker::with_strategy(ChunkConfig::default(), Arc::new(Quads), strategy)
    };
    let (one, other) = (own("one").unwrap(), own("other").unwrap());
    assert_eq!((one.strategy_version(), one.config().strategy.as_str()), ("one-v2.7".into(), "one"));
    assert_ne!(one.config_hash(), other.config_hash());
    let known = STRATEGIES.iter().copied().map(Strategy::name);
    for name in known.chain(["", "Tree", "a b", "a+b", "9"]) {
        assert_eq!(own(name).unwrap_err(), ConfigError::StrategyName { name: name.into() });
    }
    let config = ChunkConfig { max_size: 1, ..ChunkConfig::default() };
    let strategy = Arc::new(Given { name: "one", spans: Vec::new() });
    let error = Chunker::with_strategy(config, Arc::new(Quads), strategy).unwrap_err();
    assert_eq!(error, ConfigError::MaxSizeTooSmall { max_size: 1 });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_280 / one_in(20) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_spans_of_any_document_keep_every_guarantee(
        fragments in prop::collection::vec(crate::properties::fragment(), 0..20),
        spans in prop::collection::vec((0_u32..400, 0_u32..400), 0..12),
        max_size in 8_usize..60,
    ) {
        let config = ChunkConfig { max_size, target_size: max_size, min_size: 0, ..ChunkConfig::default() };
        let source = fragments.concat();
        for parser in PARSERS {
            let document = Document::parse("a", source.as_str(), *parser);
            invariants::chunk(&chunker(config.clone(), &spans), &document);
        }
    }
}
