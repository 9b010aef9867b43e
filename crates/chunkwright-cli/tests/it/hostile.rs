//! Small files that are expensive to process: each fails by itself, and not the run.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::cli::Folder;

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A PDF of one page with this stream of content.
fn pdf(filter: &str, content: &[u8]) -> Vec<u8> {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1{font}>>>>>>"
        )
        .into(),
        [format!("<</Length {}/Filter{filter}>>stream\n", content.len()).as_bytes(), content, b"\nendstream"]
            .concat(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        file.extend([format!("{} 0 obj\n", index + 1).as_bytes(), object, b"\nendobj\n"].concat());
    }
    let start = file.len();
    write!(file, "{table}trailer<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1)
        .unwrap();
    file
}

/// A kilobyte that unpacks to 60 MB of operators, each of which is kept as an object.
fn bomb() -> Vec<u8> {
    let content = [&b"BT /F1 12 Tf 72 720 Td (hello) Tj ET "[..], &b"q ".repeat(30_000_000)].concat();
    pdf("[/FlateDecode/FlateDecode]", &deflated(&deflated(&content)))
}

fn text_page() -> Vec<u8> {
    pdf("/FlateDecode", &deflated(b"BT /F1 12 Tf 72 720 Td (A page with some words) Tj ET"))
}

fn many_imports() -> String {
    let imports: String = (0..8000).map(|n| format!("import package.module{n}\n")).collect();
    let functions: String = (0..2000)
        .map(|n| format!("\ndef f{n}(a):\n    return module{n}.call(a, {n}) + module{}.x\n", n + 1))
        .collect();
    imports + &functions
}

/// A folder with a bomb, and what is to be indexed beside it.
fn folder() -> Folder {
    let folder = Folder::new(&[("docs/good.md", "# Good\n\nWords to be found.\n")]);
    folder.write("docs/bomb.pdf", &bomb());
    folder.write("docs/page.pdf", &text_page());
    folder.write("docs/soup.cpp", "a<".repeat(100_000).as_bytes());
    folder.write("docs/soup.php", "<?php if(1): ?>\n".repeat(8_000).as_bytes());
    folder
}

#[test]
fn a_file_that_unpacks_to_gigabytes_fails_alone() {
    let folder = folder();
    let run = folder.run(&["index", "docs", "--embedder", "none", "--include", "*"]);
    assert_eq!(run.code, 3, "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let failed = report["failed"].as_array().unwrap();
    assert_eq!((failed.len(), &failed[0]["doc_id"]), (1, &"bomb.pdf".into()), "{report}");
    assert!(failed[0]["message"].as_str().unwrap().contains("MB of memory"), "{report}");
    assert_eq!(report["indexed"], 4);
    folder.run(&["search", "page words"]).success();
}

#[cfg(target_os = "linux")]
#[test]
fn six_hundred_megabytes_of_address_space_are_enough() {
    let folder = folder();
    let limited = ["/bin/sh", "-c", "ulimit -v 600000; exec \"$@\"", "sh"];
    let output = folder
        .command_under(&limited, &["index", "docs", "--embedder", "none", "--include", "*"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["failed"][0]["doc_id"], &report["indexed"]),
        (&"bomb.pdf".into(), &4.into()),
        "{report}"
    );
}

#[test]
fn records_of_a_file_with_many_imports_grow_with_the_file_only() {
    let source = many_imports();
    let folder = Folder::new(&[("a.py", &source)]);
    let run = folder.run(&["chunk", "a.py"]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.len() < 16 * source.len(), "{} bytes of {}", run.stdout.len(), source.len());
    let uses = run
        .lines()
        .into_iter()
        .find(|record| record["content"].as_str().unwrap().contains("def f7(a)"))
        .unwrap();
    let imports = uses["imports"].as_array().unwrap();
    assert!(imports.contains(&"import package.module7".into()) && imports.len() <= 32);
}
