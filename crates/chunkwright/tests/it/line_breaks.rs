//! Line breaks: what ends a line, and the way of every place from the text with LF to the source and back.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use chunkwright::{
    BlockKind, ChunkConfig, Chunker, Cut, Document, DocumentBuilder, LineIndex, Parser, Plan, Span, Strategy,
    Words, with_lf,
};

/// Reports one block, with a seam at every byte of it.
struct Seams;

impl Parser for Seams {
    fn name(&self) -> &'static str {
        "seams"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let len = out.source().len();
        out.block(BlockKind::Paragraph, 0, len);
        for at in 0..len {
            out.seam(at, 0);
        }
    }
}

/// Remembers the document that it cuts.
#[derive(Default)]
struct Seen(Mutex<Option<Document>>);

impl Strategy for Seen {
    fn name(&self) -> &'static str {
        "seen"
    }

    fn version(&self) -> (u16, u16) {
        (1, 0)
    }

    fn summary(&self) -> &'static str {
        "one chunk"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        plan.push(whole(document), Cut::Full);
        *self.0.lock().unwrap() = Some(document.clone());
    }
}

fn whole(document: &Document) -> Span {
    Span::new(0, document.source().len())
}

/// The places of the seams, and the ends of the block.
fn places(document: &Document) -> (Vec<u32>, Span) {
    let [block] = document.blocks() else { panic!("{:?}", document.blocks()) };
    (document.seams(whole(document)).iter().map(|seam| seam.at).collect(), block.span)
}

/// The document as strategies see it.
fn seen(document: &Document) -> Document {
    let strategy = Arc::new(Seen::default());
    let chunker =
        Chunker::with_strategy(ChunkConfig::default(), Arc::new(Words), Arc::<Seen>::clone(&strategy));
    assert_eq!(chunker.unwrap().chunk(document)[0].span, whole(document));
    strategy.0.lock().unwrap().take().unwrap()
}

#[test]
fn lines_end_at_lf_crlf_and_cr_only() {
    let index = LineIndex::new("a\nb\r\nc\rd\u{2028}e\n");
    let line = |needle: &str| index.line("a\nb\r\nc\rd\u{2028}e\n".find(needle).unwrap() as u32);
    assert_eq!([line("a"), line("b"), line("c"), line("d"), line("e")], [1, 2, 3, 4, 4]);
    assert_eq!(index.count(), 5);
    assert_eq!(index.lines(Span::new(0, 4)), (1, 2));
}

#[test]
fn every_place_of_the_text_stands_in_the_source_and_back() {
    let source = "a\r\nb\rc\n\r\n\r\r\nd\r.";
    let text = with_lf(source);
    assert_eq!(text, "a\nb\nc\n\n\n\nd\n.");
    let document = Document::parse("a", source, &Seams);
    for at in 0..=text.len() as u32 {
        let place = document.place_in_source(at);
        assert!(!source[..place as usize].ends_with('\r') || !source[place as usize..].starts_with('\n'));
        assert_eq!(with_lf(&source[..place as usize]), text[..at as usize]);
    }
    // Places in the source, as the parser reported them in the text, and the same as a strategy sees them.
    let inner: Vec<u32> = (1..text.len() as u32).collect();
    let in_source = inner.iter().map(|&at| document.place_in_source(at)).collect();
    assert_eq!(places(&document), (in_source, whole(&document)));
    let back = seen(&document);
    assert_eq!(back.source(), text);
    assert_eq!(places(&back), (inner, whole(&back)));
}

#[test]
fn a_source_with_lf_alone_is_cut_as_it_stands() {
    let source = "a\nb\n.";
    assert!(matches!(with_lf(source), Cow::Borrowed(text) if text == source));
    let document = Document::parse("a", source, &Seams);
    assert!((0..=5).all(|at| document.place_in_source(at) == at));
    assert!(Arc::ptr_eq(&seen(&document).shared_source(), &document.shared_source()));
}
