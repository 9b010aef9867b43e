//! The format of a file.

use std::path::Path;

use chunkwright_source::parser_for;

#[test]
fn files_are_read_by_their_names() {
    for (name, format) in [
        ("docs/a.md", "markdown"),
        ("A.MARKDOWN", "markdown"),
        ("page.mdx", "mdx"),
        ("guide.rst", "rst"),
        ("guide.adoc", "asciidoc"),
        ("Cargo.lock", "text"),
        ("package-lock.json", "json"),
        ("app.webmanifest", "json"),
        ("train.jsonl", "jsonl"),
        (".github/workflows/ci.yml", "yaml"),
        ("pyproject.toml", "toml"),
        ("data.TSV", "csv"),
        ("todo.org", "org"),
        ("film.vtt", "subtitles"),
        ("server.log", "log"),
        ("notes.txt", "text"),
        ("LICENSE", "text"),
        ("x.unknown", "text"),
        ("src/main.py", "python"),
    ] {
        assert_eq!(parser_for(Path::new(name), "").name(), format, "{name}");
    }
    assert_eq!(parser_for(Path::new("run"), "#!/usr/bin/env python3\nprint(1)\n").name(), "python");
}
