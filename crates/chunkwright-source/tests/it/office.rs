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
    let styles = r#"<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Chapter"><w:name w:val="Chapter"/><w:basedOn w:val="Heading1"/></w:style><w:style w:type="paragraph" w:styleId="Rubrik"><w:name w:val="Rubrik 2"/></w:style><w:style w:type="paragraph" w:styleId="berschrift3"><w:name w:val="x"/></w:style><w:style w:type="paragraph" w:styleId="Body"><w:name w:val="Body"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style></w:styles>"#;
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

/// Asserts what the body of a Word document reads as.
#[track_caller]
fn reads(body: &str, expect: &str) {
    assert_eq!(converted("docx", &docx(body)).unwrap().text.trim_end(), expect, "{body}");
}

#[test]
fn headings_have_their_levels_from_the_paragraph_or_its_style() {
    let check = |style: &str, expect: &str| reads(&paragraph(style, "Title"), expect);
    check("Heading1", "# Title");
    // A style that is based on a heading, and one with a heading's name in another language.
    check("Chapter", "# Title");
    check("Rubrik", "## Title");
    check("berschrift3", "### Title");
    check("Body", "Title");
    let level = |style: &str, level: u8| {
        format!(
            r#"<w:p><w:pPr>{style}<w:outlineLvl w:val="{level}"/></w:pPr><w:r><w:t>Title</w:t></w:r></w:p>"#
        )
    };
    reads(&level("", 1), "## Title");
    reads(&level(r#"<w:pStyle w:val="Body"/>"#, 0), "# Title");
    reads(&level(r#"<w:pStyle w:val="Heading1"/>"#, 9), "Title");
    // What it was before a change.
    reads(
        r#"<w:p><w:pPr><w:pStyle w:val="Body"/><w:pPrChange><w:pPr><w:pStyle w:val="Heading1"/></w:pPr></w:pPrChange></w:pPr><w:r><w:t>Title</w:t></w:r></w:p>"#,
        "Title",
    );
}

#[test]
fn text_that_was_moved_stands_once_and_deleted_text_is_gone() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let body = format!(
        r#"<w:p><w:moveFrom w:id="1">{}</w:moveFrom>{}</w:p><w:p><w:moveTo w:id="1">{}</w:moveTo><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"#,
        run("moved"),
        run("stays"),
        run("moved")
    );
    reads(&body, "stays\n\nmoved");
    let row = |properties: &str, text: &str| {
        format!("<w:tr>{properties}<w:tc><w:p>{}</w:p></w:tc></w:tr>", run(text))
    };
    let rows = [row("", "a"), row(r#"<w:trPr><w:del w:id="3"/></w:trPr>"#, ""), row("", "b")];
    reads(&format!("<w:tbl>{}</w:tbl>", rows.concat()), "| a |\n| --- |\n| b |");
    let ruby = "<w:r><w:ruby><w:rt><w:r><w:t>かん</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>";
    reads(&format!("<w:p>{ruby}{}</w:p>", run("字")), "漢字");
    let formula = "<m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a&lt;1</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>";
    reads(&format!("<w:p>{}{formula}</w:p>", run("So ")), "So x=(a<1)/(b)");
}

#[test]
fn rows_of_a_header_become_one_and_titles_stand_above_it() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let body = [
        "<w:tbl><w:tr>",
        &cell(r#"<w:vMerge w:val="restart"/>"#, "Region"),
        &cell(r#"<w:gridSpan w:val="2"/>"#, "2025"),
        "</w:tr><w:tr>",
        &cell("<w:vMerge/>", ""),
        &cell("", "Q1"),
        &cell("", "Q2"),
        "</w:tr><w:tr>",
        &cell("", "North"),
        &cell("", "3"),
        &cell("", "4"),
        "</w:tr></w:tbl>",
    ];
    reads(&body.concat(), "| Region | 2025 Q1 | 2025 Q2 |\n| --- | --- | --- |\n| North | 3 | 4 |");
}

/// A workbook of sheets, each with its attributes and its content, and of formats of numbers with codes.
fn workbook(sheets: &[(&str, &str)], codes: &[&str]) -> Vec<u8> {
    let space = r#"xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main""#;
    let list: String = sheets
        .iter()
        .enumerate()
        .map(|(n, (attributes, _))| format!(r#"<sheet {attributes} sheetId="{0}" r:id="rId{0}"/>"#, n + 1))
        .collect();
    let main = format!(r#"<workbook {space} xmlns:r="{OFFICE}"><sheets>{list}</sheets></workbook>"#);
    let escaped = |code: &str| code.replace('&', "&amp;").replace('"', "&quot;");
    let formats: String = codes
        .iter()
        .enumerate()
        .map(|(n, code)| format!(r#"<numFmt numFmtId="{}" formatCode="{}"/>"#, 164 + n, escaped(code)))
        .collect();
    let styles: String = (0..codes.len()).map(|n| format!(r#"<xf numFmtId="{}"/>"#, 164 + n)).collect();
    let styles = format!(
        r#"<styleSheet {space}><numFmts>{formats}</numFmts><cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>"#
    );
    let names: Vec<_> = (0..sheets.len()).map(|n| format!("xl/worksheets/sheet{}.xml", n + 1)).collect();
    let mut parts = vec![("xl/workbook.xml", "spreadsheetml.sheet.main", main)];
    for (name, (_, content)) in names.iter().zip(sheets) {
        parts.push((name, "spreadsheetml.worksheet", format!("<worksheet {space}>{content}</worksheet>")));
    }
    parts.push(("xl/styles.xml", "spreadsheetml.styles", styles));
    package("worksheet", &parts)
}

#[test]
fn numbers_read_as_the_sheet_shows_them() {
    let check = |value: &str, code: &str, expect: &str| {
        let cell = format!(r#"<c r="A2" s="1"><v>{value}</v></c>"#);
        let sheet = format!(
            r#"<sheetData><row r="1"><c r="A1" t="str"><v>n</v></c></row><row r="2">{cell}</row></sheetData>"#
        );
        let text = converted("xlsx", &workbook(&[(r#"name="S""#, &sheet)], &[code])).unwrap().text;
        let shown = text.trim_end().lines().last().unwrap_or_default().trim_matches(['|', ' ']).to_owned();
        assert_eq!(shown, expect, "{value} as {code}: {text}");
    };
    check("0.30000000000000004", "General", "0.3");
    check("1234567890123", "General", "1234567890123");
    check("1E-10", "General", "1E-10");
    check("0.075", "0.0%", "7.5%");
    check("0.5", "0%", "50%");
    check("1234.5", "\"$\"#,##0.00", "$1,234.50");
    check("1234.5", "#,##0.00 [$€-407]", "1,234.50 €");
    check("-1234.5", "#,##0.00;(#,##0.00)", "(1,234.50)");
    check("-5", "#,##0;[Red]\\-#,##0", "-5");
    check("0", "0;-0;\"none\"", "none");
    check("7", "00000", "00007");
    check("1.005", "0.00", "1.01");
    check("2.5", "#.##", "2.5");
    check("1500000", "0.0,,\"M\"", "1.5M");
    check("12345.678", "0.00E+00", "1.23E+04");
    check("3", "0 \"kg\"", "3 kg");
    check("46096", "yyyy\\-mm\\-dd", "2026-03-15");
    check("46096", "dd.mm.yyyy;@", "2026-03-15");
    check("46096.5", "[$-409]d/m/yy h:mm AM/PM", "2026-03-15T12:00:00");
    check("0.378472222", "hh:mm", "09:05");
    check("1.25", "[h]:mm:ss", "30:00:00");
    check("0.5", "# ?/?", "0.5");
    check("5551234", "000-0000", "555-1234");
    check("12345551234", "(###) ###-####", "(1234) 555-1234");
    check("5", "[>999]0.0,\"K\";0.00", "5");
    check("abc", "0.00", "abc");
}

#[test]
fn hidden_sheets_are_left_out_and_named_and_the_others_keep_their_numbers() {
    let sheet = |text: &str| {
        format!(r#"<sheetData><row r="1"><c r="A1" t="str"><v>{text}</v></c></row></sheetData>"#)
    };
    let (a, b, c) = (sheet("open"), sheet("secret"), sheet("last"));
    let sheets = [(r#"name="A""#, &*a), (r#"name="B" state="veryHidden""#, &b), (r#"name="井""#, &c)];
    let converted = converted("xlsx", &workbook(&sheets, &[])).unwrap();
    stands(&converted, Sheet, &[("open", 1), ("last", 3)]);
    assert!(!converted.text.contains("secret"));
    assert_eq!(converted.omissions[0].to_string(), "the hidden sheet `B` is left out");
}

#[test]
fn rows_that_do_not_scroll_are_the_header_of_a_sheet() {
    let row = |n: u32, a: &str, b: &str| {
        format!(r#"<row r="{n}"><c r="A{n}" t="str"><v>{a}</v></c><c r="B{n}" t="str"><v>{b}</v></c></row>"#)
    };
    let rows =
        |title: &str| [title, &row(2, "Name", "Size"), &row(3, "", "cm"), &row(4, "lamp", "3")].concat();
    let title = r#"<row r="1"><c r="A1" t="str"><v>Stock</v></c></row>"#;
    let pane = r#"<sheetViews><sheetView><pane ySplit="3" state="frozen"/></sheetView></sheetViews>"#;
    let text = |sheet: &str| converted("xlsx", &workbook(&[(r#"name="S""#, sheet)], &[])).unwrap().text;
    let frozen = text(&format!("{pane}<sheetData>{}</sheetData>", rows(title)));
    assert_eq!(frozen.trim(), "## S\n\nStock\n\n| Name | Size cm |\n| --- | --- |\n| lamp | 3 |");
    let scrolling = text(&format!("<sheetData>{}</sheetData>", rows("")));
    assert_eq!(scrolling.trim(), "## S\n\n| Name | Size |\n| --- | --- |\n|  | cm |\n| lamp | 3 |");
}

#[test]
fn a_slide_has_its_own_notes_and_not_its_number() {
    let space = r#"xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main""#;
    let shape = |kind: &str, text: &str| {
        format!(
            r#"<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"#
        )
    };
    let slide = |text: &str| {
        let shapes = [shape("title", text), shape("sldNum", "42"), shape("ftr", "Footer")].concat();
        format!("<p:sld {space}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>")
    };
    let notes =
        [shape("sldImg", "picture"), shape("body", "Say it &amp; stop."), shape("sldNum", "7")].concat();
    let notes = format!("<p:notes {space}><p:cSld><p:spTree>{notes}</p:spTree></p:cSld></p:notes>");
    // Shown in another order than they are numbered.
    let main = format!(
        r#"<p:presentation {space} xmlns:r="{OFFICE}"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>"#
    );
    let relation = format!(
        r#"<Relationships><Relationship Id="rId1" Type="{OFFICE}/notesSlide" Target="../notesSlides/notesSlide2.xml"/></Relationships>"#
    );
    let kind = "presentationml.slide";
    let parts = [
        ("ppt/presentation.xml", "presentationml.presentation.main", main),
        ("ppt/slides/slide1.xml", kind, slide("Second")),
        ("ppt/slides/slide2.xml", kind, slide("First")),
        ("ppt/slides/_rels/slide1.xml.rels", kind, relation),
        ("ppt/notesSlides/notesSlide2.xml", kind, notes),
    ];
    let converted = converted("pptx", &package("slide", &parts)).unwrap();
    assert_eq!(converted.text.trim(), "# First\n\n# Second\n\n\n> **Notes:**\n> Say it & stop.");
    stands(&converted, Slide, &[("First", 1), ("Say it", 2)]);
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
