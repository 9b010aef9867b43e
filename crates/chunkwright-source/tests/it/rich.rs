//! Rich Text Format and vCards.

use chunkwright::PositionUnit::Paragraph;
use chunkwright_source::convert::ConvertError;

use crate::{converted, stands};

/// Asserts what the body of an RTF file reads as.
#[track_caller]
fn check(body: &[u8], expect: &str) {
    let file = [
        br"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}{\f2\fcharset134 SimSun;}}",
        body,
        b"}",
    ];
    let text = converted("rtf", &file.concat()).unwrap().text;
    assert_eq!(text.trim_end(), expect, "{}", String::from_utf8_lossy(body));
}

#[test]
fn the_text_of_an_rtf_file_is_read_and_not_its_settings() {
    check(br"\pard First {\b bold} text.\par Second\line line\par", "First bold text.\n\nSecond line");
    check(br"\'fcber \u1055?\u1088\'3f \{a\}\emdash b\~c\par", "über Пр {a}—b\u{a0}c");
    // Characters of two bytes, of fonts with code pages of their own.
    check(br"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} {\f2 \'d6\'d0\'ce\'c4}\par", "Привет 中文");
    check(br"a \u-10179?\u-8704?\par", "a 😀");
    check(br"{\uc2\u1087\'ef\'efx}{\uc0\u1087 x}\par", "пxпx");
    check(br"{\colortbl;\red255;}{\stylesheet{\s1 heading 1;}}{\info{\title T}}{\*\generator G;}{\header H\par}a\par", "a");
    check(br"{\pict\pngblip 89504e47}{\v hidden}\deleted gone\deleted0 here\bin3 {}}\par", "here");
    check(br#"{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt link}} after\par"#, "link after");
    check(br"\pard\outlinelevel0 Title\par\pard text\par", "# Title\n\ntext");
    check(
        br"\trowd\pard\intbl Name\cell Sum\cell\row\trowd\pard\intbl Tea\par black\cell 12\cell\row\pard end\par",
        "| Name | Sum |\n|---|---|\n| Tea black | 12 |\n\nend",
    );
    // The end of the file in the middle of things.
    check(br"a\'e", "ae");
    check(br"a {b \u", "a b");
}

#[test]
fn paragraphs_of_an_rtf_file_are_counted() {
    let file = br"{\rtf1 One\par\par Two\par\trowd\intbl A\cell\row\pard Three\par}";
    stands(
        &converted("rtf", file).unwrap(),
        Paragraph,
        &[("One", 1), ("Two", 2), ("| A |", 3), ("Three", 4)],
    );
}

#[test]
fn hostile_rtf_is_read_to_its_end() {
    let deep =
        [br"{\rtf1 ".as_slice(), &b"{".repeat(1 << 20), b"a", &b"}".repeat(1 << 20), br"b\par}"].concat();
    assert_eq!(converted("rtf", &deep).unwrap().text.trim_end(), "ab");
    assert_eq!(converted("rtf", br"{\rtf1 }").unwrap_err(), ConvertError::NoText);
    let file = br"{\rtf1\ansi{\fonttbl{\f0 A;}}\bin99999999999 \u99999999999 x\'zz\uc-5 y\par}";
    for end in 6..file.len() {
        let _ = converted("rtf", &file[..end]);
    }
}

#[test]
fn a_contact_is_a_section_with_its_lines() {
    let file = "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Schmidt;Anna;;;\r\nFN:Anna Schmidt\r\nORG:Leuchten GmbH;Vertrieb\r\n\
                TEL;TYPE=cell:+49 1\r\nitem1.EMAIL:a@b.de\r\nADR;TYPE=home:;;Hauptstr. 1;Berlin;;10115;\r\nNOTE:line one\\n\
                line\\, two and\r\n  more\r\nPHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSk\r\n ZJRgABAQ\r\nEND:VCARD\r\n\
                BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=9F=D0=B5=D1=82=D1=80;=D0=98=\r\n\
                =D0=B2=D0=B0=D0=BD\r\nTEL;CELL:123\r\nEND:VCARD\r\n";
    let text = converted("vcf", file.as_bytes()).unwrap().text;
    assert_eq!(
        text,
        "# Anna Schmidt\n\n- Organization: Leuchten GmbH, Vertrieb\n- Phone: +49 1\n- Email: a@b.de\n- Address: Hauptstr. 1, \
         Berlin, 10115\n- Note: line one line, two and more\n\n# Петр, Иван\n\n- Phone: 123\n\n"
    );
}
