//! Files that are not worth indexing.

use std::path::Path;

use chunkwright_source::noise::{of_name, of_text};
use chunkwright_source::{LeftOut, SkipReason, Skipped};

#[test]
fn names_tell_what_is_not_worth_indexing() {
    for (name, expected) in [
        ("logo.svg", Some(SkipReason::Drawing)),
        ("LOGO.SVG", Some(SkipReason::Drawing)),
        ("*.svg", Some(SkipReason::Drawing)),
        ("Cargo.lock", Some(SkipReason::LockFile)),
        ("go.sum", Some(SkipReason::LockFile)),
        ("app.js.map", Some(SkipReason::SourceMap)),
        ("*.map", Some(SkipReason::SourceMap)),
        ("level.map", None),
        ("jquery.min.js", Some(SkipReason::Minified)),
        ("minutes.md", None),
        ("*.md", None),
        ("svg", None),
    ] {
        assert_eq!(of_name(name), expected, "{name}");
    }
}

#[test]
fn a_text_is_encoded_where_nothing_else_is_in_it() {
    let image = format!("data:image/png;base64,{}", "iVBORw0KGgo".repeat(600));
    assert_eq!(of_text(Path::new("a.css"), &image, false), Some(SkipReason::DataUri));
    // A page with a picture, however large, is read for its words.
    let prose = "A paragraph of words, read by people.\n\n".repeat(4);
    assert_eq!(of_text(Path::new("a.md"), &format!("{prose}![x]({image})\n"), false), None);
}

#[test]
fn what_was_left_out_is_counted_by_kind() {
    let entry = |path: &str, reason| Skipped { path: path.into(), reason };
    let skipped = [
        entry("Cargo.lock", SkipReason::LockFile),
        entry("a/b.svg", SkipReason::Drawing),
        entry("a/c.svg", SkipReason::Drawing),
        entry(".git", SkipReason::Hidden),
    ];
    let left_out = LeftOut::of(&skipped);
    assert_eq!(left_out.words().as_deref(), Some("2 drawings, 1 lock file"));
    assert_eq!(left_out.pattern(), Some("*.svg"));
    assert_eq!(LeftOut::of(&skipped[3..]).words(), None);
}
