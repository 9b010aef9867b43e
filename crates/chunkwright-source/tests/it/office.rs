//! Word, `PowerPoint` and Excel.

use std::io::{Cursor, Write};

use chunkwright::PositionUnit::{Paragraph, Sheet, Slide};
use chunkwright_source::convert::ConvertError;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{converted, stands};

const MAIN: &str = "application/vnd.openxmlformats-officedocument";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// An archive of `parts`, with the relations and types that readers ask for. The first is the main part.
fn package(kind: &str, parts: &[(&str, &str, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, text: &str| {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    };
    let types: String = parts
        .iter()
        .map(|(name, kind, _)| format!(r#"<Override PartName="/{name}" ContentType="{MAIN}.{kind}+xml"/>"#))
        .collect();
    add(
        "[Content_Types].xml",
        &format!(
            r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{types}</Types>"#
        ),
    );
    let relations = |of: Vec<(&str, &str)>| {
        let of: String = of
            .iter()
            .enumerate()
            .map(|(n, (kind, target))| {
                format!(r#"<Relationship Id="rId{}" Type="{OFFICE}/{kind}" Target="{target}"/>"#, n + 1)
            })
            .collect();
        format!(
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{of}</Relationships>"#
        )
    };
    let (main, ..) = parts[0];
    add("_rels/.rels", &relations(vec![("officeDocument", main)]));
    let (folder, file) = main.split_once('/').unwrap();
    let others = parts[1..]
        .iter()
        .map(|(name, ..)| (kind, name.strip_prefix(folder).unwrap().trim_start_matches('/')));
    add(&format!("{folder}/_rels/{file}.rels"), &relations(others.collect()));
    for (name, _, text) in parts {
        add(name, text);
    }
    zip.finish().unwrap().into_inner()
}

fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let styles = r#"<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>"#;
    let main = ("word/document.xml", "wordprocessingml.document.main", document);
    package("styles", &[main, ("word/styles.xml", "wordprocessingml.styles", styles.into())])
}

fn paragraph(style: &str, text: &str) -> String {
    format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#)
}

#[test]
fn paragraphs_and_tables_of_a_document_are_counted() {
    let cell = |text| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let row = |a, b| format!("<w:tr>{}{}</w:tr>", cell(a), cell(b));
    let body = [
        paragraph("Heading1", "Installation"),
        paragraph("", "Программа читает документы."),
        format!("<w:tbl>{}{}</w:tbl>", row("Option", "Meaning"), row("max", "最大的块")),
        paragraph("", "最后一段。"),
    ];
    let converted = converted("docx", &docx(&body.concat())).unwrap();
    stands(
        &converted,
        Paragraph,
        &[
            ("# Installation", 1),
            ("Программа читает документы.", 2),
            ("| Option | Meaning |", 3),
            ("| max | 最大的块 |", 3),
            ("最后一段。", 4),
        ],
    );
}

#[test]
fn slides_of_a_presentation_are_counted() {
    let slide = |text: &str| {
        format!(
            r#"<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"#
        )
    };
    let main = format!(
        r#"<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{OFFICE}"><p:sldIdLst><p:sldId id="256" r:id="rId1"/><p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>"#
    );
    let kind = "presentationml.slide";
    let parts = [
        ("ppt/presentation.xml", "presentationml.presentation.main", main),
        ("ppt/slides/slide1.xml", kind, slide("First")),
        ("ppt/slides/slide2.xml", kind, slide("Второй")),
    ];
    let converted = converted("pptx", &package("slide", &parts)).unwrap();
    stands(&converted, Slide, &[("First", 1), ("Второй", 2)]);
}

#[test]
fn sheets_of_a_workbook_are_tables_and_counted() {
    let sheet = |text: &str| {
        let cell = |at: &str, text: &str| format!(r#"<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>"#);
        format!(
            r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">{}{}</row><row r="2">{}<c r="B2"><v>2.5</v></c></row></sheetData></worksheet>"#,
            cell("A1", "name"),
            cell("B1", "size"),
            cell("A2", text)
        )
    };
    let main = format!(
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"><sheets><sheet name="Pumps" sheetId="1" r:id="rId1"/><sheet name="井" sheetId="2" r:id="rId2"/></sheets></workbook>"#
    );
    let kind = "spreadsheetml.worksheet";
    let parts = [
        ("xl/workbook.xml", "spreadsheetml.sheet.main", main),
        ("xl/worksheets/sheet1.xml", kind, sheet("small")),
        ("xl/worksheets/sheet2.xml", kind, sheet("deep")),
    ];
    let converted = converted("xlsx", &package("worksheet", &parts)).unwrap();
    stands(&converted, Sheet, &[("# Pumps", 1), ("| small | 2.5 |", 1), ("# 井", 2), ("| deep | 2.5 |", 2)]);
}

#[test]
fn a_document_without_text_says_so() {
    assert_eq!(converted("docx", &docx("<w:p/>")).unwrap_err(), ConvertError::NoText);
}

#[test]
fn bombs_and_damaged_archives_are_errors() {
    let bomb = docx(&paragraph("", &"a".repeat(20 << 20)));
    assert!(matches!(converted("docx", &bomb), Err(ConvertError::Damaged { .. })));
    let whole = docx(&paragraph("", "text"));
    for at in (0..whole.len()).step_by(13) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        if let Some(converter) = chunkwright_source::convert::converter_for("docx", &damaged) {
            let _ = chunkwright_source::convert::convert(converter, &damaged);
        }
    }
    assert!(matches!(converted("docx", &whole[..whole.len() / 2]), Err(ConvertError::Damaged { .. })));
}
