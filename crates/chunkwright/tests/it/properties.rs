//! Invariants over generated documents, every strategy, preset, unit and counter.

use std::sync::Arc;

use chunkwright::{Chunker, Document, PARSERS, Parser};
use proptest::prelude::*;

use crate::fixtures::{SAMPLES, SYNTAX, chunkers};
use crate::invariants::{self, chunk};

#[test]
fn every_sample_keeps_the_invariants_under_every_configuration() {
    for (name, source) in SAMPLES {
        for parser in PARSERS {
            let is_own = name.rsplit('.').next().is_some_and(|ending| parser.extensions().contains(&ending));
            for ending in ["\n", "\r\n", "\r"] {
                let source = source.replace('\n', ending);
                let document = Document::parse(*name, source, *parser);
                // What another format makes of it is read in one configuration.
                for chunker in &chunkers()[..if is_own { chunkers().len() } else { 1 }] {
                    chunk(chunker, &document);
                }
            }
        }
    }
}

#[test]
fn every_prefix_of_a_sample_is_a_document() {
    for (name, source) in SAMPLES {
        for (at, _) in source.char_indices().step_by(7) {
            for parser in PARSERS {
                invariants::model(&Document::parse(*name, &source[..at], *parser));
            }
        }
    }
}

#[test]
fn divided_fences_and_tables_are_well_formed() {
    for max_size in [60, 90, 200] {
        let config = chunkwright::ChunkConfig {
            unit: chunkwright::Unit::Chars,
            max_size,
            target_size: max_size * 3 / 4,
            min_size: max_size / 4,
            ..Default::default()
        };
        let chunker = Chunker::new(config, Arc::new(chunkwright::Chars)).unwrap();
        let rows: String = (0..50).map(|n| format!("| row {n} | value {} |\n", n * n)).collect();
        let lines: String = (0..50).map(|n| format!("let x{n} = {n};\n")).collect();
        let source = format!("# T\n\n```rust\n{lines}```\n\n| a | b |\n|---|---|\n{rows}");
        let document = Document::parse("a.md", source, PARSERS[0]);
        let chunks = chunk(&chunker, &document);
        assert!(chunks.len() > 10);
        invariants::well_formed(&chunker, &document, &chunks);
    }
}

/// Pieces that make trouble when they meet.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("# Heading\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("Setext\n===\n".to_owned()),
        Just("- item\n  - nested\n\n    para\n".to_owned()),
        Just("> quote\n> > deeper\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~~ md\n".to_owned()),
        Just("| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
        Just("| a |\r\n|---|\r\n| 1 |\r\n".to_owned()),
        Just("<div>\n".to_owned()),
        Just("---\n".to_owned()),
        Just("+++\na = 1\n+++\n".to_owned()),
        Just("[^1]: note\n".to_owned()),
        Just("[a]: /b\n".to_owned()),
        Just("export const a = {\n\n# not\n\n}\n".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\u{0}\u{200b}\u{2028}".to_owned()),
        Just("👩‍👩‍👧‍👦🇩🇪🇫🇷e\u{301}\u{301}".to_owned()),
        Just("}\n)\n".to_owned()),
        Just("    code\n\tcode\n".to_owned()),
        Just("一段没有空格的中文。第二句！".to_owned()),
        Just("Предложение. Ещё одно, т. е. второе! ".to_owned()),
        "[a-z]{1,9}( [a-z]{1,9}){0,30}[.!?:]? ",
        "\\PC{0,40}",
        "[a-zA-Z0-9+/]{50,200}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_keeps_the_invariants(
        fragments in prop::collection::vec((fragment(), any::<bool>(), any::<prop::sample::Index>()), 0..30),
        pick in any::<prop::sample::Index>(),
    ) {
        for parser in PARSERS {
            // About half of a document is the format's own syntax, if it has some.
            let own = SYNTAX.iter().find(|(name, _)| *name == parser.name()).map_or(&[][..], |(_, own)| own);
            let source: String = fragments
                .iter()
                .map(|(common, is_own, pick)| if *is_own && !own.is_empty() { *pick.get(own) } else { common })
                .collect();
            let document = Document::parse("generated", source.as_str(), *parser);
            let chunkers = chunkers();
            // One configuration a case for speed; `auto` always.
            for chunker in [&chunkers[0], pick.get(&chunkers)] {
                chunk(chunker, &document);
            }
        }
    }

    #[test]
    fn a_line_at_the_top_keeps_every_id_below_it(fragments in prop::collection::vec(fragment(), 1..20)) {
        let enough = "word ".repeat(80);
        let body = format!("# First\n\n{enough}\n\n# Second\n\n{enough}\n\n{}", fragments.concat());
        let auto = Chunker::new(chunkwright::ChunkConfig::default(), Arc::new(invariants::Quads)).unwrap();
        let parser: &dyn Parser = PARSERS[0];
        let before = Document::parse("a.md", body.as_str(), parser);
        let after = Document::parse("a.md", format!("A new line. {enough}\n\n{body}"), parser);
        let ids = |document: &Document| chunk(&auto, document).iter().map(|c| (c.id, c.content(document).to_owned())).collect::<Vec<_>>();
        let (before, after) = (ids(&before), ids(&after));
        for pair in &before {
            prop_assert!(after.contains(pair), "{pair:?} is gone");
        }
    }
}
