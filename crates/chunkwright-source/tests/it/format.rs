//! The format of a file.

use std::path::Path;

use chunkwright_source::parser_for;

#[test]
fn files_are_read_by_their_names() {
    for (name, format) in [
        ("docs/a.md", "markdown"),
        ("a.Rmd", "markdown"),
        ("a.qmd", "markdown"),
        ("rules.mdc", "markdown"),
        ("a.livemd", "markdown"),
        ("a.workbook", "markdown"),
        ("paper.tex", "latex"),
        ("user.ts.j2", "typescript"),
        ("page.html.erb", "html"),
        ("index.erb", "html"),
        ("mail.blade.php", "html"),
        ("base.html.jinja", "html"),
        ("main.tf.tmpl", "hcl"),
        ("README.md.j2", "markdown"),
        ("values.yaml.example", "yaml"),
        ("motd.j2", "text"),
        ("j2", "text"),
        (".j2", "text"),
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
    for (name, head, format) in [
        ("README", "Lamps\n=====\n\nText.\n", "markdown"),
        ("readme", "# Lamps\n", "markdown"),
        ("CHANGELOG", "Text.\n\n## 1.0\n", "markdown"),
        ("LICENSE", "MIT License\n\nCopyright\n\n---\n", "text"),
        ("README", "LAMPS\n\n#tag ====\n", "text"),
        ("notes", "# Lamps\n", "text"),
        ("app_de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS language=\"de\">\n", "text"),
        ("app_de.ts", "\u{feff}<!DOCTYPE TS>\n<TS>\n", "text"),
        ("app.ts", "// <!DOCTYPE TS>\nlet a = 1;\n", "typescript"),
    ] {
        assert_eq!(parser_for(Path::new(name), head).name(), format, "{name} {head}");
    }
    assert_eq!(parser_for(Path::new("run"), "#!/usr/bin/env python3\nprint(1)\n").name(), "python");
}
