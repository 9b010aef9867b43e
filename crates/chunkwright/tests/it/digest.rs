//! The digest of a Markdown document gives what the parser gives for the whole.

use chunkwright::{Document, Span, parse::Markdown};
use proptest::prelude::*;

/// A document that is read by its digest, and the same as the parser reads it whole: it does where a vertical tab
/// stands somewhere, here in front matter.
fn check(body: &str) {
    let parse = |value: &str| Document::parse("a.md", format!("---\na: {value}\n---\n{body}"), &Markdown);
    let (found, whole) = (parse("b"), parse("\u{b}"));
    let span = Span::new(0, whole.source().len());
    assert_eq!(found.sections(), whole.sections(), "{body:?}");
    assert_eq!(found.blocks(), whole.blocks(), "{body:?}");
    assert_eq!(found.seams(span), whole.seams(span), "{body:?}");
    assert_eq!(found.enclosures(span), whole.enclosures(span), "{body:?}");
}

/// Pieces that make trouble when they meet.
fn fragment() -> impl Strategy<Value = String> {
    let plain = [
        "text",
        "a b",
        "    ",
        "  ",
        " ",
        "\t",
        "\n",
        "\n\n",
        "\n\n\n",
        "# ",
        "## T\n",
        "#",
        "---\n",
        "===\n",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2) ",
        "10. ",
        "> ",
        ">",
        "```\n",
        "```js\n",
        "``",
        "`",
        "~~~\n",
        "~~~",
        "````\n",
        "|",
        "a | b\n",
        "|---|---|\n",
        ":-:|-\n",
        "--|--\n",
        ":::\n",
        "::: tip\n",
        "<div>\n",
        "</div>\n",
        "<div class=\"a\">\n",
        "<p",
        "## `a` b\n",
        "# `",
        " {#b}\n",
        "### T `c` {.d #e}\n",
        "<!--",
        "-->",
        "<pre>\n",
        "</pre>",
        "<script>\n",
        "</script>\n",
        "<b>",
        "<?",
        "?>",
        "<![CDATA[",
        "]]>",
        "<!a",
        "  <!-- ",
        " <STYLE>",
        "</style>\n",
        "   ~~~\n",
        " ```\n\n",
        "[a]: /b\n",
        "[a]:\n",
        "[a]",
        "[^1]: note\n",
        "[^1]",
        "[b](c)",
        "![i](j)",
        "**b**",
        "*e*",
        "_e_",
        "__",
        "***\n",
        "***",
        "&amp;",
        "\\",
        "{#id}",
        " #\n",
        "\"t\"",
        "'t'",
        "中文。",
        "\u{a0}",
        "\u{3000}",
        "\0",
        "\u{feff}",
        "- a\n\n  b\n",
        "  ```\n",
        "    code\n",
        "1986. x\n",
        "=",
        "-",
        "+",
        ":",
        "\u{2028}",
    ];
    prop_oneof![8 => prop::sample::select(plain.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}", 1 => Just("\n\nPlain text\n\n".to_owned())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_digest_gives_what_the_whole_gives(fragments in prop::collection::vec(fragment(), 0..30)) {
        check(&fragments.concat());
    }
}
