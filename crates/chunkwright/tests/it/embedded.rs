//! The language of the code in a fence.

use std::cell::RefCell;
use std::sync::Arc;

use chunkwright::document::{Enclosure, EnclosureKind};
use chunkwright::{BlockKind, Chars, ChunkConfig, Chunker, Document, DocumentBuilder, Parser, Span, Unit};

use crate::invariants::chunk;

thread_local! {
    /// The names of the languages that were asked for.
    static ASKED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Knows no language.
fn asked(name: &str) -> Option<&'static dyn Parser> {
    ASKED.with_borrow_mut(|asked| asked.push(name.to_owned()));
    None
}

/// Reads a source as one fence, opened by the lines given.
struct Fence(&'static str);

impl Parser for Fence {
    fn name(&self) -> &'static str {
        "fence"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let len = out.source().len();
        out.block(BlockKind::Code, 0, len);
        out.enclosure(Enclosure {
            kind: EnclosureKind::Fence,
            span: Span::new(0, len),
            open: Span::new(0, self.0.len()),
            close: "".into(),
        });
    }
}

/// The languages that are asked for while a fence is divided that `open` opens.
fn languages(open: &'static str) -> Vec<String> {
    let config = ChunkConfig {
        unit: Unit::Chars,
        max_size: 120,
        target_size: 120,
        min_size: 0,
        ..ChunkConfig::default()
    };
    let chunker = Chunker::new(config, Arc::new(Chars)).unwrap();
    let source = format!("{open}\n{}", "let x = 1;\n".repeat(40));
    let document = Document::parse("a", source, &Fence(open)).with_languages(asked);
    assert!(chunk(&chunker, &document).len() > 2, "{open:?} is not divided");
    ASKED.take()
}

#[test]
fn the_line_that_opens_a_fence_names_its_language() {
    for (open, name) in [
        ("```python", Some("python")),
        ("  ~~~~ c++ numbers", Some("c++")),
        ("```rust,ignore", Some("rust")),
        ("```js{1,3} title=\"x\"", Some("js")),
        ("``` {.python .numberLines}", Some("python")),
        ("```{r, echo=FALSE}", Some("r")),
        ("```language-go", Some("go")),
        ("```", None),
        ("> ```python", None),
        (".. code-block:: python\n   :linenos:\n", Some("python")),
        ("::\n", None),
        ("#+NAME: x\n#+BEGIN_SRC emacs-lisp :results none", Some("emacs-lisp")),
        ("[source,python]\n----", Some("python")),
        ("[source%linenums, ruby]\n----", Some("ruby")),
        ("[,ruby]\n----", Some("ruby")),
        ("[source]\n----", None),
    ] {
        // A fence is read once, however often it is cut.
        assert_eq!(languages(open), Vec::from_iter(name), "{open:?}");
    }
}
