//! Payloads of data URIs, armour and long runs of encoded data, which no text has.

use chunkwright::parse::{Html, Json, Markdown, Text, Yaml};
use chunkwright::{Document, Parser, Span};

use crate::invariants;

/// Asserts how `source` reads.
#[track_caller]
fn check_as(parser: &dyn Parser, source: &str, expected: &str) {
    let document = Document::parse("a.txt", source, parser);
    invariants::model(&document);
    assert_eq!(document.read(Span::new(0, source.len())), expected, "{source}");
}

#[track_caller]
fn check(source: &str, expected: &str) {
    check_as(&Text, source, expected);
}

/// Bytes of base64 as a file would give them, the same every time.
fn base64(length: usize) -> String {
    encoded(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", length)
}

fn encoded(alphabet: &[u8], length: usize) -> String {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        alphabet[(state >> 33) as usize % alphabet.len()] as char
    };
    (0..length).map(|_| next()).collect()
}

/// The text in lines of `width`, each after `prefix` and before `end`.
fn lines(text: &str, width: usize, prefix: &str, end: &str) -> String {
    let chunks = text.as_bytes().chunks(width).map(|line| str::from_utf8(line).unwrap());
    chunks.map(|line| format!("{prefix}{line}{end}")).collect()
}

#[test]
fn only_long_payloads_of_data_uris_are_left_out() {
    let long = "iVBORw0KGgo+/x".repeat(20);
    check(&format!("![x](data:image/png;base64,{long})"), "![x](data:image/png;base64,)");
    check(
        &format!("url('data:font/woff2;charset=utf-8;base64,{long}=='), data:a;base64,{long}"),
        "url('data:font/woff2;charset=utf-8;base64,'), data:a;base64,",
    );
    for whole in [
        "data:image/png;base64,iVBORw0KGgo=".to_owned(),
        format!("a word;base64,{}", &long[..200]),
        format!("data:image/svg+xml,{}", "%3Cpath+d=M0".repeat(40)),
    ] {
        check(&whole, &whole);
    }
}

#[test]
fn armour_keeps_its_first_and_last_line() {
    let key = lines(&base64(64 * 9 + 22), 64, "", "\n");
    for (from, to) in [("CERTIFICATE", "CERTIFICATE"), ("RSA PRIVATE KEY", "RSA PRIVATE KEY")] {
        check(
            &format!("The key:\n\n-----BEGIN {from}-----\n{key}-----END {to}-----\n\nAfter it.\n"),
            &format!("The key:\n\n-----BEGIN {from}-----\n\n-----END {to}-----\n\nAfter it.\n"),
        );
    }
    // A short one, and the checksum of PGP.
    let short = lines(&base64(100), 64, "", "\n");
    check(
        &format!("-----BEGIN EC PRIVATE KEY-----\n{short}-----END EC PRIVATE KEY-----\n"),
        "-----BEGIN EC PRIVATE KEY-----\n\n-----END EC PRIVATE KEY-----\n",
    );
    check(
        &format!(
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nMeet at nine.\n-----BEGIN PGP SIGNATURE-----\n\n\
             {key}=aB3d\n-----END PGP SIGNATURE-----\n"
        ),
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nMeet at nine.\n-----BEGIN PGP SIGNATURE-----\n\n\n\
         -----END PGP SIGNATURE-----\n",
    );
}

#[test]
fn armour_and_runs_are_left_out_wherever_they_stand() {
    let data = base64(64 * 8);
    // Quoted in a mail, in comments, in a block of YAML, in strings.
    let quoted = lines(&data, 64, "> ", "\n");
    check(&format!("> Hello\n{quoted}\nBye.\n"), "> Hello\n> \n\nBye.\n");
    let comment = lines(&data, 64, "    # ", "\n");
    check(&format!("x = 1\n{comment}y = 2\n"), "x = 1\n    # \ny = 2\n");
    check_as(
        &Yaml,
        &format!("a: 1\ncert: |\n{}b: 2\n", lines(&data, 64, "  ", "\n")),
        "a: 1\ncert: |\n  \nb: 2\n",
    );
    let escaped = lines(&data, 64, "", "\\n");
    check_as(&Json, &format!("{{\"a\": \"{escaped}\", \"b\": 2}}"), "{\"a\": \"\\n\", \"b\": 2}");
    let crlf = lines(&data, 64, "", "\\r\\n");
    check_as(&Json, &format!("{{\"a\": \"{crlf}\", \"b\": 2}}"), "{\"a\": \"\\r\\n\", \"b\": 2}");
    check_as(&Json, &format!("{{\"a\": \"{data}=\"}}"), "{\"a\": \"\"}");
    check_as(&Markdown, &format!("Text `{data}` and\n\n{data}\n"), "Text `` and\n\n\n");
    check_as(&Html, &format!("<p>Text {data} end"), "Text  end");
    check(&format!("TOKEN={data}== # it\n"), "TOKEN= # it\n");
    let mail = lines(&base64(76 * 7), 76, "", "\n");
    check(&format!("{mail}tail=\n\nWords follow.\n"), "\n\nWords follow.\n");
    let hex = encoded(b"0123456789abcdef", 512);
    check(&format!("modulus {hex} end, 0x{hex}"), "modulus  end, 0x");
    let bytes = lines(&data, 64, "    b\"", "\"\n");
    check(&format!("x = (\n{bytes})\n"), "x = (\n    b\"\"\n)\n");
}

#[test]
fn what_is_searched_for_stays() {
    let sha = |at: usize| encoded(b"0123456789abcdef", 64 + at).split_off(at);
    let list: String = (0..40).map(|at| format!("{}\n", sha(at))).collect();
    for whole in [
        "550e8400-e29b-41d4-a716-446655440000 ".repeat(20),
        list,
        encoded(b"0123456789abcdef", 128),
        format!("https://example.org/{}", base64(600)),
        format!("see https://example.org/a?token={}&x=1", base64(600)),
        "/home/ann/Projects/Harbour2024/Sources/Model/".repeat(9),
        "aVeryLongIdentifierThatNobodyShouldEverWrite".repeat(9),
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(9),
        "向量检索".repeat(200),
        "-".repeat(400),
        "=".repeat(400),
        "acgtacgtgactagctagctagcatcgatcagctagcatcagcatcgactagc".repeat(9),
        "3.".to_owned() + &"14159265358979323846264338327950288".repeat(20),
        base64(200),
        "SOME_CONSTANT_NAME_THAT_GOES_ON_".repeat(10),
        "one-long-slug-of-a-page-about-harbours-2024-".repeat(10),
    ] {
        check(&whole, &whole);
    }
}

#[test]
fn hostile_runs_are_read_in_linear_work() {
    let data = base64(64);
    for text in [
        format!("{data}\n").repeat(20_000),
        format!("{}\n", &data[..41]).repeat(20_000),
        format!("{data}\\").repeat(20_000),
        format!("{}= ", &data[..40]).repeat(20_000),
        "=".repeat(1 << 20),
        base64(1 << 20),
        format!("-----BEGIN {data}\n").repeat(10_000),
    ] {
        invariants::model(&Document::parse("a.txt", text, &Text));
    }
}
